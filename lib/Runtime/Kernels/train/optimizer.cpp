//===- optimizer.cpp - updates of weights ---------------------------------===//
//
// Each operand is read and written once.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "train/optimizer.cpp"
#include "hwy/foreach_target.h"

#include "pointwise/Elementwise.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

CK_KERNEL(adamw_update_f32) {
  const int32_t step = *args->step;
  if (step < 1)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "step is %d, but steps count from 1", step);
  const auto f = [](double x) { return static_cast<float>(x); };
  const float beta1 = f(args->beta1), beta2 = f(args->beta2), rest1 = f(1 - args->beta1), rest2 = f(1 - args->beta2);
  // The corrections of the bias: m / (1 - beta1^step), and the root of v / (1 - beta2^step).
  const float correction1 = f(1 / (1 - std::pow(args->beta1, step)));
  const float correction2 = f(1 / std::sqrt(1 - std::pow(args->beta2, step)));
  const float eps = f(args->eps), decay = f(args->weight_decay), lr = *args->lr;
  const float factor = args->factor ? *args->factor : 1.0f;
  float *w = args->w, *m = args->m, *v = args->v;
  const float *grad = args->grad;
  parallelRange(ctx, args->L, kTaskElements, [=](int64_t begin, int64_t end, int) HWY_ATTR {
    eachVector(end - begin, [=](int64_t offset, int64_t lanes) HWY_ATTR {
      const int64_t i = begin + offset;
      const F32 g = loadUpTo(grad + i, lanes) * set(factor), weight = loadUpTo(w + i, lanes);
      const F32 first = fma(set(rest1), g, set(beta1) * loadUpTo(m + i, lanes));
      const F32 second = fma(set(rest2) * g, g, set(beta2) * loadUpTo(v + i, lanes));
      const F32 root = fma(hn::Sqrt(second), set(correction2), set(eps));
      const F32 direction = fma(set(decay), weight, first * set(correction1) / root);
      storeUpTo(first, m + i, lanes);
      storeUpTo(second, v + i, lanes);
      storeUpTo(hn::NegMulAdd(set(lr), direction, weight), w + i, lanes);
    });
  });
  return CK_OK;
}

CK_KERNEL(sgd_f32) {
  const float momentum = static_cast<float>(args->momentum), decay = static_cast<float>(args->weight_decay);
  const float lr = *args->lr, factor = args->factor ? *args->factor : 1.0f;
  const bool nesterov = args->nesterov != 0;
  float *w = args->w, *velocity = args->velocity;
  const float *grad = args->grad;
  if (!velocity && momentum != 0)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "momentum is %g, but there is no velocity", args->momentum);
  parallelRange(ctx, args->L, kTaskElements, [=](int64_t begin, int64_t end, int) HWY_ATTR {
    eachVector(end - begin, [=](int64_t offset, int64_t lanes) HWY_ATTR {
      const int64_t i = begin + offset;
      const F32 weight = loadUpTo(w + i, lanes);
      F32 g = fma(set(decay), weight, loadUpTo(grad + i, lanes) * set(factor));
      if (velocity) {
        const F32 v = fma(set(momentum), loadUpTo(velocity + i, lanes), g);
        storeUpTo(v, velocity + i, lanes);
        g = nesterov ? fma(set(momentum), v, g) : v;
      }
      storeUpTo(hn::NegMulAdd(set(lr), g, weight), w + i, lanes);
    });
  });
  return CK_OK;
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
