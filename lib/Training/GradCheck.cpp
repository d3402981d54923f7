//===- GradCheck.cpp - gradients against differences of the loss ----------===//
#include "ck/Training/GradCheck.h"

#include <algorithm>
#include <cmath>

namespace ck {

namespace {

class GradChecker {
public:
  GradChecker(TrainProgram &program, const Batch &batch, double bound) : program(program), batch(batch) {
    report.bound = bound;
  }

  Result<GradCheckReport> run() {
    scale = batch.valid ? 1.0f / static_cast<float>(batch.valid) : 0.0f;
    Result<double> loss = program.eval(batch, scale);
    if (!loss)
      return loss.error();
    report.loss = *loss;
    const std::vector<StateBuffer> &parameters = program.parameters(), &gradients = program.gradients();
    if (gradients.size() != parameters.size())
      return Error{"the program keeps no gradients"};
    for (size_t i = 0; i < parameters.size(); ++i)
      if (Status status = check(parameters[i], gradients[i]); !status)
        return status.error();
    return report;
  }

private:
  Status check(const StateBuffer &parameter, const StateBuffer &gradient) {
    GradCheckRow row;
    row.name = parameter.name;
    int64_t count = parameter.size();
    double squares = 0, weights = 0;
    for (int64_t i = 0; i < count; ++i) {
      squares += double{gradient.data[i]} * gradient.data[i];
      weights += double{parameter.data[i]} * parameter.data[i];
    }
    row.norm = std::sqrt(squares);
    if (!std::isfinite(row.norm)) {
      row.outcome = GradCheckRow::Wrong;
      row.ratio = row.norm;
      report.rows.push_back(row);
      return Status::success();
    }
    // A step beyond half of the tensor's own size tells nothing of its tangent. Biases start at zero and have no size.
    double least = (parameter.shape.size() < 2 ? 0.1 : 0.01) * std::sqrt(double(count));
    double most = 0.5 * std::max(std::sqrt(weights), least), loss = std::max(report.loss, 1e-3);
    double step = row.norm > 0 ? std::min(kChange * loss / row.norm, most) : most;
    // Below this, the change that a step makes is not known to the bound.
    double smallest = 4 * kRounding * loss / report.bound;
    Difference wide, narrow;
    if (Status status = difference(parameter, gradient, row.norm, step, wide); !status)
      return status;
    if (row.norm * step < smallest) {
      // Nothing to compare with: but a loss that moves clearly more than the gradient allows refutes it.
      bool moves = std::fabs(wide.measured) > 100 * kRounding * loss + 2 * std::fabs(wide.predicted);
      row.outcome = moves ? GradCheckRow::Wrong : GradCheckRow::TooSmall;
      report.rows.push_back(row);
      return Status::success();
    }
    // Where the loss still bends at this step, a smaller one decides.
    row.outcome = GradCheckRow::Wrong;
    for (; row.norm * step >= smallest && row.outcome == GradCheckRow::Wrong; step /= 4) {
      if (Status status = difference(parameter, gradient, row.norm, step, wide); !status)
        return status;
      if (Status status = difference(parameter, gradient, row.norm, step / 2, narrow); !status)
        return status;
      row.ratio = (4 * narrow.measured / narrow.predicted - wide.measured / wide.predicted) / 3;
      if (std::fabs(row.ratio - 1) <= report.bound)
        row.outcome = GradCheckRow::Right;
    }
    report.rows.push_back(row);
    return Status::success();
  }

  struct Difference {
    double measured = 0, predicted = 0;
  };

  /// Central difference with steps +-`step` along the gradient; along mixed signs where the gradient is zero.
  Status difference(const StateBuffer &parameter, const StateBuffer &gradient, double norm, double step,
                    Difference &out) {
    out = {};
    int64_t count = parameter.size();
    std::vector<float> kept(parameter.data, parameter.data + count);
    double even = 1 / std::sqrt(double(count));
    Status status = Status::success();
    for (double sign : {1.0, -1.0}) {
      for (int64_t i = 0; i < count; ++i) {
        // Equal signs would be blind to a softmax, which does not see a common shift.
        bool negative = (static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15) >> 63;
        double direction = norm > 0 ? gradient.data[i] / norm : negative ? -even : even;
        float moved = static_cast<float>(kept[i] + sign * step * direction);
        out.predicted += sign * (double{moved} - kept[i]) * gradient.data[i];
        parameter.data[i] = moved;
      }
      Result<double> loss = program.eval(batch, scale);
      if (!loss) {
        status = loss.error();
        break;
      }
      out.measured += sign * *loss;
    }
    std::copy(kept.begin(), kept.end(), parameter.data);
    return status;
  }

  static constexpr double kChange = 2e-3;   ///< wanted change of the loss, relative
  static constexpr double kRounding = 3e-7; ///< of an f32 loss, relative

  TrainProgram &program;
  const Batch &batch;
  float scale = 0;
  GradCheckReport report;
};

} // namespace

int64_t GradCheckReport::count(GradCheckRow::Outcome outcome) const {
  return std::count_if(rows.begin(), rows.end(), [&](const GradCheckRow &row) { return row.outcome == outcome; });
}

Result<GradCheckReport> checkGradients(TrainProgram &program, const Batch &batch, double bound) {
  return GradChecker(program, batch, bound).run();
}

} // namespace ck
