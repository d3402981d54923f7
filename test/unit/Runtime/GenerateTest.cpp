//===- GenerateTest.cpp - the loop around a decoder -----------------------===//
//
// The model here is a small function of all tokens so far. It keeps them in its state and refuses a position that is
// not the next one, so that a wrong chunk, order or reset cannot go unnoticed.
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include "ck/Runtime/Generate.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace ck;

namespace {

constexpr int64_t vocab = 11, contextSize = 16, bound = 6;

struct State {
  int64_t count;
  int64_t hash;
};

/// Logit v after the tokens with this hash.
float logitOf(int64_t hash, int64_t v) { return float((hash * 31 + v * v * 17) % 23); }
int64_t extend(int64_t hash, int32_t token) { return (hash * 7 + token + 1) % 1009; }

template <bool allRows> int32_t step(ck_context *ctx, const ck_entry_args *args) {
  auto *state = reinterpret_cast<State *>(args->state_arena);
  int64_t T = args->entry->dims ? args->dims[0] : 1;
  auto *tokens = static_cast<const int32_t *>(args->inputs[0]), *pos = static_cast<const int32_t *>(args->inputs[1]);
  auto *logits = static_cast<float *>(args->outputs[0]);
  for (int64_t t = 0; t < T; ++t) {
    if (pos[t] != state->count || pos[t] >= contextSize)
      return ck_fail(ctx, CK_INVALID_ARGUMENT, "pos[%d] is %d, expected %d", int(t), pos[t], int(state->count));
    ++state->count;
    state->hash = extend(state->hash, tokens[t]);
    if (allRows || t == T - 1)
      for (int64_t v = 0; v < vocab; ++v)
        logits[(allRows ? t : 0) * vocab + v] = logitOf(state->hash, v);
  }
  return CK_OK;
}

/// What the loop should choose, computed without it.
std::vector<int32_t> expectedIds(const std::vector<int32_t> &prompt, int64_t count) {
  int64_t hash = 0;
  for (int32_t token : prompt)
    hash = extend(hash, token);
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < count; ++i) {
    int32_t best = 0;
    for (int32_t v = 1; v < vocab; ++v)
      if (logitOf(hash, v) > logitOf(hash, best))
        best = v;
    ids.push_back(best);
    hash = extend(hash, best);
  }
  return ids;
}

class Generate : public testing::Test {
protected:
  void SetUp() override {
    decodeIn[0] = {"tokens", "i32", 1, one};
    decodeIn[1] = {"pos", "i32", 1, one};
    prefillIn[0] = {"tokens", "i32", 1, dynamic};
    prefillIn[1] = {"pos", "i32", 1, dynamic};
    lastLogits = {"logits", "f32", 2, oneRow};
    allLogits = {"logits", "f32", 2, allRows};
    entries[0] = {"decode", 0, 0, 2, 1, 0, decodeIn, &lastLogits, nullptr, nullptr, step<false>, nullptr};
    entries[1] = {"prefill", 0, 0, 2, 1, 1, prefillIn, &lastLogits, dimName, dimBound, step<false>, nullptr};
    model = {CK_ABI_VERSION, "fake", "d", 0, sizeof(State), 0, 2, nullptr, entries, 0, nullptr, nullptr};
    open();
  }
  void open() { session.reset(ck_session_create(ctx.get(), &model, nullptr)); }
  void useAllRows() {
    entries[1].output = &allLogits;
    entries[1].run = step<true>;
  }
  Result<Generator> make(int64_t context = contextSize, int64_t chunk = 0, std::optional<int32_t> bos = {}) {
    return Generator::create(session.get(), {context, chunk, bos});
  }
  std::string errorOf(const std::vector<int32_t> &prompt, GeneratorOptions options, GenerateOptions generate = {}) {
    Result<Generator> generator = Generator::create(session.get(), options);
    if (!generator)
      return generator.error().message;
    Result<Generation> result = generator->generate(prompt, generate);
    return result ? "" : result.error().message;
  }

  ContextPtr ctx = makeContext(1);
  SessionPtr session;
  int64_t one[1] = {1}, dynamic[1] = {-1}, oneRow[2] = {1, vocab}, allRows[2] = {-1, vocab}, dimBound[1] = {bound};
  const char *dimName[1] = {"T"};
  ck_value_info decodeIn[2], prefillIn[2], lastLogits, allLogits;
  ck_entry entries[2];
  ck_model model;
};

const std::vector<int32_t> prompt = {1, 4, 9, 2, 2, 7, 0};

