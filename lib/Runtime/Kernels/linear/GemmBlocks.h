//===- GemmBlocks.h - block-quantised elements of B as f32 ------*- C++ -*-===//
//
// Unpack functors of the block formats, in the order in which files hold them. A position in a matrix is a number of
// elements.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMBLOCKS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMBLOCKS_H
#undef CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMBLOCKS_H
#else
#define CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMBLOCKS_H
#endif

#include "quant/Decode.h"

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

template <class Format> struct BlockStorage {
  using Pointer = BlockPointer;
  static constexpr bool kDirect = false;
  static constexpr int64_t kPerLine = 64 * Format::kElements / Format::kBytes;

  static Pointer at(const void *data) { return {static_cast<const uint8_t *>(data), 0}; }
  static HWY_INLINE const uint8_t *block(Pointer p) { return p.data + p.element / Format::kElements * Format::kBytes; }
  static HWY_INLINE const char *address(Pointer p) { return reinterpret_cast<const char *>(block(p)); }
  static constexpr int64_t bytes(int64_t elements) { return elements / Format::kElements * Format::kBytes; }

  static HWY_INLINE float widenOne(Pointer p) {
    const int64_t i = p.element % Format::kElements, lane = i % kLanes;
    HWY_ALIGN float values[kLanes];
    store(Format::vector(block(p), i - lane), values);
    return values[lane];
  }
  static HWY_INLINE F32 widen(Pointer p) {
    return p.element % kLanes ? widenN(p, kLanes) : Format::vector(block(p), p.element % Format::kElements);
  }
  static HWY_INLINE F32 widenN(Pointer p, int64_t n) {
    HWY_ALIGN float values[kLanes] = {};
    for (int64_t i = 0; i < n; ++i)
      values[i] = widenOne(p + i);
    return load(values);
  }
};

using StorageQ4_0 = BlockStorage<DecodeQ4_0>;
using StorageQ4_1 = BlockStorage<DecodeQ4_1>;
using StorageQ5_0 = BlockStorage<DecodeQ5_0>;
using StorageQ5_1 = BlockStorage<DecodeQ5_1>;
using StorageQ8_0 = BlockStorage<DecodeQ8_0>;
using StorageQ4_K = BlockStorage<DecodeQ4_K>;
using StorageQ5_K = BlockStorage<DecodeQ5_K>;
using StorageQ6_K = BlockStorage<DecodeQ6_K>;

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMBLOCKS_H
