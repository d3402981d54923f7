//===- WeightTable.h - the weights of a model by name -----------*- C++ -*-===//
//
// One table says which weights a configuration has: the name that the compiler uses, the tensor's name in the file, and
// its shape. Importers make one buffer a row; nothing else knows how a format spells a tensor.
//
//===----------------------------------------------------------------------===//
#ifndef CK_IMPORT_FORMATS_WEIGHTTABLE_H
#define CK_IMPORT_FORMATS_WEIGHTTABLE_H

#include "ck/Import/Formats/ModelConfig.h"

#include <map>

namespace ck {

/// One weight.
struct WeightSpec {
  std::string logical;        ///< "tok_emb", "layers.3.wq", "lm_head"
  std::string tensor;         ///< its name in the container that `ModelConfig::source` implies
  std::vector<int64_t> shape; ///< row-major; matrices are [outputs, inputs]
};

/// Every weight, in program order: tok_emb; layers.N.{attn_norm, wq, wk, wv, wo, ffn_norm, w_gate, w_up, w_down} and,
/// where the configuration has biases, layers.N.{bq, bk, bv, bo, b_gate, b_up, b_down}; final_norm; lm_head unless
/// tied. HF matrices and GGUF matrices have equal shapes; only the rows of wq and wk are ordered by the RoPE pairing.
std::vector<WeightSpec> weightTable(const ModelConfig &config);

/// The tensor name of a single logical weight ("layers.3.wq"); empty if the format has none of that name.
std::string tensorName(ModelConfig::Source source, std::string_view logical);

/// Checks that `weights` holds every tensor of the table in its shape. Errors name the tensor: BAD_CONFIG (missing),
/// BAD_SHAPE. With `unused`, the container's other tensors are listed there, for a warning.
Status checkWeights(const ModelConfig &config, const Container &weights, std::vector<std::string> *unused = nullptr);

/// How `weights` stores each weight, by logical name: "f32", "f16", "bf16" or, for matrices, q4_0, q4_1, q4_k, q5_0,
/// q5_1, q5_k, q6_k or q8_0; types may differ from tensor to tensor. Errors: those of checkWeights; BAD_DTYPE (another
/// type: names the tensor and the type).
Result<std::map<std::string, std::string>> weightStorage(const ModelConfig &config, const Container &weights,
                                                         std::vector<std::string> *unused = nullptr);

/// The file with the weights of a model: the GGUF itself, or model.safetensors in or beside the given directory or
/// config.json; nullopt if there is none. Error UNSUPPORTED: only a sharded model (model.safetensors.index.json).
Result<std::optional<std::string>> findWeightsFile(const std::string &modelPath);

} // namespace ck

#endif // CK_IMPORT_FORMATS_WEIGHTTABLE_H
