//===- SessionProgramTest.cpp - entries bound by name ---------------------===//
//
// A model written by hand stands for a compiled one; its entries note what they are given.
//
//===----------------------------------------------------------------------===//
#include "ck/Training/SessionProgram.h"

#include "../Formats/FormatsSupport.h"
#include <cmath>

using namespace ck;
using namespace ck::test;

namespace {

/// One parameter w[2] with a moment and a gradient; T <= 8, S <= 3.
class SessionPrograms : public testing::Test {
protected:
  struct Seen {
    std::vector<int32_t> tokens, targets, pos, seqs;
    float scale = 0, lr = 0;
    int32_t step = 0, calls = 0;
  };
  static Seen seen;
  static float answer;

  template <typename T> static const T *input(const ck_entry_args *args, const char *name) {
    for (int32_t i = 0; i < args->entry->inputs; ++i)
      if (std::string_view(args->entry->input[i].name) == name)
        return static_cast<const T *>(args->inputs[i]);
    return nullptr;
  }
  static int32_t runEntry(ck_context *ctx, const ck_entry_args *args) {
    int64_t S = args->dims[0], T = args->dims[1]; // in this order, unlike the usual one
    auto list = [&](const char *name, int64_t count) {
      const int32_t *data = input<int32_t>(args, name);
      return std::vector<int32_t>(data, data + count);
    };
    seen.tokens = list("tokens", T), seen.targets = list("targets", T), seen.pos = list("pos", T);
    seen.seqs = list("seqs", S);
    seen.scale = *input<float>(args, "scale");
    seen.lr = input<float>(args, "lr") ? *input<float>(args, "lr") : -1;
    seen.step = input<int32_t>(args, "step") ? *input<int32_t>(args, "step") : -1;
    ++seen.calls;
    for (int32_t i = 0; i < args->entry->outputs; ++i)
      *static_cast<float *>(args->outputs[i]) = i == 0 ? answer : float(10 + i);
    if (seen.calls == 2 && answer != answer)
      return ck_fail(ctx, CK_NOT_FINITE, "layers.0.q: linear_f32: result 'c' holds nan at element 3");
    return CK_OK;
  }

  void SetUp() override {
    seen = {};
    answer = 1.5;
    ctx = ck_context_create(1);
    buffers = {{"w", CK_STATE, "f32", 1, two, 8, 0, nullptr, nullptr},
               {"w.m", CK_STATE, "f32", 1, two, 8, 8, nullptr, nullptr},
               {"d_w", CK_STATE, "f32", 1, two, 8, 16, nullptr, nullptr}};
    values = {{"tokens", "i32", 1, dimT},  {"scale", "f32", 1, one}, {"pos", "i32", 1, dimT},
              {"targets", "i32", 1, dimT}, {"seqs", "i32", 1, dimS}, {"lr", "f32", 1, one},
              {"step", "i32", 1, one}};
    outputs = {{"loss", "f32", 1, one}, {"grad_norm", "f32", 1, one}};
    entries = {{"train_step", 0, 0, 7, 2, 2, values.data(), outputs.data(), dimNames, bounds, runEntry, nullptr},
               {"eval", 0, 0, 5, 1, 2, values.data(), outputs.data(), dimNames, bounds, runEntry, nullptr}};
    batch.add({{1, 2, 3}, {2, 3, -100}});
    batch.add({{4}, {5}});
  }
  void TearDown() override {
    if (session)
      ck_session_destroy(session);
    ck_context_destroy(ctx);
  }
  Result<std::unique_ptr<SessionProgram>> create() {
    model = {CK_ABI_VERSION, "hand",         "d", 0,       24,     int32_t(buffers.size()), int32_t(entries.size()),
             buffers.data(), entries.data(), 0,   nullptr, nullptr};
    void *weights[] = {weightData};
    session = ck_session_create(ctx, &model, weights);
    EXPECT_TRUE(session) << ck_context_error(ctx);
    return SessionProgram::create(session, {{"w", "model.w", {2}}});
  }

