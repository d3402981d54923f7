//===- GemmTile.h - the micro-kernel ----------------------------*- C++ -*-===//
//
// A tile of C is VR vectors along one of its axes by NR indices of the other, held in registers: vectors of a packed
// panel of one operand times broadcast elements of the other. In a linear layer the weight lies with K contiguous, so
// that broadcasting from it needs no packing at all: lanes are rows of C, and the transposition is left to A, which is
// packed once, and to the finished tile. Where columns of B are contiguous, lanes are columns of C and nothing is
// transposed.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMTILE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMTILE_H
#undef CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMTILE_H
#else
#define CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMTILE_H
#endif

#include "linear/GemmEpilogue.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

// Shapes that fill the registers: 32 x 12 of 32 registers, 16 x 6 of 16.
#if HWY_TARGET == HWY_AVX3
inline constexpr int kTileVectors = 2, kTileCols = 12;
#elif HWY_TARGET == HWY_AVX2
inline constexpr int kTileVectors = 2, kTileCols = 6;
#else
inline constexpr int kTileVectors = 4, kTileCols = 2;
#endif
inline constexpr int64_t kPanelRows = kTileVectors * kLanes;
/// Steps of K between two looks ahead.
inline constexpr int64_t kChunk = 16;

/// Which index of C the lanes of a tile run along. The other one is that of the operand whose elements are broadcast.
enum class Lanes { Rows, Columns };

/// Rows of memory that will be wanted soon: tiles ask for a few lines of them at a time while they compute, so that no
/// burst of requests blocks the way to the cache.
struct Ahead {
  const char *row = nullptr;
  int64_t stride = 0, rows = 0; ///< bytes from row to row, rows left
  int64_t lines = 0, line = 0;  ///< cache lines of a row, and the next one
  int64_t perChunk = 0;         ///< lines to ask for with each chunk of steps

  HWY_INLINE void ask() {
    for (int64_t i = 0; i < perChunk && rows > 0; ++i) {
      __builtin_prefetch(row + line * 64, 0, 2);
      if (++line == lines) {
        line = 0;
        row += stride;
        --rows;
      }
    }
  }
};

/// One tile over one block of K.
struct Tile {
  const GemmProblem *problem;
  const GemmTarget *target;
  int64_t m, n;   ///< first element of C
  int64_t lanes;  ///< rows or columns of C in the panel, at most its width
  const float *a; ///< panel: k steps of a full set of vectors
  const float *b; ///< element j of step k is b[k + j * bStrideN], or b[k * NR + j] if lines follow each other
  int64_t bStrideN;
  int64_t k;
  float *partial; ///< sums over earlier blocks of K
  bool first, last;
  Ahead *ahead; ///< one for each operand
  bool stream;  ///< whole tiles go past the caches
};

