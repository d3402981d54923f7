//===- Blocks.cpp - the block-quantised formats, as their publisher defines them -===//

#include "Blocks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <tuple>

namespace ck::reference {

BlockSize blockSize(std::string_view dtype) {
  static const std::pair<std::string_view, BlockSize> sizes[] = {
      {"q4_0", {32, 18}}, {"q4_1", {32, 20}},   {"q5_0", {32, 22}},   {"q5_1", {32, 24}},   {"q8_0", {32, 34}},
      {"q8_1", {32, 36}}, {"q4_k", {256, 144}}, {"q5_k", {256, 176}}, {"q6_k", {256, 210}}, {"q8_k", {256, 292}}};
  for (const auto &[name, size] : sizes)
    if (name == dtype)
      return size;
  return {0, 0};
}

float halfToFloat(uint16_t bits) {
  float sign = bits & 0x8000 ? -1.0f : 1.0f;
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31)
    return fraction ? NAN : sign * INFINITY;
  return sign * (exponent ? std::ldexp(1024.0f + static_cast<float>(fraction), exponent - 25)
                          : std::ldexp(static_cast<float>(fraction), -24));
}

uint16_t floatToHalf(float value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value))
    return sign | 0x7e00;
  double magnitude = std::fabs(static_cast<double>(value));
  if (magnitude >= 65520)
    return sign | 0x7c00;
  if (magnitude < 0x1p-14) // subnormal; 1024 units are the smallest normal number
    return sign | static_cast<uint16_t>(std::nearbyint(magnitude * 0x1p24));
  int exponent = std::ilogb(magnitude);
  int fraction = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  return sign | static_cast<uint16_t>(((exponent + 14) << 10) + fraction); // a carry moves into the exponent
}

static uint16_t u16(const uint8_t *p) { return static_cast<uint16_t>(p[0] | p[1] << 8); }
static void put16(uint16_t value, uint8_t *p) {
  p[0] = static_cast<uint8_t>(value);
  p[1] = static_cast<uint8_t>(value >> 8);
}
static float f16At(const uint8_t *p) { return halfToFloat(u16(p)); }
static float f32At(const uint8_t *p) {
  float value;
  std::memcpy(&value, p, 4);
  return value;
}

/// Scale and minimum of sub-block j from the 12 bytes that q4_k and q5_k share.
static std::pair<int, int> scaleAndMin(const uint8_t *b, int j) {
  if (j < 4)
    return {b[j] & 63, b[j + 4] & 63};
  return {(b[j + 4] & 15) | (b[j - 4] >> 6) << 4, b[j + 4] >> 4 | (b[j] >> 6) << 4};
}

/// 32 elements of 4 or 5 bits: low nibbles first, then the high ones; bit i of `high` is bit 4 of element i.
static void readNibbles(const uint8_t *qs, uint32_t high, int *code) {
  for (int i = 0; i < 32; ++i)
    code[i] = (i < 16 ? qs[i] & 15 : qs[i - 16] >> 4) | static_cast<int>(high >> i & 1) << 4;
}

Block readBlock(std::string_view dtype, const uint8_t *p) {
  Block block;
  block.elements = blockSize(dtype).elements;
  block.sub = 32;
  block.scale[0] = 1;
  block.d = f16At(p);
  auto codes8 = [&](const uint8_t *qs) {
    for (int i = 0; i < block.elements; ++i)
      block.code[i] = static_cast<int8_t>(qs[i]);
  };
  if (dtype == "q4_0") {
    block.offset = 8;
    readNibbles(p + 2, 0, block.code);
  } else if (dtype == "q4_1" || dtype == "q5_1") {
    block.dmin = -f16At(p + 2);
    block.min[0] = 1;
    bool five = dtype == "q5_1";
    readNibbles(p + (five ? 8 : 4), five ? u16(p + 4) | static_cast<uint32_t>(u16(p + 6)) << 16 : 0, block.code);
  } else if (dtype == "q5_0") {
    block.offset = 16;
    readNibbles(p + 6, u16(p + 2) | static_cast<uint32_t>(u16(p + 4)) << 16, block.code);
  } else if (dtype == "q8_0") {
    codes8(p + 2);
  } else if (dtype == "q8_1") {
    block.s = f16At(p + 2);
    codes8(p + 4);
  } else if (dtype == "q4_k" || dtype == "q5_k") {
    bool five = dtype == "q5_k";
    block.dmin = f16At(p + 2);
    const uint8_t *high = p + 16, *qs = p + (five ? 48 : 16);
    for (int j = 0; j < 8; ++j) {
      std::tie(block.scale[j], block.min[j]) = scaleAndMin(p + 4, j);
      for (int l = 0; l < 32; ++l) {
        int byte = qs[32 * (j / 2) + l];
        block.code[32 * j + l] = (j % 2 ? byte >> 4 : byte & 15) | (five ? (high[l] >> j & 1) << 4 : 0);
      }
    }
  } else if (dtype == "q6_k") {
    block.d = f16At(p + 208);
    block.sub = 16;
    block.offset = 32;
    for (int half = 0; half < 2; ++half) {
      const uint8_t *ql = p + 64 * half, *qh = p + 128 + 32 * half;
      int *code = block.code + 128 * half;
      for (int l = 0; l < 32; ++l) {
        code[l] = (ql[l] & 15) | (qh[l] & 3) << 4;
        code[l + 32] = (ql[l + 32] & 15) | (qh[l] >> 2 & 3) << 4;
        code[l + 64] = ql[l] >> 4 | (qh[l] >> 4 & 3) << 4;
        code[l + 96] = ql[l + 32] >> 4 | (qh[l] >> 6) << 4;
      }
    }
    for (int g = 0; g < 16; ++g)
      block.scale[g] = static_cast<int8_t>(p[192 + g]);
  } else if (dtype == "q8_k") {
    block.d = f32At(p);
    block.sub = 256;
    codes8(p + 4);
    for (int g = 0; g < 16; ++g)
      block.sums[g] = static_cast<int16_t>(u16(p + 260 + 2 * g));
  }
  return block;
}

