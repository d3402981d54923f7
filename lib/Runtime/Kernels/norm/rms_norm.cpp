//===- rms_norm.cpp - root-mean-square normalisation of rows --------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "norm/rms_norm.cpp"
#include "hwy/foreach_target.h"

#include "Simd.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

/// The factor of the normalised value.
enum class Gain { None, Weight, OnePlusWeight };

/// Four sums, so that an add does not wait for the one before it.
HWY_INLINE float sumOfSquares(const float *x, int64_t n) {
  F32 sum[4] = {zero(), zero(), zero(), zero()};
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes)
    for (int64_t k = 0; k < 4; ++k) {
      const F32 v = load(x + i + k * kLanes);
      sum[k] = fma(v, v, sum[k]);
    }
  for (; i < n; i += kLanes) {
    const F32 v = loadN(x + i, std::min(kLanes, n - i));
    sum[0] = fma(v, v, sum[0]);
  }
  return sumLanes((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

template <Gain kGain> HWY_INLINE F32 scaled(F32 x, F32 rstd, F32 gamma) {
  const F32 y = x * rstd;
  if (kGain == Gain::None)
    return y;
  return kGain == Gain::Weight ? y * gamma : y * (gamma + set(1.0f));
}

template <Gain kGain>
int32_t normalise(ck_context *ctx, const float *input, const float *gamma, float *output, float *rstd, int64_t T,
                  int64_t E, double eps) {
  const float *gain = kGain == Gain::None ? input : gamma; // only its value is ignored
  parallelRange(ctx, T, rowsPerTask(E), [=](int64_t begin, int64_t end, int) HWY_ATTR {
    for (int64_t t = begin; t < end; ++t) {
      const float *x = input + t * E;
      float *y = output + t * E;
      const double mean = static_cast<double>(sumOfSquares(x, E)) / static_cast<double>(E);
      const float r = static_cast<float>(1.0 / std::sqrt(mean + eps));
      const F32 factor = set(r);
      int64_t i = 0;
      for (; i + kLanes <= E; i += kLanes)
        store(scaled<kGain>(load(x + i), factor, load(gain + i)), y + i);
      if (i < E)
        storeN(scaled<kGain>(loadN(x + i, E - i), factor, loadN(gain + i, E - i)), y + i, E - i);
      if (rstd)
        rstd[t] = r;
    }
  });
  return CK_OK;
}

} // namespace

CK_KERNEL(rmsnorm_forward) {
  return normalise<Gain::Weight>(ctx, args->input, args->gamma, args->output, args->rstd, args->T, args->E, args->eps);
}

CK_KERNEL(rmsnorm_forward_one_plus_f32) {
  return normalise<Gain::OnePlusWeight>(ctx, args->input, args->gamma, args->output, args->rstd, args->T, args->E,
                                        args->eps);
}

CK_KERNEL(rmsnorm_forward_unit_f32) {
  return normalise<Gain::None>(ctx, args->input, nullptr, args->output, args->rstd, args->T, args->E, args->eps);
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
