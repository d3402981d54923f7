//===- Bench.cpp - contexts, memory and the meter -------------------------===//
#include "Bench.h"
#include "ck/Runtime/Peak.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sys/mman.h>

using namespace ck::bench;

namespace {

constexpr size_t kRingBytes = size_t(1) << 30, kHugePage = size_t(2) << 20;
/// Seconds of kernel time between two samples of the ceiling, and of one sample of the FMA peak.
constexpr double kSampleEvery = 0.04, kFmaSample = 0.003;

[[noreturn]] void fail(const char *what, const char *why) {
  std::fprintf(stderr, "ck-bench: %s: %s\n", what, why);
  std::exit(1);
}

} // namespace

ck_context *ck::bench::contextOf(int threads) {
  static std::map<int, ck_context *> contexts;
  ck_context *&ctx = contexts[threads];
  if (!ctx && !(ctx = ck_context_create(threads)))
    fail("no context", ck_context_error(nullptr));
  return ctx;
}

float *ck::bench::makeFloats(size_t count) {
  const size_t bytes = (count * sizeof(float) + kHugePage - 1) / kHugePage * kHugePage;
  void *memory = std::aligned_alloc(kHugePage, bytes);
  if (!memory)
    fail("out of memory", "a case needs more than there is");
  madvise(memory, bytes, MADV_HUGEPAGE);
  float *data = static_cast<float *>(memory);
  // Every magnitude below 1, no subnormals, no two rows alike.
  uint32_t bits = 1;
  for (size_t i = 0; i < count; ++i) {
    bits = bits * 1664525u + 1013904223u;
    data[i] = static_cast<float>(static_cast<int32_t>(bits | 1)) * 0x1p-31f;
  }
  return data;
}

Ring ck::bench::weightRing() {
  constexpr size_t kCount = kRingBytes / sizeof(float);
  static const float *data = makeFloats(kCount);
  return {data, kCount};
}

Meter::Meter(benchmark::State &state, int threads, Ceiling ceiling)
    : state(state), ctx(contextOf(threads)), ceiling(ceiling) {}

double Meter::now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double Meter::measureCeiling() {
  return ceiling == Ceiling::Fma ? ck_measure_fma_peak(ctx, kFmaSample)
                                 : ck_measure_read(ctx, weightRing().data, kRingBytes, 1);
}

void Meter::sampleCeiling() {
  if (untilSample > 0)
    return;
  untilSample = kSampleEvery;
  ceilings.push_back(measureCeiling());
}

void Meter::record(double seconds, int32_t status) {
  if (status != CK_OK)
    return state.SkipWithError(ck_context_error(ctx));
  state.SetIterationTime(seconds);
  times.push_back({seconds, ceilings.size() - 1});
  untilSample -= seconds;
}

void Meter::report(double work) {
  if (times.empty())
    return;
  ceilings.push_back(measureCeiling());
  std::vector<double> rates, shares;
  for (auto [seconds, sample] : times) {
    rates.push_back(work / seconds * 1e-9);
    shares.push_back(rates.back() / std::max(ceilings[sample], ceilings[sample + 1]));
  }
  const auto median = [](std::vector<double> &of) {
    std::nth_element(of.begin(), of.begin() + of.size() / 2, of.end());
    return of[of.size() / 2];
  };
  const bool fma = ceiling == Ceiling::Fma;
  state.counters[fma ? "GFLOP/s" : "GB/s"] = median(rates);
  state.counters[fma ? "peak" : "read"] = median(ceilings);
  state.counters[fma ? "of_peak" : "of_read"] = median(shares);
}

void Meter::reserve(const char *kernel, const void *args) {
  const ck_kernel *found = ck_find_kernel(kernel);
  if (!found)
    fail(kernel, "no such kernel");
  if (!found->thread_scratch)
    return;
  const int64_t bytes = found->thread_scratch(args);
  if (bytes > 0 && ck_context_reserve_thread_scratch(ctx, static_cast<size_t>(bytes)) != CK_OK)
    fail(kernel, ck_context_error(ctx));
}
