//===- Metadata.cpp - values of container metadata ------------------------===//
//
// Arrays stay encoded in the mapped file. The reader has walked them once, so decoding here needs no bounds.
//
//===----------------------------------------------------------------------===//
#include "Metadata.h"

#include "Text.h"

#include <cstring>
#include <limits>

namespace ck {

const char *metaTypeName(MetaType type) {
  static const char *const names[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                      "bool", "string", "array", "u64", "i64", "f64"};
  return names[static_cast<uint32_t>(type)];
}

unsigned metaTypeBytes(MetaType type) {
  switch (type) {
  case MetaType::U8:
  case MetaType::I8:
  case MetaType::Bool:
    return 1;
  case MetaType::U16:
  case MetaType::I16:
    return 2;
  case MetaType::U32:
  case MetaType::I32:
  case MetaType::F32:
    return 4;
  case MetaType::U64:
  case MetaType::I64:
  case MetaType::F64:
    return 8;
  case MetaType::String:
  case MetaType::Array:
    return 0;
  }
  return 0;
}

namespace {

template <typename T> T load(const uint8_t *at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

bool isFloat(MetaType type) { return type == MetaType::F32 || type == MetaType::F64; }

bool isInteger(MetaType type) { return metaTypeBytes(type) != 0 && !isFloat(type) && type != MetaType::Bool; }

/// Moves `at` behind one encoded array, from its element type on.
MetaArray takeArray(const uint8_t *&at) {
  MetaArray array;
  array.elementType = static_cast<MetaType>(load<uint32_t>(at));
  array.count = load<uint64_t>(at + 4);
  array.data = at + 12;
  at = endOfMetaArray(array);
  return array;
}

} // namespace

const uint8_t *endOfMetaArray(const MetaArray &array) {
  const uint8_t *at = array.data;
  if (unsigned size = metaTypeBytes(array.elementType))
    return at + size * array.count;
  for (uint64_t i = 0; i < array.count; ++i) {
    if (array.elementType == MetaType::String)
      at += 8 + load<uint64_t>(at);
    else
      takeArray(at);
  }
  return at;
}

uint64_t loadMetaBits(MetaType type, const uint8_t *at) {
  switch (type) {
  case MetaType::U8:
  case MetaType::Bool:
    return load<uint8_t>(at);
  case MetaType::I8:
    return static_cast<int64_t>(load<int8_t>(at));
  case MetaType::U16:
    return load<uint16_t>(at);
  case MetaType::I16:
    return static_cast<int64_t>(load<int16_t>(at));
  case MetaType::U32:
    return load<uint32_t>(at);
  case MetaType::I32:
    return static_cast<int64_t>(load<int32_t>(at));
  case MetaType::U64:
  case MetaType::I64:
    return load<uint64_t>(at);
  default:
    return 0;
  }
}

double loadMetaNumber(MetaType type, const uint8_t *at) {
  return type == MetaType::F32 ? load<float>(at) : load<double>(at);
}

std::optional<std::vector<int64_t>> MetaArray::integers() const {
  if (!isInteger(elementType))
    return std::nullopt;
  std::vector<int64_t> out;
  out.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    out.push_back(static_cast<int64_t>(loadMetaBits(elementType, data + i * metaTypeBytes(elementType))));
    if (elementType == MetaType::U64 && out.back() < 0)
      return std::nullopt;
  }
  return out;
}

std::optional<std::vector<double>> MetaArray::numbers() const {
  if (!isFloat(elementType))
    return std::nullopt;
  std::vector<double> out;
  out.reserve(count);
  for (uint64_t i = 0; i < count; ++i)
    out.push_back(loadMetaNumber(elementType, data + i * metaTypeBytes(elementType)));
  return out;
}

std::optional<std::vector<std::string_view>> MetaArray::strings() const {
  if (elementType != MetaType::String)
    return std::nullopt;
  std::vector<std::string_view> out;
  out.reserve(count);
  const uint8_t *at = data;
  for (uint64_t i = 0; i < count; ++i) {
    size_t length = load<uint64_t>(at);
    out.emplace_back(reinterpret_cast<const char *>(at + 8), length);
    at += 8 + length;
  }
  return out;
}

std::optional<std::vector<MetaArray>> MetaArray::arrays() const {
  if (elementType != MetaType::Array)
    return std::nullopt;
  std::vector<MetaArray> out;
  out.reserve(count);
  const uint8_t *at = data;
  for (uint64_t i = 0; i < count; ++i)
    out.push_back(takeArray(at));
  return out;
}

std::optional<int64_t> MetaValue::asInteger() const {
  if (!isInteger(type) || (type == MetaType::U64 && bits > uint64_t{std::numeric_limits<int64_t>::max()}))
    return std::nullopt;
  return static_cast<int64_t>(bits);
}

std::optional<double> MetaValue::asNumber() const {
  return isFloat(type) ? std::optional<double>(number) : std::nullopt;
}

std::optional<bool> MetaValue::asBool() const {
  return type == MetaType::Bool ? std::optional<bool>(bits != 0) : std::nullopt;
}

std::string MetaValue::brief(size_t limit) const {
  std::ostringstream out;
  if (type == MetaType::String)
    out << quote(std::string_view(text).substr(0, limit)) << (text.size() > limit ? "..." : "");
  else if (type == MetaType::Array)
    out << "[" << array.count << " x " << metaTypeName(array.elementType) << "]";
  else if (type == MetaType::Bool)
    out << (bits ? "true" : "false");
  else if (isFloat(type))
    out << number;
  else if (type == MetaType::U64)
    out << bits;
  else
    out << static_cast<int64_t>(bits);
  return out.str();
}

} // namespace ck
