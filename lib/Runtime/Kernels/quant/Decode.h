//===- Decode.h - the values that raw blocks stand for ----------*- C++ -*-===//
//
// One decoder per storage type, with one interface: kElements values in kBytes bytes, and vector(), which gives kLanes
// of them, from a multiple of kLanes on, as f32. Products of factor, scale and code are exact or rounded once, so that
// fused and unfused steps give one result on every instruction set.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_QUANT_DECODE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_QUANT_DECODE_H
#undef CK_LIB_RUNTIME_KERNELS_QUANT_DECODE_H
#else
#define CK_LIB_RUNTIME_KERNELS_QUANT_DECODE_H
#endif

#include "KernelSupport.h"
#include "linear/GemmStorage.h"

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
  static HWY_INLINE F32 vector(const uint8_t *p, int64_t i) {
    const F32 d = set(factorAt(p)), code = asFloat(hn::Sub(codes(p, i), hn::Set(I32Tag(), kOffset)));
    return kMin ? hn::MulAdd(d, code, set(factorAt(p + 2))) : hn::Mul(d, code);
  }
};
using DecodeQ4_0 = DecodeNibbles<false, false, 8>;
using DecodeQ4_1 = DecodeNibbles<true, false, 0>;
using DecodeQ5_0 = DecodeNibbles<false, true, 16>;
using DecodeQ5_1 = DecodeNibbles<true, true, 0>;

/// kLanes codes of 8 bits, times a factor.
HWY_INLINE F32 scaledBytes(float factor, const uint8_t *codes) {
  return hn::Mul(set(factor), asFloat(signedBytesAt(codes)));
}

struct DecodeQ8_0 {
  static constexpr int64_t kElements = 32, kBytes = 34;
  static HWY_INLINE F32 vector(const uint8_t *p, int64_t i) { return scaledBytes(factorAt(p), p + 2 + i); }
};
struct DecodeQ8_1 {
  static constexpr int64_t kElements = 32, kBytes = 36;
  static HWY_INLINE F32 vector(const uint8_t *p, int64_t i) { return scaledBytes(factorAt(p), p + 4 + i); }
};
struct DecodeQ8_K {
  static constexpr int64_t kElements = 256, kBytes = 292;
  static HWY_INLINE F32 vector(const uint8_t *p, int64_t i) {
    float d;
    std::memcpy(&d, p, sizeof d);
    return scaledBytes(d, p + 4 + i);
  }
};

/// The 6-bit scale, or minimum, of sub-block j of q4_k and q5_k, from 12 bytes.
HWY_INLINE int scaleAt(const uint8_t *from, int64_t j) {
  return j < 4 ? from[j] & 63 : (from[j + 4] & 15) | (from[j - 4] >> 6) << 4;
}
HWY_INLINE int minimumAt(const uint8_t *from, int64_t j) {
  return j < 4 ? from[j + 4] & 63 : from[j + 4] >> 4 | (from[j] >> 6) << 4;
}
HWY_INLINE void unpackScales(const uint8_t *from, uint8_t *scales, uint8_t *minima) {
  for (int64_t j = 0; j < 8; ++j) {
    scales[j] = static_cast<uint8_t>(scaleAt(from, j));
    minima[j] = static_cast<uint8_t>(minimumAt(from, j));
  }
}

/// d:f16, dmin:f16, scales:u8[12], fifth bits:u8[32] if kFifth, nibbles:u8[128].
template <bool kFifth> struct DecodeQ45_K {
  static constexpr int64_t kElements = 256, kBytes = kFifth ? 176 : 144;

  static HWY_INLINE F32 vector(const uint8_t *p, int64_t i) {
    const int64_t j = i / 32, l = i % 32;
    const I32 bytes = bytesAt(p + (kFifth ? 48 : 16) + 32 * (j / 2) + l);
    I32 code = j % 2 ? hn::ShiftRight<4>(bytes) : andBits(bytes, 15);
    if (kFifth) {
      const I32 bit = hn::Shr(bytesAt(p + 16 + l), hn::Set(I32Tag(), static_cast<int32_t>(j)));
      code = hn::Or(code, hn::ShiftLeft<4>(andBits(bit, 1)));
    }
    const float scale = factorAt(p) * static_cast<float>(scaleAt(p + 4, j));
    const float minimum = factorAt(p + 2) * static_cast<float>(minimumAt(p + 4, j));
    return hn::MulSub(set(scale), asFloat(code), set(minimum));
  }
};
using DecodeQ4_K = DecodeQ45_K<false>;
using DecodeQ5_K = DecodeQ45_K<true>;

/// low nibbles:u8[128], high pairs:u8[64], scales:i8[16], d:f16, in two halves of 128 elements.
struct DecodeQ6_K {
  static constexpr int64_t kElements = 256, kBytes = 210;

  static HWY_INLINE F32 vector(const uint8_t *p, int64_t i) {
    const int64_t half = i / 128, quarter = i % 128 / 32, l = i % 32;
    const I32 bytes = bytesAt(p + 64 * half + 32 * (quarter % 2) + l);
    const I32 low = quarter < 2 ? andBits(bytes, 15) : hn::ShiftRight<4>(bytes);
    const I32 shift = hn::Set(I32Tag(), static_cast<int32_t>(2 * quarter));
    const I32 high = andBits(hn::Shr(bytesAt(p + 128 + 32 * half + l), shift), 3);
    const I32 code = hn::Sub(hn::Or(low, hn::ShiftLeft<4>(high)), hn::Set(I32Tag(), 32));
    return hn::Mul(set(factorAt(p + 208) * static_cast<float>(static_cast<int8_t>(p[192 + i / 16]))), asFloat(code));
  }
};

/// Plain types as blocks of one element: decode() takes one of them, widen() a vector.
template <class Storage> struct DecodePlain {
  using Element = typename Storage::Element;
  static constexpr int64_t kElements = 1, kBytes = sizeof(Element);
  static HWY_INLINE void decode(const uint8_t *p, float *to) {
    Element bits;
    std::memcpy(&bits, p, sizeof bits);
    *to = Storage::widenOne(&bits);
  }
  static HWY_INLINE F32 widen(const uint8_t *p) { return Storage::widen(reinterpret_cast<const Element *>(p)); }
};
using DecodeF32 = DecodePlain<StorageF32>;
using DecodeBF16 = DecodePlain<StorageBF16>;
using DecodeF16 = DecodePlain<StorageF16>;

/// n values from p on, whole blocks.
template <class Format> HWY_INLINE void decodeRow(const uint8_t *p, int64_t n, float *to) {
  if constexpr (Format::kElements == 1) {
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
      store(Format::widen(p + i * Format::kBytes), to + i);
    for (; i < n; ++i)
      Format::decode(p + i * Format::kBytes, to + i);
  } else {
    for (; n > 0; n -= Format::kElements, p += Format::kBytes, to += Format::kElements)
      for (int64_t i = 0; i < Format::kElements; i += kLanes)
        store(Format::vector(p, i), to + i);
  }
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_QUANT_DECODE_H