TEST_F(Generate, GivesTheSameIdsForEveryChunkAndEntry) {
  std::vector<int32_t> expected = expectedIds(prompt, 8);
  for (bool rows : {false, true}) {
    if (rows)
      useAllRows();
    for (int64_t chunk = 0; chunk <= bound; ++chunk) {
      Result<Generator> generator = make(contextSize, chunk);
      ASSERT_TRUE(generator) << generator.error().message;
      EXPECT_EQ(generator->vocab(), vocab);
      EXPECT_EQ(generator->chunk(), chunk ? chunk : bound);
      // Twice: the second run starts from fresh states.
      for (int run = 0; run < 2; ++run) {
        Result<Generation> result = generator->generate(prompt, {8});
        ASSERT_TRUE(result) << result.error().message;
        EXPECT_EQ(result->ids, expected);
        EXPECT_EQ(result->prompt, prompt);
        EXPECT_EQ(result->stop, StopReason::Length);
        EXPECT_EQ(result->decodeSteps, 7);
      }
    }
  }
}

TEST_F(Generate, WorksWithOneEntryAlone) {
  std::vector<int32_t> expected = expectedIds(prompt, 5);
  for (ck_entry *only : {&entries[0], &entries[1]}) {
    model.entry = only;
    model.entries = 1;
    open();
    Result<Generator> generator = make();
    ASSERT_TRUE(generator) << generator.error().message;
    Result<Generation> result = generator->generate(prompt, {5});
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->ids, expected);
  }
}

TEST_F(Generate, TakesInputsInEitherOrder) {
  // The entry reads tokens first, so swapped names feed it positions: it must notice.
  std::swap(prefillIn[0], prefillIn[1]);
  Result<Generator> generator = make();
  ASSERT_TRUE(generator) << generator.error().message;
  Result<Generation> result = generator->generate({3, 3}, {1});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "entry 'prefill': pos[0] is 3, expected 0");
}

TEST_F(Generate, TellsEachIdWithItsLogits) {
  Result<Generator> generator = make();
  std::vector<int32_t> seen;
  int64_t hash = 0;
  for (int32_t token : prompt)
    hash = extend(hash, token);
  Result<Generation> result = generator->generate(prompt, {6}, [&](int32_t id, const float *logits) {
    for (int64_t v = 0; v < vocab; ++v)
      EXPECT_EQ(logits[v], logitOf(hash, v));
    seen.push_back(id);
    hash = extend(hash, id);
  });
  ASSERT_TRUE(result);
  EXPECT_EQ(seen, result->ids);
}

TEST_F(Generate, StopsAtAnEndToken) {
  std::vector<int32_t> all = expectedIds(prompt, 8);
  int32_t eos = all[3];
  size_t first = std::find(all.begin(), all.end(), eos) - all.begin();
  GenerateOptions options{8};
  options.eos = {1000, eos};
  Result<Generation> result = make()->generate(prompt, options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->stop, StopReason::Eos);
  EXPECT_EQ(result->ids, std::vector<int32_t>(all.begin(), all.begin() + first + 1));
  EXPECT_STREQ(toString(result->stop), "eos");
}

TEST_F(Generate, StopsWhenTheContextIsFull) {
  // Positions 7..15 can follow the prompt; the last one still yields a token.
  Result<Generation> result = make()->generate(prompt, {100});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->stop, StopReason::Context);
  EXPECT_EQ(result->ids, expectedIds(prompt, contextSize - 7 + 1));
  // Exactly as many as asked for is `length`.
  result = make()->generate(prompt, {contextSize - 7 + 1});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->stop, StopReason::Length);
}

TEST_F(Generate, RunsOneTokenInAContextOfOne) {
  int rows = 0;
  Result<Generation> result = make(1)->generate({5}, {}, [&](int32_t, const float *) { ++rows; });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(rows, 1);
  EXPECT_EQ(result->stop, StopReason::Context);
  EXPECT_EQ(result->decodeSteps, 0);
}

TEST_F(Generate, RefusesPromptsThatLeaveNoRoom) {
  EXPECT_EQ(errorOf(prompt, {7}), "the prompt has 7 tokens, but the context holds 7: at most 6 can be a prompt");
  EXPECT_EQ(errorOf(prompt, {3}), "the prompt has 7 tokens, but the context holds 3: at most 2 can be a prompt");
  EXPECT_EQ(errorOf({1, 2}, {1}), "the prompt has 2 tokens, but the context holds 1: at most 1 can be a prompt");
  EXPECT_EQ(errorOf(prompt, {8}), "");
}

