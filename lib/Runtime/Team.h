//===- Team.h - the threads of a context ------------------------*- C++ -*-===//
//
// One caller and a fixed number of workers share the tasks of a region. Workers look for the next region for a short
// time and then sleep, so that the many small calls of a step cost no system call and an idle model costs no CPU.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_RUNTIME_TEAM_H
#define CK_LIB_RUNTIME_TEAM_H

#include "ck/Runtime/Runtime.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace ck {

/// CPUs that this process may run on, at least 1.
int usableCpus();

class Team {
public:
  /// Starts `threads - 1` workers. Throws std::system_error or std::bad_alloc if they cannot be had.
  explicit Team(int threads);
  ~Team();
  Team(const Team &) = delete;
  Team &operator=(const Team &) = delete;

  int threads() const { return int(workers.size()) + 1; }
  /// Runs task(data, i, thread) for every i in [0, tasks) and returns when all are done. From inside a task of this
  /// team the tasks run serially.
  void run(int64_t tasks, ck_task task, void *data);
  /// True inside a task of this team.
  bool isRunning() const;

private:
  void work(int thread);
  bool awaitRegion();
  int64_t claimAndRun(int thread);
  void finish(int64_t ran);
  void awaitFinish();
  void wake(int64_t tasks);
  void stopWorkers();

  // What a region runs. Written before `unclaimed` is raised, read only by a thread that holds a claim; the region
  // cannot end before that claim is reported, so these need no lock.
  struct Region {
    ck_task task = nullptr;
    void *data = nullptr;
    int64_t tasks = 0;
    unsigned floatMode = 0;
  } region;

  // On cache lines of their own: every thread of the team writes them.
  alignas(64) std::atomic<int64_t> unclaimed{0};  ///< tasks that nobody took; may drift below 0
  alignas(64) std::atomic<int64_t> unfinished{0}; ///< tasks that nobody reported as done
  alignas(64) std::atomic<int> sleepers{0};
  std::atomic<bool> callerSleeps{false}, stop{false};
  std::mutex mutex;
  std::condition_variable regionStarted, regionFinished;
  int usefulWorkers; ///< more running at once would only take turns
  bool spin;
  std::vector<std::thread> workers;
};

} // namespace ck

#endif // CK_LIB_RUNTIME_TEAM_H
