//===- Blocks256.cpp - types with two levels of scales --------------------===//
//
//   q4_k  d:f16, dmin:f16, 12 bytes of scales and minimums, 128 bytes of levels
//   q5_k  d:f16, dmin:f16, 12 bytes, 32 bytes of fifth bits, 128 bytes
//   q6_k  128 bytes of low bits, 64 bytes of high bits, 16 signed scales, d:f16
//
// Here stands only how a block lies in bytes; BlockFit.cpp finds the scales and levels.
//
//===----------------------------------------------------------------------===//
#include "BlockFields.h"

#include <cmath>

namespace ck::blocks {

namespace {

constexpr int64_t kBlock = 256;

/// Eight scales and eight minimums of 6 bits. The first four of each lie in the low bits of bytes 0 to 7; of the others
/// the low four bits share bytes 8 to 11 and the high two bits lie above the first four.
void storeScales(const AffineBlock &block, uint8_t *at) {
  for (int j = 0; j < 4; ++j) {
    at[j] = static_cast<uint8_t>(block.scale[j] | block.scale[j + 4] >> 4 << 6);
    at[j + 4] = static_cast<uint8_t>(block.minimum[j] | block.minimum[j + 4] >> 4 << 6);
    at[j + 8] = static_cast<uint8_t>((block.scale[j + 4] & 15) | block.minimum[j + 4] << 4);
  }
}

void loadScales(const uint8_t *at, AffineBlock &block) {
  for (int j = 0; j < 4; ++j) {
    block.scale[j] = at[j] & 63;
    block.minimum[j] = at[j + 4] & 63;
    block.scale[j + 4] = static_cast<uint8_t>((at[j + 8] & 15) | at[j] >> 6 << 4);
    block.minimum[j + 4] = static_cast<uint8_t>(at[j + 8] >> 4 | at[j + 4] >> 6 << 4);
  }
}

/// Encodes block by block; `store` returns false for a block that the type cannot hold.
template <typename Store>
std::optional<int64_t> encodeBlocks(const float *in, int64_t count, uint8_t *bytes, int64_t blockBytes, Store store) {
  for (int64_t at = 0; at < count; at += kBlock, bytes += blockBytes) {
    for (int64_t i = at; i < at + kBlock; ++i)
      if (!std::isfinite(in[i]))
        return i;
    if (!store(in + at, bytes))
      return at + largest(in + at, kBlock);
  }
  return std::nullopt;
}

/// q4_k and q5_k. Byte i of 32-byte group g holds in its halves the levels of element i of sub-blocks 2g and 2g + 1;
/// bit j of fifth-bits byte i belongs to sub-block j.
template <int bits> struct Affine {
  static constexpr int64_t kBytes = 16 + (bits == 5 ? 32 : 0) + 128;

  static void decode(const uint8_t *bytes, float *out, int64_t count) {
    for (; count > 0; count -= kBlock, bytes += kBytes, out += kBlock) {
      AffineBlock block;
      float d = loadF16(bytes), dmin = loadF16(bytes + 2);
      loadScales(bytes + 4, block);
      const uint8_t *fifth = bytes + 16, *halves = bytes + (bits == 5 ? 48 : 16);
      for (int j = 0; j < 8; ++j) {
        float scale = d * block.scale[j], minimum = dmin * block.minimum[j];
        for (int i = 0; i < 32; ++i) {
          uint8_t byte = halves[j / 2 * 32 + i];
          int level = j % 2 ? byte >> 4 : byte & 15;
          if (bits == 5)
            level |= (fifth[i] >> j & 1) << 4;
          out[32 * j + i] = scale * static_cast<float>(level) - minimum;
        }
      }
    }
  }

  static bool store(const float *in, uint8_t *bytes) {
    AffineBlock block;
    if (!fitAffine(in, (1 << bits) - 1, block))
      return false;
    store16(bytes, block.d);
    store16(bytes + 2, block.dmin);
    storeScales(block, bytes + 4);
    uint8_t *fifth = bytes + 16, *halves = bytes + (bits == 5 ? 48 : 16);
    for (int i = 0; i < 128; ++i) {
      const uint8_t *level = block.level + i / 32 * 64 + i % 32;
      halves[i] = static_cast<uint8_t>((level[0] & 15) | level[32] << 4);
    }
    for (int i = 0; bits == 5 && i < 32; ++i) {
      fifth[i] = 0;
      for (int j = 0; j < 8; ++j)
        fifth[i] = static_cast<uint8_t>(fifth[i] | block.level[32 * j + i] >> 4 << j);
    }
    return true;
  }

  static std::optional<int64_t> encode(const float *in, uint8_t *bytes, int64_t count) {
    return encodeBlocks(in, count, bytes, kBytes, store);
  }
};

/// q6_k. Of each half of 128 elements, byte i of 64 low bytes holds in its halves elements i and i + 64, and byte i of
/// 32 high bytes two bits of each of the elements i, i + 32, i + 64 and i + 96. Levels are stored with 32 added.
struct Signed {
  static constexpr int64_t kBytes = 210;

  static void decode(const uint8_t *bytes, float *out, int64_t count) {
    for (; count > 0; count -= kBlock, bytes += kBytes, out += kBlock) {
      float d = loadF16(bytes + 208);
      for (int i = 0; i < kBlock; ++i) {
        int half = i / 128, at = i % 128;
        uint8_t low = bytes[64 * half + at % 64], high = bytes[128 + 32 * half + at % 32];
        int level = (at < 64 ? low & 15 : low >> 4) | (high >> at / 32 * 2 & 3) << 4;
        out[i] = d * static_cast<float>(static_cast<int8_t>(bytes[192 + i / 16])) * static_cast<float>(level - 32);
      }
    }
  }

  static bool store(const float *in, uint8_t *bytes) {
    SignedBlock block;
    if (!fitSigned(in, block))
      return false;
    std::memset(bytes, 0, 192);
    for (int i = 0; i < kBlock; ++i) {
      int half = i / 128, at = i % 128, level = block.level[i] + 32;
      uint8_t &low = bytes[64 * half + at % 64], &high = bytes[128 + 32 * half + at % 32];
      low = static_cast<uint8_t>(low | (level & 15) << (at < 64 ? 0 : 4));
      high = static_cast<uint8_t>(high | level >> 4 << at / 32 * 2);
    }
    for (int j = 0; j < 16; ++j)
      bytes[192 + j] = static_cast<uint8_t>(block.scale[j]);
    store16(bytes + 208, block.d);
    return true;
  }

  static std::optional<int64_t> encode(const float *in, uint8_t *bytes, int64_t count) {
    return encodeBlocks(in, count, bytes, kBytes, store);
  }
};

} // namespace

const RowCodec q4_k = {Affine<4>::decode, Affine<4>::encode};
const RowCodec q5_k = {Affine<5>::decode, Affine<5>::encode};
const RowCodec q6_k = {Signed::decode, Signed::encode};

} // namespace ck::blocks
