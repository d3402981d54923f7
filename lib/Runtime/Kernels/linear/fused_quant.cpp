//===- fused_quant.cpp - blocks of a quantised decoder in one call --------===//
//
// Chains of norm, activation quantisation and projections over raw quantised weights. They give what the chain of
// single operations gives with the same roundings. Intermediate rows lie in scratch.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "linear/fused_quant.cpp"
#include "hwy/foreach_target.h"

#include "linear/DotOrders.h"
#include "linear/Gemm.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

/// to[t,e] = from[t,e] * rstd * gamma[e] with rstd = 1 / sqrt(mean of squares + eps), the mean in f64.
void normRows(ck_context *ctx, const float *from, const float *gamma, int64_t rows, int64_t width, double eps,
              float *to) {
  parallelRange(ctx, rows, rowsPerTask(width), [=](int64_t begin, int64_t end, int) HWY_ATTR {
    for (int64_t t = begin; t < end; ++t) {
      const float *const x = from + t * width;
      double squares = 0;
      for (int64_t e = 0; e < width; ++e)
        squares += static_cast<double>(x[e]) * static_cast<double>(x[e]);
      const auto rstd = static_cast<float>(1 / std::sqrt(squares / static_cast<double>(width) + eps));
      for (int64_t e = 0; e < width; ++e) {
        const float scaled = x[e] * rstd;
        to[t * width + e] = scaled * gamma[e];
      }
    }
  });
}

const uint8_t *bytesOf(const void *p) { return static_cast<const uint8_t *>(p); }
uint8_t *bytesOf(void *p) { return static_cast<uint8_t *>(p); }

/// Puts element (row, head * width + column) of a projection where head-major [heads, rows, width] has it.
struct HeadMajor {
  float *to;
  const float *bias;
  int64_t rows, width;
  HWY_INLINE void operator()(int64_t row, int64_t n, float sum) const {
    to[(n / width * rows + row) * width + n % width] = bias ? sum + bias[n] : sum;
  }
};

} // namespace

CK_KERNEL(fused_rmsnorm_qkv_prefill_head_major_quant) {
  const int64_t T = args->T, E = args->E, D = args->D;
  uint8_t *const codes = bytesOf(args->codes);
  normRows(ctx, args->input, args->gamma, T, E, args->eps, args->normed);
  quantizeBlocks<ActQ8_0>(ctx, args->normed, T * E, codes);
  multiplyBlocks<DotLanes<RawQ5_0>>(ctx, {T, args->H * D, E, codes, bytesOf(args->wq)},
                                    HeadMajor{args->q, args->bq, T, D});
  multiplyBlocks<DotLanes<RawQ5_0>>(ctx, {T, args->KV * D, E, codes, bytesOf(args->wk)},
                                    HeadMajor{args->k, args->bk, T, D});
  multiplyBlocks<DotAscending<RawQ8_0>>(ctx, {T, args->KV * D, E, codes, bytesOf(args->wv)},
                                        HeadMajor{args->v, args->bv, T, D});
  return CK_OK;
}

CK_KERNEL(mega_fused_outproj_mlp_prefill) {
  const int64_t T = args->T, E = args->E, H = args->H, D = args->D, F = args->F;
  uint8_t *const codes = bytesOf(args->codes), *const gated = bytesOf(args->gated);
  float *const hidden = args->hidden, *const normed = args->normed, *const pairs = args->pairs;
  // The output projection: bias, then one sum for each head, then the residual.
  quantizeBlocks<ActQ8_0>(ctx, args->attn, H * T * D, codes);
  parallelFor(ctx, T, [=](int64_t t, int) HWY_ATTR {
    for (int64_t e = 0; e < E; ++e)
      hidden[t * E + e] = args->bo ? args->bo[e] : 0;
  });
  const int64_t headBytes = D / ActQ8_0::kElements * RawQ5_0::kBytes;
  for (int64_t h = 0; h < H; ++h)
    multiplyBlocks<DotLanes<RawQ5_0>>(ctx,
                                      {T, E, D, codes + h * T * (D / ActQ8_0::kElements) * ActQ8_0::kBytes,
                                       bytesOf(args->wo) + h * headBytes, H * headBytes},
                                      [=](int64_t t, int64_t e, float sum) HWY_ATTR { hidden[t * E + e] += sum; });
  parallelFor(ctx, T, [=](int64_t t, int) HWY_ATTR {
    for (int64_t e = 0; e < E; ++e)
      hidden[t * E + e] += args->residual[t * E + e];
  });
  // Gate and up, rows of one weight.
  normRows(ctx, hidden, args->gamma, T, E, args->eps, normed);
  quantizeBlocks<ActQ8_0>(ctx, normed, T * E, codes);
  multiplyBlocks<DotLanes<RawQ5_0>>(ctx, {T, 2 * F, E, codes, bytesOf(args->w1)},
                                    [=](int64_t t, int64_t n, float sum)
                                        HWY_ATTR { pairs[t * 2 * F + n] = args->b1 ? sum + args->b1[n] : sum; });
  parallelFor(ctx, T, [=](int64_t t, int) HWY_ATTR {
    float *const gate = pairs + t * 2 * F, *const up = gate + F;
    for (int64_t f = 0; f < F; ++f)
      gate[f] = gate[f] / (1 + std::exp(-gate[f])) * up[f];
  });
  for (int64_t t = 0; t < T; ++t)
    quantizeBlocks<ActQ8_K>(ctx, pairs + t * 2 * F, F, gated + t * (F / ActQ8_K::kElements) * ActQ8_K::kBytes);
  multiplyBlocks<DotQ4_K>(ctx, {T, E, F, gated, bytesOf(args->w2)}, [=](int64_t t, int64_t e, float sum) HWY_ATTR {
    const float projected = args->b2 ? sum + args->b2[e] : sum;
    args->output[t * E + e] = projected + hidden[t * E + e];
  });
  return CK_OK;
}

// The three weights of a mixed file: each its own storage, f32 activations.
CK_KERNEL(ck_qkv_project_head_major_quant) {
  const int64_t T = args->T, E = args->E, D = args->D;
  struct Projection {
    GemmType type;
    const void *weight;
    const float *bias;
    int64_t heads;
    float *to;
  };
  const Projection projections[] = {{GemmType::Q4_K, args->wq, args->bq, args->H, args->q},
                                    {GemmType::Q4_K, args->wk, args->bk, args->KV, args->k},
                                    {GemmType::Q6_K, args->wv, args->bv, args->KV, args->v}};
  for (const Projection &projection : projections) {
    GemmTarget target;
    target.b = projection.weight;
    target.bK = 1;
    target.bN = E;
    target.n = projection.heads * D;
    target.bias = projection.bias;
    target.c = projection.to;
    target.strideM = D;
    target.cN = {1, D, T * D};
    GemmProblem problem;
    problem.m = T;
    problem.k = E;
    problem.a = args->input;
    problem.aM = E;
    problem.aK = 1;
    problem.targets = &target;
    problem.type = projection.type;
    problem.packed = args->packed;
    if (const int32_t status = gemm(ctx, problem); status != CK_OK)
      return status;
  }
  return CK_OK;
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
