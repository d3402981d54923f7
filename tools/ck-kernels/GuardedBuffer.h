//===- GuardedBuffer.h - memory that notices what is done around it -*- C++ -*-===//
#ifndef CK_TOOLS_KERNELS_GUARDEDBUFFER_H
#define CK_TOOLS_KERNELS_GUARDEDBUFFER_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace ck::check {

/// Fills with quiet NaNs of a payload that no computation makes: as 32-bit integers they are far out of any range.
void fillPattern(uint8_t *data, size_t bytes);
/// Offset of the first byte that no longer holds the pattern that fillPattern(data, bytes) wrote, or `bytes`.
size_t findChange(const uint8_t *data, size_t bytes);

/// `bytes` of memory between two guards. Plain guards are pattern bytes, checked after a call: a kernel that reads them
/// computes with NaN, one that writes them is found out. With `fence`, the payload ends where memory ends: the page
/// behind it, and the one before the front guard, cannot be touched.
class GuardedBuffer {
public:
  /// The payload starts `offset` bytes behind an address aligned to 64, unless `fence` puts its end at a page's.
  GuardedBuffer(size_t bytes, size_t offset, bool fence);
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer &) = delete;
  GuardedBuffer &operator=(const GuardedBuffer &) = delete;

  /// nullptr when the system gave no memory.
  uint8_t *data() { return payload; }
  size_t size() const { return bytes; }
  /// Restores both guards.
  void arm();
  /// "" if both guards are whole, else which byte before or behind the payload was written.
  std::string damage() const;

private:
  uint8_t *mapping = nullptr, *begin = nullptr, *payload = nullptr, *end = nullptr;
  size_t mapped = 0, bytes = 0;
};

} // namespace ck::check

#endif // CK_TOOLS_KERNELS_GUARDEDBUFFER_H
