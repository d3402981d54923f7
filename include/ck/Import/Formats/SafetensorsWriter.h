//===- SafetensorsWriter.h - tensors into a safetensors file ----*- C++ -*-===//
//
// Writes straight from the memory in which the tensors live (a checkpoint never needs a second copy of the model), or
// as a stream.
//
//===----------------------------------------------------------------------===//
#ifndef CK_IMPORT_FORMATS_SAFETENSORSWRITER_H
#define CK_IMPORT_FORMATS_SAFETENSORSWRITER_H

#include "ck/Import/Formats/TensorStream.h"

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

/// Starts a safetensors file with these tensors, whose bytes the stream then takes. The data starts at a multiple of 64
/// bytes. Errors: BAD_PATH; BAD_SHAPE, BAD_DTYPE (a type that the format has not), DUPLICATE, BAD_HEADER (a header
/// above the format's 100 MB).
Result<TensorStream> safetensorsStream(const std::string &path,
                                       const std::vector<std::pair<std::string, std::string>> &metadata,
                                       const std::vector<TensorHeader> &tensors);

/// Writes the file whole, on the disk, or not at all (DurableFile). Tensors stand in the given order. Errors: those of
/// safetensorsStream; BAD_SHAPE also for pieces that are not as long as the shape needs.
Status writeSafetensors(const std::string &path, const std::vector<std::pair<std::string, std::string>> &metadata,
                        const std::vector<TensorToWrite> &tensors);

} // namespace ck

#endif // CK_IMPORT_FORMATS_SAFETENSORSWRITER_H
