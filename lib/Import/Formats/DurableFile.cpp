//===- DurableFile.cpp - a large file, whole and on the disk --------------===//
#include "ck/Import/Formats/DurableFile.h"

#include "Text.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ck {

Error DurableFile::systemError() const { return fail("BAD_PATH", path, ": cannot be written: ", std::strerror(errno)); }

Result<DurableFile> DurableFile::create(const std::string &path) {
  DurableFile file;
  file.path = path;
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    return fail("BAD_PATH", path, S_ISDIR(info.st_mode) ? ": is a directory" : ": is no regular file",
                "; expected a file");
  std::string target = path;
  if (char *resolved = ::realpath(path.c_str(), nullptr)) {
    target = resolved;
    std::free(resolved);
  }
  file.temporary = target + ".tmp";
  file.fd = ::open(file.temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file.fd < 0)
    return file.systemError();
  return file;
}

DurableFile::DurableFile(DurableFile &&other) noexcept
    : path(std::move(other.path)), temporary(std::move(other.temporary)), fd(std::exchange(other.fd, -1)) {}

DurableFile::~DurableFile() {
  if (fd < 0)
    return;
  ::close(fd);
  ::unlink(temporary.c_str());
}

Status DurableFile::write(std::string_view bytes) {
  // Pieces keep a signal from waiting for gigabytes.
  constexpr size_t kPiece = 8 << 20;
  while (!bytes.empty()) {
    ssize_t written = ::write(fd, bytes.data(), std::min(bytes.size(), kPiece));
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return systemError();
    bytes.remove_prefix(written);
  }
  return Status::success();
}

Status DurableFile::commit() {
  if (::fsync(fd) != 0)
    return systemError();
  std::string target = temporary.substr(0, temporary.size() - std::strlen(".tmp"));
  if (::rename(temporary.c_str(), target.c_str()) != 0)
    return systemError();
  int closed = ::close(std::exchange(fd, -1));
  if (closed != 0)
    return systemError();
  // The new name must reach the disk too. A file system that cannot do this for folders says EINVAL.
  size_t slash = target.rfind('/');
  std::string folder = slash == std::string::npos ? "." : target.substr(0, slash + 1);
  int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bool synced = directory >= 0 && (::fsync(directory) == 0 || errno == EINVAL);
  Status status = synced ? Status::success() : Status(systemError());
  if (directory >= 0)
    ::close(directory);
  return status;
}

} // namespace ck
