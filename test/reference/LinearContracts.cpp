//===- LinearContracts.cpp - exact references of the linear family --------===//
//
// Each rounding is written out: an assignment to a float is one.
//
//===----------------------------------------------------------------------===//

#include "Contracts.h"
#include "QuantRules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace ck::reference {
namespace {

float f32At(const Tensor &tensor, int64_t i) { return static_cast<float>(tensor.data[i]); }

/// The stored value, rounded once to f32; then one sum.
void embeddingRows(Call &call) {
  const Tensor &ids = call.in("ids"), &table = call.in("table"), *positions = call.optional("pos_emb");
  Tensor &output = call.out("output");
  for (int64_t t = 0, E = table.extent(1); t < ids.extent(0); ++t)
    for (int64_t e = 0; e < E; ++e) {
      float value = f32At(table, ids.integer(t) * E + e);
      if (positions)
        value += f32At(*positions, t * E + e);
      output.data[t * E + e] = value;
    }
}

/// ((a4 + a0) + (a6 + a2)) + ((a5 + a1) + (a7 + a3)).
float reduce8(const std::array<float, 8> &a) {
  float r0 = a[4] + a[0], r1 = a[5] + a[1], r2 = a[6] + a[2], r3 = a[7] + a[3];
  float s0 = r0 + r2, s1 = r1 + r3;
  return s0 + s1;
}

/// The activations of a product in 8 bits, quantised by `ties` where they come in f32.
std::vector<uint8_t> codesOf(const Tensor &input, const std::string &dtype, Ties ties = Ties::ToEven) {
  return input.dtype == dtype ? input.bytes : quantizeValues(dtype, input.data, ties);
}

/// Calls dot(row, weights, activations) for each output, with the blocks of both rows, and adds the bias last.
using Blocks = std::vector<Block>;
void multiplyBlocks(Call &call, const std::string &activation, Ties ties,
                    const std::function<float(int64_t row, const Blocks &w, const Blocks &x)> &dot) {
  const Tensor &input = call.in("input"), &weight = call.in("weight"), *bias = call.optional("bias");
  const int64_t T = input.extent(0), K = input.extent(1), N = weight.extent(0);
  auto rowsOf = [K](const std::string &dtype, const std::vector<uint8_t> &bytes, int64_t rows) {
    const BlockSize size = blockSize(dtype);
    std::vector<Blocks> all(static_cast<size_t>(rows));
    const uint8_t *at = bytes.data();
    for (Blocks &row : all)
      for (int64_t b = 0; b < K / size.elements; ++b, at += size.bytes)
        row.push_back(readBlock(dtype, at));
    return all;
  };
  const std::vector<Blocks> w = rowsOf(weight.dtype, weight.bytes, N),
                            x = rowsOf(activation, codesOf(input, activation, ties), T);
  for (int64_t t = 0; t < T; ++t)
    for (int64_t n = 0; n < N; ++n) {
      float y = dot(t, w[static_cast<size_t>(n)], x[static_cast<size_t>(t)]);
      if (bias)
        y += f32At(*bias, n);
      call.out("output").data[t * N + n] = y;
    }
}

/// Products 4j .. 4j+3 of each 32 elements of a block, in lane j; codes less their offset where `centred`.
std::array<int, 8> integerLanes(const Block &w, const Block &x, bool scaled, bool centred = true) {
  std::array<int, 8> lanes = {};
  for (int i = 0; i < w.elements; ++i)
    lanes[static_cast<size_t>(i % 32 / 4)] +=
        (scaled ? w.scale[i / w.sub] : 1) * (w.code[i] - (centred ? w.offset : 0)) * x.code[i];
  return lanes;
}
int integerSum(const Block &w, const Block &x) {
  int sum = 0;
  for (int lane : integerLanes(w, x, false))
    sum += lane;
  return sum;
}
void addLanes(std::array<float, 8> &sums, float d, const std::array<int, 8> &lanes) {
  for (size_t j = 0; j < 8; ++j)
    sums[j] = std::fma(d, static_cast<float>(lanes[j]), sums[j]);
}

void dotLanes8(Call &call) {
  multiplyBlocks(call, "q8_0", Ties::ToEven, [](int64_t, const Blocks &w, const Blocks &x) {
    std::array<float, 8> sums = {};
    for (size_t b = 0; b < w.size(); ++b)
      addLanes(sums, w[b].d * x[b].d, integerLanes(w[b], x[b], false));
    return reduce8(sums);
  });
}

float ascendingBlocks(int64_t, const Blocks &w, const Blocks &x) {
  float sum = 0;
  for (size_t b = 0; b < w.size(); ++b) {
    float d = w[b].d * x[b].d, product = d * static_cast<float>(integerSum(w[b], x[b]));
    sum += product;
  }
  return sum;
}
void dotBlocks(Call &call) { multiplyBlocks(call, "q8_0", Ties::ToEven, ascendingBlocks); }
void dotBlocksPlusHalf(Call &call) { multiplyBlocks(call, "q8_0", Ties::PlusHalf, ascendingBlocks); }

void dotMinLanes8(Call &call) {
  multiplyBlocks(call, "q8_1", Ties::AwayFromZero, [](int64_t, const Blocks &w, const Blocks &x) {
    std::array<float, 8> sums = {};
    float minima = 0;
    for (size_t b = 0; b < w.size(); ++b) {
      addLanes(sums, w[b].d * x[b].d, integerLanes(w[b], x[b], false));
      minima = std::fma(-w[b].dmin, x[b].s, minima);
    }
    return reduce8(sums) + minima;
  });
}

void dotMinBlocks(Call &call) {
  multiplyBlocks(call, "q8_1", Ties::AwayFromZero, [](int64_t, const Blocks &w, const Blocks &x) {
    float sum = 0;
    for (size_t b = 0; b < w.size(); ++b) {
      float d = w[b].d * x[b].d, codes = d * static_cast<float>(integerSum(w[b], x[b])), minimum = -w[b].dmin * x[b].s;
      float both = codes + minimum;
      sum += both;
    }
    return sum;
  });
}

/// Sum over elements [begin, end) of a block of scale * code * activation, and of minimum * activation.
std::array<int, 2> scaledSums(const Block &w, const Block &x, int begin, int end) {
  std::array<int, 2> sums = {};
  for (int i = begin; i < end; ++i)
    sums[0] += w.scale[i / 32] * w.code[i] * x.code[i];
  for (int g = begin / 16; g < end / 16; ++g)
    sums[1] += w.min[g / 2] * x.sums[g];
  return sums;
}

void dotQ4K(Call &call) {
  const int64_t fours = call.in("input").extent(0) / 4 * 4;
  multiplyBlocks(call, "q8_k", Ties::ToEven, [fours](int64_t row, const Blocks &w, const Blocks &x) {
    const int step = row < fours ? 64 : 256;
    float codes = 0, minima = 0;
    for (size_t b = 0; b < w.size(); ++b)
      for (int i = 0; i < 256; i += step) {
        auto [code, minimum] = scaledSums(w[b], x[b], i, i + step);
        codes = std::fma(static_cast<float>(code), w[b].d * x[b].d, codes);
        minima = std::fma(static_cast<float>(minimum), w[b].dmin * x[b].d, minima);
      }
    return codes - minima;
  });
}

void dotQ5K(Call &call) {
  multiplyBlocks(call, "q8_k", Ties::ToEven, [](int64_t, const Blocks &w, const Blocks &x) {
    std::array<float, 8> sums = {};
    float minima = 0;
    for (size_t b = 0; b < w.size(); ++b) {
      addLanes(sums, w[b].d * x[b].d, integerLanes(w[b], x[b], true));
      float dmin = w[b].dmin * x[b].d;
      minima = std::fma(-dmin, static_cast<float>(scaledSums(w[b], x[b], 0, 256)[1]), minima);
    }
    return reduce8(sums) + minima;
  });
}

void dotQ6K(Call &call) {
  multiplyBlocks(call, "q8_k", Ties::ToEven, [](int64_t, const Blocks &w, const Blocks &x) {
    std::array<float, 8> sums = {};
    for (size_t b = 0; b < w.size(); ++b) {
      std::array<int, 8> lanes = integerLanes(w[b], x[b], true, false);
      for (size_t t = 0; t < 8; ++t)
        lanes[t] -= 32 * (w[b].scale[2 * t] * x[b].sums[2 * t] + w[b].scale[2 * t + 1] * x[b].sums[2 * t + 1]);
      addLanes(sums, w[b].d * x[b].d, lanes);
    }
    return reduce8(sums);
  });
}

/// rms_norm with rstd from a mean in f64, quantisation, three products, head-major.
void fusedNormQkv(Call &call) {
  const Tensor &input = call.in("input"), &gamma = call.in("gamma");
  const int64_t T = input.extent(0), E = input.extent(1);
  Tensor normed = Tensor::zeros({T, E});
  normed.dtype = "q8_0";
  for (int64_t t = 0; t < T; ++t) {
    double squares = 0;
    for (int64_t e = 0; e < E; ++e)
      squares += input.data[t * E + e] * input.data[t * E + e];
    float rstd = static_cast<float>(1 / std::sqrt(squares / static_cast<double>(E) + call.number("eps")));
    for (int64_t e = 0; e < E; ++e) {
      float scaled = f32At(input, t * E + e) * rstd, value = scaled * f32At(gamma, e);
      normed.data[t * E + e] = value;
    }
  }
  normed.bytes = quantizeValues("q8_0", normed.data);
  for (const char *name : {"q", "k", "v"}) {
    Call part;
    const int64_t N = call.in(std::string("w") + name).extent(0), D = call.out(name).extent(2);
    part.inputs = {{"input", normed}, {"weight", call.in(std::string("w") + name)}};
    if (const Tensor *bias = call.optional(std::string("b") + name))
      part.inputs["bias"] = *bias;
    part.outputs["output"] = Tensor::zeros({T, N});
    name[0] == 'v' ? dotBlocks(part) : dotLanes8(part);
    for (int64_t t = 0; t < T; ++t)
      for (int64_t n = 0; n < N; ++n)
        call.out(name).data[(n / D * T + t) * D + n % D] = part.out("output").data[t * N + n];
  }
}

/// Calls dot(input row, weight row, K, bias) for each output; what it gives is stored in the type of the output.
using FloatDot = std::function<double(const float *a, const float *w, int64_t k, const float *bias)>;
void multiplyFloats(Call &call, const std::function<float(float)> &prepare, const FloatDot &dot) {
  const Tensor &input = call.in("input"), &weight = call.in("weight"), *bias = call.optional("bias");
  Tensor &output = call.out("output");
  const int64_t T = input.extent(0), K = input.extent(1), N = weight.extent(0);
  std::vector<float> a, w;
  for (double value : input.data)
    a.push_back(prepare(static_cast<float>(value)));
  for (double value : weight.data)
    w.push_back(static_cast<float>(value));
  for (int64_t t = 0; t < T; ++t)
    for (int64_t n = 0; n < N; ++n) {
      const float b = bias ? f32At(*bias, n) : 0;
      double y = dot(a.data() + t * K, w.data() + n * K, K, bias ? &b : nullptr);
      output.data[t * N + n] = output.dtype == "bf16" ? roundBF16(static_cast<float>(y)) : y;
    }
}
float same(float x) { return x; }

/// sum += a * w over [k, end), each operation rounded.
float addRest(float sum, const float *a, const float *w, int64_t k, int64_t end) {
  for (; k < end; ++k) {
    float product = a[k] * w[k];
    sum += product;
  }
  return sum;
}
double biasFirst(const float *a, const float *w, int64_t k, const float *bias) {
  return addRest(bias ? *bias : 0, a, w, 0, k);
}
double biasLast(const float *a, const float *w, int64_t k, const float *bias) {
  float sum = addRest(0, a, w, 0, k);
  return bias ? sum + *bias : sum;
}
double fusedLanes8(const float *a, const float *w, int64_t k, const float *bias) {
  std::array<float, 8> lanes = {};
  const int64_t whole = k / 8 * 8;
  for (int64_t i = 0; i < whole; ++i)
    lanes[static_cast<size_t>(i % 8)] = std::fma(a[i], w[i], lanes[static_cast<size_t>(i % 8)]);
  float sum = addRest(reduce8(lanes), a, w, whole, k);
  return bias ? sum + *bias : sum;
}
double fourFusedLanes8(const float *a, const float *w, int64_t k, const float *bias) {
  float lane[4][8] = {}, merged[8], r[4];
  const int64_t whole = k / 32 * 32;
  for (int64_t i = 0; i < whole; ++i)
    lane[i / 8 % 4][i % 8] = std::fma(a[i], w[i], lane[i / 8 % 4][i % 8]);
  for (int j = 0; j < 8; ++j) {
    float even = lane[0][j] + lane[2][j], odd = lane[1][j] + lane[3][j];
    merged[j] = even + odd;
  }
  for (int j = 0; j < 4; ++j)
    r[j] = merged[j] + merged[j + 4];
  float first = r[0] + r[1], second = r[2] + r[3];
  float sum = addRest(first + second, a, w, whole, k);
  return bias ? sum + *bias : sum;
}
double pairLanes16(const float *a, const float *w, int64_t k, const float *bias) {
  float lane[16] = {};
  const int64_t whole = k / 32 * 32;
  for (int64_t i = 0; i < whole; ++i) {
    float product = a[i] * w[i];
    lane[i % 32 / 2] += product;
  }
  std::array<float, 8> half;
  for (size_t j = 0; j < 8; ++j)
    half[j] = lane[j] + lane[j + 8];
  float sum = addRest(reduce8(half), a, w, whole, k);
  return bias ? sum + *bias : sum;
}
/// f64 lanes; rounded to bf16 here, in one step.
double f64Lanes(const float *a, const float *w, int64_t k, const float *bias) {
  double lane[8] = {};
  const int64_t whole = k / 8 * 8;
  for (int64_t i = 0; i < whole; ++i)
    lane[i % 8] += double(a[i]) * double(w[i]);
  double sum = ((lane[4] + lane[0]) + (lane[6] + lane[2])) + ((lane[5] + lane[1]) + (lane[7] + lane[3]));
  for (int64_t i = whole; i < k; ++i)
    sum += double(a[i]) * double(w[i]);
  if (bias)
    sum += double(*bias);
  if (sum == 0 || !std::isfinite(sum))
    return sum;
  const int unit = std::max(std::ilogb(sum), -126) - 7;
  return std::ldexp(std::nearbyint(std::ldexp(sum, -unit)), unit);
}

void f32Ascending(Call &call) { multiplyFloats(call, same, biasLast); }
void f32Lanes8(Call &call) {
  multiplyFloats(call, same, call.in("input").extent(0) == 1 ? fourFusedLanes8 : fusedLanes8);
}
void f16Lanes8(Call &call) { multiplyFloats(call, roundF16, fusedLanes8); }
void bf16Ascending(Call &call) { multiplyFloats(call, roundBF16, biasFirst); }
void bf16Tiles(Call &call) { multiplyFloats(call, same, biasLast); }
void bf16Pairs(Call &call) { multiplyFloats(call, same, pairLanes16); }
void bf16ShapeSafe(Call &call) {
  const Tensor &input = call.in("input");
  bool fits = input.extent(0) % 16 == 0 && call.in("weight").extent(0) % 16 == 0 && input.extent(1) % 32 == 0;
  fits ? bf16Tiles(call) : bf16Pairs(call);
}
void bf16F64(Call &call) { multiplyFloats(call, same, f64Lanes); }

float clampTo(float x, const Tensor *least, const Tensor *most) {
  if (least && x < f32At(*least, 0))
    return f32At(*least, 0);
  return most && x > f32At(*most, 0) ? f32At(*most, 0) : x;
}
void f16Clipped(Call &call) {
  const Tensor *inMin = call.optional("in_min"), *inMax = call.optional("in_max");
  multiplyFloats(call, [=](float x) { return roundF16(clampTo(x, inMin, inMax)); }, biasFirst);
  for (double &y : call.out("output").data)
    y = clampTo(static_cast<float>(y), call.optional("out_min"), call.optional("out_max"));
}

} // namespace

std::vector<Contract> linearContracts() {
  return {{"embedding_rows", embeddingRows},
          {"dot_lanes8", dotLanes8},
          {"dot_blocks", dotBlocks},
          {"dot_blocks_plus_half", dotBlocksPlusHalf},
          {"dot_min_lanes8", dotMinLanes8},
          {"dot_min_blocks", dotMinBlocks},
          {"dot_q4_k", dotQ4K},
          {"dot_q5_k", dotQ5K},
          {"dot_q6_k", dotQ6K},
          {"fused_norm_qkv", fusedNormQkv},
          {"f32_ascending", f32Ascending},
          {"f32_lanes8", f32Lanes8},
          {"f16_lanes8", f16Lanes8},
          {"f16_clipped", f16Clipped},
          {"bf16_ascending", bf16Ascending},
          {"bf16_tiles", bf16Tiles},
          {"bf16_pairs", bf16Pairs},
          {"bf16_shape_safe", bf16ShapeSafe},
          {"bf16_f64", bf16F64}};
}

} // namespace ck::reference
