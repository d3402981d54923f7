//===- RopeRows.h - the order of rows that positions turn -------*- C++ -*-===//
//
// Rotary positions turn pairs of a head's elements: i and i + D/2 in Hugging Face models, 2i and 2i + 1 in GGUF. So the
// rows of the projections of queries and keys (weights and biases) stand in another order in each format. Both number
// heads in the same way, whether there are as many key heads as query heads or fewer.
//
//===----------------------------------------------------------------------===//
#ifndef CK_IMPORT_FORMATS_ROPEROWS_H
#define CK_IMPORT_FORMATS_ROPEROWS_H

#include "ck/Import/Formats/ModelConfig.h"

namespace ck {

/// True for the logical weights wq, wk, bq and bk of any layer.
bool turnsWithPositions(std::string_view logical);

/// The row of a tensor of the other pairing that becomes row `row` of one with the pairing `to`.
int64_t rowOfOtherPairing(int64_t row, int64_t headDim, ModelConfig::RopePairing to);

} // namespace ck

#endif // CK_IMPORT_FORMATS_ROPEROWS_H
