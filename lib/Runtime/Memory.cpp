//===- Memory.cpp - zeroed, aligned memory of the runtime -----------------===//
//
// Blocks below a few huge pages come from the heap, where sanitizers watch their ends; larger ones are mapped.
//
//===----------------------------------------------------------------------===//
#include "Memory.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

namespace ck {

static constexpr size_t hugePage = size_t(2) << 20;
static constexpr size_t mapFrom = 2 * hugePage;

Memory::~Memory() {
  if (mapped)
    munmap(pointer, mapped);
  else
    std::free(pointer);
}

static size_t roundUp(size_t value, size_t to) { return (value + to - 1) / to * to; }

/// Maps `size` bytes, a multiple of a huge page, at a huge page boundary. Null when refused.
static void *mapAligned(size_t size) {
  void *whole = mmap(nullptr, size + hugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (whole == MAP_FAILED)
    return nullptr;
  char *start = static_cast<char *>(whole);
  size_t head = roundUp(reinterpret_cast<uintptr_t>(start), hugePage) - reinterpret_cast<uintptr_t>(start);
  if (head)
    munmap(start, head);
  if (head != hugePage)
    munmap(start + head + size, hugePage - head);
#ifdef MADV_HUGEPAGE
  madvise(start + head, size, MADV_HUGEPAGE);
#endif
  return start + head;
}

bool Memory::allocate(size_t wanted) {
  Memory fresh;
  if (wanted > SIZE_MAX / 2)
    return false;
  if (wanted >= mapFrom) {
    size_t size = roundUp(wanted, hugePage);
    fresh.pointer = mapAligned(size);
    if (!fresh.pointer)
      return false;
    fresh.mapped = size;
  } else if (wanted) {
    size_t size = roundUp(wanted, alignment);
    fresh.pointer = std::aligned_alloc(alignment, size);
    if (!fresh.pointer)
      return false;
    std::memset(fresh.pointer, 0, size);
  }
  fresh.bytes = wanted;
  swap(fresh);
  return true;
}

void Memory::zero() {
  // Dropping the pages of a private anonymous mapping makes them read as zero again, without touching them.
  if (mapped && madvise(pointer, mapped, MADV_DONTNEED) == 0)
    return;
  if (bytes)
    std::memset(pointer, 0, bytes);
}

} // namespace ck
