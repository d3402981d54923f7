//===- Program.cpp - reads a PLAN module into calls with slots ------------===//
#include "ck/Target/Program.h"

#include "ck/Dialect/CK/CKDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace ck;

std::string ck::mangle(StringRef name) {
  std::string mangled;
  for (unsigned char c : name)
    if (llvm::isAlnum(c))
      mangled += static_cast<char>(c);
    else
      mangled += "_" + llvm::utohexstr(c, /*LowerCase=*/true, /*Width=*/2);
  return mangled;
}

namespace {
/// Reads one module; every function emits its own error.
class Reader {
public:
  explicit Reader(ModuleOp module) : module(module) {}
  LogicalResult read();
  Program program;

private:
  LogicalResult readBuffers();
  LogicalResult readEntry(func::FuncOp function);
  LogicalResult readArgument(func::FuncOp function, unsigned index, ProgramEntry &entry);
  LogicalResult readValue(func::FuncOp function, unsigned index, StringRef name, const ProgramEntry &entry,
                          SmallVector<ProgramValue> &values);
  FailureOr<ProgramStep> readCall(CallOp call, const ProgramEntry &entry);
  FailureOr<int64_t> kernelIndex(CallOp call);
  const Contract &contractOf(ProviderOp provider);
  FailureOr<ProgramSlot> pointerSlot(Operation *user, Value value);
  FailureOr<ProgramSlot> paramSlot(CallOp call, const ParamDecl &param);
  FailureOr<Expr> sizeOf(Operation *user, Value index);
  FailureOr<Expr> strideOf(CallOp call, Value value, int axis);

  ModuleOp module;
  llvm::StringMap<int64_t> weights, kernels;
  llvm::DenseMap<Operation *, Contract> contracts;
  llvm::DenseMap<Value, ProgramSlot> arguments;
};
} // namespace

LogicalResult Reader::readBuffers() {
  for (BufferOp buffer : module.getOps<BufferOp>()) {
    StringRef role = buffer.getRole();
    if (buffer.getAlias() || (role != "weight" && role != "state" && role != "const"))
      continue;
    RankedTensorType type = buffer.getTensorType();
    ProgramBuffer info;
    info.name = buffer.getSymName().str();
    info.role = role.str();
    info.dtype = dtypeName(type.getElementType());
    info.dims.assign(type.getShape().begin(), type.getShape().end());
    info.bytes = *storageBytes(type.getElementType(), type.getShape());
    info.file = buffer.getFile().value_or("").str();
    info.tensor = buffer.getTensor().value_or("").str();
    if (role == "weight") {
      int64_t index = weights.size();
      weights[buffer.getSymName()] = index;
    } else if (!buffer.getOffset()) {
      return buffer.emitOpError() << "of role " << role << " has no offset; run --ck-plan-memory first";
    } else {
      info.offset = *buffer.getOffset();
    }
    program.buffers.push_back(std::move(info));
  }
  return success();
}

LogicalResult Reader::readValue(func::FuncOp function, unsigned index, StringRef name, const ProgramEntry &entry,
                                SmallVector<ProgramValue> &values) {
  auto type = cast<MemRefType>(function.getArgumentTypes()[index]);
  auto dimNames = function.getArgAttrOfType<ArrayAttr>(index, "ck.dims");
  ProgramValue value{name.str(), dtypeName(type.getElementType()), {}};
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (!type.isDynamicDim(axis)) {
      value.dims.push_back(type.getDimSize(axis));
      continue;
    }
    if (!dimNames)
      return function.emitOpError() << "argument " << index << " has dynamic dims without names in 'ck.dims'";
    StringRef dim = cast<StringAttr>(dimNames[type.getDynamicDimIndex(axis)]).getValue();
    const auto *it = llvm::find_if(entry.dims, [&](const auto &known) { return known.first == dim; });
    value.dims.push_back(-1 - (it - entry.dims.begin()));
  }
  values.push_back(std::move(value));
  return success();
}

