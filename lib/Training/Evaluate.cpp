//===- Evaluate.cpp - the loss over a range of tokens ---------------------===//
#include "ck/Training/Evaluate.h"

#include "Messages.h"

#include <cmath>

namespace ck {

Result<Evaluation> evaluate(TrainProgram &program, const TokenStream &tokens, const Windows &windows, int64_t batchSize,
                            const std::atomic<bool> *interrupt) {
  Evaluation result;
  double sum = 0;
  while (result.windows < windows.count()) {
    if (interrupt && *interrupt)
      return Error{"interrupted"};
    int64_t first = result.windows;
    Batch batch;
    for (int64_t i = 0; i < batchSize && result.windows < windows.count(); ++i)
      windows.add(result.windows++, tokens, batch);
    // A mean keeps the f32 result as exact as it can be.
    Result<double> loss = program.eval(batch, 1.0f / static_cast<float>(batch.valid));
    if (!loss)
      return loss.error();
    if (!std::isfinite(*loss))
      return fail("", "the loss of the windows from ", first, " to ", result.windows - 1, " is ", numberText(*loss));
    sum += *loss * static_cast<double>(batch.valid);
    result.tokens += batch.valid;
  }
  if (result.tokens)
    result.loss = sum / static_cast<double>(result.tokens);
  return result;
}

} // namespace ck
