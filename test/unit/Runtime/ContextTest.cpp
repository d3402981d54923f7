//===- ContextTest.cpp - creation, errors, instruction sets, scratch ------===//

#include "TestSupport.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

namespace {

/// Sets CK_ISA for one test.
class IsaVariable {
public:
  explicit IsaVariable(const char *value) {
    if (const char *old = std::getenv("CK_ISA"))
      before = old;
    setenv("CK_ISA", value, 1);
  }
  ~IsaVariable() {
    if (before.empty())
      unsetenv("CK_ISA");
    else
      setenv("CK_ISA", before.c_str(), 1);
  }

private:
  std::string before;
};

TEST(Context, CountsThreads) {
  EXPECT_EQ(ck_context_threads(makeContext(3).get()), 3);
  EXPECT_GE(ck_context_threads(makeContext(0).get()), 1);
}

TEST(Context, RefusesThreadCountsOutOfRange) {
  for (int threads : {-1, CK_MAX_THREADS + 1}) {
    EXPECT_EQ(ck_context_create(threads), nullptr);
    EXPECT_NE(std::string(ck_context_error(nullptr)).find(std::to_string(threads) + " threads"), std::string::npos);
  }
  EXPECT_TRUE(makeContext(1));
  EXPECT_STREQ(ck_context_error(nullptr), "");
}

TEST(Context, KeepsTheLastError) {
  ContextPtr ctx = makeContext(1);
  EXPECT_STREQ(ck_context_error(ctx.get()), "");
  EXPECT_EQ(ck_context_error_code(ctx.get()), CK_OK);
  EXPECT_EQ(ck_fail(ctx.get(), CK_BOUND_EXCEEDED, "T is %d", 7), CK_BOUND_EXCEEDED);
  EXPECT_STREQ(ck_context_error(ctx.get()), "T is 7");
  EXPECT_EQ(ck_fail(ctx.get(), CK_MISMATCH, "%s", "other"), CK_MISMATCH);
  EXPECT_STREQ(ck_context_error(ctx.get()), "other");
  EXPECT_EQ(ck_context_error_code(ctx.get()), CK_MISMATCH);
  EXPECT_EQ(ck_fail(nullptr, CK_MISMATCH, "nowhere to go"), CK_MISMATCH);
}

TEST(Context, TakesErrorsFromManyTasks) {
  ContextPtr ctx = makeContext(4);
  auto fail = [](void *ctx, int64_t i, int) {
    ck_fail(static_cast<ck_context *>(ctx), CK_INVALID_ARGUMENT, "task %d", int(i));
  };
  ck_parallel(ctx.get(), 100, fail, ctx.get());
  EXPECT_EQ(std::strncmp(ck_context_error(ctx.get()), "task ", 5), 0);
}

TEST(Isa, NamesParseBack) {
  for (int isa = 0; isa < CK_ISA_COUNT; ++isa)
    EXPECT_EQ(ck_isa_parse(ck_isa_name(ck_isa(isa))), isa);
  for (const char *name : {"", "sse", "AVX2", "avx2 "})
    EXPECT_EQ(ck_isa_parse(name), -1) << name;
  EXPECT_EQ(ck_isa_name(CK_ISA_COUNT), nullptr);
}

#if defined(__x86_64__)
TEST(Isa, AgreesWithTheCompilersDetection) {
  __builtin_cpu_init();
  EXPECT_EQ(ck_best_isa() >= CK_ISA_AVX2, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                                              __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"));
  EXPECT_EQ(ck_best_isa() >= CK_ISA_AVX512,
            ck_best_isa() >= CK_ISA_AVX2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                __builtin_cpu_supports("avx512cd"));
  EXPECT_EQ(ck_best_isa() >= CK_ISA_AVX512_VNNI,
            ck_best_isa() >= CK_ISA_AVX512 && __builtin_cpu_supports("avx512vnni"));
}
#endif

TEST(Isa, VariableSetsTheDefault) {
  IsaVariable variable("scalar");
  EXPECT_EQ(ck_context_isa(makeContext(1).get()), CK_ISA_SCALAR);
}

TEST(Isa, EmptyVariableMeansTheBest) {
  IsaVariable variable("");
  EXPECT_EQ(ck_context_isa(makeContext(1).get()), ck_best_isa());
}

TEST(Isa, UnknownVariableFailsCreation) {
  IsaVariable variable("avx3");
  EXPECT_EQ(ck_context_create(1), nullptr);
  EXPECT_STREQ(ck_context_error(nullptr),
               "environment variable CK_ISA is 'avx3', expected scalar, avx2, avx512 or avx512_vnni");
}

TEST(Isa, CanBeLoweredButNotRaised) {
  ContextPtr ctx = makeContext(1);
  EXPECT_EQ(ck_context_set_isa(ctx.get(), CK_ISA_SCALAR), CK_OK);
  EXPECT_EQ(ck_context_isa(ctx.get()), CK_ISA_SCALAR);
  EXPECT_EQ(ck_context_set_isa(ctx.get(), CK_ISA_COUNT), CK_INVALID_ARGUMENT);
  for (int isa = ck_best_isa() + 1; isa < CK_ISA_COUNT; ++isa) {
    EXPECT_EQ(ck_context_set_isa(ctx.get(), ck_isa(isa)), CK_UNSUPPORTED);
    IsaVariable variable(ck_isa_name(ck_isa(isa)));
    EXPECT_EQ(ck_context_create(1), nullptr);
    EXPECT_NE(std::string(ck_context_error(nullptr)).find("but this machine has"), std::string::npos);
  }
  EXPECT_EQ(ck_context_isa(ctx.get()), CK_ISA_SCALAR);
}

TEST(ThreadScratch, GrowsForEveryThread) {
  ContextPtr ctx = makeContext(3);
  for (size_t bytes : {100, 5000, 200}) {
    ASSERT_EQ(ck_context_reserve_thread_scratch(ctx.get(), bytes), CK_OK);
    for (int thread = 0; thread < 3; ++thread) {
      void *scratch = ck_thread_scratch(ctx.get(), thread);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(scratch) % 64, 0u);
      std::memset(scratch, thread, bytes);
    }
    for (int thread = 0; thread < 3; ++thread)
      EXPECT_EQ(static_cast<char *>(ck_thread_scratch(ctx.get(), thread))[bytes - 1], thread);
  }
  EXPECT_EQ(ck_thread_scratch(ctx.get(), 3), nullptr);
  EXPECT_EQ(ck_thread_scratch(ctx.get(), -1), nullptr);
}

TEST(ThreadScratch, SaysWhenMemoryRunsOut) {
  ContextPtr ctx = makeContext(2);
  EXPECT_EQ(ck_context_reserve_thread_scratch(ctx.get(), size_t(1) << 62), CK_OUT_OF_MEMORY);
  EXPECT_NE(std::string(ck_context_error(ctx.get())).find("4611686018427387904 bytes of scratch"), std::string::npos);
}

TEST(ThreadScratch, DoesNotMoveUnderATask) {
  ContextPtr ctx = makeContext(2);
  ASSERT_EQ(ck_context_reserve_thread_scratch(ctx.get(), 64), CK_OK);
  auto grow = [](void *data, int64_t, int) {
    auto *ctx = static_cast<ck_context *>(data);
    EXPECT_EQ(ck_context_reserve_thread_scratch(ctx, 64), CK_OK);
    EXPECT_EQ(ck_context_reserve_thread_scratch(ctx, 128), CK_INVALID_ARGUMENT);
  };
  ck_parallel(ctx.get(), 2, grow, ctx.get());
}

} // namespace