LogicalResult Reader::readArgument(func::FuncOp function, unsigned index, ProgramEntry &entry) {
  auto type = dyn_cast<MemRefType>(function.getArgumentTypes()[index]);
  if (!type || !type.getLayout().isIdentity())
    return function.emitOpError() << "argument " << index << " is no compact memref; run --ck-bufferize first";
  ProgramSlot slot;
  if (auto input = function.getArgAttrOfType<StringAttr>(index, "ck.input")) {
    slot.kind = ProgramSlot::Kind::Input;
    slot.index = entry.inputs.size();
    if (failed(readValue(function, index, input, entry, entry.inputs)))
      return failure();
  } else if (auto output = function.getArgAttrOfType<StringAttr>(index, "ck.output")) {
    slot.kind = ProgramSlot::Kind::Output;
    slot.index = entry.outputs.size();
    if (failed(readValue(function, index, output, entry, entry.outputs)))
      return failure();
  } else if (auto state = function.getArgAttrOfType<FlatSymbolRefAttr>(index, "ck.state")) {
    auto buffer = module.lookupSymbol<BufferOp>(state.getAttr());
    if (!buffer || buffer.getRole() != "state" || !buffer.getOffset())
      return function.emitOpError() << "argument " << index << " is the state '" << state.getValue()
                                    << "', which has no planned ck.buffer";
    slot.kind = ProgramSlot::Kind::State;
    slot.index = *buffer.getOffset();
    slot.bytes = *storageBytes(buffer.getTensorType().getElementType(), buffer.getTensorType().getShape());
  } else {
    return function.emitOpError() << "argument " << index << " is neither input, output nor state";
  }
  arguments[function.getArgument(index)] = slot;
  return success();
}

FailureOr<ProgramSlot> Reader::pointerSlot(Operation *user, Value value) {
  if (auto it = arguments.find(value); it != arguments.end())
    return it->second;
  ProgramSlot slot;
  if (auto param = value.getDefiningOp<ParamOp>()) {
    auto buffer = module.lookupSymbol<BufferOp>(param.getBufferAttr().getAttr());
    BufferOp root = buffer ? buffer.getRoot() : BufferOp();
    auto it = root ? weights.find(root.getSymName()) : weights.end();
    if (it == weights.end())
      return param.emitOpError() << "reads '" << param.getBuffer() << "', which is no planned weight";
    slot.kind = ProgramSlot::Kind::Weight;
    slot.index = it->second;
    return slot;
  }
  auto view = value.getDefiningOp<ViewOp>();
  if (!view)
    return user->emitOpError() << "has an operand that is neither an argument, a view nor a weight; run "
                                  "--ck-plan-memory first";
  auto type = cast<MemRefType>(view.getType());
  FailureOr<SmallVector<int64_t>> shape = boundedShape(type, view.getSizes());
  FailureOr<int64_t> bytes =
      failed(shape) ? FailureOr<int64_t>(failure()) : storageBytes(type.getElementType(), *shape);
  if (failed(bytes))
    return view.emitOpError("has no bounded number of bytes");
  slot.kind = view.getArena() == "const" ? ProgramSlot::Kind::Const : ProgramSlot::Kind::Arena;
  slot.index = view.getOffset();
  slot.bytes = *bytes;
  return slot;
}

FailureOr<Expr> Reader::sizeOf(Operation *user, Value index) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return Expr::integer(*constant);
  Operation *op = index.getDefiningOp();
  if (auto bound = dyn_cast_or_null<BoundOp>(op))
    return sizeOf(user, bound.getValue());
  if (auto dim = dyn_cast_or_null<memref::DimOp>(op)) {
    std::optional<int64_t> axis = dim.getConstantIndex();
    if (auto view = dim.getSource().getDefiningOp<ViewOp>(); view && axis) {
      auto type = cast<MemRefType>(view.getType());
      if (!type.isDynamicDim(*axis))
        return Expr::integer(type.getDimSize(*axis));
      return sizeOf(user, view.getSizes()[type.getDynamicDimIndex(*axis)]);
    }
    auto argument = dyn_cast<BlockArgument>(dim.getSource());
    auto function = user->getParentOfType<func::FuncOp>();
    auto type = dyn_cast<MemRefType>(dim.getSource().getType());
    if (argument && axis && type && type.isDynamicDim(*axis))
      if (auto names = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "ck.dims"))
        return Expr::dim(cast<StringAttr>(names[type.getDynamicDimIndex(*axis)]).str());
  }
  static const std::pair<StringRef, Expr::Kind> kinds[] = {
      {"arith.addi", Expr::Kind::Add},          {"arith.subi", Expr::Kind::Sub},
      {"arith.muli", Expr::Kind::Mul},          {"arith.divui", Expr::Kind::Div},
      {"arith.divsi", Expr::Kind::Div},         {"arith.floordivsi", Expr::Kind::Div},
      {"arith.remui", Expr::Kind::Mod},         {"arith.remsi", Expr::Kind::Mod},
      {"arith.ceildivui", Expr::Kind::CeilDiv}, {"arith.ceildivsi", Expr::Kind::CeilDiv},
      {"arith.minui", Expr::Kind::Min},         {"arith.minsi", Expr::Kind::Min},
      {"arith.maxui", Expr::Kind::Max},         {"arith.maxsi", Expr::Kind::Max}};
  for (auto [name, kind] : kinds) {
    if (!op || op->getName().getStringRef() != name)
      continue;
    FailureOr<Expr> lhs = sizeOf(user, op->getOperand(0)), rhs = sizeOf(user, op->getOperand(1));
    if (failed(lhs) || failed(rhs))
      return failure();
    return Expr::make(kind, {*lhs, *rhs});
  }
  return user->emitOpError("has a size that is not computed from the dims of the entry");
}

