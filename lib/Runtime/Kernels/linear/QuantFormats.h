//===- QuantFormats.h - packed weights, from bits to codes and factors -*- C++ -*-===//
//
// How a block of 16 rows of each format, in the order of docs/packed-weights.md, becomes what products want: unsigned
// codes in words of four, and a factor (and a minimum) for each sub-block of each row. The codes of a row are then
// worth factor * (code - offset) + minimum. A format has
//
//   scales(from, factors, minima)  fills [sub-block][row] of a block
//   words(from, visit)             calls visit(word, lane, codes) for each word of codes of a block, kByteLanes at a
//   time
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_LINEAR_QUANTFORMATS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_LINEAR_QUANTFORMATS_H
#undef CK_LIB_RUNTIME_KERNELS_LINEAR_QUANTFORMATS_H
#else
#define CK_LIB_RUNTIME_KERNELS_LINEAR_QUANTFORMATS_H
#endif

#include "KernelSupport.h"
#include "linear/Stream.h"
#include "quant/Decode.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

/// Rows that a packed group holds, steps of K in a chunk, and bytes of one word of codes of all rows.
inline constexpr int64_t kQuantRows = 16, kQuantChunk = 256, kWordBytes = 4 * kQuantRows;

/// A chunk of 16 rows, unpacked.
struct QuantChunk {
  alignas(64) uint8_t codes[kQuantChunk / 4 * kWordBytes]; ///< [word][row][4]
  alignas(64) float factors[16 * kQuantRows];              ///< [sub-block][row]
  alignas(64) float minima[8 * kQuantRows];                ///< [sub-block][row], of formats that have them
};

/// Bytes as a vector, or one byte on the scalar target.
using U8Tag = hn::ScalableTag<uint8_t>;
inline constexpr int64_t kByteLanes = HWY_TARGET == HWY_SCALAR ? 1 : 4 * kLanes;
using U8 = hn::Vec<U8Tag>;
HWY_INLINE U8 loadBytes(const uint8_t *p) { return hn::LoadU(U8Tag(), p); }
HWY_INLINE void storeBytes(U8 v, uint8_t *p) { hn::StoreU(v, U8Tag(), p); }
HWY_INLINE U8 byteSet(int value) { return hn::Set(U8Tag(), static_cast<uint8_t>(value)); }
HWY_INLINE U8 lowNibbles(U8 v) { return hn::And(v, byteSet(15)); }
HWY_INLINE U8 highNibbles(U8 v) { return hn::ShiftRight<4>(v); }

/// 16 where a bit of the masks that begin at `bits` is set, for the bytes from `lane` on; else 0.
HWY_INLINE U8 fifthBits(const uint8_t *bits, int64_t lane) {
#if HWY_TARGET == HWY_SCALAR
  return byteSet((bits[lane / 8] >> lane % 8 & 1) << 4);
#else
  return hn::IfThenElseZero(hn::LoadMaskBits(U8Tag(), bits + lane / 8), byteSet(16));
#endif
}

/// 16 where a byte has this bit, else 0.
HWY_INLINE U8 fifthBit(U8 bytes, int bit) { return hn::IfThenElseZero(hn::TestBit(bytes, byteSet(bit)), byteSet(16)); }

/// 16 factors of two bytes as f32.
HWY_INLINE void widenFactors(const uint8_t *halves, float *to) {
  for (int64_t row = 0; row < kQuantRows; row += kLanes)
    store(HalfF16::widen(reinterpret_cast<const uint16_t *>(halves) + row), to + row);
}

