//===- StorageType.cpp - element types that containers store --------------===//
#include "ck/Import/Formats/StorageType.h"

namespace ck {

namespace {

constexpr StorageType kTypes[] = {
    {"f32", 0, "F32", 1, 4},           {"f16", 1, "F16", 1, 2},          {"bf16", 30, "BF16", 1, 2},
    {"f64", 28, "F64", 1, 8},          {"i8", 24, "I8", 1, 1},           {"i16", 25, "I16", 1, 2},
    {"i32", 26, "I32", 1, 4},          {"i64", 27, "I64", 1, 8},         {"u8", -1, "U8", 1, 1},
    {"u16", -1, "U16", 1, 2},          {"u32", -1, "U32", 1, 4},         {"u64", -1, "U64", 1, 8},
    {"bool", -1, "BOOL", 1, 1},        {"c64", -1, "C64", 1, 8},         {"f8_e4m3", -1, "F8_E4M3", 1, 1},
    {"f8_e5m2", -1, "F8_E5M2", 1, 1},  {"f8_e8m0", -1, "F8_E8M0", 1, 1}, {"f6_e2m3", -1, "F6_E2M3", 4, 3},
    {"f6_e3m2", -1, "F6_E3M2", 4, 3},  {"f4", -1, "F4", 2, 1},           {"q1_0", 41, nullptr, 128, 18},
    {"q2_0", 42, nullptr, 64, 18},     {"q4_0", 2, nullptr, 32, 18},     {"q4_1", 3, nullptr, 32, 20},
    {"q5_0", 6, nullptr, 32, 22},      {"q5_1", 7, nullptr, 32, 24},     {"q8_0", 8, nullptr, 32, 34},
    {"q8_1", 9, nullptr, 32, 36},      {"q2_k", 10, nullptr, 256, 84},   {"q3_k", 11, nullptr, 256, 110},
    {"q4_k", 12, nullptr, 256, 144},   {"q5_k", 13, nullptr, 256, 176},  {"q6_k", 14, nullptr, 256, 210},
    {"q8_k", 15, nullptr, 256, 292},   {"iq1_s", 19, nullptr, 256, 50},  {"iq1_m", 29, nullptr, 256, 56},
    {"iq2_xxs", 16, nullptr, 256, 66}, {"iq2_xs", 17, nullptr, 256, 74}, {"iq2_s", 22, nullptr, 256, 82},
    {"iq3_xxs", 18, nullptr, 256, 98}, {"iq3_s", 21, nullptr, 256, 110}, {"iq4_nl", 20, nullptr, 32, 18},
    {"iq4_xs", 23, nullptr, 256, 136}, {"tq1_0", 34, nullptr, 256, 54},  {"tq2_0", 35, nullptr, 256, 66},
    {"mxfp4", 39, nullptr, 32, 17},    {"nvfp4", 40, nullptr, 64, 36},
};

template <typename Predicate> const StorageType *findIf(Predicate predicate) {
  for (const StorageType &type : kTypes)
    if (predicate(type))
      return &type;
  return nullptr;
}

} // namespace

const StorageType *findStorageType(std::string_view name) {
  return findIf([&](const StorageType &type) { return name == type.name; });
}

const StorageType *findGgmlType(uint32_t id) {
  return findIf([&](const StorageType &type) { return type.ggml >= 0 && id == static_cast<uint32_t>(type.ggml); });
}

const StorageType *findSafetensorsType(std::string_view name) {
  return findIf([&](const StorageType &type) { return type.safetensors && name == type.safetensors; });
}

std::optional<uint64_t> elementCount(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count))
      return std::nullopt;
  return count;
}

bool hasWholeBlocks(const StorageType &type, const std::vector<int64_t> &shape) {
  return (shape.empty() ? 1 : shape.back()) % type.blockElements == 0;
}

std::optional<uint64_t> tensorBytes(const StorageType &type, const std::vector<int64_t> &shape) {
  std::optional<uint64_t> count = elementCount(shape);
  uint64_t bytes;
  if (!count || !hasWholeBlocks(type, shape) ||
      __builtin_mul_overflow(*count / type.blockElements, uint64_t{type.blockBytes}, &bytes))
    return std::nullopt;
  return bytes;
}

} // namespace ck
