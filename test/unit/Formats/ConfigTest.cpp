//===- ConfigTest.cpp - model configurations ------------------------------===//
#include "FormatsSupport.h"
#include "ck/Import/Formats/ModelConfig.h"

using namespace ck;
using namespace ck::test;

namespace {

/// A small valid configuration; `edit` is put in front, so that a test's value of a key replaces the usual one.
Result<ModelConfig> configWith(const std::string &edit = "") {
  std::string text = "{";
  for (const char *member : {R"("model_type": "llama")", R"("architectures": ["LlamaForCausalLM"])",
                             R"("hidden_size": 32)", R"("intermediate_size": 64)", R"("num_hidden_layers": 2)",
                             R"("num_attention_heads": 4)", R"("num_key_value_heads": 2)", R"("vocab_size": 100)",
                             R"("rms_norm_eps": 1e-05)", R"("max_position_embeddings": 64)"}) {
    std::string key = std::string(member).substr(0, std::string(member).find(':') + 1);
    if (edit.find(key) == std::string::npos)
      text += std::string(member) + ", ";
  }
  text += edit.empty() ? R"("hidden_act": "silu")" : edit;
  return modelConfigFromHf(text + "}", "dir/tiny/config.json");
}

TEST(HfConfig, ReadsAPlainModel) {
  Result<ModelConfig> config = configWith();
  ASSERT_TRUE(config) << messageOf(config);
  EXPECT_EQ(config->name, "tiny");
  EXPECT_EQ(config->hidden, 32);
  EXPECT_EQ(config->heads, 4);
  EXPECT_EQ(config->kvHeads, 2);
  EXPECT_EQ(config->headDim, 8);
  EXPECT_EQ(config->ffn, 64);
  EXPECT_EQ(config->vocab, 100);
  EXPECT_EQ(config->maxContext, 64);
  EXPECT_EQ(config->rmsEps, 1e-5);
  EXPECT_EQ(config->ropeTheta, 10000);
  EXPECT_EQ(config->ropeScaling.kind, RopeScaling::None);
  EXPECT_EQ(config->activation, "silu");
  EXPECT_EQ(config->pairing, ModelConfig::RopePairing::Half);
  EXPECT_FALSE(config->tied || config->qkvBias || config->outBias || config->mlpBias || config->bos);
  EXPECT_TRUE(config->eos.empty());
}

TEST(HfConfig, NullMeansAbsent) {
  Result<ModelConfig> config =
      configWith(R"("head_dim": null, "num_key_value_heads": null, "rope_scaling": null, "sliding_window": null,
                    "eos_token_id": null, "quantization_config": null)");
  ASSERT_TRUE(config) << messageOf(config);
  EXPECT_EQ(config->kvHeads, 4);
  EXPECT_EQ(config->headDim, 8);
}

TEST(HfConfig, ReadsEveryOption) {
  Result<ModelConfig> config =
      configWith(R"("head_dim": 10, "attention_bias": true, "mlp_bias": true, "tie_word_embeddings": true,
                    "bos_token_id": 1, "eos_token_id": [2, 3], "rope_theta": 500000, "hidden_act": "gelu_new",
                    "use_sliding_window": false, "sliding_window": 4096, "layer_types": ["full_attention"])");
  ASSERT_TRUE(config) << messageOf(config);
  EXPECT_EQ(config->headDim, 10);
  EXPECT_TRUE(config->qkvBias && config->outBias && config->mlpBias && config->tied);
  EXPECT_EQ(config->bos, 1);
  EXPECT_EQ(config->eos, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(config->ropeTheta, 500000);
  EXPECT_EQ(config->activation, "gelu_tanh");
}

TEST(HfConfig, ReadsRopeInEverySpelling) {
  for (const char *text : {R"("rope_scaling": {"type": "linear", "factor": 4})",
                           R"("rope_scaling": {"rope_type": "linear", "type": "linear", "factor": 4.0})",
                           R"("rope_parameters": {"rope_type": "linear", "factor": 4, "rope_theta": 10000})"}) {
    Result<ModelConfig> config = configWith(text);
    ASSERT_TRUE(config) << messageOf(config);
    EXPECT_EQ(config->ropeScaling.kind, RopeScaling::Linear);
    EXPECT_EQ(config->ropeScaling.factor, 4);
  }
  Result<ModelConfig> plain = configWith(R"("rope_parameters": {"rope_type": "default", "rope_theta": 5e5})");
  ASSERT_TRUE(plain) << messageOf(plain);
  EXPECT_EQ(plain->ropeTheta, 5e5);
  EXPECT_EQ(plain->ropeScaling.kind, RopeScaling::None);
  std::string llama3 = R"("rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 1,
                           "high_freq_factor": 4, "original_max_position_embeddings": 32)";
  Result<ModelConfig> scaled = configWith(llama3 + "}");
  ASSERT_TRUE(scaled) << messageOf(scaled);
  EXPECT_EQ(scaled->ropeScaling.kind, RopeScaling::Llama3);
  EXPECT_EQ(scaled->ropeScaling.originalContext, 32);
  EXPECT_EQ(codeOf(configWith(llama3 + R"(, "mscale": 1})")), "UNSUPPORTED");
}

TEST(HfConfig, RefusesBadValuesByKey) {
  for (auto [edit, key] : std::vector<std::pair<std::string, std::string>>{
           {R"("num_attention_heads": 0)", "num_attention_heads is 0; expected an integer from 1 to"},
           {R"("num_attention_heads": -4)", "num_attention_heads is -4"},
           {R"("num_attention_heads": "4")", "num_attention_heads is '4'"},
           {R"("hidden_size": 1e30)", "hidden_size is 1e+30"},
           {R"("hidden_size": 9223372036854775807)", "hidden_size is 9223372036854775807"},
           {R"("hidden_size": null)", "has no hidden_size"},
           {R"("num_key_value_heads": 3)", "num_attention_heads = 4 is no multiple of num_key_value_heads = 3"},
           {R"("num_key_value_heads": 8)", "is no multiple of"},
           {R"("hidden_size": 34)", "hidden_size = 34 is no multiple of num_attention_heads = 4"},
           {R"("head_dim": 7)", "head_dim = 7; expected an even number"},
           {R"("head_dim": 1048576)", "expected at most"},
           {R"("vocab_size": 32.5)", "vocab_size is 32.5"},
           {R"("rms_norm_eps": 0)", "rms_norm_eps is 0; expected a finite number above 0"},
           {R"("rms_norm_eps": "1e-5")", "rms_norm_eps is '1e-5'"},
           {R"("rope_theta": NaN)", "rope_theta is NaN"},
           {R"("rope_theta": -Infinity)", "rope_theta is -inf"},
           {R"("tie_word_embeddings": 1)", "tie_word_embeddings is 1; expected true or false"},
           {R"("eos_token_id": 100)", "the end token 100 is outside the vocabulary of 100"},
           {R"("bos_token_id": -1)", "the begin token -1"},
           {R"("rope_scaling": {"type": "linear"})", "has no factor"},
           {R"("rope_scaling": {"type": "linear", "factor": NaN})", "factor is NaN"},
           {R"("rope_scaling": 3)", "rope_scaling is 3; expected an object"},
           {R"("rope_scaling": {"type": "llama3", "factor": 8, "low_freq_factor": 4, "high_freq_factor": 4,
                "original_max_position_embeddings": 32})",
            "high_freq_factor = 4 is not above"}}) {
    Result<ModelConfig> config = configWith(edit);
    EXPECT_EQ(codeOf(config), "BAD_CONFIG") << edit;
    EXPECT_CONTAINS(messageOf(config), key);
    EXPECT_CONTAINS(messageOf(config), "dir/tiny/config.json: ");
  }
}

