//===- clip.cpp - the norm of gradients, and clipping by it ---------------===//
//
// Squares are exact in double precision and summed there: tasks of a fixed size, then their sums in order.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "train/clip.cpp"
#include "hwy/foreach_target.h"

#include "pointwise/Elementwise.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

/// Elements of a task; the maps' scratch counts in it.
constexpr int64_t kGrain = 65536;

HWY_INLINE double taskSquares(const float *x, int64_t n) {
#if HWY_TARGET == HWY_SCALAR
  double sum[4] = {0, 0, 0, 0};
  for (int64_t i = 0; i < n; ++i)
    sum[i % 4] += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
#else
  const hn::Half<F32Tag> half;
  const hn::RepartitionToWide<F32Tag> wide;
  auto low0 = hn::Zero(wide), high0 = low0, low1 = low0, high1 = low0;
  const auto add = [=](F32 v, auto &low, auto &high) HWY_ATTR {
    const auto a = hn::PromoteTo(wide, hn::LowerHalf(half, v)), b = hn::PromoteTo(wide, hn::UpperHalf(half, v));
    low = hn::MulAdd(a, a, low);
    high = hn::MulAdd(b, b, high);
  };
  int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    add(load(x + i), low0, high0);
    add(load(x + i + kLanes), low1, high1);
  }
  for (; i < n; i += kLanes)
    add(loadUpTo(x + i, std::min(kLanes, n - i)), low0, high0);
  return hn::GetLane(hn::SumOfLanes(wide, (low0 + low1) + (high0 + high1)));
#endif
}

/// `partials` holds a value for each kGrain elements.
double sumSquares(ck_context *ctx, const float *x, int64_t n, double *partials) {
  parallelRange(ctx, n, kGrain, [=](int64_t begin, int64_t end, int) HWY_ATTR {
    partials[begin / kGrain] = taskSquares(x + begin, end - begin);
  });
  double sum = 0;
  for (int64_t i = 0; i < ceilDiv(n, kGrain); ++i)
    sum += partials[i];
  return sum;
}

} // namespace

CK_KERNEL(sum_squares_f32) {
  *args->sum = sumSquares(ctx, args->input, args->L, args->partials);
  return CK_OK;
}

CK_KERNEL(sum_squares_add_f32) {
  *args->sum += sumSquares(ctx, args->input, args->L, args->partials);
  return CK_OK;
}

CK_KERNEL(gradient_clip_norm_f32) {
  *args->norm = 0;
  if (!(args->max_norm > 0))
    return CK_OK;
  const double norm = std::sqrt(sumSquares(ctx, args->grad, args->L, args->partials));
  *args->norm = static_cast<float>(norm);
  if (!(norm > args->max_norm))
    return CK_OK;
  const float factor = static_cast<float>(args->max_norm / norm);
  mapFlat(ctx, args->grad, args->grad, args->L, [=](F32 g) HWY_ATTR { return g * set(factor); });
  return CK_OK;
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
CK_PORTABLE_KERNEL(clip_factor_f64) {
  const double norm = std::sqrt(*args->sum);
  if (!std::isfinite(norm) || norm > static_cast<double>(std::numeric_limits<float>::max()))
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "gradient norm is %s", std::isnan(norm) ? "nan" : "inf");
  *args->norm = static_cast<float>(norm);
  *args->factor = args->max_norm > 0 && norm > args->max_norm ? static_cast<float>(args->max_norm / norm) : 1.0f;
  return CK_OK;
}
#endif
