//===- DurableFile.h - a large file, whole and on the disk ------*- C++ -*-===//
//
// Checkpoints are written in pieces as large as a model. The file grows under another name and takes its own only when
// every byte of it has reached the disk, so that a kill, a full disk or a power cut at any moment leaves the file that
// was there before.
//
//===----------------------------------------------------------------------===//
#ifndef CK_IMPORT_FORMATS_DURABLEFILE_H
#define CK_IMPORT_FORMATS_DURABLEFILE_H

#include "ck/Support/Result.h"

#include <string>
#include <string_view>

namespace ck {

/// One file being written. Move-only; destroyed without commit() it removes what it wrote.
class DurableFile {
public:
  /// Starts `path`.tmp, over the rest of a writer that was killed. A link `path` is followed. One writer at a time: two
  /// would write into one temporary file. Error BAD_PATH: the system's reason.
  static Result<DurableFile> create(const std::string &path);

  DurableFile(DurableFile &&other) noexcept;
  DurableFile &operator=(DurableFile &&) = delete;
  ~DurableFile();

  /// Appends bytes. Error BAD_PATH (no space left, file too large): names the file and the system's reason.
  Status write(std::string_view bytes);
  /// Forces the bytes to the disk and puts the file into its place. Errors as write(); the old file then still stands.
  Status commit();

private:
  DurableFile() = default;
  Error systemError() const;

  std::string path, temporary;
  int fd = -1;
};

} // namespace ck

#endif // CK_IMPORT_FORMATS_DURABLEFILE_H
