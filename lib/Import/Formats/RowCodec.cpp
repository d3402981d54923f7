//===- RowCodec.cpp - rows of weights to f32 and back ---------------------===//
//
// Types of single elements, and the table of all codecs.
//
//===----------------------------------------------------------------------===//
#include "BlockFields.h"

#include <cmath>
#include <string_view>

namespace ck {

namespace {

template <typename T> void decodeAs(const uint8_t *bytes, float *out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, bytes + i * sizeof value, sizeof value);
    out[i] = static_cast<float>(value);
  }
}

std::optional<int64_t> encodeF32(const float *in, uint8_t *bytes, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (!std::isfinite(in[i]))
      return i;
  std::memcpy(bytes, in, count * sizeof *in);
  return std::nullopt;
}

template <float (*widen)(uint16_t)> void decode16(const uint8_t *bytes, float *out, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = widen(blocks::load16(bytes + 2 * i));
}

template <uint16_t (*narrow)(float), uint16_t infinity>
std::optional<int64_t> encode16(const float *in, uint8_t *bytes, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    uint16_t half = narrow(in[i]);
    if ((half & infinity) == infinity)
      return i;
    blocks::store16(bytes + 2 * i, half);
  }
  return std::nullopt;
}

constexpr RowCodec kF32 = {decodeAs<float>, encodeF32};
constexpr RowCodec kF64 = {decodeAs<double>, nullptr};
constexpr RowCodec kF16 = {decode16<halfToFloat>, encode16<floatToHalf, 0x7c00>};
constexpr RowCodec kBf16 = {decode16<bf16ToFloat>, encode16<floatToBF16, 0x7f80>};

} // namespace

const RowCodec *findRowCodec(const StorageType &type) {
  static const std::pair<std::string_view, const RowCodec *> codecs[] = {
      {"f32", &kF32},          {"f64", &kF64},          {"f16", &kF16},          {"bf16", &kBf16},
      {"q4_0", &blocks::q4_0}, {"q4_1", &blocks::q4_1}, {"q5_0", &blocks::q5_0}, {"q5_1", &blocks::q5_1},
      {"q8_0", &blocks::q8_0}, {"q4_k", &blocks::q4_k}, {"q5_k", &blocks::q5_k}, {"q6_k", &blocks::q6_k}};
  for (auto [name, codec] : codecs)
    if (name == type.name)
      return codec;
  return nullptr;
}

} // namespace ck