/// Compact row-major stride of `axis`, in elements.
FailureOr<Expr> Reader::strideOf(CallOp call, Value value, int axis) {
  auto type = cast<MemRefType>(value.getType());
  int64_t constant = 1;
  Expr stride = Expr::integer(1);
  for (int64_t i = axis + 1; i < type.getRank(); ++i) {
    if (!type.isDynamicDim(i)) {
      constant *= type.getDimSize(i);
      continue;
    }
    FailureOr<Expr> extent = failure();
    if (auto view = value.getDefiningOp<ViewOp>()) {
      extent = sizeOf(call, view.getSizes()[type.getDynamicDimIndex(i)]);
    } else if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto function = call->getParentOfType<func::FuncOp>();
      if (auto names = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "ck.dims"))
        extent = Expr::dim(cast<StringAttr>(names[type.getDynamicDimIndex(i)]).str());
    }
    if (failed(extent))
      return call.emitOpError("has an operand whose strides are not computed from the dims of the entry");
    stride = Expr::make(Expr::Kind::Mul, {stride, *extent});
  }
  if (stride == Expr::integer(1))
    return Expr::integer(constant);
  return Expr::make(Expr::Kind::Mul, {stride, Expr::integer(constant)});
}

FailureOr<ProgramSlot> Reader::paramSlot(CallOp call, const ParamDecl &param) {
  ProgramSlot slot;
  slot.kind = ProgramSlot::Kind::Size;
  Attribute value = call.getParams().get(param.name);
  if (!value)
    return call.emitOpError() << "has no value for the parameter '" << param.name << "' of '" << call.getCallee()
                              << "'";
  auto wrong = [&]() {
    return call.emitOpError() << "parameter '" << param.str() << "' of '" << call.getCallee() << "' cannot be "
                              << value;
  };
  switch (param.kind) {
  case ParamDecl::Kind::F64:
    slot.kind = ProgramSlot::Kind::Real;
    if (auto real = dyn_cast<FloatAttr>(value))
      slot.real = real.getValueAsDouble();
    else
      return wrong();
    return slot;
  case ParamDecl::Kind::I64:
    if (auto integer = dyn_cast<IntegerAttr>(value); integer && integer.getType().isSignlessInteger(64))
      slot.size = Expr::integer(integer.getInt());
    else
      return wrong();
    return slot;
  case ParamDecl::Kind::Bool:
    if (auto flag = dyn_cast<BoolAttr>(value))
      slot.size = Expr::integer(flag.getValue());
    else
      return wrong();
    return slot;
  case ParamDecl::Kind::Enum: {
    auto text = dyn_cast<StringAttr>(value);
    auto it = text ? llvm::find(param.values, text.getValue()) : param.values.end();
    if (it == param.values.end())
      return wrong();
    slot.size = Expr::integer(it - param.values.begin());
    return slot;
  }
  }
  llvm_unreachable("every parameter kind is handled");
}

const Contract &Reader::contractOf(ProviderOp provider) {
  auto it = contracts.find(provider);
  if (it == contracts.end())
    it = contracts.try_emplace(provider, provider.getContract()).first;
  return it->second;
}

FailureOr<int64_t> Reader::kernelIndex(CallOp call) {
  auto [it, isNew] = kernels.try_emplace(call.getCallee(), kernels.size());
  if (isNew)
    // Over the contract too: one that was edited in the IR does not meet a kernel that was built for another.
    program.kernels.push_back(
        {call.getCallee().str(), callDigest(call.getProvider().getContract(), call.getProvider().getDigest().str())});
  return it->second;
}

