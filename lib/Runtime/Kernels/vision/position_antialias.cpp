//===- position_antialias.cpp - a table of positions resized to a grid ----===//
//
// A triangle over half-pixel centres, as wide as the coarser of table and grid: bilinear where the grid is finer, an
// average where it is coarser. Sums are fused, sample after sample, so that every instruction set gives the same bits.
//
//===----------------------------------------------------------------------===//
#include "vision/Tiles.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vision/position_antialias.cpp"
#include "hwy/foreach_target.h"

#include "Fused.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

/// The samples of a line of G that make cell i of n, and their weights.
struct Line {
  float inverse, centre;
  int64_t begin, end;

  Line(int64_t i, int64_t n, int64_t G) {
    const float ratio = static_cast<float>(n) / static_cast<float>(G), support = std::max(1.0f, 1.0f / ratio);
    inverse = 1.0f / support;
    centre = (static_cast<float>(i) + 0.5f) / ratio;
    begin = std::max<int64_t>(0, static_cast<int64_t>(centre - support + 0.5f));
    end = std::min<int64_t>(G, static_cast<int64_t>(centre + support + 0.5f));
  }
  float weight(int64_t s) const {
    return std::max(0.0f, 1.0f - std::fabs((static_cast<float>(s) - centre + 0.5f) * inverse));
  }
};

} // namespace

CK_KERNEL(position_embeddings_add_tiled_2d) {
  const TileGrid grid = {args->grid_h, args->grid_w, args->merge_size};
  const int64_t E = args->E, G = args->source_grid;
  if (const int32_t status = checkGrid(ctx, grid, args->T))
    return status;
  if (G < 1)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "source_grid is %lld, expected at least 1", static_cast<long long>(G));
  const bool same = G == grid.height && G == grid.width;
  grid.overCells(ctx, 8 * E, [&](int64_t k, int64_t y, int64_t x, int thread) HWY_ATTR {
    float *sum = static_cast<float *>(ck_thread_scratch(ctx, thread)), total = same ? 1.0f : 0.0f;
    if (same) {
      copyElements(sum, args->table + (y * G + x) * E, E);
    } else {
      std::fill_n(sum, E, 0.0f);
      const Line down(y, grid.height, G), across(x, grid.width, G);
      for (int64_t sy = down.begin; sy < down.end; ++sy)
        for (int64_t sx = across.begin; sx < across.end; ++sx) {
          const float weight = down.weight(sy) * across.weight(sx);
          if (weight <= 0)
            continue;
          total += weight;
          const float *sample = args->table + (sy * G + sx) * E;
          for (int64_t e = 0; e < E; e += kLanes) {
            const int64_t n = std::min(kLanes, E - e);
            storeN(fused(loadN(sample + e, n), set(weight), loadN(sum + e, n)), sum + e, n);
          }
        }
    }
    for (int64_t e = 0; e < E; ++e) {
      const float token = args->x[k * E + e];
      args->y[k * E + e] = total > 0 ? token + (same ? sum[e] : sum[e] / total) : token;
    }
  });
  return CK_OK;
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
