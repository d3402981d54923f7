//===- WeightTable.cpp - the weights of a model by name -------------------===//
#include "ck/Import/Formats/WeightTable.h"

#include "Text.h"

#include <algorithm>
#include <sys/stat.h>
#include <unordered_set>

namespace ck {

namespace {

struct Names {
  const char *logical, *hf, *gguf;
};

constexpr Names kModelNames[] = {
    {"tok_emb", "model.embed_tokens.weight", "token_embd.weight"},
    {"final_norm", "model.norm.weight", "output_norm.weight"},
    {"lm_head", "lm_head.weight", "output.weight"},
};

constexpr Names kLayerNames[] = {
    {"attn_norm", "input_layernorm.weight", "attn_norm.weight"},
    {"wq", "self_attn.q_proj.weight", "attn_q.weight"},
    {"wk", "self_attn.k_proj.weight", "attn_k.weight"},
    {"wv", "self_attn.v_proj.weight", "attn_v.weight"},
    {"wo", "self_attn.o_proj.weight", "attn_output.weight"},
    {"bq", "self_attn.q_proj.bias", "attn_q.bias"},
    {"bk", "self_attn.k_proj.bias", "attn_k.bias"},
    {"bv", "self_attn.v_proj.bias", "attn_v.bias"},
    {"bo", "self_attn.o_proj.bias", "attn_output.bias"},
    {"ffn_norm", "post_attention_layernorm.weight", "ffn_norm.weight"},
    {"w_gate", "mlp.gate_proj.weight", "ffn_gate.weight"},
    {"w_up", "mlp.up_proj.weight", "ffn_up.weight"},
    {"w_down", "mlp.down_proj.weight", "ffn_down.weight"},
    {"b_gate", "mlp.gate_proj.bias", "ffn_gate.bias"},
    {"b_up", "mlp.up_proj.bias", "ffn_up.bias"},
    {"b_down", "mlp.down_proj.bias", "ffn_down.bias"},
};

/// What matrices may be quantised to.
constexpr std::string_view kBlockTypes[] = {"q4_0", "q4_1", "q4_k", "q5_0", "q5_1", "q5_k", "q6_k", "q8_0"};

bool isFile(const std::string &path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

} // namespace

std::string tensorName(ModelConfig::Source source, std::string_view logical) {
  bool hf = source == ModelConfig::Source::HuggingFace;
  for (const Names &names : kModelNames)
    if (logical == names.logical)
      return hf ? names.hf : names.gguf;
  if (logical.substr(0, 7) != "layers.")
    return "";
  size_t dot = logical.find('.', 7);
  if (dot == 7 || dot == std::string_view::npos ||
      logical.substr(7, dot - 7).find_first_not_of("0123456789") != std::string_view::npos)
    return "";
  for (const Names &names : kLayerNames)
    if (logical.substr(dot + 1) == names.logical)
      return (hf ? "model.layers." : "blk.") + std::string(logical.substr(7, dot - 7)) + "." +
             (hf ? names.hf : names.gguf);
  return "";
}

std::vector<WeightSpec> weightTable(const ModelConfig &config) {
  std::vector<WeightSpec> table;
  auto add = [&](const std::string &logical, std::vector<int64_t> shape) {
    table.push_back({logical, tensorName(config.source, logical), std::move(shape)});
  };
  int64_t width = config.hidden, qWidth = config.heads * config.headDim, kvWidth = config.kvHeads * config.headDim;
  add("tok_emb", {config.vocab, width});
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    std::string prefix = "layers." + std::to_string(layer) + ".";
    add(prefix + "attn_norm", {width});
    add(prefix + "wq", {qWidth, width});
    add(prefix + "wk", {kvWidth, width});
    add(prefix + "wv", {kvWidth, width});
    if (config.qkvBias) {
      add(prefix + "bq", {qWidth});
      add(prefix + "bk", {kvWidth});
      add(prefix + "bv", {kvWidth});
    }
    add(prefix + "wo", {width, qWidth});
    if (config.outBias)
      add(prefix + "bo", {width});
    add(prefix + "ffn_norm", {width});
    add(prefix + "w_gate", {config.ffn, width});
    add(prefix + "w_up", {config.ffn, width});
    add(prefix + "w_down", {width, config.ffn});
    if (config.mlpBias) {
      add(prefix + "b_gate", {config.ffn});
      add(prefix + "b_up", {config.ffn});
      add(prefix + "b_down", {width});
    }
  }
  add("final_norm", {width});
  if (!config.tied)
    add("lm_head", {config.vocab, width});
  return table;
}

Status checkWeights(const ModelConfig &config, const Container &weights, std::vector<std::string> *unused) {
  std::unordered_set<std::string> used;
  for (const WeightSpec &spec : weightTable(config)) {
    const TensorInfo *tensor = weights.find(spec.tensor);
    if (!tensor)
      return fail("BAD_CONFIG", weights.path(), ": has no tensor ", quote(spec.tensor), " (", spec.logical,
                  "); the model needs it");
    if (tensor->shape != spec.shape)
      return fail("BAD_SHAPE", weights.path(), ": tensor ", quote(spec.tensor), " has the shape ",
                  shapeText(tensor->shape), "; the configuration implies ", shapeText(spec.shape));
    used.insert(spec.tensor);
  }
  if (unused)
    for (const TensorInfo &tensor : weights.tensors())
      if (!used.count(tensor.name))
        unused->push_back(tensor.name);
  return Status::success();
}

Result<std::map<std::string, std::string>> weightStorage(const ModelConfig &config, const Container &weights,
                                                         std::vector<std::string> *unused) {
  if (Status status = checkWeights(config, weights, unused); !status)
    return status.error();
  std::map<std::string, std::string> storage;
  for (const WeightSpec &spec : weightTable(config)) {
    std::string type = weights.find(spec.tensor)->dtype->name;
    bool isFloat = type == "f32" || type == "f16" || type == "bf16";
    bool isMatrix = spec.shape.size() > 1;
    if (!isFloat &&
        !(isMatrix && std::find(std::begin(kBlockTypes), std::end(kBlockTypes), type) != std::end(kBlockTypes)))
      return fail("BAD_DTYPE", weights.path(), ": tensor ", quote(spec.tensor), " is ", type,
                  "; expected f32, f16 or bf16",
                  isMatrix ? ", or one of q4_0, q4_1, q4_k, q5_0, q5_1, q5_k, q6_k, q8_0" : "");
    storage[spec.logical] = type;
  }
  return storage;
}

Result<std::optional<std::string>> findWeightsFile(const std::string &modelPath) {
  std::string directory = modelPath;
  if (isFile(modelPath)) {
    if (modelPath.size() < 5 || modelPath.substr(modelPath.size() - 5) != ".json")
      return std::optional<std::string>(modelPath);
    size_t slash = modelPath.rfind('/');
    directory = slash == std::string::npos ? "." : modelPath.substr(0, slash + 1);
  }
  if (directory.empty() || directory.back() != '/')
    directory += '/';
  if (isFile(directory + "model.safetensors"))
    return std::optional<std::string>(directory + "model.safetensors");
  if (isFile(directory + "model.safetensors.index.json"))
    return fail("UNSUPPORTED", directory,
                "model.safetensors.index.json: a model in several files; expected one model.safetensors");
  return std::optional<std::string>();
}

} // namespace ck
