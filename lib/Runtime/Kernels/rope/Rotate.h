//===- Rotate.h - pairs of columns turned by their angles -------*- C++ -*-===//
//
// a' = fma(a, cos, -(b sin)), b' = fma(a, sin, b cos) for each pair (a, b) of a head's first 2P columns, on every
// instruction set the same bits. Results may lie in their inputs: both elements of a pair are read before either is
// written. Elements of 16 bits are widened row by row and rounded once.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_ROPE_ROTATE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_ROPE_ROTATE_H
#undef CK_LIB_RUNTIME_KERNELS_ROPE_ROTATE_H
#else
#define CK_LIB_RUNTIME_KERNELS_ROPE_ROTATE_H
#endif

#include "Fused.h"
#include "ck/Support/Half.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

/// Pairs are columns (i, i + P).
struct Half {
  static HWY_INLINE void rotate(const float *x, float *y, const float *cosines, const float *sines, float sign,
                                int64_t P) {
    const F32 direction = set(sign);
    for (int64_t i = 0; i < P; i += kLanes) {
      const int64_t n = std::min(kLanes, P - i);
      const F32 c = loadN(cosines + i, n), s = loadN(sines + i, n) * direction;
      const F32 a = loadN(x + i, n), b = loadN(x + P + i, n);
      storeN(fused(a, c, hn::Neg(b * s)), y + i, n);
      storeN(fused(a, s, b * c), y + P + i, n);
    }
  }
};

/// Pairs are columns (2i, 2i+1).
struct Adjacent {
  static HWY_INLINE void rotate(const float *x, float *y, const float *cosines, const float *sines, float sign,
                                int64_t P) {
    const F32 direction = set(sign);
    int64_t i = 0;
    for (; i + kLanes <= P; i += kLanes) {
      const F32 c = load(cosines + i), s = load(sines + i) * direction;
      F32 a, b;
      hn::LoadInterleaved2(F32Tag(), x + 2 * i, a, b);
      hn::StoreInterleaved2(fused(a, c, hn::Neg(b * s)), fused(a, s, b * c), F32Tag(), y + 2 * i);
    }
    if (i == P)
      return;
    HWY_ALIGN float in[2 * kLanes] = {}, out[2 * kLanes];
    const int64_t n = P - i;
    std::memcpy(in, x + 2 * i, static_cast<size_t>(2 * n) * sizeof(float));
    const F32 c = loadN(cosines + i, n), s = loadN(sines + i, n) * direction;
    F32 a, b;
    hn::LoadInterleaved2(F32Tag(), in, a, b);
    hn::StoreInterleaved2(fused(a, c, hn::Neg(b * s)), fused(a, s, b * c), F32Tag(), out);
    std::memcpy(y + 2 * i, out, static_cast<size_t>(2 * n) * sizeof(float));
  }
};

/// Two blocks of P columns, of which the first half of the pairs turns the first block: (i, i + P/2) in each.
struct Blocks {
  static HWY_INLINE void rotate(const float *x, float *y, const float *cosines, const float *sines, float sign,
                                int64_t P) {
    const int64_t h = P / 2;
    Half::rotate(x, y, cosines, sines, sign, h);
    Half::rotate(x + P, y + P, cosines + h, sines + h, sign, h);
  }
};

/// How elements lie in memory.
struct InF32 {
  using Element = float;
  static float widen(float x) { return x; }
  static float narrow(float x) { return x; }
};
struct InBF16 {
  using Element = uint16_t;
  static float widen(uint16_t x) { return bf16ToFloat(x); }
  static uint16_t narrow(float x) { return floatToBF16(x); }
};
struct InF16 {
  using Element = uint16_t;
  static float widen(uint16_t x) { return halfToFloat(x); }
  static uint16_t narrow(float x) { return floatToHalf(x); }
};

/// An operand and its result; element (t, h, 0) lies at t * rowStride + h * headStride.
template <typename From, typename To> struct HeadsOf {
  const typename From::Element *from;
  typename To::Element *to;
  int64_t count, rowStride, headStride;
};

/// Rotates all heads of row t. `row` holds D elements where something is to be widened or rounded.
template <typename Pairing, typename From, typename To>
HWY_INLINE void rotateRow(const HeadsOf<From, To> &heads, int64_t t, int64_t D, int64_t P, const float *cosines,
                          const float *sines, float sign, float *row) {
  for (int64_t h = 0; h < heads.count; ++h) {
    const int64_t at = t * heads.rowStride + h * heads.headStride;
    const auto *from = heads.from + at;
    auto *to = heads.to + at;
    if constexpr (std::is_same_v<From, InF32> && std::is_same_v<To, InF32>) {
      Pairing::rotate(from, to, cosines, sines, sign, P);
      copyElements(to + 2 * P, from + 2 * P, D - 2 * P);
    } else {
      for (int64_t d = 0; d < D; ++d)
        row[d] = From::widen(from[d]);
      Pairing::rotate(row, row, cosines, sines, sign, P);
      for (int64_t d = 0; d < D; ++d)
        to[d] = To::narrow(row[d]);
    }
  }
}

/// Head-major operands of `args`: q[H,T,D], k[KV,T,D].
template <typename From, typename To, typename Args> HeadsOf<From, To> queries(const Args *args) {
  return {args->q, args->q_out, args->H, args->D, args->T * args->D};
}
template <typename From, typename To, typename Args> HeadsOf<From, To> keys(const Args *args) {
  return {args->k, args->k_out, args->KV, args->D, args->T * args->D};
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_ROPE_ROTATE_H
