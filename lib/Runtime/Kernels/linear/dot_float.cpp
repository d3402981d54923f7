//===- dot_float.cpp - linear layers of floats, in a declared order -------===//
//
// Providers whose contract fixes the order of a sum of floats: ascending, eight lanes, pairs of bf16, or f64. Inputs
// are rounded and widened to f32 once; 16-bit values and their products are exact in it. Two forms share the work:
// columns (16 outputs side by side, each an ascending sum) and rows (lanes along K).
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "linear/dot_float.cpp"
#include "hwy/foreach_target.h"

#include "linear/DotLanes.h"
#include "quant/Decode.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

/// C[m,n] = A W^T with A in f32.
struct Product {
  int64_t m, n, k;
  const float *a;
  const uint8_t *w;
};

// What becomes of a finished sum: store(t, n, sum).

struct AddBias {
  int64_t n;
  const float *bias;
  float *c;
  HWY_INLINE void operator()(int64_t row, int64_t column, float sum) const {
    c[row * n + column] = bias ? sum + bias[column] : sum;
  }
};
/// The sum has the bias already.
struct Plain {
  int64_t n;
  float *c;
  HWY_INLINE void operator()(int64_t row, int64_t column, float sum) const { c[row * n + column] = sum; }
};
/// One rounding to bf16 behind the bias.
struct AddBiasBF16 {
  int64_t n;
  const float *bias;
  uint16_t *c;
  bool roundBias = false;
  HWY_INLINE void operator()(int64_t row, int64_t column, float sum) const {
    float b = bias ? bias[column] : 0;
    if (roundBias)
      b = bf16ToFloat(floatToBF16(b));
    c[row * n + column] = floatToBF16(bias ? sum + b : sum);
  }
};
/// A bound that is absent does not bind; a NaN stays one.
HWY_INLINE float clampTo(float x, const float *least, const float *most) {
  if (least && x < *least)
    return *least;
  return most && x > *most ? *most : x;
}

// Columns. Bounds of what a task holds; maps state the thread scratch in these terms.

constexpr int64_t kColumns = 16, kDepth = 512, kColumnRows = 256;

/// sums[row][16] += the products of `depth` steps of R rows of A with 16 columns, ascending, each operation rounded.
template <int R>
HWY_INLINE void addColumns(const float *a, int64_t strideA, const float *columns, int64_t depth, float *sums) {
  constexpr int kVectors = kColumns / kLanes;
  F32 sum[R][kVectors];
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < kVectors; ++v)
      sum[r][v] = load(sums + r * kColumns + v * kLanes);
  for (int64_t i = 0; i < depth; ++i)
    for (int r = 0; r < R; ++r)
      for (int v = 0; v < kVectors; ++v)
        sum[r][v] = hn::Add(sum[r][v], hn::Mul(set(a[r * strideA + i]), load(columns + i * kColumns + v * kLanes)));
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < kVectors; ++v)
      store(sum[r][v], sums + r * kColumns + v * kLanes);
}

/// Each output is one sum in ascending k that starts at `start`, or at 0.
template <class Format, class Store>
int32_t ascending(ck_context *ctx, const Product &p, const float *start, const Store &finish) {
  const int64_t tiles = ceilDiv(p.n, kColumns), strips = ceilDiv(p.m, kColumnRows);
  parallelFor(ctx, tiles * strips, [&](int64_t task, int thread) HWY_ATTR {
    const int64_t n = task % tiles * kColumns, t = task / tiles * kColumnRows;
    const int64_t used = std::min(kColumns, p.n - n), rows = std::min(kColumnRows, p.m - t);
    float *const columns = static_cast<float *>(ck_thread_scratch(ctx, thread));
    float *const sums = columns + kDepth * kColumns, *const line = sums + kColumnRows * kColumns;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t i = 0; i < kColumns; ++i)
        sums[row * kColumns + i] = start && i < used ? start[n + i] : 0;
    for (int64_t k = 0; k < p.k; k += kDepth) {
      const int64_t depth = std::min(kDepth, p.k - k);
      if (used < kColumns)
        clearElements(columns, depth * kColumns);
      for (int64_t column = 0; column < used; ++column) {
        decodeRow<Format>(p.w + ((n + column) * p.k + k) * Format::kBytes, depth, line);
        for (int64_t i = 0; i < depth; ++i)
          columns[i * kColumns + column] = line[i];
      }
      const float *const a = p.a + t * p.k + k;
      int64_t row = 0;
      for (; row + 4 <= rows; row += 4)
        addColumns<4>(a + row * p.k, p.k, columns, depth, sums + row * kColumns);
      for (; row < rows; ++row)
        addColumns<1>(a + row * p.k, p.k, columns, depth, sums + row * kColumns);
    }
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t i = 0; i < used; ++i)
        finish(t + row, n + i, sums[row * kColumns + i]);
  });
  return CK_OK;
}

