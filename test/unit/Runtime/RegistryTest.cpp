//===- RegistryTest.cpp - finding, choosing, calling, profiling -----------===//

#include "TestSupport.h"

#include <gtest/gtest.h>

namespace {

TEST(Registry, FindsEveryKernelAndNoOther) {
  size_t count = 0;
  const ck_kernel *const *kernels = ck_kernels(&count);
  ASSERT_EQ(count, 7u);
  for (size_t i = 0; i < count; ++i)
    EXPECT_EQ(ck_find_kernel(kernels[i]->id), kernels[i]);
  for (const char *id : {"", "test", "test_", "test_ad", "test_addx", "test_bogus", "zzz", "\xff"})
    EXPECT_EQ(ck_find_kernel(id), nullptr) << id;
}

TEST(Registry, ChoosesTheBestImplementationAtOrBelowTheContext) {
  ContextPtr ctx = makeContext(1);
  float isa = -1;
  void *slots[] = {&isa};
  for (int i = 0; i <= ck_best_isa(); ++i) {
    ASSERT_EQ(ck_context_set_isa(ctx.get(), ck_isa(i)), CK_OK);
    EXPECT_EQ(ck_find_kernel("test_isa")->call(ctx.get(), slots), CK_OK);
    EXPECT_EQ(isa, std::min(i, int(CK_ISA_AVX2)));
  }
}

TEST(Registry, RefusesAKernelWithoutAnImplementation) {
  ContextPtr ctx = makeContext(1);
  ASSERT_EQ(ck_context_set_isa(ctx.get(), CK_ISA_SCALAR), CK_OK);
  EXPECT_EQ(ck_find_kernel("test_wide")->call(ctx.get(), nullptr), CK_UNSUPPORTED);
  EXPECT_STREQ(ck_context_error(ctx.get()), "test_wide: needs avx512, but this context runs scalar");
  ck_kernel none = {"none", "", nullptr, {}, 0, nullptr, "", nullptr};
  EXPECT_EQ(ck_call_kernel(ctx.get(), &none, nullptr), CK_UNSUPPORTED);
  EXPECT_STREQ(ck_context_error(ctx.get()), "none: has no implementation in this build");
}

TEST(Registry, NamesTheKernelThatFails) {
  ContextPtr ctx = makeContext(1);
  float x[] = {1, 11};
  struct {
    const float *x;
    int64_t N;
  } slots = {x, 2};
  EXPECT_EQ(ck_find_kernel("test_limit")->call(ctx.get(), &slots), CK_INVALID_ARGUMENT);
  EXPECT_STREQ(ck_context_error(ctx.get()), "test_limit: x[1] is 11, expected at most 10");
  // A failure without a message must not show the one before.
  EXPECT_EQ(ck_find_kernel("test_silent")->call(ctx.get(), nullptr), CK_UNSUPPORTED);
  EXPECT_STREQ(ck_context_error(ctx.get()), "test_silent: failed with code 4");
}

TEST(Registry, ChecksTheReservedScratch) {
  ContextPtr ctx = makeContext(2);
  float out = 0;
  char tmp[100];
  struct {
    float *out;
    char *tmp;
    int64_t N;
  } slots = {&out, tmp, 100};
  const ck_kernel *kernel = ck_find_kernel("test_scratch");
  EXPECT_EQ(kernel->call(ctx.get(), &slots), CK_INVALID_ARGUMENT);
  EXPECT_STREQ(ck_context_error(ctx.get()), "test_scratch: needs 100 bytes of thread scratch, 0 are reserved");
  ASSERT_EQ(ck_context_reserve_thread_scratch(ctx.get(), 100), CK_OK);
  EXPECT_EQ(kernel->call(ctx.get(), &slots), CK_OK);
  EXPECT_EQ(out, 1);
}

TEST(Profile, CountsCallsInOrderOfTheFirst) {
  ContextPtr ctx = makeContext(1);
  float out;
  void *slots[] = {&out};
  const ck_kernel *isa = ck_find_kernel("test_isa"), *silent = ck_find_kernel("test_silent");
  const ck_profile_row *rows = nullptr;
  isa->call(ctx.get(), slots);
  EXPECT_EQ(ck_profile_rows(ctx.get(), &rows), 0);

  ck_profile_enable(ctx.get(), 1);
  silent->call(ctx.get(), nullptr);
  for (int i = 0; i < 3; ++i)
    isa->call(ctx.get(), slots);
  ck_profile_enable(ctx.get(), 0);
  isa->call(ctx.get(), slots);
  ASSERT_EQ(ck_profile_rows(ctx.get(), &rows), 2);
  EXPECT_STREQ(rows[0].kernel, "test_silent");
  EXPECT_EQ(rows[0].calls, 1);
  EXPECT_STREQ(rows[1].kernel, "test_isa");
  EXPECT_EQ(rows[1].calls, 3);
  EXPECT_GE(rows[1].seconds, 0);
  EXPECT_LT(rows[1].seconds, 60);

  ck_profile_enable(ctx.get(), 1);
  EXPECT_EQ(ck_profile_rows(ctx.get(), &rows), 0);
}

} // namespace
