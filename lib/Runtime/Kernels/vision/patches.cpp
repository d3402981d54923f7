//===- patches.cpp - images to patches, patches to tokens -----------------===//
//
// Data movement, and two sums.
//
//===----------------------------------------------------------------------===//
#include "vision/Tiles.h"

using namespace ck;

CK_PORTABLE_KERNEL(im2patch) {
  const int64_t C = args->C, A = args->A, B = args->B, P = args->patch, F = args->F;
  if (P < 1)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "patch is %lld, expected at least 1", static_cast<long long>(P));
  const int64_t wide = B / P;
  parallelRange(ctx, args->N, rowsPerTask(F), [&](int64_t begin, int64_t end, int) {
    for (int64_t n = begin; n < end; ++n) {
      const float *corner = args->image + n / wide * P * B + n % wide * P;
      for (int64_t c = 0; c < C; ++c)
        for (int64_t i = 0; i < P; ++i)
          copyElements(args->patches + n * F + (c * P + i) * P, corner + (c * A + i) * B, P);
    }
  });
  return CK_OK;
}

CK_PORTABLE_KERNEL(spatial_merge_2x2) {
  const int64_t E = args->E, width = args->grid_w, wide = width / 2;
  if (const int32_t status = checkGrid(ctx, {args->grid_h, width, 2}, args->T))
    return status;
  parallelRange(ctx, args->N, rowsPerTask(4 * E), [&](int64_t begin, int64_t end, int) {
    for (int64_t n = begin; n < end; ++n)
      for (int64_t dy = 0; dy < 2; ++dy) { // two neighbours lie side by side
        const int64_t from = (n / wide * 2 + dy) * width + n % wide * 2;
        copyElements(args->output + (4 * n + 2 * dy) * E, args->x + from * E, 2 * E);
      }
  });
  return CK_OK;
}

CK_PORTABLE_KERNEL(spatial_merge_contiguous_tiled) {
  const int64_t width = args->F;
  parallelRange(ctx, args->N, rowsPerTask(width), [&](int64_t begin, int64_t end, int) {
    copyElements(args->output + begin * width, args->x + begin * width, (end - begin) * width);
  });
  return CK_OK;
}

CK_PORTABLE_KERNEL(spatial_average_pool_contiguous) {
  const int64_t E = args->E, width = args->grid_w, m = args->merge_size;
  if (const int32_t status = checkGrid(ctx, {args->grid_h, width, m}, args->T))
    return status;
  const int64_t wide = width / m;
  const float scale = 1.0f / static_cast<float>(m * m);
  parallelRange(ctx, args->N, rowsPerTask(m * m * E), [&](int64_t begin, int64_t end, int) {
    for (int64_t n = begin; n < end; ++n) {
      float *to = args->output + n * E;
      std::fill_n(to, E, 0.0f);
      for (int64_t i = 0; i < m * m; ++i) {
        const float *from = args->x + ((n / wide * m + i / m) * width + n % wide * m + i % m) * E;
        for (int64_t e = 0; e < E; ++e)
          to[e] += from[e];
      }
      for (int64_t e = 0; e < E; ++e)
        to[e] *= scale;
    }
  });
  return CK_OK;
}

CK_PORTABLE_KERNEL(add_stream_reorder_2d) {
  const TileGrid grid = {args->grid_h, args->grid_w, args->merge_size};
  if (const int32_t status = checkGrid(ctx, grid, args->T))
    return status;
  const int64_t E = args->E;
  grid.overCells(ctx, E, [&](int64_t k, int64_t y, int64_t x, int) {
    const int64_t from = (y * grid.width + x) * E;
    for (int64_t e = 0; e < E; ++e)
      args->output[k * E + e] = args->a[from + e] + args->b[from + e];
  });
  return CK_OK;
}

CK_PORTABLE_KERNEL(feature_concat) {
  const int64_t T = args->T, C = args->C, N = args->N, J = args->J, W = args->W;
  parallelRange(ctx, T, rowsPerTask(W), [&](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t) {
      copyElements(args->output + t * W, args->main + t * C, C);
      for (int64_t n = 0; n < N; ++n)
        copyElements(args->output + t * W + C + n * J, args->branch + (n * T + t) * J, J);
    }
  });
  return CK_OK;
}

CK_PORTABLE_KERNEL(feature_slice_copy) {
  const int64_t C = args->C, offset = args->offset;
  if (offset < 0 || offset + C > args->J)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "columns [%lld, %lld) lie outside the %lld of the matrix",
                   static_cast<long long>(offset), static_cast<long long>(offset + C), static_cast<long long>(args->J));
  parallelRange(ctx, args->T, rowsPerTask(C), [&](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t)
      copyElements(args->dst + t * args->dst_stride0 + offset, args->src + t * C, C);
  });
  return CK_OK;
}