// Rows. An order gives the sums of R rows of A with one row of W, which lie `stride` apart.

/// One fused accumulator of eight lanes, then what is left of K, each operation rounded.
struct OneOfEight {
  template <int R> static HWY_INLINE void dot(const float *a, int64_t stride, const float *w, int64_t k, float *to) {
    Floats8 sum[R];
    int64_t i = 0;
    for (; i + 8 <= k; i += 8)
      for (int r = 0; r < R; ++r)
        sum[r] = fma8(sum[r], load8(a + r * stride + i), load8(w + i));
    for (int r = 0; r < R; ++r) {
      to[r] = sum8(sum[r]);
      for (int64_t j = i; j < k; ++j)
        to[r] += a[r * stride + j] * w[j];
    }
  }
};

/// Four fused accumulators over steps of 32, merged as (0 + 2) + (1 + 3), lanes i and i + 4, then neighbours.
struct FourOfEight {
  template <int R> static HWY_INLINE void dot(const float *a, int64_t stride, const float *w, int64_t k, float *to) {
    for (int r = 0; r < R; ++r, a += stride) {
      Floats8 sum[4];
      int64_t i = 0;
      for (; i + 32 <= k; i += 32)
        for (int v = 0; v < 4; ++v)
          sum[v] = fma8(sum[v], load8(a + i + 8 * v), load8(w + i + 8 * v));
      float lane[8];
      store8(add8(add8(sum[0], sum[2]), add8(sum[1], sum[3])), lane);
      const float r0 = lane[0] + lane[4], r1 = lane[1] + lane[5], r2 = lane[2] + lane[6], r3 = lane[3] + lane[7];
      to[r] = (r0 + r1) + (r2 + r3);
      for (; i < k; ++i)
        to[r] += a[i] * w[i];
    }
  }
};

/// 16 lanes; of each 32 elements, which lie as 16 even and 16 odd ones, lane i adds the even product, then the odd one.
struct PairsOf16 {
  template <int R> static HWY_INLINE void dot(const float *a, int64_t stride, const float *w, int64_t k, float *to) {
    Floats8 low[R], high[R];
    int64_t i = 0;
    for (; i + 32 <= k; i += 32)
      for (int r = 0; r < R; ++r)
        for (int64_t part = i; part < i + 32; part += 16) {
          const float *const x = a + r * stride + part;
          low[r] = addProduct8(low[r], load8(x), load8(w + part));
          high[r] = addProduct8(high[r], load8(x + 8), load8(w + part + 8));
        }
    for (int r = 0; r < R; ++r) {
      to[r] = sum8(add8(high[r], low[r]));
      for (int64_t j = i; j < k; ++j)
        to[r] += a[r * stride + j] * w[j];
    }
  }
};

/// Parts each 32 elements into 16 even and 16 odd ones.
HWY_INLINE void partPairs(float *x, int64_t k) {
  for (float copy[32]; k >= 32; k -= 32, x += 32) {
    std::copy(x, x + 32, copy);
    for (int i = 0; i < 16; ++i) {
      x[i] = copy[2 * i];
      x[16 + i] = copy[2 * i + 1];
    }
  }
}

