//===- LossHistory.h - the losses of a run, as table and picture -*- C++ -*-===//
//
// One row a step. It holds no times, so that a run that was broken and resumed writes the same table as one that was
// not.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TRAINING_LOSSHISTORY_H
#define CK_TRAINING_LOSSHISTORY_H

#include "ck/Support/Result.h"

#include <cmath>
#include <cstdint>
#include <vector>

namespace ck {

struct LossRow {
  double loss = 0; ///< mean over the step's valid targets, in nats
  double rate = 0; ///< learning rate
  double gradNorm = 0;
  double validation = std::nan(""); ///< mean nats per token; NaN where it was not measured
};

/// Row i is step i + 1.
using LossHistory = std::vector<LossRow>;

/// The table: a line of names, then a line a step; numbers are the shortest that read back exactly.
///
///   step,loss,lr,grad_norm,val_loss
///   1,5.5651,0.001,1.25,
std::string lossTable(const LossHistory &history);
/// One line of the table.
std::string lossLine(int64_t step, const LossRow &row);

/// A picture that needs nothing else (SVG): the loss of each step, its running mean, and the validation losses over the
/// steps, with axes. Long runs are thinned to what an eye can tell apart: least and greatest of each stretch.
std::string lossPicture(const LossHistory &history);

} // namespace ck

#endif // CK_TRAINING_LOSSHISTORY_H
