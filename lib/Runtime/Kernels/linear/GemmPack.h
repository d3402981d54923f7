//===- GemmPack.h - panels of A and blocks of B -----------------*- C++ -*-===//
//
// A is packed once per product: block of K by block of K, in each the panels one behind the other, in each panel the
// steps of K, each a full set of vectors of rows; rows behind the last are zeros. A block of B is unpacked where the
// tile kernel cannot read it in place: by another storage type, or because its columns are contiguous.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMPACK_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMPACK_H
#undef CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMPACK_H
#else
#define CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMPACK_H
#endif

#include "KernelSupport.h"
#include "linear/GemmStorage.h"
#include "linear/GemmTile.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

/// The rows of A in panels: full ones of kPanelRows, then for a short rest some of a single vector.
struct Panels {
  explicit Panels(int64_t m) {
    full = m / kPanelRows;
    const int64_t rest = m - full * kPanelRows;
    if (rest > (kTileVectors - 1) * kLanes)
      ++full;
    else
      narrow = ceilDiv(rest, kLanes);
  }
  int64_t count() const { return full + narrow; }
  bool isFull(int64_t panel) const { return panel < full; }
  int64_t width(int64_t panel) const { return isFull(panel) ? kPanelRows : kLanes; }
  /// First row; also the sum of the widths before it.
  int64_t begin(int64_t panel) const {
    return std::min(panel, full) * kPanelRows + std::max<int64_t>(0, panel - full) * kLanes;
  }
  int64_t paddedRows() const { return begin(count()); }

  int64_t full = 0, narrow = 0;
};

/// Where the part of a panel that belongs to the block of K at k0 (`depth` steps) starts in the packed A.
inline int64_t packedOffset(const Panels &panels, int64_t panel, int64_t k0, int64_t depth) {
  return k0 * panels.paddedRows() + panels.begin(panel) * depth;
}

/// Rows [0, rows) by steps [0, depth) of A side by side in `to`; zeros in the rows behind, up to kLanes.
HWY_INLINE void copyRows(const float *a, int64_t strideM, int64_t strideK, int64_t rows, int64_t depth, float *to,
                         int64_t stride) {
  for (int64_t m = 0; m < kLanes; ++m, to += stride)
    if (m >= rows)
      std::fill(to, to + depth, 0.0f);
    else if (strideK == 1)
      for (int64_t k = 0; k < depth; k += kLanes)
        storeN(loadN(a + m * strideM + k, std::min(kLanes, depth - k)), to + k, std::min(kLanes, depth - k));
    else
      for (int64_t k = 0; k < depth; ++k)
        to[k] = a[m * strideM + k * strideK];
}

/// Packs `rows` rows by `depth` steps of A from `a`; `width` is the width of the panel.
inline void packPanel(const float *a, int64_t strideM, int64_t strideK, int64_t rows, int64_t width, int64_t depth,
                      float *to) {
  if (strideM == 1) {
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t i = 0; i < width; i += kLanes)
        store(loadN(a + k * strideK + i, std::clamp<int64_t>(rows - i, 0, kLanes)), to + k * width + i);
    return;
  }
  constexpr int64_t kSteps = 64;
  HWY_ALIGN float rowsHere[kLanes * kSteps];
  for (int64_t m = 0; m < width; m += kLanes)
    for (int64_t k = 0; k < depth; k += kSteps) {
      const int64_t steps = std::min(kSteps, depth - k);
      const float *from = a + m * strideM + k * strideK;
      int64_t stride = strideM;
      if (strideK != 1 || rows - m < kLanes) {
        copyRows(from, strideM, strideK, rows - m, steps, rowsHere, kSteps);
        from = rowsHere;
        stride = kSteps;
      }
      float *column = to + k * width + m;
      int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
      for (; i + 4 <= steps; i += 4, column += 4 * width) {
        F32 v0 = loadQuads(from + i, 4 * stride), v1 = loadQuads(from + stride + i, 4 * stride);
        F32 v2 = loadQuads(from + 2 * stride + i, 4 * stride), v3 = loadQuads(from + 3 * stride + i, 4 * stride);
        transposeQuads(v0, v1, v2, v3);
        store(v0, column);
        store(v1, column + width);
        store(v2, column + 2 * width);
        store(v3, column + 3 * width);
      }
#endif
      for (; i < steps; ++i, column += width)
        for (int64_t lane = 0; lane < kLanes; ++lane)
          column[lane] = from[lane * stride + i];
    }
}

/// Packs all of A over the team.
inline void packA(ck_context *ctx, const GemmProblem &problem, const Panels &panels) {
  parallelFor(ctx, panels.count(), [&](int64_t panel, int) HWY_ATTR {
    const int64_t m = panels.begin(panel), width = panels.width(panel);
    for (int64_t k = 0; k < problem.k; k += kGemmBlockK) {
      const int64_t depth = std::min(kGemmBlockK, problem.k - k);
      packPanel(problem.a + m * problem.aStrideM + k * problem.aStrideK, problem.aStrideM, problem.aStrideK,
                std::min(width, problem.m - m), width, depth, problem.packed + packedOffset(panels, panel, k, depth));
    }
  });
}

/// A block of B as the tile kernel reads it. The tile at column j starts at data + j * tileStride.
struct BlockB {
  const float *data;
  int64_t strideK; ///< 0: the width of the tile
  int64_t strideN, tileStride;
  bool inPlace;
};

/// The block of B at (k, n), unpacked into `scratch` unless it can be read in place. Tiles are those of tileWidth().
template <class Storage>
BlockB unpackB(const GemmTarget &target, int64_t k, int64_t depth, int64_t n, int64_t cols, float *scratch) {
  using Element = typename Storage::Element;
  const Element *b = static_cast<const Element *>(target.b) + k * target.strideK + n * target.strideN;
  if constexpr (Storage::kDirect)
    if (target.strideK == 1)
      return {b, 1, target.strideN, target.strideN, true};
  if (target.strideK == 1) {
    for (int64_t j = 0; j < cols; ++j) {
      const Element *row = b + j * target.strideN;
      float *to = scratch + j * depth;
      int64_t i = 0;
      for (; i + kLanes <= depth; i += kLanes)
        store(Storage::widen(row + i), to + i);
      if (i < depth)
        storeN(Storage::widenN(row + i, depth - i), to + i, depth - i);
    }
    return {scratch, 1, depth, depth, false};
  }
  // Step after step, so that each row of B is read once from end to end while its tiles fill side by side.
  constexpr int64_t kAhead = 8;
  for (int64_t i = 0; i < depth; ++i) {
    const Element *step = b + i * target.strideK;
    if (i + kAhead < depth)
      for (int64_t j = 0; j < cols; j += 64 / static_cast<int64_t>(sizeof(Element)))
        __builtin_prefetch(step + kAhead * target.strideK + j * target.strideN);
    for (int64_t j = 0, width; j < cols; j += width) {
      width = tileWidth(cols - j);
      float *to = scratch + j * depth + i * width;
      if (target.strideN == 1)
        for (int64_t c = 0; c < width; c += kLanes)
          storeN(Storage::widenN(step + j + c, std::min(kLanes, width - c)), to + c, std::min(kLanes, width - c));
      else
        for (int64_t c = 0; c < width; ++c)
          to[c] = Storage::widenOne(step[(j + c) * target.strideN]);
    }
  }
  return {scratch, 0, 1, depth, false};
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMPACK_H
