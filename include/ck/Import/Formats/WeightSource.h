//===- WeightSource.h - pointers to weights by file and name ----*- C++ -*-===//
//
// A compiled module names each weight as ("model.safetensors", "model.norm.weight"). This class opens the files, checks
// that what is there is what the module was compiled for, and keeps the mappings alive.
//
//===----------------------------------------------------------------------===//
#ifndef CK_IMPORT_FORMATS_WEIGHTSOURCE_H
#define CK_IMPORT_FORMATS_WEIGHTSOURCE_H

#include "ck/Import/Formats/Container.h"

#include <map>
#include <set>

namespace ck {

/// Resolves weights; pointers stay valid as long as the WeightSource lives. Move-only, not thread-safe.
class WeightSource {
public:
  /// Files are relative to `directory` (usually the module's own); absolute paths stay as they are.
  explicit WeightSource(std::string directory) : directory(std::move(directory)) {}
  /// Files are looked for in `directory` by their last component alone: the override of `--weights DIR`.
  static WeightSource inDirectory(std::string directory);

  /// The bytes of `tensor` in `file`, which must have element type `dtype` ("f32") and `shape`, aligned for the type: a
  /// mapped address, or a copy where the file aligned it badly. Errors: those of Container::open; BAD_CONFIG (no such
  /// tensor: names it and the file), BAD_DTYPE, BAD_SHAPE.
  Result<const void *> resolve(const std::string &file, const std::string &tensor, std::string_view dtype,
                               const std::vector<int64_t> &shape);

  /// "file: tensor" for each tensor of the opened files that was never resolved.
  std::vector<std::string> unusedTensors() const;

private:
  struct Opened {
    Container container;
    std::set<std::string> used;
    std::map<std::string, std::unique_ptr<uint64_t[]>> copies;
  };

  std::string pathOf(const std::string &file) const;

  std::string directory;
  bool byFileName = false;
  std::map<std::string, Opened> opened;
};

} // namespace ck

#endif // CK_IMPORT_FORMATS_WEIGHTSOURCE_H
