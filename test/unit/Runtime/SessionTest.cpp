//===- SessionTest.cpp - does the model fit, are the bounds kept ----------===//

#include "TestSupport.h"

#include <gtest/gtest.h>

#include <cstring>

namespace {

/// A model written by hand, as a compiled one would export it: one weight, one const, one state, `init` and `step`.
class Session : public testing::Test {
protected:
  static int32_t init(ck_context *, const ck_entry_args *args) {
    std::memcpy(args->const_arena + 64, args->weights[1], 8);
    return CK_OK;
  }
  static int32_t step(ck_context *ctx, const ck_entry_args *args) {
    auto *out = static_cast<int64_t *>(args->outputs[0]);
    auto *count = reinterpret_cast<int64_t *>(args->state_arena);
    out[0] = args->dims[0] * 10 + args->dims[1];
    out[1] = ++*count;
    std::memcpy(&out[2], args->const_arena + 64, 8);
    out[3] = *static_cast<const int64_t *>(args->inputs[0]);
    std::memset(args->arena, 1, args->entry->arena_bytes);
    for (int thread = 0; thread < ck_context_threads(ctx); ++thread)
      std::memset(ck_thread_scratch(ctx, thread), 1, args->entry->thread_scratch_bytes);
    return out[3] < 0 ? CK_UNSUPPORTED : CK_OK;
  }

  void SetUp() override {
    value[0] = {"x", "i64", 0, nullptr};
    value[1] = {"y", "i64", 1, dims + 2};
    buffer[0] = {"a", CK_WEIGHT, "i64", 1, dims, 8, -1, nullptr, nullptr};
    buffer[1] = {"c", CK_CONST, "i64", 1, dims, 8, 64, nullptr, nullptr};
    buffer[2] = {"b", CK_WEIGHT, "i64", 1, dims, 8, -1, nullptr, nullptr};
    buffer[3] = {"s", CK_STATE, "i64", 1, dims, 8, 0, nullptr, nullptr};
    entry[0] = {"init", 16, 0, 0, 0, 0, nullptr, nullptr, nullptr, nullptr, init, nullptr};
    entry[1] = {"step", 4096, 256, 1, 1, 2, &value[0], &value[1], dimNames, bounds, step, nullptr};
    model = {CK_ABI_VERSION, "hand", "d", 128, 8, 4, 2, buffer, entry, 2, kernelIds, kernelDigests};
  }
  SessionPtr create() { return SessionPtr(ck_session_create(ctx.get(), &model, weights)); }
  std::string createError() {
    EXPECT_FALSE(create());
    return ck_context_error(ctx.get());
  }
  int32_t run(const SessionPtr &session, int64_t T, int64_t U, int64_t x = 5) {
    int64_t sizes[] = {T, U};
    const void *inputs[] = {&x};
    void *outputs[] = {y};
    return ck_session_run(session.get(), "step", sizes, inputs, outputs);
  }
  std::string error() const { return ck_context_error(ctx.get()); }

