//===- ModelConfig.h - the shape of a Llama-family decoder ------*- C++ -*-===//
//
// What an importer must know of a model besides its weights. It is read from config.json (Hugging Face) or from GGUF
// metadata, fails closed, and guesses nothing: every key is used, on a written list of keys that cannot change the
// mathematics, or refused by name.
//
//===----------------------------------------------------------------------===//
#ifndef CK_IMPORT_FORMATS_MODELCONFIG_H
#define CK_IMPORT_FORMATS_MODELCONFIG_H

#include "ck/Import/Formats/Container.h"

namespace ck {

/// How positions are rescaled before they turn the rotary angles.
struct RopeScaling {
  enum Kind { None, Linear, Llama3 } kind = None;
  double factor = 1;           ///< Linear, Llama3
  double lowFreqFactor = 1;    ///< Llama3
  double highFreqFactor = 1;   ///< Llama3
  int64_t originalContext = 0; ///< Llama3, in tokens
};

/// A dense decoder: embedding; per layer RMSNorm, attention with rotary positions, RMSNorm, gated MLP; RMSNorm; head.
struct ModelConfig {
  enum class Source { HuggingFace, Gguf } source = Source::HuggingFace;
  /// Which elements of a head rotary positions turn together: i with i + D/2 (HF), or 2i with 2i + 1 (GGUF llama).
  enum class RopePairing { Half, Adjacent } pairing = RopePairing::Half;

  std::string name; ///< for people: the directory's, or general.name
  int64_t hidden = 0, layers = 0, heads = 0, kvHeads = 0, headDim = 0, ffn = 0, vocab = 0;
  int64_t maxContext = 0; ///< positions that the model was made for
  double rmsEps = 0;
  double ropeTheta = 0;
  RopeScaling ropeScaling;
  std::string activation; ///< of the gate, from CK's list: silu, gelu_tanh, gelu_erf, gelu_quick, relu, relu2
  bool tied = false;      ///< the head is the embedding
  bool qkvBias = false, outBias = false, mlpBias = false;
  std::optional<int64_t> bos;
  std::vector<int64_t> eos; ///< any of these ends generation; may be empty
};

/// "half", "adjacent"; "none", "linear", "llama3": as the attributes of the dialect spell them.
const char *pairingName(ModelConfig::RopePairing pairing);
const char *ropeScalingName(RopeScaling::Kind kind);

/// CK's name of a Hugging Face `hidden_act` ("gelu_new" is "gelu_tanh"); empty if it is unknown.
std::string activationFromHf(std::string_view name);

/// Reads a model's configuration from a directory with config.json, a config.json, or a GGUF file. Beside a
/// config.json, generation_config.json (if any) decides the end tokens. Errors: BAD_CONFIG (a value: key, value,
/// expectation), UNSUPPORTED (a family or key that CK does not know: its name), CONFLICT (two keys disagree), and
/// those of the file itself.
Result<ModelConfig> loadModelConfig(const std::string &path);

/// The same from the text of a config.json; `source` names it in messages.
Result<ModelConfig> modelConfigFromHf(std::string_view json, const std::string &source);

/// The same from an open GGUF. The head is tied exactly if there is no output.weight; biases are what tensors there
/// are. Per-frequency RoPE factors (rope_freqs.weight) are refused.
Result<ModelConfig> modelConfigFromGguf(const Container &gguf);

} // namespace ck

#endif // CK_IMPORT_FORMATS_MODELCONFIG_H
