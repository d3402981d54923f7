//===- Differences.cpp - gradients against finite differences -------------===//

#include "Differences.h"

#include "Elements.h"

#include <cmath>

namespace ck::test {

using check::Geometry;
using reference::Call;
using reference::Operation;
using reference::Random;
using reference::Tensor;

static bool endsWith(const std::string &text, const std::string &end) {
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::string bareName(const std::string &entry) { return entry.substr(0, entry.find_first_of("?*")); }

/// A result d_x beside an operand x.
static bool hasOwnGradient(const Operation &operation) {
  for (const std::string &output : operation.outputs)
    if (output.compare(0, 2, "d_") == 0 && reference::namesOperand(operation.inputs, bareName(output).substr(2)))
      return true;
  return false;
}

bool isGradient(const Operation &operation) { return endsWith(operation.name, "_grad") || hasOwnGradient(operation); }

const Operation *forwardOf(const Operation &gradient) {
  if (!endsWith(gradient.name, "_grad"))
    return hasOwnGradient(gradient) ? &gradient : nullptr;
  std::string name = gradient.name.substr(0, gradient.name.size() - 5);
  // The gradient of attention from its probabilities.
  if (endsWith(name, "_probs"))
    name.resize(name.size() - 6);
  return reference::findOperation(name);
}

/// Away from 0, where activations have kinks.
static void fillNumbers(Tensor &tensor, Random &random) {
  for (double &value : tensor.data)
    value = (random.below(2) ? 1 : -1) * random.uniform(0.1, 2);
}

static Tensor numbers(const std::vector<int64_t> &shape, Random &random) {
  Tensor tensor = Tensor::zeros(shape);
  fillNumbers(tensor, random);
  return tensor;
}

/// The operands of the gradient's call, before the forward operation has saved anything.
static Status makeGradientCall(Pair &pair, const KernelMap &map, const check::GeometryDrawer &drawer,
                               const Geometry &geometry, Random &random) {
  Call &call = pair.gradientCall;
  call.attrs = geometry.attrs;
  for (const auto *operands : {&map.contract.signature.inputs, &map.contract.signature.outputs})
    for (const SigOperand &operand : *operands) {
      if (!geometry.present.count(operand.name))
        continue;
      Tensor tensor = Tensor::zeros(geometry.layouts.at(operand.name).shape);
      bool isInput = operands == &map.contract.signature.inputs;
      const check::Element *element = check::findElement(operand.dtype);
      if (isInput && (!element || element->isFloat))
        fillNumbers(tensor, random);
      (isInput ? call.inputs : call.outputs)[drawer.opName(operand.name)] = std::move(tensor);
    }
  if (pair.gradient.prepare && !pair.gradient.prepare(call, random))
    return Error{"no valid inputs", "REJECTED"};
  return Status::success();
}

/// The call of the forward operation that saves what the gradient reads.
static Status makeForwardCall(Pair &pair, Random &random) {
  const Call &gradient = pair.gradientCall;
  Call &call = pair.forwardCall;
  for (const auto &[name, value] : gradient.attrs)
    if (pair.forward.defaults.count(name))
      call.attrs[name] = value;
  for (const std::string &entry : pair.forward.inputs) {
    std::string name = bareName(entry);
    if (auto known = gradient.inputs.find(name); known != gradient.inputs.end())
      call.inputs[name] = known->second;
    else if (auto wanted = gradient.outputs.find("d_" + name); wanted != gradient.outputs.end())
      call.inputs[name] = numbers(wanted->second.shape, random);
    else if (entry.back() != '?')
      return Error{pair.gradient.name + " says nothing of " + name};
  }
  bool isSelf = &pair.forward == &pair.gradient;
  for (const std::string &entry : pair.forward.outputs) {
    std::string name = bareName(entry);
    auto cotangent = gradient.inputs.find("d_" + name), saved = gradient.inputs.find(name);
    auto own = gradient.outputs.find(name);
    if (isSelf ? own != gradient.outputs.end() && name.compare(0, 2, "d_") != 0 : cotangent != gradient.inputs.end())
      call.outputs[name] = Tensor::zeros(isSelf ? own->second.shape : cotangent->second.shape);
    else if (!isSelf && saved != gradient.inputs.end()) {
      call.outputs[name] = Tensor::zeros(saved->second.shape);
      if (pair.forward.defaults.count("save"))
        call.attrs["save"] = name;
    } else if (entry.back() != '?')
      return Error{pair.gradient.name + " has no cotangent of " + name};
  }
  return Status::success();
}

Result<Pair> makePair(const Operation &forward, const Operation &gradient, const KernelMap &map,
                      const check::GeometryDrawer &drawer, const Geometry &geometry) {
  Pair pair{forward, gradient, {}, {}};
  Random random(geometry.seed);
  if (Status status = makeGradientCall(pair, map, drawer, geometry, random); !status)
    return status.error();
  if (Status status = makeForwardCall(pair, random); !status)
    return status.error();
  if (Status status = evaluate(forward, pair.forwardCall); !status)
    return Error{forward.name + ": " + status.error().message};
  for (const auto &[name, saved] : pair.forwardCall.outputs)
    if (auto operand = pair.gradientCall.inputs.find(name);
        operand != pair.gradientCall.inputs.end() && &forward != &gradient)
      operand->second = saved;
  // Not every set of optional operands makes sense.
  if (Status status = evaluate(gradient, pair.gradientCall); !status)
    return Error{gradient.name + ": " + status.error().message,
                 status.error().code == "BAD_CALL" ? "REJECTED" : status.error().code};
  return pair;
}

namespace {

/// The sum of cotangent times result, and of its magnitudes. A result without a cotangent has the cotangent 1 where the
/// operation computes its own gradient, and is none otherwise.
struct Objective {
  double value = 0, magnitude = 0;
};

} // namespace

static Objective evaluateAt(const Pair &pair, const std::string &operand, const std::vector<double> &direction,
                            double distance) {
  Call call = pair.forwardCall;
  Tensor &moved = call.inputs.at(operand);
  for (size_t i = 0; i < direction.size(); ++i)
    moved.data[i] += distance * direction[i];
  Objective objective;
  if (Status status = evaluate(pair.forward, call); !status)
    return {std::nan(""), 0};
  for (const auto &[name, result] : call.outputs) {
    const Tensor *cotangent = pair.gradientCall.optional("d_" + name);
    for (size_t i = 0; (cotangent || &pair.forward == &pair.gradient) && i < result.data.size(); ++i) {
      double term = (cotangent ? cotangent->data[i] : 1) * result.data[i];
      objective.value += term;
      objective.magnitude += std::fabs(term);
    }
  }
  return objective;
}

/// "" or why the derivative along `direction` (of length 1) is not that of the gradient. Central differences of five
/// points.
static std::string compareAlong(const Pair &pair, const std::string &operand, const std::vector<double> &direction) {
  const Tensor &gradient = pair.gradientCall.outputs.at("d_" + operand);
  const double step = 1e-3;
  Objective far = evaluateAt(pair, operand, direction, 2 * step), near = evaluateAt(pair, operand, direction, step);
  Objective nearBack = evaluateAt(pair, operand, direction, -step),
            farBack = evaluateAt(pair, operand, direction, -2 * step);
  double difference = (8 * (near.value - nearBack.value) - (far.value - farBack.value)) / (12 * step);
  double slope = 0, scale = 0;
  for (size_t i = 0; i < direction.size(); ++i) {
    slope += gradient.data[i] * direction[i];
    scale += std::fabs(gradient.data[i] * direction[i]);
  }
  double allowed = 1e-6 * scale + 1e-9 * (1 + near.magnitude);
  if (std::fabs(difference - slope) <= allowed)
    return "";
  char text[160];
  std::snprintf(text, sizeof(text), ": the derivative is %.12g, its gradient says %.12g; allowed is an error of %.3g",
                difference, slope, allowed);
  return "d_" + operand + text;
}

std::string compareGradient(const Pair &pair, const std::string &operand, uint64_t seed) {
  const Tensor &gradient = pair.gradientCall.outputs.at("d_" + operand);
  if (gradient.shape != pair.forwardCall.in(operand).shape)
    return "d_" + operand + " has another shape than " + operand;
  Random random(seed);
  int64_t elements = gradient.elements();
  for (int trial = 0; trial < 8 && elements > 0; ++trial) {
    std::vector<double> direction(static_cast<size_t>(elements), 0.0);
    if (trial < 4) {
      double squares = 0;
      for (double &value : direction) {
        value = random.uniform(-1, 1);
        squares += value * value;
      }
      for (double &value : direction)
        value /= std::sqrt(squares);
    } else {
      direction[random.below(elements)] = 1;
    }
    if (std::string wrong = compareAlong(pair, operand, direction); !wrong.empty())
      return wrong;
  }
  return "";
}

} // namespace ck::test
