//===- Decode.h - the values that raw blocks stand for ----------*- C++ -*-===//
//
// One decoder per storage type, with one interface: kElements values in kBytes bytes, and decode(), which writes them
// as f32. Products of factor, scale and code are exact or rounded once, so that fused and unfused steps give one result
// on every instruction set.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_QUANT_DECODE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_QUANT_DECODE_H
#undef CK_LIB_RUNTIME_KERNELS_QUANT_DECODE_H
#else
#define CK_LIB_RUNTIME_KERNELS_QUANT_DECODE_H
#endif

#include "Half.h"
#include "KernelSupport.h"
#include "Simd.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

HWY_INLINE uint16_t halfAt(const uint8_t *p) {
  uint16_t bits;
  std::memcpy(&bits, p, sizeof bits);
  return bits;
}
HWY_INLINE float factorAt(const uint8_t *p) { return halfToFloat(halfAt(p)); }

/// kLanes unsigned or signed bytes as integers.
HWY_INLINE I32 bytesAt(const uint8_t *p) {
  const hn::Rebind<uint8_t, I32Tag> d8;
  return hn::PromoteTo(I32Tag(), hn::LoadU(d8, p));
}
HWY_INLINE I32 signedBytesAt(const uint8_t *p) {
  const hn::Rebind<int8_t, I32Tag> d8;
  return hn::PromoteTo(I32Tag(), hn::LoadU(d8, reinterpret_cast<const int8_t *>(p)));
}
HWY_INLINE I32 andBits(I32 v, int mask) { return hn::And(v, hn::Set(I32Tag(), mask)); }
HWY_INLINE F32 asFloat(I32 v) { return hn::ConvertTo(F32Tag(), v); }

/// 4- and 5-bit formats of 32: d:f16, m:f16 if kMin, fifth bits:u32 if kFifth, nibbles:u8[16], low ones first.
template <bool kMin, bool kFifth, int kOffset> struct DecodeNibbles {
  static constexpr int64_t kElements = 32, kBytes = 18 + (kMin ? 2 : 0) + (kFifth ? 4 : 0);

  /// The kLanes codes from element i on; a vector does not cross from low to high nibbles.
  static HWY_INLINE I32 codes(const uint8_t *p, int64_t i) {
    const uint8_t *const qs = p + kBytes - 16;
    I32 code = i < 16 ? andBits(bytesAt(qs + i), 15) : hn::ShiftRight<4>(bytesAt(qs + i - 16));
    if (kFifth) {
      int32_t high;
      std::memcpy(&high, p + (kMin ? 4 : 2), sizeof high);
      const I32 bit = hn::Iota(I32Tag(), static_cast<int32_t>(i));
      code = hn::Or(code, hn::ShiftLeft<4>(andBits(hn::Shr(hn::Set(I32Tag(), high), bit), 1)));
    }
    return code;
  }
  static HWY_INLINE void decode(const uint8_t *p, float *to) {
    const F32 d = set(factorAt(p)), m = kMin ? set(factorAt(p + 2)) : zero();
    const I32 offset = hn::Set(I32Tag(), kOffset);
    for (int64_t i = 0; i < kElements; i += kLanes) {
      const F32 code = asFloat(hn::Sub(codes(p, i), offset));
      store(kMin ? hn::MulAdd(d, code, m) : hn::Mul(d, code), to + i);
    }
  }
};
using DecodeQ4_0 = DecodeNibbles<false, false, 8>;
using DecodeQ4_1 = DecodeNibbles<true, false, 0>;
using DecodeQ5_0 = DecodeNibbles<false, true, 16>;
using DecodeQ5_1 = DecodeNibbles<true, true, 0>;

/// n codes of 8 bits, times a factor.
HWY_INLINE void decodeBytes(float factor, const uint8_t *codes, int64_t n, float *to) {
  for (int64_t i = 0; i < n; i += kLanes)
    store(hn::Mul(set(factor), asFloat(signedBytesAt(codes + i))), to + i);
}

struct DecodeQ8_0 {
  static constexpr int64_t kElements = 32, kBytes = 34;
  static HWY_INLINE void decode(const uint8_t *p, float *to) { decodeBytes(factorAt(p), p + 2, kElements, to); }
};
struct DecodeQ8_1 {
  static constexpr int64_t kElements = 32, kBytes = 36;
  static HWY_INLINE void decode(const uint8_t *p, float *to) { decodeBytes(factorAt(p), p + 4, kElements, to); }
};
struct DecodeQ8_K {
  static constexpr int64_t kElements = 256, kBytes = 292;
  static HWY_INLINE void decode(const uint8_t *p, float *to) {
    float d;
    std::memcpy(&d, p, sizeof d);
    decodeBytes(d, p + 4, kElements, to);
  }
};

/// The 6-bit scales and minima of the 8 sub-blocks of q4_k and q5_k, from 12 bytes.
HWY_INLINE void unpackScales(const uint8_t *from, uint8_t *scales, uint8_t *minima) {
  for (int j = 0; j < 4; ++j) {
    scales[j] = from[j] & 63;
    minima[j] = from[j + 4] & 63;
    scales[j + 4] = static_cast<uint8_t>((from[j + 8] & 15) | (from[j] >> 6) << 4);
    minima[j + 4] = static_cast<uint8_t>(from[j + 8] >> 4 | (from[j + 4] >> 6) << 4);
  }
}

