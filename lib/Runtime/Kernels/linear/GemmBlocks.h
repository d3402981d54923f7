//===- GemmBlocks.h - block-quantised elements of B as f32 ------*- C++ -*-===//
//
// Unpack functors of the block formats, in the order in which files hold them. A position in a matrix is a number of
// elements; vectors of elements lie in one sub-block where they begin at a multiple of their length.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMBLOCKS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMBLOCKS_H
#undef CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMBLOCKS_H
#else
#define CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMBLOCKS_H
#endif

#include "Half.h"
#include "Simd.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

/// A matrix of blocks at an element.
struct BlockPointer {
  const uint8_t *data;
  int64_t element;

  HWY_INLINE BlockPointer operator+(int64_t n) const { return {data, element + n}; }
  HWY_INLINE BlockPointer &operator+=(int64_t n) {
    element += n;
    return *this;
  }
};

HWY_INLINE float factorAt(const uint8_t *p) { return halfToFloat(static_cast<uint16_t>(p[0] | p[1] << 8)); }
HWY_INLINE uint32_t wordAt(const uint8_t *p) {
  uint32_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

// Each format: elements and bytes of a block, and `read<n>`, which turns elements [i, i + n) of a block into f32. They
// are in one half of a block of 32, or in one group of 16 of a block of 256.

template <int kBlockBytes, bool kMin, bool kFifth, int kOffset> struct Nibbles32 {
  static constexpr int64_t kElements = 32, kBytes = kBlockBytes;
  template <int n> static HWY_INLINE void read(const uint8_t *block, int i, float *to) {
    const uint8_t *const high = block + (kMin ? 4 : 2), *const qs = high + (kFifth ? 4 : 0) + i % 16;
    const float d = factorAt(block), m = kMin ? factorAt(block + 2) : 0;
    const uint32_t bits = kFifth ? wordAt(high) >> i : 0;
    const int shift = i < 16 ? 0 : 4;
    for (int j = 0; j < n; ++j) {
      int code = qs[j] >> shift & 15;
      if (kFifth)
        code |= static_cast<int>(bits >> j & 1) << 4;
      to[j] = kMin ? d * static_cast<float>(code) + m : d * static_cast<float>(code - kOffset);
    }
  }
};

struct Bytes32 {
  static constexpr int64_t kElements = 32, kBytes = 34;
  template <int n> static HWY_INLINE void read(const uint8_t *block, int i, float *to) {
    const float d = factorAt(block);
    for (int j = 0; j < n; ++j)
      to[j] = d * static_cast<float>(static_cast<int8_t>(block[2 + i + j]));
  }
};

template <bool kFifth> struct Nibbles256 {
  static constexpr int64_t kElements = 256, kBytes = kFifth ? 176 : 144;
  template <int n> static HWY_INLINE void read(const uint8_t *block, int i, float *to) {
    const int sub = i / 32, l = i % 32;
    const uint8_t *const b = block + 4, *const qh = block + 16 + l;
    const uint8_t *const qs = block + (kFifth ? 48 : 16) + 32 * (sub / 2) + l;
    const int scale = sub < 4 ? b[sub] & 63 : (b[sub + 4] & 15) | (b[sub - 4] >> 6) << 4;
    const int minimum = sub < 4 ? b[sub + 4] & 63 : b[sub + 4] >> 4 | (b[sub] >> 6) << 4;
    const float d = factorAt(block) * static_cast<float>(scale), m = factorAt(block + 2) * static_cast<float>(minimum);
    const int shift = sub % 2 ? 4 : 0;
    for (int j = 0; j < n; ++j) {
      int code = qs[j] >> shift & 15;
      if (kFifth)
        code |= (qh[j] >> sub & 1) << 4;
      to[j] = d * static_cast<float>(code) - m;
    }
  }
};

struct Six256 {
  static constexpr int64_t kElements = 256, kBytes = 210;
  template <int n> static HWY_INLINE void read(const uint8_t *block, int i, float *to) {
    const int half = i / 128, quarter = i % 128 / 32, l = i % 32;
    const uint8_t *const ql = block + 64 * half + 32 * (quarter % 2) + l, *const qh = block + 128 + 32 * half + l;
    const float d = factorAt(block + 208) * static_cast<float>(static_cast<int8_t>(block[192 + i / 16]));
    const int shift = quarter < 2 ? 0 : 4;
    for (int j = 0; j < n; ++j)
      to[j] = d * static_cast<float>(((ql[j] >> shift & 15) | (qh[j] >> 2 * quarter & 3) << 4) - 32);
  }
};

template <class Format> struct BlockStorage {
  using Pointer = BlockPointer;
  static constexpr bool kDirect = false;
  static constexpr int64_t kPerLine = 64 * Format::kElements / Format::kBytes;

  static Pointer at(const void *data) { return {static_cast<const uint8_t *>(data), 0}; }
  static HWY_INLINE const uint8_t *block(Pointer p) { return p.data + p.element / Format::kElements * Format::kBytes; }
  static HWY_INLINE const char *address(Pointer p) { return reinterpret_cast<const char *>(block(p)); }
  static constexpr int64_t bytes(int64_t elements) { return elements / Format::kElements * Format::kBytes; }

  static HWY_INLINE float widenOne(Pointer p) {
    float value;
    Format::template read<1>(block(p), static_cast<int>(p.element % Format::kElements), &value);
    return value;
  }
  static HWY_INLINE F32 widen(Pointer p) {
    if (p.element % kLanes)
      return widenN(p, kLanes);
    HWY_ALIGN float values[kLanes];
    Format::template read<kLanes>(block(p), static_cast<int>(p.element % Format::kElements), values);
    return load(values);
  }
  static HWY_INLINE F32 widenN(Pointer p, int64_t n) {
    HWY_ALIGN float values[kLanes] = {};
    for (int64_t i = 0; i < n; ++i)
      values[i] = widenOne(p + i);
    return load(values);
  }
};

using StorageQ4_0 = BlockStorage<Nibbles32<18, false, false, 8>>;
using StorageQ4_1 = BlockStorage<Nibbles32<20, true, false, 0>>;
using StorageQ5_0 = BlockStorage<Nibbles32<22, false, true, 16>>;
using StorageQ5_1 = BlockStorage<Nibbles32<24, true, true, 0>>;
using StorageQ8_0 = BlockStorage<Bytes32>;
using StorageQ4_K = BlockStorage<Nibbles256<false>>;
using StorageQ5_K = BlockStorage<Nibbles256<true>>;
using StorageQ6_K = BlockStorage<Six256>;

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMBLOCKS_H
