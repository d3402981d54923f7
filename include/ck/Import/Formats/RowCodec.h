//===- RowCodec.h - rows of weights to f32 and back -------------*- C++ -*-===//
//
// What a storage type means, for tools that read and write model files on the host: one row of elements at a time, to
// f32 and from f32. The kernels have code of their own (the runtime knows nothing of files), and so have the reference
// implementations that judge the kernels, on purpose: three implementations of one format that share no line cannot
// share a fault.
//
// Formats of blocks: little-endian, as GGUF stores them; a row is whole blocks, one after the other.
//
//===----------------------------------------------------------------------===//
#ifndef CK_IMPORT_FORMATS_ROWCODEC_H
#define CK_IMPORT_FORMATS_ROWCODEC_H

#include "ck/Import/Formats/StorageType.h"

namespace ck {

/// How rows of one storage type are read and written. `count` is a multiple of the type's block.
struct RowCodec {
  /// Widens exactly as the format says: products and sums of a block's fields in f32.
  void (*decode)(const uint8_t *bytes, float *out, int64_t count);

  /// Writes the row; null for a type that is only read. Equal input gives equal bytes on every host. f16, bf16 and the
  /// types with blocks of 32 round to the nearest level of the scale that the largest element sets. The types with
  /// blocks of 256 search for the scales with the least sum of squared errors.
  ///
  /// Returns the position of an element that the type cannot hold, or nullopt: NaN, an infinity, or a number whose
  /// block would need a scale beyond f16. What has been written is then of no use.
  std::optional<int64_t> (*encode)(const float *in, uint8_t *bytes, int64_t count);
};

/// The codec of f32, f64 (read only), f16, bf16, q4_0, q4_1, q5_0, q5_1, q8_0, q4_k, q5_k or q6_k; null for others.
const RowCodec *findRowCodec(const StorageType &type);

} // namespace ck

#endif // CK_IMPORT_FORMATS_ROWCODEC_H
