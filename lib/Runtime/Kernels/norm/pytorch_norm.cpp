//===- pytorch_norm.cpp - norms of bf16 with PyTorch's order of sums ------===//
//
// The sum of squares is a cascade over four streams of eight lanes, the moments of layer_norm are Welford's, merged as
// a binary tree. Lanes are written out, so that all instruction sets give the same bits.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

#include "ck/Support/Half.h"

using namespace ck;

namespace {

constexpr int kWidth = 8;

struct Lanes {
  float lane[kWidth] = {};
  void add(const Lanes &other) {
    for (int k = 0; k < kWidth; ++k)
      lane[k] += other.lane[k];
  }
};

int64_t ceilLog2(int64_t n) {
  int64_t log = 0;
  while ((int64_t(1) << log) < n)
    ++log;
  return log;
}

Lanes squaresOf(const uint16_t *x) {
  Lanes squares;
  for (int k = 0; k < kWidth; ++k)
    squares.lane[k] = bf16ToFloat(x[k]) * bf16ToFloat(x[k]);
  return squares;
}

/// Sums of four streams; vectors of a row belong to them in turn.
struct Level {
  Lanes stream[4];
  void add(const Level &other) {
    for (int s = 0; s < 4; ++s)
      stream[s].add(other.stream[s]);
  }
};

/// The sum of the squares of n values.
float cascadeOfSquares(const uint16_t *x, int64_t n) {
  constexpr int kLevels = 4;
  const int64_t vectors = n / kWidth, items = vectors / 4;
  const int64_t levelBits = std::max<int64_t>(4, ceilLog2(items) / 4), step = int64_t(1) << levelBits;
  Level level[kLevels];
  const auto addItem = [&](int64_t i) {
    for (int64_t s = 0; s < 4; ++s)
      level[0].stream[s].add(squaresOf(x + (4 * i + s) * kWidth));
  };
  int64_t i = 0;
  while (i + step <= items) {
    for (const int64_t end = i + step; i < end; ++i)
      addItem(i);
    for (int h = 1; h < kLevels; ++h) {
      level[h].add(level[h - 1]);
      level[h - 1] = Level();
      if (i & (step - 1) << (h * levelBits))
        break;
    }
  }
  for (; i < items; ++i)
    addItem(i);
  for (int h = 1; h < kLevels; ++h)
    level[0].add(level[h]);
  Lanes &sum = level[0].stream[0];
  for (int64_t v = 4 * items; v < vectors; ++v)
    sum.add(squaresOf(x + v * kWidth));
  for (int s = 1; s < 4; ++s)
    sum.add(level[0].stream[s]);
  float total = 0;
  for (int64_t e = vectors * kWidth; e < n; ++e)
    total += bf16ToFloat(x[e]) * bf16ToFloat(x[e]);
  for (const float lane : sum.lane)
    total += lane;
  return total;
}

/// y[e] = finish(x[e] r, e), with rows of D values that lie apart by strides.
template <typename Finish>
int32_t rmsNorm(ck_context *ctx, const uint16_t *input, int64_t inputStride, uint16_t *output, int64_t outputStride,
                float *rstd, int64_t T, int64_t D, double eps, Finish finish) {
  parallelRange(ctx, T, rowsPerTask(4 * D), [=](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t) {
      const uint16_t *x = input + t * inputStride;
      const float mean = cascadeOfSquares(x, D) / static_cast<float>(D);
      const float r = 1.0f / std::sqrt(mean + static_cast<float>(eps));
      for (int64_t d = 0; d < D; ++d)
        output[t * outputStride + d] = floatToBF16(finish(bf16ToFloat(x[d]) * r, d));
      if (rstd)
        rstd[t] = r;
    }
  });
  return CK_OK;
}

template <typename Args, typename Finish> int32_t rmsNorm(ck_context *ctx, const Args *args, Finish finish) {
  return rmsNorm(ctx, args->input, args->E, args->output, args->E, args->rstd, args->T, args->E, args->eps, finish);
}

/// The normalised value is rounded before the gain, the product after it.
auto roundedThenGained(const uint16_t *gamma) {
  return [=](float y, int64_t e) { return bf16ToFloat(floatToBF16(y)) * bf16ToFloat(gamma[e]); };
}

/// Mean and sum of squared deviations of `count` values in each lane.
struct Moments {
  float mean[kWidth] = {}, squares[kWidth] = {};
  int64_t count = 0;

