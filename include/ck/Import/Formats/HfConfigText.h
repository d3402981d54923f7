//===- HfConfigText.h - a configuration as config.json ----------*- C++ -*-===//
#ifndef CK_IMPORT_FORMATS_HFCONFIGTEXT_H
#define CK_IMPORT_FORMATS_HFCONFIGTEXT_H

#include "ck/Import/Formats/ModelConfig.h"

namespace ck {

/// config.json of a Llama-family model, as modelConfigFromHf reads it. `dtype` is the element type of most weights, a
/// CK name: f32, f16 or bf16. Error UNSUPPORTED: biases that it cannot express.
Result<std::string> hfConfigText(const ModelConfig &config, std::string_view dtype = "f32");

/// "float32" for "f32": how Hugging Face configurations name an element type; null for other types.
const char *torchTypeName(std::string_view dtype);

} // namespace ck

#endif // CK_IMPORT_FORMATS_HFCONFIGTEXT_H
