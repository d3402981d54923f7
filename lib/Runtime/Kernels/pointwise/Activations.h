//===- Activations.h - the activation functions by name ---------*- C++ -*-===//
//
// A kernel asks once per call for the function that its parameter names and then runs a loop compiled for it.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_ACTIVATIONS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_ACTIVATIONS_H
#undef CK_LIB_RUNTIME_KERNELS_ACTIVATIONS_H
#else
#define CK_LIB_RUNTIME_KERNELS_ACTIVATIONS_H
#endif

#include "VecMath.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

// Each has `operator()(F32)`. NaN gives NaN.
struct Silu {
  HWY_INLINE F32 operator()(F32 x) const { return vsilu(x); }
};
struct GeluTanh {
  HWY_INLINE F32 operator()(F32 x) const { return vgeluTanh(x); }
};
struct GeluErf {
  HWY_INLINE F32 operator()(F32 x) const { return vgeluErf(x); }
};
struct GeluQuick {
  HWY_INLINE F32 operator()(F32 x) const { return vgeluQuick(x); }
};
struct Relu {
  HWY_INLINE F32 operator()(F32 x) const { return hn::IfThenElse(x < zero(), zero(), x); }
};
struct Relu2 {
  HWY_INLINE F32 operator()(F32 x) const { return hn::IfThenElse(x < zero(), zero(), x * x); }
};
struct LeakyRelu {
  float alpha;
  HWY_INLINE F32 operator()(F32 x) const { return hn::IfThenElse(x < zero(), x * set(alpha), x); }
};
struct Tanh {
  HWY_INLINE F32 operator()(F32 x) const { return vtanh(x); }
};
struct Sigmoid {
  HWY_INLINE F32 operator()(F32 x) const { return vsigmoid(x); }
};
struct Exp {
  HWY_INLINE F32 operator()(F32 x) const { return vexp(x); }
};
struct Sin {
  HWY_INLINE F32 operator()(F32 x) const { return vsin(x); }
};
struct Softcap {
  float cap;
  HWY_INLINE F32 operator()(F32 x) const { return set(cap) * vtanh(x / set(cap)); }
};

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_ACTIVATIONS_H
