//===- Half.h - 16-bit floats on any host -----------------------*- C++ -*-===//
//
// Scales of quantised blocks and 16-bit weights, converted by integer arithmetic: the same bits on every machine and
// with every compiler. Narrowing rounds to nearest, ties to even; widening is exact.
//
//===----------------------------------------------------------------------===//
#ifndef CK_IMPORT_FORMATS_HALF_H
#define CK_IMPORT_FORMATS_HALF_H

#include <cstdint>
#include <cstring>

namespace ck {

inline uint32_t floatBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float floatFromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// IEEE binary16. Magnitudes from 65520 on become infinite.
inline uint16_t toF16(float value) {
  uint32_t bits = floatBits(value), sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffff;
  if (bits > 0x7f800000)
    return sign | 0x7e00;
  if (bits >= 0x477ff000) // 65520, halfway between the largest value and 2^16
    return sign | 0x7c00;
  if (bits >= 0x38800000) { // 2^-14, the smallest normal value; a carry of the rounding goes into the exponent
    bits += 0xfff + (bits >> 13 & 1);
    return sign | (bits - (112u << 23)) >> 13;
  }
  // A multiple of 2^-24: adding 1.5 * 2^-1 makes that the last place of the sum.
  return sign | (floatBits(floatFromBits(bits) + 0.75f) - floatBits(0.75f));
}

inline float fromF16(uint16_t half) {
  uint32_t sign = uint32_t{half} << 16 & 0x80000000, exponent = half >> 10 & 31, mantissa = half & 0x3ff;
  if (exponent == 31)
    return floatFromBits(sign | 0x7f800000 | mantissa << 13);
  if (exponent == 0) {
    float value = static_cast<float>(mantissa) * 0x1p-24f;
    return floatFromBits(sign | floatBits(value));
  }
  return floatFromBits(sign | (exponent + 112) << 23 | mantissa << 13);
}

/// bfloat16: the upper half of an f32.
inline uint16_t toBf16(float value) {
  uint32_t bits = floatBits(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return bits >> 16 | 0x40;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

inline float fromBf16(uint16_t half) { return floatFromBits(uint32_t{half} << 16); }

} // namespace ck

#endif // CK_IMPORT_FORMATS_HALF_H
