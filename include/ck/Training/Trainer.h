//===- Trainer.h - the loop of a training run -------------------*- C++ -*-===//
//
// Takes steps, measures validation loss, saves, and stops: at the last step, when asked to, or when something is wrong.
// Whatever happens, the last checkpoint on the disk is whole and holds only finite numbers.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TRAINING_TRAINER_H
#define CK_TRAINING_TRAINER_H

#include "ck/Training/Checkpoint.h"
#include "ck/Training/Evaluate.h"
#include "ck/Training/RunDirectory.h"
#include "ck/Training/Schedule.h"

#include <functional>

namespace ck {

struct TrainerOptions {
  int64_t steps = 0; ///< of the whole run, with those before a resume
  Schedule schedule;
  int64_t evalEvery = 0;                        ///< steps between validations; 0 = none
  int64_t saveEvery = 0;                        ///< steps between checkpoints; 0 = only at the end
  RunOptions identity;                          ///< stored in checkpoints; must be equal on resume
  const std::atomic<bool> *interrupt = nullptr; ///< looked at after each step
};

/// One finished step, for people and logs.
struct StepReport {
  int64_t step = 0, steps = 0, epoch = 0;
  LossRow row;
  int64_t rows = 0;   ///< token positions that were computed
  int64_t valid = 0;  ///< targets that were predicted; 0: no update was made
  double seconds = 0; ///< of the step alone, without validation
};

/// Hears of a run's progress.
class TrainObserver {
public:
  virtual ~TrainObserver() = default;
  virtual void onStep(const StepReport &report) = 0;
  virtual void onWarning(const std::string &text) = 0;
};

/// What validation runs over.
struct Validation {
  TokenStream tokens;
  Windows windows;
  int64_t batchSize = 1;
};

class Trainer {
public:
  /// All references must outlive the trainer. `writeModel` is called after each checkpoint.
  Trainer(TrainProgram &program, DataSource &data, const RunDirectory &directory, TrainerOptions options,
          std::optional<Validation> validation, std::function<Status()> writeModel, TrainObserver &observer);

  /// Takes over the state of a checkpoint made with the same options. Errors of Checkpoint::checkOptions and restore.
  Status resume(const Checkpoint &checkpoint);

  /// Runs to the last step or to an interrupt, and saves. Errors name the step: a failing entry, a loss or parameter
  /// that is not finite, a file that cannot be written. After an error, the last checkpoint stands.
  Status run();

  const TrainingState &state() const { return current; }
  /// True if run() ended before the last step, because it was asked to.
  bool interrupted() const { return stopped; }

private:
  Status step();
  Result<StepOutcome> update(std::vector<Batch> &batches, int64_t valid, double rate);
  Status validate(LossRow &row);
  Status save();
  Status restartTable();
  Status writeLine(int64_t step, const LossRow &row);
  Error located(const Error &error) const;

  TrainProgram &program;
  DataSource &data;
  const RunDirectory &directory;
  TrainerOptions options;
  std::optional<Validation> validation;
  std::function<Status()> writeModel;
  TrainObserver &observer;
  TrainingState current;
  int64_t savedStep = -1; ///< of the checkpoint on the disk
  bool stopped = false;
  std::shared_ptr<std::FILE> table;
};

} // namespace ck

#endif // CK_TRAINING_TRAINER_H
