//===- GraphOps.cpp - rules of GRAPH ops beyond their signatures ----------===//
//
// The signature trait checks shapes and types; here stand the rules about attributes.
//
//===----------------------------------------------------------------------===//
#include "ck/Dialect/CK/CKDialect.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallBitVector.h"

#include <cmath>

using namespace mlir;
using namespace ck;

static LogicalResult requireFinite(Operation *op, StringRef name, double value, double least) {
  if (std::isfinite(value) && value >= least)
    return success();
  return op->emitOpError() << name << " must be finite and at least " << least << ", got " << value;
}

LogicalResult QkvLinearOp::verify() {
  if (getLayout() == "head_major" && (getHeads() == 0 || getKvHeads() == 0))
    return emitOpError("needs heads and kv_heads with layout = \"head_major\"");
  if (getLayout() == "token_major" && (getHeads() != 0 || getKvHeads() != 0))
    return emitOpError("takes heads and kv_heads only with layout = \"head_major\"");
  return success();
}

LogicalResult HeadLinearOp::verify() { return requireFinite(*this, "softcap", getSoftcap().convertToDouble(), 0); }

LogicalResult RmsNormOp::verify() {
  if ((getGain() == "none") != !getGamma())
    return emitOpError() << "gain = \"" << getGain() << "\" " << (getGamma() ? "takes no gamma" : "needs gamma");
  return requireFinite(*this, "eps", getEps().convertToDouble(), 0);
}

LogicalResult RopeTableOp::verify() {
  if (getRotaryDim() % 2 != 0)
    return emitOpError() << "rotary_dim must be even, got " << getRotaryDim();
  double theta = getTheta().convertToDouble(), factor = getFactor().convertToDouble();
  double low = getLowFreqFactor().convertToDouble(), high = getHighFreqFactor().convertToDouble();
  if (!std::isfinite(theta) || theta <= 0)
    return emitOpError() << "theta must be finite and positive, got " << theta;
  if (!std::isfinite(factor) || factor <= 0)
    return emitOpError() << "factor must be finite and positive, got " << factor;
  if (getScaling() == "llama3") {
    if (!std::isfinite(low) || !std::isfinite(high) || low <= 0 || high <= low)
      return emitOpError() << "llama3 scaling needs 0 < low_freq_factor < high_freq_factor, got " << low << " and "
                           << high;
    if (getOriginalContext() <= 0)
      return emitOpError() << "llama3 scaling needs a positive original_context, got " << getOriginalContext();
  }
  return success();
}

LogicalResult RopeOp::verify() {
  int64_t pairs = cast<RankedTensorType>(getCos().getType()).getDimSize(1);
  if (!ShapedType::isDynamic(pairs) && 2 * pairs > static_cast<int64_t>(getHeadDim()))
    return emitOpError() << "tables hold " << pairs << " pairs, more than half of head_dim = " << getHeadDim();
  return success();
}

LogicalResult AttentionOp::verify() {
  if (getHeads() % getKvHeads() != 0)
    return emitOpError() << "heads = " << getHeads() << " is not a multiple of kv_heads = " << getKvHeads();
  bool cache = getLayout() == "cache";
  if (cache && !getPos())
    return emitOpError("needs pos with layout = \"cache\"");
  if (!cache && getPos())
    return emitOpError() << "takes pos only with layout = \"cache\": with \"" << getLayout()
                         << "\" the row index is the position";
  if (cache && getSeqs())
    return emitOpError("takes no seqs with layout = \"cache\"");
  if ((getMask() == "sliding") != (getWindow() != 0))
    return emitOpError() << (getWindow() ? "takes window only with mask = \"sliding\""
                                         : "needs a window with mask = \"sliding\"");
  if (failed(requireFinite(*this, "scale", getScale().convertToDouble(), 0)))
    return failure();
  return requireFinite(*this, "softcap", getSoftcap().convertToDouble(), 0);
}

LogicalResult ActivationOp::verify() {
  double alpha = getAlpha().convertToDouble();
  bool takesAlpha = getKind() == "softcap" || getKind() == "leaky_relu";
  if (getKind() == "softcap" && !(alpha > 0 && std::isfinite(alpha)))
    return emitOpError() << "softcap needs a positive alpha, got " << alpha;
  if (!takesAlpha && alpha != 0)
    return emitOpError() << getKind() << " takes no alpha";
  return requireFinite(*this, "alpha", alpha, 0);
}

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
