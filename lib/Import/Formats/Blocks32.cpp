//===- Blocks32.cpp - types with one scale for 32 elements ----------------===//
//
//   q4_0  d:f16, 16 bytes                 d * (v - 8)
//   q4_1  d:f16, m:f16, 16 bytes          d * v + m
//   q5_0  d:f16, u32 of fifth bits, 16    d * (v - 16)
//   q5_1  d:f16, m:f16, u32, 16 bytes     d * v + m
//   q8_0  d:f16, 32 signed bytes          d * v
//
// Byte i holds element i in its low half and element i + 16 in its high half. The levels follow from the scale before
// it is rounded to f16, as everywhere where these formats are written: files are then equal byte for byte.
//
//===----------------------------------------------------------------------===//
#include "BlockFields.h"

#include <algorithm>
#include <cmath>

namespace ck::blocks {

int64_t largest(const float *in, int64_t count) {
  int64_t at = 0;
  for (int64_t i = 1; i < count; ++i)
    if (std::fabs(in[i]) > std::fabs(in[at]))
      at = i;
  return at;
}

namespace {

constexpr int64_t kBlock = 32;

/// The position of the first element that is not finite.
std::optional<int64_t> notFinite(const float *in) {
  for (int64_t i = 0; i < kBlock; ++i)
    if (!std::isfinite(in[i]))
      return i;
  return std::nullopt;
}

/// Levels to a unit of the value. A scale too small to be inverted is 0 in f16, and any level then means 0.
float inverse(float scale) {
  float result = scale != 0 ? 1 / scale : 0;
  return std::isfinite(result) ? result : 0;
}

/// Levels of 4 or 5 bits, `low` of the block at `at`.
template <int bits> void storeLevels(const uint8_t *level, uint8_t *at) {
  if (bits == 5) {
    uint32_t fifth = 0;
    for (int i = 0; i < kBlock; ++i)
      fifth |= uint32_t{level[i]} >> 4 << i;
    for (int i = 0; i < 4; ++i)
      *at++ = static_cast<uint8_t>(fifth >> 8 * i);
  }
  for (int i = 0; i < 16; ++i)
    at[i] = static_cast<uint8_t>((level[i] & 15) | level[i + 16] << 4);
}

template <int bits> void loadLevels(const uint8_t *at, uint8_t *level) {
  uint32_t fifth = 0;
  if (bits == 5) {
    for (int i = 0; i < 4; ++i)
      fifth |= uint32_t{at[i]} << 8 * i;
    at += 4;
  }
  for (int i = 0; i < kBlock; ++i) {
    uint8_t byte = at[i % 16];
    level[i] = static_cast<uint8_t>((i < 16 ? byte & 15 : byte >> 4) | (fifth >> i & 1) << 4);
  }
}

/// Types whose levels lie on both sides of 0: the element of largest magnitude gets the lowest level, which is one
/// farther from 0 than the highest.
template <int bits> struct Symmetric {
  static constexpr int64_t kBytes = 2 + (bits == 5 ? 4 : 0) + 16;
  static constexpr int kZero = 1 << (bits - 1);

  static void decode(const uint8_t *bytes, float *out, int64_t count) {
    for (; count > 0; count -= kBlock, bytes += kBytes, out += kBlock) {
      float d = loadF16(bytes);
      uint8_t level[kBlock];
      loadLevels<bits>(bytes + 2, level);
      for (int i = 0; i < kBlock; ++i)
        out[i] = d * static_cast<float>(level[i] - kZero);
    }
  }

  static std::optional<int64_t> encode(const float *in, uint8_t *bytes, int64_t count) {
    for (int64_t at = 0; at < count; at += kBlock, bytes += kBytes) {
      const float *x = in + at;
      if (std::optional<int64_t> bad = notFinite(x))
        return at + *bad;
      int64_t peak = largest(x, kBlock);
      float d = x[peak] / -kZero, perUnit = inverse(d);
      if (!storeF16(bytes, d))
        return at + peak;
      uint8_t level[kBlock];
      for (int i = 0; i < kBlock; ++i)
        level[i] = static_cast<uint8_t>(std::min(2 * kZero - 1, static_cast<int>(x[i] * perUnit + (kZero + 0.5f))));
      storeLevels<bits>(level, bytes + 2);
    }
    return std::nullopt;
  }
};

/// Types with a minimum: the levels reach from the smallest to the largest element.
template <int bits> struct Ranged {
  static constexpr int64_t kBytes = 4 + (bits == 5 ? 4 : 0) + 16;
  static constexpr int kTop = (1 << bits) - 1;

  static void decode(const uint8_t *bytes, float *out, int64_t count) {
    for (; count > 0; count -= kBlock, bytes += kBytes, out += kBlock) {
      float d = loadF16(bytes), minimum = loadF16(bytes + 2);
      uint8_t level[kBlock];
      loadLevels<bits>(bytes + 4, level);
      for (int i = 0; i < kBlock; ++i)
        out[i] = d * static_cast<float>(level[i]) + minimum;
    }
  }

  static std::optional<int64_t> encode(const float *in, uint8_t *bytes, int64_t count) {
    for (int64_t at = 0; at < count; at += kBlock, bytes += kBytes) {
      const float *x = in + at;
      if (std::optional<int64_t> bad = notFinite(x))
        return at + *bad;
      float low = *std::min_element(x, x + kBlock), high = *std::max_element(x, x + kBlock);
      float d = (high - low) / kTop, perUnit = inverse(d);
      if (!storeF16(bytes, d) || !storeF16(bytes + 2, low))
        return at + largest(x, kBlock);
      uint8_t level[kBlock];
      for (int i = 0; i < kBlock; ++i)
        level[i] = static_cast<uint8_t>(std::min(kTop, static_cast<int>((x[i] - low) * perUnit + 0.5f)));
      storeLevels<bits>(level, bytes + 4);
    }
    return std::nullopt;
  }
};

/// q8_0. Halves are rounded away from 0.
struct Bytes {
  static constexpr int64_t kBytes = 34;

  static void decode(const uint8_t *bytes, float *out, int64_t count) {
    for (; count > 0; count -= kBlock, bytes += kBytes, out += kBlock) {
      float d = loadF16(bytes);
      for (int i = 0; i < kBlock; ++i)
        out[i] = d * static_cast<float>(static_cast<int8_t>(bytes[2 + i]));
    }
  }

  static std::optional<int64_t> encode(const float *in, uint8_t *bytes, int64_t count) {
    for (int64_t at = 0; at < count; at += kBlock, bytes += kBytes) {
      const float *x = in + at;
      if (std::optional<int64_t> bad = notFinite(x))
        return at + *bad;
      int64_t peak = largest(x, kBlock);
      float d = std::fabs(x[peak]) / 127, perUnit = inverse(d);
      if (!storeF16(bytes, d))
        return at + peak;
      for (int i = 0; i < kBlock; ++i)
        bytes[2 + i] = static_cast<uint8_t>(static_cast<int>(std::round(x[i] * perUnit)));
    }
    return std::nullopt;
  }
};

template <typename Type> constexpr RowCodec codec() { return {Type::decode, Type::encode}; }

} // namespace

const RowCodec q4_0 = codec<Symmetric<4>>();
const RowCodec q4_1 = codec<Ranged<4>>();
const RowCodec q5_0 = codec<Symmetric<5>>();
const RowCodec q5_1 = codec<Ranged<5>>();
const RowCodec q8_0 = codec<Bytes>();

} // namespace ck::blocks
