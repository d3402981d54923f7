//===- Rope.cpp - rotary position embeddings and their tables -------------===//

#include "Pieces.h"

#include <cmath>

namespace ck::reference {
namespace {

/// Frequency of pair i after the scaling of the context.
double frequency(const Call &call, int64_t i) {
  const double pi = 3.14159265358979323846;
  double base = std::pow(call.number("theta"), -2.0 * static_cast<double>(i) / call.number("rotary_dim"));
  std::string scaling = call.word("scaling");
  double factor = call.number("factor");
  if (scaling == "linear")
    return base / factor;
  if (scaling != "llama3")
    return base;
  double low = call.number("low_freq_factor"), high = call.number("high_freq_factor");
  double context = call.number("original_context");
  double wavelength = 2 * pi / base;
  if (wavelength < context / high)
    return base;
  if (wavelength > context / low)
    return base / factor;
  double keep = (context / wavelength - low) / (high - low);
  return keep * base + (1 - keep) * base / factor;
}

Status ropeTable(Call &call) {
  int64_t S = call.integer("rows"), P = call.integer("rotary_dim") / 2;
  if (Status status = call.expectShapes({{"cos", {S, P}}, {"sin", {S, P}}}); !status)
    return status;
  for (int64_t s = 0; s < S; ++s)
    for (int64_t i = 0; i < P; ++i) {
      double angle = static_cast<double>(s) * frequency(call, i);
      call.out("cos").data[s * P + i] = std::cos(angle);
      call.out("sin").data[s * P + i] = std::sin(angle);
    }
  return Status::success();
}

Status rotate(const Call &call, const char *inputName, const Tensor &input, Tensor &output) {
  const Tensor &pos = call.in("pos"), &cosines = call.in("cos"), &sines = call.in("sin");
  int64_t T = pos.extent(0), P = cosines.extent(1), D = call.integer("head_dim");
  bool headMajor = call.word("layout") == "head_major", adjacent = call.word("pairing") == "adjacent";
  double sign = call.flag("inverse") ? -1 : 1;
  int64_t heads = headMajor ? input.extent(0) : D > 0 ? input.extent(1) / D : 0;
  std::vector<int64_t> shape = headMajor ? std::vector<int64_t>{heads, T, D} : std::vector<int64_t>{T, heads * D};
  if (D < 1 || 2 * P > D || input.shape != shape || output.shape != shape)
    return badCall(std::string("the shapes of ") + inputName + ", its result, head_dim and the tables do not agree");
  for (int64_t t = 0; t < T; ++t)
    for (int64_t h = 0; h < heads; ++h) {
      int64_t row = headMajor ? (h * T + t) * D : (t * heads + h) * D;
      for (int64_t d = 0; d < D; ++d)
        output.data[row + d] = input.data[row + d];
      for (int64_t i = 0; i < P; ++i) {
        int64_t first = row + (adjacent ? 2 * i : i), second = row + (adjacent ? 2 * i + 1 : i + P);
        double a = input.data[first], b = input.data[second];
        double c = cosines.data[pos.integer(t) * P + i], s = sign * sines.data[pos.integer(t) * P + i];
        output.data[first] = a * c - b * s;
        output.data[second] = a * s + b * c;
      }
    }
  return Status::success();
}

Status rope(Call &call) {
  const Tensor &pos = call.in("pos"), &cosines = call.in("cos");
  int64_t T = pos.extent(0), S = cosines.extent(0), P = cosines.extent(1);
  if (Status status = call.expectShapes({{"pos", {T}}, {"cos", {S, P}}, {"sin", {S, P}}}); !status)
    return status;
  if (Status status = expectIndices("pos", pos, S); !status)
    return status;
  if (Status status = rotate(call, "q", call.in("q"), call.out("q_out")); !status)
    return status;
  const Tensor *k = call.optional("k");
  Tensor *result = call.wanted("k_out");
  if (!k != !result)
    return badCall("k and k_out are present together or not at all");
  return k ? rotate(call, "k", *k, *result) : Status::success();
}

bool prepareRope(Call &call, Random &random) {
  return fillIndices(call.inputs["pos"], call.in("cos").extent(0), random);
}

bool spoilRope(Call &call, Random &random) { return spoilIndex(call.inputs["pos"], call.in("cos").extent(0), random); }

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
                    {"original_context", int64_t(0)}};
  table.evaluate = ropeTable;
  table.draws = {
      {{{"rows", int64_t(1)}}, {{"rows", int64_t(7)}}, {{"rows", int64_t(64)}}, {{"rows", int64_t(2049)}}},
      {{{"rotary_dim", int64_t(2)}},
       {{"rotary_dim", int64_t(6)}},
       {{"rotary_dim", int64_t(64)}},
       {{"rotary_dim", int64_t(128)}}},
      {{{"theta", 1e4}}, {{"theta", 5e5}}},
      {{{"factor", 8.0}, {"low_freq_factor", 1.0}, {"high_freq_factor", 4.0}, {"original_context", int64_t(8192)}},
       {{"factor", 32.0}, {"low_freq_factor", 1.0}, {"high_freq_factor", 4.0}, {"original_context", int64_t(64)}},
       {{"factor", 2.5}, {"low_freq_factor", 0.5}, {"high_freq_factor", 3.0}, {"original_context", int64_t(512)}}}};

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
  return {table, rotation};
}

} // namespace ck::reference