TEST(HfConfig, RefusesWhatItDoesNotKnowByName) {
  for (auto [edit, part] : std::vector<std::pair<std::string, std::string>>{
           {R"("model_type": "mistral")", "model_type 'mistral'"},
           {R"("architectures": ["LlamaForSequenceClassification"])", "'LlamaForSequenceClassification'"},
           {R"("sliding_window": 4096)", "sliding_window 4096"},
           {R"("layer_types": ["full_attention", "sliding_attention"])", "'sliding_attention'"},
           {R"("quantization_config": {"bits": 4})", "'quantization_config'"},
           {R"("logit_scale": 0.5)", "'logit_scale' (0.5)"},
           {R"("factor": 2)", "'factor'"},
           {R"("partial_rotary_factor": 0.5)", "partial_rotary_factor 0.5"},
           {R"("pruned_heads": {"0": [1]})", "pruned_heads"},
           {R"("hidden_act": "mish")", "hidden_act 'mish'"},
           {R"("rope_scaling": {"rope_type": "yarn", "factor": 4})", "'yarn'"},
           {R"("rope_scaling": {"factor": 4})", "of type ''"}}) {
    Result<ModelConfig> config = configWith(edit);
    EXPECT_EQ(codeOf(config), "UNSUPPORTED") << edit << messageOf(config);
    EXPECT_CONTAINS(messageOf(config), part);
  }
  EXPECT_EQ(codeOf(configWith(R"("rope_scaling": {"type": "linear", "rope_type": "default", "factor": 2})")),
            "CONFLICT");
  EXPECT_EQ(codeOf(configWith(R"("rope_theta": 1, "rope_parameters": {"rope_type": "default", "rope_theta": 2})")),
            "CONFLICT");
  EXPECT_EQ(codeOf(modelConfigFromHf("[]", "c")), "BAD_CONFIG");
  EXPECT_EQ(codeOf(modelConfigFromHf("{}", "c")), "BAD_CONFIG");
}

