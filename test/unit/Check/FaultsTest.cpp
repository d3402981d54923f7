//===- FaultsTest.cpp - kernels that compute the wrong values -------------===//

#include "CheckSupport.h"

#include <cmath>
#include <limits>

using namespace ck;
using namespace ck::check;

namespace {

struct MulArgs {
  const float *a, *b;
  float *output;
  int64_t N;
};

MapBuilder mulMap() { return MapBuilder("mul", "a[...N]:f32, b[...N]:f32 -> output[...N]:f32"); }

int32_t mul(ck_context *, const void *data) {
  const MulArgs &args = *static_cast<const MulArgs *>(data);
  for (int64_t i = 0; i < args.N; ++i)
    args.output[i] = args.a[i] * args.b[i];
  return CK_OK;
}

TEST(CheckFaults, RightKernelPasses) { expectPassed(mulMap(), mul); }

TEST(CheckFaults, ForgottenTail) {
  auto kernel = [](ck_context *, const void *data) -> int32_t {
    const MulArgs &args = *static_cast<const MulArgs *>(data);
    for (int64_t i = 0; i < args.N / 8 * 8; ++i)
      args.output[i] = args.a[i] * args.b[i];
    return CK_OK;
  };
  expectCaught(mulMap(), kernel, "output[0] is nan");
}

TEST(CheckFaults, WrongOnlyWhenLong) {
  auto kernel = [](ck_context *, const void *data) -> int32_t {
    const MulArgs &args = *static_cast<const MulArgs *>(data);
    for (int64_t i = 0; i < args.N; ++i)
      args.output[i] = args.a[i] * args.b[i < 256 ? i : 0];
    return CK_OK;
  };
  expectCaught(mulMap(), kernel, ", expected ");
}

TEST(CheckFaults, TooFewBits) {
  auto kernel = [](ck_context *, const void *data) -> int32_t {
    const MulArgs &args = *static_cast<const MulArgs *>(data);
    for (int64_t i = 0; i < args.N; ++i)
      args.output[i] = args.a[i] * args.b[i] * (1 + 3e-6f);
    return CK_OK;
  };
  expectCaught(mulMap(), kernel, "of the largest result, allowed 1e-06");
}

TEST(CheckFaults, SwallowsNaN) {
  auto kernel = [](ck_context *, const void *data) -> int32_t {
    const MulArgs &args = *static_cast<const MulArgs *>(data);
    for (int64_t i = 0; i < args.N; ++i) {
      float y = args.a[i] * args.b[i];
      args.output[i] = std::isnan(y) ? 0.0f : y;
    }
    return CK_OK;
  };
  expectCaught(mulMap(), kernel, "is 0, expected nan");
}

TEST(CheckFaults, ClampsInfinity) {
  auto kernel = [](ck_context *, const void *data) -> int32_t {
    const MulArgs &args = *static_cast<const MulArgs *>(data);
    for (int64_t i = 0; i < args.N; ++i) {
      float y = args.a[i] * args.b[i];
      args.output[i] = std::isinf(y) ? 3e38f : y;
    }
    return CK_OK;
  };
  expectCaught(mulMap(), kernel, "is 3.00000001e+38, expected ");
}

TEST(CheckFaults, DependsOnThreads) {
  auto kernel = [](ck_context *ctx, const void *data) -> int32_t {
    mul(ctx, data);
    const MulArgs &args = *static_cast<const MulArgs *>(data);
    if (ck_context_threads(ctx) == 3 && args.N > 4) // one unit in the last place
      args.output[4] = std::nextafter(args.output[4], 10.0f);
    return CK_OK;
  };
  expectCaught(mulMap(), kernel, "depends on the number of threads");
}

TEST(CheckFaults, RefusesNoRows) {
  auto kernel = [](ck_context *ctx, const void *data) -> int32_t {
    if (static_cast<const MulArgs *>(data)->N == 0)
      return ck_fail(ctx, CK_INVALID_ARGUMENT, "nothing to do");
    return mul(ctx, data);
  };
  expectCaught(mulMap(), kernel, "failed with status 1: nothing to do");
}

TEST(CheckFaults, WrongForOneInstructionSet) {
  if (ck_best_isa() < CK_ISA_AVX2)
    GTEST_SKIP() << "this machine has only one instruction set";
  ck_kernel kernel = makeKernel(mul);
  kernel.implementation[CK_ISA_AVX2] = [](ck_context *, const void *) -> int32_t { return CK_OK; };
  kernel.call = [](ck_context *ctx, const void *data) -> int32_t {
    return ck_context_isa(ctx) >= CK_ISA_AVX2 ? CK_OK : mul(ctx, data);
  };
  Report report = checkKernel(mulMap(), kernel);
  expectCaught(report, "is nan");
  EXPECT_NE(report.failures[0].where.find("avx2"), std::string::npos) << report.failures[0].where;
  Options scalar;
  scalar.isas = {CK_ISA_SCALAR};
  EXPECT_EQ(checkKernel(mulMap(), kernel, scalar).result, Report::Result::Passed);
}

struct CopyArgs {
  const float *input;
  float *output;
  int64_t N;
};

template <float (*kMove)(float)> int32_t copy(ck_context *, const void *data) {
  const CopyArgs &args = *static_cast<const CopyArgs *>(data);
  for (int64_t i = 0; i < args.N; ++i)
    args.output[i] = kMove(args.input[i]);
  return CK_OK;
}

float moved(float x) { return x; }
float movedByAdding(float x) { return x + 0.0f; }
float movedAsSomeNaN(float x) { return std::isnan(x) ? std::numeric_limits<float>::quiet_NaN() : x; }

TEST(CheckFaults, CopiesOfOtherBits) {
  const MapBuilder exact("copy", "input[...N]:f32 -> output[...N]:f32", 0);
  expectPassed(exact, copy<moved>);
  expectCaught(exact, copy<movedByAdding>, "is 0, expected -0, bit by bit");
  expectCaught(exact, copy<movedAsSomeNaN>, "is nan, expected nan, bit by bit");
  // With a tolerance, zeros are equal, and so are NaNs.
  const MapBuilder near("copy", "input[...N]:f32 -> output[...N]:f32");
  expectPassed(near, copy<movedByAdding>);
  expectPassed(near, copy<movedAsSomeNaN>);
}

struct LayerNormArgs {
  const float *input, *gamma, *beta;
  float *output, *mean, *rstd;
  int64_t T, E;
  double eps;
};

MapBuilder layerNormMap() {
  return MapBuilder(
             "layer_norm",
             "input[...T,E]:f32, gamma[E]:f32, beta[E]:f32? -> output[...T,E]:f32, mean[...T]:f32, rstd[...T]:f32",
             2e-6)
      .param("eps:f64")
      .attr("save_stats", true);
}

/// Its means are wrong by that part per million of the mean magnitude.
template <int kMillionths> int32_t layerNorm(ck_context *, const void *data) {
  const LayerNormArgs &args = *static_cast<const LayerNormArgs *>(data);
  const auto count = static_cast<double>(args.E);
  for (int64_t t = 0; t < args.T; ++t) {
    const float *x = args.input + t * args.E;
    double mean = 0, magnitude = 0, variance = 0;
    for (int64_t e = 0; e < args.E; ++e)
      mean += x[e] / count, magnitude += std::fabs(x[e]) / count;
    for (int64_t e = 0; e < args.E; ++e)
      variance += (x[e] - mean) * (x[e] - mean) / count;
    const double r = 1 / std::sqrt(variance + args.eps);
    for (int64_t e = 0; e < args.E; ++e)
      args.output[t * args.E + e] =
          static_cast<float>((x[e] - mean) * r * args.gamma[e] + (args.beta ? args.beta[e] : 0));
    args.mean[t] = static_cast<float>(std::isfinite(mean) ? mean + kMillionths * 1e-6 * magnitude : mean);
    args.rstd[t] = static_cast<float>(r);
  }
  return CK_OK;
}

TEST(CheckFaults, AnErrorIsMeasuredAgainstTermsThatCancel) {
  expectPassed(layerNormMap(), layerNorm<1>); // of long rows, many times the tolerance of what is left
  expectCaught(layerNormMap(), layerNorm<4>, "mean[");
}

TEST(CheckFaults, MapNamesTheWrongOperation) {
  expectCaught(MapBuilder("add", "a[...N]:f32, b[...N]:f32 -> output[...N]:f32"), mul, "output[");
}

TEST(CheckFaults, MixedUpParameterValues) {
  struct Args {
    const float *input;
    float *output;
    int64_t N, kind;
  };
  auto kernel = [](ck_context *, const void *data) -> int32_t {
    const Args &args = *static_cast<const Args *>(data);
    for (int64_t i = 0; i < args.N; ++i) {
      double x = args.input[i];
      args.output[i] = static_cast<float>(args.kind == 0 ? std::tanh(x) : 1 / (1 + std::exp(-x)));
    }
    return CK_OK;
  };
  expectPassed(MapBuilder("activation", "input[...N]:f32 -> output[...N]:f32").param("kind:{tanh,sigmoid}"), kernel);
  expectCaught(MapBuilder("activation", "input[...N]:f32 -> output[...N]:f32").param("kind:{sigmoid,tanh}"), kernel,
               "output[");
}

TEST(CheckFaults, FailureCanBeRepeated) {
  auto kernel = [](ck_context *, const void *data) -> int32_t {
    const MulArgs &args = *static_cast<const MulArgs *>(data);
    for (int64_t i = 0; i < args.N; ++i)
      args.output[i] = args.a[i] * args.b[i] + (args.N == 33 && i == 32 ? 1 : 0);
    return CK_OK;
  };
  Options options;
  options.seed = 7;
  Report report = checkKernel(mulMap(), makeKernel(kernel), options);
  expectCaught(report, "output[32]");
  options.onlyGeometry = report.failures[0].geometry;
  Report again = checkKernel(mulMap(), makeKernel(kernel), options);
  expectCaught(again, "output[32]");
  EXPECT_EQ(report.failures[0].what, again.failures[0].what);
  std::string text = toString(report, options);
  EXPECT_NE(text.find("--seed 7 --only-geometry " + std::to_string(options.onlyGeometry)), std::string::npos) << text;
}

TEST(CheckFaults, NoReferenceIsNotChecked) {
  Report report = checkKernel(MapBuilder("no_such_operation", "a[N]:f32 -> b[N]:f32"), makeKernel(mul));
  EXPECT_EQ(report.result, Report::Result::NotChecked);
  EXPECT_NE(toString(report, {}).find("not checked: there is no reference of no_such_operation"), std::string::npos);
}

TEST(CheckFaults, ImpossibleRequirementIsNoPass) {
  MapBuilder map = mulMap();
  map.require("N == 5").require("N == 6");
  expectCaught(map, mul, "geometries could be drawn; the last was refused because: requires N == ");
}

} // namespace
