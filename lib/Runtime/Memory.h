//===- Memory.h - zeroed, aligned memory of the runtime ---------*- C++ -*-===//
//
// Arenas and scratch: 64-byte aligned and zero at first. Big ones come straight from the operating system on a huge
// page boundary, so that a long KV cache costs nothing until it is touched and few TLB entries afterwards.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_RUNTIME_MEMORY_H
#define CK_LIB_RUNTIME_MEMORY_H

#include <cstddef>
#include <utility>

namespace ck {

/// A block of zeroed memory that owns itself. An empty block has a null pointer.
class Memory {
public:
  static constexpr size_t alignment = 64;

  Memory() = default;
  Memory(Memory &&other) noexcept { swap(other); }
  Memory &operator=(Memory &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Memory();

  /// Replaces the block by one of `bytes` zeroes. False, with the old block kept, when there is not enough memory.
  bool allocate(size_t bytes);
  /// Makes every byte zero.
  void zero();

  char *data() const { return static_cast<char *>(pointer); }
  size_t size() const { return bytes; }

private:
  void swap(Memory &other) {
    std::swap(pointer, other.pointer);
    std::swap(bytes, other.bytes);
    std::swap(mapped, other.mapped);
  }

  void *pointer = nullptr;
  size_t bytes = 0;
  size_t mapped = 0; ///< bytes of the mapping; 0 if the block is from the heap
};

} // namespace ck

#endif // CK_LIB_RUNTIME_MEMORY_H
