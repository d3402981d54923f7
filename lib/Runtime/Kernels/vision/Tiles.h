//===- Tiles.h - the order of tokens that a merger wants --------*- C++ -*-===//
//
// Cells of a grid in tiles of merge by merge: tiles row by row, and in each its cells row by row. Tiles at the right
// and at the lower edge may be cut.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_RUNTIME_KERNELS_VISION_TILES_H
#define CK_LIB_RUNTIME_KERNELS_VISION_TILES_H

#include "KernelSupport.h"

namespace ck {

struct TileGrid {
  int64_t height, width, merge;

  int64_t cells() const { return height * width; }

  /// The place of cell (y, x) in tile order.
  int64_t index(int64_t y, int64_t x) const {
    const int64_t tileY = y / merge, tileX = x / merge;
    const int64_t tileHeight = std::min(merge, height - tileY * merge);
    const int64_t tileWidth = std::min(merge, width - tileX * merge);
    return tileY * merge * width + tileHeight * tileX * merge + y % merge * tileWidth + x % merge;
  }

  /// Calls body(k, y, x, thread) for every cell, k being its place in tile order; a cell costs `work` elements.
  template <typename Body> void overCells(ck_context *ctx, int64_t work, Body body) const {
    parallelRange(ctx, cells(), rowsPerTask(work), [&](int64_t begin, int64_t end, int thread) {
      for (int64_t cell = begin; cell < end; ++cell)
        body(index(cell / width, cell % width), cell / width, cell % width, thread);
    });
  }
};

/// Refuses grids without tiles, and tokens that are not those of the grid.
inline int32_t checkGrid(ck_context *ctx, const TileGrid &grid, int64_t tokens) {
  if (grid.height < 0 || grid.width < 0 || grid.merge < 1)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "a grid of %lld by %lld in tiles of %lld is none",
                   static_cast<long long>(grid.height), static_cast<long long>(grid.width),
                   static_cast<long long>(grid.merge));
  if (grid.cells() != tokens)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "there are %lld tokens for a grid of %lld by %lld",
                   static_cast<long long>(tokens), static_cast<long long>(grid.height),
                   static_cast<long long>(grid.width));
  return CK_OK;
}

} // namespace ck

#endif // CK_LIB_RUNTIME_KERNELS_VISION_TILES_H