TEST(HfConfig, ActivationNamesAreExact) {
  EXPECT_EQ(activationFromHf("gelu"), "gelu_erf");
  for (const char *name : {"gelu_new", "gelu_fast", "gelu_pytorch_tanh"})
    EXPECT_EQ(activationFromHf(name), "gelu_tanh") << name;
  EXPECT_EQ(activationFromHf("quick_gelu"), "gelu_quick");
  EXPECT_EQ(activationFromHf("relu"), "relu");
  EXPECT_EQ(activationFromHf("relu2"), "relu2");
  for (const char *name : {"gelu_", "GELU", "gelu_10", "gelu_tanh", ""})
    EXPECT_EQ(activationFromHf(name), "") << name;
}

TEST(Config, EndTokensComeFromTheGenerationConfig) {
  TemporaryDirectory directory;
  directory.write("config.json", readFile(examplePath("hf/config.json")));
  EXPECT_EQ(loadModelConfig(directory.path)->eos, std::vector<int64_t>{2});
  directory.write("generation_config.json", R"({"eos_token_id": [5, 2]})");
  EXPECT_EQ(loadModelConfig(directory / "config.json")->eos, (std::vector<int64_t>{5, 2}));
  directory.write("generation_config.json", R"({"eos_token_id": 340})");
  EXPECT_CONTAINS(messageOf(loadModelConfig(directory.path)), "eos_token_id is 340; expected an id below 340");
}

/// A GGUF of the smallest model; a test adds entries that replace or extend it.
struct GgufModel : GgufBuilder {
  explicit GgufModel(const std::string &without = "") {
    auto number = [&](const char *key, uint32_t value) {
      if (without != key)
        u32(key, value);
    };
    text("general.architecture", "llama");
    number("llama.context_length", 16);
    number("llama.embedding_length", 32);
    number("llama.block_count", 1);
    number("llama.feed_forward_length", 64);
    number("llama.attention.head_count", 4);
    number("llama.attention.head_count_kv", 2);
    f32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
    tensor("token_embd.weight", {32, 4}, 0, std::string(512, 0));
  }
  Result<ModelConfig> config() const {
    Result<Container> container = parse();
    return container ? modelConfigFromGguf(*container) : Result<ModelConfig>(container.error());
  }
};

