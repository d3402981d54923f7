//===- MeasureTest.cpp - are kernels measured on what was asked for? ------===//

#include "Measure.h"
#include "CheckSupport.h"
#include "Geometry.h"

using namespace ck;
using namespace ck::check;

namespace {

struct ProductArgs {
  const float *input, *weight, *bias;
  float *output;
  int64_t T, K, N;
};

MapBuilder product() {
  return MapBuilder("linear", "input[T,K]:f32, weight[N,K]:f32, bias[N]:f32? -> output[T,N]:f32");
}

int64_t sawT, sawK, sawN, calls;

int32_t multiply(ck_context *, const void *data) {
  const ProductArgs &args = *static_cast<const ProductArgs *>(data);
  sawT = args.T, sawK = args.K, sawN = args.N, ++calls;
  EXPECT_EQ(args.bias, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(args.input) % 64, 0u);
  for (int64_t i = 0; i < args.T * args.N; ++i)
    args.output[i] = 0;
  return CK_OK;
}

TEST(Measure, CallsWithTheSizesGiven) {
  std::shared_ptr<ck_context> ctx(ck_context_create(1), ck_context_destroy);
  calls = 0;
  MapBuilder builder = product();
  Measurement one =
      MapBuilder::get(measure(builder.map, makeKernel(multiply), {{"T", 3}, {"K", 70000}, {"N", 5}}, ctx.get(), 0));
  EXPECT_EQ(sawT, 3);
  EXPECT_EQ(sawK, 70000);
  EXPECT_EQ(sawN, 5);
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(one.calls, 3);
  EXPECT_GT(one.seconds, 0);
  EXPECT_DOUBLE_EQ(one.operations, 2.0 * 3 * 70000 * 5);
  EXPECT_EQ(one.bytes, 4 * (3 * 70000 + 5 * 70000 + 3 * 5));
  EXPECT_EQ(one.dims.at("K"), 70000);
  EXPECT_EQ(one.geometry.find("K=70000 N=5 T=3"), 0u) << one.geometry;
}

TEST(Measure, RefusesWhatTheKernelDoesNotHaveOrTake) {
  std::shared_ptr<ck_context> ctx(ck_context_create(1), ck_context_destroy);
  MapBuilder builder = product();
  auto refusal = [&](const std::map<std::string, int64_t> &sizes, ck_kernel_fn function) {
    auto one = measure(builder.map, makeKernel(function), sizes, ctx.get(), 0);
    return one ? "" : one.error().message;
  };
  EXPECT_EQ(refusal({{"Q", 3}}, multiply), "test_linear: has no dim and no integer attribute 'Q'");
  builder.require("K % 32 == 0");
  EXPECT_NE(refusal({{"K", 33}}, multiply).find("requires K%32 == 0"), std::string::npos);
  EXPECT_EQ(refusal({{"K", 64}}, multiply), "");
  auto failing = [](ck_context *ctx, const void *) { return ck_fail(ctx, CK_INVALID_ARGUMENT, "never"); };
  EXPECT_NE(refusal({{"K", 64}}, failing).find("failed with status 1: never"), std::string::npos);
  builder.map.implements[0].op = "no_such_op";
  EXPECT_NE(refusal({}, multiply).find("there is no reference of no_such_op"), std::string::npos);
}

TEST(Measure, UpdatedOperandsStartAnew) {
  struct Args {
    float *dst;
    const float *src;
    int64_t L;
  };
  static float first;
  static bool same;
  auto accumulate = [](ck_context *, const void *data) -> int32_t {
    const Args &args = *static_cast<const Args *>(data);
    if (calls++ == 0)
      first = args.dst[0];
    same &= args.dst[0] == first;
    args.dst[0] += 1;
    return CK_OK;
  };
  calls = 0, same = true;
  std::shared_ptr<ck_context> ctx(ck_context_create(1), ck_context_destroy);
  MapBuilder builder("accumulate", "dst[L]:f32, src[L]:f32 -> dst[L]:f32");
  Measurement one = MapBuilder::get(measure(builder.map, makeKernel(accumulate), {{"L", 8}}, ctx.get(), 0));
  EXPECT_TRUE(same);
  EXPECT_EQ(one.bytes, 3 * 32);
}

TEST(Measure, Sizes) {
  auto sizes = MapBuilder::get(parseSizes({"T=1:16", "K=768"}));
  ASSERT_EQ(sizes.size(), 2u);
  EXPECT_EQ(sizes[0], (std::map<std::string, int64_t>{{"K", 768}, {"T", 1}}));
  EXPECT_EQ(sizes[1].at("T"), 16);
  EXPECT_EQ(MapBuilder::get(parseSizes({})).size(), 1u);
  for (const std::vector<std::string> &wrong : {std::vector<std::string>{""},
                                                {"T"},
                                                {"T="},
                                                {"=3"},
                                                {"T=-1"},
                                                {"T=1:"},
                                                {"T=x"},
                                                {"T=1", "T=2"},
                                                {"T=99999999999999999999"}})
    EXPECT_FALSE(parseSizes(wrong)) << wrong.front();
}

TEST(Measure, DimsThatFollowCannotBeChosen) {
  MapBuilder builder = product();
  builder.where("N = 2*K");
  const KernelMap &map = builder.map;
  GeometryDrawer drawer(map, map.implements[0], *reference::findOperation("linear"), 1);
  ck::Result<Geometry> geometry = drawer.at({{"N", 3}});
  ASSERT_FALSE(geometry);
  EXPECT_NE(geometry.error().message.find("dim N follows from others"), std::string::npos);
  EXPECT_EQ(MapBuilder::get(drawer.at({{"K", 40}})).dims.at("N"), 80);
}

} // namespace
