//===- QuantTile.h - integer products of a few rows with 16 packed ones -*- C++ -*-===//
//
// The inner loop of quantised linear layers. Rows of quantised activations are brought into panels of a few rows, whose
// words of four codes lie side by side; a tile multiplies them with the unpacked codes of 16 weight rows: products in
// 8 bits, sums of a sub-block exact in 32 bits, then one fused step in f32 for each sub-block.
//
// Bits: an element of the result is a sum over sub-blocks in ascending order, whatever the rows around it.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_LINEAR_QUANTTILE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_LINEAR_QUANTTILE_H
#undef CK_LIB_RUNTIME_KERNELS_LINEAR_QUANTTILE_H
#else
#define CK_LIB_RUNTIME_KERNELS_LINEAR_QUANTTILE_H
#endif

#include "linear/QuantFormats.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

/// Rows of activations in a panel.
#if HWY_TARGET == HWY_AVX3
inline constexpr int kQuantPanel = 12;
#elif HWY_TARGET == HWY_AVX2
inline constexpr int kQuantPanel = 6;
#else
inline constexpr int kQuantPanel = 4;
#endif

/// Activations in 8 bits, as they lie in memory.
enum class QuantInput { Q8_0, Q8_1, Q8_K };

/// Bytes of a panel for each row and 32 steps of K: codes, two starting sums, a factor, a weighted sum.
inline constexpr int64_t kPanelBytes = 48;

/// A chunk of a panel: `blocks` blocks of 32 (8 but for the last) of `rows` rows. Each array is [..][row].
struct PanelChunk {
  int32_t *words;  ///< 8 for each block
  int32_t *starts; ///< 2 for each block: -offset * (sum of a sub-block's codes)
  float *factors;  ///< 1 for each block, or 1 of a super-block
  float *sums;     ///< 1 for each block: what a minimum is multiplied by

  PanelChunk(uint8_t *at, int64_t rows, int64_t blocks)
      : words(reinterpret_cast<int32_t *>(at)), starts(words + 8 * blocks * rows),
        factors(reinterpret_cast<float *>(starts + 2 * blocks * rows)), sums(factors + blocks * rows) {}
};

HWY_INLINE int32_t sumOfCodes(const int8_t *codes, int64_t count) {
  int32_t sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += codes[i];
  return sum;
}

/// Brings `count` blocks of 32 of one row of activations to its place in a panel of `rows` rows. `block` is the first
/// block's number in the row, a multiple of 8.
template <class Format, QuantInput kInput>
HWY_INLINE void fillPanelRow(const uint8_t *input, int64_t block, int64_t count, int64_t rows, int64_t row,
                             PanelChunk to) {
  for (int64_t b = 0; b < count; ++b) {
    const int8_t *codes;
    float factor, sum = 0;
    if (kInput == QuantInput::Q8_K) {
      const uint8_t *const from = input + block / 8 * 292;
      std::memcpy(&factor, from, sizeof factor);
      codes = reinterpret_cast<const int8_t *>(from + 4) + 32 * b;
    } else {
      const uint8_t *const from = input + (block + b) * (kInput == QuantInput::Q8_0 ? 34 : 36);
      factor = factorAt(from);
      codes = reinterpret_cast<const int8_t *>(from + (kInput == QuantInput::Q8_0 ? 2 : 4));
      if (kInput == QuantInput::Q8_1)
        sum = factorAt(from + 2);
    }
    for (int64_t word = 0; word < 8; ++word)
      std::memcpy(to.words + (8 * b + word) * rows + row, codes + 4 * word, 4);
    if (Format::kOffset != 0)
      for (int64_t sub = 0; sub < 32 / Format::kSub; ++sub)
        to.starts[(b * (32 / Format::kSub) + sub) * rows + row] =
            -Format::kOffset * sumOfCodes(codes + sub * Format::kSub, Format::kSub);
    if (!Format::kSuper || b == 0)
      to.factors[b * rows + row] = factor;
    if (Format::kHasMin)
      to.sums[b * rows + row] = kInput == QuantInput::Q8_1 ? sum : static_cast<float>(sumOfCodes(codes, 32));
  }
}