TEST(GgufConfig, ReadsAPlainModel) {
  GgufModel model;
  model.u32("llama.rope.dimension_count", 8).f32("llama.rope.freq_base", 500000).u32("tokenizer.ggml.bos_token_id", 1);
  model.u32("tokenizer.ggml.eos_token_id", 2).u32("tokenizer.ggml.eot_token_id", 3).text("general.name", "mine");
  Result<ModelConfig> config = model.config();
  ASSERT_TRUE(config) << messageOf(config);
  EXPECT_EQ(config->source, ModelConfig::Source::Gguf);
  EXPECT_EQ(config->pairing, ModelConfig::RopePairing::Adjacent);
  EXPECT_EQ(config->name, "mine");
  EXPECT_EQ(config->headDim, 8);
  EXPECT_EQ(config->vocab, 4);
  EXPECT_EQ(config->rmsEps, 1e-5); // not the f32 nearest to it
  EXPECT_EQ(config->ropeTheta, 500000);
  EXPECT_TRUE(config->tied);
  EXPECT_EQ(config->bos, 1);
  EXPECT_EQ(config->eos, (std::vector<int64_t>{2, 3}));
}

TEST(GgufConfig, TensorsDecideTyingAndBiases) {
  GgufModel model;
  model.tensor("output.weight", {32, 4}, 0, std::string(512, 0));
  model.tensor("blk.7.attn_k.bias", {16}, 0, std::string(64, 0));
  model.tensor("blk.0.ffn_down.bias", {32}, 0, std::string(128, 0));
  Result<ModelConfig> config = model.config();
  ASSERT_TRUE(config) << messageOf(config);
  EXPECT_FALSE(config->tied);
  EXPECT_TRUE(config->qkvBias && config->mlpBias);
  EXPECT_FALSE(config->outBias);
}

TEST(GgufConfig, ReadsLinearScaling) {
  GgufModel model;
  model.text("llama.rope.scaling.type", "linear").f32("llama.rope.scaling.factor", 4);
  Result<ModelConfig> config = model.config();
  ASSERT_TRUE(config) << messageOf(config);
  EXPECT_EQ(config->ropeScaling.kind, RopeScaling::Linear);
  EXPECT_EQ(config->ropeScaling.factor, 4);
}

TEST(GgufConfig, RefusesByName) {
  auto expect = [](GgufModel model, const char *code, const char *part) {
    Result<ModelConfig> config = model.config();
    EXPECT_EQ(codeOf(config), code) << messageOf(config);
    EXPECT_CONTAINS(messageOf(config), part);
  };
  auto with = [](auto edit) {
    GgufModel model;
    edit(model);
    return model;
  };
  expect(GgufModel("llama.block_count"), "BAD_CONFIG", "has no llama.block_count");
  expect(with([](GgufModel &m) { m.u32("llama.attention.key_length", 0); }), "BAD_CONFIG", "key_length is 0");
  expect(with([](GgufModel &m) { m.u32("llama.rope.dimension_count", 4); }), "UNSUPPORTED", "dimension_count is 4");
  expect(with([](GgufModel &m) { m.u32("llama.expert_count", 8); }), "UNSUPPORTED", "llama.expert_count 8");
  expect(with([](GgufModel &m) { m.f32("llama.logit_scale", 2); }), "UNSUPPORTED", "'llama.logit_scale' (2)");
  expect(with([](GgufModel &m) { m.u32("llama.vocab_size", 5); }), "CONFLICT", "has 4 rows");
  expect(with([](GgufModel &m) { m.text("llama.rope.scaling.type", "yarn"); }), "UNSUPPORTED", "'yarn'");
  expect(with([](GgufModel &m) { m.tensor("rope_freqs.weight", {4}, 0, std::string(16, 0)); }), "UNSUPPORTED",
         "rope_freqs.weight");
  GgufModel layers("llama.feed_forward_length");
  layers.array<uint32_t>("llama.feed_forward_length", 4, {64, 64});
  expect(layers, "UNSUPPORTED", "differs by layer");
  GgufBuilder other;
  other.text("general.architecture", "gpt2");
  EXPECT_CONTAINS(messageOf(modelConfigFromGguf(*other.parse())), "general.architecture 'gpt2' is not supported");
}

