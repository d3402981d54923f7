//===- Checkpoint.h - the point from which a run goes on --------*- C++ -*-===//
//
// One file holds all that the next step depends on: parameters, moments, step, data position, losses so far, and the
// options of the run. It is replaced as a whole, so that at any moment there is one consistent point to resume from.
// The file is safetensors; the rest of the state is JSON under `training` in its metadata:
//
//   {"version": 1, "step": 120, "updates": 120, "epoch": 0, "index": 960, "options": {"--lr": "0.001", ...}}
//
// Random numbers need no state: initial weights and the order of the data are functions of the seed, which is among the
// options, and of epoch and index. The losses are the tensor `history`, f64 [step, 4]: loss, rate, gradient norm,
// validation loss (NaN where not measured).
//
//===----------------------------------------------------------------------===//
#ifndef CK_TRAINING_CHECKPOINT_H
#define CK_TRAINING_CHECKPOINT_H

#include "ck/Import/Formats/Container.h"
#include "ck/Training/DataSource.h"
#include "ck/Training/LossHistory.h"
#include "ck/Training/TrainProgram.h"

namespace ck {

/// Options that decide what a run computes, by the name under which a user knows them ("--lr"), as text.
using RunOptions = std::vector<std::pair<std::string, std::string>>;

/// All of a run but its buffers.
struct TrainingState {
  int64_t step = 0;    ///< steps that are done; also the rows of `history`
  int64_t updates = 0; ///< of these, the ones that changed the parameters (a step without targets does not)
  DataPosition position;
  LossHistory history;
  RunOptions options;
};

/// Writes the state with the program's parameters and moments, on the disk, whole or not at all. Errors: BAD_PATH (the
/// system's reason); BAD_INPUT (a parameter or moment that is not finite: such a state is not worth resuming).
Status saveCheckpoint(const std::string &path, const TrainingState &state, const TrainProgram &program);

/// A checkpoint that has been opened and checked.
class Checkpoint {
public:
  /// Errors: those of Container::open; BAD_CONFIG (no checkpoint of a training run, or of another version).
  static Result<Checkpoint> open(const std::string &path);

  const TrainingState &state() const { return contents; }
  /// Success if the run was made with these options. Error CONFLICT: every option that differs, with both values.
  Status checkOptions(const RunOptions &options) const;
  /// Copies parameters and moments into the program. Errors, before anything is written: BAD_CONFIG (a buffer is
  /// missing), BAD_SHAPE.
  Status restore(const TrainProgram &program) const;

private:
  explicit Checkpoint(Container container) : container(std::move(container)) {}
  Status read();

  Container container;
  TrainingState contents;
};

} // namespace ck

#endif // CK_TRAINING_CHECKPOINT_H
