//===- Optimizer.cpp - updates of weights and the norm of gradients -------===//

#include "Pieces.h"

#include <cmath>

namespace ck::reference {
namespace {

double factorOf(const Call &call) { return call.optional("factor") ? call.in("factor").data[0] : 1; }

/// Decoupled weight decay (Loshchilov and Hutter, 2019).
Status adamw(Call &call) {
  const Tensor &w = call.in("w"), &m = call.in("m"), &v = call.in("v"), &grad = call.in("grad");
  double lr = call.in("lr").data[0], beta1 = call.number("beta1"), beta2 = call.number("beta2");
  if (Status status = call.expectShapes(
          {{"m", w.shape}, {"v", w.shape}, {"grad", w.shape}, {"lr", {1}}, {"step", {1}}, {"factor", {1}}});
      !status)
    return status;
  double step = call.in("step").data[0];
  if (step < 1)
    return invalid("step counts from 1");
  for (int64_t i = 0; i < w.elements(); ++i) {
    double g = grad.data[i] * factorOf(call);
    double first = beta1 * m.data[i] + (1 - beta1) * g, second = beta2 * v.data[i] + (1 - beta2) * g * g;
    double direction =
        first / (1 - std::pow(beta1, step)) / (std::sqrt(second / (1 - std::pow(beta2, step))) + call.number("eps"));
    call.out("m").data[i] = first;
    call.out("v").data[i] = second;
    call.out("w").data[i] = w.data[i] - lr * (direction + call.number("weight_decay") * w.data[i]);
  }
  return Status::success();
}

/// The second moment is not negative, the step positive.
bool prepareAdamw(Call &call, Random &random) {
  for (double &second : call.inputs["v"].data)
    second = std::fabs(second);
  const double steps[] = {1, 2, 10, 100000};
  call.inputs["step"].data[0] = steps[random.below(4)];
  return true;
}

bool spoilStep(Call &call, Random &random) {
  const double bad[] = {0, -1, -2147483648.0};
  call.inputs["step"].data[0] = bad[random.below(3)];
  return true;
}

/// The rule of torch.optim.SGD without dampening.
Status sgd(Call &call) {
  const Tensor &w = call.in("w"), &grad = call.in("grad"), *velocity = call.optional("velocity");
  double momentum = call.number("momentum");
  if (Status status = call.expectShapes({{"velocity", w.shape}, {"grad", w.shape}, {"lr", {1}}, {"factor", {1}}});
      !status)
    return status;
  if (!velocity != !call.wanted("velocity"))
    return badCall("velocity is updated in place or absent");
  if (!velocity && momentum != 0)
    return badCall("momentum needs a velocity");
  for (int64_t i = 0; i < w.elements(); ++i) {
    double g = grad.data[i] * factorOf(call) + call.number("weight_decay") * w.data[i];
    if (velocity) {
      double v = momentum * velocity->data[i] + g;
      call.out("velocity").data[i] = v;
      g = call.flag("nesterov") ? g + momentum * v : v;
    }
    call.out("w").data[i] = w.data[i] - call.in("lr").data[0] * g;
  }
  return Status::success();
}

double squaresOf(const Tensor &tensor) {
  double sum = 0;
  for (double value : tensor.data)
    sum += value * value;
  return sum;
}

Status sumSquares(Call &call) {
  if (Status status = call.expectShapes({{"sum", {1}}}); !status)
    return status;
  call.out("sum").data[0] = squaresOf(call.in("input")) + (call.optional("sum") ? call.in("sum").data[0] : 0);
  return Status::success();
}

Status clipFactor(Call &call) {
  if (Status status = call.expectShapes({{"sum", {1}}, {"norm", {1}}, {"factor", {1}}}); !status)
    return status;
  double norm = std::sqrt(call.in("sum").data[0]), most = call.number("max_norm");
  if (!std::isfinite(norm))
    return invalid("the norm is not finite");
  call.out("norm").data[0] = norm;
  call.out("factor").data[0] = most > 0 && norm > most ? most / norm : 1;
  return Status::success();
}

bool prepareSum(Call &call, Random &) {
  call.inputs["sum"].data[0] = std::fabs(call.inputs["sum"].data[0]);
  return true;
}

bool spoilSum(Call &call, Random &random) {
  const double bad[] = {notANumber, INFINITY, -1};
  call.inputs["sum"].data[0] = bad[random.below(3)];
  return true;
}

Status gradClip(Call &call) {
  const Tensor &grad = call.in("grad");
  if (Status status = call.expectShapes({{"norm", {1}}}); !status)
    return status;
  double norm = std::sqrt(squaresOf(grad)), most = call.number("max_norm");
  call.out("norm").data[0] = most > 0 ? norm : 0;
  for (int64_t i = 0; i < grad.elements(); ++i)
    call.out("grad").data[i] = grad.data[i] * (most > 0 && norm > most ? most / norm : 1);
  return Status::success();
}

} // namespace

std::vector<Operation> optimizerOperations() {
  Operation adam;
  adam.name = "adamw";
  adam.inputs = {"w", "m", "v", "grad", "lr", "step", "factor?"};
  adam.outputs = {"w", "m", "v"};
  adam.defaults = {{"beta1", 0.9}, {"beta2", 0.95}, {"eps", 1e-8}, {"weight_decay", 0.0}};
  adam.evaluate = adamw;
  adam.draws = {
      {{{"beta1", 0.9}, {"beta2", 0.95}}, {{"beta1", 0.9}, {"beta2", 0.999}}, {{"beta1", 0.0}, {"beta2", 0.5}}},
      valuesOf("eps", {1e-8, 0.1}),
      valuesOf("weight_decay", {0.0, 0.1})};
  adam.prepare = prepareAdamw;
  adam.spoil = spoilStep;
  adam.magnitudes = {1, 0.01};

  Operation descent;
  descent.name = "sgd";
  descent.inputs = {"w", "velocity?", "grad", "lr", "factor?"};
  descent.outputs = {"w", "velocity?"};
  descent.defaults = {{"momentum", 0.0}, {"nesterov", false}, {"weight_decay", 0.0}};
  descent.evaluate = sgd;
  descent.draws = {valuesOf("momentum", {0.0, 0.9}), valuesOf("weight_decay", {0.0, 0.1})};

  Operation squares;
  squares.name = "sum_squares";
  squares.inputs = {"input", "sum?"};
  squares.outputs = {"sum"};
  squares.evaluate = sumSquares;
  squares.magnitudes = {1, 1e-3, 1e3};

  Operation factor;
  factor.name = "clip_factor";
  factor.inputs = {"sum"};
  factor.outputs = {"norm", "factor"};
  factor.defaults = {{"max_norm", 1.0}};
  factor.evaluate = clipFactor;
  factor.draws = {valuesOf("max_norm", {1.0, 0.25, 0.0, 100.0})};
  factor.prepare = prepareSum;
  factor.spoil = spoilSum;
  factor.magnitudes = {1, 1e-4, 1e6};

  Operation clip;
  clip.name = "grad_clip";
  clip.inputs = {"grad"};
  clip.outputs = {"grad", "norm"};
  clip.defaults = {{"max_norm", 1.0}};
  clip.evaluate = gradClip;
  clip.draws = {valuesOf("max_norm", {1.0, 0.25, 0.0, 1e6})};
  return {adam, descent, squares, factor, clip};
}

} // namespace ck::reference
