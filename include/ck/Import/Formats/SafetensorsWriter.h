//===- SafetensorsWriter.h - tensors into a safetensors file ----*- C++ -*-===//
//
// Writes straight from the memory in which the tensors live: a checkpoint never needs a second copy of the model.
//
//===----------------------------------------------------------------------===//
#ifndef CK_IMPORT_FORMATS_SAFETENSORSWRITER_H
#define CK_IMPORT_FORMATS_SAFETENSORSWRITER_H

#include "ck/Import/Formats/StorageType.h"
#include "ck/Support/Result.h"

#include <string>

namespace ck {

/// One tensor to write. Its bytes are the joined `pieces`: one for a tensor as it lies in memory, several where rows
/// are to change places.
struct TensorToWrite {
  std::string name;
  const StorageType *dtype = nullptr; ///< must have a safetensors name
  std::vector<int64_t> shape;
  std::vector<std::string_view> pieces;
};

/// A row-major f32 tensor at `data`, which must outlive the write.
TensorToWrite floatTensor(std::string name, std::vector<int64_t> shape, const float *data);

/// Writes the file whole, on the disk, or not at all (DurableFile). Tensors stand in the given order; the data starts
/// at a multiple of 64 bytes. Errors: BAD_PATH; BAD_SHAPE (pieces that are not as long as the shape needs), BAD_DTYPE,
/// DUPLICATE (a name twice), BAD_HEADER (a header above the format's 100 MB).
Status writeSafetensors(const std::string &path, const std::vector<std::pair<std::string, std::string>> &metadata,
                        const std::vector<TensorToWrite> &tensors);

} // namespace ck

#endif // CK_IMPORT_FORMATS_SAFETENSORSWRITER_H
