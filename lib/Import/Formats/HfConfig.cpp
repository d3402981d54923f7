//===- HfConfig.cpp - config.json of a Hugging Face model -----------------===//
//
// Llama configurations only. Defaults are those of the published LlamaConfig for the keys that older files lack; sizes
// have no defaults. `null` means absent.
//
//===----------------------------------------------------------------------===//
#include "ConfigChecks.h"
#include "Text.h"
#include "ck/Import/Formats/Json.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace ck {

namespace {

/// Keys that say nothing about what inference computes: bookkeeping, training, sampling defaults, labels. The element
/// type is that of the tensors; `pretraining_tp` splits products without changing them.
constexpr std::string_view kIgnorable[] = {
    // bookkeeping
    "_name_or_path", "name_or_path", "transformers_version", "torch_dtype", "dtype", "use_cache", "use_bfloat16",
    "torchscript", "_attn_implementation", "attn_implementation", "_attn_implementation_autoset",
    "_flash_attn_2_enabled", "tokenizer_class", "unsloth_version", "unsloth_fixed", "max_sequence_length",
    "pad_token_id", "sep_token_id", "decoder_start_token_id", "_from_model_config", "_commit_hash",
    // training
    "initializer_range", "attention_dropout", "hidden_dropout", "resid_pdrop", "embd_pdrop", "attn_pdrop",
    "pretraining_tp", "gradient_checkpointing", "tf_legacy_loss",
    // what a call returns
    "output_attentions", "output_hidden_states", "return_dict", "use_return_dict", "output_scores",
    "return_dict_in_generate", "chunk_size_feed_forward", "is_decoder",
    // sampling defaults
    "max_length", "min_length", "do_sample", "early_stopping", "num_beams", "num_beam_groups", "diversity_penalty",
    "temperature", "top_k", "top_p", "typical_p", "repetition_penalty", "length_penalty", "no_repeat_ngram_size",
    "encoder_no_repeat_ngram_size", "bad_words_ids", "num_return_sequences", "forced_bos_token_id",
    "forced_eos_token_id", "remove_invalid_values", "exponential_decay_length_penalty", "suppress_tokens",
    "begin_suppress_tokens",
    // tasks and labels
    "finetuning_task", "id2label", "label2id", "prefix", "task_specific_params", "problem_type"};

/// Keys whose only accepted value is the one under which the mathematics is the plain one.
struct Neutral {
  std::string_view key;
  double value; ///< booleans as 0 and 1
};
constexpr Neutral kNeutral[] = {
    {"partial_rotary_factor", 1}, {"is_encoder_decoder", 0},          {"add_cross_attention", 0},
    {"tie_encoder_decoder", 0},   {"cross_attention_hidden_size", 0}, {"num_experts", 0},
    {"num_local_experts", 0}};

class HfReader {
public:
  HfReader(const json::Value &root, const std::string &source) : root(root), source(source) {}

  Result<ModelConfig> read() {
    if (!root.asObject())
      return fail("BAD_CONFIG", source, ": is ", root.kindName(), "; expected an object");
    CK_CHECK(checkFamily());
    config.source = ModelConfig::Source::HuggingFace;
    config.pairing = ModelConfig::RopePairing::Half;
    config.name = modelName();
    CK_CHECK(integer("hidden_size", config.hidden, kMaxWidth));
    CK_CHECK(integer("num_hidden_layers", config.layers, kMaxLayers));
    CK_CHECK(integer("num_attention_heads", config.heads, kMaxHeads));
    CK_CHECK(integer("num_key_value_heads", config.kvHeads, kMaxHeads, config.heads));
    CK_CHECK(integer("head_dim", config.headDim, kMaxWidth, 0));
    CK_CHECK(integer("intermediate_size", config.ffn, kMaxFfn));
    CK_CHECK(integer("vocab_size", config.vocab, kMaxVocab));
    CK_CHECK(integer("max_position_embeddings", config.maxContext, kMaxContext, 2048));
    CK_CHECK(positive(root, "rms_norm_eps", config.rmsEps, 1e-6));
    CK_CHECK(boolean("tie_word_embeddings", config.tied));
    CK_CHECK(boolean("attention_bias", config.qkvBias));
    config.outBias = config.qkvBias;
    CK_CHECK(boolean("mlp_bias", config.mlpBias));
    CK_CHECK(readActivation());
    CK_CHECK(readRope());
    CK_CHECK(readTokens());
    CK_CHECK(checkAttentionKind());
    CK_CHECK(checkNeutral());
    CK_CHECK(checkUnknown());
    CK_CHECK(finishConfig(config, source, {"hidden_size", "num_attention_heads", "num_key_value_heads", "head_dim"}));
    return std::move(config);
  }

private:
  /// The value of a key, null if it is absent or JSON null; the key then counts as known.
  const json::Value *get(std::string_view key) {
    known.insert(key);
    const json::Value *value = root.find(key);
    return value && !value->isNull() ? value : nullptr;
  }

