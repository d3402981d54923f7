//===- Fused.h - multiply-add with one rounding on every target -*- C++ -*-===//
//
// For kernels that promise bits: fma() of Simd.h rounds twice where there is no such instruction.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_FUSED_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_FUSED_H
#undef CK_LIB_RUNTIME_KERNELS_FUSED_H
#else
#define CK_LIB_RUNTIME_KERNELS_FUSED_H
#endif

#include "Simd.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

/// a * b + c, rounded once on every target.
HWY_INLINE F32 fused(F32 a, F32 b, F32 c) {
#if HWY_TARGET == HWY_SCALAR
  return set(std::fma(hn::GetLane(a), hn::GetLane(b), hn::GetLane(c)));
#else
  return hn::MulAdd(a, b, c);
#endif
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_FUSED_H
