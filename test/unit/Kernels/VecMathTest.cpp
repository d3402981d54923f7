//===- VecMathTest.cpp - accuracy of the vector functions, in ulp ---------===//
//
// Every function of VecMath.h, on each instruction set of this machine, against the C library in double precision:
// floats at a prime stride over all bit patterns, and every float near the points where a formula changes.
// CK_VECMATH_STRIDE=1 makes the sweep exhaustive.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "VecMathTest.cpp"
#include "hwy/foreach_target.h"

#include "VecMath.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

template <F32 (*Function)(F32)> void apply(const float *in, float *out, int64_t n) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    store(Function(load(in + i)), out + i);
  if (i < n)
    storeN(Function(loadN(in + i, n - i)), out + i, n - i);
}

using Apply = void (*)(const float *, float *, int64_t);
Apply find(const char *name) {
  const std::pair<const char *, Apply> table[] = {{"exp", apply<vexp>},
                                                  {"tanh", apply<vtanh>},
                                                  {"sigmoid", apply<vsigmoid>},
                                                  {"silu", apply<vsilu>},
                                                  {"erf", apply<verf>},
                                                  {"sin", apply<vsin>},
                                                  {"cos", apply<vcos>},
                                                  {"gelu_erf", apply<vgeluErf>},
                                                  {"gelu_tanh", apply<vgeluTanh>},
                                                  {"gelu_quick", apply<vgeluQuick>}};
  for (auto [known, function] : table)
    if (!std::strcmp(known, name))
      return function;
  return nullptr;
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace {

using Reference = double (*)(double);

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double silu(double x) { return x / (1 + std::exp(-x)); }
double geluErf(double x) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }
double geluTanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
}
double geluQuick(double x) { return x / (1 + std::exp(-1.702 * x)); }

float fromBits(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}

/// Distance of `got` from `want` in units in the last place of `want` as a float; 0 for the same infinity or two NaN.
double ulpError(float got, double want) {
  float rounded = static_cast<float>(want);
  if (std::isnan(want) || std::isnan(got))
    return std::isnan(want) && std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(rounded) || std::isinf(got))
    return rounded == got || std::abs(want) > 3.4e38 ? 0 : INFINITY;
  int exponent;
  std::frexp(want, &exponent);
  return std::abs(got - want) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

struct Isa {
  const char *name;
  ck::N_SCALAR::Apply (*find)(const char *);
};

std::vector<Isa> machineIsas() {
  std::vector<Isa> list = {{"scalar", ck::N_SCALAR::find}};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    list.push_back({"avx2", ck::N_AVX2::find});
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq"))
    list.push_back({"avx512", ck::N_AVX3::find});
  return list;
}

/// Largest error of `error(got, x)` over a sweep of all floats.
struct Worst {
  double error = 0;
  float at = 0;
};
template <typename Error> Worst sweep(ck::N_SCALAR::Apply apply, Error error) {
  const char *given = std::getenv("CK_VECMATH_STRIDE");
  const uint64_t stride = given ? std::strtoull(given, nullptr, 10) : 10007;
  std::vector<float> in, out;
  Worst worst;
  auto flush = [&] {
    out.assign(in.size(), 0);
    apply(in.data(), out.data(), static_cast<int64_t>(in.size()));
    for (size_t i = 0; i < in.size(); ++i)
      if (double e = error(out[i], in[i]); !(e <= worst.error))
        worst = {e, in[i]};
    in.clear();
  };
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += stride) {
    in.push_back(fromBits(static_cast<uint32_t>(bits)));
    if (in.size() == 4099)
      flush();
  }
  // Where formulas change, results overflow, underflow or vanish.
  for (float centre :
       {0.0f, 0.625f, 1.0f, 4.0f, 14.0f, 16.0f, 88.72284f, 89.0f, 87.33655f, 103.2789f, 104.0f, 3.1415927f})
    for (int32_t offset = -300; offset <= 300; ++offset)
      for (float sign : {1.0f, -1.0f}) {
        float x = centre;
        for (int32_t k = 0; k < std::abs(offset); ++k)
          x = std::nextafter(x, offset < 0 ? -INFINITY : INFINITY);
        in.push_back(sign * x);
      }
  for (float x : {INFINITY, -INFINITY, NAN, -0.0f, 0.0f})
    in.push_back(x);
  flush();
  return worst;
}

class VecMath : public ::testing::TestWithParam<const char *> {};

void expectUlp(const char *name, Reference reference, double limit) {
  for (const Isa &isa : machineIsas()) {
    Worst worst = sweep(isa.find(name), [&](float got, float x) { return ulpError(got, reference(x)); });
    std::printf("%-9s %-6s max %.3f ulp at %a\n", name, isa.name, worst.error, static_cast<double>(worst.at));
    EXPECT_LE(worst.error, limit) << name << " on " << isa.name << " at " << worst.at;
  }
}

TEST(VecMath, Exp) { expectUlp("exp", std::exp, 1.1); }
TEST(VecMath, Tanh) { expectUlp("tanh", std::tanh, 2.0); }
TEST(VecMath, Sigmoid) { expectUlp("sigmoid", sigmoid, 2.0); }
TEST(VecMath, Silu) { expectUlp("silu", silu, 2.0); }
TEST(VecMath, Erf) { expectUlp("erf", std::erf, 2.0); }
TEST(VecMath, Sin) { expectUlp("sin", std::sin, 1.0); }
TEST(VecMath, Cos) { expectUlp("cos", std::cos, 1.0); }
TEST(VecMath, GeluErf) { expectUlp("gelu_erf", geluErf, 7.0); }

/// These round the argument of the exponential, so that the error of the tail below 0 is absolute: a few units in the
/// last place of 1, relative to max(1, |x|).
void expectAbsolute(const char *name, Reference reference, double limit) {
  for (const Isa &isa : machineIsas()) {
    Worst worst = sweep(isa.find(name), [&](float got, float x) {
      double want = reference(x);
      if (!std::isfinite(want) || !std::isfinite(got))
        return ulpError(got, want);
      return std::abs(got - want) / std::max(1.0, std::abs(static_cast<double>(x)));
    });
    std::printf("%-9s %-6s max %.3g at %a\n", name, isa.name, worst.error, static_cast<double>(worst.at));
    EXPECT_LE(worst.error, limit) << name << " on " << isa.name << " at " << worst.at;
  }
}

TEST(VecMath, GeluTanh) { expectAbsolute("gelu_tanh", geluTanh, 2e-7); }
TEST(VecMath, GeluQuick) { expectAbsolute("gelu_quick", geluQuick, 2e-7); }

} // namespace
#endif
