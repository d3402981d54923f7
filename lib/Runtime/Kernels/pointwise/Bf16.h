//===- Bf16.h - vectors of floats in and out of bf16 ------------*- C++ -*-===//
//
// bf16 is stored, f32 is computed: elements widen exactly as they are read and are rounded to nearest, ties to even, as
// they are written.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_POINTWISE_BF16_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_POINTWISE_BF16_H
#undef CK_LIB_RUNTIME_KERNELS_POINTWISE_BF16_H
#else
#define CK_LIB_RUNTIME_KERNELS_POINTWISE_BF16_H
#endif

#include "ck/Support/Half.h"
#include "linear/GemmStorage.h"
#include "pointwise/Elementwise.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

/// The first n lanes, 0 < n <= kLanes; other lanes are 0.
HWY_INLINE F32 loadUpTo(const uint16_t *p, int64_t n) {
  return n == kLanes ? StorageBF16::widen(p) : StorageBF16::widenN(p, n);
}

#if HWY_TARGET == HWY_SCALAR

HWY_INLINE void storeUpTo(F32 v, uint16_t *p, int64_t) { *p = floatToBF16(hn::GetLane(v)); }
/// v rounded to the values of bf16.
HWY_INLINE F32 roundToBF16(F32 v) { return set(bf16ToFloat(floatToBF16(hn::GetLane(v)))); }

#else

/// The bits of bf16 in the upper halves of lanes, with other bits below them.
HWY_INLINE auto bf16InUpperHalves(F32 v) {
  const hn::RebindToUnsigned<F32Tag> wide;
  const auto bits = hn::BitCast(wide, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(wide, 1));
  const auto rounded = bits + odd + hn::Set(wide, 0x7fff);
  return hn::IfThenElse(hn::RebindMask(wide, hn::IsNaN(v)), hn::Or(bits, hn::Set(wide, 0x400000)), rounded);
}

HWY_INLINE void storeUpTo(F32 v, uint16_t *p, int64_t n) {
  const hn::Rebind<uint16_t, F32Tag> narrow;
  const auto bits = hn::TruncateTo(narrow, hn::ShiftRight<16>(bf16InUpperHalves(v)));
  if (n == kLanes)
    return hn::StoreU(bits, narrow, p);
  uint16_t lanes[kLanes];
  hn::StoreU(bits, narrow, lanes);
  for (int64_t i = 0; i < n; ++i)
    p[i] = lanes[i];
}

/// v rounded to the values of bf16.
HWY_INLINE F32 roundToBF16(F32 v) {
  const hn::RebindToUnsigned<F32Tag> wide;
  return hn::BitCast(F32Tag(), hn::And(bf16InUpperHalves(v), hn::Set(wide, 0xffff0000u)));
}

#endif

/// y[i] = function(x[i]); y may be x.
template <typename Function> HWY_INLINE void mapRow(const uint16_t *x, uint16_t *y, int64_t n, Function function) {
  eachVector(n, [=](int64_t i, int64_t lanes) HWY_ATTR { storeUpTo(function(loadUpTo(x + i, lanes)), y + i, lanes); });
}

/// y[i] = function(a[i], b[i]); y may be a or b.
template <typename Function>
HWY_INLINE void mapRow(const uint16_t *a, const uint16_t *b, uint16_t *y, int64_t n, Function function) {
  eachVector(n, [=](int64_t i, int64_t lanes)
                    HWY_ATTR { storeUpTo(function(loadUpTo(a + i, lanes), loadUpTo(b + i, lanes)), y + i, lanes); });
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_POINTWISE_BF16_H
