//===- Slopes.h - activation functions with their derivatives ---*- C++ -*-===//
//
// A gradient needs f(x) and f'(x) of one x, which share the exponential.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_SLOPES_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_SLOPES_H
#undef CK_LIB_RUNTIME_KERNELS_SLOPES_H
#else
#define CK_LIB_RUNTIME_KERNELS_SLOPES_H
#endif

#include "VecMath.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

/// f(x) and f'(x).
struct Sloped {
  F32 value, slope;
};

/// s = sigmoid(z) and s (1 - s), from e^-|z| so that neither overflows nor cancels.
HWY_INLINE Sloped slopedSigmoid(F32 z) {
  const F32 e = vexpNonPositive(hn::Neg(hn::Abs(z))), inverse = set(1.0f) / (e + set(1.0f)), tail = e * inverse;
  return {hn::IfThenElse(z < zero(), tail, inverse), tail * inverse};
}

/// `yes` where x > 0, `no` elsewhere, NaN where x is NaN.
HWY_INLINE F32 wherePositive(F32 x, F32 yes, F32 no) {
  return hn::IfThenElse(x == x, hn::IfThenElse(x > zero(), yes, no), x);
}

// Each has `operator()(F32)`; NaN gives NaN. Of a kink, the slope is that on the left.
struct SiluSlope {
  HWY_INLINE Sloped operator()(F32 x) const {
    const Sloped s = slopedSigmoid(x);
    return {x * s.value, fma(x, s.slope, s.value)};
  }
};
struct GeluTanhSlope {
  HWY_INLINE Sloped operator()(F32 x) const {
    // x sigmoid(u); beyond 100 the sigmoid is flat, and the bound keeps its argument's slope finite.
    const F32 square = hn::Min(x * x, set(1e4f)), a = set(1.5957691216057f), b = set(0.0713548162726f);
    const Sloped s = slopedSigmoid(x * fma(square, b, a));
    return {x * s.value, fma(x * s.slope, fma(square, set(3 * 0.0713548162726f), a), s.value)};
  }
};
struct GeluErfSlope {
  HWY_INLINE Sloped operator()(F32 x) const {
    // P(Z <= x) is gelu(x) / x, where that says anything.
    const F32 value = vgeluErf(x);
    const F32 below = hn::IfThenElse(hn::Abs(x) < set(1e-30f), set(0.5f), value / x);
    const F32 density = vexpNonPositive(x * x * set(-0.5f)) * set(0.3989422804f);
    return {value, fma(x, density, below)};
  }
};
struct GeluQuickSlope {
  HWY_INLINE Sloped operator()(F32 x) const {
    const F32 z = x * set(1.702f);
    const Sloped s = slopedSigmoid(z);
    return {x * s.value, fma(z, s.slope, s.value)};
  }
};
struct ReluSlope {
  HWY_INLINE Sloped operator()(F32 x) const {
    return {hn::IfThenElse(x < zero(), zero(), x), wherePositive(x, set(1.0f), zero())};
  }
};
struct Relu2Slope {
  HWY_INLINE Sloped operator()(F32 x) const {
    return {hn::IfThenElse(x < zero(), zero(), x * x), wherePositive(x, x + x, zero())};
  }
};
struct LeakyReluSlope {
  float alpha;
  HWY_INLINE Sloped operator()(F32 x) const {
    return {hn::IfThenElse(x < zero(), x * set(alpha), x), wherePositive(x, set(1.0f), set(alpha))};
  }
};
struct TanhSlope {
  HWY_INLINE Sloped operator()(F32 x) const { return {vtanh(x), set(4.0f) * slopedSigmoid(x + x).slope}; }
};
struct SigmoidSlope {
  HWY_INLINE Sloped operator()(F32 x) const { return slopedSigmoid(x); }
};
struct ExpSlope {
  HWY_INLINE Sloped operator()(F32 x) const {
    const F32 y = vexp(x);
    return {y, y};
  }
};
struct SinSlope {
  HWY_INLINE Sloped operator()(F32 x) const { return {vsin(x), vcos(x)}; }
};
/// A cap of 0 is none.
struct SoftcapSlope {
  float cap;
  HWY_INLINE Sloped operator()(F32 x) const {
    if (cap == 0)
      return {x, wherePositive(x, set(1.0f), set(1.0f))};
    const Sloped s = TanhSlope()(x / set(cap));
    return {set(cap) * s.value, s.slope};
  }
};

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_SLOPES_H
