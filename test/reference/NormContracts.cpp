//===- NormContracts.cpp - exact references of the norm family ------------===//
//
// Sums in the order that each contract states, one rounding after the other.
//
//===----------------------------------------------------------------------===//
#include "Contracts.h"

#include <cmath>

namespace ck::reference {
namespace {

using Row = std::vector<float>;

/// Row t as f32, which holds values of f32 and bf16 exactly.
Row rowOf(const Tensor &tensor, int64_t t) {
  int64_t width = tensor.shape.back();
  Row row(width);
  for (int64_t e = 0; e < width; ++e)
    row[e] = static_cast<float>(tensor.data[t * width + e]);
  return row;
}

void put(Call &call, const char *name, int64_t i, float value) {
  if (Tensor *output = call.wanted(name))
    output->data[i] = static_cast<double>(value);
}

//===----------------------------------------------------------------------===//
// rms_norm
//===----------------------------------------------------------------------===//

/// y[e] = finish(x[e] r, e) for each row, where r follows from the mean of squares.
template <typename Mean, typename Finish> void eachRmsRow(Call &call, Mean mean, Finish finish) {
  const Tensor &input = call.in("input");
  int64_t T = input.extent(0), E = input.extent(1);
  float eps = static_cast<float>(call.number("eps")), scale = static_cast<float>(call.number("scale"));
  for (int64_t t = 0; t < T; ++t) {
    Row x = rowOf(input, t);
    for (float &value : x)
      value = value * scale;
    float shifted = mean(x) + eps;
    float root = std::sqrt(shifted);
    float r = 1.0f / root;
    put(call, "rstd", t, r);
    for (int64_t e = 0; e < E; ++e) {
      float y = x[e] * r;
      put(call, "output", t * E + e, finish(y, e));
    }
  }
}

float meanFromF64(const Row &x, bool roundSquares) {
  double sum = 0;
  for (float value : x) {
    float square = value * value;
    sum = sum + (roundSquares ? double(square) : double(value) * double(value));
  }
  return static_cast<float>(sum / static_cast<double>(x.size()));
}

void rmsNormF64Sum(Call &call) {
  Row gamma = rowOf(call.in("gamma"), 0);
  eachRmsRow(call, [](const Row &x) { return meanFromF64(x, true); }, [&](float y, int64_t e) { return y * gamma[e]; });
}

void rmsNormScaledF64Sum(Call &call) {
  eachRmsRow(call, [](const Row &x) { return meanFromF64(x, false); }, [](float y, int64_t) { return y; });
}

/// Item i of stream s is vector 4i + s. Every 2^lp items the sum of a level moves to the next one, and on from there
/// whenever the count of items is a multiple of the level's span.
float cascadeSum(const Row &terms) {
  const size_t n = terms.size(), v = n / 8, c = v / 4;
  size_t log = 0;
  while ((size_t(1) << log) < c)
    ++log;
  const size_t lp = std::max<size_t>(4, log / 4), step = size_t(1) << lp;
  float level[4][4][8] = {}; // level, stream, lane
  auto each = [](auto body) {
    for (int s = 0; s < 4; ++s)
      for (int lane = 0; lane < 8; ++lane)
        body(s, lane);
  };
  const size_t whole = c / step * step;
  for (size_t i = 0; i < c; ++i) {
    each([&](int s, int lane) { level[0][s][lane] += terms[(4 * i + size_t(s)) * 8 + size_t(lane)]; });
    const size_t done = i + 1;
    if (done > whole || done % step != 0)
      continue;
    for (int h = 1; h <= 3; ++h) {
      each([&](int s, int lane) {
        level[h][s][lane] += level[h - 1][s][lane];
        level[h - 1][s][lane] = 0;
      });
      if ((done & ((step - 1) << (size_t(h) * lp))) != 0)
        break;
    }
  }
  for (int h = 1; h <= 3; ++h)
    each([&](int s, int lane) { level[0][s][lane] += level[h][s][lane]; });
  for (size_t k = 4 * c; k < v; ++k)
    for (size_t lane = 0; lane < 8; ++lane)
      level[0][0][lane] += terms[k * 8 + lane];
  float total = 0;
  for (size_t k = 8 * v; k < n; ++k)
    total = total + terms[k];
  for (int lane = 0; lane < 8; ++lane) {
    float streams = level[0][0][lane] + level[0][1][lane];
    streams = streams + level[0][2][lane];
    streams = streams + level[0][3][lane];
    total = total + streams;
  }
  return total;
}

float meanByCascade(const Row &x) {
  Row squares;
  for (float value : x)
    squares.push_back(value * value);
  return cascadeSum(squares) / static_cast<float>(x.size());
}

/// One rounding to bf16, of the result.
void rmsNormCascadeBF16(Call &call) {
  const std::string gain = call.word("gain");
  Row gamma = gain == "none" ? Row() : rowOf(call.in("gamma"), 0);
  eachRmsRow(call, meanByCascade, [&](float y, int64_t e) {
    if (gain == "none")
      return roundBF16(y);
    float factor = gain == "weight" ? gamma[e] : 1.0f + gamma[e];
    return roundBF16(y * factor);
  });
}

/// The normalised value is rounded as well.
void rmsNormCascadeRoundedBF16(Call &call) {
  Row gamma = rowOf(call.in("gamma"), 0);
  eachRmsRow(call, meanByCascade, [&](float y, int64_t e) { return roundBF16(roundBF16(y) * gamma[e]); });
}

//===----------------------------------------------------------------------===//
// layer_norm
//===----------------------------------------------------------------------===//

struct Moments {
  float mean, variance;
};

Moments momentsFromF64(const Row &x) {
  const size_t n = x.size();
  double sum = 0, squares = 0;
  for (float value : x)
    sum = sum + double(value);
  const float mean = static_cast<float>(sum) / static_cast<float>(n);
  Row q;
  for (float value : x) {
    float c = value - mean;
    q.push_back(c * c);
  }
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    float r0 = q[i] + q[i + 4], r1 = q[i + 1] + q[i + 5], r2 = q[i + 2] + q[i + 6], r3 = q[i + 3] + q[i + 7];
    float even = r0 + r2, odd = r1 + r3;
    float group = even + odd;
    squares = squares + double(group);
  }
  for (; i < n; ++i)
    squares = squares + double(q[i]);
  return {mean, static_cast<float>(squares / static_cast<double>(n))};
}

/// y[e] = finish(x[e], mean, r, e)
template <typename Finish> void eachLayerRow(Call &call, Moments (*moments)(const Row &), Finish finish) {
  const Tensor &input = call.in("input");
  int64_t T = input.extent(0), E = input.extent(1);
  for (int64_t t = 0; t < T; ++t) {
    Row x = rowOf(input, t);
    const auto [mean, variance] = moments(x);
    float shifted = variance + static_cast<float>(call.number("eps"));
    float r = 1.0f / std::sqrt(shifted);
    put(call, "mean", t, mean);
    put(call, "rstd", t, r);
    for (int64_t e = 0; e < E; ++e)
      put(call, "output", t * E + e, finish(x[e], mean, r, e));
  }
}

template <float (*kRound)(float)> void layerNormF64Sum(Call &call) {
  const Tensor *gamma = call.optional("gamma"), *beta = call.optional("beta");
  eachLayerRow(call, momentsFromF64, [&](float x, float mean, float r, int64_t e) {
    float c = x - mean;
    float y = c * r;
    if (gamma)
      y = y * static_cast<float>(gamma->data[e]);
    if (beta)
      y = y + static_cast<float>(beta->data[e]);
    return kRound(y);
  });
}
float keep(float value) { return value; }

/// A partial result: k values of mean m1 and sum of squared deviations m2.
struct Part {
  int64_t k = 0;
  float m1 = 0, m2 = 0;
};

Part merged(const Part &to, const Part &from) {
  const int64_t N = to.k + from.k;
  const float c = N == 0 ? 0.0f : static_cast<float>(from.k) / static_cast<float>(N);
  const float delta = from.m1 - to.m1;
  const float step = c * delta;
  const float weighted = delta * static_cast<float>(to.k);
  const float both = to.m2 + from.m2;
  return {N, to.m1 + step, std::fma(weighted, step, both)};
}

/// What one half of a lane pair sees of a chunk: column offset + 16 j for j from 0.
Part partOfChunk(const Row &x, int64_t begin, int64_t vectors, int64_t offset) {
  Part part;
  for (int64_t j = 0; j < vectors; ++j) {
    const float value = x[(begin + j) * 16 + offset];
    const float c = 1.0f / static_cast<float>(j + 1);
    const float delta = value - part.m1;
    part.m1 = std::fma(delta, c, part.m1);
    const float rest = value - part.m1;
    part.m2 = std::fma(delta, rest, part.m2);
    part.k = j + 1;
  }
  return part;
}

Moments momentsByWelford(const Row &x) {
  const int64_t n = static_cast<int64_t>(x.size()), nv = n / 16, chunks = (nv + 15) / 16;
  int64_t depth = 0;
  while ((int64_t(1) << depth) < chunks)
    ++depth;
  depth = std::max<int64_t>(depth, 1);

  Part tail;
  for (int64_t i = nv * 16; i < n; ++i) {
    ++tail.k;
    const float delta = x[i] - tail.m1;
    tail.m1 = tail.m1 + delta / static_cast<float>(tail.k);
    const float product = delta * (x[i] - tail.m1);
    tail.m2 = tail.m2 + product;
  }
  for (int64_t lane = 0; lane < 8; ++lane) {
    std::vector<Part> stack(depth);
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      const int64_t vectors = std::min<int64_t>(16, nv - chunk * 16);
      for (int64_t half : {0, 8})
        stack[0] = merged(stack[0], partOfChunk(x, chunk * 16, vectors, half + lane));
      int64_t mask = chunk + 1;
      for (int64_t l = 1; l < depth && mask % 2 == 0; ++l, mask /= 2) {
        stack[l] = merged(stack[l], stack[l - 1]);
        stack[l - 1] = Part();
      }
    }
    for (int64_t l = 1; l < depth; ++l)
      stack[0] = merged(stack[0], stack[l]);
    // The lanes are merged one by one; each stands for two values of every vector.
    const int64_t N = tail.k + 2 * nv;
    const float c = N == 0 ? 0.0f : static_cast<float>(2 * nv) / static_cast<float>(N);
    const float delta = stack[0].m1 - tail.m1;
    const float square = delta * delta;
    tail.m1 = std::fma(c, delta, tail.m1);
    tail.m2 = tail.m2 + std::fma(square * c, static_cast<float>(tail.k), stack[0].m2);
    tail.k = N;
  }
  return {tail.m1, tail.m2 / static_cast<float>(n)};
}

void layerNormWelfordBF16(Call &call) {
  const Tensor &gamma = call.in("gamma"), &beta = call.in("beta");
  eachLayerRow(call, momentsByWelford, [&](float x, float mean, float r, int64_t e) {
    const float shift = -r * mean;
    const float y = std::fma(x, r, shift);
    return roundBF16(std::fma(y, static_cast<float>(gamma.data[e]), static_cast<float>(beta.data[e])));
  });
}

} // namespace

std::vector<Contract> normContracts() {
  return {{"rms_norm_f64_sum", rmsNormF64Sum},
          {"rms_norm_scaled_f64_sum", rmsNormScaledF64Sum},
          {"rms_norm_cascade_bf16", rmsNormCascadeBF16},
          {"rms_norm_cascade_rounded_bf16", rmsNormCascadeRoundedBF16},
          {"layer_norm_f64_sum", layerNormF64Sum<keep>},
          {"layer_norm_f64_sum_bf16", layerNormF64Sum<roundBF16>},
          {"layer_norm_welford_bf16", layerNormWelfordBF16}};
}

} // namespace ck::reference