TEST_F(Generate, StartsAnEmptyPromptFromBos) {
  Result<Generation> result = make(contextSize, 0, 1)->generate({}, {3});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->prompt, (std::vector<int32_t>{1}));
  EXPECT_EQ(result->ids, expectedIds({1}, 3));
  EXPECT_EQ(errorOf({}, {contextSize}), "the prompt is empty and the model has no BOS token to start from");
}

TEST_F(Generate, RefusesIdsOutsideTheVocabulary) {
  EXPECT_EQ(errorOf({1, 2, 11}, {contextSize}),
            "prompt: token 2 has id 11, but the vocabulary has 11 tokens (0 to 10)");
  EXPECT_EQ(errorOf({-1}, {contextSize}), "prompt: token 0 has id -1, but the vocabulary has 11 tokens (0 to 10)");
  EXPECT_EQ(errorOf({}, {contextSize, 0, 11}), "BOS: token 0 has id 11, but the vocabulary has 11 tokens (0 to 10)");
}

TEST_F(Generate, RefusesOptionsOutOfRange) {
  EXPECT_EQ(errorOf({1}, {0}), "context is 0, expected at least 1");
  EXPECT_EQ(errorOf({1}, {8, 7}), "chunk is 7, but the model was compiled for at most 6");
  EXPECT_EQ(errorOf({1}, {8, -1}), "chunk is -1, but the model was compiled for at most 6");
  EXPECT_EQ(errorOf({1}, {8}, {-1}), "the number of new tokens is -1, expected at least 0");
  GenerateOptions options;
  options.sampling.topP = 2;
  EXPECT_EQ(errorOf({1}, {8}, options), "top-p is 2.000000, expected more than 0 and at most 1");
}

TEST_F(Generate, MakesNoTokensWhenAskedForNone) {
  Result<Generation> result = make()->generate(prompt, {0});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->ids.empty());
  EXPECT_EQ(result->stop, StopReason::Length);
}

TEST_F(Generate, StopsWhenInterrupted) {
  std::atomic<bool> flag{true};
  GenerateOptions options{8};
  options.interrupt = &flag;
  Result<Generation> result = make()->generate(prompt, options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->stop, StopReason::Interrupt);
  EXPECT_TRUE(result->ids.empty());

  flag = false;
  result = make()->generate(prompt, options, [&](int32_t, const float *) { flag = true; });
  ASSERT_TRUE(result);
  EXPECT_EQ(result->stop, StopReason::Interrupt);
  EXPECT_EQ(result->ids, expectedIds(prompt, 1));
}

TEST_F(Generate, ReportsAFailingEntry) {
  // A context larger than the model's states: the entry itself refuses.
  Result<Generation> result = make(100)->generate(prompt, {50});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "entry 'decode': pos[0] is 16, expected 16");
}

TEST_F(Generate, RefusesEntriesThatAreNoDecoder) {
  lastLogits.dtype = "bf16";
  EXPECT_EQ(make().error().message,
            "entry 'decode' is no step of a decoder: expected tokens[1]:i32, pos[1]:i32 -> logits[1,vocab]:f32");
  lastLogits.dtype = "f32";
  prefillIn[1].name = "mask";
  EXPECT_EQ(make().error().message,
            "entry 'prefill' is no step of a decoder: expected tokens[T]:i32, pos[T]:i32 -> logits[1 or T,vocab]:f32");
  model.entries = 0;
  EXPECT_EQ(make().error().message, "model 'fake' has neither entry decode nor prefill");
}

TEST_F(Generate, ComputesTheLogitsOfEveryPosition) {
  for (bool rows : {false, true}) {
    if (rows)
      useAllRows();
    for (int64_t chunk : {0, 1, 4}) {
      Result<std::vector<float>> logits = make(7, chunk)->logits(prompt);
      ASSERT_TRUE(logits) << logits.error().message;
      ASSERT_EQ(logits->size(), prompt.size() * vocab);
      int64_t hash = 0;
      for (size_t t = 0; t < prompt.size(); ++t) {
        hash = extend(hash, prompt[t]);
        for (int64_t v = 0; v < vocab; ++v)
          EXPECT_EQ((*logits)[t * vocab + v], logitOf(hash, v)) << "row " << t;
      }
    }
  }
  EXPECT_EQ(make(6)->logits(prompt).error().message, "7 tokens, but the context holds 6");
  EXPECT_EQ(make()->logits({}).error().message, "no tokens to compute logits for");
  EXPECT_EQ(make()->logits({0, 12}).error().message,
            "tokens: token 1 has id 12, but the vocabulary has 11 tokens (0 to 10)");
}

} // namespace