  /// One more value in each lane.
  void add(const uint16_t *x) {
    const float c = 1.0f / static_cast<float>(++count);
    for (int k = 0; k < kWidth; ++k) {
      const float v = bf16ToFloat(x[k]), delta = v - mean[k];
      mean[k] = std::fma(delta, c, mean[k]);
      squares[k] = std::fma(delta, v - mean[k], squares[k]);
    }
  }
  void add(const Moments &other) {
    const int64_t both = count + other.count;
    const auto before = static_cast<float>(count);
    const float c = both == 0 ? 0.0f : static_cast<float>(other.count) / static_cast<float>(both);
    for (int k = 0; k < kWidth; ++k) {
      const float delta = other.mean[k] - mean[k], step = c * delta;
      mean[k] += step;
      squares[k] = std::fma(delta * before, step, squares[k] + other.squares[k]);
    }
    count = both;
  }
};

struct RowMoments {
  float mean, variance;
};

RowMoments welford(const uint16_t *x, int64_t n) {
  constexpr int64_t kChunk = 16; // vectors of two halves
  const int64_t vectors = n / (2 * kWidth), chunks = ceilDiv(vectors, kChunk);
  const int64_t depth = std::max<int64_t>(1, ceilLog2(chunks));
  Moments stack[64];
  for (int64_t i = 0; i < chunks; ++i) {
    Moments low, high;
    for (int64_t v = i * kChunk; v < std::min(vectors, (i + 1) * kChunk); ++v) {
      low.add(x + v * 2 * kWidth);
      high.add(x + v * 2 * kWidth + kWidth);
    }
    stack[0].add(low);
    stack[0].add(high);
    for (int64_t level = 1; level < depth && (i + 1) % (int64_t(1) << level) == 0; ++level) {
      stack[level].add(stack[level - 1]);
      stack[level - 1] = Moments();
    }
  }
  for (int64_t level = 1; level < depth; ++level)
    stack[0].add(stack[level]);
  float mean = 0, squares = 0;
  int64_t count = 0;
  for (int64_t e = vectors * 2 * kWidth; e < n; ++e) {
    const float v = bf16ToFloat(x[e]), delta = v - mean;
    mean += delta / static_cast<float>(++count);
    squares += delta * (v - mean);
  }
  const int64_t laneCount = 2 * vectors;
  for (int k = 0; k < kWidth; ++k) {
    const int64_t both = count + laneCount;
    const float c = both == 0 ? 0.0f : static_cast<float>(laneCount) / static_cast<float>(both);
    const float delta = stack[0].mean[k] - mean;
    mean = std::fma(c, delta, mean);
    squares += std::fma(delta * delta * c, static_cast<float>(count), stack[0].squares[k]);
    count = both;
  }
  return {mean, squares / static_cast<float>(n)};
}

} // namespace

CK_PORTABLE_KERNEL(rmsnorm_forward_pytorch_bf16_storage) { return rmsNorm(ctx, args, roundedThenGained(args->gamma)); }

CK_PORTABLE_KERNEL(rmsnorm_forward_strided_pytorch_bf16_storage) {
  return rmsNorm(ctx, args->input, args->input_stride0, args->output, args->output_stride0, args->rstd, args->T,
                 args->D, args->eps, roundedThenGained(args->gamma));
}

CK_PORTABLE_KERNEL(rmsnorm_forward_qwen3next_pytorch_bf16_storage) {
  return rmsNorm(ctx, args, [=](float y, int64_t e) { return y * args->gamma[e]; });
}

CK_PORTABLE_KERNEL(rmsnorm_muse_weighted_pytorch_bf16_storage) {
  return rmsNorm(ctx, args, [=](float y, int64_t e) { return y * bf16ToFloat(args->gamma[e]); });
}

CK_PORTABLE_KERNEL(rmsnorm_muse_centered_pytorch_bf16_storage) {
  return rmsNorm(ctx, args, [=](float y, int64_t e) { return y * (1.0f + bf16ToFloat(args->gamma[e])); });
}

CK_PORTABLE_KERNEL(rmsnorm_muse_unweighted_pytorch_bf16_storage) {
  return rmsNorm(ctx, args->input, args->E, args->output, args->E, nullptr, args->T, args->E, args->eps,
                 [](float y, int64_t) { return y; });
}

CK_PORTABLE_KERNEL(layernorm_bf16_pytorch_welford) {
  const int64_t E = args->E;
  parallelRange(ctx, args->T, rowsPerTask(8 * E), [=](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t) {
      const uint16_t *x = args->input + t * E;
      const RowMoments moments = welford(x, E);
      const float r = 1.0f / std::sqrt(moments.variance + static_cast<float>(args->eps)), shift = -r * moments.mean;
      for (int64_t e = 0; e < E; ++e)
        args->output[t * E + e] = floatToBF16(
            std::fma(std::fma(bf16ToFloat(x[e]), r, shift), bf16ToFloat(args->gamma[e]), bf16ToFloat(args->beta[e])));
      if (args->mean)
        args->mean[t] = moments.mean;
      if (args->rstd)
        args->rstd[t] = r;
    }
  });
  return CK_OK;
}
