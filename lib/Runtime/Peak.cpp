//===- Peak.cpp - measuring the ceilings of the machine -------------------===//
//
// Each loop is written once per instruction set with the widest vectors, enough independent chains to hide latency, and
// results that are used, so that no compiler can drop the work.
//
//===----------------------------------------------------------------------===//
#include "ck/Runtime/Peak.h"
#include "Memory.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <immintrin.h>

using namespace ck;

namespace {

constexpr int kChains = 12;
constexpr int64_t kSteps = 20000; ///< per task: some tens of microseconds
constexpr size_t kChunk = size_t(1) << 20;

double secondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Keeps a vector in a register and its value unknown to the compiler.
#define CK_PIN(v) asm volatile("" : "+v"(v))
#define CK_PIN_SSE(v) asm volatile("" : "+x"(v))

__attribute__((target("avx512f"))) void multiplyAddAvx512() {
  __m512 sum[kChains], a = _mm512_set1_ps(0.5f), b = _mm512_set1_ps(1.0f);
  for (__m512 &s : sum)
    s = _mm512_setzero_ps();
  for (int64_t i = 0; i < kSteps; ++i)
#pragma GCC unroll 12
    for (int j = 0; j < kChains; ++j) {
      sum[j] = _mm512_fmadd_ps(sum[j], a, b);
      CK_PIN(sum[j]);
    }
}

__attribute__((target("avx2,fma"))) void multiplyAddAvx2() {
  __m256 sum[kChains], a = _mm256_set1_ps(0.5f), b = _mm256_set1_ps(1.0f);
  for (__m256 &s : sum)
    s = _mm256_setzero_ps();
  for (int64_t i = 0; i < kSteps; ++i)
#pragma GCC unroll 12
    for (int j = 0; j < kChains; ++j) {
      sum[j] = _mm256_fmadd_ps(sum[j], a, b);
      CK_PIN_SSE(sum[j]);
    }
}

void multiplyAddScalar() {
  __m128 sum[kChains], a = _mm_set1_ps(0.5f), b = _mm_set1_ps(1.0f);
  for (__m128 &s : sum)
    s = _mm_setzero_ps();
  for (int64_t i = 0; i < kSteps; ++i)
#pragma GCC unroll 12
    for (int j = 0; j < kChains; ++j) {
      sum[j] = _mm_add_ps(_mm_mul_ps(sum[j], a), b);
      CK_PIN_SSE(sum[j]);
    }
}

/// Sums whole cache lines as integers: no rounding and no slow operands, whatever the bytes are.
__attribute__((target("avx512f"))) uint64_t readAvx512(const char *p, size_t bytes) {
  __m512i sum[8];
  for (__m512i &s : sum)
    s = _mm512_setzero_si512();
  for (; bytes >= 512; bytes -= 512, p += 512)
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j)
      sum[j] = _mm512_add_epi64(sum[j], _mm512_loadu_si512(p + 64 * j));
  for (; bytes >= 64; bytes -= 64, p += 64)
    sum[0] = _mm512_add_epi64(sum[0], _mm512_loadu_si512(p));
  for (int j = 1; j < 8; ++j)
    sum[0] = _mm512_add_epi64(sum[0], sum[j]);
  uint64_t parts[8], total = 0;
  _mm512_storeu_si512(parts, sum[0]);
  for (uint64_t part : parts)
    total += part;
  return total;
}

uint64_t readScalar(const char *p, size_t bytes) {
  __m128i sum[4] = {};
  for (; bytes >= 64; bytes -= 64, p += 64)
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j)
      sum[j] = _mm_add_epi64(sum[j], _mm_loadu_si128(reinterpret_cast<const __m128i *>(p + 16 * j)));
  uint64_t parts[2];
  _mm_storeu_si128(reinterpret_cast<__m128i *>(parts),
                   _mm_add_epi64(_mm_add_epi64(sum[0], sum[1]), _mm_add_epi64(sum[2], sum[3])));
  return parts[0] + parts[1];
}

/// Runs one measured region and returns its wall time.
template <class Body> double timeTasks(ck_context *ctx, int64_t tasks, Body body) {
  const double start = secondsNow();
  ck_parallel(ctx, tasks, [](void *data, int64_t i, int) { (*static_cast<Body *>(data))(i); }, &body);
  return secondsNow() - start;
}

} // namespace

double ck_measure_fma_peak(ck_context *ctx, double seconds) {
  const ck_isa isa = ck_context_isa(ctx);
  const auto multiplyAdd = isa >= CK_ISA_AVX512 ? multiplyAddAvx512
                           : isa == CK_ISA_AVX2 ? multiplyAddAvx2
                                                : multiplyAddScalar;
  const int lanes = isa >= CK_ISA_AVX512 ? 16 : isa == CK_ISA_AVX2 ? 8 : 4;
  // Ten tasks for each thread: the end of a trial, when some threads wait, is a small part of it.
  const int64_t tasks = int64_t(10) * ck_context_threads(ctx);
  double best = 0;
  const double end = secondsNow() + (seconds > 0 ? seconds : 0.1);
  do {
    const double elapsed = timeTasks(ctx, tasks, [=](int64_t) { multiplyAdd(); });
    best = std::max(best, 2.0 * lanes * kChains * kSteps * double(tasks) / elapsed * 1e-9);
  } while (secondsNow() < end);
  return best;
}

double ck_measure_read(ck_context *ctx, const void *data, size_t bytes, int passes) {
  const auto read = ck_context_isa(ctx) >= CK_ISA_AVX512 ? readAvx512 : readScalar;
  std::atomic<uint64_t> sum{0};
  double best = 0;
  for (int pass = 0; pass < std::max(1, passes); ++pass) {
    const double elapsed = timeTasks(ctx, int64_t((bytes + kChunk - 1) / kChunk), [&](int64_t i) {
      const size_t begin = size_t(i) * kChunk;
      sum.fetch_add(read(static_cast<const char *>(data) + begin, std::min(kChunk, bytes - begin)),
                    std::memory_order_relaxed);
    });
    best = std::max(best, double(bytes) / elapsed * 1e-9);
  }
  return best;
}

double ck_measure_read_bandwidth(ck_context *ctx, size_t bytes) {
  if (bytes == 0)
    bytes = size_t(1) << 30;
  Memory buffer;
  if (!buffer.allocate(bytes)) {
    ck_fail(ctx, CK_OUT_OF_MEMORY, "no memory for %zu bytes to read", bytes);
    return 0;
  }
  // Untouched pages would all be the one zero page.
  timeTasks(ctx, int64_t((bytes + kChunk - 1) / kChunk), [&](int64_t i) {
    const size_t begin = size_t(i) * kChunk;
    std::memset(buffer.data() + begin, 1, std::min(kChunk, bytes - begin));
  });
  return ck_measure_read(ctx, buffer.data(), bytes, 3);
}
