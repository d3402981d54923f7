//===- TrainProgram.h - what a training run calls ---------------*- C++ -*-===//
//
// The trainer knows a program by three calls and its states; how these came to be (a compiled plan, a table, a toy in a
// test) is not its business.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TRAINING_TRAINPROGRAM_H
#define CK_TRAINING_TRAINPROGRAM_H

#include "ck/Support/Result.h"
#include "ck/Training/Batch.h"

#include <string>

namespace ck {

/// A state of the program in memory: row-major f32, contiguous.
struct StateBuffer {
  std::string name;
  std::vector<int64_t> shape;
  float *data = nullptr;

  int64_t size() const {
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    return count;
  }
};

/// Result of an optimizer step.
struct StepOutcome {
  double loss = 0;     ///< of the step's last micro-batch, times its scale
  double gradNorm = 0; ///< of the whole step, before clipping
};

/// Losses are `scale` times the sum over valid targets, in nats. Every call's error is one sentence that names the op
/// at fault; a call that fails leaves the parameters as they were.
class TrainProgram {
public:
  virtual ~TrainProgram() = default;

  /// Loss of a batch; changes nothing.
  virtual Result<double> eval(const Batch &batch, float scale) = 0;
  /// Adds the batch's gradients to those that are there; returns its loss.
  virtual Result<double> accumulate(const Batch &batch, float scale) = 0;
  /// Adds the batch's gradients, takes an optimizer step with rate `lr`, and leaves the gradients zero. `number` counts
  /// steps from 1.
  virtual Result<StepOutcome> step(const Batch &batch, float scale, float lr, int32_t number) = 0;

  /// Parameters under their logical names ("layers.0.wq"), optimizer moments ("layers.0.wq.m"), and accumulated
  /// gradients ("d_layers.0.wq"; none if the program cannot accumulate).
  virtual const std::vector<StateBuffer> &parameters() const = 0;
  virtual const std::vector<StateBuffer> &moments() const = 0;
  virtual const std::vector<StateBuffer> &gradients() const = 0;
};

/// Where a buffer holds the first value that is not finite: "'layers.0.wq' holds nan at element 7"; empty if all are.
std::string findNonFinite(const std::vector<StateBuffer> &buffers);

} // namespace ck

#endif // CK_TRAINING_TRAINPROGRAM_H
