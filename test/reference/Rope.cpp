//===- Rope.cpp - rotary position embeddings and their tables -------------===//

#include "Pieces.h"

#include <algorithm>
#include <cmath>

namespace ck::reference {
namespace {

const double pi = 3.14159265358979323846;

/// What a magnitude is multiplied by where the context grew by `factor`.
double yarnMagnitude(double factor, double weight) { return factor <= 1 ? 1 : 0.1 * weight * std::log(factor) + 1; }

/// The pair of a rotation over `width` columns whose wave makes `turns` turns in `context` positions.
double pairOfTurns(double width, double theta, double context, double turns) {
  return width * std::log(context / (2 * pi * turns)) / (2 * std::log(theta));
}

/// 0 for pairs below `low`, 1 above `high`.
double ramp(double pair, double low, double high) {
  return std::clamp((pair - low) / std::max(0.001, high - low), 0.0, 1.0);
}

/// Frequency of pair i after the scaling of the context.
double frequency(const Call &call, int64_t i) {
  double R = call.number("rotary_dim"), theta = call.number("theta");
  double base = std::pow(theta, -2.0 * static_cast<double>(i) / R);
  std::string scaling = call.word("scaling");
  double factor = call.number("factor");
  double context = call.number("original_context");
  if (scaling == "linear")
    return base / factor;
  if (scaling == "yarn") {
    double low = std::max(0.0, std::floor(pairOfTurns(R, theta, context, call.number("beta_fast"))));
    double high = std::min(R - 1, std::ceil(pairOfTurns(R, theta, context, call.number("beta_slow"))));
    double stretched = ramp(static_cast<double>(i), low, high);
    return base / factor * stretched + base * (1 - stretched);
  }
  if (scaling != "llama3")
    return base;
  double low = call.number("low_freq_factor"), high = call.number("high_freq_factor");
  double wavelength = 2 * pi / base;
  if (wavelength < context / high)
    return base;
  if (wavelength > context / low)
    return base / factor;
  double keep = (context / wavelength - low) / (high - low);
  return keep * base + (1 - keep) * base / factor;
}

/// Rows for the positions of `pos`, or 0, 1, 2, ...
Status fillTable(Call &call, int64_t S, const Tensor *pos) {
  int64_t P = call.integer("rotary_dim") / 2;
  if (Status status = call.expectShapes({{"cos", {S, P}}, {"sin", {S, P}}}); !status)
    return status;
  double magnitude = 1;
  if (call.word("scaling") == "yarn")
    magnitude = yarnMagnitude(call.number("factor"), call.number("mscale")) /
                yarnMagnitude(call.number("factor"), call.number("mscale_all_dim"));
  for (int64_t s = 0; s < S; ++s)
    for (int64_t i = 0; i < P; ++i) {
      double angle = (pos ? pos->data[s] : static_cast<double>(s)) * frequency(call, i);
      call.out("cos").data[s * P + i] = std::cos(angle) * magnitude;
      call.out("sin").data[s * P + i] = std::sin(angle) * magnitude;
    }
  return Status::success();
}

Status ropeTable(Call &call) { return fillTable(call, call.integer("rows"), nullptr); }

const int64_t anyPosition = int64_t(1) << 31;

Status ropeTableAt(Call &call) {
  const Tensor &pos = call.in("pos");
  if (Status status = expectIndices("pos", pos, anyPosition); !status)
    return status;
  return fillTable(call, pos.extent(0), &pos);
}

/// Turns pairs of columns of every head: columns(i) gives the two of pair i, turn(t, i) the cosine and the sine.
template <typename Columns, typename Turn>
Status rotate(const Call &call, const char *inputName, const Tensor &input, Tensor &output, int64_t T, int64_t P,
              Columns columns, Turn turn) {
  int64_t D = call.integer("head_dim");
  bool headMajor = call.word("layout") == "head_major";
  double sign = call.flag("inverse") ? -1 : 1;
  int64_t heads = headMajor ? input.extent(0) : D > 0 ? input.extent(1) / D : 0;
  std::vector<int64_t> shape = headMajor ? std::vector<int64_t>{heads, T, D} : std::vector<int64_t>{T, heads * D};
  if (D < 1 || 2 * P > D || input.shape != shape || output.shape != shape)
    return badCall(std::string("the shapes of ") + inputName + ", its result, head_dim and the pairs do not agree");
  for (int64_t t = 0; t < T; ++t)
    for (int64_t h = 0; h < heads; ++h) {
      int64_t row = headMajor ? (h * T + t) * D : (t * heads + h) * D;
      for (int64_t d = 0; d < D; ++d)
        output.data[row + d] = input.data[row + d];
      for (int64_t i = 0; i < P; ++i) {
        auto [first, second] = columns(i);
        auto [c, s] = turn(t, i);
        double a = input.data[row + first], b = input.data[row + second];
        output.data[row + first] = a * c - b * sign * s;
        output.data[row + second] = a * sign * s + b * c;
      }
    }
  return Status::success();
}

template <typename Columns, typename Turn>
Status rotateBoth(Call &call, int64_t T, int64_t P, Columns columns, Turn turn) {
  if (Status status = rotate(call, "q", call.in("q"), call.out("q_out"), T, P, columns, turn); !status)
    return status;
  const Tensor *k = call.optional("k");
  Tensor *result = call.wanted("k_out");
  if (!k != !result)
    return badCall("k and k_out are present together or not at all");
  return k ? rotate(call, "k", *k, *result, T, P, columns, turn) : Status::success();
}

using Columns = std::pair<int64_t, int64_t>;
using Turn = std::pair<double, double>;

Columns pairColumns(const Call &call, int64_t P, int64_t i) {
  return call.word("pairing") == "adjacent" ? Columns{2 * i, 2 * i + 1} : Columns{i, i + P};
}

Status rope(Call &call) {
  const Tensor &pos = call.in("pos"), &cosines = call.in("cos"), &sines = call.in("sin");
  int64_t T = pos.extent(0), S = cosines.extent(0), P = cosines.extent(1);
  if (Status status = call.expectShapes({{"pos", {T}}, {"cos", {S, P}}, {"sin", {S, P}}}); !status)
    return status;
  if (Status status = expectIndices("pos", pos, S); !status)
    return status;
  return rotateBoth(
      call, T, P, [&](int64_t i) { return pairColumns(call, P, i); },
      [&](int64_t t, int64_t i) {
        int64_t at = pos.integer(t) * P + i;
        return Turn{cosines.data[at], sines.data[at]};
      });
}

bool prepareRope(Call &call, Random &random) {
  return fillIndices(call.inputs["pos"], call.in("cos").extent(0), random);
}

bool spoilRope(Call &call, Random &random) { return spoilIndex(call.inputs["pos"], call.in("cos").extent(0), random); }

Status ropeDirect(Call &call) {
  const Tensor &pos = call.in("pos"), *factors = call.optional("freq_factors");
  int64_t T = pos.extent(0), R = call.integer("rotary_dim"), P = R / 2;
  if (R < 0 || R % 2 != 0)
    return badCall("rotary_dim is not even");
  if (Status status = call.expectShapes({{"pos", {T}}, {"freq_factors", {P}}}); !status)
    return status;
  if (Status status = expectIndices("pos", pos, anyPosition); !status)
    return status;
  return rotateBoth(
      call, T, P, [&](int64_t i) { return pairColumns(call, P, i); },
      [&](int64_t t, int64_t i) {
        double angle = pos.data[t] *
                       std::pow(call.number("theta"), -2.0 * static_cast<double>(i) / static_cast<double>(R)) /
                       (factors ? factors->data[i] : 1);
        return Turn{std::cos(angle), std::sin(angle)};
      });
}

/// The stream of positions and the power of theta that a pair turns by.
struct Axis {
  int64_t stream, power;
};

/// Sections s0..s3 of the pairs; see the modes of `mrope`.
Axis axisOf(const std::string &mode, const int64_t (&s)[4], int64_t P, int64_t i) {
  if (mode == "vision")
    return i < s[0] || i >= s[0] + s[1] ? Axis{0, i} : Axis{1, i - s[0]};
  if (mode == "blocks")
    return i < P / 2 ? Axis{1, i} : Axis{0, i - P / 2};
  if (mode == "interleaved3") {
    int64_t axis = i % 3;
    return {axis > 0 && i < 3 * s[axis] ? axis : 0, i};
  }
  int64_t sector = i % (s[0] + s[1] + s[2] + s[3]);
  if (mode == "interleaved")
    return {sector < 3 * s[sector % 3] ? sector % 3 : 3, i};
  int64_t stream = 0;
  while (stream < 3 && sector >= s[stream])
    sector -= s[stream++];
  return {stream, i};
}

Status mrope(Call &call) {
  const Tensor &positions = call.in("positions");
  std::string mode = call.word("mode");
  bool grid = mode == "vision" || mode == "blocks";
  int64_t A = positions.extent(0), T = positions.extent(1), R = call.integer("rotary_dim"), P = R / 2;
  int64_t s[4];
  for (int i = 0; i < 4; ++i)
    if ((s[i] = call.integer("section_" + std::to_string(i))) < 0)
      return badCall("a section is negative");
  if (R < 0 || R % (mode == "blocks" ? 4 : 2) != 0 || (A != 4 && (A != 1 || grid)))
    return badCall("rotary_dim or the number of position streams does not fit the mode");
  if (mode == "vision" && (s[0] < 1 || s[1] < 1 || s[0] + s[1] > P))
    return badCall("the sections do not fit the pairs");
  if ((mode == "text" || mode == "interleaved") && s[0] + s[1] + s[2] + s[3] < 1)
    return badCall("the sections are empty");
  if (Status status = expectIndices("positions", positions, anyPosition); !status)
    return status;

  double theta = call.number("theta"), width = static_cast<double>(grid ? P : R), power = -2 / width;
  double scale = call.number("freq_scale"), ext = call.number("ext_factor"), magnitude = call.number("attn_factor");
  double low = 0, high = 0;
  if (ext != 0) {
    double context = call.number("original_context");
    low = std::max(0.0, std::floor(pairOfTurns(width, theta, context, call.number("beta_fast"))));
    high = std::min(width - 1, std::ceil(pairOfTurns(width, theta, context, call.number("beta_slow"))));
    magnitude *= 1 + 0.1 * std::log(1 / scale);
  }
  return rotateBoth(
      call, T, P,
      [&](int64_t i) {
        if (mode != "blocks")
          return Columns{i, i + P};
        int64_t first = i < P / 2 ? i : P / 2 + i; // blocks of P columns, each with pairs of its own
        return Columns{first, first + P / 2};
      },
      [&](int64_t t, int64_t i) {
        Axis axis = axisOf(mode, s, P, i);
        double position = A == 4 ? positions.data[axis.stream * T + t] : axis.stream == 3 ? 0 : positions.data[t];
        double wave = position * std::pow(theta, power * static_cast<double>(axis.power));
        double mix = ext != 0 ? (1 - ramp(static_cast<double>(i), low, high)) * ext : 0;
        double angle = scale * wave * (1 - mix) + wave * mix;
        return Turn{magnitude * std::cos(angle), magnitude * std::sin(angle)};
      });
}

/// Positions short enough for angles in single precision, and factors that stretch.
bool prepareAngles(Call &call, Random &random) {
  for (const char *name : {"pos", "positions"})
    if (auto it = call.inputs.find(name); it != call.inputs.end())
      fillIndices(it->second, 600, random);
  if (auto it = call.inputs.find("freq_factors"); it != call.inputs.end())
    for (double &factor : it->second.data)
      factor = static_cast<float>(random.uniform(1, 8));
  return true;
}

bool spoilPosition(Call &call, Random &random) {
  Tensor &pos = call.inputs.count("pos") ? call.inputs["pos"] : call.inputs["positions"];
  if (pos.data.empty())
    return false;
  pos.data[random.below(pos.elements())] = random.below(2) ? -1.0 : -2147483648.0;
  return true;
}

std::vector<Params> rotaryDims() {
  const std::pair<int64_t, int64_t> pairs[] = {{2, 2},   {3, 2},   {8, 8},   {16, 6},    {18, 18},
                                               {40, 40}, {64, 64}, {80, 32}, {128, 128}, {100, 96}};
  std::vector<Params> list;
  for (auto [headDim, rotaryDim] : pairs)
    list.push_back({{"head_dim", headDim}, {"rotary_dim", rotaryDim}});
  return list;
}

/// Heads, pairs and the sections that the modes of mrope take.
std::vector<Params> sectionDraws() {
  const int64_t rows[][6] = {
      {8, 8, 2, 1, 1, 0},   {16, 16, 4, 2, 2, 0},   {128, 128, 16, 24, 24, 0}, {128, 128, 24, 20, 20, 0},
      {64, 64, 8, 8, 8, 8}, {80, 80, 20, 20, 0, 0}, {20, 16, 4, 4, 0, 0},      {12, 12, 3, 3, 0, 0},
      {6, 4, 1, 1, 0, 0},   {96, 64, 3, 5, 2, 1},   {40, 34, 2, 3, 0, 5},      {64, 64, 0, 0, 0, 0},
      {16, 8, 0, 0, 0, 0},  {72, 72, 0, 0, 0, 0},   {4, 4, 0, 0, 0, 0},        {130, 128, 0, 0, 0, 0}};
  std::vector<Params> list;
  for (const auto &row : rows)
    list.push_back({{"head_dim", row[0]},
                    {"rotary_dim", row[1]},
                    {"section_0", row[2]},
                    {"section_1", row[3]},
                    {"section_2", row[4]},
                    {"section_3", row[5]}});
  return list;
}

Params yarnDraw(double freqScale, double ext, double attn, double fast, double slow, int64_t context) {
  return {{"freq_scale", freqScale}, {"ext_factor", ext}, {"attn_factor", attn},
          {"beta_fast", fast},       {"beta_slow", slow}, {"original_context", context}};
}

Params tableScaling(double factor, double low, double high, int64_t context, double mscale, double allDim) {
  return {{"factor", factor}, {"low_freq_factor", low},  {"high_freq_factor", high}, {"original_context", context},
          {"mscale", mscale}, {"mscale_all_dim", allDim}};
}

} // namespace

std::vector<Operation> ropeOperations() {
  Operation table;
  table.name = "rope_table";
  table.outputs = {"cos", "sin"};
  table.defaults = {{"rows", int64_t(1)},
                    {"rotary_dim", int64_t(2)},
                    {"theta", 1e4},
                    {"scaling", std::string("none")},
                    {"factor", 1.0},
                    {"low_freq_factor", 1.0},
                    {"high_freq_factor", 4.0},
                    {"original_context", int64_t(0)},
                    {"beta_fast", 32.0},
                    {"beta_slow", 1.0},
                    {"mscale", 1.0},
                    {"mscale_all_dim", 0.0}};
  table.evaluate = ropeTable;
  const std::vector<Params> rotary = valuesOf("rotary_dim", {int64_t(2), int64_t(6), int64_t(64), int64_t(128)}),
                            thetas = valuesOf("theta", {1e4, 5e5, 8e6});
  const std::vector<Params> scalings = {tableScaling(8, 1, 4, 8192, 1, 0),     tableScaling(32, 1, 4, 64, 1, 0),
                                        tableScaling(2.5, 0.5, 3, 512, 1, 1),  tableScaling(40, 1, 4, 4096, 1, 0),
                                        tableScaling(40, 1, 4, 4096, 1, 0.75), tableScaling(0.5, 1, 4, 4096, 1, 0)};
  table.draws = {valuesOf("rows", {int64_t(1), int64_t(7), int64_t(64), int64_t(2049)}), rotary, thetas, scalings};

  Operation tableAt = table;
  tableAt.name = "rope_table_at";
  tableAt.inputs = {"pos"};
  tableAt.defaults.erase("rows");
  tableAt.evaluate = ropeTableAt;
  tableAt.prepare = prepareAngles;
  tableAt.spoil = spoilPosition;
  tableAt.draws = {rotary, thetas, scalings};

  Operation rotation;
  rotation.name = "rope";
  rotation.inputs = {"q", "k?", "pos", "cos", "sin"};
  rotation.outputs = {"q_out", "k_out?"};
  rotation.defaults = {{"pairing", std::string("half")},
                       {"head_dim", int64_t(0)},
                       {"layout", std::string("token_major")},
                       {"inverse", false}};
  rotation.evaluate = rope;
  rotation.prepare = prepareRope;
  rotation.spoil = spoilRope;
  rotation.together = {{"k", "k_out"}};
  for (int64_t headDim : {2, 3, 8, 16, 18, 40, 64, 80, 128})
    rotation.draws.resize(1), rotation.draws[0].push_back({{"head_dim", headDim}});

  Operation direct = rotation;
  direct.name = "rope_direct";
  direct.inputs = {"q", "k?", "pos", "freq_factors?"};
  direct.defaults["rotary_dim"] = int64_t(2);
  direct.defaults["theta"] = 1e4;
  direct.evaluate = ropeDirect;
  direct.prepare = prepareAngles;
  direct.spoil = spoilPosition;
  direct.draws = {rotaryDims(), thetas};

  Operation sections = direct;
  sections.name = "mrope";
  sections.inputs = {"q", "k?", "positions"};
  sections.defaults.erase("pairing");
  sections.defaults["mode"] = std::string("text");
  for (const char *section : {"section_0", "section_1", "section_2", "section_3"})
    sections.defaults[section] = int64_t(0);
  for (const auto &[name, value] : yarnDraw(1, 0, 1, 32, 1, 0))
    sections.defaults[name] = value;
  sections.evaluate = mrope;
  sections.draws = {sectionDraws(),
                    valuesOf("theta", {1e4, 1e6, 100.0}),
                    {yarnDraw(1, 0, 1, 32, 1, 0), yarnDraw(0.25, 1, 1, 32, 1, 4096),
                     yarnDraw(0.5, 0.5, 1.2, 24, 2, 512), yarnDraw(0.5, 0, 0.8, 32, 1, 0)}};
  return {table, tableAt, rotation, direct, sections};
}

} // namespace ck::reference
