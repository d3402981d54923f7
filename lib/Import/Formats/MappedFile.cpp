//===- MappedFile.cpp - a file's bytes, mapped read-only ------------------===//
#include "ck/Import/Formats/MappedFile.h"

#include "Text.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ck {

Result<MappedFile> MappedFile::open(const std::string &path) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return fail("BAD_PATH", path, ": cannot be opened: ", std::strerror(errno));
  struct Closer {
    int fd;
    ~Closer() { ::close(fd); }
  } closer{fd};

  struct stat info;
  if (::fstat(fd, &info) != 0)
    return fail("BAD_PATH", path, ": cannot be examined: ", std::strerror(errno));
  if (S_ISDIR(info.st_mode))
    return fail("BAD_PATH", path, ": is a directory; expected a file");
  if (!S_ISREG(info.st_mode))
    return fail("BAD_PATH", path, ": is not a regular file");
  if (info.st_size <= 0)
    return fail("TRUNCATED", path, ": the file is empty");

  void *address = ::mmap(nullptr, info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED)
    return fail("BAD_PATH", path, ": cannot be mapped: ", std::strerror(errno));
  MappedFile file;
  file.name = path;
  file.begin = static_cast<const uint8_t *>(address);
  file.length = info.st_size;
  return file;
}

MappedFile MappedFile::fromMemory(std::string bytes, std::string name) {
  MappedFile file;
  file.name = std::move(name);
  file.owned = std::make_unique<std::string>(std::move(bytes));
  file.begin = reinterpret_cast<const uint8_t *>(file.owned->data());
  file.length = file.owned->size();
  return file;
}

MappedFile::MappedFile(MappedFile &&other) noexcept { *this = std::move(other); }

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  if (this == &other)
    return *this;
  release();
  name = std::move(other.name);
  owned = std::move(other.owned);
  begin = std::exchange(other.begin, nullptr);
  length = std::exchange(other.length, 0);
  return *this;
}

MappedFile::~MappedFile() { release(); }

void MappedFile::dropPages(const uint8_t *from, uint64_t bytes) const {
  if (owned)
    return;
  uint64_t page = ::sysconf(_SC_PAGESIZE), first = (from - begin + page - 1) / page * page;
  uint64_t end = (from - begin + bytes) / page * page;
  // Advice only: where it is not taken, nothing is wrong.
  if (first < end)
    (void)::madvise(const_cast<uint8_t *>(begin) + first, end - first, MADV_DONTNEED);
}

void MappedFile::release() {
  if (begin && !owned)
    ::munmap(const_cast<uint8_t *>(begin), length);
}

} // namespace ck
