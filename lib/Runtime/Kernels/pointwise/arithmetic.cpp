//===- arithmetic.cpp - elementwise sums and products ---------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pointwise/arithmetic.cpp"
#include "hwy/foreach_target.h"

#include "pointwise/Elementwise.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

CK_KERNEL(ck_residual_add_token_major) {
  mapFlat(ctx, args->a, args->b, args->output, args->N, [](F32 a, F32 b) HWY_ATTR { return a + b; });
  return CK_OK;
}

CK_KERNEL(add_scaled_f32) {
  const float alpha = static_cast<float>(args->alpha), scale = static_cast<float>(args->scale);
  mapFlat(ctx, args->a, args->b, args->output, args->N,
          [=](F32 a, F32 b) HWY_ATTR { return set(scale) * fma(set(alpha), b, a); });
  return CK_OK;
}

CK_KERNEL(mul_f32) {
  mapFlat(ctx, args->a, args->b, args->output, args->N, [](F32 a, F32 b) HWY_ATTR { return a * b; });
  return CK_OK;
}

CK_KERNEL(gradient_scale_f32) {
  const float factor = static_cast<float>(args->by ? args->factor * *args->by : args->factor);
  mapFlat(ctx, args->input, args->output, args->N, [=](F32 x) HWY_ATTR { return set(factor) * x; });
  return CK_OK;
}

CK_KERNEL(gradient_accumulate_f32) {
  mapFlat(ctx, args->dst, args->src, args->dst, args->L, [](F32 a, F32 b) HWY_ATTR { return a + b; });
  return CK_OK;
}

CK_KERNEL(final_logit_scale_f32) {
  const float factor = static_cast<float>(args->factor);
  mapFlat(ctx, args->input, args->output, args->N, [=](F32 x) HWY_ATTR { return set(factor) * x; });
  return CK_OK;
}

CK_KERNEL(add_stream_inplace) {
  mapFlat(ctx, args->dst, args->src, args->dst, args->L, [](F32 a, F32 b) HWY_ATTR { return a + b; });
  return CK_OK;
}

CK_KERNEL(bias_add) {
  mapFlat(ctx, args->input, args->bias, args->output, args->N, [](F32 x, F32 b) HWY_ATTR { return x + b; });
  return CK_OK;
}

CK_KERNEL(rowwise_bias_add) {
  const int64_t E = args->E;
  parallelRange(ctx, args->T, rowsPerTask(E), [=](int64_t begin, int64_t end, int) HWY_ATTR {
    for (int64_t t = begin; t < end; ++t)
      mapRow(args->input + t * E, args->bias, args->output + t * E, E, [](F32 x, F32 b) HWY_ATTR { return x + b; });
  });
  return CK_OK;
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
