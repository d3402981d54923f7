//===- Storage.cpp - whose storage a value is, and how large --------------===//
#include "Storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace ck;

Value ck::storageRoot(Value value) {
  while (auto call = value.getDefiningOp<CallOp>())
    value = call.getInits()[cast<OpResult>(value).getResultNumber()];
  return value;
}

BlockArgument ck::stateRoot(Value value) {
  auto argument = dyn_cast<BlockArgument>(storageRoot(value));
  if (!argument)
    return {};
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  if (!function || !argument.getOwner()->isEntryBlock() || !function.getArgAttr(argument.getArgNumber(), "ck.state"))
    return {};
  return argument;
}

bool ck::readsOutput(const Contract &contract, StringRef name) {
  const SigOperand *output = contract.signature.findOutput(name.str());
  return !output || output->accumulates || output->partial || contract.signature.isUpdated(name.str());
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

/// The extent of `axis` as it was given when `value` was made; null for arguments.
static OpFoldResult madeExtent(Value value, int64_t axis) {
  auto type = cast<ShapedType>(value.getType());
  if (!type.isDynamicDim(axis))
    return IntegerAttr::get(IndexType::get(value.getContext()), type.getDimSize(axis));
  unsigned position = type.getDynamicDimIndex(axis);
  if (auto empty = value.getDefiningOp<tensor::EmptyOp>())
    return empty.getDynamicSizes()[position];
  if (auto alloc = value.getDefiningOp<memref::AllocOp>())
    return alloc.getDynamicSizes()[position];
  if (auto view = value.getDefiningOp<ViewOp>())
    return view.getSizes()[position];
  return {};
}

void ck::resolveDims(func::FuncOp function) {
  SmallVector<Operation *> dims;
  function.walk([&](Operation *op) {
    if (isa<tensor::DimOp, memref::DimOp>(op))
      dims.push_back(op);
  });
  for (Operation *op : dims) {
    Value root = storageRoot(op->getOperand(0));
    std::optional<int64_t> axis = getConstantIntValue(op->getOperand(1));
    auto type = dyn_cast<ShapedType>(root.getType());
    if (!axis || !type || !type.hasRank() || *axis < 0 || *axis >= type.getRank())
      continue;
    OpFoldResult extent = madeExtent(root, *axis);
    if (!extent) {
      op->setOperand(0, root);
      continue;
    }
    OpBuilder builder(op);
    Value value = dyn_cast<Value>(extent);
    if (!value)
      value = arith::ConstantIndexOp::create(builder, op->getLoc(), *getConstantIntValue(extent));
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }
}

StringAttr ck::dimName(Value index) {
  while (auto bound = index.getDefiningOp<BoundOp>())
    index = bound.getValue();
  Operation *op = index.getDefiningOp();
  if (!isa_and_nonnull<tensor::DimOp, memref::DimOp>(op))
    return {};
  auto argument = dyn_cast<BlockArgument>(op->getOperand(0));
  std::optional<int64_t> axis = getConstantIntValue(op->getOperand(1));
  if (!argument || !axis)
    return {};
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto type = dyn_cast<ShapedType>(argument.getType());
  if (!function || !type || !type.hasRank() || *axis < 0 || *axis >= type.getRank() || !type.isDynamicDim(*axis))
    return {};
  auto names = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "ck.dims");
  return names ? dyn_cast<StringAttr>(names[type.getDynamicDimIndex(*axis)]) : StringAttr();
}

InFlightDiagnostic ck::emitEntryError(func::FuncOp entry) {
  return emitError(entry.getLoc()) << "entry '" << entry.getSymName() << "' ";
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

/// The shape of `memref` at the bounds.
static FailureOr<SmallVector<int64_t>> boundedExtents(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  if (type.hasStaticShape())
    return SmallVector<int64_t>(type.getShape());
  if (auto alloc = memref.getDefiningOp<memref::AllocOp>())
    return boundedShape(type, alloc.getDynamicSizes());
  if (auto view = memref.getDefiningOp<ViewOp>())
    return boundedShape(type, view.getSizes());
  auto argument = dyn_cast<BlockArgument>(memref);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  if (!function)
    return failure();
  auto names = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "ck.dims");
  auto bounds = function->getAttrOfType<DictionaryAttr>("ck.bounds");
  if (!names || !bounds)
    return failure();
  SmallVector<int64_t> shape(type.getShape());
  for (auto [axis, extent] : llvm::enumerate(shape)) {
    if (!ShapedType::isDynamic(extent))
      continue;
    auto name = dyn_cast<StringAttr>(names[type.getDynamicDimIndex(axis)]);
    auto bound = name ? bounds.getAs<IntegerAttr>(name) : IntegerAttr();
    if (!bound)
      return failure();
    extent = bound.getInt();
  }
  return shape;
}

