//===- AtomicFile.cpp - whole files or none -------------------------------===//
#include "ck/Import/Formats/AtomicFile.h"

#include "Text.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ck {

namespace {

Error systemError(const std::string &path, const char *what) {
  return fail("BAD_PATH", path, ": cannot be ", what, ": ", std::strerror(errno));
}

bool writeAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return false;
    bytes.remove_prefix(written);
  }
  return true;
}

/// Writes and closes; false leaves errno.
bool writeAndClose(int fd, const std::vector<std::string_view> &parts) {
  for (std::string_view part : parts)
    if (!writeAll(fd, part)) {
      int reason = errno;
      ::close(fd);
      errno = reason;
      return false;
    }
  return ::close(fd) == 0;
}

} // namespace

Status writeFileAtomically(const std::string &path, const std::vector<std::string_view> &parts) {
  std::string target = path;
  struct stat info;
  if (::stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode))
      return fail("BAD_PATH", path, ": is a directory; expected a file");
    if (!S_ISREG(info.st_mode)) {
      int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
      if (fd < 0 || !writeAndClose(fd, parts))
        return systemError(path, "written");
      return Status::success();
    }
    if (char *resolved = ::realpath(path.c_str(), nullptr)) {
      target = resolved;
      std::free(resolved);
    }
  }

  static std::atomic<unsigned> counter{0};
  std::string temporary = target + ".tmp" + std::to_string(::getpid()) + "." + std::to_string(counter++);
  int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0)
    return systemError(path, "written");
  if (!writeAndClose(fd, parts) || ::rename(temporary.c_str(), target.c_str()) != 0) {
    Error error = systemError(path, "written");
    ::unlink(temporary.c_str());
    return error;
  }
  return Status::success();
}

} // namespace ck
