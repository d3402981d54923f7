//===- Evaluate.h - the loss over a range of tokens -------------*- C++ -*-===//
#ifndef CK_TRAINING_EVALUATE_H
#define CK_TRAINING_EVALUATE_H

#include "ck/Training/DataSource.h"
#include "ck/Training/TrainProgram.h"

#include <atomic>

namespace ck {

struct Evaluation {
  double loss = 0;    ///< mean nats per predicted token; 0 if there is none
  int64_t tokens = 0; ///< predicted
  int64_t windows = 0;
};

/// The loss over all windows in order, `batchSize` of them a call; sums in double. Error: the program's, a loss that is
/// not finite (names the window), or "interrupted" once the flag is set.
Result<Evaluation> evaluate(TrainProgram &program, const TokenStream &tokens, const Windows &windows, int64_t batchSize,
                            const std::atomic<bool> *interrupt = nullptr);

} // namespace ck

#endif // CK_TRAINING_EVALUATE_H
