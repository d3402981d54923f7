//===- DotBlocks.h - products of raw blocks in integers ---------*- C++ -*-===//
//
// A block of a weight is unpacked once and multiplied with the blocks of some rows of activations. Sums of products are
// exact in i32; lane j of eight has the products 4j .. 4j+3 of each 32 elements. Codes of activations are above -128.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_LINEAR_DOTBLOCKS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_LINEAR_DOTBLOCKS_H
#undef CK_LIB_RUNTIME_KERNELS_LINEAR_DOTBLOCKS_H
#else
#define CK_LIB_RUNTIME_KERNELS_LINEAR_DOTBLOCKS_H
#endif

#include "linear/DotLanes.h"
#include "quant/Decode.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

/// 32 codes.
struct Codes32 {
  int16_t code[32];
};
HWY_INLINE Codes32 loadUnsigned(const uint8_t *p) {
  Codes32 codes;
  std::copy(p, p + 32, codes.code);
  return codes;
}
HWY_INLINE Codes32 loadSigned(const uint8_t *p) {
  Codes32 codes;
  for (int i = 0; i < 32; ++i)
    codes.code[i] = static_cast<int8_t>(p[i]);
  return codes;
}
/// Low nibbles, then high ones; with a fifth bit each where there is a mask.
HWY_INLINE Codes32 loadNibbles(const uint8_t *qs, const uint8_t *mask) {
  Codes32 codes;
  for (int i = 0; i < 32; ++i)
    codes.code[i] =
        static_cast<int16_t>((i < 16 ? qs[i] & 15 : qs[i - 16] >> 4) | (mask ? (mask[i / 8] >> i % 8 & 1) << 4 : 0));
  return codes;
}
HWY_INLINE Codes32 subtract(Codes32 codes, int offset) {
  for (int16_t &code : codes.code)
    code = static_cast<int16_t>(code - offset);
  return codes;
}
template <bool kSigned> HWY_INLINE Ints8 dot32(const Codes32 &w, const uint8_t *x) {
  Ints8 sum;
  for (int i = 0; i < 32; ++i)
    sum.lane[i / 4] += w.code[i] * static_cast<int8_t>(x[i]);
  return sum;
}
/// sum + scales * the products of 32 unsigned codes; lane j has the scale 2j.
HWY_INLINE Ints8 addScaledDot32(Ints8 sum, const uint8_t *w, const int16_t *scales, const uint8_t *x) {
  for (int i = 0; i < 32; ++i)
    sum.lane[i / 4] += scales[i / 4 * 2] * w[i] * static_cast<int8_t>(x[i]);
  return sum;
}
/// Lane j: a[2j] * b[2j] + a[2j+1] * b[2j+1].
HWY_INLINE Ints8 dotPairs(const int16_t *a, const uint8_t *b) {
  Ints8 sum;
  for (int i = 0; i < 16; ++i)
    sum.lane[i / 2] += a[i] * static_cast<int16_t>(halfAt(b + 2 * i));
  return sum;
}
HWY_INLINE Ints8 subtract32Times(Ints8 a, const Ints8 &b) {
  for (int i = 0; i < 8; ++i)
    a.lane[i] -= 32 * b.lane[i];
  return a;
}

#else

using Byte32Tag = hn::FixedTag<uint8_t, 32>;
using Byte32 = hn::Vec<Byte32Tag>;

/// Signed codes with their magnitudes; unsigned ones are their own.
struct Codes32 {
  Byte32 magnitude, code;
};
HWY_INLINE Codes32 signedCodes(Byte32 code) {
  const hn::FixedTag<int8_t, 32> d;
  return {hn::BitCast(Byte32Tag(), hn::Abs(hn::BitCast(d, code))), code};
}
HWY_INLINE Codes32 loadUnsigned(const uint8_t *p) {
  const Byte32 code = hn::LoadU(Byte32Tag(), p);
  return {code, code};
}
HWY_INLINE Codes32 loadSigned(const uint8_t *p) { return signedCodes(hn::LoadU(Byte32Tag(), p)); }
HWY_INLINE Codes32 loadNibbles(const uint8_t *qs, const uint8_t *mask) {
  const hn::FixedTag<uint8_t, 16> d16;
  const auto bytes = hn::LoadU(d16, qs);
  Byte32 code = hn::Combine(Byte32Tag(), hn::ShiftRight<4>(bytes), hn::And(bytes, hn::Set(d16, 15)));
  if (mask)
    code = hn::Or(code, hn::IfThenElseZero(hn::LoadMaskBits(Byte32Tag(), mask), hn::Set(Byte32Tag(), 16)));
  return {code, code};
}
HWY_INLINE Codes32 subtract(const Codes32 &codes, int offset) {
  return signedCodes(hn::Sub(codes.code, hn::Set(Byte32Tag(), static_cast<uint8_t>(offset))));
}
/// Sums of two products each; they fit in 16 bits.
HWY_INLINE __m256i pairs(const Byte32 &magnitude, __m256i x) { return _mm256_maddubs_epi16(magnitude.raw, x); }

