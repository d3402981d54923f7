//===- GraphOps.cpp - rules of GRAPH ops beyond their signatures ----------===//
//
// The signature trait checks shapes and types; here stand the rules about attributes.
//
//===----------------------------------------------------------------------===//
#include "OpRules.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallBitVector.h"

#include <cmath>

using namespace mlir;
using namespace ck;

LogicalResult LinearOp::verify() { return verifyProjection(*this, getInput(), {{"weight", getWeight()}}); }

LogicalResult ClippedLinearOp::verify() { return verifyProjection(*this, getInput(), {{"weight", getWeight()}}); }

LogicalResult QkvLinearOp::verify() {
  if (failed(verifyProjection(*this, getInput(), {{"wq", getWq()}, {"wk", getWk()}, {"wv", getWv()}})))
    return failure();
  return verifyProjectionHeads(*this, getLayout(), getHeads(), getKvHeads());
}

LogicalResult HeadLinearOp::verify() {
  if (failed(verifyProjection(*this, getInput(), {{"weight", getWeight()}})))
    return failure();
  return requireFinite(*this, "softcap", getSoftcap().convertToDouble(), 0);
}

LogicalResult RmsNormOp::verify() {
  if (failed(verifyGain(*this, getGain(), getGamma())) ||
      failed(verifyCodes(*this, getCodes(), getInput(), getInputScale())))
    return failure();
  if (!std::isfinite(getScale()))
    return emitOpError() << "scale must be finite, got " << getScale();
  return requireFinite(*this, "eps", getEps().convertToDouble(), 0);
}

LogicalResult LayerNormOp::verify() {
  if (getBeta() && !getGamma())
    return emitOpError("takes beta only behind a gamma");
  return requireFinite(*this, "eps", getEps().convertToDouble(), 0);
}

LogicalResult QkNormOp::verify() { return requireFinite(*this, "eps", getEps().convertToDouble(), 0); }

LogicalResult ScaleOp::verify() {
  double factor = getFactor().convertToDouble();
  return std::isfinite(factor) ? success() : emitOpError() << "factor must be finite, got " << factor;
}

LogicalResult RopeTableOp::verify() { return verifyRotaryScaling(*this); }

LogicalResult RopeOp::verify() {
  int64_t pairs = cast<RankedTensorType>(getCos().getType()).getDimSize(1);
  if (!ShapedType::isDynamic(pairs) && 2 * pairs > static_cast<int64_t>(getHeadDim()))
    return emitOpError() << "tables hold " << pairs << " pairs, more than half of head_dim = " << getHeadDim();
  return success();
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyAttentionHeads(*this, getHeads(), getKvHeads())))
    return failure();
  bool cache = getLayout() == "cache";
  if (cache && !getPos())
    return emitOpError("needs pos with layout = \"cache\"");
  if (!cache && getPos())
    return emitOpError() << "takes pos only with layout = \"cache\": with \"" << getLayout()
                         << "\" the row index is the position";
  if (cache && getSeqs())
    return emitOpError("takes no seqs with layout = \"cache\"");
  if (cache && getSave() == "probs")
    return emitOpError("saves no probabilities with layout = \"cache\"");
  if (failed(verifyWindow(*this, getMask(), getWindow())) ||
      failed(requireFinite(*this, "scale", getScale().convertToDouble(), 0)))
    return failure();
  return requireFinite(*this, "softcap", getSoftcap().convertToDouble(), 0);
}

LogicalResult ActivationOp::verify() { return verifyAlpha(*this, getKind(), getAlpha().convertToDouble()); }

LogicalResult TransposeOp::verify() {
  int64_t rank = cast<RankedTensorType>(getInput().getType()).getRank();
  llvm::SmallBitVector seen(rank);
  for (int64_t axis : getPerm()) {
    if (axis < 0 || axis >= rank || seen[axis])
      return emitOpError() << "perm is not a permutation of " << rank << " dims";
    seen.set(axis);
  }
  return success();
}

static LogicalResult verifyAxis(Operation *op, int64_t axis, Value input) {
  int64_t rank = cast<RankedTensorType>(input.getType()).getRank();
  if (axis < rank)
    return success();
  return op->emitOpError() << "axis = " << axis << " is outside a tensor of rank " << rank;
}

LogicalResult SplitOp::verify() { return verifyAxis(*this, getAxis(), getInput()); }

LogicalResult ConcatOp::verify() {
  if (getInputs().empty())
    return emitOpError("needs at least one input");
  return verifyAxis(*this, getAxis(), getInputs().front());
}

OpFoldResult LastRowOp::fold(FoldAdaptor) { return getType() == getInput().getType() ? getInput() : Value(); }