/// Finishes a tile: straight into C where it is whole and nothing but a bias is asked, else by finish().
template <Lanes kLanesAlong, int VR, int NR> HWY_INLINE void storeTile(const Tile &tile, F32 (&sum)[NR][VR]) {
  const GemmProblem &problem = *tile.problem;
  const GemmTarget &target = *tile.target;
  constexpr int64_t kWidth = VR * kLanes;
  const bool whole = problem.activation == GemmActivation::None && tile.lanes == kWidth;
  if constexpr (kLanesAlong == Lanes::Columns) {
    if (whole && target.cN.run(tile.n, kWidth) == kWidth) {
      float *c = target.c + tile.m * target.strideM + target.cN.offset(tile.n);
#pragma GCC unroll 16
      for (int j = 0; j < NR; ++j, c += target.strideM)
#pragma GCC unroll 16
        for (int v = 0; v < VR; ++v) {
          F32 y = sum[j][v];
          if (target.bias)
            y = y + load(target.bias + tile.n + v * kLanes);
          if (tile.stream)
            hn::Stream(y, F32Tag(), c + v * kLanes);
          else
            store(problem.accumulate ? load(c + v * kLanes) + y : y, c + v * kLanes);
        }
      return;
    }
    HWY_ALIGN float rows[NR * kWidth];
#pragma GCC unroll 16
    for (int j = 0; j < NR; ++j)
#pragma GCC unroll 16
      for (int v = 0; v < VR; ++v)
        store(sum[j][v], rows + j * kWidth + v * kLanes);
    finish(problem, target, {rows, kWidth, tile.m, tile.n, NR, tile.lanes});
  } else {
    if (NR % 4 == 0 && whole && target.cN.run(tile.n, NR) == NR) {
      float *const c = target.c + tile.m * target.strideM + target.cN.offset(tile.n);
      if (target.bias)
#pragma GCC unroll 16
        for (int j = 0; j < NR; ++j)
#pragma GCC unroll 16
          for (int v = 0; v < VR; ++v)
            sum[j][v] = sum[j][v] + set(target.bias[tile.n + j]);
#pragma GCC unroll 16
      for (int v = 0; v < VR; ++v)
#pragma GCC unroll 16
        for (int j = 0; j + 4 <= NR; j += 4)
          storeTransposed(sum[j][v], sum[j + 1][v], sum[j + 2][v], sum[j + 3][v], c + v * kLanes * target.strideM + j,
                          target.strideM, problem.accumulate);
      return;
    }
    constexpr int kStride = (NR + 3) / 4 * 4, kLastCol = NR - 1;
    HWY_ALIGN float rows[kWidth * kStride];
#pragma GCC unroll 16
    for (int v = 0; v < VR; ++v)
#pragma GCC unroll 16
      for (int j = 0; j < NR; j += 4) // columns behind the last are padding
        storeTransposed(sum[j][v], sum[std::min(j + 1, kLastCol)][v], sum[std::min(j + 2, kLastCol)][v],
                        sum[std::min(j + 3, kLastCol)][v], rows + v * kLanes * kStride + j, kStride, false);
    finish(problem, target, {rows, kStride, tile.m, tile.n, tile.lanes, NR});
  }
}

/// How elements that are broadcast lie: step after step of each line, or line after line of each step.
enum class Order { Steps, Lines };

/// sum[j][v] += element j of each step times vector v of the panel.
template <Order kOrder, int VR, int NR>
HWY_INLINE void addChunk(const float *&a, const float *(&b)[(NR + 2) / 3], int64_t strideN, int64_t steps,
                         F32 (&sum)[NR][VR]) {
  constexpr int kPointers = (NR + 2) / 3;
  constexpr int64_t kStrideK = kOrder == Order::Steps ? 1 : NR;
  const auto addStep = [&](int64_t k) HWY_ATTR {
    F32 column[VR];
#pragma GCC unroll 16
    for (int v = 0; v < VR; ++v)
      column[v] = load(a + (k * VR + v) * kLanes);
#pragma GCC unroll 16
    for (int j = 0; j < NR; ++j) {
      const F32 element = set(kOrder == Order::Steps ? b[j / 3][k + j % 3 * strideN] : b[0][k * kStrideK + j]);
#pragma GCC unroll 16
      for (int v = 0; v < VR; ++v)
        sum[j][v] = fma(column[v], element, sum[j][v]);
    }
  };
  const auto advance = [&](int64_t count) HWY_ATTR {
    a += count * VR * kLanes;
#pragma GCC unroll 16
    for (int p = 0; p < (kOrder == Order::Steps ? kPointers : 1); ++p) {
      b[p] += count * kStrideK;
      asm("" : "+r"(b[p]));
    }
  };
  constexpr int kUnroll = 4;
#pragma GCC unroll 1
  for (; steps >= kUnroll; steps -= kUnroll) {
#pragma GCC unroll 16
    for (int k = 0; k < kUnroll; ++k)
      addStep(k);
    advance(kUnroll);
  }
#pragma GCC unroll 1
  for (; steps > 0; --steps) {
    addStep(0);
    advance(1);
  }
}