#if HWY_TARGET != HWY_SCALAR
/// `times` (1 or 2) the products of four codes each with the four of a word, where sums of two fit in 16 bits.
HWY_INLINE I32 pairProducts(U8 codes, int32_t word, int16_t times) {
#if HWY_TARGET == HWY_AVX3
  return I32{_mm512_madd_epi16(_mm512_maddubs_epi16(codes.raw, _mm512_set1_epi32(word)), _mm512_set1_epi16(times))};
#else
  return I32{_mm256_madd_epi16(_mm256_maddubs_epi16(codes.raw, _mm256_set1_epi32(word)), _mm256_set1_epi16(times))};
#endif
}

/// sum + the products of four unsigned codes of each row with the four signed codes of a word. Exact.
template <bool kWide, bool kVnni> HWY_INLINE I32 addProducts(I32 sum, U8 codes, const int32_t *word) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (kVnni) {
    // By its name: the instruction needs a feature that the other code of this target must not use.
    __asm__("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(sum.raw) : "v"(codes.raw), "m"(*word));
    return sum;
  }
#endif
  if constexpr (kWide) {
    // Two products of 8 and 7 bits fit in 16, of 8 and 8 they may not: the lowest bit goes its own way.
    const I32 most = pairProducts(hn::ShiftRight<1>(codes), *word, 2);
    return sum + most + pairProducts(hn::And(codes, byteSet(1)), *word, 1);
  }
  return sum + pairProducts(codes, *word, 1);
}
#endif

/// The same for codes in memory.
template <bool kWide, bool kVnni> HWY_INLINE I32 addProductsAt(I32 sum, const uint8_t *codes, const int32_t *word) {
#if HWY_TARGET == HWY_SCALAR
  int8_t x[4];
  std::memcpy(x, word, 4);
  int32_t total = hn::GetLane(sum);
  for (int i = 0; i < 4; ++i)
    total += codes[i] * x[i];
  return hn::Set(I32Tag(), total);
#else
  return addProducts<kWide, kVnni>(sum, loadBytes(codes), word);
#endif
}

