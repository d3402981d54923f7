//===- AutodiffTags.cpp - new inputs and outputs of an entry --------------===//
#include "AutodiffTags.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace ck;

/// The operand and axis that run-time extent `axis` of `result` equals by the signature of `op`.
static std::optional<std::pair<Value, int64_t>> sameExtent(SignatureOpInterface op, OpResult result, int64_t axis) {
  Signature signature;
  FailureOr<Bindings> bindings = bindSignature(op, signature);
  if (failed(bindings))
    return std::nullopt;
  const SigOperand &output = signature.outputs[result.getResultNumber()];
  int64_t leading =
      output.leadingDims ? cast<RankedTensorType>(result.getType()).getRank() - int64_t(output.dims.size()) + 1 : 0;
  bool isLeading = axis < leading;
  const Expr &dim = output.dims[isLeading ? 0 : axis - leading + output.leadingDims];
  const DimDef *def = dim.kind() == Expr::Kind::Dim ? bindings->find(dim.name()) : nullptr;
  SmallVector<Value> operands = op.getSignatureOperands();
  bool plain = def && def->operand >= 0 && def->operand < static_cast<int>(operands.size()) && operands[def->operand] &&
               def->mul == 1 && def->add == 0;
  size_t place = isLeading ? axis : 0;
  if (!plain || place >= def->axes.size() || (!isLeading && def->axes.size() != 1))
    return std::nullopt;
  return std::pair(operands[def->operand], int64_t(def->axes[place]));
}

StringAttr ck::extentName(Value value, int64_t axis) {
  while (auto op = value.getDefiningOp<SignatureOpInterface>()) {
    std::optional<std::pair<Value, int64_t>> same = sameExtent(op, cast<OpResult>(value), axis);
    if (!same)
      return {};
    std::tie(value, axis) = *same;
  }
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!function || !type || !type.isDynamicDim(axis))
    return {};
  auto names = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "ck.dims");
  return names ? dyn_cast<StringAttr>(names[type.getDynamicDimIndex(axis)]) : StringAttr();
}

FailureOr<Value> ck::addInput(func::FuncOp entry, StringRef name, Value like) {
  Builder builder(entry.getContext());
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    if (auto taken = entry.getArgAttrOfType<StringAttr>(i, "ck.input"); taken && taken.getValue() == name)
      return entry.emitOpError() << "has an input '" << name << "' already, a name that its differentiation needs";
  auto type = cast<RankedTensorType>(like.getType());
  SmallVector<Attribute> dims;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (!type.isDynamicDim(axis))
      continue;
    StringAttr dim = extentName(like, axis);
    if (!dim)
      return entry.emitOpError() << "cannot take the input '" << name << "': extent " << axis << " of " << type
                                 << " is no dim of an argument";
    dims.push_back(dim);
  }
  SmallVector<NamedAttribute> tags = {builder.getNamedAttr("ck.input", builder.getStringAttr(name))};
  if (!dims.empty())
    tags.push_back(builder.getNamedAttr("ck.dims", builder.getArrayAttr(dims)));
  unsigned index = entry.getNumArguments();
  if (failed(entry.insertArgument(index, type, builder.getDictionaryAttr(tags), like.getLoc())))
    return failure();
  return Value(entry.getArgument(index));
}

LogicalResult ck::addOutput(func::FuncOp entry, Value value, StringRef name, FlatSymbolRefAttr buffer) {
  Builder builder(entry.getContext());
  for (unsigned i = 0; i < entry.getNumResults(); ++i)
    if (auto taken = entry.getResultAttrOfType<StringAttr>(i, "ck.output"); taken && taken.getValue() == name)
      return entry.emitOpError() << "has an output '" << name << "' already, a name that its differentiation needs";
  SmallVector<NamedAttribute> tags = {builder.getNamedAttr("ck.output", builder.getStringAttr(name))};
  if (buffer)
    tags.push_back(builder.getNamedAttr("ck.grad", buffer));
  Operation *end = entry.getBody().front().getTerminator();
  end->insertOperands(end->getNumOperands(), value);
  return entry.insertResult(entry.getNumResults(), value.getType(), builder.getDictionaryAttr(tags));
}
