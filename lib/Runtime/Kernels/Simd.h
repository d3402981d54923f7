//===- Simd.h - one kernel text, three instruction sets ---------*- C++ -*-===//
//
// Kernels are written once against Highway and compiled for each target by foreach_target.h:
//
//   #include "KernelSupport.h"
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "norm/rms_norm.cpp"     // this file
//   #include "hwy/foreach_target.h"
//   #include "Simd.h"
//
//   HWY_BEFORE_NAMESPACE();
//   namespace ck {
//   namespace HWY_NAMESPACE {
//   CK_KERNEL(rmsnorm_forward) { ... args->input ... return CK_OK; }
//   } // namespace HWY_NAMESPACE
//   } // namespace ck
//   HWY_AFTER_NAMESPACE();
//
// CK_KERNEL(id) defines ckk_<id>__scalar, __avx2 or __avx512. A lambda that uses vectors needs HWY_ATTR before its
// body. The scalar target has one lane and no fused multiply-add.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_SIMD_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_SIMD_H
#undef CK_LIB_RUNTIME_KERNELS_SIMD_H
#else
#define CK_LIB_RUNTIME_KERNELS_SIMD_H
#endif

#include "hwy/highway.h"

#undef CK_ISA
#undef CK_VECTOR_LANES
#if HWY_TARGET == HWY_SCALAR
#define CK_ISA scalar
#define CK_VECTOR_LANES 1
#elif HWY_TARGET == HWY_AVX2
#define CK_ISA avx2
#define CK_VECTOR_LANES 8
#elif HWY_TARGET == HWY_AVX3
#define CK_ISA avx512
#define CK_VECTOR_LANES 16
#else
#error "a target that KernelSupport.h does not select"
#endif

#ifndef CK_KERNEL
#define CK_KERNEL_NAME_2(id, isa) ckk_##id##__##isa
#define CK_KERNEL_NAME(id, isa) CK_KERNEL_NAME_2(id, isa)
/// Opens the definition of provider `id` for the current target; the body sees `ctx` and `args`. The types and the
/// prototype come from the kernel map, so that a body that disagrees with its map does not compile.
#define CK_KERNEL(id)                                                                                                  \
  extern "C" int32_t CK_KERNEL_NAME(id, CK_ISA)([[maybe_unused]] ck_context * ctx,                                     \
                                                [[maybe_unused]] const ckk_##id##_args *args)
#endif

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32Tag = hn::ScalableTag<float>;
using F32 = hn::Vec<F32Tag>;
using I32Tag = hn::ScalableTag<int32_t>;
using I32 = hn::Vec<I32Tag>;
using F32Mask = hn::Mask<F32Tag>;

/// Lanes of a float vector, as a constant.
inline constexpr int64_t kLanes = CK_VECTOR_LANES;

HWY_INLINE F32 load(const float *p) { return hn::LoadU(F32Tag(), p); }
HWY_INLINE void store(F32 v, float *p) { hn::StoreU(v, F32Tag(), p); }
HWY_INLINE F32 set(float x) { return hn::Set(F32Tag(), x); }
HWY_INLINE F32 zero() { return hn::Zero(F32Tag()); }

/// The first n lanes (0 <= n <= kLanes); nothing behind them is touched, other lanes are 0.
HWY_INLINE F32 loadN(const float *p, int64_t n) {
#if HWY_TARGET == HWY_SCALAR
  return n > 0 ? load(p) : zero();
#else
  return hn::MaskedLoad(hn::FirstN(F32Tag(), static_cast<size_t>(n)), F32Tag(), p);
#endif
}
/// As loadN, other lanes are `fill`.
HWY_INLINE F32 loadN(const float *p, int64_t n, float fill) {
#if HWY_TARGET == HWY_SCALAR
  return n > 0 ? load(p) : set(fill);
#else
  const F32Mask mask = hn::FirstN(F32Tag(), static_cast<size_t>(n));
  return hn::IfThenElse(mask, hn::MaskedLoad(mask, F32Tag(), p), set(fill));
#endif
}
HWY_INLINE void storeN(F32 v, float *p, int64_t n) {
#if HWY_TARGET == HWY_SCALAR
  if (n > 0)
    store(v, p);
#else
  hn::BlendedStore(v, hn::FirstN(F32Tag(), static_cast<size_t>(n)), F32Tag(), p);
#endif
}

/// a * b + c, fused except on the scalar target.
HWY_INLINE F32 fma(F32 a, F32 b, F32 c) { return hn::MulAdd(a, b, c); }

HWY_INLINE float sumLanes(F32 v) { return hn::GetLane(hn::SumOfLanes(F32Tag(), v)); }

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_SIMD_H
