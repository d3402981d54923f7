//===- GemmSmall.h - products with few rows of A ----------------*- C++ -*-===//
//
// With few rows the product is bound by reading B once, and packing would cost more than it saves. Where K is
// contiguous in A and B, vectors run along K; rows of B stream side by side, or one by one for a single row of A, which
// has no use for loading A less often. Where the columns of B are contiguous, vectors run along the columns and a strip
// of C collects one group of rows of B after the other.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMSMALL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMSMALL_H
#undef CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMSMALL_H
#else
#define CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMSMALL_H
#endif

#include "linear/GemmEpilogue.h"
#include "linear/GemmStorage.h"
#include "linear/Stream.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

/// Rows of A in a tile of dot products, and most rows for which dot products are the faster way.
#if HWY_TARGET == HWY_AVX3
inline constexpr int kDotRows = 6;
inline constexpr int64_t kDotMaxM = 12;
#else
inline constexpr int kDotRows = 3;
inline constexpr int64_t kDotMaxM = 6;
#endif
/// Rows of B side by side.
inline constexpr int kDotCols = 4;
/// Columns that a task of dot products finishes at a time.
inline constexpr int64_t kDotStrip = 64;

/// Rows of A that share one pass over a strip of contiguous columns of B.
inline constexpr int kStripRows = 4;
inline constexpr int64_t kStripMaxM = 8, kStripCols = 512;

/// The sums of the lanes of v0..v3, stored side by side.
HWY_INLINE void storeSums(F32 v0, F32 v1, F32 v2, F32 v3, float *to) {
#if HWY_TARGET == HWY_SCALAR
  store(v0, to);
  store(v1, to + 1);
  store(v2, to + 2);
  store(v3, to + 3);
#else
  const F32Tag d;
  const hn::Repartition<double, F32Tag> wide;
  const auto v01 = hn::BitCast(wide, hn::InterleaveLower(d, v0, v1) + hn::InterleaveUpper(d, v0, v1));
  const auto v23 = hn::BitCast(wide, hn::InterleaveLower(d, v2, v3) + hn::InterleaveUpper(d, v2, v3));
  const F32 quads =
      hn::BitCast(d, hn::InterleaveLower(wide, v01, v23)) + hn::BitCast(d, hn::InterleaveUpper(wide, v01, v23));
  const hn::Half<F32Tag> half;
  const auto folded = hn::LowerHalf(half, quads) + hn::UpperHalf(half, quads);
#if HWY_TARGET == HWY_AVX3
  const hn::Half<decltype(half)> quarter;
  hn::StoreU(hn::LowerHalf(quarter, folded) + hn::UpperHalf(quarter, folded), quarter, to);
#else
  hn::StoreU(folded, half, to);
#endif
#endif
}