/// sums[row][16] (+)= a panel chunk of MR rows by 16 unpacked rows over `blocks` blocks of 32; `first` overwrites.
template <class Format, bool kVnni, int MR>
HWY_NOINLINE void quantTile(const QuantChunk &weights, PanelChunk panel, int64_t blocks, bool first, float *sums) {
  constexpr int64_t kWords = Format::kSub / 4;
  const int64_t subs = blocks * (32 / Format::kSub);
  for (int64_t lane = 0; lane < kQuantRows; lane += kLanes) {
    F32 total[MR];
#pragma GCC unroll 16
    for (int r = 0; r < MR; ++r)
      total[r] = Format::kSuper || first ? zero() : load(sums + r * kQuantRows + lane);
    const uint8_t *codes = weights.codes + 4 * lane;
    const int32_t *words = panel.words;
    for (int64_t sub = 0; sub < subs; ++sub) {
      I32 dot[MR];
#pragma GCC unroll 16
      for (int r = 0; r < MR; ++r)
        dot[r] = Format::kOffset ? hn::Set(I32Tag(), panel.starts[sub * MR + r]) : hn::Zero(I32Tag());
#pragma GCC unroll 8
      for (int64_t word = 0; word < kWords; ++word, codes += kWordBytes, words += MR)
#pragma GCC unroll 16
        for (int r = 0; r < MR; ++r)
          dot[r] = addProductsAt<Format::kWideCodes, kVnni>(dot[r], codes, words + r);
      const F32 factor = load(weights.factors + sub * kQuantRows + lane);
#pragma GCC unroll 16
      for (int r = 0; r < MR; ++r) {
        const F32 scale = Format::kSuper ? factor : factor * set(panel.factors[sub * MR + r]);
        total[r] = fma(hn::ConvertTo(F32Tag(), dot[r]), scale, total[r]);
      }
      if constexpr (Format::kHasMin) {
        const F32 minimum = load(weights.minima + sub * kQuantRows + lane);
#pragma GCC unroll 16
        for (int r = 0; r < MR; ++r)
          total[r] = fma(minimum, set(panel.sums[sub * MR + r]), total[r]);
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < MR; ++r) {
      float *const to = sums + r * kQuantRows + lane;
      if (Format::kSuper)
        total[r] = fma(total[r], set(panel.factors[r]), first ? zero() : load(to));
      store(total[r], to);
    }
  }
}

#if HWY_TARGET != HWY_SCALAR
/// sums[16] = one row of activations by a packed group over `blocks` blocks of 32, in the tile's order. Codes go from
/// memory through registers into products: a single row has no second use for them.
template <class Format, bool kVnni>
void quantRow(const uint8_t *weights, uint8_t *panels, int64_t blocks, float *sums) {
  constexpr int kSubs = Format::kElements / Format::kSub, kParts = kQuantRows / kLanes;
  constexpr int64_t kStep = Format::kElements / 32;
  alignas(64) float factors[kSubs * kQuantRows], minima[kSubs * kQuantRows];
  F32 total[kParts];
#pragma GCC unroll 2
  for (int part = 0; part < kParts; ++part)
    total[part] = zero();
  for (int64_t block = 0; block < blocks; block += kStep, weights += kQuantRows * Format::kBytes) {
    const int64_t chunk = block / 8 * 8, at = block - chunk; // `at` is 0 where a block is a chunk
    const PanelChunk panel(panels + chunk * kPanelBytes, 1, std::min<int64_t>(8, blocks - chunk));
    Format::scales(weights, factors, minima);
    I32 dot[kSubs][kParts];
#pragma GCC unroll 16
    for (int sub = 0; sub < kSubs; ++sub)
#pragma GCC unroll 2
      for (int part = 0; part < kParts; ++part)
        dot[sub][part] = Format::kOffset ? hn::Set(I32Tag(), panel.starts[at + sub]) : hn::Zero(I32Tag());
    Format::words(weights, [&](int64_t word, int64_t lane, U8 codes) HWY_ATTR {
      if (lane == 0)
        prefetchAhead<Format>(weights, word);
      I32 &sum = dot[4 * word / Format::kSub][lane / kByteLanes];
      sum = addProducts<Format::kWideCodes, kVnni>(sum, codes, panel.words + 8 * at + word);
    });
#pragma GCC unroll 2
    for (int part = 0; part < kParts; ++part) {
      F32 sum = Format::kSuper ? zero() : total[part];
#pragma GCC unroll 16
      for (int sub = 0; sub < kSubs; ++sub) {
        const F32 factor = load(factors + sub * kQuantRows + part * kLanes);
        sum = fma(hn::ConvertTo(F32Tag(), dot[sub][part]),
                  Format::kSuper ? factor : factor * set(panel.factors[at + sub]), sum);
        if constexpr (Format::kHasMin)
          sum = fma(load(minima + sub * kQuantRows + part * kLanes), set(panel.sums[at + sub]), sum);
      }
      total[part] = Format::kSuper ? fma(sum, set(panel.factors[0]), total[part]) : sum;
    }
  }
#pragma GCC unroll 2
  for (int part = 0; part < kParts; ++part)
    store(total[part], sums + part * kLanes);
}
#endif

using QuantTile = void (*)(const QuantChunk &, PanelChunk, int64_t, bool, float *);

template <class Format, bool kVnni, int MR = kQuantPanel> QuantTile quantTileOf(int64_t rows) {
  if constexpr (MR > 1)
    if (rows < MR)
      return quantTileOf<Format, kVnni, MR - 1>(rows);
  return quantTile<Format, kVnni, MR>;
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_LINEAR_QUANTTILE_H
