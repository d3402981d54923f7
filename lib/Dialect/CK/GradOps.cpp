//===- GradOps.cpp - rules of gradient and training ops -------------------===//
//
// Beyond signatures, and beyond what gradient ops have in common (Gradients.cpp).
//
//===----------------------------------------------------------------------===//
#include "OpRules.h"

#include "mlir/IR/Builders.h"

#include <cmath>

using namespace mlir;
using namespace ck;

//===----------------------------------------------------------------------===//
// Rules of an op and its gradient
//===----------------------------------------------------------------------===//

LogicalResult ck::requireFinite(Operation *op, StringRef name, double value, double least) {
  if (std::isfinite(value) && value >= least)
    return success();
  return op->emitOpError() << name << " must be finite and at least " << least << ", got " << value;
}

LogicalResult ck::verifyProjectionHeads(Operation *op, StringRef layout, int64_t heads, int64_t kvHeads) {
  if (layout == "head_major" && (heads == 0 || kvHeads == 0))
    return op->emitOpError("needs heads and kv_heads with layout = \"head_major\"");
  if (layout == "token_major" && (heads != 0 || kvHeads != 0))
    return op->emitOpError("takes heads and kv_heads only with layout = \"head_major\"");
  return success();
}

LogicalResult ck::verifyAttentionHeads(Operation *op, int64_t heads, int64_t kvHeads) {
  if (heads % kvHeads != 0)
    return op->emitOpError() << "heads = " << heads << " is not a multiple of kv_heads = " << kvHeads;
  return success();
}

LogicalResult ck::verifyWindow(Operation *op, StringRef mask, int64_t window) {
  if ((mask == "sliding") != (window != 0))
    return op->emitOpError() << (window ? "takes window only with mask = \"sliding\""
                                        : "needs a window with mask = \"sliding\"");
  return success();
}

LogicalResult ck::verifyAlpha(Operation *op, StringRef kind, double alpha) {
  bool takesAlpha = kind == "softcap" || kind == "leaky_relu";
  if (kind == "softcap" && !(alpha > 0 && std::isfinite(alpha)))
    return op->emitOpError() << "softcap needs a positive alpha, got " << alpha;
  if (!takesAlpha && alpha != 0)
    return op->emitOpError() << kind << " takes no alpha";
  return requireFinite(op, "alpha", alpha, 0);
}

LogicalResult ck::verifyGain(Operation *op, StringRef gain, Value gamma) {
  if ((gain == "none") != !gamma)
    return op->emitOpError() << "gain = \"" << gain << "\" " << (gamma ? "takes no gamma" : "needs gamma");
  return success();
}

LogicalResult ck::verifyCodes(Operation *op, StringRef codes, Value input, Value scales) {
  if (codes != "none") // Types and presence follow from the signature.
    return success();
  if (scales)
    return op->emitOpError("takes scales only with codes = \"int8\" or \"int4\"");
  Type type = cast<ShapedType>(input.getType()).getElementType();
  if (!type.isF32() && !type.isBF16())
    return op->emitOpError() << "input must be f32 or bf16 with codes = \"none\", got " << type;
  return success();
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

LogicalResult QkvLinearGradOp::verify() { return verifyProjectionHeads(*this, getLayout(), getHeads(), getKvHeads()); }

LogicalResult RmsNormGradOp::verify() {
  if (failed(verifyGain(*this, getGain(), getGamma())) ||
      failed(verifyCodes(*this, getCodes(), getInput(), getInputScale())))
    return failure();
  if (getGain() == "none" && llvm::is_contained(getWrt(), StringAttr::get(getContext(), "gamma")))
    return emitOpError("has no gamma to differentiate with gain = \"none\"");
  return success();
}

LogicalResult QkNormGradOp::verify() { return requireFinite(*this, "eps", getEps().convertToDouble(), 0); }

LogicalResult AttentionGradOp::verify() {
  if (failed(verifyAttentionHeads(*this, getHeads(), getKvHeads())) ||
      failed(verifyWindow(*this, getMask(), getWindow())) ||
      failed(requireFinite(*this, "scale", getScale().convertToDouble(), 0)) ||
      failed(requireFinite(*this, "softcap", getSoftcap().convertToDouble(), 0)))
    return failure();
  if (!getSinks() && llvm::is_contained(getWrt(), StringAttr::get(getContext(), "sinks")))
    return emitOpError("has no sinks to differentiate");
  return success();
}

LogicalResult AttentionProbsGradOp::verify() {
  if (failed(verifyAttentionHeads(*this, getHeads(), getKvHeads())))
    return failure();
  return requireFinite(*this, "scale", getScale().convertToDouble(), 0);
}

LogicalResult ActivationGradOp::verify() { return verifyAlpha(*this, getKind(), getAlpha().convertToDouble()); }

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

/// A decay of a moment lies in [0, 1).
static LogicalResult requireDecay(Operation *op, StringRef name, double value) {
  if (value >= 0 && value < 1)
    return success();
  return op->emitOpError() << name << " must be at least 0 and less than 1, got " << value;
}

LogicalResult AdamWOp::verify() {
  if (failed(requireDecay(*this, "beta1", getBeta1().convertToDouble())) ||
      failed(requireDecay(*this, "beta2", getBeta2().convertToDouble())) ||
      failed(requireFinite(*this, "eps", getEps().convertToDouble(), 0)))
    return failure();
  return requireFinite(*this, "weight_decay", getWeightDecay().convertToDouble(), 0);
}

LogicalResult SgdOp::verify() {
  double momentum = getMomentum().convertToDouble();
  if (failed(requireDecay(*this, "momentum", momentum)) ||
      failed(requireFinite(*this, "weight_decay", getWeightDecay().convertToDouble(), 0)))
    return failure();
  if (!getVelocity() && momentum != 0)
    return emitOpError() << "needs velocity with momentum = " << momentum;
  if (getNesterov() && momentum == 0)
    return emitOpError("takes nesterov only with a momentum");
  return success();
}

static LogicalResult requireNumber(Operation *op, StringRef name, double value) {
  return std::isnan(value) ? op->emitOpError() << name << " must be a number, got " << value : success();
}

LogicalResult ClipFactorOp::verify() { return requireNumber(*this, "max_norm", getMaxNorm().convertToDouble()); }

LogicalResult GradClipOp::verify() { return requireNumber(*this, "max_norm", getMaxNorm().convertToDouble()); }

LogicalResult FillOp::verify() { return requireNumber(*this, "value", getValue().convertToDouble()); }
