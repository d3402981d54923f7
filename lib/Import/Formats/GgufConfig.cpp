//===- GgufConfig.cpp - model configuration in GGUF metadata --------------===//
//
// The `llama` architecture: adjacent RoPE pairs, as the format defines it. Numbers are f32 there; they are read back as
// the decimals that they were written from, so that both formats of one model give one configuration.
//
//===----------------------------------------------------------------------===//
#include "ConfigChecks.h"
#include "Text.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace ck {

namespace {

class GgufConfigReader {
public:
  explicit GgufConfigReader(const Container &gguf) : gguf(gguf), source(gguf.path()) {}

  Result<ModelConfig> read() {
    if (gguf.format() != Container::Format::Gguf)
      return fail("UNSUPPORTED", source, ": a safetensors file holds no configuration; give the model's directory");
    CK_CHECK(checkFamily());
    if (gguf.tensors().empty())
      return fail("BAD_CONFIG", source, ": has no tensors (only a vocabulary?); expected a model");
    config.source = ModelConfig::Source::Gguf;
    config.pairing = ModelConfig::RopePairing::Adjacent;
    const MetaValue *name = gguf.findMeta("general.name");
    config.name = name && name->asString() ? *name->asString() : "model";
    CK_CHECK(integer("llama.embedding_length", config.hidden, kMaxWidth));
    CK_CHECK(integer("llama.block_count", config.layers, kMaxLayers));
    CK_CHECK(integer("llama.attention.head_count", config.heads, kMaxHeads));
    CK_CHECK(integer("llama.attention.head_count_kv", config.kvHeads, kMaxHeads, config.heads));
    CK_CHECK(integer("llama.feed_forward_length", config.ffn, kMaxFfn));
    CK_CHECK(integer("llama.context_length", config.maxContext, kMaxContext));
    CK_CHECK(positive("llama.attention.layer_norm_rms_epsilon", config.rmsEps));
    config.activation = "silu";
    CK_CHECK(readHeadDim());
    CK_CHECK(readVocab());
    CK_CHECK(readRope());
    CK_CHECK(readTensors());
    CK_CHECK(readTokens());
    CK_CHECK(checkUnknown());
    CK_CHECK(finishConfig(config, source,
                          {"llama.embedding_length", "llama.attention.head_count", "llama.attention.head_count_kv",
                           "llama.attention.key_length"}));
    if (rotaryDim != 0 && rotaryDim != config.headDim)
      return fail("UNSUPPORTED", source, ": llama.rope.dimension_count is ", rotaryDim, "; expected the head size ",
                  config.headDim);
    return std::move(config);
  }

private:
  const MetaValue *get(std::string_view key) {
    known.insert(key);
    return gguf.findMeta(key);
  }

  Error bad(std::string_view key, const MetaValue *value, const std::string &expected) const {
    if (!value)
      return fail("BAD_CONFIG", source, ": has no ", key, "; expected ", expected);
    return fail("BAD_CONFIG", source, ": ", key, " is ", value->brief(), "; expected ", expected);
  }

  Status integer(std::string_view key, int64_t &out, int64_t max, std::optional<int64_t> absent = std::nullopt) {
    const MetaValue *value = get(key);
    if (!value && absent) {
      out = *absent;
      return Status::success();
    }
    if (value && value->asArray())
      return fail("UNSUPPORTED", source, ": ", key, " differs by layer (", value->brief(), "); expected one integer");
    if (!value || !value->asInteger() || *value->asInteger() < 1 || *value->asInteger() > max)
      return bad(key, value, "an integer from 1 to " + std::to_string(max));
    out = *value->asInteger();
    return Status::success();
  }

  Status positive(std::string_view key, double &out, std::optional<double> absent = std::nullopt) {
    const MetaValue *value = get(key);
    if (!value && absent) {
      out = *absent;
      return Status::success();
    }
    std::optional<double> number = value ? value->asNumber() : std::nullopt;
    if (!number || !std::isfinite(*number) || *number <= 0)
      return bad(key, value, "a finite number above 0");
    out = value->type == MetaType::F32 ? decimalOf(static_cast<float>(*number)) : *number;
    return Status::success();
  }

  Status checkFamily() {
    const MetaValue *architecture = get("general.architecture");
    if (!architecture || !architecture->asString())
      return bad("general.architecture", architecture, "'llama'");
    if (*architecture->asString() != "llama")
      return fail("UNSUPPORTED", source, ": general.architecture ", architecture->brief(),
                  " is not supported; expected 'llama'");
    return Status::success();
  }

  Status readHeadDim() {
    int64_t value;
    CK_CHECK(integer("llama.attention.key_length", config.headDim, kMaxWidth, 0));
    CK_CHECK(integer("llama.attention.value_length", value, kMaxWidth, config.headDim));
    int64_t key = config.headDim ? config.headDim : config.hidden / config.heads;
    if (value != 0 && value != key)
      return fail("UNSUPPORTED", source, ": llama.attention.value_length is ", value, "; expected ", key,
                  ", the size of keys");
    CK_CHECK(integer("llama.rope.dimension_count", rotaryDim, kMaxWidth, 0));
    return Status::success();
  }

