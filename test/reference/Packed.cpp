//===- Packed.cpp - the order of packed weights ---------------------------===//
//
// Written from docs/packed-weights.md: every byte of a packed block, one after the other.
//
//===----------------------------------------------------------------------===//
#include "Blocks.h"

#include <cstring>

namespace ck::reference {

std::string packedStorage(std::string_view dtype) {
  constexpr std::string_view prefix = "packed<", suffix = ",r16>";
  if (dtype.substr(0, prefix.size()) != prefix || dtype.size() <= prefix.size() + suffix.size() ||
      dtype.substr(dtype.size() - suffix.size()) != suffix)
    return "";
  return std::string(dtype.substr(prefix.size(), dtype.size() - prefix.size() - suffix.size()));
}

namespace {
/// A field of a block: where it is, and how many bytes of one row stay together.
struct Field {
  int begin, bytes, unit;
  bool isMask = false;
};
} // namespace

static std::vector<Field> fieldsOf(std::string_view storage) {
  if (storage == "q4_0")
    return {{0, 2, 2}, {2, 16, 4}};
  if (storage == "q4_1")
    return {{0, 2, 2}, {2, 2, 2}, {4, 16, 4}};
  if (storage == "q5_0")
    return {{0, 2, 2}, {2, 4, 4, true}, {6, 16, 4}};
  if (storage == "q5_1")
    return {{0, 2, 2}, {2, 2, 2}, {4, 4, 4, true}, {8, 16, 4}};
  if (storage == "q8_0")
    return {{0, 2, 2}, {2, 32, 4}};
  if (storage == "q4_k")
    return {{0, 2, 2}, {2, 2, 2}, {4, 12, 1}, {16, 128, 4}};
  if (storage == "q5_k")
    return {{0, 2, 2}, {2, 2, 2}, {4, 12, 1}, {16, 32, 4}, {48, 128, 4}};
  if (storage == "q6_k")
    return {{208, 2, 2}, {192, 16, 1}, {0, 128, 4}, {128, 64, 4}};
  return {};
}

std::vector<uint8_t> packRows(std::string_view storage, int64_t rows, int64_t k, const std::vector<uint8_t> &bytes) {
  const BlockSize size = blockSize(storage);
  const int64_t blocks = k / size.elements, groups = (rows + 15) / 16;
  std::vector<uint8_t> packed;
  for (int64_t group = 0; group < groups; ++group)
    for (int64_t b = 0; b < blocks; ++b) {
      auto byteOf = [&](int row, int at) -> uint8_t {
        int64_t n = group * 16 + row;
        return n < rows ? bytes[static_cast<size_t>((n * blocks + b) * size.bytes + at)] : 0;
      };
      for (const Field &field : fieldsOf(storage)) {
        if (field.isMask) {
          for (int mask = 0; mask < 8; ++mask)
            for (int byte = 0; byte < 8; ++byte) {
              uint8_t out = 0;
              for (int bit = 0; bit < 8; ++bit) {
                int at = 8 * byte + bit, row = at / 4;
                int source = (mask < 4 ? 4 * mask : 16 + 4 * (mask - 4)) + at % 4;
                out |= static_cast<uint8_t>((byteOf(row, field.begin + source / 8) >> source % 8 & 1) << bit);
              }
              packed.push_back(out);
            }
          continue;
        }
        for (int unit = 0; unit < field.bytes / field.unit; ++unit)
          for (int row = 0; row < 16; ++row)
            for (int i = 0; i < field.unit; ++i)
              packed.push_back(byteOf(row, field.begin + unit * field.unit + i));
      }
    }
  return packed;
}

} // namespace ck::reference
