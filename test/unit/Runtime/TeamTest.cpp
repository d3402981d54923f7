//===- TeamTest.cpp - every task once, whatever the team ------------------===//

#include "TestSupport.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

template <typename Body> void parallel(ck_context *ctx, int64_t tasks, Body body) {
  ck_parallel(ctx, tasks, [](void *data, int64_t i, int thread) { (*static_cast<Body *>(data))(i, thread); }, &body);
}

/// Runs `tasks` and checks that each ran once, under a thread number that nobody else had at the time.
void checkCoverage(ck_context *ctx, int64_t tasks) {
  std::vector<std::atomic<int>> count(tasks), busy(ck_context_threads(ctx));
  std::atomic<int> clashes{0};
  parallel(ctx, tasks, [&](int64_t i, int thread) {
    ASSERT_GE(thread, 0);
    ASSERT_LT(thread, ck_context_threads(ctx));
    clashes += busy[thread].fetch_add(1);
    ++count[i];
    busy[thread].fetch_sub(1);
  });
  EXPECT_EQ(clashes, 0);
  for (int64_t i = 0; i < tasks; ++i)
    ASSERT_EQ(count[i], 1) << "task " << i << " of " << tasks;
}

class TeamOf : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, TeamOf, testing::Range(1, 9));

TEST_P(TeamOf, RunsEachTaskOnce) {
  ContextPtr ctx = makeContext(GetParam());
  ASSERT_EQ(ck_context_threads(ctx.get()), GetParam());
  for (int round = 0; round < 20; ++round)
    for (int64_t tasks : {0, 1, 2, 3, 7, 8, 64, 1000})
      checkCoverage(ctx.get(), tasks);
  parallel(ctx.get(), -3, [](int64_t, int) { ADD_FAILURE(); });
}

TEST_P(TeamOf, RunsManySmallRegionsInOrder) {
  ContextPtr ctx = makeContext(GetParam());
  // Plain memory: each region must see all that the one before wrote.
  std::vector<int> values(16, 0);
  for (int round = 0; round < 3000; ++round)
    parallel(ctx.get(), 16, [&](int64_t i, int) { values[i] = values[i] == round ? round + 1 : -1; });
  EXPECT_EQ(values, std::vector<int>(16, 3000));
}

TEST_P(TeamOf, WakesAfterItSlept) {
  ContextPtr ctx = makeContext(GetParam());
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    checkCoverage(ctx.get(), 8);
  }
}

TEST_P(TeamOf, WaitsForSlowTasks) {
  ContextPtr ctx = makeContext(GetParam());
  std::atomic<int> done{0};
  parallel(ctx.get(), 5, [&](int64_t, int) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ++done;
  });
  EXPECT_EQ(done, 5);
}

TEST_P(TeamOf, RunsNestedTasksUnderTheSameThread) {
  ContextPtr ctx = makeContext(GetParam());
  std::vector<std::atomic<int>> count(12 * 5);
  parallel(ctx.get(), 12, [&](int64_t i, int thread) {
    parallel(ctx.get(), 5, [&](int64_t j, int inner) {
      EXPECT_EQ(inner, thread);
      ++count[i * 5 + j];
    });
  });
  for (auto &times : count)
    EXPECT_EQ(times, 1);
}

TEST(Team, NestsAcrossTwoContexts) {
  ContextPtr outer = makeContext(3), inner = makeContext(2);
  std::atomic<int> count{0};
  // The way back into the outer team must be recognised through the inner one.
  parallel(outer.get(), 1, [&](int64_t, int thread) {
    parallel(inner.get(), 4, [&](int64_t, int) { ++count; });
    parallel(inner.get(), 1, [&](int64_t, int) {
      parallel(outer.get(), 4, [&](int64_t, int again) {
        EXPECT_EQ(again, thread);
        ++count;
      });
    });
  });
  EXPECT_EQ(count, 8);
}

TEST(Team, IsFreeAgainAfterNesting) {
  ContextPtr ctx = makeContext(2);
  parallel(ctx.get(), 1, [&](int64_t, int) { parallel(ctx.get(), 3, [](int64_t, int) {}); });
  // Two tasks that wait for each other end only if two threads take them.
  std::atomic<int> arrived{0};
  if (std::thread::hardware_concurrency() > 1)
    parallel(ctx.get(), 2, [&](int64_t, int) {
      ++arrived;
      auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (arrived < 2 && std::chrono::steady_clock::now() < limit)
        std::this_thread::yield();
      EXPECT_EQ(arrived, 2);
    });
}

TEST(Team, ComesAndGoes) {
  for (int round = 0; round < 100; ++round) {
    ContextPtr ctx = makeContext(1 + round % 8);
    ASSERT_TRUE(ctx);
    if (round % 3)
      checkCoverage(ctx.get(), round % 5);
  }
}

TEST(Team, ServesSeveralContextsAtOnce) {
  std::vector<std::thread> users;
  for (int user = 0; user < 3; ++user)
    users.emplace_back([] {
      ContextPtr ctx = makeContext(3);
      for (int round = 0; round < 200; ++round)
        checkCoverage(ctx.get(), 10);
    });
  for (std::thread &user : users)
    user.join();
}

#if defined(__x86_64__)
TEST(Team, TasksInheritTheFloatingPointModeOfTheCaller) {
  ContextPtr ctx = makeContext(2);
  unsigned before = _mm_getcsr();
  for (unsigned mode : {before, before | 0x8040u, before}) { // flush to zero, denormals are zero
    _mm_setcsr(mode);
    std::vector<unsigned> seen(200);
    parallel(ctx.get(), 200, [&](int64_t i, int) {
      seen[i] = _mm_getcsr() & 0x8040;
      if (i == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    EXPECT_EQ(seen, std::vector<unsigned>(200, mode & 0x8040));
  }
  _mm_setcsr(before);
}
#endif

} // namespace