TEST(Config, BothFormatsOfOneModelAgree) {
  Result<ModelConfig> hf = loadModelConfig(examplePath("hf")),
                      gguf = loadModelConfig(examplePath("tiny-llama-f32.gguf"));
  ASSERT_TRUE(hf) << messageOf(hf);
  ASSERT_TRUE(gguf) << messageOf(gguf);
  auto numbers = [](const ModelConfig &c) {
    return std::vector<double>{double(c.hidden),  double(c.layers), double(c.heads), double(c.kvHeads),
                               double(c.headDim), double(c.ffn),    double(c.vocab), double(c.maxContext),
                               c.rmsEps,          c.ropeTheta,      double(c.tied),  double(*c.bos)};
  };
  EXPECT_EQ(numbers(*hf), numbers(*gguf));
  EXPECT_EQ(hf->eos, gguf->eos);
  EXPECT_EQ(hf->activation, gguf->activation);
  EXPECT_NE(hf->pairing, gguf->pairing);
}

TEST(Config, PublishedLlamasLoad) {
  CK_NEEDS_DATA("configs");
  Result<ModelConfig> small = loadModelConfig(dataPath("configs/Llama-3.2-1B-Instruct.json"));
  ASSERT_TRUE(small) << messageOf(small);
  EXPECT_EQ(small->headDim, 64);
  EXPECT_TRUE(small->tied);
  EXPECT_EQ(small->eos, (std::vector<int64_t>{128001, 128008, 128009}));
  EXPECT_EQ(small->ropeScaling.factor, 32);
  EXPECT_EQ(small->ropeScaling.originalContext, 8192);
  Result<ModelConfig> large = loadModelConfig(dataPath("configs/Meta-Llama-3.1-8B.json"));
  ASSERT_TRUE(large) << messageOf(large);
  EXPECT_EQ(large->headDim, 128);
  EXPECT_EQ(large->kvHeads, 8);
  EXPECT_EQ(large->name, "Meta-Llama-3.1-8B");
  for (const char *name : {"models/stories260K/hf", "models/stories260K/stories260K-f32.gguf",
                           "models/tiny-random/llama-odd", "models/tiny-random/llama3-rope"}) {
    Result<ModelConfig> config = loadModelConfig(dataPath(name));
    EXPECT_EQ(codeOf(config), "OK") << messageOf(config);
  }
}

TEST(Config, OtherFamiliesAreRefusedByName) {
  CK_NEEDS_DATA("configs");
  for (auto [file, name] : std::vector<std::pair<std::string, std::string>>{
           {"configs/Mistral-7B-Instruct-v0.3.json", "'mistral'"},
           {"configs/Qwen2.5-7B-Instruct.json", "'qwen2'"},
           {"configs/DeepSeek-V3.json", "'deepseek_v3'"},
           {"configs/Llama-3_3-Nemotron-Super-49B-v1.json", "'nemotron-nas'"},
           {"configs/gpt2-vocab50260.json", "'gpt2'"},
           {"configs/flame-transformer_340M.json", "'transformer'"},
           {"configs/gemma-4-26B-A4B.json", "'gemma4'"},
           {"models/tiny-random/mistral-swa", "'mistral'"},
           {"tokenizers/ggml-vocab-gpt-2.gguf", "general.architecture 'gpt2'"}}) {
    Result<ModelConfig> config = loadModelConfig(dataPath(file));
    EXPECT_EQ(codeOf(config), "UNSUPPORTED") << file;
    EXPECT_CONTAINS(messageOf(config), name);
  }
}

} // namespace
