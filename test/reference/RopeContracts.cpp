//===- RopeContracts.cpp - exact references of the rope family ------------===//
//
// Angles in single precision by the C library, in the order of the programs that are matched; rotations as fused
// products or with every product rounded to bfloat16. Results are rounded once to the type of the tensor.
//
//===----------------------------------------------------------------------===//

#include "Contracts.h"

#include <algorithm>
#include <cmath>

namespace ck::reference {
namespace {

struct Turn {
  float c, s;
};

double roundTo(const std::string &dtype, float value) {
  return dtype == "bf16" ? roundBF16(value) : dtype == "f16" ? roundF16(value) : value;
}

/// a' = fma(a, c, -(b s)), b' = fma(a, s, b c).
Turn turnFused(float a, float b, Turn turn) {
  return {std::fma(a, turn.c, -(b * turn.s)), std::fma(a, turn.s, b * turn.c)};
}

/// Every product, then every sum rounded to bfloat16.
Turn turnBF16(float a, float b, Turn turn) {
  return {roundBF16(roundBF16(a * turn.c) + roundBF16(-b * turn.s)),
          roundBF16(roundBF16(b * turn.c) + roundBF16(a * turn.s))};
}

/// Rotates q and k of [heads, T, D]; `turns` holds P of them for each row.
void rotate(Call &call, const std::vector<Turn> &turns, int64_t P, Turn (*apply)(float, float, Turn)) {
  bool adjacent = call.attrs.count("pairing") && call.word("pairing") == "adjacent";
  for (const char *name : {"q", "k"}) {
    const Tensor *in = call.optional(name);
    if (!in)
      continue;
    Tensor &out = call.out(std::string(name) + "_out");
    int64_t T = in->extent(1), D = in->extent(2);
    for (int64_t row = 0; row < in->extent(0) * T; ++row) {
      const double *x = in->data.data() + row * D;
      double *y = out.data.data() + row * D;
      for (int64_t d = 0; d < D; ++d)
        y[d] = roundTo(out.dtype, static_cast<float>(x[d]));
      for (int64_t i = 0; i < P; ++i) {
        int64_t first = adjacent ? 2 * i : i, second = adjacent ? first + 1 : i + P;
        Turn turn = turns[row % T * P + i];
        if (call.flag("inverse"))
          turn.s = -turn.s;
        Turn turned = apply(static_cast<float>(x[first]), static_cast<float>(x[second]), turn);
        y[first] = roundTo(out.dtype, turned.c);
        y[second] = roundTo(out.dtype, turned.s);
      }
    }
  }
}

/// Angles from tables, fused products.
void ropeFma(Call &call) {
  const Tensor &pos = call.in("pos"), &cosines = call.in("cos"), &sines = call.in("sin");
  int64_t T = pos.extent(0), P = cosines.extent(1);
  std::vector<Turn> turns;
  for (int64_t t = 0; t < T; ++t)
    for (int64_t i = 0; i < P; ++i) {
      int64_t at = pos.integer(t) * P + i;
      turns.push_back({static_cast<float>(cosines.data[at]), static_cast<float>(sines.data[at])});
    }
  rotate(call, turns, P, turnFused);
}

/// The angle of pair 0 is the position; each next one is the one before times theta^(-2/R). Fused products.
void ropeDirectGgml(Call &call) {
  const Tensor &pos = call.in("pos"), *factors = call.optional("freq_factors");
  int64_t R = call.integer("rotary_dim"), P = R / 2;
  float step = std::pow(static_cast<float>(call.number("theta")), -2.0f / static_cast<float>(R));
  std::vector<Turn> turns;
  for (double position : pos.data) {
    float angle = static_cast<float>(position);
    for (int64_t i = 0; i < P; ++i, angle *= step) {
      float scaled = angle / (factors ? static_cast<float>(factors->data[i]) : 1.0f);
      turns.push_back({std::cos(scaled), std::sin(scaled)});
    }
  }
  rotate(call, turns, P, turnFused);
}

/// Each frequency by itself, cosine and sine, products and sums rounded to bfloat16.
void ropeDirectBF16(Call &call) {
  const Tensor &pos = call.in("pos"), *factors = call.optional("freq_factors");
  int64_t R = call.integer("rotary_dim"), P = R / 2;
  std::vector<Turn> turns;
  for (double position : pos.data)
    for (int64_t i = 0; i < P; ++i) {
      float frequency =
          1.0f / std::pow(static_cast<float>(call.number("theta")), static_cast<float>(2 * i) / static_cast<float>(R));
      float angle = static_cast<float>(position) * frequency / (factors ? static_cast<float>(factors->data[i]) : 1.0f);
      turns.push_back({roundBF16(std::cos(angle)), roundBF16(std::sin(angle))});
    }
  rotate(call, turns, P, turnBF16);
}

/// Sections by repeated multiplication: four angles of a row advance together. (vision: the second section restarts.)
void mropeGgml(Call &call) {
  const Tensor &positions = call.in("positions");
  const std::string mode = call.word("mode");
  bool vision = mode == "vision";
  int64_t T = positions.extent(1), R = call.integer("rotary_dim"), P = R / 2, s[4];
  for (int i = 0; i < 4; ++i)
    s[i] = call.integer("section_" + std::to_string(i));
  float width = static_cast<float>(vision ? P : R), theta = static_cast<float>(call.number("theta"));
  float step = std::pow(theta, -2.0f / width);
  float scale = static_cast<float>(call.number("freq_scale")), ext = static_cast<float>(call.number("ext_factor"));
  float magnitude = static_cast<float>(call.number("attn_factor")), low = 0, high = 0;
  if (ext != 0) {
    auto pairOfTurns = [&](float turns) {
      return width *
             std::log(static_cast<float>(call.integer("original_context")) / (turns * 2 * 3.14159265358979323846f)) /
             (2 * std::log(theta));
    };
    low = std::max(0.0f, std::floor(pairOfTurns(static_cast<float>(call.number("beta_fast")))));
    high = std::min(width - 1, std::ceil(pairOfTurns(static_cast<float>(call.number("beta_slow")))));
    magnitude *= 1.0f + 0.1f * std::log(1.0f / scale);
  }
  std::vector<Turn> turns;
  for (int64_t t = 0; t < T; ++t) {
    float angles[4] = {};
    for (int axis = 0; axis < 4; ++axis)
      if (positions.extent(0) == 4 || axis < 3)
        angles[axis] = static_cast<float>(positions.data[(positions.extent(0) == 4 ? axis * T : 0) + t]);
    for (int64_t i = 0; i < P; ++i) {
      int axis = 3;
      if (vision) {
        axis = i >= s[0] && i < s[0] + s[1];
        if (i == s[0])
          angles[1] = static_cast<float>(positions.data[T + t]);
      } else {
        int64_t sector = i % (s[0] + s[1] + s[2] + s[3]);
        if (mode == "text")
          axis = sector < s[0] ? 0 : sector < s[0] + s[1] ? 1 : sector < s[0] + s[1] + s[2] ? 2 : 3;
        else if (sector < 3 * s[sector % 3])
          axis = static_cast<int>(sector % 3);
      }
      float wave = angles[axis], angle = scale * wave;
      if (ext != 0) {
        float up = (static_cast<float>(i) - low) / std::max(0.001f, high - low);
        float mix = (1.0f - std::min(1.0f, std::max(0.0f, up))) * ext;
        angle = std::fma(angle, 1.0f - mix, wave * mix);
      }
      turns.push_back({std::cos(angle) * magnitude, std::sin(angle) * magnitude});
      for (float &each : angles)
        each *= step;
    }
  }
  rotate(call, turns, P, turnFused);
}

/// Three interleaved axes, each frequency by itself, bfloat16 at every step.
void mropeBF16(Call &call) {
  const Tensor &positions = call.in("positions");
  int64_t T = positions.extent(1), R = call.integer("rotary_dim"), P = R / 2;
  std::vector<Turn> turns;
  for (int64_t t = 0; t < T; ++t)
    for (int64_t i = 0; i < P; ++i) {
      int64_t axis = 0;
      if (i % 3 == 1 && i < 3 * call.integer("section_1"))
        axis = 1;
      if (i % 3 == 2 && i < 3 * call.integer("section_2"))
        axis = 2;
      if (positions.extent(0) == 1)
        axis = 0;
      float frequency =
          1.0f / std::pow(static_cast<float>(call.number("theta")), static_cast<float>(2 * i) / static_cast<float>(R));
      float angle = static_cast<float>(positions.data[axis * T + t]) * frequency;
      angle *= static_cast<float>(call.number("freq_scale"));
      turns.push_back({roundBF16(std::cos(angle)), roundBF16(std::sin(angle))});
    }
  rotate(call, turns, P, turnBF16);
}

/// Angles by repeated multiplication, from the position (divided first where the context is stretched).
void ropeTableGgml(Call &call) {
  int64_t R = call.integer("rotary_dim"), P = R / 2;
  float step = std::pow(static_cast<float>(call.number("theta")), -2.0f / static_cast<float>(R));
  for (int64_t s = 0; s < call.integer("rows"); ++s) {
    float angle = static_cast<float>(s);
    if (call.word("scaling") == "linear")
      angle /= static_cast<float>(call.number("factor"));
    for (int64_t i = 0; i < P; ++i) {
      call.out("cos").data[s * P + i] = std::cos(angle);
      call.out("sin").data[s * P + i] = std::sin(angle);
      angle *= step;
    }
  }
}

/// YaRN in f32; where the ramp lies is computed in f64.
void ropeTableYarn(Call &call) {
  Tensor &cosines = call.out("cos"), &sines = call.out("sin");
  const Tensor *pos = call.optional("pos");
  int64_t R = call.integer("rotary_dim"), P = R / 2;
  double theta = call.number("theta"), factor = call.number("factor");
  auto pairOfTurns = [&](double turns) {
    return static_cast<double>(R) *
           std::log(static_cast<double>(call.integer("original_context")) / (turns * 2 * 3.14159265358979323846)) /
           (2 * std::log(theta));
  };
  double low = std::max(std::floor(pairOfTurns(call.number("beta_fast"))), 0.0);
  double high = std::min(std::ceil(pairOfTurns(call.number("beta_slow"))), static_cast<double>(R - 1));
  high = std::max(high, low + 0.001);
  auto magnitude = [&](const char *weight) {
    return factor <= 1 ? 1.0 : 0.1 * call.number(weight) * std::log(factor) + 1.0;
  };
  float k = static_cast<float>(magnitude("mscale") / magnitude("mscale_all_dim"));
  for (int64_t i = 0; i < P; ++i) {
    float fast = 1.0f / std::pow(static_cast<float>(theta), static_cast<float>(2 * i) / static_cast<float>(R));
    float up = (static_cast<float>(i) - static_cast<float>(low)) / static_cast<float>(high - low);
    up = std::min(1.0f, std::max(0.0f, up));
    float frequency = fast / static_cast<float>(factor) * up + fast * (1.0f - up);
    for (int64_t t = 0; t < cosines.extent(0); ++t) {
      float angle = static_cast<float>(pos ? pos->data[t] : static_cast<double>(t)) * frequency;
      cosines.data[t * P + i] = roundTo(cosines.dtype, std::cos(angle) * k);
      sines.data[t * P + i] = roundTo(sines.dtype, std::sin(angle) * k);
    }
  }
}

} // namespace

std::vector<Contract> ropeContracts() {
  return {{"rope_fma", ropeFma},
          {"rope_direct_ggml", ropeDirectGgml},
          {"rope_direct_bf16", ropeDirectBF16},
          {"mrope_ggml", mropeGgml},
          {"mrope_bf16", mropeBF16},
          {"rope_table_ggml", ropeTableGgml},
          {"rope_table_yarn", ropeTableYarn}};
}

} // namespace ck::reference
