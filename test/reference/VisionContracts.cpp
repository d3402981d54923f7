//===- VisionContracts.cpp - exact references of the vision family --------===//
//
// One line for each rounding.
//
//===----------------------------------------------------------------------===//

#include "Contracts.h"

#include <algorithm>
#include <cmath>

namespace ck::reference {
namespace {

float at(const Tensor &tensor, int64_t i) { return static_cast<float>(tensor.data[i]); }

/// Calls body(k, y, x) for the cells of the grid in tile order, k from 0.
template <typename Body> void overTiles(const Call &call, Body body) {
  int64_t height = call.integer("grid_h"), width = call.integer("grid_w"), merge = call.integer("merge_size"), k = 0;
  for (int64_t y0 = 0; y0 < height; y0 += merge)
    for (int64_t x0 = 0; x0 < width; x0 += merge)
      for (int64_t dy = 0; dy < merge && y0 + dy < height; ++dy)
        for (int64_t dx = 0; dx < merge && x0 + dx < width; ++dx)
          body(k++, y0 + dy, x0 + dx);
}

/// Both tables are added before the token.
void positionXY(Call &call) {
  const Tensor &x = call.in("x"), &table = call.in("table");
  int64_t E = x.extent(1), G = table.extent(1);
  overTiles(call, [&](int64_t k, int64_t row, int64_t column) {
    for (int64_t e = 0; e < E; ++e) {
      const float sum = at(table, std::min(column, G - 1) * E + e) + at(table, (G + std::min(row, G - 1)) * E + e);
      call.out("y").data[k * E + e] = at(x, k * E + e) + sum;
    }
  });
}

struct Line {
  int64_t begin, end;
  float centre, inverse;

  /// The samples of a line of G under cell i of n.
  Line(int64_t i, int64_t n, int64_t G) {
    const float ratio = static_cast<float>(n) / static_cast<float>(G);
    const float support = std::max(1.0f, 1.0f / ratio);
    inverse = 1.0f / support;
    centre = (static_cast<float>(i) + 0.5f) / ratio;
    begin = std::max<int64_t>(0, static_cast<int64_t>(centre - support + 0.5f));
    end = std::min<int64_t>(G, static_cast<int64_t>(centre + support + 0.5f));
  }
  float weight(int64_t s) const {
    const float distance = static_cast<float>(s) - centre + 0.5f;
    return std::max(0.0f, 1.0f - std::fabs(distance * inverse));
  }
};

/// A triangle over half-pixel centres; fused sums over the samples, row after row, then one division.
void positionAntialias(Call &call) {
  const Tensor &x = call.in("x"), &table = call.in("table");
  int64_t E = x.extent(1), G = call.integer("source_grid"), height = call.integer("grid_h"),
          width = call.integer("grid_w");
  overTiles(call, [&](int64_t k, int64_t row, int64_t column) {
    const Line down(row, height, G), across(column, width, G);
    for (int64_t e = 0; e < E; ++e) {
      float value = 0, total = 0;
      for (int64_t sy = down.begin; sy < down.end; ++sy)
        for (int64_t sx = across.begin; sx < across.end; ++sx) {
          const float weight = down.weight(sy) * across.weight(sx);
          if (weight <= 0)
            continue;
          value = std::fma(at(table, (sy * G + sx) * E + e), weight, value);
          total += weight;
        }
      float result = at(x, k * E + e);
      if (height == G && width == G)
        result += at(table, (row * G + column) * E + e);
      else if (total > 0)
        result += value / total;
      call.out("y").data[k * E + e] = result;
    }
  });
}

/// The four neighbours of a cell where corners meet corners.
struct Corners {
  int64_t row[4];
  float dy, dx;

