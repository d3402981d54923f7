//===- Bench.h - measuring kernels against the machine ----------*- C++ -*-===//
//
// A case runs one kernel through the registry and reports its speed beside the ceiling that matters, the FMA peak or
// the read bandwidth, measured in the same case with the same number of threads.
//
//===----------------------------------------------------------------------===//
#ifndef CK_BENCHMARKS_BENCH_H
#define CK_BENCHMARKS_BENCH_H

#include "ck/Runtime/Kernels.h"

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ck::bench {

/// A context of that many threads, made once and kept. Leaves the process with a message when it cannot be had.
ck_context *contextOf(int threads);

/// Memory in huge pages, filled with small numbers; lives as long as the process.
float *makeFloats(size_t count);

/// More bytes of weights than any cache holds: 1 GiB of floats, made at first use.
struct Ring {
  const float *data;
  size_t count;
};
Ring weightRing();

/// Times one kernel. Each iteration is timed alone; in between the ceiling is sampled.
class Meter {
public:
  enum class Ceiling { Fma, Read };
  Meter(benchmark::State &state, int threads, Ceiling ceiling);

  ck_context *context() const { return ctx; }

  /// Runs the case: body() returns the status of its kernels. `work` is what one iteration does: floating-point
  /// operations, or bytes that must be read. Reports medians of the speed, of the ceiling and, as `of_peak` or
  /// `of_read`, of the share that an iteration had of the better of the samples of the ceiling before and after it: a
  /// shared machine changes its speed in seconds.
  template <class Body> void run(double work, Body body) {
    while (state.KeepRunning()) {
      sampleCeiling();
      const double start = now();
      const int32_t status = body();
      record(now() - start, status);
    }
    report(work);
  }

  /// Reserves the scratch that a call of this kernel needs.
  template <class Args> void prepare(const char *kernel, const Args &args) { reserve(kernel, &args); }

private:
  static double now();
  double measureCeiling();
  void sampleCeiling();
  void record(double seconds, int32_t status);
  void report(double work);
  void reserve(const char *kernel, const void *args);

  benchmark::State &state;
  ck_context *ctx;
  Ceiling ceiling;
  double untilSample = 0;
  std::vector<double> ceilings;                 ///< samples, in time
  std::vector<std::pair<double, size_t>> times; ///< of each iteration: seconds, and the sample before it
};

// The cases, by file.
void registerAttention();
void registerGemm();
void registerGemv();
void registerLayers();
void registerQuant();
void registerStreams();

} // namespace ck::bench

#endif // CK_BENCHMARKS_BENCH_H
