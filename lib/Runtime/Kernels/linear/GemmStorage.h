//===- GemmStorage.h - how elements of B become f32 -------------*- C++ -*-===//
//
// An unpack functor per storage type. The engine is a template over it: it widens while it packs a block of B, or while
// it streams rows of B.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMSTORAGE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMSTORAGE_H
#undef CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMSTORAGE_H
#else
#define CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMSTORAGE_H
#endif

#include "Simd.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

struct StorageF32 {
  using Element = float;
  /// True if the tile kernel can read B where it lies.
  static constexpr bool kDirect = true;

  static HWY_INLINE F32 widen(const float *p) { return load(p); }
  /// The first n elements; nothing behind them is read.
  static HWY_INLINE F32 widenN(const float *p, int64_t n) { return loadN(p, n); }
  static HWY_INLINE float widenOne(float x) { return x; }
};

struct StorageBF16 {
  using Element = uint16_t;
  static constexpr bool kDirect = false;

  static HWY_INLINE F32 widen(const uint16_t *p) {
#if HWY_TARGET == HWY_SCALAR
    return set(widenOne(*p));
#else
    const hn::Rebind<uint16_t, I32Tag> half;
    return hn::BitCast(F32Tag(), hn::ShiftLeft<16>(hn::PromoteTo(I32Tag(), hn::LoadU(half, p))));
#endif
  }
  static HWY_INLINE F32 widenN(const uint16_t *p, int64_t n) {
    uint16_t bits[kLanes] = {};
    for (int64_t i = 0; i < n; ++i)
      bits[i] = p[i];
    return widen(bits);
  }
  static HWY_INLINE float widenOne(uint16_t x) {
    const uint32_t bits = uint32_t(x) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
};

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMSTORAGE_H
