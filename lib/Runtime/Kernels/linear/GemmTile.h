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

/// Which index of C the lanes of a tile run along. The other one is that of the operand whose elements are broadcast.
enum class Lanes { Rows, Columns };

/// One tile over one block of K.
struct Tile {
  const GemmProblem *problem;
  const GemmTarget *target;
  int64_t m, n;   ///< first element of C
  int64_t lanes;  ///< rows or columns of C in the panel, at most its width
  const float *a; ///< panel: k steps of a full set of vectors
  const float *b; ///< element j of step k is b[k * bStrideK + j * bStrideN]
  int64_t bStrideK, bStrideN;
  int64_t k;
  float *partial; ///< sums over earlier blocks of K
  bool first, last;
  const float *next; ///< the tile of B that is wanted after this one, or null
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

template <Lanes kLanesAlong, int VR, int NR> HWY_NOINLINE void computeTile(const Tile &tile) {
  constexpr int64_t kLine = 16; // steps of K per cache line of a row of B
  F32 sum[NR][VR];
#pragma GCC unroll 16
  for (int j = 0; j < NR; ++j)
#pragma GCC unroll 16
    for (int v = 0; v < VR; ++v)
      sum[j][v] = zero();

  // Three columns per pointer, and no pointer known to follow from another: compilers would else keep one per column,
  // more than there are registers, or compute each from the last, which chains the steps.
  constexpr int kPointers = (NR + 2) / 3;
  const int64_t strideK = tile.bStrideK, strideN = tile.bStrideN;
  const float *a = tile.a, *b[kPointers];
#pragma GCC unroll 16
  for (int p = 0; p < kPointers; ++p)
    b[p] = tile.b + 3 * p * strideN;
  for (int64_t begin = 0; begin < tile.k; begin += kLine) {
    if (tile.next)
      for (int64_t j = 0; j < NR; ++j)
        __builtin_prefetch(tile.next + j * strideN + begin);
    const int64_t steps = std::min(kLine, tile.k - begin);
#pragma GCC unroll 1
    for (int64_t k = 0; k < steps; ++k) {
      F32 column[VR];
#pragma GCC unroll 16
      for (int v = 0; v < VR; ++v)
        column[v] = load(a + v * kLanes);
#pragma GCC unroll 16
      for (int j = 0; j < NR; ++j) {
        const F32 element = set(b[j / 3][j % 3 * strideN]);
#pragma GCC unroll 16
        for (int v = 0; v < VR; ++v)
          sum[j][v] = fma(column[v], element, sum[j][v]);
      }
      a += VR * kLanes;
#pragma GCC unroll 16
      for (int p = 0; p < kPointers; ++p) {
        b[p] += strideK;
        asm("" : "+r"(b[p]));
      }
    }
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

template <Lanes kLanesAlong, int VR> ComputeTile tileKernelOf(int64_t width) {
  if (width == kTileCols)
    return computeTile<kLanesAlong, VR, kTileCols>;
  if constexpr (kTileCols > 8)
    if (width == 8)
      return computeTile<kLanesAlong, VR, 8>;
  if constexpr (kTileCols > 4)
    if (width == 4)
      return computeTile<kLanesAlong, VR, 4>;
  if constexpr (kTileCols > 2)
    if (width == 2)
      return computeTile<kLanesAlong, VR, 2>;
  return computeTile<kLanesAlong, VR, 1>;
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMTILE_H