/// Formats of 32 elements. A block of 16 rows: factors, minima if there are any, masks of fifth bits if there are any,
/// nibbles.
template <int kBlockBytes, bool kMin, bool kFifth, int kOffsetOfCodes> struct SmallFormat {
  static constexpr int64_t kElements = 32, kBytes = kBlockBytes;
  static constexpr int kSub = 32, kOffset = kOffsetOfCodes;
  static constexpr bool kHasMin = kMin, kWideCodes = false;
  static constexpr bool kSuper = false; ///< one factor of the activations for a whole chunk

  static HWY_INLINE void scales(const uint8_t *from, float *factors, float *minima) {
    widenFactors(from, factors);
    if (kMin)
      widenFactors(from + 2 * kQuantRows, minima);
  }
  template <class Visit> static HWY_INLINE void words(const uint8_t *from, Visit visit) {
    const uint8_t *const masks = from + (kMin ? 4 : 2) * kQuantRows, *const qs = masks + (kFifth ? 64 : 0);
#pragma GCC unroll 4
    for (int64_t word = 0; word < 4; ++word)
#pragma GCC unroll 2
      for (int64_t lane = 0; lane < kWordBytes; lane += kByteLanes) {
        const U8 bytes = loadBytes(qs + word * kWordBytes + lane);
        U8 low = lowNibbles(bytes), high = highNibbles(bytes);
        if (kFifth) {
          low = hn::Or(low, fifthBits(masks + 8 * word, lane));
          high = hn::Or(high, fifthBits(masks + 32 + 8 * word, lane));
        }
        visit(word, lane, low);
        visit(4 + word, lane, high);
      }
  }
};
using PackedQ4_0 = SmallFormat<18, false, false, 8>;
using PackedQ4_1 = SmallFormat<20, true, false, 0>;
using PackedQ5_0 = SmallFormat<22, false, true, 16>;
using PackedQ5_1 = SmallFormat<24, true, true, 0>;

struct PackedQ8_0 {
  static constexpr int64_t kElements = 32, kBytes = 34;
  static constexpr int kSub = 32, kOffset = 128;
  static constexpr bool kHasMin = false, kSuper = false;
  static constexpr bool kWideCodes = true; ///< products of two pairs do not fit in 16 bits

  static HWY_INLINE void scales(const uint8_t *from, float *factors, float *) { widenFactors(from, factors); }
  template <class Visit> static HWY_INLINE void words(const uint8_t *from, Visit visit) {
#pragma GCC unroll 8
    for (int64_t word = 0; word < 8; ++word)
#pragma GCC unroll 2
      for (int64_t lane = 0; lane < kWordBytes; lane += kByteLanes)
        visit(word, lane, hn::Xor(loadBytes(from + 2 * kQuantRows + word * kWordBytes + lane), byteSet(128)));
  }
};

/// q4_k and q5_k: 8 sub-blocks of 32 with 6-bit scales and minima.
template <bool kFifth> struct PackedQ45_K {
  static constexpr int64_t kElements = 256, kBytes = kFifth ? 176 : 144;
  static constexpr int kSub = 32, kOffset = 0;
  static constexpr bool kHasMin = true, kSuper = true, kWideCodes = false;

  static HWY_INLINE void scales(const uint8_t *from, float *factors, float *minima) {
    alignas(64) float d[kQuantRows], dmin[kQuantRows];
    widenFactors(from, d);
    widenFactors(from + 2 * kQuantRows, dmin);
    for (int64_t row = 0; row < kQuantRows; row += kLanes) // minima are subtracted
      store(zero() - load(dmin + row), dmin + row);
    const uint8_t *const scales = from + 4 * kQuantRows;
    for (int64_t j = 0; j < 4; ++j)
      for (int64_t row = 0; row < kQuantRows; row += kLanes) {
        const I32 a = bytesAt(scales + j * kQuantRows + row), b = bytesAt(scales + (j + 4) * kQuantRows + row),
                  c = bytesAt(scales + (j + 8) * kQuantRows + row);
        const I32 six = hn::Set(I32Tag(), 63), four = hn::Set(I32Tag(), 15), two = hn::Set(I32Tag(), 48);
        const auto put = [&](int64_t sub, I32 scale, I32 minimum) HWY_ATTR {
          store(load(d + row) * hn::ConvertTo(F32Tag(), scale), factors + sub * kQuantRows + row);
          store(load(dmin + row) * hn::ConvertTo(F32Tag(), minimum), minima + sub * kQuantRows + row);
        };
        put(j, hn::And(a, six), hn::And(b, six));
        put(j + 4, hn::Or(hn::And(c, four), hn::And(hn::ShiftRight<2>(a), two)),
            hn::Or(hn::ShiftRight<4>(c), hn::And(hn::ShiftRight<2>(b), two)));
      }
  }
  template <class Visit> static HWY_INLINE void words(const uint8_t *from, Visit visit) {
    const uint8_t *const high = from + 16 * kQuantRows, *const qs = kFifth ? high + 8 * kWordBytes : high;
#pragma GCC unroll 4
    for (int64_t pair = 0; pair < 4; ++pair)
#pragma GCC unroll 8
      for (int64_t word = 0; word < 8; ++word)
#pragma GCC unroll 2
        for (int64_t lane = 0; lane < kWordBytes; lane += kByteLanes) {
          const U8 bytes = loadBytes(qs + (8 * pair + word) * kWordBytes + lane);
          U8 low = lowNibbles(bytes), up = highNibbles(bytes);
          if (kFifth) {
            const U8 bits = loadBytes(high + word * kWordBytes + lane);
            low = hn::Or(low, fifthBit(bits, 1 << 2 * pair));
            up = hn::Or(up, fifthBit(bits, 2 << 2 * pair));
          }
          visit(16 * pair + word, lane, low);
          visit(16 * pair + 8 + word, lane, up);
        }
  }
};
using PackedQ4_K = PackedQ45_K<false>;
using PackedQ5_K = PackedQ45_K<true>;

