//===- cross_entropy.cpp - the loss over a vocabulary, and its gradient ---===//
//
// A row is read for its maximum and again for its exponentials, which stay where the gradient goes and are scaled
// there: the exponential is taken once, and the later passes find the row in the cache.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "train/cross_entropy.cpp"
#include "hwy/foreach_target.h"

#include "Rows.h"
#include "VecMath.h"
#include "pointwise/Elementwise.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

constexpr int32_t kIgnored = -100;

/// The sum of e^(x - top) over n elements; each goes to `keep`, which may be x, unless that is null. Two sums of at
/// most 64 vectors each before they are widened.
HWY_INLINE double sumExponentials(const float *x, int64_t n, float top, float *keep) {
  double total = 0;
  for (int64_t i = 0; i < n;) {
    const int64_t end = std::min(n, i + 128 * kLanes);
    F32 sum[2] = {zero(), zero()};
    for (; i + 2 * kLanes <= end; i += 2 * kLanes)
      for (int64_t k = 0; k < 2; ++k) {
        const F32 e = vexpNonPositive(load(x + i + k * kLanes) - set(top));
        sum[k] = sum[k] + e;
        if (keep)
          store(e, keep + i + k * kLanes);
      }
    for (; i < end; i += kLanes) {
      const int64_t lanes = std::min(kLanes, end - i);
      const F32 e = vexpNonPositive(loadUpTo(x + i, lanes) - set(top));
      sum[0] = sum[0] + keepFirst(e, lanes);
      if (keep)
        storeUpTo(e, keep + i, lanes);
    }
    total += static_cast<double>(sumLanes(sum[0] + sum[1]));
  }
  return total;
}

/// One row: its loss, and s (softmax - onehot) in `gradient` (which may be x) unless that is null.
HWY_INLINE double rowLoss(const float *x, int64_t V, int64_t target, double s, float *gradient) {
  const float top = largest(x, V), below = x[target] - top;
  const int64_t rest = target + 1;
  // Without the target's own exponential: 1 - p keeps its digits where p is nearly 1.
  const double others = sumExponentials(x, target, top, gradient) +
                        sumExponentials(x + rest, V - rest, top, gradient ? gradient + rest : nullptr);
  const double own = std::exp(static_cast<double>(below)), total = others + own;
  if (gradient) {
    const float factor = static_cast<float>(s / total);
    const auto scaled = [=](F32 e) HWY_ATTR { return e * set(factor); };
    mapRow(gradient, gradient, target, scaled);
    gradient[target] = static_cast<float>(s * (-others / total));
    mapRow(gradient + rest, gradient + rest, V - rest, scaled);
  }
  return (own == 1 ? std::log1p(others) : std::log(total)) - static_cast<double>(below);
}

} // namespace

CK_KERNEL(softmax_cross_entropy_loss) {
  const int64_t T = args->T, V = args->V;
  int64_t valid = 0;
  for (int64_t t = 0; t < T; ++t) {
    const int32_t target = args->targets[t];
    if (target != kIgnored && (target < 0 || target >= V))
      return ck_fail(ctx, CK_INVALID_ARGUMENT, "targets[%lld] is %d, neither -100 nor in the vocabulary of %lld",
                     static_cast<long long>(t), target, static_cast<long long>(V));
    valid += target != kIgnored;
  }
  const double s = args->scale ? static_cast<double>(*args->scale) : 1.0 / static_cast<double>(valid);
  parallelRange(ctx, T, rowsPerTask(V), [=](int64_t begin, int64_t end, int) HWY_ATTR {
    for (int64_t t = begin; t < end; ++t) {
      float *gradient = args->d_logits ? args->d_logits + t * V : nullptr;
      if (args->targets[t] != kIgnored)
        args->losses[t] = rowLoss(args->logits + t * V, V, args->targets[t], s, gradient);
      else if (gradient)
        std::fill_n(gradient, V, 0.0f);
    }
  });
  double sum = 0;
  for (int64_t t = 0; t < T; ++t)
    if (args->targets[t] != kIgnored)
      sum += args->losses[t];
  *args->loss = valid ? static_cast<float>(s * sum) : 0.0f;
  return CK_OK;
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