template <bool kSigned> HWY_INLINE Ints8 dot32(const Codes32 &w, const uint8_t *x) {
  __m256i codes = hn::LoadU(Byte32Tag(), x).raw;
  if (kSigned)
    codes = _mm256_sign_epi8(codes, w.code.raw);
  return {hn::Vec<Int8Tag>{_mm256_madd_epi16(pairs(w.magnitude, codes), _mm256_set1_epi16(1))}};
}
HWY_INLINE Ints8 addScaledDot32(const Ints8 &sum, const uint8_t *w, const int16_t *scales, const uint8_t *x) {
  const __m256i products = pairs(hn::LoadU(Byte32Tag(), w), hn::LoadU(Byte32Tag(), x).raw);
  const __m256i factors = hn::LoadU(hn::FixedTag<int16_t, 16>(), scales).raw;
  return {hn::Add(sum.v, hn::Vec<Int8Tag>{_mm256_madd_epi16(factors, products)})};
}
HWY_INLINE Ints8 dotPairs(const int16_t *a, const uint8_t *b) {
  const __m256i first = hn::LoadU(hn::FixedTag<int16_t, 16>(), a).raw, second = hn::LoadU(Byte32Tag(), b).raw;
  return {hn::Vec<Int8Tag>{_mm256_madd_epi16(first, second)}};
}
HWY_INLINE Ints8 subtract32Times(const Ints8 &a, const Ints8 &b) { return {hn::Sub(a.v, hn::ShiftLeft<5>(b.v))}; }

#endif

/// Formats of 32 elements: codes, factor, minimum.
template <bool kFifth, int kOffset, bool kMin> struct RawNibbles {
  static constexpr int64_t kBytes = 18 + (kMin ? 2 : 0) + (kFifth ? 4 : 0);
  static constexpr bool kSigned = kOffset != 0;

  static HWY_INLINE Codes32 codes(const uint8_t *p) {
    const Codes32 nibbles = loadNibbles(p + kBytes - 16, kFifth ? p + (kMin ? 4 : 2) : nullptr);
    return kSigned ? subtract(nibbles, kOffset) : nibbles;
  }
  static HWY_INLINE float minimum(const uint8_t *p) { return factorAt(p + 2); }
};
using RawQ4_0 = RawNibbles<false, 8, false>;
using RawQ4_1 = RawNibbles<false, 0, true>;
using RawQ5_0 = RawNibbles<true, 16, false>;
using RawQ5_1 = RawNibbles<true, 0, true>;

struct RawQ8_0 {
  static constexpr int64_t kBytes = 34;
  static constexpr bool kSigned = true;
  static HWY_INLINE Codes32 codes(const uint8_t *p) { return loadSigned(p + 2); }
};

/// A block of 256 elements, unpacked.
struct RawBlockK {
  alignas(32) uint8_t codes[256];    ///< unsigned
  alignas(32) int16_t scales[8][16]; ///< of each 32 elements, for each pair of products
  alignas(32) int16_t weights[16];   ///< what the 16 sums of activations are multiplied by
  float d, dmin;
};

template <bool kFifth> struct RawQ45_K {
  static constexpr int64_t kBytes = kFifth ? 176 : 144;

  static HWY_INLINE void unpack(const uint8_t *p, RawBlockK &to) {
    const uint8_t *const high = p + 16, *const qs = p + (kFifth ? 48 : 16);
    uint8_t scales[8], minima[8];
    unpackScales(p + 4, scales, minima);
    to.d = factorAt(p);
    to.dmin = factorAt(p + 2);
    for (int j = 0; j < 8; ++j) {
      std::fill(to.scales[j], to.scales[j] + 16, scales[j]);
      to.weights[2 * j] = to.weights[2 * j + 1] = minima[j];
    }
    for (int pair = 0; pair < 4; ++pair)
      for (int l = 0; l < 32; ++l) {
        int low = qs[32 * pair + l] & 15, up = qs[32 * pair + l] >> 4;
        if (kFifth) {
          low |= (high[l] >> 2 * pair & 1) << 4;
          up |= (high[l] >> (2 * pair + 1) & 1) << 4;
        }
        to.codes[64 * pair + l] = static_cast<uint8_t>(low);
        to.codes[64 * pair + 32 + l] = static_cast<uint8_t>(up);
      }
  }
};

struct RawQ6_K {
  static constexpr int64_t kBytes = 210;

  static HWY_INLINE void unpack(const uint8_t *p, RawBlockK &to) {
    to.d = factorAt(p + 208);
    to.dmin = 0;
    for (int group = 0; group < 16; ++group) {
      const auto scale = static_cast<int8_t>(p[192 + group]);
      to.weights[group] = scale;
      std::fill(to.scales[group / 2] + group % 2 * 8, to.scales[group / 2] + group % 2 * 8 + 8, scale);
    }
    for (int half = 0; half < 2; ++half) {
      const uint8_t *const ql = p + 64 * half, *const qh = p + 128 + 32 * half;
      uint8_t *const codes = to.codes + 128 * half;
      for (int l = 0; l < 32; ++l) {
        codes[l] = static_cast<uint8_t>((ql[l] & 15) | (qh[l] & 3) << 4);
        codes[l + 32] = static_cast<uint8_t>((ql[l + 32] & 15) | (qh[l] >> 2 & 3) << 4);
        codes[l + 64] = static_cast<uint8_t>(ql[l] >> 4 | (qh[l] >> 4 & 3) << 4);
        codes[l + 96] = static_cast<uint8_t>(ql[l + 32] >> 4 | (qh[l] >> 6) << 4);
      }
    }
  }
};

/// Scaled products of groups [first, last) of 32 of a block.
HWY_INLINE Ints8 dotGroups(const RawBlockK &w, const uint8_t *x, int first, int last) {
  Ints8 sum;
  for (int g = first; g < last; ++g)
    sum = addScaledDot32(sum, w.codes + 32 * g, w.scales[g], x + 32 * g);
  return sum;
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_LINEAR_DOTBLOCKS_H
