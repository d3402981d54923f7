//===- BufferReport.cpp - where declared buffers live ---------------------===//
//
// Values of a plan are views and arguments, names are those of the calls that write them. Two names share storage if
// one value has both, or if a call writes one in place of the other.
//
//===----------------------------------------------------------------------===//
#include "ck/Dialect/CK/CKDialect.h"
#include "ck/Dialect/CK/Names.h"
#include "ck/Import/StandardDecoder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <map>
#include <set>

using namespace mlir;
using namespace ck;

namespace {
class Reporter {
public:
  Reporter(ModuleOp module, raw_ostream &stream) : module(module), stream(stream) {}
  void run();

private:
  void collect(func::FuncOp entry);
  void collectCall(CallOp call);
  void nameConstant(ViewOp view);
  void writeBuffer(BufferOp buffer);
  void writeCalls(func::FuncOp entry);
  void name(Value value, StringRef name) {
    SmallVector<std::string> &names = namesOf[value];
    if (!name.empty() && !llvm::is_contained(names, name))
      names.push_back(name.str());
  }
  std::string place(Value value) const;
  std::string place(StringRef arena, int64_t offset, ShapedType type) const;
  std::string missing(BufferOp buffer) const;

  ModuleOp module;
  raw_ostream &stream;
  std::map<std::string, SmallVector<Value>> valuesOf; ///< by name
  llvm::MapVector<Value, SmallVector<std::string>> namesOf;
  llvm::EquivalenceClasses<void *> shared; ///< values with one storage
  bool keepsLse = false;                   ///< some attention saves its log-sum-exp
};
} // namespace

std::string Reporter::place(StringRef arena, int64_t offset, ShapedType type) const {
  FailureOr<int64_t> bytes = storageBytes(type.getElementType(), type.getShape());
  return (arena + " arena at " + Twine(offset) + ", " + Twine(failed(bytes) ? 0 : *bytes) + " bytes").str();
}

std::string Reporter::place(Value value) const {
  if (auto view = value.getDefiningOp<ViewOp>())
    return place(view.getArena(), view.getOffset(), cast<ShapedType>(view.getType()));
  if (auto param = value.getDefiningOp<ParamOp>())
    return "weight " + param.getBuffer().str();
  auto argument = dyn_cast<BlockArgument>(value);
  auto entry = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  if (!entry)
    return "nowhere";
  if (auto output = entry.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "ck.output"))
    return "output " + output.str();
  if (auto input = entry.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "ck.input"))
    return "input " + input.str();
  return "state arena";
}

void Reporter::collectCall(CallOp call) {
  keepsLse |= call.getBound("lse") != nullptr;
  auto bytesOf = [](Value value) { return value.getDefiningOp<ViewOp>(); };
  for (auto [i, init] : llvm::enumerate(call.getInits())) {
    for (const std::string &each : resultNames(call.getLoc(), i))
      name(init, each);
    // A result in place of an operand has a view of its own at the same bytes.
    for (Value input : call.getInputs()) {
      ViewOp from = bytesOf(input), to = bytesOf(init);
      if (from && to && from.getArena() == to.getArena() && from.getOffset() == to.getOffset())
        shared.unionSets(input.getAsOpaquePointer(), init.getAsOpaquePointer());
    }
    shared.insert(init.getAsOpaquePointer());
  }
}

void Reporter::collect(func::FuncOp entry) {
  for (BlockArgument argument : entry.getArguments()) {
    name(argument, valueName(argument));
    if (auto output = entry.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "ck.output"))
      name(argument, output.getValue());
  }
  for (Operation &op : entry.getBody().front()) {
    if (auto view = dyn_cast<ViewOp>(op); view && view.getArena() == "const")
      nameConstant(view);
    else if (auto param = dyn_cast<ParamOp>(op))
      name(param.getResult(), param.getBuffer());
    else if (auto call = dyn_cast<CallOp>(op))
      collectCall(call);
  }
}

/// A constant is named as what it was computed for, which may be a declared buffer of another role.
void Reporter::nameConstant(ViewOp view) {
  for (auto buffer : module.getOps<BufferOp>())
    if (buffer.getRole() == "const" && buffer.getOffset() == view.getOffset()) {
      name(view.getResult(), locationName(buffer.getLoc()));
      name(view.getResult(), buffer.getSymName());
    }
}

