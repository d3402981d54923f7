//===- StorageType.h - element types that containers store ------*- C++ -*-===//
//
// One table of every element type of GGUF and safetensors: its name here, its names there, and how many bytes a block
// of how many elements takes. Size checks of untrusted headers use it, so all arithmetic is checked.
//
//===----------------------------------------------------------------------===//
#ifndef CK_IMPORT_FORMATS_STORAGETYPE_H
#define CK_IMPORT_FORMATS_STORAGETYPE_H

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ck {

/// A storage type. Plain types are blocks of one element; sub-byte and quantised types are larger blocks.
struct StorageType {
  const char *name;        ///< as in CK: "f32", "bf16", "q4_k"
  int ggml;                ///< id in GGUF, or -1
  const char *safetensors; ///< name in safetensors, or null
  uint32_t blockElements;
  uint32_t blockBytes;
};

const StorageType *findStorageType(std::string_view name);
const StorageType *findGgmlType(uint32_t id);
const StorageType *findSafetensorsType(std::string_view name);

/// Product of `shape`; nullopt if it, or a negative extent, does not fit int64. An empty shape is one element.
std::optional<uint64_t> elementCount(const std::vector<int64_t> &shape);

/// True if the rows (innermost dim; one element for an empty shape) are whole blocks.
bool hasWholeBlocks(const StorageType &type, const std::vector<int64_t> &shape);

/// Bytes of a row-major tensor whose rows (innermost dim) are whole blocks; nullopt on overflow or a partial block.
std::optional<uint64_t> tensorBytes(const StorageType &type, const std::vector<int64_t> &shape);

} // namespace ck

#endif // CK_IMPORT_FORMATS_STORAGETYPE_H
