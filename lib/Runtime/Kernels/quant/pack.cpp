//===- pack.cpp - weights in the order of the packed products -------------===//
//
// See docs/packed-weights.md. A field of a block is taken in units of 1, 2 or 4 bytes, which lie side by side for 16
// rows; the fifth bits of q5_0 and q5_1 become masks.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

using namespace ck;

namespace {

constexpr int64_t kRows = 16;

/// Where a field begins in a block of one row, its bytes, and how many of them stay together (0: bits become masks).
struct Field {
  int64_t begin, bytes, unit;
};

struct Format {
  int64_t elements, bytes;
  Field fields[5];
};

constexpr Format q4_0 = {32, 18, {{0, 2, 2}, {2, 16, 4}}};
constexpr Format q4_1 = {32, 20, {{0, 2, 2}, {2, 2, 2}, {4, 16, 4}}};
constexpr Format q5_0 = {32, 22, {{0, 2, 2}, {2, 4, 0}, {6, 16, 4}}};
constexpr Format q5_1 = {32, 24, {{0, 2, 2}, {2, 2, 2}, {4, 4, 0}, {8, 16, 4}}};
constexpr Format q8_0 = {32, 34, {{0, 2, 2}, {2, 32, 4}}};
constexpr Format q4_k = {256, 144, {{0, 2, 2}, {2, 2, 2}, {4, 12, 1}, {16, 128, 4}}};
constexpr Format q5_k = {256, 176, {{0, 2, 2}, {2, 2, 2}, {4, 12, 1}, {16, 32, 4}, {48, 128, 4}}};
constexpr Format q6_k = {256, 210, {{208, 2, 2}, {192, 16, 1}, {0, 128, 4}, {128, 64, 4}}};

/// The 32 bits of each row as eight masks over 16 rows of four bits; see the page.
void packMasks(const uint8_t *const *rows, int64_t begin, uint8_t *to) {
  uint64_t masks[8] = {};
  for (int64_t row = 0; row < kRows; ++row) {
    uint32_t bits;
    std::memcpy(&bits, rows[row] + begin, sizeof bits);
    for (int64_t mask = 0; mask < 8; ++mask)
      masks[mask] |= static_cast<uint64_t>(bits >> 4 * mask & 15) << 4 * row;
  }
  std::memcpy(to, masks, sizeof masks);
}

template <int64_t kUnit> uint8_t *packField(const uint8_t *const *rows, const Field &field, uint8_t *to) {
  for (int64_t at = field.begin; at < field.begin + field.bytes; at += kUnit)
    for (int64_t row = 0; row < kRows; ++row, to += kUnit)
      std::memcpy(to, rows[row] + at, kUnit);
  return to;
}

void packBlock(const Format &format, const uint8_t *const *rows, uint8_t *to) {
  for (const Field &field : format.fields) {
    if (field.unit == 4)
      to = packField<4>(rows, field, to);
    else if (field.unit == 2)
      to = packField<2>(rows, field, to);
    else if (field.unit == 1)
      to = packField<1>(rows, field, to);
    else if (field.bytes)
      packMasks(rows, field.begin, to), to += kRows * field.bytes;
  }
}

template <class Args> int32_t pack(ck_context *ctx, const Format &format, const Args &args) {
  const auto *const from = static_cast<const uint8_t *>(args.input);
  auto *const to = static_cast<uint8_t *>(args.output);
  const int64_t blocks = args.K / format.elements, rowBytes = blocks * format.bytes;
  parallelFor(ctx, ceilDiv(args.N, kRows), [&](int64_t group, int) {
    static const uint8_t zeros[256] = {};
    for (int64_t block = 0; block < blocks; ++block) {
      const uint8_t *rows[kRows];
      for (int64_t row = 0; row < kRows; ++row) {
        const int64_t n = group * kRows + row;
        rows[row] = n < args.N ? from + n * rowBytes + block * format.bytes : zeros;
      }
      packBlock(format, rows, to + (group * blocks + block) * kRows * format.bytes);
    }
  });
  return CK_OK;
}

} // namespace

CK_PORTABLE_KERNEL(pack_q4_0) { return pack(ctx, q4_0, *args); }
CK_PORTABLE_KERNEL(pack_q4_1) { return pack(ctx, q4_1, *args); }
CK_PORTABLE_KERNEL(pack_q5_0) { return pack(ctx, q5_0, *args); }
CK_PORTABLE_KERNEL(pack_q5_1) { return pack(ctx, q5_1, *args); }
CK_PORTABLE_KERNEL(pack_q8_0) { return pack(ctx, q8_0, *args); }
CK_PORTABLE_KERNEL(pack_q4_k) { return pack(ctx, q4_k, *args); }
CK_PORTABLE_KERNEL(pack_q5_k) { return pack(ctx, q5_k, *args); }
CK_PORTABLE_KERNEL(pack_q6_k) { return pack(ctx, q6_k, *args); }
