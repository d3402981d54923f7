//===- MemoryFaultsTest.cpp - kernels that touch what is not theirs -------===//

#include "CheckSupport.h"

#include <cstring>

using namespace ck;
using namespace ck::check;

namespace {

struct CopyArgs {
  const float *input;
  float *output;
  int64_t N;
};

MapBuilder copyMap() { return MapBuilder("copy", "input[...N]:f32 -> output[...N]:f32", 0); }

int32_t copy(ck_context *, const void *data) {
  const CopyArgs &args = *static_cast<const CopyArgs *>(data);
  for (int64_t i = 0; i < args.N; ++i)
    args.output[i] = args.input[i];
  return CK_OK;
}

TEST(CheckMemoryFaults, WritesPastTheEnd) {
  auto kernel = [](ck_context *ctx, const void *data) -> int32_t {
    copy(ctx, data);
    const CopyArgs &args = *static_cast<const CopyArgs *>(data);
    args.output[args.N] = 1;
    return CK_OK;
  };
  expectCaught(copyMap(), kernel, "output: byte 0 behind it was written");
}

TEST(CheckMemoryFaults, WritesBeforeTheBegin) {
  auto kernel = [](ck_context *ctx, const void *data) -> int32_t {
    copy(ctx, data);
    static_cast<const CopyArgs *>(data)->output[-2] = 1;
    return CK_OK;
  };
  expectCaught(copyMap(), kernel, "output: byte 8 before it was written");
}

TEST(CheckMemoryFaults, WritesItsInput) {
  auto kernel = [](ck_context *ctx, const void *data) -> int32_t {
    copy(ctx, data);
    const CopyArgs &args = *static_cast<const CopyArgs *>(data);
    if (args.N > 3)
      const_cast<float *>(args.input)[3] = 9;
    return CK_OK;
  };
  expectCaught(copyMap(), kernel, "of this input was written");
}

TEST(CheckMemoryFaults, UsesWhatLiesBehindTheEnd) {
  auto kernel = [](ck_context *, const void *data) -> int32_t {
    const CopyArgs &args = *static_cast<const CopyArgs *>(data);
    for (int64_t i = 0; i < args.N; ++i)
      args.output[i] = args.input[i] + 0 * args.input[args.N];
    return CK_OK;
  };
  expectCaught(copyMap(), kernel, "is nan");
}

TEST(CheckMemoryFaults, ReadsBehindTheEndWithoutUse) {
  auto kernel = [](ck_context *ctx, const void *data) -> int32_t {
    const CopyArgs &args = *static_cast<const CopyArgs *>(data);
    volatile float lost = args.input[args.N];
    (void)lost;
    return copy(ctx, data);
  };
  EXPECT_EXIT(
      {
        reportCrashes();
        checkKernel(copyMap(), makeKernel(kernel));
      },
      testing::ExitedWithCode(1), "test: .* touched memory outside|touched memory outside its operands: test: N=");
}

TEST(CheckMemoryFaults, NeedsAlignedAddresses) {
  auto kernel = [](ck_context *ctx, const void *data) -> int32_t {
    const CopyArgs &args = *static_cast<const CopyArgs *>(data);
    if (reinterpret_cast<uintptr_t>(args.input) % 16 != 0)
      return ck_fail(ctx, CK_INVALID_ARGUMENT, "address is not aligned");
    return copy(ctx, data);
  };
  expectCaught(copyMap(), kernel, "address is not aligned");
}

TEST(CheckMemoryFaults, NotInPlaceAsDeclared) {
  auto kernel = [](ck_context *ctx, const void *data) -> int32_t {
    const CopyArgs &args = *static_cast<const CopyArgs *>(data);
    std::memset(args.output, 0, args.N * sizeof(float));
    return copy(ctx, data);
  };
  expectPassed(copyMap(), kernel);
  expectCaught(copyMap().inplace("input", "output"), kernel, "output[");
}

TEST(CheckMemoryFaults, ReallyInPlace) { expectPassed(copyMap().inplace("input", "output"), copy); }

TEST(CheckMemoryFaults, OverrunsScratch) {
  struct Args {
    const float *input;
    float *output, *work;
    int64_t N;
  };
  auto kernel = [](ck_context *, const void *data) -> int32_t {
    const Args &args = *static_cast<const Args *>(data);
    std::memcpy(args.work, args.input, args.N * sizeof(float));
    std::memcpy(args.output, args.work, args.N * sizeof(float));
    return CK_OK;
  };
  expectPassed(copyMap().scratch("work[N]:f32"), kernel);
  expectCaught(copyMap().scratch("work[N/2]:f32"), kernel, "scratch: byte 0 behind it was written");
}

TEST(CheckMemoryFaults, OverrunsThreadScratch) {
  auto kernel = [](ck_context *ctx, const void *data) -> int32_t {
    static_cast<float *>(ck_thread_scratch(ctx, 0))[16] = 1;
    return copy(ctx, data);
  };
  MapBuilder map = copyMap().scratch("work[16]:f32@thread");
  Report report = checkKernel(map, makeKernel(kernel, [](const void *) -> int64_t { return 64; }));
  expectCaught(report, "thread scratch: byte 0 behind it was written");
  report = checkKernel(map, makeKernel(kernel, [](const void *) -> int64_t { return 68; }));
  EXPECT_EQ(report.result, Report::Result::Passed) << toString(report, {});
}

//===----------------------------------------------------------------------===//
// Run-time strides
//===----------------------------------------------------------------------===//

struct LastRowArgs {
  const float *input;
  float *output;
  int64_t T, E, input_stride0;
};

MapBuilder stridedMap() { return MapBuilder("last_row", "input[T,E]{*,1}:f32 -> output[1,E]:f32", 0); }

TEST(CheckMemoryFaults, TakesStrides) {
  auto kernel = [](ck_context *ctx, const void *data) -> int32_t {
    const LastRowArgs &args = *static_cast<const LastRowArgs *>(data);
    if (args.T < 1)
      return ck_fail(ctx, CK_INVALID_ARGUMENT, "no rows");
    for (int64_t e = 0; e < args.E; ++e)
      args.output[e] = args.input[(args.T - 1) * args.input_stride0 + e];
    return CK_OK;
  };
  expectPassed(stridedMap(), kernel);
}

TEST(CheckMemoryFaults, IgnoresStrides) {
  auto kernel = [](ck_context *ctx, const void *data) -> int32_t {
    const LastRowArgs &args = *static_cast<const LastRowArgs *>(data);
    if (args.T < 1)
      return ck_fail(ctx, CK_INVALID_ARGUMENT, "no rows");
    for (int64_t e = 0; e < args.E; ++e)
      args.output[e] = args.input[(args.T - 1) * args.E + e];
    return CK_OK;
  };
  expectCaught(stridedMap(), kernel, "output[0,");
}

TEST(CheckMemoryFaults, WritesBetweenRows) {
  struct Args {
    const float *input;
    float *output;
    int64_t T, E, output_stride0;
  };
  auto kernel = [](ck_context *, const void *data) -> int32_t {
    const Args &args = *static_cast<const Args *>(data);
    for (int64_t t = 0; t < args.T; ++t) {
      for (int64_t e = 0; e < args.E; ++e)
        args.output[t * args.output_stride0 + e] = args.input[t * args.E + e];
      if (t + 1 < args.T && args.output_stride0 > args.E)
        args.output[t * args.output_stride0 + args.E] = 0;
    }
    return CK_OK;
  };
  expectCaught(MapBuilder("copy", "input[T,E]:f32 -> output[T,E]{*,1}:f32", 0), kernel, "between its rows");
}

} // namespace
