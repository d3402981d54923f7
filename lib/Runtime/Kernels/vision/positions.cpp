//===- positions.cpp - positions of text and of images --------------------===//
//
// Integers for rotary positions along several axes, and features of an image put in the place of tokens.
//
//===----------------------------------------------------------------------===//
#include "vision/Tiles.h"

using namespace ck;

CK_PORTABLE_KERNEL(vision_position_ids_2d_merge) {
  const TileGrid grid = {args->grid_h, args->grid_w, args->merge_size};
  const int64_t T = args->T;
  if (const int32_t status = checkGrid(ctx, grid, T))
    return status;
  grid.overCells(ctx, 4, [&](int64_t k, int64_t y, int64_t x, int) {
    for (int64_t stream = 0; stream < 4; ++stream)
      args->positions[stream * T + k] = static_cast<int32_t>(stream % 2 == 0 ? y : x);
  });
  return CK_OK;
}

CK_PORTABLE_KERNEL(multimodal_mrope_positions_2d) {
  const int64_t T = args->T, gx = args->grid_x, gy = args->grid_y;
  const int64_t start = args->prefix_start[0], base = args->position_base[0], text = args->text_pos[0];
  if (gx < 1 || gy < 1 || start < 0 || start + gx * gy > T)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "an image of %lld by %lld tokens from row %lld on is not within %lld rows",
                   static_cast<long long>(gy), static_cast<long long>(gx), static_cast<long long>(start),
                   static_cast<long long>(T));
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (base < start || base + gx + gy + T > kMost)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "position_base is %lld, expected at least the %lld rows before the image",
                   static_cast<long long>(base), static_cast<long long>(start));
  if (text < 0 || text + T > kMost)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "text_pos is %lld, expected a position, or 0 for the next one",
                   static_cast<long long>(text));
  const int64_t next = text > 0 ? text : base + std::max(gx, gy), end = start + gx * gy;
  for (int64_t t = 0; t < T; ++t) {
    const bool image = t >= start && t < end;
    const int64_t plain = t < start ? base - start + t : next + t - end, j = t - start;
    args->positions[t] = static_cast<int32_t>(image ? base : plain);
    args->positions[T + t] = static_cast<int32_t>(image ? base + j / gx : plain);
    args->positions[2 * T + t] = static_cast<int32_t>(image ? base + j % gx : plain);
    args->positions[3 * T + t] = 0;
  }
  args->next_position[0] = static_cast<int32_t>(next);
  return CK_OK;
}

CK_PORTABLE_KERNEL(multimodal_prefix_insert_f32) {
  const int64_t N = args->N, C = args->C, S = args->S, start = args->start[0];
  if (C > args->E)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "the source has %lld columns, but the rows have %lld",
                   static_cast<long long>(C), static_cast<long long>(args->E));
  if (start < 0 || start >= S)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "start is %lld, outside the %lld rows", static_cast<long long>(start),
                   static_cast<long long>(S));
  const int64_t count = std::min(N, S - start);
  parallelRange(ctx, count, rowsPerTask(C), [&](int64_t begin, int64_t end, int) {
    for (int64_t r = begin; r < end; ++r) {
      copyElements(args->rows + (start + r) * args->rows_stride0, args->source + r * args->source_stride0, C);
      args->tokens[start + r] = 0;
    }
  });
  args->count[0] = static_cast<int32_t>(count);
  return CK_OK;
}
