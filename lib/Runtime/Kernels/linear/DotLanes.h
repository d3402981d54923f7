//===- DotLanes.h - eight sums side by side, on any machine -----*- C++ -*-===//
//
// Contracts that fix the order of a sum fix it as eight lanes. Here they are one 256-bit register where there is one,
// and eight numbers elsewhere; bits are equal.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_LINEAR_DOTLANES_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_LINEAR_DOTLANES_H
#undef CK_LIB_RUNTIME_KERNELS_LINEAR_DOTLANES_H
#else
#define CK_LIB_RUNTIME_KERNELS_LINEAR_DOTLANES_H
#endif

#include "KernelSupport.h"
#include "Simd.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

struct Ints8 {
  int32_t lane[8] = {};
};
struct Floats8 {
  float lane[8] = {};
};

HWY_INLINE Floats8 load8(const float *p) {
  Floats8 v;
  std::memcpy(v.lane, p, sizeof v.lane);
  return v;
}
HWY_INLINE Floats8 add8(Floats8 a, const Floats8 &b) {
  for (int i = 0; i < 8; ++i)
    a.lane[i] += b.lane[i];
  return a;
}
/// sum + a * b with a rounded product.
HWY_INLINE Floats8 addProduct8(Floats8 sum, const Floats8 &a, const Floats8 &b) {
  for (int i = 0; i < 8; ++i) {
    const float product = a.lane[i] * b.lane[i];
    sum.lane[i] += product;
  }
  return sum;
}
/// sum + a * b, rounded once.
HWY_INLINE Floats8 fma8(Floats8 sum, const Floats8 &a, const Floats8 &b) {
  for (int i = 0; i < 8; ++i)
    sum.lane[i] = std::fma(a.lane[i], b.lane[i], sum.lane[i]);
  return sum;
}
/// sum + factor * integers, rounded once.
HWY_INLINE Floats8 addScaled8(Floats8 sum, float factor, const Ints8 &v) {
  for (int i = 0; i < 8; ++i)
    sum.lane[i] = std::fma(factor, static_cast<float>(v.lane[i]), sum.lane[i]);
  return sum;
}
/// ((a4 + a0) + (a6 + a2)) + ((a5 + a1) + (a7 + a3)).
HWY_INLINE float sum8(const Floats8 &v) {
  const float *const a = v.lane;
  return ((a[4] + a[0]) + (a[6] + a[2])) + ((a[5] + a[1]) + (a[7] + a[3]));
}
HWY_INLINE int32_t sum8(const Ints8 &v) {
  int32_t sum = 0;
  for (int32_t lane : v.lane)
    sum += lane;
  return sum;
}
HWY_INLINE void store8(const Ints8 &v, int32_t *to) { std::memcpy(to, v.lane, sizeof v.lane); }
HWY_INLINE void store8(const Floats8 &v, float *to) { std::memcpy(to, v.lane, sizeof v.lane); }

#else

using Int8Tag = hn::FixedTag<int32_t, 8>;
using Float8Tag = hn::FixedTag<float, 8>;
// Constructors are written out: implicit ones are not compiled for the target.
struct Ints8 {
  hn::Vec<Int8Tag> v;
  HWY_INLINE Ints8() : v(hn::Zero(Int8Tag())) {}
  HWY_INLINE Ints8(hn::Vec<Int8Tag> v) : v(v) {}
};
struct Floats8 {
  hn::Vec<Float8Tag> v;
  HWY_INLINE Floats8() : v(hn::Zero(Float8Tag())) {}
  HWY_INLINE Floats8(hn::Vec<Float8Tag> v) : v(v) {}
};

HWY_INLINE Floats8 load8(const float *p) { return {hn::LoadU(Float8Tag(), p)}; }
HWY_INLINE Floats8 add8(const Floats8 &a, const Floats8 &b) { return {hn::Add(a.v, b.v)}; }
HWY_INLINE Floats8 addProduct8(const Floats8 &sum, const Floats8 &a, const Floats8 &b) {
  return {hn::Add(sum.v, hn::Mul(a.v, b.v))};
}
HWY_INLINE Floats8 fma8(const Floats8 &sum, const Floats8 &a, const Floats8 &b) {
  return {hn::MulAdd(a.v, b.v, sum.v)};
}
HWY_INLINE Floats8 addScaled8(const Floats8 &sum, float factor, const Ints8 &v) {
  return {hn::MulAdd(hn::Set(Float8Tag(), factor), hn::ConvertTo(Float8Tag(), v.v), sum.v)};
}
HWY_INLINE float sum8(const Floats8 &v) {
  const hn::FixedTag<float, 4> d4;
  const auto four = hn::Add(hn::UpperHalf(d4, v.v), hn::LowerHalf(d4, v.v));
  const auto two = hn::Add(four, hn::Shuffle1032(four));
  return hn::GetLane(two) + hn::ExtractLane(two, 1);
}
HWY_INLINE int32_t sum8(const Ints8 &v) { return hn::GetLane(hn::SumOfLanes(Int8Tag(), v.v)); }
HWY_INLINE void store8(const Ints8 &v, int32_t *to) { hn::StoreU(v.v, Int8Tag(), to); }
HWY_INLINE void store8(const Floats8 &v, float *to) { hn::StoreU(v.v, Float8Tag(), to); }

#endif

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_LINEAR_DOTLANES_H
