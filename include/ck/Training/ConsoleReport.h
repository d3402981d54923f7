//===- ConsoleReport.h - a run as people and programs see it ----*- C++ -*-===//
#ifndef CK_TRAINING_CONSOLEREPORT_H
#define CK_TRAINING_CONSOLEREPORT_H

#include "ck/Training/Trainer.h"

#include <cstdio>

namespace ck {

/// One step as a line of JSON, without the line's end:
///
///   {"step": 3, "loss": 5.1, "lr": 0.001, "grad_norm": 1.2, "val_loss": null, "epoch": 0, "tokens": 512,
///    "tokens_per_s": 8000, "seconds": 0.064}
///
/// `tokens` counts predicted targets; a skipped step has `"skipped": true`.
std::string stepJson(const StepReport &report);

/// The line for people: "step 120/1000  loss 2.3456  val 2.4000  8123 tokens/s  ETA 1:05". `rate` in tokens a second, 0
/// if unknown; `validation` the last one, NaN if none.
std::string stepLine(const StepReport &report, double rate, double validation);

/// How far a run is and how its loss has fallen, in one line: a bar that fills with the curve of the loss.
class LossBar {
public:
  static constexpr int64_t kColumns = 24;

  void add(const StepReport &report);
  /// `width` columns (at most kColumns), each the mean loss of its share of the run, as a block between the least (low)
  /// and the greatest (high) loss so far; spaces for what is to come. A block takes three bytes of UTF-8.
  std::string draw(int64_t width) const;

private:
  double sums[kColumns] = {};
  int64_t counts[kColumns] = {};
  int64_t first = 0;
};

/// Writes progress to `people`: on a terminal a LossBar and the numbers, which stay in their place, else a line for
/// about every twentieth of the run and for each validation; and, if `records` is given, a line of JSON for each step
/// there.
class ConsoleReport : public TrainObserver {
public:
  ConsoleReport(std::FILE *people, bool isTerminal, std::FILE *records)
      : people(people), isTerminal(isTerminal), records(records) {}
  void onStep(const StepReport &report) override;
  void onWarning(const std::string &text) override;
  /// Ends the bar's line, before something else is written.
  void finish();

private:
  std::FILE *people;
  bool isTerminal;
  std::FILE *records;
  bool lineIsOpen = false, first = true;
  double seconds = 0, validation = std::nan("");
  int64_t rows = 0;
  LossBar bar;
};

} // namespace ck

#endif // CK_TRAINING_CONSOLEREPORT_H
