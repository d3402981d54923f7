//===- Team.cpp - the threads of a context --------------------------------===//
//
// A region ends when its last task is reported, not when every worker has looked at it: a worker that sleeps through a
// region holds nobody up. The two places where one side sleeps and the other must notice (workers between regions, the
// caller at the end of one) follow one rule: each side first writes its own flag, then reads the other's, both
// sequentially consistent, so that at least one of them sees the other.
//
//===----------------------------------------------------------------------===//
#include "Team.h"

#include <algorithm>
#include <chrono>

#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ck {

// The serial parts between two regions of a step (sampling, kernels of one task) fit in this.
static constexpr auto spinTime = std::chrono::microseconds(100);
static constexpr int yieldsWhenCrowded = 4;

namespace {
/// One running task on this thread, the innermost first; tells nested calls from others, also across two teams.
struct Frame {
  const Team *team;
  int thread;
  const Frame *outer;
};
} // namespace

static thread_local const Frame *innermost = nullptr;

static const Frame *findFrame(const Team *team) {
  const Frame *frame = innermost;
  while (frame && frame->team != team)
    frame = frame->outer;
  return frame;
}

int usableCpus() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1, int(std::thread::hardware_concurrency()));
}

// Rounding and denormal modes belong to a thread; workers take the caller's, else results would depend on who ran what.
#if defined(__x86_64__)
static constexpr unsigned stickyFlags = 0x3f;
static unsigned getFloatMode() { return _mm_getcsr() & ~stickyFlags; }
static void setFloatMode(unsigned mode) { _mm_setcsr(mode); }
static void pause() { _mm_pause(); }
#else
static unsigned getFloatMode() { return 0; }
static void setFloatMode(unsigned) {}
static void pause() {}
#endif

/// Looks at `condition` for a bounded time; true as soon as it holds.
template <typename Condition> static bool spinUntil(bool spin, Condition condition) {
  if (!spin) {
    // More threads than CPUs: the one waited for may need this CPU.
    for (int i = 0; i < yieldsWhenCrowded; ++i) {
      if (condition())
        return true;
      std::this_thread::yield();
    }
    return condition();
  }
  auto deadline = std::chrono::steady_clock::now() + spinTime;
  do {
    for (int i = 0; i < 32; ++i) {
      if (condition())
        return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return condition();
}

Team::Team(int threads) {
  int cpus = usableCpus();
  usefulWorkers = std::min(threads, cpus) - 1;
  spin = threads <= cpus;
  workers.reserve(threads - 1);
  try {
    for (int thread = 1; thread < threads; ++thread)
      workers.emplace_back([this, thread] { work(thread); });
  } catch (...) {
    stopWorkers();
    throw;
  }
}

Team::~Team() { stopWorkers(); }

void Team::stopWorkers() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stop.store(true);
  }
  regionStarted.notify_all();
  for (std::thread &worker : workers)
    worker.join();
}

bool Team::isRunning() const { return findFrame(this); }

static void runSerially(const Team *team, int thread, int64_t tasks, ck_task task, void *data) {
  Frame frame{team, thread, innermost};
  innermost = &frame;
  for (int64_t i = 0; i < tasks; ++i)
    task(data, i, thread);
  innermost = frame.outer;
}

void Team::run(int64_t tasks, ck_task task, void *data) {
  if (tasks <= 0)
    return;
  if (const Frame *frame = findFrame(this))
    return runSerially(this, frame->thread, tasks, task, data);
  if (tasks == 1 || workers.empty())
    return runSerially(this, 0, tasks, task, data);

  region = {task, data, tasks, getFloatMode()};
  unfinished.store(tasks, std::memory_order_relaxed);
  unclaimed.store(tasks);
  if (sleepers.load() > 0)
    wake(tasks);
  finish(claimAndRun(0));
  awaitFinish();
}

/// Takes tasks until none is left; returns how many it ran.
int64_t Team::claimAndRun(int thread) {
  int64_t ran = 0;
  Frame frame{this, thread, innermost};
  innermost = &frame;
  while (unclaimed.load(std::memory_order_relaxed) > 0) {
    // A claim made here may also belong to the region after the one that was seen: it is as good.
    int64_t left = unclaimed.fetch_sub(1, std::memory_order_acq_rel);
    if (left <= 0)
      break;
    if (ran == 0 && thread != 0)
      setFloatMode(region.floatMode);
    region.task(region.data, region.tasks - left, thread);
    ++ran;
  }
  innermost = frame.outer;
  return ran;
}

void Team::finish(int64_t ran) {
  if (ran == 0 || unfinished.fetch_sub(ran) != ran || !callerSleeps.load())
    return;
  std::lock_guard<std::mutex> lock(mutex);
  regionFinished.notify_one();
}

void Team::awaitFinish() {
  auto finished = [this] { return unfinished.load() == 0; };
  if (spinUntil(spin, finished))
    return;
  std::unique_lock<std::mutex> lock(mutex);
  callerSleeps.store(true);
  regionFinished.wait(lock, finished);
  callerSleeps.store(false);
}

void Team::wake(int64_t tasks) {
  // A worker counts itself while it holds the lock and lets go of it only by waiting.
  {
    std::lock_guard<std::mutex> lock(mutex);
  }
  int64_t wanted = std::min<int64_t>(tasks - 1, usefulWorkers);
  if (wanted >= int64_t(workers.size()))
    return regionStarted.notify_all();
  for (int64_t i = 0; i < wanted; ++i)
    regionStarted.notify_one();
}

/// Waits for tasks; false when the team ends.
bool Team::awaitRegion() {
  auto ready = [this] { return unclaimed.load() > 0 || stop.load(); };
  if (!spinUntil(spin, ready)) {
    std::unique_lock<std::mutex> lock(mutex);
    sleepers.fetch_add(1);
    regionStarted.wait(lock, ready);
    sleepers.fetch_sub(1);
  }
  return !stop.load();
}

void Team::work(int thread) {
  while (awaitRegion())
    finish(claimAndRun(thread));
}

} // namespace ck