  ck_context *ctx = nullptr;
  ck_session *session = nullptr;
  int64_t two[1] = {2}, one[1] = {1}, dimS[1] = {-1}, dimT[1] = {-2}, bounds[2] = {3, 8};
  const char *dimNames[2] = {"S", "T"};
  float weightData[2] = {1, 2};
  std::vector<ck_buffer_info> buffers;
  std::vector<ck_value_info> values, outputs;
  std::vector<ck_entry> entries;
  ck_model model;
  Batch batch;
};
SessionPrograms::Seen SessionPrograms::seen;
float SessionPrograms::answer;

TEST_F(SessionPrograms, GivesEachInputByItsName) {
  auto program = create();
  ASSERT_TRUE(program) << messageOf(program);
  Result<StepOutcome> outcome = (*program)->step(batch, 0.25f, 1e-3f, 7);
  ASSERT_TRUE(outcome) << messageOf(outcome);
  EXPECT_EQ(outcome->loss, 1.5);
  EXPECT_EQ(outcome->gradNorm, 11);
  EXPECT_EQ(seen.tokens, (std::vector<int32_t>{1, 2, 3, 4}));
  EXPECT_EQ(seen.targets, (std::vector<int32_t>{2, 3, -100, 5}));
  EXPECT_EQ(seen.pos, (std::vector<int32_t>{0, 1, 2, 0}));
  EXPECT_EQ(seen.seqs, (std::vector<int32_t>{0, 3, 4}));
  EXPECT_EQ(seen.scale, 0.25f);
  EXPECT_EQ(seen.lr, 1e-3f);
  EXPECT_EQ(seen.step, 7);
  EXPECT_EQ(*(*program)->eval(batch, 0.5f), 1.5);
  EXPECT_EQ(seen.lr, -1);
  EXPECT_CONTAINS(messageOf((*program)->accumulate(batch, 1)), "has no entry 'accumulate'");
}

TEST_F(SessionPrograms, FindsStates) {
  auto program = create();
  ASSERT_TRUE(program) << messageOf(program);
  ASSERT_EQ((*program)->parameters().size(), 1u);
  ASSERT_EQ((*program)->moments().size(), 1u);
  ASSERT_EQ((*program)->gradients().size(), 1u);
  EXPECT_EQ((*program)->gradients()[0].name, "d_w");
  EXPECT_EQ((*program)->parameters()[0].data, ck_session_buffer(session, "w"));
}

TEST_F(SessionPrograms, LeavesMappedWeightsAloneAndTakesGradientsAsOutputs) {
  buffers = {{"w", CK_WEIGHT, "f32", 1, two, 8, -1, "model.safetensors", "model.w"}};
  outputs[1] = {"d_w", "f32", 1, two};
  entries[0].inputs = 5;
  auto program = create();
  ASSERT_TRUE(program) << messageOf(program);
  EXPECT_TRUE((*program)->parameters().empty());
  ASSERT_EQ((*program)->gradients().size(), 1u);
  ASSERT_TRUE((*program)->step(batch, 1, 0, 1));
  EXPECT_EQ((*program)->gradients()[0].data[0], 11);
}

TEST_F(SessionPrograms, RefusesOtherPrograms) {
  values[1].name = "rate";
  EXPECT_CONTAINS(messageOf(create()), "entry 'train_step': the input 'rate' (f32) is none");
}

TEST_F(SessionPrograms, RefusesOtherShapes) {
  outputs[1] = {"d_w", "f32", 1, one};
  EXPECT_CONTAINS(messageOf(create()), "the output 'd_w' (f32) is none");
}

TEST_F(SessionPrograms, RefusesAMissingParameter) {
  buffers[0].name = "v";
  EXPECT_CONTAINS(messageOf(create()), "model 'hand' has no parameter 'w': f32 [2]");
}

TEST_F(SessionPrograms, NamesTheFirstOpThatIsNotFinite) {
  answer = NAN;
  auto program = create();
  ASSERT_TRUE(program) << messageOf(program);
  Result<double> loss = (*program)->eval(batch, 1);
  EXPECT_EQ(seen.calls, 2);
  EXPECT_CONTAINS(messageOf(loss), "the loss is nan; the first op at fault: ");
  EXPECT_CONTAINS(messageOf(loss), "layers.0.q: linear_f32: result 'c' holds nan at element 3");
}

TEST_F(SessionPrograms, NamesAMappedWeightThatIsNotFinite) {
  buffers = {{"w", CK_WEIGHT, "f32", 1, two, 8, -1, "model.safetensors", "model.w"}};
  weightData[1] = INFINITY;
  answer = NAN;
  auto program = create();
  ASSERT_TRUE(program) << messageOf(program);
  EXPECT_CONTAINS(messageOf((*program)->eval(batch, 1)), "; the weight 'w' holds inf at element 1");
}

TEST_F(SessionPrograms, PassesOnOtherErrors) {
  auto program = create();
  ASSERT_TRUE(program) << messageOf(program);
  Batch longer;
  longer.add({std::vector<int32_t>(9), std::vector<int32_t>(9)});
  EXPECT_EQ(messageOf((*program)->eval(longer, 1)), "entry 'eval': dim T is 9, above its bound 8");
}

} // namespace
