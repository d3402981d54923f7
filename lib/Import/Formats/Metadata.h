//===- Metadata.h - encoded metadata values ---------------------*- C++ -*-===//
//
// Private: how scalar metadata is encoded, shared by the GGUF reader and the decoders of arrays.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_IMPORT_FORMATS_METADATA_H
#define CK_LIB_IMPORT_FORMATS_METADATA_H

#include "ck/Import/Formats/Container.h"

namespace ck {

/// Encoded bytes of one scalar; 0 for strings and arrays.
unsigned metaTypeBytes(MetaType type);

/// An integer or boolean at `at`, sign-extended to 64 bits.
uint64_t loadMetaBits(MetaType type, const uint8_t *at);

/// An f32 or f64 at `at`.
double loadMetaNumber(MetaType type, const uint8_t *at);

/// Behind the last encoded element.
const uint8_t *endOfMetaArray(const MetaArray &array);

} // namespace ck

#endif // CK_LIB_IMPORT_FORMATS_METADATA_H