FailureOr<int64_t> ck::boundedBytes(Operation *user, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  FailureOr<SmallVector<int64_t>> shape = boundedExtents(memref);
  if (failed(shape))
    return user->emitOpError() << "needs memory for " << type << ", but a run-time extent of it has no bound";
  FailureOr<int64_t> bytes = storageBytes(type.getElementType(), *shape);
  if (failed(bytes)) {
    InFlightDiagnostic error = user->emitOpError() << "needs memory for " << type;
    if (!type.hasStaticShape()) {
      error << ", at its bounds ";
      llvm::interleave(*shape, error, "x");
    }
    return error << ": it is no whole number of bytes, or more than 64 bits can count";
  }
  return *bytes;
}

/// True if the value of `expr` at the largest sizes is its largest one. `isDynamic` tells which names vary.
static bool isMonotone(const Expr &expr, llvm::function_ref<bool(StringRef)> isDynamic) {
  auto varies = [&](const Expr &part) {
    std::vector<std::string> names;
    part.collectNames(names);
    return llvm::any_of(names, isDynamic);
  };
  if (!varies(expr))
    return true;
  switch (expr.kind()) {
  case Expr::Kind::Dim:
  case Expr::Kind::Attribute:
    return true;
  case Expr::Kind::Add:
  case Expr::Kind::Mul:
  case Expr::Kind::Min:
  case Expr::Kind::Max:
    return llvm::all_of(expr.args(), [&](const Expr &arg) { return isMonotone(arg, isDynamic); });
  case Expr::Kind::Sub:
  case Expr::Kind::Div:
  case Expr::Kind::CeilDiv:
  case Expr::Kind::Align:
    return isMonotone(expr.args()[0], isDynamic) && !varies(expr.args()[1]);
  default:
    return false;
  }
}

FailureOr<ScratchNeed> ck::scratchNeed(CallOp call, const Contract &contract) {
  ScratchNeed need;
  if (contract.scratch.empty())
    return need;
  Params params = signatureParams(call.getParams());
  for (const ParamDecl &param : contract.params)
    if (param.defaultValue)
      params.emplace(param.name, *param.defaultValue);
  llvm::StringMap<OpFoldResult> sizes;
  for (auto [name, size] : llvm::zip(call.getSizeNames().getAsRange<StringAttr>(), call.getMixedSizes()))
    sizes[name.getValue()] = size;
  Expr::Lookup lookup = [&](const std::string &name) -> Result<int64_t> {
    if (name.front() == '$') {
      auto param = params.find(name.substr(1));
      if (param == params.end())
        return Error{"parameter '" + name + "' has no value"};
      if (const auto *integer = std::get_if<int64_t>(&param->second))
        return *integer;
      if (const auto *flag = std::get_if<bool>(&param->second))
        return static_cast<int64_t>(*flag);
      return Error{"parameter '" + name + "' is no integer"};
    }
    auto size = sizes.find(name);
    if (size == sizes.end())
      return Error{"dim '" + name + "' is not among the sizes of the call"};
    if (std::optional<int64_t> constant = getConstantIntValue(size->second))
      return *constant;
    FailureOr<int64_t> bound = upperBound(cast<Value>(size->second));
    if (failed(bound))
      return Error{"dim '" + name + "' has no bound"};
    return *bound;
  };
  auto isDynamic = [&](StringRef name) {
    auto size = sizes.find(name);
    return size != sizes.end() && !getConstantIntValue(size->second);
  };
  for (const ScratchDecl &decl : contract.scratch) {
    if (!isMonotone(decl.elements, isDynamic))
      return call.emitOpError() << "of '" << call.getCallee() << "': scratch '" << decl.str()
                                << "' may be larger below the bound of a run-time size than at it";
    Result<int64_t> bytes = decl.bytes(lookup);
    if (!bytes)
      return call.emitOpError() << "of '" << call.getCallee() << "': " << bytes.error().message;
    if (!decl.perThread) {
      need.arena.push_back(*bytes);
      need.names.push_back(decl.name);
    } else if (llvm::AddOverflow(need.perThread, *bytes, need.perThread)) {
      return call.emitOpError() << "of '" << call.getCallee() << "': scratch for each thread overflows 64 bits";
    }
  }
  return need;
}

ContractCache::ContractCache(ModuleOp module) {
  for (auto provider : module.getOps<ProviderOp>())
    entries.try_emplace(provider.getSymNameAttr(), Entry{provider, provider.getContract()});
}

const Contract *ContractCache::find(FlatSymbolRefAttr callee) const {
  auto entry = entries.find(callee.getAttr());
  return entry == entries.end() ? nullptr : &entry->second.contract;
}

ProviderOp ContractCache::provider(FlatSymbolRefAttr callee) const {
  auto entry = entries.find(callee.getAttr());
  return entry == entries.end() ? ProviderOp() : entry->second.provider;
}
