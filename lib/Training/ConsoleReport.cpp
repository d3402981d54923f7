//===- ConsoleReport.cpp - a run as people and programs see it ------------===//
#include "ck/Training/ConsoleReport.h"

#include "Messages.h"

#include <algorithm>
#include <sys/ioctl.h>

namespace ck {

static std::string jsonNumber(double value) { return std::isfinite(value) ? numberText(value) : "null"; }

std::string stepJson(const StepReport &report) {
  double rate = report.seconds > 0 ? static_cast<double>(report.valid) / report.seconds : 0;
  return "{\"step\": " + std::to_string(report.step) + ", \"loss\": " + jsonNumber(report.row.loss) +
         ", \"lr\": " + jsonNumber(report.row.rate) + ", \"grad_norm\": " + jsonNumber(report.row.gradNorm) +
         ", \"val_loss\": " + jsonNumber(report.row.validation) + ", \"epoch\": " + std::to_string(report.epoch) +
         ", \"tokens\": " + std::to_string(report.valid) + ", \"tokens_per_s\": " + jsonNumber(rate) +
         ", \"seconds\": " + jsonNumber(report.seconds) + (report.valid ? "}" : ", \"skipped\": true}");
}

static std::string duration(double seconds) {
  int64_t total = static_cast<int64_t>(seconds + 0.5);
  char text[64];
  if (total < 3600)
    std::snprintf(text, sizeof text, "%d:%02d", int(total / 60), int(total % 60));
  else
    std::snprintf(text, sizeof text, "%lld:%02d:%02d", static_cast<long long>(total / 3600), int(total / 60 % 60),
                  int(total % 60));
  return text;
}

std::string stepLine(const StepReport &report, double rate, double validation) {
  char text[64];
  std::string line = "step " + std::to_string(report.step) + "/" + std::to_string(report.steps);
  std::snprintf(text, sizeof text, "  loss %.4f", report.row.loss);
  line += text;
  if (!std::isnan(validation)) {
    std::snprintf(text, sizeof text, "  val %.4f", validation);
    line += text;
  }
  if (rate > 0) {
    std::snprintf(text, sizeof text, "  %.0f tokens/s", rate);
    line += text;
    double each = static_cast<double>(report.rows) / rate;
    line += "  ETA " + duration(each * static_cast<double>(report.steps - report.step));
  }
  return line;
}

void LossBar::add(const StepReport &report) {
  if (first == 0)
    first = report.step;
  int64_t total = std::max<int64_t>(report.steps - first + 1, 1);
  int64_t column = std::min((report.step - first) * kColumns / total, kColumns - 1);
  sums[column] += report.row.loss;
  ++counts[column];
}

std::string LossBar::draw(int64_t width) const {
  static const char *const blocks[] = {"\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"};
  std::vector<double> means;
  for (int64_t column = 0; column < width; ++column)
    if (int64_t i = column * kColumns / width; counts[i])
      means.push_back(sums[i] / static_cast<double>(counts[i]));
  std::string text;
  for (double mean : means) {
    auto [low, high] = std::minmax_element(means.begin(), means.end());
    double height = *high > *low ? (mean - *low) / (*high - *low) : 0;
    text += blocks[std::isfinite(height) ? static_cast<int>(height * 7 + 0.5) : 7];
  }
  return text + std::string(width - static_cast<int64_t>(means.size()), ' ');
}

/// Width of a terminal; 80 if it does not say.
static int64_t columnsOf(std::FILE *terminal) {
  struct winsize size;
  return ::ioctl(::fileno(terminal), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void ConsoleReport::onStep(const StepReport &report) {
  if (records) {
    std::string line = stepJson(report) + "\n";
    std::fwrite(line.data(), 1, line.size(), records);
    std::fflush(records);
  }
  bar.add(report);
  bool measured = !std::isnan(report.row.validation);
  if (measured)
    validation = report.row.validation;
  seconds += report.seconds;
  rows += report.rows;
  std::string line = stepLine(report, seconds > 0 ? static_cast<double>(rows) / seconds : 0, validation);
  if (isTerminal) {
    // A line that wraps would no longer stay in its place.
    int64_t room = columnsOf(people) - 1,
            width = std::clamp<int64_t>(room - int64_t(line.size()) - 3, 0, LossBar::kColumns);
    std::string curve = width > 3 ? "[" + bar.draw(width) + "] " : "";
    std::fprintf(people, "\r\x1b[K%s%s", curve.c_str(), line.substr(0, room).c_str());
    lineIsOpen = true;
  } else if (first || measured || report.step == report.steps ||
             report.step % std::max<int64_t>(report.steps / 20, 1) == 0) {
    std::fprintf(people, "%s\n", line.c_str());
  }
  first = false;
  std::fflush(people);
}

void ConsoleReport::onWarning(const std::string &text) {
  finish();
  std::fprintf(people, "ck-run: warning: %s\n", text.c_str());
  std::fflush(people);
}

void ConsoleReport::finish() {
  if (lineIsOpen)
    std::fputc('\n', people);
  lineIsOpen = false;
}

} // namespace ck
