//===- ContainerContents.h - what an open container holds -------*- C++ -*-===//
//
// Private: filled by one reader per format, then never changed.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_IMPORT_FORMATS_CONTAINERCONTENTS_H
#define CK_LIB_IMPORT_FORMATS_CONTAINERCONTENTS_H

#include "ck/Import/Formats/Container.h"

#include <unordered_map>

namespace ck {

struct ContainerContents {
  explicit ContainerContents(MappedFile file) : file(std::move(file)) {}

  MappedFile file;
  Container::Format format = Container::Format::Gguf;
  uint32_t version = 0;
  uint64_t dataBegin = 0; ///< where the tensors' bytes may start
  std::vector<TensorInfo> tensors;
  std::vector<MetaEntry> metadata;
  /// Positions by name; the keys point into the vectors above, so filled once these no longer grow.
  std::unordered_map<std::string_view, size_t> tensorIndex, metadataIndex;
};

/// Parse and check `contents.file`; fill everything but the indices.
Status readGguf(ContainerContents &contents);
Status readSafetensors(ContainerContents &contents);

} // namespace ck

#endif // CK_LIB_IMPORT_FORMATS_CONTAINERCONTENTS_H