/// Tasks take rows of W, which are widened to the thread's scratch, of k floats.
template <class Format, class Order, class Store>
int32_t byRows(ck_context *ctx, const Product &p, const Store &finish) {
  const int64_t grain = std::min<int64_t>(16, ceilDiv(4 * kTaskElements, std::max<int64_t>(1, p.k)));
  parallelRange(ctx, p.m ? p.n : 0, grain, [&](int64_t begin, int64_t end, int thread) HWY_ATTR {
    for (int64_t n = begin; n < end; ++n) {
      const uint8_t *const stored = p.w + n * p.k * Format::kBytes;
      const float *w = reinterpret_cast<const float *>(stored);
      if constexpr (!std::is_same_v<Format, DecodeF32>) {
        float *const wide = static_cast<float *>(ck_thread_scratch(ctx, thread));
        decodeRow<Format>(stored, p.k, wide);
        if constexpr (std::is_same_v<Order, PairsOf16>)
          partPairs(wide, p.k);
        w = wide;
      }
      int64_t t = 0;
      for (float sums[4]; t + 4 <= p.m; t += 4) {
        Order::template dot<4>(p.a + t * p.k, p.k, w, p.k, sums);
        for (int r = 0; r < 4; ++r)
          finish(t + r, n, sums[r]);
      }
      for (float sum; t < p.m; ++t) {
        Order::template dot<1>(p.a + t * p.k, p.k, w, p.k, &sum);
        finish(t, n, sum);
      }
    }
  });
  return CK_OK;
}

/// The bf16 value next to an f64: rounded to f32 towards zero with the last bit telling what was lost, then once more.
HWY_INLINE uint16_t doubleToBF16(double x) {
  float narrow = static_cast<float>(x);
  if (static_cast<double>(narrow) != x && std::isfinite(narrow)) {
    if (std::fabs(static_cast<double>(narrow)) > std::fabs(x))
      narrow = floatOfBits(bitsOfFloat(narrow) - 1);
    narrow = floatOfBits(bitsOfFloat(narrow) | 1);
  }
  return floatToBF16(narrow);
}

/// Rounded once: sums of eight lanes in f64, where products of bf16 values are exact.
int32_t accurate(ck_context *ctx, const Product &p, const float *bias, uint16_t *c) {
  const int64_t grain = std::min<int64_t>(16, ceilDiv(kTaskElements, std::max<int64_t>(1, p.k)));
  parallelRange(ctx, p.m ? p.n : 0, grain, [&](int64_t begin, int64_t end, int thread) HWY_ATTR {
    float *const w = static_cast<float *>(ck_thread_scratch(ctx, thread));
    for (int64_t n = begin; n < end; ++n) {
      decodeRow<DecodeBF16>(p.w + n * p.k * DecodeBF16::kBytes, p.k, w);
      for (int64_t t = 0; t < p.m; ++t) {
        const float *const a = p.a + t * p.k;
        double lane[8] = {};
        int64_t i = 0;
        for (; i + 8 <= p.k; i += 8)
          for (int j = 0; j < 8; ++j)
            lane[j] += static_cast<double>(a[i + j]) * static_cast<double>(w[i + j]);
        double sum = ((lane[4] + lane[0]) + (lane[6] + lane[2])) + ((lane[5] + lane[1]) + (lane[7] + lane[3]));
        for (; i < p.k; ++i)
          sum += static_cast<double>(a[i]) * static_cast<double>(w[i]);
        c[t * p.n + n] = doubleToBF16(bias ? sum + static_cast<double>(bias[n]) : sum);
      }
    }
  });
  return CK_OK;
}

/// Fills `wide` with rows of A as `convert` makes each element.
template <class Element, class Convert>
Product widened(ck_context *ctx, const Element *input, const void *weight, int64_t m, int64_t n, int64_t k, float *wide,
                const Convert &convert) {
  parallelRange(ctx, m * k, kTaskElements, [=](int64_t begin, int64_t end, int) HWY_ATTR {
    for (int64_t i = begin; i < end; ++i)
      wide[i] = convert(input[i]);
  });
  return {m, n, k, wide, static_cast<const uint8_t *>(weight)};
}
HWY_INLINE float throughBF16(float x) { return bf16ToFloat(floatToBF16(x)); }
HWY_INLINE float throughF16(float x) { return halfToFloat(floatToHalf(x)); }

template <class Args> Product roundedToBF16(ck_context *ctx, const Args &args, int64_t rows) {
  return widened(ctx, args.input, args.weight, rows, args.N, args.K, args.wide,
                 [](float x) HWY_ATTR { return throughBF16(x); });
}
template <class Args> Product fromBF16(ck_context *ctx, const Args &args, int64_t rows) {
  return widened(ctx, args.input, args.weight, rows, args.N, args.K, args.wide,
                 [](uint16_t x) HWY_ATTR { return bf16ToFloat(x); });
}

