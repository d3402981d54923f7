//===- GuardedBuffer.cpp - memory that notices what is done around it -----===//

#include "GuardedBuffer.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace ck::check {

static const uint8_t pattern[4] = {0xad, 0xde, 0xc5, 0x7f};
static constexpr size_t guardBytes = 512;

void fillPattern(uint8_t *data, size_t bytes) {
  if (bytes == 0)
    return; // data may be null then
  size_t done = std::min<size_t>(bytes, sizeof(pattern));
  std::memcpy(data, pattern, done);
  for (; done < bytes; done *= 2)
    std::memcpy(data + done, data, std::min(done, bytes - done));
}

size_t findChange(const uint8_t *data, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    if (data[i] != pattern[i & 3])
      return i;
  return bytes;
}

static size_t roundUp(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

GuardedBuffer::GuardedBuffer(size_t bytes, size_t offset, bool fence) : bytes(bytes) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  size_t inner = roundUp(guardBytes + offset + bytes + (fence ? 0 : guardBytes), page);
  mapped = inner + 2 * page;
  void *memory = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return;
  mapping = static_cast<uint8_t *>(memory);
  begin = mapping + page;
  if (mprotect(begin, inner, PROT_READ | PROT_WRITE) != 0)
    return;
  payload = fence ? begin + inner - bytes : begin + guardBytes + offset;
  end = begin + inner;
  // Guards close to the payload are enough; the rest of a large page would only cost time.
  begin = payload - guardBytes;
  end = fence ? payload + bytes : payload + bytes + guardBytes;
  arm();
}

GuardedBuffer::~GuardedBuffer() {
  if (mapping)
    munmap(mapping, mapped);
}

void GuardedBuffer::arm() {
  fillPattern(begin, static_cast<size_t>(payload - begin));
  fillPattern(payload + bytes, static_cast<size_t>(end - (payload + bytes)));
}

std::string GuardedBuffer::damage() const {
  size_t front = static_cast<size_t>(payload - begin), back = static_cast<size_t>(end - (payload + bytes));
  if (size_t at = findChange(begin, front); at != front)
    return "byte " + std::to_string(front - at) + " before it was written";
  if (size_t at = findChange(payload + bytes, back); at != back)
    return "byte " + std::to_string(at) + " behind it was written";
  return "";
}

} // namespace ck::check