  Error bad(std::string_view key, const json::Value *value, const std::string &expected) const {
    if (!value)
      return fail("BAD_CONFIG", source, ": has no ", key, "; expected ", expected);
    return fail("BAD_CONFIG", source, ": ", key, " is ", value->brief(), "; expected ", expected);
  }

  Status integer(std::string_view key, int64_t &out, int64_t max, std::optional<int64_t> absent = std::nullopt) {
    const json::Value *value = get(key);
    if (!value && absent) {
      out = *absent;
      return Status::success();
    }
    if (!value || !value->asInteger() || *value->asInteger() < 1 || *value->asInteger() > max)
      return bad(key, value, "an integer from 1 to " + std::to_string(max));
    out = *value->asInteger();
    return Status::success();
  }

  /// A finite number above 0, of the root or of an object in it.
  Status positive(const json::Value &object, std::string_view key, double &out,
                  std::optional<double> absent = std::nullopt) {
    const json::Value *value = &object == &root ? get(key) : object.find(key);
    if (value && value->isNull())
      value = nullptr;
    if (!value && absent) {
      out = *absent;
      return Status::success();
    }
    std::optional<double> number = value ? value->asNumber() : std::nullopt;
    if (!number || !std::isfinite(*number) || *number <= 0)
      return bad(key, value, "a finite number above 0");
    out = *number;
    return Status::success();
  }

  Status boolean(std::string_view key, bool &out) {
    const json::Value *value = get(key);
    if (value && !value->asBool())
      return bad(key, value, "true or false");
    out = value && *value->asBool();
    return Status::success();
  }

  Status checkFamily() {
    const json::Value *type = get("model_type"), *architectures = get("architectures");
    if (!type && !architectures)
      return fail("BAD_CONFIG", source, ": has neither model_type nor architectures; expected model_type 'llama'");
    if (type && (!type->asString() || *type->asString() != "llama"))
      return fail("UNSUPPORTED", source, ": model_type ", type->brief(), " is not supported; expected 'llama'");
    if (!architectures)
      return Status::success();
    if (!architectures->asArray() || architectures->asArray()->size() != 1)
      return bad("architectures", architectures, "an array of one name");
    const json::Value &name = architectures->asArray()->front();
    if (!name.asString() || *name.asString() != "LlamaForCausalLM")
      return fail("UNSUPPORTED", source, ": architecture ", name.brief(),
                  " is not supported; expected 'LlamaForCausalLM'");
    return Status::success();
  }

  /// The directory's name for .../tiny/config.json, the file's for .../tiny.json.
  std::string modelName() const {
    std::string path = source;
    for (std::string_view end : {"/config.json", ".json"})
      if (path.size() > end.size() && path.compare(path.size() - end.size(), end.size(), end) == 0) {
        path.resize(path.size() - end.size());
        break;
      }
    std::string name = path.substr(path.rfind('/') + 1);
    return name.empty() || name == "." || name == ".." || name == "config" ? "model" : name;
  }

  Status readActivation() {
    const json::Value *value = get("hidden_act");
    if (!value) {
      config.activation = "silu";
      return Status::success();
    }
    if (value->asString())
      config.activation = activationFromHf(*value->asString());
    if (config.activation.empty())
      return fail(
          "UNSUPPORTED", source, ": hidden_act ", value->brief(),
          " is not supported; expected silu, swish, gelu, gelu_new, gelu_fast, gelu_pytorch_tanh, quick_gelu, relu "
          "or relu2");
    return Status::success();
  }

  /// `rope_scaling` (with `type` or `rope_type`) beside `rope_theta`, or `rope_parameters`, which holds both.
  Status readRope() {
    const json::Value *scaling = get("rope_scaling"), *parameters = get("rope_parameters");
    const char *key = parameters ? "rope_parameters" : "rope_scaling";
    if (scaling && parameters)
      return fail("CONFLICT", source, ": both rope_scaling and rope_parameters are given; expected one");
    const json::Value *rope = scaling ? scaling : parameters;
    CK_CHECK(positive(root, "rope_theta", config.ropeTheta, 10000));
    if (!rope)
      return Status::success();
    if (!rope->asObject())
      return bad(key, rope, "an object");
    double inner;
    CK_CHECK(positive(*rope, "rope_theta", inner, config.ropeTheta));
    if (get("rope_theta") && inner != config.ropeTheta)
      return fail("CONFLICT", source, ": rope_theta is ", config.ropeTheta, ", but ", inner, " in ", key);
    config.ropeTheta = inner;

    auto text = [&](const char *name) {
      const json::Value *value = rope->find(name);
      return value && value->asString() ? *value->asString() : std::string();
    };
    std::string type = text("type"), ropeType = text("rope_type");
    if (!type.empty() && !ropeType.empty() && type != ropeType)
      return fail("CONFLICT", source, ": ", key, " has type ", quote(type), " and rope_type ", quote(ropeType));
    if (type.empty())
      type = ropeType;
    std::set<std::string_view> expected = {"type", "rope_type", "rope_theta", "partial_rotary_factor"};
    RopeScaling &out = config.ropeScaling;
    if (type == "linear") {
      out.kind = RopeScaling::Linear;
      expected.insert("factor");
      CK_CHECK(positive(*rope, "factor", out.factor));
    } else if (type == "llama3") {
      out.kind = RopeScaling::Llama3;
      expected.insert({"factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"});
      CK_CHECK(readLlama3(*rope, out));
    } else if (type != "default") {
      return fail("UNSUPPORTED", source, ": ", key, " of type ", quote(type),
                  " is not supported; expected default, linear or llama3");
    }
    const json::Value *partial = rope->find("partial_rotary_factor");
    if (partial && !partial->isNull() && partial->asNumber() != 1.0)
      return fail("UNSUPPORTED", source, ": partial_rotary_factor ", partial->brief(), " in ", key,
                  " is not supported; expected 1");
    for (const json::Value::Member &member : *rope->asObject())
      if (!member.second.isNull() && !expected.count(member.first))
        return fail("UNSUPPORTED", source, ": ", key, " of type ", quote(type), " has the key ", quote(member.first),
                    ", which is not known and may change the result");
    return Status::success();
  }

