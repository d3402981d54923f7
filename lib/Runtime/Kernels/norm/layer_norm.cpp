//===- layer_norm.cpp - rows shifted and scaled to mean 0, variance 1 -----===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "norm/layer_norm.cpp"
#include "hwy/foreach_target.h"

#include "norm/Rows.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

CK_KERNEL(layernorm_forward) {
  const int64_t E = args->E;
  const double count = static_cast<double>(E);
  parallelRange(ctx, args->T, rowsPerTask(E), [=](int64_t begin, int64_t end, int) HWY_ATTR {
    for (int64_t t = begin; t < end; ++t) {
      const float *x = args->input + t * E;
      const float mean = static_cast<float>(
          sumTerms(E, [=](F32 sum, int64_t i, int64_t lanes) HWY_ATTR { return sum + loadUpTo(x + i, lanes); }) /
          count);
      // Deviations from the rounded mean, whose own sum shows what the rounding lost.
      const auto deviation = [=](int64_t i, int64_t lanes) HWY_ATTR {
        return lanes == kLanes ? load(x + i) - set(mean) : loadN(x + i, lanes, mean) - set(mean);
      };
      const double lost =
          sumTerms(E, [=](F32 sum, int64_t i, int64_t lanes) HWY_ATTR { return sum + deviation(i, lanes); }) / count;
      const double squares = sumTerms(E,
                                      [=](F32 sum, int64_t i, int64_t lanes) HWY_ATTR {
                                        const F32 d = deviation(i, lanes);
                                        return fma(d, d, sum);
                                      }) /
                             count;
      const float r = static_cast<float>(1.0 / std::sqrt(std::max(squares - lost * lost, 0.0) + args->eps));
      eachVector(E, [=](int64_t i, int64_t lanes) HWY_ATTR {
        F32 y = (deviation(i, lanes) - set(static_cast<float>(lost))) * set(r) * loadUpTo(args->gamma + i, lanes);
        if (args->beta)
          y = y + loadUpTo(args->beta + i, lanes);
        storeUpTo(y, args->output + t * E + i, lanes);
      });
      if (args->mean)
        args->mean[t] = std::isfinite(mean) ? static_cast<float>(mean + lost) : mean;
      if (args->rstd)
        args->rstd[t] = r;
    }
  });
  return CK_OK;
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
