//===- exact_pointwise.cpp - activations with a fixed order of roundings --===//
//
// Each formula is evaluated as its map says, one rounding after the other, with the C library's functions: all
// instruction sets give the same bits.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

#include "ck/Support/Half.h"

#include <atomic>

using namespace ck;

namespace {

// A call of the C library is worth some thirty cheap elements.
constexpr int64_t kChunk = kTaskElements / 32;

/// sqrt(2/pi), as far as f32 holds it.
constexpr float kRoot = 0.7978845608f;

float geluTanh(float x) {
  const float inner = kRoot * (x + 0.044715f * x * x * x);
  return 0.5f * x * (1.0f + std::tanh(inner));
}

float geluErf(float x) {
  const double v = x;
  return static_cast<float>(0.5 * v * (1.0 + std::erf(v * 0.70710678118654752440)));
}

/// The value that the peer's table holds for the half nearest to x.
float geluHalf(float x) {
  if (x <= -10)
    return 0;
  if (x >= 10)
    return x;
  const float h = halfToFloat(floatToHalf(x)), inner = 0.79788456f * h * (1.0f + 0.044715f * h * h);
  return halfToFloat(floatToHalf(0.5f * h * (1.0f + std::tanh(inner))));
}

float geluTanhSaturated(float x) {
  const float cube = x * x * x, inner = kRoot * (x + 0.044715f * cube);
  const float t = std::fabs(inner) > 8.664339742f ? std::copysign(1.0f, inner) : std::tanh(inner);
  return 0.5f * x * (1.0f + t);
}

float siluFirst(float gate, float up) {
  const float s = 1.0f / (1.0f + std::exp(-gate));
  return gate * s * up;
}

template <typename Function>
int32_t eachElement(ck_context *ctx, const float *x, float *y, int64_t n, Function function) {
  parallelRange(ctx, n, kChunk, [=](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i)
      y[i] = function(x[i]);
  });
  return CK_OK;
}

template <typename Function>
int32_t eachElement(ck_context *ctx, const uint16_t *x, uint16_t *y, int64_t n, Function function) {
  parallelRange(ctx, n, kChunk, [=](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i)
      y[i] = floatToBF16(function(bf16ToFloat(x[i])));
  });
  return CK_OK;
}

/// output = combine(gate, up) with rows of gate and up side by side.
template <typename Args, typename Combine> int32_t gated(ck_context *ctx, const Args *args, Combine combine) {
  const int64_t F = args->F;
  parallelRange(ctx, args->T * F, kChunk, [=](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      const float *gate = args->gate + i / F * 2 * F + i % F;
      args->output[i] = combine(gate[0], gate[F]);
    }
  });
  return CK_OK;
}

} // namespace

CK_PORTABLE_KERNEL(gelu_exact_inplace) { return eachElement(ctx, args->input, args->output, args->N, geluTanh); }
CK_PORTABLE_KERNEL(gelu_erf_fp64_f32_inplace) { return eachElement(ctx, args->input, args->output, args->N, geluErf); }
CK_PORTABLE_KERNEL(gelu_ggml_inplace) { return eachElement(ctx, args->input, args->output, args->N, geluHalf); }
CK_PORTABLE_KERNEL(gelu_erf_bf16_storage) { return eachElement(ctx, args->input, args->output, args->N, geluErf); }
CK_PORTABLE_KERNEL(gelu_pytorch_tanh_bf16_storage) {
  return eachElement(ctx, args->input, args->output, args->N, geluTanhSaturated);
}

CK_PORTABLE_KERNEL(geglu_forward_exact) {
  return gated(ctx, args, [](float gate, float up) { return geluTanh(gate) * up; });
}
CK_PORTABLE_KERNEL(geglu_forward_ggml_native) {
  return gated(ctx, args, [](float gate, float up) { return geluHalf(gate) * up; });
}
CK_PORTABLE_KERNEL(swiglu_forward_exact) { return gated(ctx, args, siluFirst); }

CK_PORTABLE_KERNEL(gemma4_final_logit_softcap_forward) {
  const float cap = static_cast<float>(args->alpha), inverse = 1.0f / cap;
  if (cap == 0)
    return eachElement(ctx, args->input, args->output, args->N, [](float x) { return x; });
  return eachElement(ctx, args->input, args->output, args->N, [=](float x) { return std::tanh(x * inverse) * cap; });
}

CK_PORTABLE_KERNEL(final_logit_softcap_muse_pytorch_bf16_storage) {
  const float cap = static_cast<float>(args->alpha);
  if (cap == 0)
    return eachElement(ctx, args->input, args->output, args->N, [](float x) { return x; });
  const auto rounded = [](float x) { return bf16ToFloat(floatToBF16(x)); };
  return eachElement(ctx, args->input, args->output, args->N,
                     [=](float x) { return rounded(std::tanh(rounded(x / cap))) * cap; });
}

CK_PORTABLE_KERNEL(gelu_rows_tanh_checked_f32) {
  const int64_t T = args->T, C = args->C;
  // A first pass only looks, so that a refused call leaves the output as it was.
  std::atomic<int64_t> firstBad{T * C};
  parallelRange(ctx, T * C, kChunk, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i)
      if (!std::isfinite(geluTanh(args->input[i / C * args->input_stride0 + i % C]))) {
        for (int64_t known = firstBad; i < known && !firstBad.compare_exchange_weak(known, i);)
          continue;
        return;
      }
  });
  if (const int64_t bad = firstBad; bad < T * C)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "input[%lld,%lld] is not finite, or its gelu is not",
                   static_cast<long long>(bad / C), static_cast<long long>(bad % C));
  parallelRange(ctx, T * C, kChunk, [=](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i)
      args->output[i / C * args->output_stride0 + i % C] = geluTanh(args->input[i / C * args->input_stride0 + i % C]);
  });
  return CK_OK;
}
