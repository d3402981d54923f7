//===- Trainer.cpp - the loop of a training run ---------------------------===//
#include "ck/Training/Trainer.h"

#include "Messages.h"
#include "ck/Import/Formats/AtomicFile.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

namespace ck {

Trainer::Trainer(TrainProgram &program, DataSource &data, const RunDirectory &directory, TrainerOptions options,
                 std::optional<Validation> validation, std::function<Status()> writeModel, TrainObserver &observer)
    : program(program), data(data), directory(directory), options(std::move(options)),
      validation(std::move(validation)), writeModel(std::move(writeModel)), observer(observer) {
  current.options = this->options.identity;
}

Status Trainer::resume(const Checkpoint &checkpoint) {
  CK_CHECK(checkpoint.checkOptions(options.identity));
  CK_CHECK(checkpoint.restore(program));
  current = checkpoint.state();
  savedStep = current.step;
  return Status::success();
}

Error Trainer::located(const Error &error) const {
  std::string text = "step " + std::to_string(current.step + 1) + ": " + error.message;
  for (const std::vector<StateBuffer> *buffers : {&program.parameters(), &program.gradients()})
    if (std::string where = findNonFinite(*buffers); !where.empty()) {
      text += "; " + where;
      break;
    }
  text += savedStep >= 0
              ? "; the checkpoint of step " + std::to_string(savedStep) + " in " + directory.path() + " is intact"
              : "; no checkpoint has been written yet";
  return Error{text, error.code};
}

Status Trainer::run() {
  CK_CHECK(restartTable());
  while (current.step < options.steps && !stopped) {
    if (Status status = step(); !status)
      return located(status.error());
    stopped = options.interrupt && *options.interrupt && current.step < options.steps;
    bool due = options.saveEvery > 0 && current.step % options.saveEvery == 0;
    if (due && current.step < options.steps && !stopped)
      CK_CHECK(save());
  }
  return save();
}

Status Trainer::step() {
  auto start = std::chrono::steady_clock::now();
  StepReport report;
  report.step = current.step + 1;
  report.steps = options.steps;
  report.epoch = current.position.epoch;
  report.row.rate = options.schedule.at(report.step);
  DataPosition position = current.position;
  std::vector<Batch> batches = data.next(position);
  for (const Batch &batch : batches) {
    report.rows += batch.rows();
    report.valid += batch.valid;
  }
  if (report.valid == 0) {
    observer.onWarning("step " + std::to_string(report.step) + ": every target is ignored (-100); the step is skipped");
  } else {
    Result<StepOutcome> outcome = update(batches, report.valid, report.row.rate);
    if (!outcome)
      return outcome.error();
    report.row.loss = outcome->loss;
    report.row.gradNorm = outcome->gradNorm;
    ++current.updates;
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (validation && options.evalEvery > 0 && report.step % options.evalEvery == 0)
    CK_CHECK(validate(report.row));
  CK_CHECK(writeLine(report.step, report.row));
  current.step = report.step;
  current.position = position;
  current.history.push_back(report.row);
  observer.onStep(report);
  return Status::success();
}

Result<StepOutcome> Trainer::update(std::vector<Batch> &batches, int64_t valid, double rate) {
  // A micro-batch without targets adds nothing; the last one with some takes the step.
  batches.erase(std::remove_if(batches.begin(), batches.end(), [](const Batch &batch) { return batch.valid == 0; }),
                batches.end());
  float scale = static_cast<float>(1 / static_cast<double>(valid));
  double loss = 0;
  for (size_t i = 0; i + 1 < batches.size(); ++i) {
    Result<double> part = program.accumulate(batches[i], scale);
    if (!part)
      return part.error();
    if (!std::isfinite(*part))
      return Error{"the loss of micro-batch " + std::to_string(i + 1) + " is " + numberText(*part)};
    loss += *part;
  }
  Result<StepOutcome> outcome =
      program.step(batches.back(), scale, static_cast<float>(rate), static_cast<int32_t>(current.updates + 1));
  if (!outcome)
    return outcome;
  outcome->loss += loss;
  if (!std::isfinite(outcome->loss) || !std::isfinite(outcome->gradNorm))
    return Error{"the loss is " + numberText(outcome->loss) + ", the gradient norm " + numberText(outcome->gradNorm)};
  return outcome;
}

Status Trainer::validate(LossRow &row) {
  Result<Evaluation> result = evaluate(program, validation->tokens, validation->windows, validation->batchSize);
  if (!result)
    return Error{"validation: " + result.error().message};
  row.validation = result->loss;
  return Status::success();
}

Status Trainer::save() {
  if (savedStep != current.step) {
    if (Status status = saveCheckpoint(directory.checkpoint(), current, program); !status)
      return Error{
          status.error().message +
              (savedStep >= 0 ? "; the checkpoint of step " + std::to_string(savedStep) + " is intact" : std::string()),
          status.error().code};
    savedStep = current.step;
  }
  CK_CHECK(writeModel());
  return writeFileAtomically(directory.lossPicture(), {lossPicture(current.history)});
}

/// The table up to the present step, whatever an earlier process has written behind it.
Status Trainer::restartTable() {
  CK_CHECK(writeFileAtomically(directory.lossTable(), {lossTable(current.history)}));
  std::FILE *file = std::fopen(directory.lossTable().c_str(), "ae");
  if (!file)
    return fail("BAD_PATH", directory.lossTable(), ": cannot be written: ", std::strerror(errno));
  table.reset(file, std::fclose);
  return Status::success();
}

Status Trainer::writeLine(int64_t step, const LossRow &row) {
  std::string line = lossLine(step, row);
  if (std::fwrite(line.data(), 1, line.size(), table.get()) != line.size() || std::fflush(table.get()) != 0)
    return fail("BAD_PATH", directory.lossTable(), ": cannot be written: ", std::strerror(errno));
  return Status::success();
}

} // namespace ck
