//===- SessionProgram.h - a compiled training program -----------*- C++ -*-===//
//
// Entries `train_step`, `accumulate` and `eval` of a compiled model, bound to a session. Their inputs and outputs are
// found by name:
//
//   tokens[T]:i32 targets[T]:i32 pos[T]:i32 seqs[S]:i32 scale[1]:f32, and of train_step lr[1]:f32 step[1]:i32
//   -> loss[1]:f32, and of train_step grad_norm[1]:f32
//
// A program that only differentiates has no optimizer: its train_step takes neither lr nor step and gives the gradients
// as outputs d_<parameter>.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TRAINING_SESSIONPROGRAM_H
#define CK_TRAINING_SESSIONPROGRAM_H

#include "ck/Import/Formats/WeightTable.h"
#include "ck/Runtime/Runtime.h"
#include "ck/Training/TrainProgram.h"

#include <memory>

namespace ck {

class SessionProgram : public TrainProgram {
public:
  /// `session` must outlive the program. The parameters are the rows of `weights` in their order, as far as they are
  /// states: weights that are mapped from a file cannot be changed and are not listed. Errors: a parameter that is
  /// neither in its shape, an entry with an input or output that is not listed above. Entries may be absent until they
  /// are called.
  ///
  /// An error of a call that comes from a NaN or an infinity names the op that made it first, and a mapped weight that
  /// holds one: the call is made again with every result looked at.
  static Result<std::unique_ptr<SessionProgram>> create(ck_session *session, const std::vector<WeightSpec> &weights);

  Result<double> eval(const Batch &batch, float scale) override;
  Result<double> accumulate(const Batch &batch, float scale) override;
  Result<StepOutcome> step(const Batch &batch, float scale, float lr, int32_t number) override;
  const std::vector<StateBuffer> &parameters() const override { return parameterList; }
  const std::vector<StateBuffer> &moments() const override { return momentList; }
  const std::vector<StateBuffer> &gradients() const override { return gradientList; }

private:
  SessionProgram() = default;
  Status findStates(const std::vector<WeightSpec> &weights);
  Status checkEntry(const ck_entry &entry, const std::vector<WeightSpec> &weights);
  Result<StepOutcome> run(const char *name, const Batch &batch, float scale, float lr, int32_t number);
  int32_t call(const ck_entry &entry, const Batch &batch, const void *const *known, float *results);
  std::string origin(const ck_entry &entry, const Batch &batch, const void *const *known);

  ck_session *session = nullptr;
  std::vector<StateBuffer> parameterList, momentList, gradientList;
  std::vector<StateBuffer> mapped;                                  ///< parameters that are weights: to be read only
  std::vector<std::unique_ptr<std::vector<float>>> gradientOutputs; ///< memory of gradients that are outputs
};

} // namespace ck

#endif // CK_TRAINING_SESSIONPROGRAM_H