template <Lanes kLanesAlong, Order kOrder, int VR, int NR> HWY_NOINLINE void computeTile(const Tile &tile) {
  F32 sum[NR][VR];
#pragma GCC unroll 16
  for (int j = 0; j < NR; ++j)
#pragma GCC unroll 16
    for (int v = 0; v < VR; ++v)
      sum[j][v] = zero();

  // Three lines per pointer, and no pointer known to follow from another: compilers would else keep one per line, more
  // than there are registers, or compute each from the last, which chains the steps.
  const float *a = tile.a, *b[(NR + 2) / 3];
#pragma GCC unroll 16
  for (int p = 0; p < (NR + 2) / 3; ++p)
    b[p] = tile.b + 3 * p * tile.bStrideN;
  if (kLanesAlong == Lanes::Columns && tile.last && tile.problem->accumulate) {
    // Where C is not near, it arrives while the sums are made.
    const GemmTarget &target = *tile.target;
    const float *c = target.c + tile.m * target.strideM + target.cN.offset(tile.n);
    for (int j = 0; j < NR; ++j, c += target.strideM)
      for (int64_t i = 0; i < VR * kLanes; i += 16)
        __builtin_prefetch(c + i, 1);
  }
  for (int64_t begin = 0; begin < tile.k; begin += kChunk) {
    tile.ahead[0].ask();
    tile.ahead[1].ask();
    addChunk<kOrder, VR, NR>(a, b, tile.bStrideN, std::min(kChunk, tile.k - begin), sum);
  }

  if (!tile.first)
#pragma GCC unroll 16
    for (int j = 0; j < NR; ++j)
#pragma GCC unroll 16
      for (int v = 0; v < VR; ++v)
        sum[j][v] = load(tile.partial + (j * VR + v) * kLanes) + sum[j][v];
  if (!tile.last) {
#pragma GCC unroll 16
    for (int j = 0; j < NR; ++j)
#pragma GCC unroll 16
      for (int v = 0; v < VR; ++v)
        store(sum[j][v], tile.partial + (j * VR + v) * kLanes);
    return;
  }

  storeTile<kLanesAlong, VR, NR>(tile, sum);
}

using ComputeTile = void (*)(const Tile &);

/// Widths into which a block of columns is cut, greedily.
inline int64_t tileWidth(int64_t cols) {
  if (cols >= kTileCols)
    return kTileCols;
  return cols >= 8 ? 8 : cols >= 4 ? 4 : cols >= 2 ? 2 : 1;
}

template <Lanes kLanesAlong, Order kOrder, int VR> ComputeTile tileKernelOf(int64_t width) {
  if (width == kTileCols)
    return computeTile<kLanesAlong, kOrder, VR, kTileCols>;
  if constexpr (kTileCols > 8)
    if (width == 8)
      return computeTile<kLanesAlong, kOrder, VR, 8>;
  if constexpr (kTileCols > 4)
    if (width == 4)
      return computeTile<kLanesAlong, kOrder, VR, 4>;
  if constexpr (kTileCols > 2)
    if (width == 2)
      return computeTile<kLanesAlong, kOrder, VR, 2>;
  return computeTile<kLanesAlong, kOrder, VR, 1>;
}

/// The kernel for a panel of kTileVectors vectors, or of one, and a tile of `width` lines.
template <Lanes kLanesAlong> ComputeTile tileKernelOf(bool fullPanel, Order order, int64_t width) {
  if (order == Order::Steps)
    return fullPanel ? tileKernelOf<kLanesAlong, Order::Steps, kTileVectors>(width)
                     : tileKernelOf<kLanesAlong, Order::Steps, 1>(width);
  return fullPanel ? tileKernelOf<kLanesAlong, Order::Lines, kTileVectors>(width)
                   : tileKernelOf<kLanesAlong, Order::Lines, 1>(width);
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMTILE_H