  Status readLlama3(const json::Value &rope, RopeScaling &out) {
    CK_CHECK(positive(rope, "factor", out.factor));
    CK_CHECK(positive(rope, "low_freq_factor", out.lowFreqFactor));
    CK_CHECK(positive(rope, "high_freq_factor", out.highFreqFactor));
    if (out.highFreqFactor <= out.lowFreqFactor)
      return fail("BAD_CONFIG", source, ": high_freq_factor = ", out.highFreqFactor,
                  " is not above low_freq_factor = ", out.lowFreqFactor);
    const json::Value *original = rope.find("original_max_position_embeddings");
    if (!original || !original->asInteger() || *original->asInteger() < 1 || *original->asInteger() > kMaxContext)
      return bad("original_max_position_embeddings", original, "an integer from 1 to " + std::to_string(kMaxContext));
    out.originalContext = *original->asInteger();
    return Status::success();
  }

  Status readTokens() {
    const json::Value *bos = get("bos_token_id"), *eos = get("eos_token_id");
    if (bos) {
      if (!bos->asInteger())
        return bad("bos_token_id", bos, "an integer");
      config.bos = bos->asInteger();
    }
    if (!eos)
      return Status::success();
    json::Value::Array one{*eos};
    for (const json::Value &id : eos->asArray() ? *eos->asArray() : one) {
      if (!id.asInteger())
        return bad("eos_token_id", &id, "an integer or an array of integers");
      config.eos.push_back(*id.asInteger());
    }
    return Status::success();
  }

  /// Every layer must attend to the whole past.
  Status checkAttentionKind() {
    const json::Value *window = get("sliding_window"), *use = get("use_sliding_window");
    bool off = use && use->asBool() && !*use->asBool();
    if (window && !off)
      return fail("UNSUPPORTED", source, ": sliding_window ", window->brief(), " is not supported; expected null");
    if (!window && use && !off)
      return fail("UNSUPPORTED", source, ": use_sliding_window ", use->brief(), " is not supported; expected false");
    if (const json::Value *types = get("layer_types")) {
      if (!types->asArray())
        return bad("layer_types", types, "an array");
      for (const json::Value &type : *types->asArray())
        if (!type.asString() || *type.asString() != "full_attention")
          return fail("UNSUPPORTED", source, ": layer_types has ", type.brief(), "; expected only 'full_attention'");
    }
    return Status::success();
  }

  Status checkNeutral() {
    for (const Neutral &neutral : kNeutral) {
      const json::Value *value = get(neutral.key);
      if (!value)
        continue;
      std::optional<double> number = value->asBool() ? (*value->asBool() ? 1.0 : 0.0) : value->asNumber();
      if (number != neutral.value)
        return fail("UNSUPPORTED", source, ": ", neutral.key, " ", value->brief(), " is not supported; expected ",
                    neutral.value);
    }
    const json::Value *pruned = get("pruned_heads");
    if (pruned && (!pruned->asObject() || !pruned->asObject()->empty()))
      return fail("UNSUPPORTED", source, ": pruned_heads is not empty");
    return Status::success();
  }

  Status checkUnknown() {
    for (const json::Value::Member &member : *root.asObject())
      if (!member.second.isNull() && !known.count(member.first) &&
          std::find(std::begin(kIgnorable), std::end(kIgnorable), member.first) == std::end(kIgnorable))
        return fail("UNSUPPORTED", source, ": the key ", quote(member.first), " (", member.second.brief(),
                    ") is not known and may change the result");
    return Status::success();
  }

  const json::Value &root;
  const std::string &source;
  std::set<std::string_view> known;
  ModelConfig config;
};

} // namespace

Result<ModelConfig> modelConfigFromHf(std::string_view json, const std::string &source) {
  Result<json::Value> root = json::parse(json, source);
  if (!root)
    return root.error();
  return HfReader(*root, source).read();
}

} // namespace ck
