//===- TensorStream.h - a file of tensors, written as they come -*- C++ -*-===//
//
// A container whose header says everything before the first byte of data: names, types, shapes, offsets. The bytes of
// the tensors then come in that order, in pieces of any size, so that no writer needs a model in memory.
//
//===----------------------------------------------------------------------===//
#ifndef CK_IMPORT_FORMATS_TENSORSTREAM_H
#define CK_IMPORT_FORMATS_TENSORSTREAM_H

#include "ck/Import/Formats/DurableFile.h"
#include "ck/Import/Formats/StorageType.h"

#include <vector>

namespace ck {

/// What a header says of a tensor.
struct TensorHeader {
  std::string name;
  const StorageType *dtype = nullptr;
  std::vector<int64_t> shape; ///< row-major, outermost first
};

/// Where the bytes of a tensor lie, counted from the start of the data.
struct TensorPlace {
  uint64_t offset = 0, bytes = 0;
};

/// Places tensors one behind the other, each at a multiple of `alignment`. Errors name the file and the tensor:
/// DUPLICATE (a name twice, or none), BAD_SHAPE (rows that are no whole blocks, or a size beyond 64 bits).
Result<std::vector<TensorPlace>> placeTensors(const std::string &path, const std::vector<TensorHeader> &tensors,
                                              uint64_t alignment);

/// A file being written. Move-only; destroyed without commit() it leaves nothing behind. Made by the format's own
/// function: safetensorsStream, ggufStream.
class TensorStream {
public:
  /// Starts the file with the encoded `header`. The data ends at a multiple of `alignment`. Error BAD_PATH.
  static Result<TensorStream> create(const std::string &path, std::string_view header, std::vector<TensorPlace> places,
                                     uint64_t alignment);

  /// Appends the next bytes of the tensors, which may reach over the end of one into the next; what lies between two
  /// is zero. Errors: BAD_PATH; BAD_SHAPE (more bytes than the header announced).
  Status write(std::string_view bytes);
  /// Puts the file into its place, on the disk. Errors: BAD_PATH; BAD_SHAPE (fewer bytes than announced).
  Status commit();

private:
  TensorStream(DurableFile file, std::string path, std::vector<TensorPlace> places, uint64_t alignment)
      : file(std::move(file)), path(std::move(path)), places(std::move(places)), alignment(alignment) {}
  Status padTo(uint64_t offset);
  Status toNextTensor();

  DurableFile file;
  std::string path;
  std::vector<TensorPlace> places;
  uint64_t alignment;
  size_t current = 0;    ///< the tensor that the next byte belongs to
  uint64_t position = 0; ///< of the next byte, from the start of the data
};

} // namespace ck

#endif // CK_IMPORT_FORMATS_TENSORSTREAM_H