/// Why nothing of a name is there.
std::string Reporter::missing(BufferOp buffer) const {
  if (buffer.getRole() == "scratch")
    return "none: the kernels need no such scratch";
  std::string reason = "none: this plan computes no such value";
  ArrayRef<int64_t> shape = buffer.getTensorType().getShape();
  bool quadratic = shape.size() > 2 && shape[shape.size() - 1] == shape[shape.size() - 2];
  return reason + (quadratic && keepsLse ? ", attention keeps the log-sum-exp of its scores (save=lse)" : "");
}

void Reporter::writeBuffer(BufferOp buffer) {
  stream << "buffer " << buffer.getSymName() << " " << buffer.getRole() << " " << buffer.getScope() << " [";
  if (buffer.getDims())
    llvm::interleave(
        buffer.getDims()->getAsRange<StringAttr>(), stream, [&](StringAttr dim) { stream << dim.getValue(); }, ", ");
  stream << "]";
  if (buffer.getAlias())
    stream << " alias=" << *buffer.getAlias();
  if (buffer.getWhen())
    stream << " when=" << *buffer.getWhen();
  stream << ": ";
  // One place for each storage that bears the name, with the other declared names of that storage.
  std::string text;
  std::set<std::string> others;
  llvm::StringSet<> places;
  for (Value value : valuesOf[buffer.getSymName().str()]) {
    if (places.insert(place(value)).second)
      text += (text.empty() ? "" : "; ") + place(value);
    SmallVector<void *> members(shared.findLeader(value.getAsOpaquePointer()), shared.member_end());
    if (members.empty())
      members.push_back(value.getAsOpaquePointer());
    for (void *member : members)
      for (const std::string &other : namesOf.lookup(Value::getFromOpaquePointer(member)))
        if (other != buffer.getSymName() && module.lookupSymbol<BufferOp>(other))
          others.insert(other);
  }
  if (buffer.getRole() == "weight") {
    text = "weight table";
    if (BufferOp root = buffer.getRoot(); root != buffer)
      others.insert(root.getSymName().str());
  }
  stream << (text.empty() ? missing(buffer) : text);
  if (!others.empty())
    stream << " (shared with " << llvm::join(others, ", ") << ")";
  stream << "\n";
}

void Reporter::writeCalls(func::FuncOp entry) {
  int64_t counts[2] = {0, 0};
  stream << "entry " << entry.getSymName() << "\n";
  llvm::DenseMap<Value, SmallVector<std::string>> latest; // A value is named by the call that wrote it last.
  for (auto call : entry.getOps<CallOp>()) {
    bool backward = call->hasAttr("ck.backward");
    stream << (backward ? "backward " : "forward ") << ++counts[backward] << " " << call.getCallee();
    auto write = [&](StringAttr name, Value value, ArrayRef<std::string> names) {
      stream << " " << name.getValue() << "=";
      if (auto view = value.getDefiningOp<ViewOp>(); view && names.empty())
        stream << view.getArena() << "[" << view.getOffset() << "]";
      else
        stream << llvm::join(names, "|");
    };
    for (auto [name, value] : llvm::zip(call.getInputNames().getAsRange<StringAttr>(), call.getInputs()))
      write(name, value, latest.count(value) ? latest[value] : namesOf[value]);
    for (auto [i, name] : llvm::enumerate(call.getInitNames().getAsRange<StringAttr>()))
      write(name, call.getInits()[i], latest[call.getInits()[i]] = resultNames(call.getLoc(), i));
    stream << "\n";
  }
}

void Reporter::run() {
  SmallVector<func::FuncOp> entries;
  for (auto entry : module.getOps<func::FuncOp>())
    if (entry->hasAttr("ck.entry") && !entry.isExternal()) {
      entries.push_back(entry);
      collect(entry);
    }
  for (auto &[value, names] : namesOf)
    for (const std::string &each : names)
      valuesOf[each].push_back(value);
  for (auto buffer : module.getOps<BufferOp>())
    writeBuffer(buffer);
  for (func::FuncOp entry : entries)
    writeCalls(entry);
}

Status ck::writeBufferReport(ModuleOp module, raw_ostream &stream) {
  if (!module->hasAttr("ck.plan"))
    return Error{"the module has no plan; run --ck-inference-pipeline first"};
  Reporter(module, stream).run();
  return Status::success();
}