  template <typename Coordinate> Corners(const Call &call, int64_t y, int64_t x, Coordinate coordinate) {
    int64_t G = call.integer("source_grid");
    const float sy = coordinate(y, G, call.integer("grid_h")), sx = coordinate(x, G, call.integer("grid_w"));
    const auto y0 = static_cast<int64_t>(sy), x0 = static_cast<int64_t>(sx);
    const int64_t y1 = std::min(y0 + 1, G - 1), x1 = std::min(x0 + 1, G - 1);
    dy = sy - static_cast<float>(y0), dx = sx - static_cast<float>(x0);
    row[0] = y0 * G + x0, row[1] = y0 * G + x1, row[2] = y1 * G + x0, row[3] = y1 * G + x1;
  }
};

float inSingle(int64_t i, int64_t G, int64_t n) {
  return n > 1 ? static_cast<float>(i * (G - 1)) / static_cast<float>(n - 1) : 0;
}
float fromDouble(int64_t i, int64_t G, int64_t n) {
  return n > 1 ? static_cast<float>(static_cast<double>(i * (G - 1)) / static_cast<double>(n - 1)) : 0;
}

/// f32 throughout.
void positionCorners(Call &call) {
  const Tensor &x = call.in("x"), &table = call.in("table");
  int64_t E = x.extent(1);
  overTiles(call, [&](int64_t k, int64_t row, int64_t column) {
    const Corners c(call, row, column, inSingle);
    const float weights[4] = {(1 - c.dy) * (1 - c.dx), (1 - c.dy) * c.dx, c.dy * (1 - c.dx), c.dy * c.dx};
    for (int64_t e = 0; e < E; ++e) {
      float sum = at(table, c.row[0] * E + e) * weights[0];
      for (int i = 1; i < 4; ++i)
        sum += at(table, c.row[i] * E + e) * weights[i];
      call.out("y").data[k * E + e] = at(x, k * E + e) + sum;
    }
  });
}

/// Every weight, product and sum is rounded to bfloat16.
void positionCornersBF16(Call &call) {
  const Tensor &x = call.in("x"), &table = call.in("table");
  int64_t E = x.extent(1);
  overTiles(call, [&](int64_t k, int64_t row, int64_t column) {
    const Corners c(call, row, column, fromDouble);
    const float weights[4] = {roundBF16((1 - c.dy) * (1 - c.dx)), roundBF16((1 - c.dy) * c.dx),
                              roundBF16(c.dy * (1 - c.dx)), roundBF16(c.dy * c.dx)};
    for (int64_t e = 0; e < E; ++e) {
      float sum = roundBF16(at(table, c.row[0] * E + e) * weights[0]);
      for (int i = 1; i < 4; ++i) {
        const float product = roundBF16(at(table, c.row[i] * E + e) * weights[i]);
        sum = roundBF16(sum + product);
      }
      call.out("y").data[k * E + e] = roundBF16(at(x, k * E + e) + sum);
    }
  });
}

/// Interpolated in f32; the result and the sum with the token are rounded to bfloat16.
void positionCornersOnce(Call &call) {
  const Tensor &x = call.in("x"), &table = call.in("table");
  int64_t E = x.extent(1);
  overTiles(call, [&](int64_t k, int64_t row, int64_t column) {
    const Corners c(call, row, column, inSingle);
    const float down[2] = {1 - std::fabs(c.dy), 1 - std::fabs(c.dy - 1)};
    const float across[2] = {1 - std::fabs(c.dx), 1 - std::fabs(c.dx - 1)};
    for (int64_t e = 0; e < E; ++e) {
      float sum = 0;
      for (int i = 0; i < 4; ++i) {
        const float weight = down[i / 2] * across[i % 2];
        const float product = at(table, c.row[i] * E + e) * weight;
        sum = i == 0 ? product : sum + product;
      }
      call.out("y").data[k * E + e] = roundBF16(at(x, k * E + e) + roundBF16(sum));
    }
  });
}

/// A sum over the tile, row after row, times 1 / m^2.
void spatialAverage(Call &call) {
  const Tensor &x = call.in("x");
  Tensor &output = call.out("output");
  int64_t E = x.extent(1), width = call.integer("grid_w"), m = call.integer("merge_size");
  const float scale = 1.0f / static_cast<float>(m * m);
  for (int64_t n = 0; n < output.extent(0); ++n)
    for (int64_t e = 0; e < E; ++e) {
      float sum = 0;
      for (int64_t dy = 0; dy < m; ++dy)
        for (int64_t dx = 0; dx < m; ++dx)
          sum += at(x, ((n / (width / m) * m + dy) * width + n % (width / m) * m + dx) * E + e);
      output.data[n * E + e] = sum * scale;
    }
}

} // namespace

std::vector<Contract> visionContracts() {
  return {{"position_xy", positionXY},
          {"position_antialias", positionAntialias},
          {"position_corners", positionCorners},
          {"position_corners_bf16", positionCornersBF16},
          {"position_corners_once", positionCornersOnce},
          {"spatial_average", spatialAverage}};
}

} // namespace ck::reference
