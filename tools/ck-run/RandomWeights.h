//===- RandomWeights.h - weights that no file holds -------------*- C++ -*-===//
//
// A configuration without weights can be measured, not run: benchmarks fill its weights with numbers of an ordinary
// size.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TOOLS_CK_RUN_RANDOMWEIGHTS_H
#define CK_TOOLS_CK_RUN_RANDOMWEIGHTS_H

#include "ck/Import/Formats/ModelConfig.h"
#include "ck/Runtime/Runtime.h"

#include <map>

namespace ck::run {

/// Fills the `buffer.bytes` bytes at `data` in the element type of the buffer: small numbers of both signs that depend
/// on `seed` alone, ones for the gains of norms, so that activations keep their size. Rows of matrices in other types
/// than f32 repeat after 64. Error: a type without a codec.
Status fillRandom(const ck_buffer_info &buffer, void *data, uint64_t seed);

/// `type` for every matrix of `config`, as ImportOptions::storage has it. Errors: a type that weights cannot have; a
/// matrix whose rows no whole number of its blocks fills (names it).
Result<std::map<std::string, std::string>> storageOfAll(const ModelConfig &config, const std::string &type);

} // namespace ck::run

#endif // CK_TOOLS_CK_RUN_RANDOMWEIGHTS_H
