//===- VecMath.h - transcendental functions on vectors ----------*- C++ -*-===//
//
// exp, tanh, sigmoid, silu, erf, sin and cos of float vectors, each within 2 ulp on the whole line, with subnormal
// results, infinities and NaN as in the C library (test/unit/Kernels/VecMathTest.cpp measures them). The polynomials
// are minimax fits with coefficients rounded to float one after the other. The scalar target calls the C library in
// double precision and rounds once: it is slower and shares no approximation with the vector targets.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_VECMATH_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_VECMATH_H
#undef CK_LIB_RUNTIME_KERNELS_VECMATH_H
#else
#define CK_LIB_RUNTIME_KERNELS_VECMATH_H
#endif

#include "Simd.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

HWY_INLINE F32 viaDouble(double (*function)(double), F32 x) {
  return set(static_cast<float>(function(static_cast<double>(hn::GetLane(x)))));
}
HWY_INLINE F32 vexp(F32 x) {
  return viaDouble([](double v) { return std::exp(v); }, x);
}
HWY_INLINE F32 vexpNonPositive(F32 x) { return vexp(x); }
HWY_INLINE F32 vtanh(F32 x) {
  return viaDouble([](double v) { return std::tanh(v); }, x);
}
HWY_INLINE F32 vsigmoid(F32 x) {
  return viaDouble([](double v) { return 1 / (1 + std::exp(-v)); }, x);
}
HWY_INLINE F32 vsilu(F32 x) {
  return viaDouble([](double v) { return v / (1 + std::exp(-v)); }, x);
}
HWY_INLINE F32 verf(F32 x) {
  return viaDouble([](double v) { return std::erf(v); }, x);
}
HWY_INLINE F32 vsin(F32 x) {
  return viaDouble([](double v) { return std::sin(v); }, x);
}
HWY_INLINE F32 vcos(F32 x) {
  return viaDouble([](double v) { return std::cos(v); }, x);
}
HWY_INLINE F32 vgeluErf(F32 x) {
  return viaDouble([](double v) { return 0.5 * v * std::erfc(v * -0.70710678118654752440); }, x);
}

#else

/// sum of c[i] x^i, by Horner's rule.
template <size_t N> HWY_INLINE F32 polynomial(F32 x, const float (&c)[N]) {
  F32 y = set(c[N - 1]);
  for (size_t i = N - 1; i-- > 0;)
    y = fma(y, x, set(c[i]));
  return y;
}

/// Multiplies by 2^n for an integral n in [-220, 190]; rounds only where the result is subnormal. Where it vanishes,
/// the multiplication is left out: processors take a hundred cycles and more to underflow.
class PowerOfTwo {
public:
#if HWY_TARGET == HWY_AVX3
  explicit HWY_INLINE PowerOfTwo(F32 n) : n(n) {}
  HWY_INLINE F32 scale(F32 y) const {
    const __mmask16 stays = _mm512_cmp_ps_mask(n.raw, _mm512_set1_ps(-160.0f), _CMP_NLT_UQ);
    return F32{_mm512_maskz_scalef_ps(stays, y.raw, n.raw)};
  }

private:
  F32 n;
#else
  /// Two factors, because 2^n itself may leave the range of float.
  explicit HWY_INLINE PowerOfTwo(F32 n) : vanishes(n < set(-160.0f)) {
    const I32 whole = hn::NearestInt(n), half = hn::ShiftRight<1>(whole), bias = hn::Set(I32Tag(), 127);
    first = hn::BitCast(F32Tag(), hn::ShiftLeft<23>(half + bias));
    second = hn::BitCast(F32Tag(), hn::ShiftLeft<23>(whole - half + bias));
  }
  HWY_INLINE F32 scale(F32 y) const { return hn::IfThenZeroElse(vanishes, y) * first * second; }

private:
  F32Mask vanishes;
  F32 first, second;
#endif
};

