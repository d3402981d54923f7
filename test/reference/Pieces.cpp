//===- Pieces.cpp - scalar formulas and index inputs that references share ===//

#include "Pieces.h"

#include "Blocks.h"

#include <cmath>

namespace ck::reference {

double softcap(double x, double cap) { return cap == 0 ? x : cap * std::tanh(x / cap); }

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

bool isActivation(const std::string &kind) {
  for (const char *known : {"silu", "gelu_tanh", "gelu_erf", "gelu_quick", "relu", "relu2", "leaky_relu", "tanh",
                            "sigmoid", "exp", "sin", "softcap"})
    if (kind == known)
      return true;
  return false;
}

double activate(const std::string &kind, double x, double alpha) {
  const double pi = 3.14159265358979323846;
  if (kind == "silu")
    return x * sigmoid(x);
  if (kind == "gelu_tanh")
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / pi) * (x + 0.044715 * x * x * x)));
  if (kind == "gelu_erf")
    return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
  if (kind == "gelu_quick")
    return x * sigmoid(1.702 * x);
  if (kind == "relu")
    return x < 0 ? 0 : x;
  if (kind == "relu2")
    return x < 0 ? 0 : x * x;
  if (kind == "leaky_relu")
    return x < 0 ? alpha * x : x;
  if (kind == "tanh")
    return std::tanh(x);
  if (kind == "sigmoid")
    return sigmoid(x);
  if (kind == "exp")
    return std::exp(x);
  if (kind == "sin")
    return std::sin(x);
  if (kind == "softcap")
    return softcap(x, alpha);
  return notANumber;
}

/// 1 - tanh^2, without the loss of digits where tanh is nearly 1. What f32 cannot hold is 0, so that an infinite
/// cotangent gives NaN, as it does in f32.
static double tanhSlope(double x) {
  const double slope = 1 / (std::cosh(x) * std::cosh(x));
  return slope < 0x1p-149 ? 0 : slope;
}

double activationSlope(const std::string &kind, double x, double alpha) {
  const double pi = 3.14159265358979323846;
  if (std::isnan(x))
    return notANumber;
  if (kind == "silu") {
    double s = sigmoid(x);
    return s + x * s * (1 - s);
  }
  if (kind == "gelu_tanh") {
    double c = std::sqrt(2 / pi), th = std::tanh(c * (x + 0.044715 * x * x * x));
    return 0.5 * (1 + th) + 0.5 * x * (1 - th * th) * c * (1 + 3 * 0.044715 * x * x);
  }
  if (kind == "gelu_erf")
    return 0.5 * std::erfc(-x / std::sqrt(2.0)) + x * std::exp(-0.5 * x * x) / std::sqrt(2 * pi);
  if (kind == "gelu_quick") {
    double s = sigmoid(1.702 * x);
    return s + 1.702 * x * s * (1 - s);
  }
  if (kind == "relu")
    return x > 0 ? 1 : 0;
  if (kind == "relu2")
    return x > 0 ? 2 * x : 0;
  if (kind == "leaky_relu")
    return x > 0 ? 1 : alpha;
  if (kind == "tanh")
    return tanhSlope(x);
  if (kind == "sigmoid")
    return sigmoid(x) * (1 - sigmoid(x));
  if (kind == "exp")
    return std::exp(x);
  if (kind == "sin")
    return std::cos(x);
  if (kind == "softcap" && alpha != 0)
    return tanhSlope(x / alpha);
  return kind == "softcap" ? 1 : notANumber;
}

Error badCall(std::string what) { return {std::move(what), "BAD_CALL"}; }
Error invalid(std::string what) { return {std::move(what), "INVALID_ARGUMENT"}; }

Status expectIndices(const char *name, const Tensor &indices, int64_t limit) {
  for (int64_t i = 0; i < indices.elements(); ++i)
    if (indices.integer(i) < 0 || indices.integer(i) >= limit)
      return invalid(std::string(name) + "[" + std::to_string(i) + "] is " + std::to_string(indices.integer(i)) +
                     ", outside [0, " + std::to_string(limit) + ")");
  return Status::success();
}

bool fillIndices(Tensor &indices, int64_t limit, Random &random) {
  if (limit < 1)
    return indices.data.empty();
  for (double &index : indices.data)
    index = static_cast<double>(random.below(limit));
  return true;
}

bool fillDistinctIndices(Tensor &indices, int64_t limit, Random &random) {
  int64_t count = indices.elements();
  if (count > limit)
    return false;
  std::vector<int64_t> pool(limit);
  for (int64_t i = 0; i < limit; ++i)
    pool[i] = i;
  for (int64_t i = 0; i < count; ++i) {
    std::swap(pool[i], pool[i + random.below(limit - i)]);
    indices.data[i] = static_cast<double>(pool[i]);
  }
  return true;
}

bool spoilIndex(Tensor &indices, int64_t limit, Random &random) {
  if (indices.data.empty())
    return false;
  const double bad[] = {-1.0, static_cast<double>(limit), 2147483647.0, -2147483648.0};
  indices.data[random.below(indices.elements())] = bad[random.below(4)];
  return true;
}

Status apply(const char *name, const Params &attrs, const std::map<std::string, Tensor> &inputs,
             std::map<std::string, Tensor> &outputs) {
  Call call;
  call.attrs = attrs;
  call.inputs = inputs;
  call.outputs = outputs;
  if (Status status = evaluate(*findOperation(name), call); !status)
    return status;
  outputs = call.outputs;
  return Status::success();
}

void scaleByPowerOfTwo(Tensor &tensor, double factor) {
  if (!(factor > 0))
    return;
  const int power = static_cast<int>(std::lround(std::log2(factor)));
  if (!tensor.bytes.empty())
    return scaleBlocks(tensor, power);
  for (double &value : tensor.data) {
    value = std::ldexp(value, power);
    if (tensor.dtype == "f16") // may have become subnormal
      value = halfToFloat(floatToHalf(static_cast<float>(value)));
  }
}

std::vector<Params> valuesOf(const char *attr, std::initializer_list<Param> values) {
  std::vector<Params> list;
  for (const Param &value : values)
    list.push_back({{attr, value}});
  return list;
}

void addAccumulation(Operation &operation, std::initializer_list<const char *> results) {
  operation.defaults["accumulate"] = std::string("none");
  for (const char *result : results)
    operation.inputs.push_back(std::string(result) + "?");
}

std::vector<Params> headCounts() {
  const std::pair<int64_t, int64_t> pairs[] = {{1, 1}, {4, 4}, {6, 2}, {28, 4}, {48, 2}, {8, 1}, {5, 5}, {24, 1}};
  std::vector<Params> list;
  for (auto [heads, kvHeads] : pairs)
    list.push_back({{"heads", heads}, {"kv_heads", kvHeads}});
  return list;
}

} // namespace ck::reference