  /// The embedding's rows decide; what the metadata says of them must fit.
  Status readVocab() {
    const TensorInfo *embedding = gguf.find("token_embd.weight");
    if (!embedding)
      return fail("BAD_CONFIG", source, ": has no tensor 'token_embd.weight'");
    if (embedding->shape.size() != 2 || embedding->shape[0] > kMaxVocab)
      return fail("BAD_SHAPE", source, ": tensor 'token_embd.weight' has the shape ", shapeText(embedding->shape),
                  "; expected [vocabulary, ", config.hidden, "]");
    int64_t stated;
    CK_CHECK(integer("llama.vocab_size", stated, kMaxVocab, embedding->shape[0]));
    const MetaValue *tokens = gguf.findMeta("tokenizer.ggml.tokens");
    int64_t named = tokens && tokens->asArray() ? static_cast<int64_t>(tokens->asArray()->count) : 0;
    if (stated != embedding->shape[0] || named > stated)
      return fail("CONFLICT", source, ": 'token_embd.weight' has ", embedding->shape[0],
                  " rows, but llama.vocab_size is ", stated, " and the tokenizer has ", named, " tokens");
    config.vocab = stated;
    return Status::success();
  }

  Status readRope() {
    CK_CHECK(positive("llama.rope.freq_base", config.ropeTheta, 10000));
    if (gguf.find("rope_freqs.weight"))
      return fail("UNSUPPORTED", source,
                  ": tensor 'rope_freqs.weight' (a RoPE factor for each frequency) is not supported; the same model's "
                  "config.json says how these factors are made");
    double factor = 1, old = 1, attention = 1;
    CK_CHECK(positive("llama.rope.scale_linear", old, 1));
    CK_CHECK(positive("llama.rope.scaling.factor", factor, old));
    CK_CHECK(positive("llama.rope.scaling.attn_factor", attention, 1));
    get("llama.rope.scaling.finetuned");
    get("llama.rope.scaling.original_context_length"); // only other kinds of scaling use it
    const MetaValue *type = get("llama.rope.scaling.type");
    std::string kind = type && type->asString() ? *type->asString() : type ? "?" : factor != 1 ? "linear" : "none";
    if ((kind != "none" && kind != "linear") || attention != 1)
      return fail("UNSUPPORTED", source, ": RoPE scaling of type ", quote(kind), ", factor ", factor,
                  ", attention factor ", attention, " is not supported; expected type none or linear");
    if (kind == "linear" && factor != 1)
      config.ropeScaling = {RopeScaling::Linear, factor};
    return Status::success();
  }

  /// The head is tied, and biases are there, exactly as the tensors say. A bias in one layer asks for it in all.
  Status readTensors() {
    config.tied = !gguf.find("output.weight");
    for (const TensorInfo &tensor : gguf.tensors()) {
      size_t dot = tensor.name.compare(0, 4, "blk.") == 0 ? tensor.name.find('.', 4) : std::string::npos;
      std::string part = dot == std::string::npos ? "" : tensor.name.substr(dot + 1);
      config.qkvBias |= part == "attn_q.bias" || part == "attn_k.bias" || part == "attn_v.bias";
      config.outBias |= part == "attn_output.bias";
      config.mlpBias |= part == "ffn_gate.bias" || part == "ffn_up.bias" || part == "ffn_down.bias";
    }
    return Status::success();
  }

  Status readTokens() {
    auto id = [&](const char *key, std::optional<int64_t> &out) -> Status {
      const MetaValue *value = gguf.findMeta(key);
      if (value && !value->asInteger())
        return bad(key, value, "an integer");
      if (value)
        out = value->asInteger();
      return Status::success();
    };
    CK_CHECK(id("tokenizer.ggml.bos_token_id", config.bos));
    for (const char *key :
         {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
      std::optional<int64_t> end;
      CK_CHECK(id(key, end));
      if (end && std::find(config.eos.begin(), config.eos.end(), *end) == config.eos.end())
        config.eos.push_back(*end);
    }
    return Status::success();
  }

  /// Every key of the architecture must be understood. Keys of other prefixes describe the file, its making, or the
  /// tokenizer, which checks its own.
  Status checkUnknown() {
    for (const char *key : {"llama.expert_count", "llama.expert_used_count", "llama.attention.sliding_window"}) {
      const MetaValue *value = get(key);
      if (value && value->asInteger() != 0)
        return fail("UNSUPPORTED", source, ": ", key, " ", value->brief(), " is not supported; expected 0");
    }
    if (const MetaValue *causal = get("llama.attention.causal"); causal && causal->asBool() != true)
      return fail("UNSUPPORTED", source, ": llama.attention.causal ", causal->brief(),
                  " is not supported; expected true");
    for (const MetaEntry &entry : gguf.metadata())
      if (entry.key.compare(0, 6, "llama.") == 0 && !known.count(entry.key))
        return fail("UNSUPPORTED", source, ": the key ", quote(entry.key), " (", entry.value.brief(),
                    ") is not known and may change the result");
    return Status::success();
  }

  const Container &gguf;
  const std::string &source;
  std::set<std::string_view> known;
  int64_t rotaryDim = 0;
  ModelConfig config;
};

} // namespace

Result<ModelConfig> modelConfigFromGguf(const Container &gguf) { return GgufConfigReader(gguf).read(); }

} // namespace ck
