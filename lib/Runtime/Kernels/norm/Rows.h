//===- Rows.h - rows that are normalised, and their gradients ---*- C++ -*-===//
//
// y = h * gain + beta with h = (x - mean) * r; rms norms have no mean and no beta. A task takes a range of rows that
// depends on shapes alone, keeps its own sums over rows (the gradients of gain and beta) in scratch, and sums are put
// together in the order of the tasks.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_NORM_ROWS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_NORM_ROWS_H
#undef CK_LIB_RUNTIME_KERNELS_NORM_ROWS_H
#else
#define CK_LIB_RUNTIME_KERNELS_NORM_ROWS_H
#endif

#include "pointwise/Elementwise.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

/// The factor of the normalised value.
enum class Gain { None, Weight, OnePlusWeight };

template <Gain kGain> HWY_INLINE F32 gained(F32 y, F32 gamma) {
  if (kGain == Gain::None)
    return y;
  return kGain == Gain::Weight ? y * gamma : y * (gamma + set(1.0f));
}

/// Adds term(sum, i, lanes) up over vectors that cover [0, n); lanes behind n must add 0. Four sums, so that an add
/// does not wait for the one before it; blocks of 64 such steps are put together in double precision.
template <typename Term> HWY_INLINE double sumTerms(int64_t n, Term term) {
  double total = 0;
  for (int64_t i = 0; i < n;) {
    const int64_t end = std::min(n, i + 256 * kLanes);
    F32 sum[4] = {zero(), zero(), zero(), zero()};
    for (; i + 4 * kLanes <= end; i += 4 * kLanes)
      for (int64_t k = 0; k < 4; ++k)
        sum[k] = term(sum[k], i + k * kLanes, kLanes);
    for (; i < end; i += kLanes)
      sum[0] = term(sum[0], i, std::min(kLanes, end - i));
    total += static_cast<double>(sumLanes((sum[0] + sum[1]) + (sum[2] + sum[3])));
  }
  return total;
}

HWY_INLINE double sumOfSquares(const float *x, int64_t n) {
  return sumTerms(n, [=](F32 sum, int64_t i, int64_t lanes) HWY_ATTR {
    const F32 v = loadUpTo(x + i, lanes);
    return fma(v, v, sum);
  });
}

/// 1 / sqrt(mean(x^2) + eps)
HWY_INLINE float reciprocalRoot(const float *x, int64_t n, double eps) {
  const double mean = sumOfSquares(x, n) / static_cast<double>(n);
  return static_cast<float>(1.0 / std::sqrt(mean + eps));
}

/// y = (x r) gain; y may be x.
template <Gain kGain> HWY_INLINE void rmsRow(const float *x, const float *gamma, float r, float *y, int64_t n) {
  const float *gain = kGain == Gain::None ? x : gamma; // only its value is ignored
  eachVector(n, [=](int64_t i, int64_t lanes) HWY_ATTR {
    storeUpTo(gained<kGain>(loadUpTo(x + i, lanes) * set(r), loadUpTo(gain + i, lanes)), y + i, lanes);
  });
}

/// Where a gradient goes: over what is there, or on top of it.
enum class Into { Overwrite, Add };

/// One row of the gradient. `dx` may be dy or x; a null result is not wanted; sums over rows are added to.
template <Gain kGain, bool kCentred, Into kInto>
HWY_INLINE void normRowGrad(const float *dy, const float *x, const float *gamma, float mean, float r, int64_t n,
                            float *dx, float *gammaSums, float *betaSums) {
  const float *gain = kGain == Gain::None ? x : gamma;
  const F32 factor = set(r), middle = set(mean);
  const auto normalised = [=](int64_t i, int64_t lanes) HWY_ATTR {
    const F32 v = loadUpTo(x + i, lanes);
    return keepFirst((kCentred ? v - middle : v) * factor, lanes);
  };
  const auto gradient = [=](int64_t i, int64_t lanes)
                            HWY_ATTR { return gained<kGain>(loadUpTo(dy + i, lanes), loadUpTo(gain + i, lanes)); };
  F32 along = zero(), constant = zero();
  if (dx) {
    const double count = static_cast<double>(n);
    along = set(
        static_cast<float>(sumTerms(n, [=](F32 sum, int64_t i, int64_t lanes)
                                           HWY_ATTR { return fma(gradient(i, lanes), normalised(i, lanes), sum); }) /
                           count));
    if (kCentred)
      constant = set(static_cast<float>(
          sumTerms(n, [=](F32 sum, int64_t i, int64_t lanes) HWY_ATTR { return sum + gradient(i, lanes); }) / count));
  }
  eachVector(n, [=](int64_t i, int64_t lanes) HWY_ATTR {
    const F32 h = normalised(i, lanes), d = loadUpTo(dy + i, lanes);
    if (gammaSums)
      storeUpTo(fma(d, h, loadUpTo(gammaSums + i, lanes)), gammaSums + i, lanes);
    if (betaSums)
      storeUpTo(d + loadUpTo(betaSums + i, lanes), betaSums + i, lanes);
    if (!dx)
      return;
    const F32 g = gained<kGain>(d, loadUpTo(gain + i, lanes));
    const F32 result = factor * hn::NegMulAdd(h, along, kCentred ? g - constant : g);
    storeUpTo(kInto == Into::Add ? loadUpTo(dx + i, lanes) + result : result, dx + i, lanes);
  });
}

/// Tasks that rows of that width are split into: as many as there may be partial sums (see the maps' scratch).
inline constexpr int64_t kNormPartials = 32;
inline int64_t normTasks(int64_t rows, int64_t width) {
  return std::min(kNormPartials, ceilDiv(rows, rowsPerTask(width)));
}

/// to[i] = (to[i] +) sum over `count` rows of `partials`, in their order.
template <Into kInto>
void combinePartials(ck_context *ctx, const float *partials, int64_t count, float *to, int64_t n) {
  parallelRange(ctx, n, rowsPerTask(count), [=](int64_t begin, int64_t end, int) HWY_ATTR {
    for (int64_t i = begin; i < end; i += kLanes) {
      const int64_t lanes = std::min(kLanes, end - i);
      F32 sum = zero();
      for (int64_t p = 0; p < count; ++p)
        sum = sum + loadUpTo(partials + p * n + i, lanes);
      storeUpTo(kInto == Into::Add ? loadUpTo(to + i, lanes) + sum : sum, to + i, lanes);
    }
  });
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_NORM_ROWS_H
