//===- position_embedding.cpp - learned positions added to tokens ---------===//
//
// Rows of a table, the sum of a row for x and one for y, or a square table stretched to the grid of an image so that
// corners meet corners. Results may lie in the tokens.
//
//===----------------------------------------------------------------------===//
#include "ck/Support/Half.h"
#include "vision/Tiles.h"

namespace {

using namespace ck;

/// y = x + table[row(t)].
template <typename Args, typename Row> void addRows(ck_context *ctx, const Args *args, Row row) {
  const int64_t E = args->E;
  parallelRange(ctx, args->T, rowsPerTask(E), [&](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t) {
      const float *from = args->table + row(t) * E;
      for (int64_t e = 0; e < E; ++e)
        args->y[t * E + e] = args->x[t * E + e] + from[e];
    }
  });
}

/// Where cell i of n lies on a line of G samples: the sample before it, the one behind, and the share of the latter.
struct Between {
  int64_t before, behind;
  float share;
  Between(float at, int64_t G)
      : before(static_cast<int64_t>(at)), behind(std::min(before + 1, G - 1)), share(at - static_cast<float>(before)) {}
};
float cornersSingle(int64_t i, int64_t n, int64_t G) {
  return n > 1 ? static_cast<float>(i * (G - 1)) / static_cast<float>(n - 1) : 0.0f;
}
float cornersDouble(int64_t i, int64_t n, int64_t G) {
  return n > 1 ? static_cast<float>(static_cast<double>(i * (G - 1)) / static_cast<double>(n - 1)) : 0.0f;
}

float rounded(float x) { return bf16ToFloat(floatToBF16(x)); }

/// How each form weighs and rounds: four weights from two shares, one interpolated element, and its sum with a token.
struct Plain {
  using Element = float;
  static constexpr auto coordinate = cornersSingle;
  static void weigh(float dy, float dx, float (&w)[4]) {
    w[0] = (1 - dy) * (1 - dx), w[1] = (1 - dy) * dx, w[2] = dy * (1 - dx), w[3] = dy * dx;
  }
  static float add(float x, const float (&p)[4], const float (&w)[4]) {
    return x + (p[0] * w[0] + p[1] * w[1] + p[2] * w[2] + p[3] * w[3]);
  }
  static float widen(float x) { return x; }
  static float narrow(float x) { return x; }
};
struct RoundedOnce {
  using Element = uint16_t;
  static constexpr auto coordinate = cornersSingle;
  static void weigh(float dy, float dx, float (&w)[4]) {
    const float down[2] = {1 - std::fabs(dy), 1 - std::fabs(dy - 1)};
    const float across[2] = {1 - std::fabs(dx), 1 - std::fabs(dx - 1)};
    for (int i = 0; i < 4; ++i)
      w[i] = down[i / 2] * across[i % 2];
  }
  static float add(float x, const float (&p)[4], const float (&w)[4]) {
    return x + rounded(p[0] * w[0] + p[1] * w[1] + p[2] * w[2] + p[3] * w[3]);
  }
  static float widen(uint16_t x) { return bf16ToFloat(x); }
  static uint16_t narrow(float x) { return floatToBF16(x); }
};
struct RoundedAlways : RoundedOnce {
  static constexpr auto coordinate = cornersDouble;
  static void weigh(float dy, float dx, float (&w)[4]) {
    Plain::weigh(dy, dx, w);
    for (float &weight : w)
      weight = rounded(weight);
  }
  static float add(float x, const float (&p)[4], const float (&w)[4]) {
    float sum = rounded(p[0] * w[0]);
    for (int i = 1; i < 4; ++i)
      sum = rounded(sum + rounded(p[i] * w[i]));
    return x + sum;
  }
};

template <typename Form, typename Args> int32_t alignCorners(ck_context *ctx, const Args *args) {
  const TileGrid grid = {args->grid_h, args->grid_w, args->merge_size};
  const int64_t E = args->E, G = args->source_grid;
  if (const int32_t status = checkGrid(ctx, grid, args->T))
    return status;
  if (G < 1)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "source_grid is %lld, expected at least 1", static_cast<long long>(G));
  grid.overCells(ctx, 8 * E, [&](int64_t k, int64_t y, int64_t x, int) {
    const Between down(Form::coordinate(y, grid.height, G), G), across(Form::coordinate(x, grid.width, G), G);
    float weights[4];
    Form::weigh(down.share, across.share, weights);
    const auto *first = args->table + down.before * G * E, *second = args->table + down.behind * G * E;
    const int64_t left = across.before * E, right = across.behind * E;
    for (int64_t e = 0; e < E; ++e) {
      const float corners[4] = {Form::widen(first[left + e]), Form::widen(first[right + e]),
                                Form::widen(second[left + e]), Form::widen(second[right + e])};
      args->y[k * E + e] = Form::narrow(Form::add(Form::widen(args->x[k * E + e]), corners, weights));
    }
  });
  return CK_OK;
}

} // namespace

CK_PORTABLE_KERNEL(position_embeddings_add) {
  if (args->T > args->P)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "there are %lld tokens, but positions for %lld",
                   static_cast<long long>(args->T), static_cast<long long>(args->P));
  addRows(ctx, args, [](int64_t t) { return t; });
  return CK_OK;
}

CK_PORTABLE_KERNEL(position_embeddings_add_at_offset) {
  if (const int64_t bad = firstOutside(args->pos, args->T, args->P); bad < args->T)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "pos[%lld] is %d, outside the table of %lld rows",
                   static_cast<long long>(bad), args->pos[bad], static_cast<long long>(args->P));
  addRows(ctx, args, [&](int64_t t) { return static_cast<int64_t>(args->pos[t]); });
  return CK_OK;
}

CK_PORTABLE_KERNEL(position_embeddings_add_gemma4v_xy) {
  const TileGrid grid = {args->grid_h, args->grid_w, 1};
  const int64_t E = args->E, G = args->G;
  if (const int32_t status = checkGrid(ctx, grid, args->T))
    return status;
  if (args->T > 0 && G < 1)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "the tables have no rows");
  grid.overCells(ctx, 2 * E, [&](int64_t k, int64_t y, int64_t x, int) {
    const float *forX = args->table + std::min(x, G - 1) * E, *forY = args->table + (G + std::min(y, G - 1)) * E;
    for (int64_t e = 0; e < E; ++e)
      args->y[k * E + e] = args->x[k * E + e] + (forX[e] + forY[e]);
  });
  return CK_OK;
}

CK_PORTABLE_KERNEL(position_embeddings_add_tiled_2d_align_corners) { return alignCorners<Plain>(ctx, args); }
CK_PORTABLE_KERNEL(position_embeddings_add_tiled_2d_align_corners_fp32_interp_bf16) {
  return alignCorners<RoundedOnce>(ctx, args);
}
CK_PORTABLE_KERNEL(position_embeddings_add_tiled_2d_align_corners_bf16) {
  return alignCorners<RoundedAlways>(ctx, args);
}
