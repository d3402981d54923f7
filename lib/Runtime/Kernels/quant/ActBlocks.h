//===- ActBlocks.h - activations in blocks of 8-bit codes -------*- C++ -*-===//
//
// One function per activation format writes one block. Bytes are equal on every instruction set: each float operation
// is rounded on its own, maxima and sums of codes are exact. Kernels that quantise on the way call these too.
//
// What the formats leave open: a block with a NaN or an infinity gets the factor NaN and codes 0, so that what is
// computed from it cannot look finite; a block whose largest value is so small that the reciprocal of its factor
// overflows gets codes 0.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_QUANT_ACTBLOCKS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_QUANT_ACTBLOCKS_H
#undef CK_LIB_RUNTIME_KERNELS_QUANT_ACTBLOCKS_H
#else
#define CK_LIB_RUNTIME_KERNELS_QUANT_ACTBLOCKS_H
#endif

#include "KernelSupport.h"
#include "Simd.h"
#include "ck/Support/Half.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

/// Writes a 16-bit field.
HWY_INLINE void putHalf(uint16_t value, uint8_t *to) { std::memcpy(to, &value, sizeof value); }

/// The largest magnitude of n values, n a multiple of 32; NaN or infinity where there is one.
HWY_INLINE float largestMagnitude(const float *x, int64_t n) {
#if HWY_TARGET == HWY_SCALAR
  uint32_t most = 0;
  for (int64_t i = 0; i < n; ++i)
    most = std::max(most, bitsOfFloat(x[i]) & 0x7fffffff);
  return floatOfBits(most);
#else
  // As integers, magnitudes are in the same order, and a NaN is above all.
  const I32Tag d;
  const I32 mask = hn::Set(d, 0x7fffffff);
  I32 most = hn::Zero(d), more = most;
  for (int64_t i = 0; i < n; i += 2 * kLanes) {
    most = hn::Max(most, hn::And(hn::BitCast(d, load(x + i)), mask));
    more = hn::Max(more, hn::And(hn::BitCast(d, load(x + i + kLanes)), mask));
  }
  return floatOfBits(static_cast<uint32_t>(hn::GetLane(hn::MaxOfLanes(d, hn::Max(most, more)))));
#endif
}

/// Codes of n values (a multiple of 32): x * factor, rounded to f32, then to the nearest integer, ties to even. The
/// product must lie in [-127.5, 127.5].
HWY_INLINE void roundToEven(const float *x, int64_t n, float factor, uint8_t *codes) {
#if HWY_TARGET == HWY_SCALAR
  constexpr float kShift = 0x1.8p23f; // the unit in the last place of the sum is 1
  for (int64_t i = 0; i < n; ++i) {
    const float product = x[i] * factor, shifted = product + kShift;
    codes[i] = static_cast<uint8_t>(static_cast<int8_t>(shifted - kShift));
  }
#else
  const F32 scale = set(factor);
  const hn::Rebind<int8_t, I32Tag> d8;
  for (int64_t i = 0; i < n; i += kLanes)
    hn::StoreU(hn::DemoteTo(d8, hn::NearestInt(hn::Mul(load(x + i), scale))), d8,
               reinterpret_cast<int8_t *>(codes + i));
#endif
}

/// As roundToEven, with ties away from zero. With kPlusHalf, half of the sign is added in f32 and what is behind the
/// point dropped, which takes the largest number below a half up to 1.
template <bool kPlusHalf = false>
HWY_INLINE void roundHalfAway(const float *x, int64_t n, float factor, uint8_t *codes) {
#if HWY_TARGET == HWY_SCALAR
  for (int64_t i = 0; i < n; ++i) {
    const float product = x[i] * factor, whole = std::trunc(product);
    const bool up = std::fabs(product - whole) >= 0.5f;
    const float rounded = kPlusHalf ? std::trunc(product + std::copysign(0.5f, product))
                                    : whole + (up ? std::copysign(1.0f, product) : 0.0f);
    codes[i] = static_cast<uint8_t>(static_cast<int8_t>(rounded));
  }
#else
  const F32 scale = set(factor), half = set(0.5f), one = set(1.0f);
  const hn::Rebind<int8_t, I32Tag> d8;
  for (int64_t i = 0; i < n; i += kLanes) {
    const F32 product = hn::Mul(load(x + i), scale), whole = hn::Trunc(product);
    // The difference is exact, so that 0.49999997 stays below a half.
    const F32 more = hn::IfThenElseZero(hn::Ge(hn::Abs(hn::Sub(product, whole)), half), hn::CopySign(one, product));
    const F32 rounded = kPlusHalf ? hn::Add(product, hn::CopySign(half, product)) : hn::Add(whole, more);
    hn::StoreU(hn::DemoteTo(d8, hn::ConvertTo(I32Tag(), rounded)), d8, reinterpret_cast<int8_t *>(codes + i));
  }
#endif
}

