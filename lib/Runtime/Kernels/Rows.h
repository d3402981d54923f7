//===- Rows.h - what several kernels ask of a row ---------------*- C++ -*-===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_ROWS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_ROWS_H
#undef CK_LIB_RUNTIME_KERNELS_ROWS_H
#else
#define CK_LIB_RUNTIME_KERNELS_ROWS_H
#endif

#include "Simd.h"

#include <limits>

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

/// The largest value that is no NaN, -infinity if there is none.
HWY_INLINE float largest(const float *x, int64_t n) {
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  F32 best[4] = {set(kLowest), set(kLowest), set(kLowest), set(kLowest)};
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes)
    for (int64_t k = 0; k < 4; ++k) {
      const F32 v = load(x + i + k * kLanes);
      best[k] = hn::IfThenElse(v > best[k], v, best[k]);
    }
  for (; i < n; i += kLanes) {
    const F32 v = loadN(x + i, std::min(kLanes, n - i), kLowest);
    best[0] = hn::IfThenElse(v > best[0], v, best[0]);
  }
  return hn::GetLane(hn::MaxOfLanes(F32Tag(), hn::Max(hn::Max(best[0], best[1]), hn::Max(best[2], best[3]))));
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_ROWS_H
