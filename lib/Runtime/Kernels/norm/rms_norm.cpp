//===- rms_norm.cpp - root-mean-square normalisation of rows --------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "norm/rms_norm.cpp"
#include "hwy/foreach_target.h"

#include "norm/Rows.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

template <Gain kGain>
int32_t normalise(ck_context *ctx, const float *input, const float *gamma, float *output, float *rstd, int64_t T,
                  int64_t E, double eps) {
  parallelRange(ctx, T, rowsPerTask(E), [=](int64_t begin, int64_t end, int) HWY_ATTR {
    for (int64_t t = begin; t < end; ++t) {
      const float r = reciprocalRoot(input + t * E, E, eps);
      rmsRow<kGain>(input + t * E, gamma, r, output + t * E, E);
      if (rstd)
        rstd[t] = r;
    }
  });
  return CK_OK;
}

/// The sum of two streams and its norm; `sum` may be a or b.
int32_t addAndNormalise(ck_context *ctx, const ckk_add_rms_norm_f32_args &args) {
  const int64_t E = args.E;
  parallelRange(ctx, args.T, rowsPerTask(E), [=](int64_t begin, int64_t end, int) HWY_ATTR {
    for (int64_t t = begin; t < end; ++t) {
      const float *const a = args.a + t * E, *const b = args.b + t * E;
      float *const sum = args.sum + t * E;
      eachVector(E, [=](int64_t i, int64_t lanes)
                        HWY_ATTR { storeUpTo(loadUpTo(a + i, lanes) + loadUpTo(b + i, lanes), sum + i, lanes); });
      rmsRow<Gain::Weight>(sum, args.gamma, reciprocalRoot(sum, E, args.eps), args.output + t * E, E);
    }
  });
  return CK_OK;
}

/// The first D columns of rows that lie apart by strides.
template <typename Args>
int32_t normaliseStrided(ck_context *ctx, const Args *args, int64_t inputStride, int64_t outputStride) {
  const int64_t D = args->D;
  parallelRange(ctx, args->T, rowsPerTask(D), [=](int64_t begin, int64_t end, int) HWY_ATTR {
    for (int64_t t = begin; t < end; ++t) {
      const float *x = args->input + t * inputStride;
      const float r = reciprocalRoot(x, D, args->eps);
      rmsRow<Gain::Weight>(x, args->gamma, r, args->output + t * outputStride, D);
      if (args->rstd)
        args->rstd[t] = r;
    }
  });
  return CK_OK;
}

} // namespace

CK_KERNEL(rmsnorm_forward) {
  return normalise<Gain::Weight>(ctx, args->input, args->gamma, args->output, args->rstd, args->T, args->E, args->eps);
}

CK_KERNEL(add_rms_norm_f32) { return addAndNormalise(ctx, *args); }

CK_KERNEL(rmsnorm_forward_one_plus_f32) {
  return normalise<Gain::OnePlusWeight>(ctx, args->input, args->gamma, args->output, args->rstd, args->T, args->E,
                                        args->eps);
}

CK_KERNEL(rmsnorm_forward_unit_f32) {
  return normalise<Gain::None>(ctx, args->input, nullptr, args->output, args->rstd, args->T, args->E, args->eps);
}

CK_KERNEL(rmsnorm_forward_kv_lora) { return normaliseStrided(ctx, args, args->input_stride0, args->D); }
CK_KERNEL(rmsnorm_forward_strided_f32) {
  return normaliseStrided(ctx, args, args->input_stride0, args->output_stride0);
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
