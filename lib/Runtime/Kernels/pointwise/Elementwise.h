//===- Elementwise.h - one function over flat operands ----------*- C++ -*-===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_ELEMENTWISE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_ELEMENTWISE_H
#undef CK_LIB_RUNTIME_KERNELS_ELEMENTWISE_H
#else
#define CK_LIB_RUNTIME_KERNELS_ELEMENTWISE_H
#endif

#include "Simd.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

/// A whole vector, or its first n lanes and zeros.
HWY_INLINE F32 loadUpTo(const float *p, int64_t n) { return n == kLanes ? load(p) : loadN(p, n); }
HWY_INLINE void storeUpTo(F32 v, float *p, int64_t n) {
  if (n == kLanes)
    store(v, p);
  else
    storeN(v, p, n);
}

/// v with zeros behind its first n lanes.
HWY_INLINE F32 keepFirst(F32 v, int64_t n) {
#if HWY_TARGET == HWY_SCALAR
  return n > 0 ? v : zero();
#else
  return n == kLanes ? v : hn::IfThenElseZero(hn::FirstN(F32Tag(), static_cast<size_t>(n)), v);
#endif
}

/// body(i, lanes) for vectors that cover [0, n).
template <typename Body> HWY_INLINE void eachVector(int64_t n, Body body) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    body(i, kLanes);
  if (i < n)
    body(i, n - i);
}

/// y[i] = function(x[i]) for i in [0, n); y may be x.
template <typename Function> HWY_INLINE void mapRow(const float *x, float *y, int64_t n, Function function) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    store(function(load(x + i)), y + i);
  if (i < n)
    storeN(function(loadN(x + i, n - i)), y + i, n - i);
}

/// y[i] = function(a[i], b[i]) for i in [0, n); y may be a or b.
template <typename Function>
HWY_INLINE void mapRow(const float *a, const float *b, float *y, int64_t n, Function function) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    store(function(load(a + i), load(b + i)), y + i);
  if (i < n)
    storeN(function(loadN(a + i, n - i), loadN(b + i, n - i)), y + i, n - i);
}

/// The same over flat operands of any size, split over the team.
template <typename Function> void mapFlat(ck_context *ctx, const float *x, float *y, int64_t n, Function function) {
  parallelRange(ctx, n, kTaskElements,
                [=](int64_t begin, int64_t end, int) HWY_ATTR { mapRow(x + begin, y + begin, end - begin, function); });
}
template <typename Function>
void mapFlat(ck_context *ctx, const float *a, const float *b, float *y, int64_t n, Function function) {
  parallelRange(ctx, n, kTaskElements, [=](int64_t begin, int64_t end, int) HWY_ATTR {
    mapRow(a + begin, b + begin, y + begin, end - begin, function);
  });
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_ELEMENTWISE_H