/// e^x for several factors. x is at most 129, or NaN.
class Exponential {
public:
  explicit HWY_INLINE Exponential(F32 x) : Exponential(x, reduce(x)) { finish(); }
  /// e^(x + low), where `low` is a small correction of x.
  HWY_INLINE Exponential(F32 x, F32 low) : Exponential(x, reduce(x)) {
    rest = rest + low;
    finish();
  }
  /// e^x.
  HWY_INLINE F32 value() const { return power.scale(fraction + set(1.0f)); }
  /// a e^x for x <= 0, with no more roundings than value().
  HWY_INLINE F32 times(F32 a) const {
    // A large factor must not make up for the bound of x.
    return hn::IfThenElse(x < set(-110.0f), a * zero(), power.scale(fma(a, fraction, a)));
  }

private:
  struct Reduced {
    F32 n, bounded;
  };
  /// x = n ln 2 + rest, from a lower bound on where e^x vanishes. Max returns its second operand for NaN.
  static HWY_INLINE Reduced reduce(F32 x) {
    const F32 bounded = hn::Max(set(-150.0f), x), shift = set(0x1.8p23f); // adding it rounds to an integer
    return {fma(bounded, set(0x1.715476p+0f), shift) - shift, bounded};
  }
  HWY_INLINE Exponential(F32 x, const Reduced &reduced) : x(x), power(reduced.n) {
    rest = fma(reduced.n, set(-0x1.62e4p-1f), reduced.bounded); // exact: the constant has 15 bits
    rest = fma(reduced.n, set(-0x1.7f7d1cp-20f), rest);
  }
  HWY_INLINE void finish() {
    const float kFit[] = {0x1.fffffcp-2f, 0x1.555490p-3f, 0x1.5558bep-5f, 0x1.123b5cp-7f, 0x1.6a420ap-10f};
    fraction = fma(rest * rest, polynomial(rest, kFit), rest);
  }

  F32 x, rest;
  PowerOfTwo power;
  F32 fraction; ///< e^rest - 1
};

HWY_INLINE F32 vexp(F32 x) { return Exponential(hn::Min(set(129.0f), x)).value(); }
/// e^x for x <= 0 or NaN.
HWY_INLINE F32 vexpNonPositive(F32 x) { return Exponential(x).value(); }

HWY_INLINE F32 vtanh(F32 x) {
  const float kFit[] = {-0x1.555554p-2f, 0x1.11107ap-3f,  -0x1.b9f188p-5f,
                        0x1.63a550p-6f,  -0x1.0c5ed0p-7f, 0x1.1a2816p-9f};
  const F32 magnitude = hn::Abs(x), square = x * x;
  const F32 small = fma(magnitude * square, polynomial(square, kFit), magnitude);
  const F32 large = set(1.0f) - set(2.0f) / (vexp(magnitude + magnitude) + set(1.0f));
  return hn::CopySignToAbs(hn::IfThenElse(magnitude < set(0.625f), small, large), x);
}

/// a / (1 + e^-x), written with e^-|x| so that nothing overflows.
HWY_INLINE F32 timesSigmoid(F32 a, F32 x) {
  const Exponential exponential(hn::Neg(hn::Abs(x)));
  const F32 e = exponential.value(), sum = e + set(1.0f), excess = (sum - set(1.0f)) - e;
  const F32 numerator = hn::IfThenElse(x < zero(), exponential.times(a), a);
  // One step of refinement takes back the roundings of the sum and of the quotient.
  const F32 quotient = numerator / sum;
  const F32 residual = fma(quotient, excess, hn::NegMulAdd(quotient, sum, numerator));
  const F32 refined = fma(residual, fma(sum, set(-0.5f), set(1.4571f)), quotient); // 1/sum, to 4 %
  return hn::IfThenElse(hn::Abs(quotient) < set(std::numeric_limits<float>::max()), refined, quotient);
}
HWY_INLINE F32 vsigmoid(F32 x) { return timesSigmoid(set(1.0f), x); }
HWY_INLINE F32 vsilu(F32 x) { return timesSigmoid(x, x); }

/// erf on [-1, 1].
HWY_INLINE F32 erfCentre(F32 x) {
  const float kSmall[] = {0x1.06eba8p-3f, -0x1.81273ep-2f,  0x1.ce2ce6p-4f, -0x1.b7f71ap-6f,
                          0x1.53f224p-8f, -0x1.a3515ep-11f, 0x1.4771fcp-14f};
  return fma(x, polynomial(x * x, kSmall), x);
}

HWY_INLINE F32 verf(F32 x) {
  const float kLogTail[] = {0x1.8b3ecep-13f, -0x1.212c2cp+0f, -0x1.4434f0p-1f, -0x1.bc18cfp-4f,
                            0x1.9d0bd3p-6f,  -0x1.1398f7p-8f, 0x1.ceeaeap-12f, -0x1.6c0685p-16f};
  const F32 magnitude = hn::Abs(x);
  const F32 tail = vexpNonPositive(polynomial(hn::IfThenElse(magnitude > set(4.0f), set(4.0f), magnitude), kLogTail));
  const F32 large = hn::IfThenElse(magnitude > set(4.0f), set(1.0f), set(1.0f) - tail);
  return hn::CopySignToAbs(hn::IfThenElse(magnitude < set(1.0f), erfCentre(magnitude), large), x);
}