FailureOr<ProgramStep> Reader::readCall(CallOp call, const ProgramEntry &entry) {
  ProviderOp provider = call.getProvider();
  const Contract &contract = contractOf(provider);
  ProgramStep step;
  step.kernel = *kernelIndex(call);
  if (!call.getInits().empty())
    if (auto name = dyn_cast<NameLoc>(call.getInits().front().getLoc()))
      step.name = name.getName().str();
  size_t scratch = 0;
  for (const AbiSlot &abi : abiSlots(contract)) {
    FailureOr<ProgramSlot> slot = ProgramSlot();
    FailureOr<Expr> size = failure();
    switch (abi.kind) {
    case AbiSlot::Kind::Operand:
      if (Value value = call.getBound(abi.name))
        slot = pointerSlot(call, value);
      break;
    case AbiSlot::Kind::Scratch:
      if (scratch == call.getScratch().size())
        return call.emitOpError() << "has no scratch for '" << abi.name << "'; run --ck-plan-memory first";
      slot = pointerSlot(call, call.getScratch()[scratch++]);
      break;
    case AbiSlot::Kind::Dim: {
      auto names = call.getSizeNames().getAsRange<StringAttr>();
      auto it = llvm::find_if(names, [&](StringAttr name) { return name.getValue() == abi.name; });
      if (it == names.end())
        return call.emitOpError() << "gives no size for '" << abi.name << "' of '" << call.getCallee() << "'";
      OpFoldResult extent = call.getMixedSizes()[std::distance(names.begin(), it)];
      if (auto value = dyn_cast<Value>(extent))
        size = sizeOf(call, value);
      else
        size = Expr::integer(*getConstantIntValue(extent));
      break;
    }
    case AbiSlot::Kind::Stride:
      size = Expr::integer(0);
      if (Value value = call.getBound(abi.operand))
        size = strideOf(call, value, abi.axis);
      break;
    case AbiSlot::Kind::Param:
      for (const ParamDecl &param : contract.params)
        if (param.name == abi.name)
          slot = paramSlot(call, param);
      break;
    }
    if (abi.kind == AbiSlot::Kind::Dim || abi.kind == AbiSlot::Kind::Stride) {
      if (failed(size))
        return failure();
      slot->kind = ProgramSlot::Kind::Size;
      slot->size = *size;
    }
    if (failed(slot))
      return failure();
    step.slots.push_back(std::move(*slot));
  }
  return step;
}

LogicalResult Reader::readEntry(func::FuncOp function) {
  ProgramEntry entry;
  entry.name = function.getSymName().str();
  auto arena = function->getAttrOfType<IntegerAttr>("ck.arena_bytes");
  auto threadScratch = function->getAttrOfType<IntegerAttr>("ck.thread_scratch_bytes");
  if (!arena || !threadScratch || function.isExternal() || !function.getBody().hasOneBlock() ||
      function.getNumResults() != 0)
    return function.emitOpError("is an entry that has not been planned; run --ck-plan-memory first");
  entry.arenaBytes = arena.getInt();
  entry.threadScratchBytes = threadScratch.getInt();
  if (auto bounds = function->getAttrOfType<DictionaryAttr>("ck.bounds"))
    for (NamedAttribute bound : bounds)
      entry.dims.push_back({bound.getName().str(), cast<IntegerAttr>(bound.getValue()).getInt()});
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (failed(readArgument(function, i, entry)))
      return failure();
  for (Operation &op : function.getBody().front()) {
    if (auto call = dyn_cast<CallOp>(op)) {
      FailureOr<ProgramStep> step = readCall(call, entry);
      if (failed(step))
        return failure();
      entry.steps.push_back(std::move(*step));
    } else if (auto bound = dyn_cast<BoundOp>(op)) {
      FailureOr<Expr> size = sizeOf(bound, bound.getValue());
      if (failed(size))
        return failure();
      ProgramStep step;
      step.bound = bound.getBound();
      if (auto name = dyn_cast<NameLoc>(bound.getLoc()))
        step.name = name.getName().str();
      step.slots.push_back({});
      step.slots.back().kind = ProgramSlot::Kind::Size;
      step.slots.back().size = *size;
      entry.steps.push_back(std::move(step));
    } else if (!isa<ViewOp, ParamOp, memref::DimOp, func::ReturnOp>(op) &&
               op.getDialect()->getNamespace() != arith::ArithDialect::getDialectNamespace()) {
      return op.emitOpError("does not belong in PLAN");
    }
  }
  program.entries.push_back(std::move(entry));
  return success();
}

LogicalResult Reader::read() {
  auto name = module->getAttrOfType<StringAttr>("ck.model");
  auto plan = module->getAttrOfType<DictionaryAttr>("ck.plan");
  if (!name || !plan)
    return module.emitError("is no planned model: it needs the attributes 'ck.model' and 'ck.plan' (run "
                            "--ck-inference-pipeline)");
  program.name = name.str();
  auto bytes = [&](StringRef key) {
    auto value = plan.getAs<IntegerAttr>(key);
    return value ? value.getInt() : 0;
  };
  program.constBytes = bytes("const_bytes");
  program.stateBytes = bytes("state_bytes");
  if (failed(readBuffers()))
    return failure();
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    if (function->hasAttr("ck.entry") && failed(readEntry(function)))
      return failure();
  if (program.entries.empty())
    return module.emitError("has no entry: no function carries 'ck.entry'");
  std::string table = printTable(program, /*withNames=*/false);
  std::array<uint8_t, 32> hash = llvm::SHA256::hash(llvm::arrayRefFromStringRef(table));
  program.digest = llvm::toHex(hash, /*LowerCase=*/true);
  return success();
}

FailureOr<Program> ck::readProgram(ModuleOp module) {
  Reader reader(module);
  if (failed(reader.read()))
    return failure();
  return std::move(reader.program);
}