void makeBlock(std::string_view dtype, Random &random, double magnitude, uint8_t *p) {
  BlockSize size = blockSize(dtype);
  for (int i = 0; i < size.bytes; ++i)
    p[i] = static_cast<uint8_t>(random.bits());
  // Factors such that values are of about `magnitude`; now and then a block of zeros or a negative factor.
  auto factor = [&](double largest) {
    double value = random.below(16) == 0 ? 0 : random.uniform(0.25, 1) * magnitude / largest;
    return static_cast<float>(random.below(8) == 0 ? -value : value);
  };
  auto fixCodes = [&](uint8_t *qs, int count) { // activations have no code -128
    for (int i = 0; i < count; ++i)
      if (qs[i] == 0x80)
        qs[i] = 0x81;
  };
  auto sum = [&](const uint8_t *qs, int count) {
    int total = 0;
    for (int i = 0; i < count; ++i)
      total += static_cast<int8_t>(qs[i]);
    return total;
  };
  if (dtype == "q8_k") {
    float d = factor(127);
    std::memcpy(p, &d, 4);
    fixCodes(p + 4, 256);
    for (int g = 0; g < 16; ++g)
      put16(static_cast<uint16_t>(sum(p + 4 + 16 * g, 16)), p + 260 + 2 * g);
    return;
  }
  double largest = dtype == "q4_0"   ? 8
                   : dtype == "q4_1" ? 15
                   : dtype == "q5_0" ? 16
                   : dtype == "q5_1" ? 31
                   : dtype == "q4_k" ? 15.0 * 63
                   : dtype == "q5_k" ? 31.0 * 63
                   : dtype == "q6_k" ? 32.0 * 127
                                     : 127;
  uint16_t d = floatToHalf(factor(largest));
  put16(d, dtype == "q6_k" ? p + 208 : p);
  if (dtype == "q4_1" || dtype == "q5_1")
    put16(floatToHalf(factor(2)), p + 2);
  else if (dtype == "q4_k" || dtype == "q5_k")
    put16(floatToHalf(factor(2.0 * 63)), p + 2);
  else if (dtype == "q8_0")
    fixCodes(p + 2, 32);
  if (dtype == "q8_1") {
    fixCodes(p + 4, 32);
    put16(floatToHalf(halfToFloat(d) * static_cast<float>(sum(p + 4, 32))), p + 2);
  }
}

void spoilBlock(std::string_view dtype, double value, uint8_t *p) {
  float wide = static_cast<float>(value);
  if (dtype == "q8_k")
    std::memcpy(p, &wide, 4);
  else
    put16(floatToHalf(wide), dtype == "q6_k" ? p + 208 : p);
}

void scaleBlocks(Tensor &tensor, int power) {
  const std::string packed = packedStorage(tensor.dtype);
  const std::string &dtype = packed.empty() ? tensor.dtype : packed;
  const auto size = static_cast<size_t>(blockSize(dtype).bytes);
  auto scaleHalf = [&](uint8_t *p) { put16(floatToHalf(std::ldexp(f16At(p), power)), p); };
  for (uint8_t *p = tensor.bytes.data(), *end = p + tensor.bytes.size(); p < end; p += size) {
    if (dtype == "q8_k") {
      const float d = std::ldexp(f32At(p), power);
      std::memcpy(p, &d, sizeof d);
      continue;
    }
    scaleHalf(dtype == "q6_k" ? p + 208 : p);
    if (dtype == "q4_1" || dtype == "q5_1" || dtype == "q4_k" || dtype == "q5_k" || dtype == "q8_1")
      scaleHalf(p + 2);
  }
  tensor.data = decodeBlocks(dtype, tensor.bytes, tensor.elements());
}

std::vector<double> decodeBlocks(std::string_view dtype, const std::vector<uint8_t> &bytes, int64_t elements) {
  BlockSize size = blockSize(dtype);
  std::vector<double> values(static_cast<size_t>(elements));
  for (int64_t b = 0; b < elements / size.elements; ++b) {
    Block block = readBlock(dtype, bytes.data() + b * size.bytes);
    for (int i = 0; i < size.elements; ++i)
      values[static_cast<size_t>(b * size.elements + i)] = block.value(i);
  }
  return values;
}

} // namespace ck::reference
