//===- Half.h - 16-bit floats, one at a time --------------------*- C++ -*-===//
//
// IEEE half precision and bfloat16 to and from f32, in integer arithmetic: the same bits on every machine and with
// every compiler. Narrowing rounds to nearest, ties to even; widening is exact. For kernels, containers and training
// alike.
//
//===----------------------------------------------------------------------===//
#ifndef CK_SUPPORT_HALF_H
#define CK_SUPPORT_HALF_H

#include <cstdint>
#include <cstring>

namespace ck {

inline float floatOfBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline uint32_t bitsOfFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// Exact. Free of branches, so that loops over it can be vectorised.
inline float halfToFloat(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16, magnitude = static_cast<uint32_t>(half & 0x7fff)
                                                                                << 13;
  // The exponent moves by 112; of infinities and NaNs by another 112.
  const float scaled = floatOfBits(magnitude) * 0x1p112f;
  const uint32_t special = (half & 0x7c00) == 0x7c00 ? 0x7f800000u : 0;
  return floatOfBits(bitsOfFloat(scaled) | special | sign);
}

/// Round to nearest, ties to even; too large values become infinite, a NaN stays one.
inline uint16_t floatToHalf(float value) {
  const uint32_t bits = bitsOfFloat(value), magnitude = bits & 0x7fffffff;
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  if (magnitude >= 0x47800000) // 65536 and above
    return static_cast<uint16_t>(sign | (magnitude > 0x7f800000 ? 0x7e00 : 0x7c00));
  if (magnitude < 0x38800000) // below the smallest normal half: the sum rounds to units of 2^-24
    return static_cast<uint16_t>(sign | (bitsOfFloat(floatOfBits(magnitude) + 0.5f) - 0x3f000000));
  const uint32_t rebased = magnitude - (112u << 23);
  return static_cast<uint16_t>(sign | (rebased + 0xfff + (rebased >> 13 & 1)) >> 13);
}

inline float bf16ToFloat(uint16_t bits) { return floatOfBits(static_cast<uint32_t>(bits) << 16); }

/// Round to nearest, ties to even; a NaN stays one.
inline uint16_t floatToBF16(float value) {
  const uint32_t bits = bitsOfFloat(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

} // namespace ck

#endif // CK_SUPPORT_HALF_H