/// x * P(Z <= x) for a standard normal Z. The lower tail keeps its relative accuracy.
HWY_INLINE F32 vgeluErf(F32 x) {
  const float kFit[] = {0x1.ea3c9ap-4f,  0x1.e9c3ecp-4f, 0x1.c387f6p-4f,  0x1.410d7cp-4f, 0x1.89f2b4p-4f,
                        -0x1.457bf2p-4f, 0x1.88df9cp-3f, -0x1.d3747cp-3f, 0x1.cc9938p-4f, -0x1.51f0cap-6f};
  const F32 magnitude = hn::Abs(x), square = x * x, half = set(-0.5f);
  const F32 lost = hn::MulSub(x, x, square); // x^2 = square + lost, exactly
  const F32 t = set(1.0f) / fma(magnitude, set(0.3f), set(1.0f));
  // P(Z > |x|) = e^(-x^2/2) t poly(t)
  const Exponential exponential(square * half, hn::IfThenElse(magnitude < set(16.0f), lost * half, zero()));
  const F32 ratio = t * polynomial(t, kFit);
  const F32 outer =
      hn::IfThenElse(x < zero(), exponential.times(x * ratio), x * (set(1.0f) - exponential.times(ratio)));
  const F32 centre = x * fma(set(0.5f), erfCentre(x * set(0.70710678f)), set(0.5f));
  return hn::IfThenElse(magnitude < set(1.0f), centre, outer);
}

/// sin(x), or cos(x) = sin(x + pi/2), in double precision after reduction by pi; arguments beyond 2^20 go through the C
/// library.
template <bool kCosine> HWY_INLINE F32 sineOrCosine(F32 x) {
  if (HWY_UNLIKELY(!hn::AllTrue(F32Tag(), hn::Abs(x) < set(0x1p20f)))) {
    HWY_ALIGN float lanes[kLanes];
    store(x, lanes);
    for (float &lane : lanes)
      lane = static_cast<float>(kCosine ? std::cos(static_cast<double>(lane)) : std::sin(static_cast<double>(lane)));
    return load(lanes);
  }
  const hn::Half<F32Tag> half;
  const hn::RepartitionToWide<F32Tag> wide;
  const auto sine = [&](auto v) HWY_ATTR {
    const auto shift = hn::Set(wide, kCosine ? 0.5 : 0.0);
    const auto n = hn::Round(hn::MulAdd(v, hn::Set(wide, 0.31830988618379067154), shift)), turns = n - shift;
    auto r = hn::MulAdd(turns, hn::Set(wide, -0x1.921fb54442d18p+1), v);
    r = hn::MulAdd(turns, hn::Set(wide, -0x1.1a62633145c07p-53), r);
    const auto s = r * r;
    // Taylor's series to r^15: its next term is below 2^-33 of the sum on [-pi/2, pi/2].
    auto y = hn::Set(wide, -1.0 / 1307674368000.0);
    for (double c : {1.0 / 6227020800.0, -1.0 / 39916800.0, 1.0 / 362880.0, -1.0 / 5040.0, 1.0 / 120.0, -1.0 / 6.0})
      y = hn::MulAdd(y, s, hn::Set(wide, c));
    y = hn::MulAdd(y * s, r, r);
    // Odd multiples of pi change the sign: n/2 has a fraction of one half.
    const auto odd = hn::Abs(n * hn::Set(wide, 0.5) - hn::Round(n * hn::Set(wide, 0.5))) > hn::Set(wide, 0.25);
    return hn::DemoteTo(half, hn::IfThenElse(odd, hn::Neg(y), y));
  };
  return hn::Combine(F32Tag(), sine(hn::PromoteTo(wide, hn::UpperHalf(half, x))),
                     sine(hn::PromoteTo(wide, hn::LowerHalf(half, x))));
}
HWY_INLINE F32 vsin(F32 x) { return sineOrCosine<false>(x); }
HWY_INLINE F32 vcos(F32 x) { return sineOrCosine<true>(x); }

#endif

/// 0.5 x (1 + tanh(c (x + 0.044715 x^3))) with c = sqrt(2/pi), as x * sigmoid(2 c (...)), which loses nothing below 0.
HWY_INLINE F32 vgeluTanh(F32 x) {
#if HWY_TARGET == HWY_SCALAR
  return viaDouble(
      [](double v) { return 0.5 * v * (1 + std::tanh(0.79788456080286535588 * (v + 0.044715 * v * v * v))); }, x);
#else
  const F32 u = x * fma(x * x, set(0.0713548162726f), set(1.5957691216057f));
  return timesSigmoid(x, u);
#endif
}

/// x * sigmoid(1.702 x).
HWY_INLINE F32 vgeluQuick(F32 x) {
#if HWY_TARGET == HWY_SCALAR
  return viaDouble([](double v) { return v / (1 + std::exp(-1.702 * v)); }, x);
#else
  return timesSigmoid(x, x * set(1.702f));
#endif
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_VECMATH_H