  ContextPtr ctx = makeContext(2);
  int64_t dims[3] = {1, -1, 4}, bounds[2] = {8, 3}, a = 1, b = 77, y[4] = {};
  const char *dimNames[2] = {"T", "U"};
  const char *kernelIds[2] = {"test_add", "test_isa"};
  const char *kernelDigests[2] = {"digest-of-add", "digest-of-isa"};
  void *weights[2] = {&a, &b};
  ck_value_info value[2];
  ck_buffer_info buffer[4];
  ck_entry entry[2];
  ck_model model;
};

TEST_F(Session, RunsInitOnceAndKeepsStates) {
  SessionPtr session = create();
  ASSERT_TRUE(session) << error();
  EXPECT_EQ(ck_session_context(session.get()), ctx.get());
  EXPECT_EQ(ck_session_model(session.get()), &model);
  b = 0; // init has read it already
  for (int64_t count : {1, 2, 3}) {
    ASSERT_EQ(run(session, 8, 3), CK_OK) << error();
    EXPECT_EQ(y[0], 83);
    EXPECT_EQ(y[1], count);
    EXPECT_EQ(y[2], 77);
    EXPECT_EQ(y[3], 5);
  }
  ck_session_reset(session.get());
  ASSERT_EQ(run(session, 1, 1), CK_OK);
  EXPECT_EQ(y[1], 1);
  EXPECT_EQ(y[2], 77);
}

TEST_F(Session, FindsBuffersByName) {
  SessionPtr session = create();
  ASSERT_TRUE(session) << error();
  EXPECT_EQ(ck_session_buffer(session.get(), "a"), &a);
  EXPECT_EQ(ck_session_buffer(session.get(), "b"), &b);
  EXPECT_EQ(*static_cast<int64_t *>(ck_session_buffer(session.get(), "c")), 77);
  EXPECT_EQ(*static_cast<int64_t *>(ck_session_buffer(session.get(), "s")), 0);
  EXPECT_EQ(ck_session_buffer(session.get(), "x"), nullptr);
}

TEST_F(Session, SharesAContextWithOthers) {
  SessionPtr first = create();
  entry[1].thread_scratch_bytes = 100000;
  SessionPtr second = create();
  ASSERT_TRUE(first && second);
  ASSERT_EQ(run(first, 1, 1), CK_OK);
  ASSERT_EQ(run(second, 1, 1), CK_OK);
  ASSERT_EQ(run(first, 1, 1), CK_OK);
  EXPECT_EQ(y[1], 2);
}

TEST_F(Session, RefusesDimsBeyondTheirBounds) {
  SessionPtr session = create();
  ASSERT_TRUE(session) << error();
  EXPECT_EQ(run(session, 9, 1), CK_BOUND_EXCEEDED);
  EXPECT_EQ(error(), "entry 'step': dim T is 9, above its bound 8");
  EXPECT_EQ(run(session, 1, 4), CK_BOUND_EXCEEDED);
  EXPECT_EQ(error(), "entry 'step': dim U is 4, above its bound 3");
  EXPECT_EQ(run(session, 0, 1), CK_INVALID_ARGUMENT);
  EXPECT_EQ(error(), "entry 'step': dim T is 0, expected 1 to 8");
  EXPECT_EQ(run(session, INT64_MIN, 1), CK_INVALID_ARGUMENT);
  ASSERT_EQ(run(session, 8, 3), CK_OK);
  EXPECT_EQ(y[1], 1) << "a refused call ran";
}

TEST_F(Session, RefusesWhatIsNotGiven) {
  SessionPtr session = create();
  ASSERT_TRUE(session) << error();
  int64_t sizes[] = {1, 1}, x = 0;
  const void *inputs[] = {&x}, *noInputs[] = {nullptr};
  void *outputs[] = {y}, *noOutputs[] = {nullptr};
  EXPECT_EQ(ck_session_run(session.get(), "step", nullptr, inputs, outputs), CK_INVALID_ARGUMENT);
  EXPECT_EQ(error(), "entry 'step': dim T is not given");
  EXPECT_EQ(ck_session_run(session.get(), "step", sizes, nullptr, outputs), CK_INVALID_ARGUMENT);
  EXPECT_EQ(error(), "entry 'step': input 'x' is not given");
  EXPECT_EQ(ck_session_run(session.get(), "step", sizes, noInputs, outputs), CK_INVALID_ARGUMENT);
  EXPECT_EQ(ck_session_run(session.get(), "step", sizes, inputs, noOutputs), CK_INVALID_ARGUMENT);
  EXPECT_EQ(error(), "entry 'step': output 'y' is not given");
  EXPECT_EQ(ck_session_run(session.get(), "leap", sizes, inputs, outputs), CK_INVALID_ARGUMENT);
  EXPECT_EQ(error(), "model 'hand' has no entry 'leap'");
}

TEST_F(Session, NamesTheEntryThatFails) {
  SessionPtr session = create();
  ASSERT_TRUE(session) << error();
  EXPECT_EQ(run(session, 1, 1, -1), CK_UNSUPPORTED);
  EXPECT_EQ(error(), "entry 'step': failed with code 4");
}

TEST_F(Session, RefusesAnotherAbi) {
  model.abi_version = CK_ABI_VERSION + 1;
  EXPECT_EQ(createError(), "model was compiled for runtime ABI 2, this runtime has 1; compile it again");
  EXPECT_EQ(ck_context_error_code(ctx.get()), CK_MISMATCH);
}

TEST_F(Session, RefusesKernelsThatChangedOrAreMissing) {
  kernelDigests[1] = "abc";
  EXPECT_EQ(createError(), "model 'hand' was compiled for kernel 'test_isa' with digest abc, this runtime has "
                           "digest-of-isa; compile it again");
  EXPECT_EQ(ck_context_error_code(ctx.get()), CK_MISMATCH);
  kernelIds[1] = "test_none";
  EXPECT_EQ(createError(), "model 'hand' calls kernel 'test_none', which this runtime does not have");
  EXPECT_EQ(ck_context_error_code(ctx.get()), CK_MISMATCH);
}

TEST_F(Session, RefusesMissingWeights) {
  weights[1] = nullptr;
  EXPECT_EQ(createError(), "model 'hand': weight 'b' is missing");
  EXPECT_EQ(ck_session_create(ctx.get(), &model, nullptr), nullptr);
  EXPECT_EQ(error(), "model 'hand': weight 'a' is missing");
}

TEST_F(Session, RefusesBuffersOutsideTheirArenas) {
  for (int64_t offset : {int64_t(-1), int64_t(1), INT64_MAX}) {
    buffer[3].offset = offset;
    EXPECT_EQ(createError(),
              "model 'hand': buffer 's' of 8 bytes at " + std::to_string(offset) + ", but its arena has 8");
  }
  buffer[3].offset = 0;
  model.const_bytes = 64;
  EXPECT_EQ(createError(), "model 'hand': buffer 'c' of 8 bytes at 64, but its arena has 64");
  model.const_bytes = -1;
  EXPECT_EQ(createError(), "model 'hand': negative arena size");
}

TEST_F(Session, SaysWhichMemoryCouldNotBeHad) {
  entry[1].arena_bytes = int64_t(1) << 61;
  EXPECT_EQ(createError(), "model 'hand': out of memory: 2305843009213693952 bytes of activations");
  EXPECT_EQ(ck_context_error_code(ctx.get()), CK_OUT_OF_MEMORY);
  model.state_bytes = int64_t(1) << 62;
  EXPECT_EQ(createError(), "model 'hand': out of memory: 4611686018427387904 bytes of states");
}

} // namespace
