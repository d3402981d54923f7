//===- exact_norm.cpp - norms with sums in ascending order ----------------===//
//
// Squares are rounded to f32 and added to one f64 sum from the first column to the last (layer_norm: in groups of
// eight), as llama.cpp does on a CPU. No estimate of a root, nothing fused: all instruction sets give the same bits.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

#include "ck/Support/Half.h"

#include <atomic>

using namespace ck;

namespace {

/// 1 / sqrt(mean(x^2) + eps), where the mean and what follows it are f32.
float reciprocalRoot(double squares, int64_t n, float eps) {
  const float mean = static_cast<float>(squares / static_cast<double>(n));
  return 1.0f / std::sqrt(mean + eps);
}

template <typename Args> int32_t rmsNorm(ck_context *ctx, const Args *args) {
  const int64_t E = args->E;
  const float eps = static_cast<float>(args->eps);
  parallelRange(ctx, args->T, rowsPerTask(4 * E), [=](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t) {
      const float *x = args->input + t * E;
      float *y = args->output + t * E;
      double squares = 0;
      for (int64_t e = 0; e < E; ++e)
        squares += static_cast<double>(x[e] * x[e]);
      const float r = reciprocalRoot(squares, E, eps);
      for (int64_t e = 0; e < E; ++e)
        y[e] = x[e] * r * args->gamma[e];
      if (args->rstd)
        args->rstd[t] = r;
    }
  });
  return CK_OK;
}

struct Moments {
  float mean, rstd;
};

/// x(e) is column e of a row.
template <typename Row> Moments momentsOf(Row x, int64_t n, float eps) {
  const auto count = static_cast<double>(n);
  double sum = 0, squares = 0;
  for (int64_t e = 0; e < n; ++e)
    sum += static_cast<double>(x(e));
  const float mean = static_cast<float>(sum) / static_cast<float>(n);
  int64_t e = 0;
  for (; e + 8 <= n; e += 8) {
    float q[8];
    for (int k = 0; k < 8; ++k)
      q[k] = (x(e + k) - mean) * (x(e + k) - mean);
    squares += static_cast<double>(((q[0] + q[4]) + (q[2] + q[6])) + ((q[1] + q[5]) + (q[3] + q[7])));
  }
  for (; e < n; ++e)
    squares += static_cast<double>((x(e) - mean) * (x(e) - mean));
  const float variance = static_cast<float>(squares / count);
  return {mean, 1.0f / std::sqrt(variance + eps)};
}

float shifted(float x, const Moments &moments, float gamma, float beta) {
  return (x - moments.mean) * moments.rstd * gamma + beta;
}

} // namespace

CK_PORTABLE_KERNEL(rmsnorm_forward_fp64_sum) { return rmsNorm(ctx, args); }
CK_PORTABLE_KERNEL(rmsnorm_forward_llama_production) { return rmsNorm(ctx, args); }

CK_PORTABLE_KERNEL(gemma4_vision_projector_prep_forward) {
  const int64_t E = args->E;
  const float scale = static_cast<float>(args->scale), eps = static_cast<float>(args->eps);
  parallelRange(ctx, args->T, rowsPerTask(4 * E), [=](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t) {
      const float *x = args->input + t * E;
      double squares = 0;
      for (int64_t e = 0; e < E; ++e) {
        const float v = x[e] * scale;
        squares += static_cast<double>(v) * static_cast<double>(v);
      }
      const float r = reciprocalRoot(squares, E, eps);
      for (int64_t e = 0; e < E; ++e)
        args->output[t * E + e] = x[e] * scale * r;
    }
  });
  return CK_OK;
}

CK_PORTABLE_KERNEL(layernorm_fp32_exact) {
  const int64_t E = args->E;
  parallelRange(ctx, args->T, rowsPerTask(6 * E), [=](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t) {
      const float *x = args->input + t * E;
      const Moments moments = momentsOf([=](int64_t e) { return x[e]; }, E, static_cast<float>(args->eps));
      for (int64_t e = 0; e < E; ++e) {
        float y = (x[e] - moments.mean) * moments.rstd;
        if (args->gamma)
          y = y * args->gamma[e];
        args->output[t * E + e] = args->beta ? y + args->beta[e] : y;
      }
      if (args->mean)
        args->mean[t] = moments.mean;
      if (args->rstd)
        args->rstd[t] = moments.rstd;
    }
  });
  return CK_OK;
}

CK_PORTABLE_KERNEL(layernorm_bf16_storage) {
  const int64_t E = args->E;
  parallelRange(ctx, args->T, rowsPerTask(6 * E), [=](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t) {
      const uint16_t *x = args->input + t * E;
      const Moments moments = momentsOf([=](int64_t e) { return bf16ToFloat(x[e]); }, E, static_cast<float>(args->eps));
      for (int64_t e = 0; e < E; ++e)
        args->output[t * E + e] =
            floatToBF16(shifted(bf16ToFloat(x[e]), moments, bf16ToFloat(args->gamma[e]), bf16ToFloat(args->beta[e])));
      if (args->mean)
        args->mean[t] = moments.mean;
      if (args->rstd)
        args->rstd[t] = moments.rstd;
    }
  });
  return CK_OK;
}

CK_PORTABLE_KERNEL(layernorm_rows_checked_f32) {
  const int64_t T = args->T, C = args->C;
  const float eps = static_cast<float>(args->eps);
  const auto momentsOfRow = [=](int64_t t) {
    const float *x = args->input + t * args->input_stride0;
    return momentsOf([=](int64_t c) { return x[c]; }, C, eps);
  };
  for (const auto &[name, values] : {std::pair("gamma", args->gamma), std::pair("beta", args->beta)})
    for (int64_t c = 0; c < C; ++c)
      if (!std::isfinite(values[c]))
        return ck_fail(ctx, CK_INVALID_ARGUMENT, "%s[%lld] is not finite", name, static_cast<long long>(c));
  // A first pass only looks, so that a refused call leaves the output as it was.
  std::atomic<int64_t> firstBad{T};
  parallelRange(ctx, T, rowsPerTask(6 * C), [&](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t) {
      const Moments moments = momentsOfRow(t);
      bool finite = true;
      for (int64_t c = 0; c < C; ++c)
        finite &=
            std::isfinite(shifted(args->input[t * args->input_stride0 + c], moments, args->gamma[c], args->beta[c]));
      if (finite)
        continue;
      for (int64_t known = firstBad; t < known && !firstBad.compare_exchange_weak(known, t);)
        continue;
      return;
    }
  });
  if (const int64_t bad = firstBad; bad < T)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "row %lld of input is not finite, or its norm is not",
                   static_cast<long long>(bad));
  parallelRange(ctx, T, rowsPerTask(6 * C), [=](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t) {
      const Moments moments = momentsOfRow(t);
      for (int64_t c = 0; c < C; ++c)
        args->output[t * args->output_stride0 + c] =
            shifted(args->input[t * args->input_stride0 + c], moments, args->gamma[c], args->beta[c]);
    }
  });
  return CK_OK;
}
