//===- MappedFile.h - a file's bytes, mapped read-only ----------*- C++ -*-===//
//
// Model files are mapped, never read: a weight costs memory only when a kernel touches its page, and every reader of
// this library works on one range of bytes that it must not leave.
//
//===----------------------------------------------------------------------===//
#ifndef CK_IMPORT_FORMATS_MAPPEDFILE_H
#define CK_IMPORT_FORMATS_MAPPEDFILE_H

#include "ck/Support/Result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace ck {

/// Owns a read-only mapping; the bytes live, at one address, until the last owner is destroyed. Move-only.
class MappedFile {
public:
  /// Maps a regular file. Errors: BAD_PATH (missing, unreadable, a directory, not a regular file), TRUNCATED (empty).
  static Result<MappedFile> open(const std::string &path);
  /// Owns `bytes` in memory instead; `name` stands for the path in messages.
  static MappedFile fromMemory(std::string bytes, std::string name);

  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  const std::string &path() const { return name; }
  const uint8_t *data() const { return begin; }
  uint64_t size() const { return length; }
  /// Lets the system take back the pages that lie within [from, from + bytes) entirely; they can be read again.
  void dropPages(const uint8_t *from, uint64_t bytes) const;
  std::string_view text() const { return {reinterpret_cast<const char *>(begin), static_cast<size_t>(length)}; }

private:
  MappedFile() = default;
  void release();

  std::string name;
  const uint8_t *begin = nullptr;
  uint64_t length = 0;
  std::unique_ptr<std::string> owned; ///< set for fromMemory; otherwise [begin, begin + length) is a mapping
};

} // namespace ck

#endif // CK_IMPORT_FORMATS_MAPPEDFILE_H
