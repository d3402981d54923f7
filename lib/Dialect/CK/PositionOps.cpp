//===- PositionOps.cpp - rules of ops about positions and images ----------===//
//
// Beyond signatures: numbers that frequencies, sections and grids can have.
//
//===----------------------------------------------------------------------===//

#include "OpRules.h"

#include <cmath>

using namespace mlir;
using namespace ck;

static double number(const APFloat &value) { return value.convertToDouble(); }
static double number(double value) { return value; }

/// Rules that tables of all positions and of given ones share.
template <typename TableOp> static LogicalResult verifyScaling(TableOp op) {
  if (op.getRotaryDim() % 2 != 0)
    return op.emitOpError() << "rotary_dim must be even, got " << op.getRotaryDim();
  for (auto [name, value] : {std::pair("theta", number(op.getTheta())), {"factor", number(op.getFactor())}})
    if (!std::isfinite(value) || value <= 0)
      return op.emitOpError() << name << " must be finite and positive, got " << value;
  const StringRef scaling = op.getScaling();
  const double low = number(op.getLowFreqFactor()), high = number(op.getHighFreqFactor());
  if (scaling == "llama3" && (!std::isfinite(low) || !std::isfinite(high) || low <= 0 || high <= low))
    return op.emitOpError() << "llama3 scaling needs 0 < low_freq_factor < high_freq_factor, got " << low << " and "
                            << high;
  const double fast = op.getBetaFast(), slow = op.getBetaSlow();
  if (scaling == "yarn" && (!std::isfinite(fast) || !std::isfinite(slow) || slow <= 0 || fast < slow))
    return op.emitOpError() << "yarn scaling needs 0 < beta_slow <= beta_fast, got " << slow << " and " << fast;
  if ((scaling == "llama3" || scaling == "yarn") && op.getOriginalContext() <= 0)
    return op.emitOpError() << scaling << " scaling needs a positive original_context, got " << op.getOriginalContext();
  return success();
}

LogicalResult ck::verifyRotaryScaling(RopeTableOp op) { return verifyScaling(op); }

LogicalResult RopeTableAtOp::verify() { return verifyScaling(*this); }

/// Rules of rotations that compute their own angles.
template <typename RotationOp> static LogicalResult verifyRotation(RotationOp op) {
  if (op.getRotaryDim() % 2 != 0 || op.getRotaryDim() > op.getHeadDim())
    return op.emitOpError() << "rotary_dim must be even and at most head_dim = " << op.getHeadDim() << ", got "
                            << op.getRotaryDim();
  const double theta = op.getTheta();
  if (!std::isfinite(theta) || theta <= 0)
    return op.emitOpError() << "theta must be finite and positive, got " << theta;
  return success();
}

LogicalResult RopeDirectOp::verify() { return verifyRotation(*this); }

LogicalResult MRopeOp::verify() {
  if (failed(verifyRotation(*this)))
    return failure();
  const int64_t axes = cast<RankedTensorType>(getPositions().getType()).getDimSize(0);
  if (axes != 1 && axes != 4)
    return emitOpError() << "positions must have one row or four, got " << axes;
  for (auto [name, section] : {std::pair("section_0", getSection_0()),
                               {"section_1", getSection_1()},
                               {"section_2", getSection_2()},
                               {"section_3", getSection_3()}})
    if (static_cast<int64_t>(section) < 0)
      return emitOpError() << name << " must not be negative, got " << static_cast<int64_t>(section);
  const double scale = getFreqScale();
  if (!std::isfinite(scale) || scale <= 0)
    return emitOpError() << "freq_scale must be finite and positive, got " << scale;
  return success();
}

LogicalResult PositionEmbedding2DOp::verify() {
  const bool axes = getMode() == "xy";
  if (axes && (getMergeSize() != 1 || getSourceGrid() != 0))
    return emitOpError("takes no merge_size and no source_grid with mode = \"xy\"");
  if (!axes && getSourceGrid() == 0)
    return emitOpError() << "needs source_grid with mode = \"" << getMode() << "\"";
  return success();
}

LogicalResult UpdateColumnsOp::verify() {
  const int64_t columns = cast<RankedTensorType>(getDst().getType()).getDimSize(1);
  const int64_t width = cast<RankedTensorType>(getSrc().getType()).getDimSize(1);
  if (ShapedType::isStatic(columns) && ShapedType::isStatic(width) &&
      static_cast<int64_t>(getOffset()) > columns - width)
    return emitOpError() << "columns " << getOffset() << " to " << static_cast<int64_t>(getOffset()) + width
                         << " are not within the " << columns << " of the destination";
  return success();
}
