//===- LossHistory.cpp - the losses of a run, as table and picture --------===//
#include "ck/Training/LossHistory.h"

#include "Messages.h"

#include <algorithm>
#include <cstdio>

namespace ck {

std::string lossLine(int64_t step, const LossRow &row) {
  std::string line = std::to_string(step) + "," + numberText(row.loss) + "," + numberText(row.rate) + "," +
                     numberText(row.gradNorm) + ",";
  return line + (std::isnan(row.validation) ? "" : numberText(row.validation)) + "\n";
}

std::string lossTable(const LossHistory &history) {
  std::string table = "step,loss,lr,grad_norm,val_loss\n";
  for (size_t i = 0; i < history.size(); ++i)
    table += lossLine(static_cast<int64_t>(i) + 1, history[i]);
  return table;
}

namespace {

constexpr double kWidth = 800, kHeight = 440, kLeft = 64, kRight = 20, kTop = 44, kBottom = 48;

struct Point {
  double step, loss;
};

/// 1, 2 or 5 times a power of ten, so that `span` holds about `ticks` of them.
double tickOf(double span, int ticks) {
  double raw = span / ticks, power = std::pow(10, std::floor(std::log10(raw)));
  for (double factor : {1.0, 2.0, 5.0})
    if (raw <= factor * power)
      return factor * power;
  return 10 * power;
}

std::string format(const char *pattern, double a, double b = 0, double c = 0, double d = 0) {
  char text[400];
  std::snprintf(text, sizeof text, pattern, a, b, c, d);
  return text;
}

class Picture {
public:
  explicit Picture(const LossHistory &history) : steps(std::max<double>(1, static_cast<double>(history.size()))) {
    for (size_t i = 0; i < history.size(); ++i) {
      double step = static_cast<double>(i) + 1;
      if (std::isfinite(history[i].loss))
        losses.push_back({step, history[i].loss});
      if (std::isfinite(history[i].validation))
        validation.push_back({step, history[i].validation});
    }
    for (const std::vector<Point> *points : {&losses, &validation})
      for (const Point &point : *points) {
        low = std::min(low, point.loss);
        high = std::max(high, point.loss);
      }
    if (low > high)
      low = 0, high = 1;
    double margin = high > low ? 0.05 * (high - low) : std::max(0.05 * std::fabs(high), 1e-3);
    low = std::max(low - margin, low >= 0 ? 0.0 : low - margin);
    high += margin;
  }

  std::string text() {
    out = format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" "
                 "font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n",
                 kWidth, kHeight, kWidth, kHeight) +
          format("<rect width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n", kWidth, kHeight);
    axes();
    curve(thinned(), "#9ecae1", 1);
    curve(smoothed(), "#08519c", 2);
    curve(validation, "#d94801", 2);
    for (const Point &point : validation)
      out += format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"#d94801\"/>\n", x(point.step), y(point.loss));
    legend();
    return out + "</svg>\n";
  }

private:
  double x(double step) const {
    return kLeft + (kWidth - kLeft - kRight) * (steps > 1 ? (step - 1) / (steps - 1) : 0.5);
  }
  double y(double loss) const { return kTop + (kHeight - kTop - kBottom) * (high - loss) / (high - low); }

  void axes() {
    double tick = tickOf(high - low, 6);
    for (double k = std::ceil(low / tick); k * tick <= high; ++k) {
      out += format("<path d=\"M%.1f %.1fH%.1f\" stroke=\"#ddd\"/>", kLeft, y(k * tick), kWidth - kRight);
      out +=
          format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.6g</text>\n", kLeft - 6, y(k * tick) + 4, k * tick);
    }
    tick = std::max(1.0, tickOf(std::max(1.0, steps - 1), 8));
    for (double step = 0; step <= steps; step += tick) {
      double at = std::max(1.0, step); // the first step is 1
      out += format("<path d=\"M%.1f %.1fv5\" stroke=\"#333\"/>", x(at), kHeight - kBottom);
      out +=
          format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.0f</text>\n", x(at), kHeight - kBottom + 18, at);
    }
    out += format("<path d=\"M%.1f %.1fV%.1fH%.1f\" fill=\"none\" stroke=\"#333\"/>\n", kLeft, kTop, kHeight - kBottom,
                  kWidth - kRight);
    out += format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">step</text>\n", (kLeft + kWidth - kRight) / 2,
                  kHeight - 10);
    out += format("<text transform=\"translate(16 %.1f) rotate(-90)\" text-anchor=\"middle\">loss, nats per "
                  "token</text>\n",
                  (kTop + kHeight - kBottom) / 2);
  }

  void legend() {
    double at = kLeft;
    auto entry = [&](const char *color, const std::string &text) {
      out += format("<path d=\"M%.1f 24h22\" stroke-width=\"2\" stroke=\"", at) + color + "\"/>";
      out += format("<text x=\"%.1f\" y=\"28\">", at + 28) + text + "</text>\n";
      at += 44 + 7.0 * static_cast<double>(text.size());
    };
    entry("#9ecae1", "training step");
    entry("#08519c", "its running mean");
    if (!validation.empty())
      entry("#d94801", "validation, last " + format("%.4f", validation.back().loss));
  }

  void curve(const std::vector<Point> &points, const char *color, int width) {
    if (points.empty())
      return;
    out += "<polyline fill=\"none\" stroke=\"" + std::string(color) + "\" stroke-width=\"" + std::to_string(width) +
           "\" stroke-linejoin=\"round\" points=\"";
    for (const Point &point : points)
      out += format("%.1f,%.1f ", x(point.step), y(point.loss));
    out += "\"/>\n";
  }

  /// Least and greatest loss of each of at most 700 stretches, in the order of their steps.
  std::vector<Point> thinned() const {
    constexpr size_t kStretches = 700;
    size_t each = (losses.size() + kStretches - 1) / kStretches;
    if (each <= 2)
      return losses;
    std::vector<Point> points;
    auto byLoss = [](const Point &a, const Point &b) { return a.loss < b.loss; };
    for (size_t begin = 0; begin < losses.size(); begin += each) {
      auto first = losses.begin() + begin, last = losses.begin() + std::min(begin + each, losses.size());
      auto [least, greatest] = std::minmax_element(first, last, byLoss);
      points.push_back(std::min(*least, *greatest, [](const Point &a, const Point &b) { return a.step < b.step; }));
      points.push_back(std::max(*least, *greatest, [](const Point &a, const Point &b) { return a.step < b.step; }));
    }
    return points;
  }

  /// An exponential mean over about a thirtieth of the run, without the pull of its start.
  std::vector<Point> smoothed() const {
    double keep = 1 - 1 / std::max(1.0, steps / 30), weight = 0, sum = 0;
    size_t each = std::max<size_t>(1, losses.size() / 700);
    std::vector<Point> points;
    for (size_t i = 0; i < losses.size(); ++i) {
      weight = keep * weight + 1;
      sum = keep * sum + losses[i].loss;
      if (i % each == 0 || i + 1 == losses.size())
        points.push_back({losses[i].step, sum / weight});
    }
    return points;
  }

  double steps, low = HUGE_VAL, high = -HUGE_VAL;
  std::vector<Point> losses, validation;
  std::string out;
};

} // namespace

std::string lossPicture(const LossHistory &history) { return Picture(history).text(); }

} // namespace ck
