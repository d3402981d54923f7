//===- Elements.cpp - element types of operands as the checker sees them --===//

#include "Elements.h"

#include <cmath>
#include <cstring>

namespace ck::check {

static const Element elements[] = {{"f32", 4, true},  {"f64", 8, true}, {"bf16", 2, true}, {"f16", 2, true},
                                   {"i1", 1, false},  {"i8", 1, false}, {"i16", 2, false}, {"i32", 4, false},
                                   {"i64", 8, false}, {"u8", 1, false}, {"u16", 2, false}, {"u32", 4, false},
                                   {"u64", 8, false}};

const Element *findElement(std::string_view dtype) {
  for (const Element &element : elements)
    if (element.name == dtype)
      return &element;
  return nullptr;
}

/// The double nearest to `value` that has `precision` significant bits, exponents of at least `least` and magnitudes
/// below 2^`limit`: IEEE rounding to a smaller format, ties to even.
static double roundTo(double value, int precision, int least, int limit) {
  if (!std::isfinite(value) || value == 0)
    return value;
  int exponent = std::max(std::ilogb(value), least);
  double unit = std::ldexp(1.0, exponent - (precision - 1));
  double result = std::nearbyint(value / unit) * unit;
  return std::fabs(result) >= std::ldexp(1.0, limit) ? std::copysign(INFINITY, value) : result;
}

static uint16_t halfBits(double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double magnitude = std::fabs(roundTo(value, 11, -14, 16));
  if (std::isnan(value))
    return sign | 0x7e00;
  if (std::isinf(magnitude))
    return sign | 0x7c00;
  if (magnitude < 0x1p-14)
    return sign | static_cast<uint16_t>(magnitude * 0x1p24);
  int exponent = std::ilogb(magnitude);
  return sign | static_cast<uint16_t>((exponent + 15) << 10) |
         static_cast<uint16_t>((std::ldexp(magnitude, -exponent) - 1) * 1024);
}

static double halfValue(uint16_t bits) {
  double sign = bits & 0x8000 ? -1 : 1, fraction = bits & 0x3ff;
  int exponent = bits >> 10 & 0x1f;
  if (exponent == 31)
    return fraction != 0 ? NAN : sign * INFINITY;
  return sign * (exponent == 0 ? fraction * 0x1p-24 : std::ldexp(1024 + fraction, exponent - 25));
}

template <typename T> static void put(T value, uint8_t *to) { std::memcpy(to, &value, sizeof(T)); }
template <typename T> static T get(const uint8_t *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

void store(const Element &element, double value, uint8_t *to) {
  if (element.name == "f32") {
    put(static_cast<float>(value), to);
  } else if (element.name == "f64") {
    put(value, to);
  } else if (element.name == "bf16") {
    float wide = static_cast<float>(roundTo(value, 8, -126, 128));
    put(static_cast<uint16_t>(get<uint32_t>(reinterpret_cast<const uint8_t *>(&wide)) >> 16), to);
  } else if (element.name == "f16") {
    put(halfBits(value), to);
  } else {
    int64_t integer = element.name == "i1" ? value != 0 : static_cast<int64_t>(value);
    std::memcpy(to, &integer, element.bytes); // little endian
  }
}

double load(const Element &element, const uint8_t *from) {
  if (element.name == "f32")
    return get<float>(from);
  if (element.name == "f64")
    return get<double>(from);
  if (element.name == "bf16") {
    uint32_t wide = static_cast<uint32_t>(get<uint16_t>(from)) << 16;
    return get<float>(reinterpret_cast<const uint8_t *>(&wide));
  }
  if (element.name == "f16")
    return halfValue(get<uint16_t>(from));
  if (element.name[0] == 'i' && element.bytes > 1) {
    int64_t value = 0;
    std::memcpy(&value, from, element.bytes);
    int unused = 64 - 8 * element.bytes; // extends the sign
    return static_cast<double>(static_cast<int64_t>(static_cast<uint64_t>(value) << unused) >> unused);
  }
  if (element.name == "i8")
    return get<int8_t>(from);
  uint64_t value = 0;
  std::memcpy(&value, from, element.bytes);
  return static_cast<double>(value);
}

double rounded(const Element &element, double value) {
  uint8_t bytes[8];
  store(element, value, bytes);
  return load(element, bytes);
}

Layout Layout::compact(std::vector<int64_t> shape) {
  Layout layout;
  layout.strides.assign(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    layout.strides[i - 1] = layout.strides[i] * shape[i];
  layout.shape = std::move(shape);
  return layout;
}

int64_t Layout::elements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

int64_t Layout::span() const {
  if (elements() == 0)
    return 0;
  int64_t last = 0;
  for (size_t i = 0; i < shape.size(); ++i)
    last += (shape[i] - 1) * strides[i];
  return last + 1;
}

int64_t Layout::position(int64_t i) const {
  int64_t at = 0;
  for (size_t axis = shape.size(); axis-- > 0;) {
    at += i % shape[axis] * strides[axis];
    i /= shape[axis];
  }
  return at;
}

} // namespace ck::check
