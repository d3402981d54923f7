//===- Entries.cpp - the entries of a module ------------------------------===//
#include "Entries.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace ck;

SmallVector<func::FuncOp> ck::entriesOf(ModuleOp module) {
  SmallVector<func::FuncOp> entries;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr("ck.entry") && isStraightLine(function))
      entries.push_back(function);
  return entries;
}

bool ck::isStraightLine(func::FuncOp function) {
  return !function.isExternal() && function.getBody().hasOneBlock() &&
         isa<func::ReturnOp>(function.getBody().front().getTerminator());
}

NumericsClass ck::numericsLimit(ModuleOp module) {
  auto name = module->getAttrOfType<StringAttr>("ck.numerics");
  std::optional<NumericsClass> limit = name ? parseNumericsClass(name.getValue().str()) : std::nullopt;
  return limit.value_or(NumericsClass::F32);
}

FailureOr<BoundedShapes> BoundedShapes::compute(func::FuncOp entry) {
  BoundedShapes result;
  auto bounds = entry->getAttrOfType<DictionaryAttr>("ck.bounds");
  for (BlockArgument argument : entry.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    SmallVector<int64_t> shape(type.getShape());
    auto names = entry.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "ck.dims");
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      if (!type.isDynamicDim(axis))
        continue;
      if (!names || !bounds)
        return entry.emitOpError() << "argument " << argument.getArgNumber() << " of type " << type
                                   << " has run-time extents without names; name them by 'ck.dims' and bound the names "
                                      "by 'ck.bounds'";
      auto name = cast<StringAttr>(names[type.getDynamicDimIndex(axis)]);
      shape[axis] = bounds.getAs<IntegerAttr>(name.getValue()).getInt();
    }
    result.shapes[argument] = std::move(shape);
  }
  if (failed(result.addBlock(entry.getBody().front())))
    return failure();
  return result;
}

int64_t BoundedShapes::bytes(Value value) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || dtypeName(type.getElementType()).empty())
    return 0;
  FailureOr<int64_t> bytes = storageBytes(type.getElementType(), shape(value));
  return failed(bytes) ? std::numeric_limits<int64_t>::max() : *bytes;
}

LogicalResult BoundedShapes::addBlock(Block &block) {
  for (Operation &op : block)
    if (failed(addOp(op)))
      return failure();
  return success();
}

FailureOr<int64_t> BoundedShapes::bound(Value index) const {
  auto dim = index.getDefiningOp<tensor::DimOp>();
  if (!dim)
    return upperBound(index);
  auto found = shapes.find(dim.getSource());
  std::optional<int64_t> axis = dim.getConstantIndex();
  if (found == shapes.end() || !axis || *axis < 0 || *axis >= static_cast<int64_t>(found->second.size()))
    return failure();
  return found->second[*axis];
}

std::vector<ActualOperand> BoundedShapes::actuals(ArrayRef<Value> values) const {
  std::vector<ActualOperand> actuals;
  for (Value value : values) {
    ActualOperand actual = value ? actualOperand(value.getType()) : ActualOperand();
    if (actual.present)
      actual.shape.assign(shape(value).begin(), shape(value).end());
    actuals.push_back(std::move(actual));
  }
  return actuals;
}

LogicalResult BoundedShapes::addSignatureOp(SignatureOpInterface op) {
  Result<Signature> signature = parseSignature(op.getSignatureText());
  if (!signature)
    return op->emitOpError() << "has a malformed signature: " << signature.error().message;
  Params params = signatureParams(op->getAttrDictionary());
  Result<Bindings> bindings = unify(*signature, {}, actuals(op.getSignatureOperands()), {}, params);
  if (!bindings)
    return op->emitOpError() << "does not fit when run-time extents are at their bounds: " << bindings.error().message;
  // Element types that the operands leave open are those of the results; they do not matter to shapes.
  for (auto [output, result] : llvm::zip(signature->outputs, op->getResults()))
    if (output.dtype[0] == '$')
      bindings->dtypes.try_emplace(output.dtype, dtypeName(cast<ShapedType>(result.getType()).getElementType()));
  auto outputs = inferOutputs(*signature, *bindings, std::vector<bool>(signature->outputs.size(), true), params);
  if (!outputs)
    return op->emitOpError() << "does not fit when run-time extents are at their bounds: " << outputs.error().message;
  for (auto [result, output] : llvm::zip(op->getResults(), *outputs)) {
    auto type = cast<RankedTensorType>(result.getType());
    for (auto [axis, extent] : llvm::enumerate(output.shape)) {
      if (extent < 0)
        return op->emitOpError() << "has a result " << type << " whose extent " << axis << " has no bound";
      if (!type.isDynamicDim(axis) && type.getDimSize(axis) != extent)
        return op->emitOpError() << "has a result " << type << ", but at the bounds its extent " << axis << " is "
                                 << extent;
    }
    shapes[result].assign(output.shape.begin(), output.shape.end());
  }
  return success();
}

LogicalResult BoundedShapes::addOp(Operation &op) {
  if (auto signatureOp = dyn_cast<SignatureOpInterface>(op))
    return addSignatureOp(signatureOp);
  if (auto fused = dyn_cast<FusedOp>(op)) {
    Block &body = fused.getBody().front();
    for (auto [argument, input] : llvm::zip(body.getArguments(), fused.getInputs()))
      shapes[argument] = SmallVector<int64_t>(shape(input));
    if (failed(addBlock(body)))
      return failure();
    for (auto [result, value] : llvm::zip(fused.getResults(), body.getTerminator()->getOperands()))
      shapes[result] = SmallVector<int64_t>(shape(value));
    return success();
  }
  if (auto call = dyn_cast<CallOp>(op)) {
    for (auto [result, init] : llvm::zip(call.getResults(), call.getInits()))
      shapes[result] = SmallVector<int64_t>(shape(init));
    return success();
  }
  SmallVector<Value> sizes;
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    sizes = empty.getDynamicSizes();
  for (Value result : op.getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type)
      continue;
    SmallVector<int64_t> extents(type.getShape());
    size_t next = 0;
    for (int64_t &extent : extents) {
      if (!ShapedType::isDynamic(extent))
        continue;
      FailureOr<int64_t> largest = next < sizes.size() ? bound(sizes[next++]) : FailureOr<int64_t>(failure());
      if (failed(largest))
        return op.emitOpError() << "has a result " << type << " with a run-time extent that nothing bounds";
      extent = *largest;
    }
    shapes[result] = std::move(extents);
  }
  return success();
}
