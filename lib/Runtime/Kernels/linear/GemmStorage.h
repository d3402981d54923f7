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
#include "ck/Support/Half.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

/// What all storages of plain elements have.
template <class ElementType> struct PlainStorage {
  using Element = ElementType;
  using Pointer = const Element *;
  /// Elements of a cache line, or a little less.
  static constexpr int64_t kPerLine = 64 / sizeof(Element);

  static Pointer at(const void *data) { return static_cast<Pointer>(data); }
  static const char *address(Pointer p) { return reinterpret_cast<const char *>(p); }
  static constexpr int64_t bytes(int64_t elements) { return elements * static_cast<int64_t>(sizeof(Element)); }
};

struct StorageF32 : PlainStorage<float> {
  /// True if the tile kernel can read B where it lies.
  static constexpr bool kDirect = true;

  static HWY_INLINE F32 widen(const float *p) { return load(p); }
  /// The first n elements; nothing behind them is read.
  static HWY_INLINE F32 widenN(const float *p, int64_t n) { return loadN(p, n); }
  static HWY_INLINE float widenOne(const float *p) { return *p; }
};

/// 16-bit floats: Half says how one, and how a vector, becomes f32.
template <class Half> struct Storage16 : PlainStorage<uint16_t> {
  static constexpr bool kDirect = false;

  static HWY_INLINE F32 widen(const uint16_t *p) { return Half::widen(p); }
  static HWY_INLINE F32 widenN(const uint16_t *p, int64_t n) {
    uint16_t bits[kLanes] = {};
    for (int64_t i = 0; i < n; ++i)
      bits[i] = p[i];
    return Half::widen(bits);
  }
  static HWY_INLINE float widenOne(const uint16_t *p) { return Half::widenOne(*p); }
};

struct HalfBF16 {
  static HWY_INLINE float widenOne(uint16_t bits) { return bf16ToFloat(bits); }
  static HWY_INLINE F32 widen(const uint16_t *p) {
#if HWY_TARGET == HWY_SCALAR
    return set(widenOne(*p));
#else
    const hn::Rebind<uint16_t, I32Tag> half;
    return hn::BitCast(F32Tag(), hn::ShiftLeft<16>(hn::PromoteTo(I32Tag(), hn::LoadU(half, p))));
#endif
  }
};

struct HalfF16 {
  static HWY_INLINE float widenOne(uint16_t bits) { return halfToFloat(bits); }
  static HWY_INLINE F32 widen(const uint16_t *p) {
#if HWY_TARGET == HWY_SCALAR
    return set(widenOne(*p));
#elif HWY_TARGET == HWY_AVX3
    return F32{_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(p)))};
#else
    return F32{_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(p)))};
#endif
  }
};

using StorageBF16 = Storage16<HalfBF16>;
using StorageF16 = Storage16<HalfF16>;

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMSTORAGE_H
