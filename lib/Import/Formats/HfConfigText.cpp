//===- HfConfigText.cpp - a configuration as config.json ------------------===//
#include "ck/Import/Formats/HfConfigText.h"

#include "Text.h"

#include <nlohmann/json.hpp>

namespace ck {

const char *torchTypeName(std::string_view dtype) {
  return dtype == "f32" ? "float32" : dtype == "f16" ? "float16" : dtype == "bf16" ? "bfloat16" : nullptr;
}

Result<std::string> hfConfigText(const ModelConfig &config, std::string_view dtype) {
  using Json = nlohmann::ordered_json;
  if (config.qkvBias != config.outBias)
    return fail("UNSUPPORTED", config.name,
                ": has biases in some projections of attention only, which config.json cannot express");
  const std::pair<const char *, const char *> activations[] = {{"silu", "silu"},     {"gelu_tanh", "gelu_pytorch_tanh"},
                                                               {"gelu_erf", "gelu"}, {"gelu_quick", "quick_gelu"},
                                                               {"relu", "relu"},     {"relu2", "relu2"}};
  std::string activation;
  for (auto [ours, theirs] : activations)
    if (config.activation == ours)
      activation = theirs;
  Json json = {{"architectures", {"LlamaForCausalLM"}},
               {"model_type", "llama"},
               {"hidden_size", config.hidden},
               {"intermediate_size", config.ffn},
               {"num_hidden_layers", config.layers},
               {"num_attention_heads", config.heads},
               {"num_key_value_heads", config.kvHeads},
               {"head_dim", config.headDim},
               {"vocab_size", config.vocab},
               {"max_position_embeddings", config.maxContext},
               {"rms_norm_eps", config.rmsEps},
               {"rope_theta", config.ropeTheta},
               {"hidden_act", activation},
               {"attention_bias", config.qkvBias},
               {"mlp_bias", config.mlpBias},
               {"tie_word_embeddings", config.tied},
               {"torch_dtype", torchTypeName(dtype)}};
  const RopeScaling &scaling = config.ropeScaling;
  if (scaling.kind == RopeScaling::Linear)
    json["rope_scaling"] = {{"rope_type", "linear"}, {"factor", scaling.factor}};
  if (scaling.kind == RopeScaling::Llama3)
    json["rope_scaling"] = {{"rope_type", "llama3"},
                            {"factor", scaling.factor},
                            {"low_freq_factor", scaling.lowFreqFactor},
                            {"high_freq_factor", scaling.highFreqFactor},
                            {"original_max_position_embeddings", scaling.originalContext}};
  if (config.bos)
    json["bos_token_id"] = *config.bos;
  if (config.eos.size() == 1)
    json["eos_token_id"] = config.eos.front();
  else if (!config.eos.empty())
    json["eos_token_id"] = config.eos;
  return json.dump(2) + "\n";
}

} // namespace ck