/// MT rows of A by kDotCols rows of B: to[i * stride + j] = a_i . b_j. `ahead` leads from a row of B to one that is
/// wanted soon; 0 = none.
template <class Storage, int MT>
HWY_NOINLINE void dotTile(const float *a, int64_t strideM, const typename Storage::Pointer *b, int64_t ahead, int64_t k,
                          float *to, int64_t stride) {
  F32 sum[MT][kDotCols];
#pragma GCC unroll 16
  for (int i = 0; i < MT; ++i)
#pragma GCC unroll 16
    for (int j = 0; j < kDotCols; ++j)
      sum[i][j] = zero();

  int64_t at = 0;
  for (; at + kLanes <= k; at += kLanes) {
    F32 row[MT];
#pragma GCC unroll 16
    for (int i = 0; i < MT; ++i)
      row[i] = load(a + i * strideM + at);
#pragma GCC unroll 16
    for (int j = 0; j < kDotCols; ++j) {
      const F32 weight = Storage::widen(b[j] + at);
      if (ahead)
        __builtin_prefetch(Storage::address(b[j] + (ahead + at)), 0, 2);
#pragma GCC unroll 16
      for (int i = 0; i < MT; ++i)
        sum[i][j] = fma(row[i], weight, sum[i][j]);
    }
  }
  if (at < k) {
    const int64_t n = k - at;
    F32 row[MT];
#pragma GCC unroll 16
    for (int i = 0; i < MT; ++i)
      row[i] = loadN(a + i * strideM + at, n);
#pragma GCC unroll 16
    for (int j = 0; j < kDotCols; ++j) {
      const F32 weight = Storage::widenN(b[j] + at, n);
#pragma GCC unroll 16
      for (int i = 0; i < MT; ++i)
        sum[i][j] = fma(row[i], weight, sum[i][j]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < MT; ++i)
    storeSums(sum[i][0], sum[i][1], sum[i][2], sum[i][3], to + i * stride);
}

/// One row of A by kDotCols rows of B, one after the other as they lie in memory: to[j] = a . b_j. Eight steps of K run
/// side by side.
template <class Storage>
HWY_NOINLINE void dotRow(const float *a, int64_t, const typename Storage::Pointer *b, int64_t, int64_t k, float *to,
                         int64_t) {
  constexpr int kSteps = 8;
  F32 sums[kDotCols];
#pragma GCC unroll 1
  for (int j = 0; j < kDotCols; ++j) {
    F32 sum[kSteps];
#pragma GCC unroll 16
    for (int s = 0; s < kSteps; ++s)
      sum[s] = zero();
    int64_t at = 0;
    for (; at + kSteps * kLanes <= k; at += kSteps * kLanes)
#pragma GCC unroll 16
      for (int s = 0; s < kSteps; ++s) {
        const auto from = b[j] + (at + s * kLanes);
        if (s * kLanes % Storage::kPerLine == 0)
          prefetchStream(Storage::address(from));
        sum[s] = fma(load(a + at + s * kLanes), Storage::widen(from), sum[s]);
      }
    for (; at < k; at += kLanes) {
      const int64_t n = std::min(kLanes, k - at);
      sum[0] = fma(loadN(a + at, n), Storage::widenN(b[j] + at, n), sum[0]);
    }
#pragma GCC unroll 16
    for (int s = kSteps / 2; s > 0; s /= 2)
#pragma GCC unroll 16
      for (int i = 0; i < s; ++i)
        sum[i] = sum[i] + sum[i + s];
    sums[j] = sum[0];
  }
  storeSums(sums[0], sums[1], sums[2], sums[3], to);
}

template <class Storage>
using DotTile = void (*)(const float *, int64_t, const typename Storage::Pointer *, int64_t, int64_t, float *, int64_t);

template <class Storage> DotTile<Storage> dotTileOf(int64_t rows) {
  switch (rows) {
  case 1:
    return dotRow<Storage>;
  case 2:
    return dotTile<Storage, 2>;
#if HWY_TARGET == HWY_AVX3
  case 3:
    return dotTile<Storage, 3>;
  case 4:
    return dotTile<Storage, 4>;
  case 5:
    return dotTile<Storage, 5>;
#endif
  default:
    return dotTile<Storage, kDotRows>;
  }
}

/// Columns [begin, end) of a target by dot products.
template <class Storage>
void dotColumns(const GemmProblem &problem, const GemmTarget &target, int64_t begin, int64_t end) {
  float sums[kDotMaxM * kDotStrip];
  const auto b = Storage::at(target.b);
  for (int64_t strip = begin; strip < end; strip += kDotStrip) {
    const int64_t cols = std::min(kDotStrip, end - strip);
    for (int64_t j = 0; j < cols; j += kDotCols) {
      typename Storage::Pointer rows[kDotCols];
      for (int64_t c = 0; c < kDotCols; ++c) // a short rest repeats the last row
        rows[c] = b + (strip + std::min(j + c, cols - 1)) * target.bN.stride;
      const int64_t ahead = strip + j + kDotCols < target.n ? kDotCols * target.bN.stride : 0;
      for (int64_t m = 0; m < problem.m; m += kDotRows) {
        const int64_t count = std::min<int64_t>(kDotRows, problem.m - m);
        dotTileOf<Storage>(count)(problem.a + m * problem.aM.stride, problem.aM.stride, rows, m ? 0 : ahead, problem.k,
                                  sums + m * kDotStrip + j, kDotStrip);
      }
    }
    finish(problem, target, {sums, kDotStrip, 0, strip, problem.m, cols});
  }
}

/// sums[i, 0..cols) += the products of `rows` steps of K (at most 4) with the same steps of MT rows of A.
template <class Storage, int MT>
HWY_NOINLINE void addSteps(const float *a, int64_t strideM, int64_t strideK, int64_t steps, typename Storage::Pointer b,
                           int64_t bStrideK, int64_t cols, float *sums) {
  constexpr int kSteps = 4;
  if (steps == kSteps) {
    F32 factor[MT][kSteps];
#pragma GCC unroll 16
    for (int i = 0; i < MT; ++i)
#pragma GCC unroll 16
      for (int s = 0; s < kSteps; ++s)
        factor[i][s] = set(a[i * strideM + s * strideK]);
    int64_t j = 0;
    for (; j + kLanes <= cols; j += kLanes) {
      F32 weight[kSteps];
#pragma GCC unroll 16
      for (int s = 0; s < kSteps; ++s)
        weight[s] = Storage::widen(b + s * bStrideK + j);
#pragma GCC unroll 16
      for (int i = 0; i < MT; ++i) {
        F32 sum = load(sums + i * kStripCols + j);
#pragma GCC unroll 16
        for (int s = 0; s < kSteps; ++s)
          sum = fma(factor[i][s], weight[s], sum);
        store(sum, sums + i * kStripCols + j);
      }
    }
    b = b + j, sums += j, cols -= j;
  }
  for (int64_t s = 0; s < steps; ++s)
    for (int i = 0; i < MT; ++i)
      for (int64_t j = 0; j < cols; j += kLanes) {
        const int64_t n = std::min(kLanes, cols - j);
        float *at = sums + i * kStripCols + j;
        storeN(fma(set(a[i * strideM + s * strideK]), Storage::widenN(b + s * bStrideK + j, n), loadN(at, n)), at, n);
      }
}

/// Columns [begin, end) of a target whose columns are contiguous; end - begin <= kStripCols.
template <class Storage>
void stripColumns(const GemmProblem &problem, const GemmTarget &target, int64_t begin, int64_t end) {
  HWY_ALIGN float sums[kStripRows * kStripCols];
  const int64_t cols = end - begin;
  for (int64_t m = 0; m < problem.m; m += kStripRows) {
    const int64_t rows = std::min<int64_t>(kStripRows, problem.m - m);
    const auto add = rows == 1   ? addSteps<Storage, 1>
                     : rows == 2 ? addSteps<Storage, 2>
                     : rows == 3 ? addSteps<Storage, 3>
                                 : addSteps<Storage, 4>;
    std::fill(sums, sums + rows * kStripCols, 0.0f);
    for (int64_t k = 0; k < problem.k; k += 4)
      add(problem.a + m * problem.aM.stride + k * problem.aK.stride, problem.aM.stride, problem.aK.stride,
          std::min<int64_t>(4, problem.k - k), Storage::at(target.b) + k * target.bK.stride + begin, target.bK.stride,
          cols, sums);
    finish(problem, target, {sums, kStripCols, m, begin, rows, cols});
  }
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMSMALL_H
