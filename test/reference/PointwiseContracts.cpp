//===- PointwiseContracts.cpp - exact references of the pointwise family --===//
//
// One line for each rounding.
//
//===----------------------------------------------------------------------===//
#include "Contracts.h"

#include <cmath>
#include <limits>

namespace ck::reference {
namespace {

float at(const Tensor &tensor, int64_t i) { return static_cast<float>(tensor.data[i]); }

template <typename Function> void eachElement(Call &call, Function function) {
  const Tensor &input = call.in("input");
  for (int64_t i = 0; i < input.elements(); ++i)
    call.out("output").data[i] = static_cast<double>(function(at(input, i)));
}

/// function(first, second, i) of two operands of one shape.
template <typename Function>
void eachPair(Call &call, const char *first, const char *second, const char *result, Function function) {
  const Tensor &a = call.in(first), &b = call.in(second);
  for (int64_t i = 0; i < a.elements(); ++i)
    call.out(result).data[i] = static_cast<double>(function(at(a, i), at(b, i)));
}

/// function(gate, up, column) of rows that hold both.
template <typename Function> void eachGate(Call &call, Function function) {
  const Tensor &gate = call.in("gate");
  Tensor &output = call.out("output");
  int64_t T = output.extent(0), F = output.extent(1);
  for (int64_t t = 0; t < T; ++t)
    for (int64_t f = 0; f < F; ++f)
      output.data[t * F + f] = static_cast<double>(function(at(gate, t * 2 * F + f), at(gate, t * 2 * F + F + f), f));
}

float erfOnce(float x) {
  const double argument = double(x) * 0.70710678118654752440;
  return static_cast<float>(0.5 * double(x) * (1.0 + std::erf(argument)));
}

void geluErfF64(Call &call) { eachElement(call, erfOnce); }
void geluErfF64BF16(Call &call) {
  eachElement(call, [](float x) { return roundBF16(erfOnce(x)); });
}

float halfGelu(float x) {
  if (x <= -10.0f)
    return 0.0f;
  if (x >= 10.0f)
    return x;
  const float h = roundF16(x);
  const float cubic = 0.044715f * h * h;
  const float inner = 0.79788456f * h * (1.0f + cubic);
  const float sum = 1.0f + std::tanh(inner);
  return roundF16(0.5f * h * sum);
}

void geluF16(Call &call) { eachElement(call, halfGelu); }
void gegluF16(Call &call) {
  eachGate(call, [](float gate, float up, int64_t) { return halfGelu(gate) * up; });
}

void geluTanhSaturatedBF16(Call &call) {
  eachElement(call, [](float x) {
    const float cube = x * x * x;
    const float scaled = 0.044715f * cube;
    const float inner = 0.7978845608f * (x + scaled);
    float t = std::tanh(inner);
    if (std::fabs(inner) > 8.664339742f)
      t = inner > 0 ? 1.0f : -1.0f;
    const float half = 0.5f * x;
    return roundBF16(half * (1.0f + t));
  });
}

void swigluF32(Call &call) {
  eachGate(call, [](float a, float b, int64_t) {
    const float sum = 1.0f + std::exp(-a);
    const float s = 1.0f / sum;
    const float product = a * s;
    return product * b;
  });
}

/// The exponential of degree 5, with everything in one chain of fused steps and one scaling by a power of two.
float degree5(float x) {
  const float z = std::fma(x, 0x1.715476p+0f, 0x1.8p23f);
  const float n = z - 0x1.8p23f;
  if (std::fabs(n) > 192.0f)
    return n > 0 ? std::numeric_limits<float>::infinity() : 0.0f;
  float b = std::fma(n, -0x1.62e4p-1f, x);
  b = std::fma(n, -0x1.7f7d1cp-20f, b);
  const float u = b * b;
  float j = std::fma(0x1.0e4020p-7f, b, 0x1.573e2ep-5f);
  j = std::fma(j, u, std::fma(0x1.555e66p-3f, b, 0x1.fffdb6p-2f));
  const float last = std::fma(0x1.ffffecp-1f, b, 1.0f);
  const float y = std::fma(j, u, last);
  return std::isnan(n) ? n : std::ldexp(y, static_cast<int>(n));
}

void swigluDegree5(Call &call) {
  const int64_t F = call.out("output").extent(1);
  eachGate(call, [=](float a, float b, int64_t f) {
    const float e = f < F / 16 * 16 ? degree5(-a) : std::exp(-a);
    const float quotient = a / (1.0f + e);
    return quotient * b;
  });
}

void softcapReciprocalF32(Call &call) {
  const float cap = static_cast<float>(call.number("alpha"));
  eachElement(call, [=](float x) {
    if (cap == 0)
      return x;
    const float inverse = 1.0f / cap;
    const float scaled = x * inverse;
    return std::tanh(scaled) * cap;
  });
}

void softcapRoundedBF16(Call &call) {
  const float cap = static_cast<float>(call.number("alpha"));
  eachElement(call, [=](float x) {
    if (cap == 0)
      return x;
    const float quotient = roundBF16(x / cap);
    const float t = roundBF16(std::tanh(quotient));
    return roundBF16(t * cap);
  });
}

float sumOf(float a, float b) { return a + b; }

void addBF16(Call &call) {
  eachPair(call, "a", "b", "output", [](float a, float b) { return roundBF16(a + b); });
}
void accumulateF32(Call &call) { eachPair(call, "dst", "src", "dst", sumOf); }

void biasAddF32(Call &call) {
  const Tensor &bias = call.in("bias");
  const int64_t E = bias.elements();
  for (int64_t i = 0; i < call.in("input").elements(); ++i)
    call.out("output").data[i] = static_cast<double>(sumOf(at(call.in("input"), i), at(bias, i % E)));
}

template <float (*kRound)(float)> void scale(Call &call) {
  const float factor = static_cast<float>(call.number("factor"));
  eachElement(call, [=](float x) { return kRound(x * factor); });
}
float keep(float value) { return value; }

} // namespace

std::vector<Contract> pointwiseContracts() {
  return {{"gelu_erf_f64", geluErfF64},
          {"gelu_erf_f64_bf16", geluErfF64BF16},
          {"gelu_f16", geluF16},
          {"geglu_f16", gegluF16},
          {"gelu_tanh_saturated_bf16", geluTanhSaturatedBF16},
          {"swiglu_f32", swigluF32},
          {"swiglu_degree5", swigluDegree5},
          {"softcap_reciprocal_f32", softcapReciprocalF32},
          {"softcap_rounded_bf16", softcapRoundedBF16},
          {"add_bf16", addBF16},
          {"accumulate_f32", accumulateF32},
          {"bias_add_f32", biasAddF32},
          {"scale_f32", scale<keep>},
          {"scale_bf16", scale<roundBF16>}};
}

} // namespace ck::reference