/// Sum of n signed codes.
HWY_INLINE int32_t sumCodes(const uint8_t *codes, int64_t n) {
  int32_t sum = 0;
  for (int64_t i = 0; i < n; ++i)
    sum += static_cast<int8_t>(codes[i]);
  return sum;
}

/// Blocks of 32 with a factor: d:f16, codes:i8[32].
struct ActQ8_0 {
  static constexpr int64_t kElements = 32, kBytes = 34, kCodes = 2;

  /// d = amax / 127 in f16; codes = round(x * (127 / amax)) with the factor of f32 precision.
  template <bool kPlusHalf = false> static HWY_INLINE void write(const float *x, uint8_t *to) {
    const float most = largestMagnitude(x, kElements), inverse = 127.0f / most;
    putHalf(floatToHalf(std::isfinite(most) ? most / 127.0f : std::numeric_limits<float>::quiet_NaN()), to);
    if (!(std::isfinite(most) && std::isfinite(inverse)))
      std::memset(to + kCodes, 0, kElements);
    else if (kPlusHalf)
      roundHalfAway<true>(x, kElements, inverse, to + kCodes);
    else
      roundToEven(x, kElements, inverse, to + kCodes);
  }
};

/// The same blocks as a fused product makes them: see kPlusHalf.
struct ActQ8_0PlusHalf : ActQ8_0 {
  static HWY_INLINE void write(const float *x, uint8_t *to) { ActQ8_0::write<true>(x, to); }
};

/// Blocks of 32 with a factor and a sum: d:f16, s:f16, codes:i8[32].
struct ActQ8_1 {
  static constexpr int64_t kElements = 32, kBytes = 36, kCodes = 4;

  /// d = amax / 127; codes = round(x * (1 / d)), ties away from zero; s = d * (sum of codes). Both are computed with d
  /// in f32 and stored as f16.
  static HWY_INLINE void write(const float *x, uint8_t *to) {
    const float most = largestMagnitude(x, kElements);
    const float d = std::isfinite(most) ? most / 127.0f : std::numeric_limits<float>::quiet_NaN();
    const float inverse = 1.0f / d;
    if (std::isfinite(inverse))
      roundHalfAway(x, kElements, inverse, to + kCodes);
    else
      std::memset(to + kCodes, 0, kElements);
    putHalf(floatToHalf(d), to);
    putHalf(floatToHalf(static_cast<float>(sumCodes(to + kCodes, kElements)) * d), to + 2);
  }
};

/// Blocks of 256: d:f32, codes:i8[256], sums of 16 codes:i16[16].
struct ActQ8_K {
  static constexpr int64_t kElements = 256, kBytes = 292, kCodes = 4, kSums = 260;

  /// The first of the values that have the largest magnitude.
  static HWY_INLINE float firstLargest(const float *x, float most) {
#if HWY_TARGET == HWY_SCALAR
    while (std::fabs(*x) != most)
      ++x;
    return *x;
#else
    for (;; x += kLanes)
      if (const intptr_t at = hn::FindFirstTrue(F32Tag(), hn::Eq(hn::Abs(load(x)), set(most))); at >= 0)
        return x[at];
#endif
  }

  /// max = the value of largest magnitude, the first of several; codes = round((-127 / max) * x), so that it has the
  /// code -127; d = 1 / (-127 / max).
  static HWY_INLINE void write(const float *x, uint8_t *to) {
    const float most = largestMagnitude(x, kElements);
    const bool isFinite = std::isfinite(most);
    const float inverse = isFinite && most != 0 ? -127.0f / firstLargest(x, most) : 0;
    float d = inverse != 0 && std::isfinite(inverse) ? 1.0f / inverse : 0;
    if (!isFinite)
      d = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(to, &d, sizeof d);
    if (d != 0 && isFinite)
      roundToEven(x, kElements, inverse, to + kCodes);
    else
      std::memset(to + kCodes, 0, kElements);
    for (int64_t group = 0; group < 16; ++group)
      putHalf(static_cast<uint16_t>(sumCodes(to + kCodes + 16 * group, 16)), to + kSums + 2 * group);
  }
};

/// Quantises n elements (whole blocks, which lie one behind the other) over the team.
template <class Act> void quantizeBlocks(ck_context *ctx, const float *x, int64_t n, uint8_t *to) {
  parallelRange(ctx, n / Act::kElements, kTaskElements / Act::kElements, [=](int64_t begin, int64_t end, int) HWY_ATTR {
    for (int64_t block = begin; block < end; ++block)
      Act::write(x + block * Act::kElements, to + block * Act::kBytes);
  });
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_QUANT_ACTBLOCKS_H
