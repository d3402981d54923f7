//===- InitialWeights.cpp - parameters before the first step --------------===//
#include "ck/Training/InitialWeights.h"

#include "Messages.h"
#include "ck/Support/Half.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ck {

namespace {

uint64_t mix(uint64_t z) {
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

uint64_t fnv1a64(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char c : text)
    hash = (hash ^ c) * 0x100000001b3;
  return hash;
}

/// The part behind the last dot: "wo" of "layers.3.wo".
std::string_view kindOf(std::string_view name) { return name.substr(name.rfind('.') + 1); }

bool endsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

} // namespace

void fillNormal(uint64_t seed, const std::string &name, double deviation, float *data, int64_t count) {
  uint64_t key = mix(seed) ^ fnv1a64(name);
  auto uniform = [&](int64_t i) {
    uint64_t bits = mix(key + (static_cast<uint64_t>(i) + 1) * 0x9e3779b97f4a7c15);
    return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
  };
  constexpr double twoPi = 0x1.921fb54442d18p+2;
  for (int64_t i = 0; i < count; i += 2) {
    double radius = deviation * std::sqrt(-2 * std::log(uniform(i))), angle = twoPi * uniform(i + 1);
    data[i] = static_cast<float>(radius * std::cos(angle));
    if (i + 1 < count)
      data[i + 1] = static_cast<float>(radius * std::sin(angle));
  }
}

void initializeParameters(const ModelConfig &config, uint64_t seed, const std::vector<StateBuffer> &parameters) {
  constexpr double kDeviation = 0.02;
  for (const StateBuffer &parameter : parameters) {
    std::string_view kind = kindOf(parameter.name);
    if (parameter.shape.size() < 2) {
      std::fill_n(parameter.data, parameter.size(), endsWith(kind, "norm") ? 1.0f : 0.0f);
      continue;
    }
    bool residual = kind == "wo" || kind == "w_down";
    double deviation = residual ? kDeviation / std::sqrt(2.0 * static_cast<double>(config.layers)) : kDeviation;
    fillNormal(seed, parameter.name, deviation, parameter.data, parameter.size());
  }
}

Status loadParameters(const ModelConfig &config, const Container &weights, const std::vector<StateBuffer> &parameters) {
  CK_CHECK(checkWeights(config, weights));
  for (const StateBuffer &parameter : parameters) {
    const TensorInfo *tensor = weights.find(tensorName(config.source, parameter.name));
    if (!tensor || tensor->shape != parameter.shape)
      return fail("BAD_SHAPE", weights.path(), ": has no tensor of the shape ", shapeText(parameter.shape), " for '",
                  parameter.name, "'");
    std::string_view type = tensor->dtype->name;
    if (type == "f32") {
      std::memcpy(parameter.data, tensor->data, tensor->bytes);
      continue;
    }
    if (type != "f16" && type != "bf16")
      return fail("BAD_DTYPE", weights.path(), ": tensor ", quote(tensor->name), " is ", type,
                  "; training starts from f32, f16 or bf16");
    for (int64_t i = 0, count = parameter.size(); i < count; ++i) {
      uint16_t half = static_cast<uint16_t>(tensor->data[2 * i] | tensor->data[2 * i + 1] << 8);
      parameter.data[i] = type == "f16" ? halfToFloat(half) : bf16ToFloat(half);
    }
  }
  return Status::success();
}

} // namespace ck