/// d:f16, dmin:f16, scales:u8[12], fifth bits:u8[32] if kFifth, nibbles:u8[128].
template <bool kFifth> struct DecodeQ45_K {
  static constexpr int64_t kElements = 256, kBytes = kFifth ? 176 : 144;

  static HWY_INLINE void decode(const uint8_t *p, float *to) {
    const float d = factorAt(p), dmin = factorAt(p + 2);
    const uint8_t *const high = p + 16, *const qs = p + (kFifth ? 48 : 16);
    uint8_t scales[8], minima[8];
    unpackScales(p + 4, scales, minima);
    for (int j = 0; j < 8; ++j) {
      const F32 scale = set(d * scales[j]), minimum = set(dmin * minima[j]);
      for (int64_t l = 0; l < 32; l += kLanes) {
        const I32 bytes = bytesAt(qs + 32 * (j / 2) + l);
        I32 code = j % 2 ? hn::ShiftRight<4>(bytes) : andBits(bytes, 15);
        if (kFifth) {
          const I32 bit = hn::Shr(bytesAt(high + l), hn::Set(I32Tag(), j));
          code = hn::Or(code, hn::ShiftLeft<4>(andBits(bit, 1)));
        }
        store(hn::MulSub(scale, asFloat(code), minimum), to + 32 * j + l);
      }
    }
  }
};
using DecodeQ4_K = DecodeQ45_K<false>;
using DecodeQ5_K = DecodeQ45_K<true>;

/// low nibbles:u8[128], high pairs:u8[64], scales:i8[16], d:f16, in two halves of 128 elements.
struct DecodeQ6_K {
  static constexpr int64_t kElements = 256, kBytes = 210;

  static HWY_INLINE void decode(const uint8_t *p, float *to) {
    const float d = factorAt(p + 208);
    for (int half = 0; half < 2; ++half)
      for (int64_t l = 0; l < 32; l += kLanes) {
        const uint8_t *const scales = p + 192 + 8 * half + l / 16;
        const I32 a = bytesAt(p + 64 * half + l), b = bytesAt(p + 64 * half + 32 + l);
        const I32 high = bytesAt(p + 128 + 32 * half + l);
        float *const at = to + 128 * half + l;
        put(d, scales[0], hn::Or(andBits(a, 15), andBits(hn::ShiftLeft<4>(high), 0x30)), at);
        put(d, scales[2], hn::Or(andBits(b, 15), andBits(hn::ShiftLeft<2>(high), 0x30)), at + 32);
        put(d, scales[4], hn::Or(hn::ShiftRight<4>(a), andBits(high, 0x30)), at + 64);
        put(d, scales[6], hn::Or(hn::ShiftRight<4>(b), andBits(hn::ShiftRight<2>(high), 0x30)), at + 96);
      }
  }

private:
  static HWY_INLINE void put(float d, uint8_t scale, I32 code, float *to) {
    const F32 factor = set(d * static_cast<float>(static_cast<int8_t>(scale)));
    store(hn::Mul(factor, asFloat(hn::Sub(code, hn::Set(I32Tag(), 32)))), to);
  }
};

/// Plain types as blocks of one element: widen() takes a vector of them.
struct DecodeF32 {
  static constexpr int64_t kElements = 1, kBytes = 4;
  static HWY_INLINE void decode(const uint8_t *p, float *to) { std::memcpy(to, p, sizeof *to); }
  static HWY_INLINE F32 widen(const uint8_t *p) { return load(reinterpret_cast<const float *>(p)); }
};
struct DecodeBF16 {
  static constexpr int64_t kElements = 1, kBytes = 2;
  static HWY_INLINE void decode(const uint8_t *p, float *to) { *to = bf16ToFloat(halfAt(p)); }
  static HWY_INLINE F32 widen(const uint8_t *p) {
    const hn::Rebind<uint16_t, I32Tag> d16;
    return hn::BitCast(
        F32Tag(), hn::ShiftLeft<16>(hn::PromoteTo(I32Tag(), hn::LoadU(d16, reinterpret_cast<const uint16_t *>(p)))));
  }
};
struct DecodeF16 {
  static constexpr int64_t kElements = 1, kBytes = 2;
  static HWY_INLINE void decode(const uint8_t *p, float *to) { *to = factorAt(p); }
  static HWY_INLINE F32 widen(const uint8_t *p) {
#if HWY_TARGET == HWY_SCALAR
    return set(factorAt(p));
#else
    const hn::Rebind<uint16_t, I32Tag> d16;
    const hn::Rebind<hwy::float16_t, F32Tag> half;
    return hn::PromoteTo(F32Tag(), hn::BitCast(half, hn::LoadU(d16, reinterpret_cast<const uint16_t *>(p))));
#endif
  }
};

/// n values from p on, whole blocks.
template <class Format> HWY_INLINE void decodeRow(const uint8_t *p, int64_t n, float *to) {
  int64_t i = 0;
  if constexpr (Format::kElements == 1)
    for (; i + kLanes <= n; i += kLanes)
      store(Format::widen(p + i * Format::kBytes), to + i);
  for (; i < n; i += Format::kElements)
    Format::decode(p + i / Format::kElements * Format::kBytes, to + i);
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_QUANT_DECODE_H
