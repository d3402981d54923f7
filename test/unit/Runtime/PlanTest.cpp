//===- PlanTest.cpp - a hand-written plan runs ----------------------------===//

#include "TestSupport.h"

#include <gtest/gtest.h>

#include <vector>

using nlohmann::json;

namespace {

/// A session of the test plan on given threads, with its weight.
struct Tiny {
  ContextPtr ctx;
  PlanPtr model;
  SessionPtr session;
  std::vector<float> weight = {1, 2, 3, 4};

  explicit Tiny(int threads = 2, const json &plan = testPlan()) : ctx(makeContext(threads)) {
    model = loadPlan(ctx.get(), plan);
    void *weights[] = {weight.data()};
    if (model)
      session.reset(ck_session_create(ctx.get(), model.get(), weights));
  }
  int32_t run(const std::vector<float> &x, std::vector<float> &out) {
    int64_t T = int64_t(x.size());
    float flag = 0;
    const void *inputs[] = {x.data()};
    out.resize(x.size());
    void *outputs[] = {out.data(), &flag};
    int32_t code = ck_session_run(session.get(), "main", &T, inputs, outputs);
    EXPECT_EQ(flag, code == CK_OK ? 1 : 0);
    return code;
  }
  std::string error() const { return ck_context_error(ctx.get()); }
};

TEST(Plan, TellsWhatTheModelIs) {
  Tiny tiny;
  ASSERT_TRUE(tiny.model) << tiny.error();
  const ck_model &model = *tiny.model;
  EXPECT_EQ(model.abi_version, CK_ABI_VERSION);
  EXPECT_STREQ(model.name, "tiny");
  EXPECT_STREQ(model.digest, "0123");
  ASSERT_EQ(model.buffers, 3);
  EXPECT_EQ(model.buffer[0].role, CK_WEIGHT);
  EXPECT_EQ(model.buffer[0].offset, -1);
  EXPECT_STREQ(model.buffer[0].file, "m.safetensors");
  EXPECT_STREQ(model.buffer[0].tensor, "W");
  EXPECT_EQ(model.buffer[2].role, CK_STATE);
  EXPECT_EQ(model.buffer[2].offset, 32);
  EXPECT_EQ(model.buffer[2].rank, 1);
  EXPECT_EQ(model.buffer[2].dims[0], 1);
  ASSERT_EQ(model.kernels, 4);
  EXPECT_STREQ(model.kernel_id[1], "test_cumsum");
  EXPECT_STREQ(model.kernel_digest[1], "digest-of-cumsum");
  ASSERT_EQ(model.entries, 2);
  const ck_entry *entry = ck_model_find_entry(&model, "main");
  ASSERT_EQ(entry, &model.entry[1]);
  EXPECT_EQ(entry->arena_bytes, 128);
  ASSERT_EQ(entry->dims, 1);
  EXPECT_STREQ(entry->dim_name[0], "T");
  EXPECT_EQ(entry->dim_bound[0], 4);
  ASSERT_EQ(entry->inputs, 1);
  EXPECT_EQ(entry->input[0].dims[0], -1);
  ASSERT_EQ(entry->outputs, 2);
  EXPECT_STREQ(entry->output[1].name, "flag");
  EXPECT_EQ(entry->output[1].dims[0], 1);
  EXPECT_EQ(ck_model_find_entry(&model, "decode"), nullptr);
}

TEST(Plan, RunsWithConstantsStatesAndRunTimeSizes) {
  for (int threads : {1, 2, 5}) {
    Tiny tiny(threads);
    ASSERT_TRUE(tiny.session) << tiny.error();
    std::vector<float> out;
    ASSERT_EQ(tiny.run({2, 4}, out), CK_OK) << tiny.error();
    EXPECT_EQ(out, (std::vector<float>{2, 6}));
    ASSERT_EQ(tiny.run({0, 0, 0, 2}, out), CK_OK) << tiny.error();
    EXPECT_EQ(out, (std::vector<float>{7, 9, 12, 17}));
    EXPECT_EQ(*static_cast<float *>(ck_session_buffer(tiny.session.get(), "sum")), 17);
    ck_session_reset(tiny.session.get());
    EXPECT_EQ(*static_cast<float *>(ck_session_buffer(tiny.session.get(), "sum")), 0);
    ASSERT_EQ(tiny.run({2}, out), CK_OK);
    EXPECT_EQ(out, (std::vector<float>{2}));
  }
}

TEST(Plan, NamesEntryStepAndKernelOfAFailure) {
  Tiny tiny;
  ASSERT_TRUE(tiny.session) << tiny.error();
  std::vector<float> out;
  EXPECT_EQ(tiny.run({1, 12}, out), CK_INVALID_ARGUMENT);
  EXPECT_EQ(tiny.error(), "entry 'main': step 0 (guard): test_limit: x[1] is 12, expected at most 10");
  // The step before the state is touched fails, and the session goes on.
  ASSERT_EQ(tiny.run({2}, out), CK_OK);
  EXPECT_EQ(out, (std::vector<float>{2}));
}

struct SizeCase {
  const char *expr;
  int64_t expected; ///< for T = 3; -1 = cannot be computed
};
class Size : public testing::TestWithParam<SizeCase> {};
INSTANTIATE_TEST_SUITE_P(
    Expressions, Size,
    testing::Values(SizeCase{"2", 2}, SizeCase{R"("T")", 3}, SizeCase{R"(["+", "T", 1])", 4},
                    SizeCase{R"(["-", "T", 1])", 2}, SizeCase{R"(["*", 2, "T"])", 6}, SizeCase{R"(["/", "T", 2])", 1},
                    SizeCase{R"(["ceildiv", "T", 2])", 2}, SizeCase{R"(["%", "T", 2])", 1},
                    SizeCase{R"(["min", "T", 2])", 2}, SizeCase{R"(["max", "T", 2])", 3},
                    SizeCase{R"(["+", ["/", ["-", 1, 2], 2], 3])", 2}, SizeCase{R"(["%", ["-", 0, 5], "T"])", 1},
                    SizeCase{R"(["+", ["ceildiv", ["-", 0, 5], 2], 7])", 5},
                    SizeCase{R"(["-", ["*", "T", ["+", "T", 1]], ["-", 9, ["-", "T", 1]]])", 5},
                    SizeCase{R"(["/", 1, ["-", "T", 3]])", -1}, SizeCase{R"(["%", 1, ["-", "T", 4]])", -1},
                    SizeCase{R"(["*", "T", 4611686018427387904])", -1},
                    SizeCase{R"(["+", 9223372036854775807, "T"])", -1},
                    SizeCase{R"(["-", ["-", 0, 9223372036854775807], "T"])", -1}));

TEST_P(Size, IsComputedAtRunTime) {
  // `limit` reads as many values as the size says: the first one above 10 tells its index.
  json plan = testPlan();
  json &main = plan["entries"][1];
  main["inputs"][0]["dims"] = {16};
  main["steps"] = json::array({{{"kernel", 2}, {"slots", {{{"i", 0}}, {{"n", json::parse(GetParam().expr)}}}}}});
  Tiny tiny(1, plan);
  ASSERT_TRUE(tiny.session) << tiny.error();
  int64_t T = 3;
  auto accepts = [&](int64_t size) {
    std::vector<float> x(16, 0), out(16);
    x[size] = 11;
    const void *inputs[] = {x.data()};
    void *outputs[] = {out.data(), out.data()};
    return ck_session_run(tiny.session.get(), "main", &T, inputs, outputs) == CK_OK;
  };
  if (GetParam().expected < 0) {
    EXPECT_FALSE(accepts(15));
    EXPECT_EQ(ck_context_error_code(tiny.ctx.get()), CK_BOUND_EXCEEDED);
    EXPECT_EQ(tiny.error(), "entry 'main': step 0: test_limit: slot 1: run-time size overflows or divides by a number "
                            "below 1");
    return;
  }
  EXPECT_TRUE(accepts(GetParam().expected));
  EXPECT_FALSE(accepts(GetParam().expected - 1));
}

TEST(Plan, ChecksSizesAgainstTheirBounds) {
  json plan = testPlan();
  json &steps = plan["entries"][1]["steps"];
  steps.insert(steps.begin(), json::parse(R"({"check": ["*", "T", 3], "bound": 6, "name": "frames"})"));
  steps.insert(steps.begin(), json::parse(R"({"check": ["-", "T", 9], "bound": 0})"));
  Tiny tiny(1, plan);
  ASSERT_TRUE(tiny.session) << tiny.error();
  std::vector<float> out;
  EXPECT_EQ(tiny.run({2, 4}, out), CK_OK) << tiny.error();
  EXPECT_EQ(tiny.run({2, 4, 0}, out), CK_BOUND_EXCEEDED);
  EXPECT_EQ(tiny.error(), "entry 'main': step 1 (frames): size is 9, above its bound 6");
}

TEST(Plan, TakesTheDeepestSizeThatItAllows) {
  json plan = testPlan(), left = "T", right = "T";
  for (int i = 0; i < 16; ++i) {
    left = json::array({"+", left, 0});
    right = json::array({"+", 0, right});
  }
  for (const json &size : {left, right}) {
    plan["entries"][1]["steps"][0]["slots"][1]["n"] = size;
    Tiny tiny(1, plan);
    ASSERT_TRUE(tiny.session) << tiny.error();
    std::vector<float> out;
    EXPECT_EQ(tiny.run({1, 2}, out), CK_OK);
    EXPECT_EQ(tiny.run({1, 12}, out), CK_INVALID_ARGUMENT);
  }
}

} // namespace