/// bf16 in and out; the sum starts at the bias.
template <class Args> int32_t ascendingBF16(ck_context *ctx, const Args &args, int64_t rows, const float *bias) {
  return ascending<DecodeBF16>(ctx, fromBF16(ctx, args, rows), bias, AddBiasBF16{args.N, nullptr, args.output});
}
/// bf16 in and out; the sum starts at 0, the bias comes last.
template <class Args> int32_t tilesBF16(ck_context *ctx, const Args &args) {
  return ascending<DecodeBF16>(ctx, fromBF16(ctx, args, args.T), nullptr, AddBiasBF16{args.N, args.bias, args.output});
}
template <class Args> int32_t pairsBF16(ck_context *ctx, const Args &args, bool roundBias = false) {
  const Product p = fromBF16(ctx, args, args.T);
  parallelFor(ctx, p.m, [&](int64_t row, int) HWY_ATTR { partPairs(args.wide + row * p.k, p.k); });
  return byRows<DecodeBF16, PairsOf16>(ctx, p, AddBiasBF16{args.N, args.bias, args.output, roundBias});
}

} // namespace

CK_KERNEL(gemm_nt_fp32_exact) {
  return ascending<DecodeF32>(ctx,
                              {args->T, args->N, args->K, args->input, reinterpret_cast<const uint8_t *>(args->weight)},
                              nullptr, AddBias{args->N, args->bias, args->output});
}
CK_KERNEL(gemm_nt_f32_llama_production) {
  const Product p = {args->T, args->N, args->K, args->input, reinterpret_cast<const uint8_t *>(args->weight)};
  const AddBias finish = {args->N, args->bias, args->output};
  return p.m == 1 ? byRows<DecodeF32, FourOfEight>(ctx, p, finish) : byRows<DecodeF32, OneOfEight>(ctx, p, finish);
}

CK_KERNEL(gemm_nt_f16) {
  const Product p = widened(ctx, args->input, args->weight, args->T, args->N, args->K, args->wide,
                            [](float x) HWY_ATTR { return throughF16(x); });
  return byRows<DecodeF16, OneOfEight>(ctx, p, AddBias{args->N, args->bias, args->output});
}
CK_KERNEL(gemm_nt_f16_clipped) {
  const Product p = widened(ctx, args->input, args->weight, args->T, args->N, args->K, args->wide,
                            [args](float x) HWY_ATTR { return throughF16(clampTo(x, args->in_min, args->in_max)); });
  return ascending<DecodeF16>(ctx, p, args->bias, [args](int64_t row, int64_t column, float sum) HWY_ATTR {
    args->output[row * args->N + column] = clampTo(sum, args->out_min, args->out_max);
  });
}

CK_KERNEL(gemm_nt_bf16) {
  return ascending<DecodeBF16>(ctx, roundedToBF16(ctx, *args, args->T), args->bias, Plain{args->N, args->output});
}
CK_KERNEL(gemv_bf16) {
  return ascending<DecodeBF16>(ctx, roundedToBF16(ctx, *args, 1), nullptr, Plain{args->N, args->output});
}
CK_KERNEL(gemm_nt_bf16_bf16_storage) { return ascendingBF16(ctx, *args, args->T, args->bias); }
CK_KERNEL(gemv_bf16_bf16_storage) { return ascendingBF16(ctx, *args, 1, nullptr); }
CK_KERNEL(gemm_nt_bf16_amx_bf16_storage) { return tilesBF16(ctx, *args); }
CK_KERNEL(gemm_nt_bf16_native_bf16_storage) { return pairsBF16(ctx, *args); }
CK_KERNEL(gemm_nt_bf16_prefill_shape_safe_bf16_storage) {
  const bool fitsTiles = args->T % 16 == 0 && args->N % 16 == 0 && args->K % 32 == 0;
  return fitsTiles ? tilesBF16(ctx, *args) : pairsBF16(ctx, *args);
}
CK_KERNEL(gemm_nt_bf16_accurate_storage) {
  return accurate(ctx, fromBF16(ctx, *args, args->T), args->bias, args->output);
}
CK_KERNEL(gemm_nt_bf16_pytorch_onednn_brgemm_bf16_storage) { return pairsBF16(ctx, *args, true); }
CK_KERNEL(gemm_nt_bf16_pytorch_onednn_3_12_brgemm_bf16_storage) { return pairsBF16(ctx, *args, true); }

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
