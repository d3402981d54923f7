//===- ConfigChecks.h - limits that both configuration readers share -*- C++ -*-===//
//
// Private: a configuration is checked once, after its format has been understood.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_IMPORT_FORMATS_CONFIGCHECKS_H
#define CK_LIB_IMPORT_FORMATS_CONFIGCHECKS_H

#include "ck/Import/Formats/ModelConfig.h"

namespace ck {

/// Largest accepted values. Within them the bytes of every buffer, and of all buffers together, fit int64.
inline constexpr int64_t kMaxWidth = 1 << 20; ///< hidden, heads * head_dim
inline constexpr int64_t kMaxLayers = 1 << 10;
inline constexpr int64_t kMaxHeads = 1 << 14;
inline constexpr int64_t kMaxFfn = 1 << 24;
inline constexpr int64_t kMaxVocab = 1 << 24;
inline constexpr int64_t kMaxContext = 1 << 27;

/// The relations between fields that no reader sees alone; `keys` are that format's names for messages.
struct ConfigKeys {
  const char *hidden, *heads, *kvHeads, *headDim;
};
/// Also derives headDim = hidden / heads where it is 0.
Status finishConfig(ModelConfig &config, const std::string &source, const ConfigKeys &keys);

/// The decimal number that `value` was most likely written as, in double precision: GGUF stores 1e-5 as an f32.
double decimalOf(float value);

} // namespace ck

#endif // CK_LIB_IMPORT_FORMATS_CONFIGCHECKS_H