/// 16 sub-blocks of 16 with signed 8-bit scales.
struct PackedQ6_K {
  static constexpr int64_t kElements = 256, kBytes = 210;
  static constexpr int kSub = 16, kOffset = 32;
  static constexpr bool kHasMin = false, kSuper = true, kWideCodes = false;

  static HWY_INLINE void scales(const uint8_t *from, float *factors, float *) {
    alignas(64) float d[kQuantRows];
    widenFactors(from, d);
    const uint8_t *const scales = from + 2 * kQuantRows;
    for (int64_t i = 0; i < 16; ++i)
      for (int64_t row = 0; row < kQuantRows; row += kLanes) {
        const I32 scale = signedBytesAt(scales + i * kQuantRows + row);
        store(load(d + row) * hn::ConvertTo(F32Tag(), scale), factors + i * kQuantRows + row);
      }
  }
  template <class Visit> static HWY_INLINE void words(const uint8_t *from, Visit visit) {
    const uint8_t *const ql = from + 18 * kQuantRows, *const qh = ql + 32 * kWordBytes;
#pragma GCC unroll 2
    for (int64_t half = 0; half < 2; ++half)
#pragma GCC unroll 8
      for (int64_t word = 0; word < 8; ++word)
#pragma GCC unroll 2
        for (int64_t lane = 0; lane < kWordBytes; lane += kByteLanes) {
          const U8 a = loadBytes(ql + (16 * half + word) * kWordBytes + lane);
          const U8 b = loadBytes(ql + (16 * half + 8 + word) * kWordBytes + lane);
          const U8 high = loadBytes(qh + (8 * half + word) * kWordBytes + lane);
          const U8 two = byteSet(0x30);
          visit(32 * half + word, lane, hn::Or(lowNibbles(a), hn::And(hn::ShiftLeft<4>(high), two)));
          visit(32 * half + 8 + word, lane, hn::Or(lowNibbles(b), hn::And(hn::ShiftLeft<2>(high), two)));
          visit(32 * half + 16 + word, lane, hn::Or(highNibbles(a), hn::And(high, two)));
          visit(32 * half + 24 + word, lane, hn::Or(highNibbles(b), hn::And(hn::ShiftRight<2>(high), two)));
        }
  }
};

/// Asks for what lies behind a block: blocks and groups follow one another. The lines of a block are spread evenly over
/// its words, so that they never pile up.
template <class Format> HWY_INLINE void prefetchAhead(const uint8_t *block, int64_t word) {
  constexpr int64_t kWords = Format::kElements / 4, kLines = (kQuantRows * Format::kBytes + 63) / 64;
  for (int64_t line = word * kLines / kWords; line < (word + 1) * kLines / kWords; ++line)
    prefetchStream(block + 64 * line);
}

/// Unpacks `blocks` blocks of 32 steps of K, at most a chunk.
template <class Format> HWY_INLINE void unpackChunk(const uint8_t *from, int64_t blocks, QuantChunk &to) {
  constexpr int64_t kSubs = Format::kElements / Format::kSub, kWords = Format::kElements / 4;
  for (int64_t b = 0; b < blocks * 32 / Format::kElements; ++b, from += kQuantRows * Format::kBytes) {
    Format::scales(from, to.factors + b * kSubs * kQuantRows, to.minima + b * kSubs * kQuantRows);
    Format::words(from, [&](int64_t word, int64_t lane, U8 codes) HWY_ATTR {
      if (lane == 0)
        prefetchAhead<Format>(from, word);
      storeBytes(codes, to.codes + (b * kWords + word) * kWordBytes + lane);
    });
  }
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_LINEAR_QUANTFORMATS_H
