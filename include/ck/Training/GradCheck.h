//===- GradCheck.h - gradients against differences of the loss --*- C++ -*-===//
//
// The check that a user can run on the user's own model: for each tensor, does the loss change along the tensor's
// gradient as the gradient says?
//
//   r(e) = (L(w + e u) - L(w - e u)) / (g . (what the parameters really moved)),    u = g / |g|
//   ratio = (4 r(e/2) - r(e)) / 3
//
// The ratio is 1 for a right gradient. The first step e is chosen so that the loss changes by about two thousandths:
// far above the rounding of f32, and mostly below where the loss bends; the extrapolation takes away the bend's leading
// term. Where that is not enough, smaller steps decide, as long as they are above the rounding. What the parameters
// moved is taken after their own rounding. A loss that hardly depends on a tensor leaves nothing to measure in f32;
// such tensors are counted apart and never as passed.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TRAINING_GRADCHECK_H
#define CK_TRAINING_GRADCHECK_H

#include "ck/Training/TrainProgram.h"

namespace ck {

/// Outcome for one parameter.
struct GradCheckRow {
  enum Outcome {
    Right,   ///< |ratio - 1| is within the bound
    Wrong,   ///< it is not; or the gradient is zero and the loss changes, or it is not finite
    TooSmall ///< the change of the loss along it drowns in rounding, or gradient and change are both zero
  } outcome = Right;
  std::string name;
  double norm = 0;  ///< |g|
  double ratio = 0; ///< measured over predicted change; 0 where TooSmall
};

struct GradCheckReport {
  double loss = 0;
  double bound = 0;
  std::vector<GradCheckRow> rows; ///< in the order of the parameters
  int64_t count(GradCheckRow::Outcome outcome) const;
};

/// Checks the gradient buffers, which must hold the gradients of the batch's mean loss at the present parameters. The
/// parameters are moved and put back bit by bit. Error: the program's.
Result<GradCheckReport> checkGradients(TrainProgram &program, const Batch &batch, double bound = 1e-2);

} // namespace ck

#endif // CK_TRAINING_GRADCHECK_H
