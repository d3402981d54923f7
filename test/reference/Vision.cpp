//===- Vision.cpp - positions, patches and merged tokens of images --------===//
//
// Tokens of a grid come row by row, or in tile order: tiles of merge_size by merge_size cells row by row, and the cells
// of each tile row by row; tiles at the right and lower edge may be cut.
//
//===----------------------------------------------------------------------===//

#include "Pieces.h"

#include <algorithm>
#include <cmath>

namespace ck::reference {
namespace {

struct Cell {
  int64_t y, x;
};

/// The cells of a grid in tile order.
std::vector<Cell> tileOrder(int64_t height, int64_t width, int64_t merge) {
  std::vector<Cell> cells;
  for (int64_t y0 = 0; y0 < height; y0 += merge)
    for (int64_t x0 = 0; x0 < width; x0 += merge)
      for (int64_t y = y0; y < std::min(y0 + merge, height); ++y)
        for (int64_t x = x0; x < std::min(x0 + merge, width); ++x)
          cells.push_back({y, x});
  return cells;
}

/// Reads grid_h, grid_w and merge_size.
struct Grid {
  int64_t height, width, merge;
  explicit Grid(const Call &call)
      : height(call.integer("grid_h")), width(call.integer("grid_w")), merge(call.integer("merge_size")) {}
  bool valid() const { return height >= 0 && width >= 0 && merge >= 1; }
  int64_t cells() const { return height * width; }
  std::vector<Cell> tiles() const { return tileOrder(height, width, merge); }
};

Status positionEmbedding(Call &call) {
  const Tensor &x = call.in("x"), &table = call.in("table"), *pos = call.optional("pos");
  int64_t T = x.extent(0), E = x.extent(1), P = table.extent(0);
  if (Status status = call.expectShapes({{"x", {T, E}}, {"table", {P, E}}, {"pos", {T}}, {"y", {T, E}}}); !status)
    return status;
  if (!pos && T > P)
    return badCall("the table has fewer rows than there are tokens");
  if (pos)
    if (Status status = expectIndices("pos", *pos, P); !status)
      return status;
  for (int64_t t = 0; t < T; ++t)
    for (int64_t e = 0; e < E; ++e)
      call.out("y").data[t * E + e] = x.data[t * E + e] + table.data[(pos ? pos->integer(t) : t) * E + e];
  return Status::success();
}

bool preparePositionEmbedding(Call &call, Random &random) {
  auto pos = call.inputs.find("pos");
  return pos == call.inputs.end() || fillIndices(pos->second, call.in("table").extent(0), random);
}

bool spoilPositionEmbedding(Call &call, Random &random) {
  auto pos = call.inputs.find("pos");
  return pos != call.inputs.end() && spoilIndex(pos->second, call.in("table").extent(0), random);
}

/// One sample of a line and its weight.
struct Sample {
  int64_t at;
  double weight;
};

/// The samples of a line of G that make cell `i` of `n`: a triangle as wide as the coarser of the two.
std::vector<Sample> antialias(int64_t i, int64_t n, int64_t G) {
  double ratio = static_cast<double>(n) / static_cast<double>(G), support = std::max(1.0, 1 / ratio);
  double centre = (static_cast<double>(i) + 0.5) / ratio;
  std::vector<Sample> samples;
  for (int64_t s = 0; s < G; ++s) {
    double weight = 1 - std::fabs((static_cast<double>(s) - centre + 0.5) / support);
    if (weight > 0)
      samples.push_back({s, weight});
  }
  return samples;
}

/// The two neighbours of cell `i` of `n` where first meets first and last meets last.
std::vector<Sample> alignCorners(int64_t i, int64_t n, int64_t G) {
  double at = n > 1 ? static_cast<double>(i * (G - 1)) / static_cast<double>(n - 1) : 0;
  int64_t first = static_cast<int64_t>(std::floor(at));
  double share = at - static_cast<double>(first);
  return {{first, 1 - share}, {std::min(first + 1, G - 1), share}};
}

/// The samples of cell `i` of `n` in `mode`; a grid like its source needs no antialiasing, and "xy" takes no samples.
std::vector<Sample> samplesOf(const std::string &mode, bool same, int64_t i, int64_t n, int64_t G) {
  if (mode == "align_corners")
    return alignCorners(i, n, G);
  if (mode != "antialias")
    return {};
  return same ? std::vector<Sample>{{i, 1}} : antialias(i, n, G);
}

Status positionEmbedding2d(Call &call) {
  const Tensor &x = call.in("x"), &table = call.in("table");
  const Grid grid(call);
  std::string mode = call.word("mode");
  int64_t T = x.extent(0), E = x.extent(1), G = mode == "xy" ? table.extent(1) : call.integer("source_grid");
  if (!grid.valid() || T != grid.cells() || (mode == "xy" && grid.merge != 1) || (T > 0 && G < 1))
    return badCall("grid and tokens do not fit each other");
  std::vector<int64_t> rows = mode == "xy" ? std::vector<int64_t>{2, G, E} : std::vector<int64_t>{G * G, E};
  if (Status status = call.expectShapes({{"x", {T, E}}, {"table", rows}, {"y", {T, E}}}); !status)
    return status;
  std::vector<Cell> cells = grid.tiles();
  for (int64_t k = 0; k < T; ++k) {
    auto [row, column] = cells[k];
    bool same = G == grid.height && G == grid.width;
    std::vector<Sample> down = samplesOf(mode, same, row, grid.height, G);
    std::vector<Sample> across = samplesOf(mode, same, column, grid.width, G);
    for (int64_t e = 0; e < E; ++e) {
      double value = 0, total = 0;
      for (const Sample &v : down)
        for (const Sample &h : across) {
          value += v.weight * h.weight * table.data[(v.at * G + h.at) * E + e];
          total += v.weight * h.weight;
        }
      if (mode == "xy")
        value = table.data[std::min(column, G - 1) * E + e] + table.data[(G + std::min(row, G - 1)) * E + e];
      else if (total > 0)
        value /= total;
      call.out("y").data[k * E + e] = x.data[k * E + e] + value;
    }
  }
  return Status::success();
}

Status positionIds(Call &call) {
  const Grid grid(call);
  int64_t T = grid.cells();
  if (!grid.valid())
    return badCall("no grid");
  if (Status status = call.expectShapes({{"positions", {4, T}}}); !status)
    return status;
  std::vector<Cell> cells = grid.tiles();
  for (int64_t k = 0; k < T; ++k)
    for (int64_t stream = 0; stream < 4; ++stream)
      call.out("positions").data[stream * T + k] = static_cast<double>(stream % 2 == 0 ? cells[k].y : cells[k].x);
  return Status::success();
}

/// Text, an image of grid_y by grid_x tokens from `prefix_start` on, text.
Status multimodalPositions(Call &call) {
  int64_t T = call.integer("rows"), gx = call.integer("grid_x"), gy = call.integer("grid_y");
  if (Status status = call.expectShapes({{"prefix_start", {1}},
                                         {"position_base", {1}},
                                         {"text_pos", {1}},
                                         {"positions", {4, T}},
                                         {"next_position", {1}}});
      !status)
    return status;
  if (gx < 1 || gy < 1 || gx * gy > T)
    return badCall("the image is larger than the sequence");
  int64_t start = call.in("prefix_start").integer(0), base = call.in("position_base").integer(0);
  int64_t text = call.in("text_pos").integer(0);
  if (start < 0 || start + gx * gy > T)
    return invalid("the image does not lie within the rows");
  if (base < start || text < 0 || base + gx + gy + T > INT32_MAX || text + T > INT32_MAX)
    return invalid("positions are negative or too large");
  int64_t next = text > 0 ? text : base + std::max(gx, gy);
  std::vector<double> &positions = call.out("positions").data;
  for (int64_t t = 0; t < T; ++t) {
    int64_t j = t - start, at[3] = {base + j, base + j, base + j};
    if (j >= gx * gy)
      at[0] = at[1] = at[2] = next + j - gx * gy;
    else if (j >= 0)
      at[0] = base, at[1] = base + j / gx, at[2] = base + j % gx;
    for (int64_t stream = 0; stream < 4; ++stream)
      positions[stream * T + t] = stream < 3 ? static_cast<double>(at[stream]) : 0;
  }
  call.out("next_position").data[0] = static_cast<double>(next);
  return Status::success();
}

bool prepareMultimodal(Call &call, Random &random) {
  int64_t room = call.integer("rows") - call.integer("grid_x") * call.integer("grid_y");
  if (room < 0)
    return false;
  int64_t start = random.below(room + 1);
  call.inputs["prefix_start"].data[0] = static_cast<double>(start);
  call.inputs["position_base"].data[0] = static_cast<double>(start + random.below(2) * random.below(50));
  call.inputs["text_pos"].data[0] = static_cast<double>(random.below(2) * random.below(500));
  return true;
}

bool spoilMultimodal(Call &call, Random &random) {
  switch (random.below(4)) {
  case 0:
    call.inputs["prefix_start"].data[0] = random.below(2) ? -1.0 : static_cast<double>(call.integer("rows"));
    return true;
  case 1:
    call.inputs["position_base"].data[0] = call.in("prefix_start").data[0] - 1;
    return true;
  case 2:
    call.inputs["position_base"].data[0] = INT32_MAX;
    return true;
  default:
    call.inputs["text_pos"].data[0] = random.below(2) ? -1.0 : INT32_MAX;
    return true;
  }
}

/// Rows of an image over the rows of a text, whose tokens become 0 there.
Status prefixInsert(Call &call) {
  const Tensor &source = call.in("source"), &start = call.in("start");
  Tensor &tokens = call.out("tokens"), &rows = call.out("rows");
  int64_t N = source.extent(0), C = source.extent(1), S = rows.extent(0), E = rows.extent(1);
  if (Status status = call.expectShapes({{"start", {1}}, {"tokens", {S}}, {"count", {1}}}); !status)
    return status;
  if (C > E)
    return badCall("the source is wider than the rows");
  if (start.integer(0) < 0 || start.integer(0) >= S)
    return invalid("start lies outside the rows");
  int64_t count = std::min(N, S - start.integer(0));
  for (int64_t r = 0; r < count; ++r) {
    int64_t row = start.integer(0) + r;
    std::copy_n(source.data.begin() + r * C, C, rows.data.begin() + row * E);
    tokens.data[row] = 0;
  }
  call.out("count").data[0] = static_cast<double>(count);
  return Status::success();
}

bool preparePrefixInsert(Call &call, Random &random) {
  return fillIndices(call.inputs["start"], call.in("rows").extent(0), random);
}

bool spoilPrefixInsert(Call &call, Random &random) {
  return spoilIndex(call.inputs["start"], call.in("rows").extent(0), random);
}

Status spatialMerge(Call &call) {
  const Tensor &x = call.in("x");
  const Grid grid(call);
  std::string mode = call.word("mode");
  int64_t T = x.extent(0), E = x.extent(1), m = grid.merge;
  if (!grid.valid() || T != grid.cells())
    return badCall("grid and tokens do not fit each other");
  bool tiles = mode == "tiles", average = mode == "average";
  int64_t wide = grid.width / m, N = tiles ? T / (m * m) : grid.height / m * wide, width = average ? E : E * m * m;
  if (Status status = call.expectShapes({{"x", {T, E}}, {"output", {N, width}}}); !status)
    return status;
  std::vector<double> &output = call.out("output").data;
  for (int64_t n = 0; n < N; ++n)
    for (int64_t i = 0; i < m * m; ++i) {
      int64_t row = tiles ? n * m * m + i : (n / wide * m + i / m) * grid.width + n % wide * m + i % m;
      for (int64_t e = 0; e < E; ++e) {
        double value = x.data[row * E + e];
        if (average)
          output[n * E + e] += value / static_cast<double>(m * m);
        else
          output[(n * m * m + i) * E + e] = value;
      }
    }
  return Status::success();
}

/// a + b, from rows of the grid to tile order.
Status addReorder(Call &call) {
  const Tensor &a = call.in("a"), &b = call.in("b");
  const Grid grid(call);
  int64_t T = a.extent(0), E = a.extent(1);
  if (!grid.valid() || T != grid.cells())
    return badCall("grid and tokens do not fit each other");
  if (Status status = call.expectShapes({{"a", {T, E}}, {"b", {T, E}}, {"output", {T, E}}}); !status)
    return status;
  std::vector<Cell> cells = grid.tiles();
  for (int64_t k = 0; k < T; ++k)
    for (int64_t e = 0; e < E; ++e) {
      int64_t from = (cells[k].y * grid.width + cells[k].x) * E + e;
      call.out("output").data[k * E + e] = a.data[from] + b.data[from];
    }
  return Status::success();
}

Status patchify(Call &call) {
  const Tensor &image = call.in("image");
  int64_t C = image.extent(0), A = image.extent(1), B = image.extent(2), P = call.integer("patch");
  if (P < 1)
    return badCall("no patch");
  int64_t high = A / P, wide = B / P, width = C * P * P;
  if (Status status = call.expectShapes({{"patches", {high * wide, width}}}); !status)
    return status;
  for (int64_t n = 0; n < high * wide; ++n)
    for (int64_t c = 0; c < C; ++c)
      for (int64_t i = 0; i < P; ++i)
        for (int64_t j = 0; j < P; ++j)
          call.out("patches").data[n * width + (c * P + i) * P + j] =
              image.data[(c * A + n / wide * P + i) * B + n % wide * P + j];
  return Status::success();
}

/// A still image as two equal frames: each has weights of its own.
Status patchProjection(Call &call) {
  const Tensor &image = call.in("image"), &w0 = call.in("w0"), &w1 = call.in("w1"), &bias = call.in("bias");
  int64_t C = image.extent(0), A = image.extent(1), B = image.extent(2), N = w0.extent(0);
  int64_t P = call.integer("patch"), m = call.integer("merge_size");
  if (P < 1 || m < 1 || A % (P * m) != 0 || B % (P * m) != 0)
    return badCall("the image is not made of whole tiles");
  std::vector<Cell> cells = tileOrder(A / P, B / P, m);
  int64_t T = static_cast<int64_t>(cells.size());
  if (Status status =
          call.expectShapes({{"w0", {N, C, P, P}}, {"w1", {N, C, P, P}}, {"bias", {N}}, {"output", {T, N}}});
      !status)
    return status;
  auto rounded = [](double value) { // to bfloat16
    if (!std::isfinite(value) || value == 0)
      return value;
    double unit = std::ldexp(1.0, std::max(std::ilogb(value), -126) - 7);
    return std::nearbyint(value / unit) * unit;
  };
  for (int64_t k = 0; k < T; ++k)
    for (int64_t n = 0; n < N; ++n) {
      double sum = bias.data[n];
      for (int64_t c = 0; c < C; ++c)
        for (int64_t i = 0; i < P; ++i)
          for (int64_t j = 0; j < P; ++j) {
            int64_t weight = ((n * C + c) * P + i) * P + j;
            double pixel = rounded(image.data[(c * A + cells[k].y * P + i) * B + cells[k].x * P + j]);
            sum += pixel * w0.data[weight] + pixel * w1.data[weight];
          }
      call.out("output").data[k * N + n] = sum;
    }
  return Status::success();
}

/// Images are made of whole tiles.
void relatePatchProjection(const Params &attrs, std::map<std::string, std::vector<int64_t>> &shapes) {
  int64_t tile = std::get<int64_t>(attrs.at("patch")) * std::get<int64_t>(attrs.at("merge_size"));
  std::vector<int64_t> &image = shapes["image"], &output = shapes["output"];
  for (size_t axis : {1, 2})
    image[axis] = (image[axis] + tile - 1) / tile * tile;
  int64_t patch = std::get<int64_t>(attrs.at("patch"));
  output[0] = (image[1] / patch) * (image[2] / patch);
}

/// main | branch 0 | branch 1 | ...
Status featureConcat(Call &call) {
  const Tensor &first = call.in("main"), &branch = call.in("branch");
  int64_t T = first.extent(0), C = first.extent(1), N = branch.extent(0), J = branch.extent(2), width = C + N * J;
  if (Status status = call.expectShapes({{"branch", {N, T, J}}, {"output", {T, width}}}); !status)
    return status;
  for (int64_t t = 0; t < T; ++t)
    for (int64_t i = 0; i < width; ++i)
      call.out("output").data[t * width + i] =
          i < C ? first.data[t * C + i] : branch.data[((i - C) / J * T + t) * J + (i - C) % J];
  return Status::success();
}

/// dst[:, offset + c] = src[:, c]; the other columns stay.
Status updateColumns(Call &call) {
  const Tensor &src = call.in("src");
  Tensor &dst = call.out("dst");
  int64_t T = src.extent(0), C = src.extent(1), J = dst.extent(1), offset = call.integer("offset");
  if (dst.extent(0) != T || offset < 0 || offset + C > J)
    return badCall("the columns lie outside the matrix");
  for (int64_t t = 0; t < T; ++t)
    std::copy_n(src.data.begin() + t * C, C, dst.data.begin() + t * J + offset);
  return Status::success();
}

/// Grids with whole tiles and without, larger and smaller than the table.
std::vector<Params> grids(bool withTable) {
  const int64_t rows[][4] = {{1, 1, 1, 1}, {4, 6, 2, 5}, {5, 7, 2, 3},   {3, 3, 1, 3},   {8, 8, 2, 8}, {1, 9, 3, 4},
                             {7, 1, 2, 2}, {6, 4, 4, 1}, {12, 10, 2, 7}, {9, 11, 3, 24}, {2, 2, 1, 16}};
  std::vector<Params> list;
  for (const auto &row : rows) {
    list.push_back({{"grid_h", row[0]}, {"grid_w", row[1]}, {"merge_size", row[2]}});
    if (withTable)
      list.back()["source_grid"] = row[3];
  }
  for (const auto &row : rows) // row by row, without a table of its own
    list.push_back({{"grid_h", row[0]}, {"grid_w", row[1]}});
  return list;
}

} // namespace

std::vector<Operation> visionOperations() {
  const Params grid = {{"grid_h", int64_t(1)}, {"grid_w", int64_t(1)}, {"merge_size", int64_t(1)}};

  Operation position;
  position.name = "position_embedding";
  position.inputs = {"x", "table", "pos?"};
  position.outputs = {"y"};
  position.evaluate = positionEmbedding;
  position.prepare = preparePositionEmbedding;
  position.spoil = spoilPositionEmbedding;

  Operation position2d;
  position2d.name = "position_embedding_2d";
  position2d.inputs = {"x", "table"};
  position2d.outputs = {"y"};
  position2d.defaults = grid;
  position2d.defaults["mode"] = std::string("align_corners");
  position2d.defaults["source_grid"] = int64_t(0);
  position2d.evaluate = positionEmbedding2d;
  position2d.draws = {grids(true)};

  Operation ids;
  ids.name = "position_ids";
  ids.outputs = {"positions"};
  ids.defaults = grid;
  ids.evaluate = positionIds;
  ids.draws = {grids(false)};

  Operation multimodal;
  multimodal.name = "multimodal_positions";
  multimodal.inputs = {"prefix_start", "position_base", "text_pos"};
  multimodal.outputs = {"positions", "next_position"};
  multimodal.defaults = {{"rows", int64_t(1)}, {"grid_x", int64_t(1)}, {"grid_y", int64_t(1)}};
  multimodal.evaluate = multimodalPositions;
  multimodal.prepare = prepareMultimodal;
  multimodal.spoil = spoilMultimodal;
  multimodal.draws = {valuesOf("rows", {int64_t(1), int64_t(6), int64_t(10), int64_t(64), int64_t(1000)}),
                      {{{"grid_x", int64_t(1)}, {"grid_y", int64_t(1)}},
                       {{"grid_x", int64_t(3)}, {"grid_y", int64_t(2)}},
                       {{"grid_x", int64_t(2)}, {"grid_y", int64_t(5)}},
                       {{"grid_x", int64_t(24)}, {"grid_y", int64_t(24)}}}};

  Operation insert;
  insert.name = "prefix_insert";
  insert.inputs = {"source", "start", "tokens", "rows"};
  insert.outputs = {"tokens", "rows", "count"};
  insert.evaluate = prefixInsert;
  insert.prepare = preparePrefixInsert;
  insert.spoil = spoilPrefixInsert;

  Operation merge;
  merge.name = "spatial_merge";
  merge.inputs = {"x"};
  merge.outputs = {"output"};
  merge.defaults = grid;
  merge.defaults["mode"] = std::string("concat");
  merge.evaluate = spatialMerge;
  merge.draws = {grids(false)};

  Operation reorder;
  reorder.name = "add_reorder";
  reorder.inputs = {"a", "b"};
  reorder.outputs = {"output"};
  reorder.defaults = grid;
  reorder.evaluate = addReorder;
  reorder.draws = {grids(false)};

  Operation patches;
  patches.name = "patchify";
  patches.inputs = {"image"};
  patches.outputs = {"patches"};
  patches.defaults = {{"patch", int64_t(1)}};
  patches.evaluate = patchify;
  patches.draws = {valuesOf("patch", {int64_t(1), int64_t(2), int64_t(3), int64_t(14), int64_t(16)})};

  Operation projection;
  projection.name = "patch_projection";
  projection.inputs = {"image", "w0", "w1", "bias"};
  projection.outputs = {"output"};
  projection.defaults = {{"patch", int64_t(1)}, {"merge_size", int64_t(1)}};
  projection.evaluate = patchProjection;
  projection.relate = relatePatchProjection;
  projection.draws = {valuesOf("patch", {int64_t(1), int64_t(2), int64_t(3), int64_t(7), int64_t(16)}),
                      valuesOf("merge_size", {int64_t(1), int64_t(2), int64_t(3)})};

  Operation features;
  features.name = "feature_concat";
  features.inputs = {"main", "branch"};
  features.outputs = {"output"};
  features.evaluate = featureConcat;

  Operation columns;
  columns.name = "update_columns";
  columns.inputs = {"dst", "src"};
  columns.outputs = {"dst"};
  columns.defaults = {{"offset", int64_t(0)}};
  columns.evaluate = updateColumns;
  columns.draws = {valuesOf("offset", {int64_t(0), int64_t(1), int64_t(7), int64_t(64)})};
  return {position, position2d, ids, multimodal, insert, merge, reorder, patches, projection, features, columns};
}

} // namespace ck::reference
