//===- FusionPatterns.cpp - chains of ops that contracts stand for --------===//

#include "FusionPatterns.h"

#include "mlir/Parser/Parser.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace ck;

static Operation *terminatorOf(func::FuncOp pattern) { return pattern.getBody().front().getTerminator(); }

/// A straight line of graph ops, each led to by values before it.
static LogicalResult checkPattern(func::FuncOp pattern) {
  if (!llvm::hasSingleElement(pattern.getBody()))
    return pattern.emitError("a fusion must have a body of one block");
  Block &block = pattern.getBody().front();
  if (block.without_terminator().empty())
    return pattern.emitError("a fusion must have at least one op");
  llvm::DenseSet<Value> known; // to a search that has found the ops before
  for (Operation &op : block.without_terminator()) {
    if (!isa<SignatureOpInterface>(op))
      return op.emitError("a fusion consists of graph ops only");
    if (op.getNumOperands() == 0)
      return op.emitError("an op without operands cannot be found from the ops before it");
    if (!known.empty() && llvm::none_of(op.getOperands(), [&](Value value) { return known.contains(value); }))
      return op.emitError("nothing before this op leads to it");
    known.insert(op.operand_begin(), op.operand_end());
    known.insert(op.result_begin(), op.result_end());
    if (auto params = op.getAttrOfType<ArrayAttr>(kFusionParams))
      for (Attribute name : params)
        if (!isa<StringAttr>(name) || !op.getAttr(cast<StringAttr>(name).getValue()))
          return op.emitError() << kFusionParams << " must list attributes of the op, got " << name;
  }
  return success();
}

FailureOr<FusionPatterns> FusionPatterns::load(StringRef dir, MLIRContext *context) {
  SmallString<256> folder(dir);
  llvm::sys::path::append(folder, "fusions");
  std::vector<std::string> paths;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code))
    if (llvm::sys::path::extension(it->path()) == ".mlir")
      paths.push_back(it->path());
  llvm::sort(paths);
  FusionPatterns result;
  for (const std::string &path : paths) {
    OwningOpRef<ModuleOp> file = parseSourceFile<ModuleOp>(path, context);
    if (!file)
      return failure();
    for (Operation &op : *file->getBody()) {
      auto pattern = dyn_cast<func::FuncOp>(op);
      if (!pattern || pattern.isDeclaration())
        return op.emitError("a file of fusions consists of functions with a body");
      if (failed(checkPattern(pattern)))
        return failure();
      result.functions.push_back(pattern);
    }
    result.files.push_back(std::move(file));
  }
  return result;
}

namespace {
/// One search for a pattern; a step that fails leaves no trace.
class Search {
public:
  explicit Search(func::FuncOp pattern) {
    for (Operation &op : pattern.getBody().front().without_terminator())
      pending.push_back(&op);
  }

  bool from(Operation *first) { return take(0, first); }
  Value valueOf(Value patternValue) const { return values.lookup(patternValue); }

  SmallVector<Operation *> ops;
  NamedAttrList params;

private:
  bool next(size_t index) {
    if (index == pending.size())
      return true;
    // Readers of any operand that is known already.
    for (Value operand : pending[index]->getOperands())
      if (Value known = values.lookup(operand)) {
        SmallPtrSet<Operation *, 4> tried;
        for (Operation *user : known.getUsers())
          if (user->getBlock() == ops.front()->getBlock() && tried.insert(user).second && take(index, user))
            return true;
        return false;
      }
    return false;
  }

  bool take(size_t index, Operation *op) {
    if (llvm::is_contained(ops, op))
      return false;
    DenseMap<Value, Value> oldValues = values;
    NamedAttrList oldParams = params;
    if (fits(pending[index], op)) {
      ops.push_back(op);
      if (next(index + 1))
        return true;
      ops.pop_back();
    }
    values = std::move(oldValues);
    params = std::move(oldParams);
    return false;
  }

  static bool fitsType(Type pattern, Type type) {
    auto want = dyn_cast<RankedTensorType>(pattern), have = dyn_cast<RankedTensorType>(type);
    if (!want || !have)
      return pattern == type;
    return want.getElementType() == have.getElementType() && want.getRank() == have.getRank() &&
           llvm::all_of(llvm::zip(want.getShape(), have.getShape()), [](auto pair) {
             return ShapedType::isDynamic(std::get<0>(pair)) || std::get<0>(pair) == std::get<1>(pair);
           });
  }

  bool bind(Value pattern, Value value) {
    Value &known = values[pattern];
    if (known)
      return known == value;
    known = value;
    return fitsType(pattern.getType(), value.getType());
  }

  /// Attributes of the dialect's own (`ck.layer`, ...) say where an op is, not what it does.
  bool fitsAttributes(Operation *pattern, Operation *op) {
    auto free = pattern->getAttrOfType<ArrayAttr>(kFusionParams);
    auto isPlace = [](NamedAttribute attribute) { return attribute.getName().getValue().contains('.'); };
    for (NamedAttribute attribute : op->getAttrs()) {
      if (isPlace(attribute))
        continue;
      if (free && llvm::is_contained(free.getValue(), Attribute(attribute.getName()))) {
        if (Attribute old = params.get(attribute.getName()); old && old != attribute.getValue())
          return false;
        params.set(attribute.getName(), attribute.getValue());
      } else if (pattern->getAttr(attribute.getName()) != attribute.getValue()) {
        return false;
      }
    }
    return llvm::all_of(pattern->getAttrs(), [&](NamedAttribute attribute) {
      return isPlace(attribute) || op->getAttr(attribute.getName());
    });
  }

  bool fits(Operation *pattern, Operation *op) {
    if (pattern->getName() != op->getName() || pattern->getNumOperands() != op->getNumOperands() ||
        pattern->getNumResults() != op->getNumResults() || !fitsAttributes(pattern, op))
      return false;
    return llvm::all_of(llvm::zip(pattern->getOperands(), op->getOperands()),
                        [&](auto pair) { return bind(std::get<0>(pair), std::get<1>(pair)); }) &&
           llvm::all_of(llvm::zip(pattern->getResults(), op->getResults()),
                        [&](auto pair) { return bind(std::get<0>(pair), std::get<1>(pair)); });
  }

  SmallVector<Operation *> pending;
  DenseMap<Value, Value> values;
};
} // namespace

std::optional<FusionMatch> FusionPatterns::match(func::FuncOp pattern, Operation *first) {
  Search search(pattern);
  if (first->getName() != pattern.getBody().front().front().getName() || !search.from(first))
    return std::nullopt;
  FusionMatch match;
  match.ops = search.ops;
  match.params = search.params;
  for (Value argument : pattern.getArguments()) {
    Value value = search.valueOf(argument);
    if (!value) // an argument that the chain does not use
      return std::nullopt;
    match.inputs.push_back(value);
  }
  for (Value result : terminatorOf(pattern)->getOperands())
    match.outputs.push_back(search.valueOf(result));
  Operation *last = *llvm::max_element(match.ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : match.ops)
    for (Value value : op->getResults())
      for (Operation *user : value.getUsers()) {
        if (llvm::is_contained(match.ops, user))
          continue;
        if (!llvm::is_contained(match.outputs, value) || user->isBeforeInBlock(last))
          return std::nullopt;
      }
  return match;
}
