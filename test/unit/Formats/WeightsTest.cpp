//===- WeightsTest.cpp - weights by name ----------------------------------===//
#include "FormatsSupport.h"
#include "ck/Import/Formats/WeightSource.h"
#include "ck/Import/Formats/WeightTable.h"

#include <algorithm>

using namespace ck;
using namespace ck::test;

namespace {

using Source = ModelConfig::Source;

std::string shapeOf(const std::vector<int64_t> &shape) {
  std::string out;
  for (int64_t extent : shape)
    out += (out.empty() ? ":" : "x") + std::to_string(extent);
  return out;
}

TEST(WeightTable, NamesTensorsInBothFormats) {
  EXPECT_EQ(tensorName(Source::HuggingFace, "tok_emb"), "model.embed_tokens.weight");
  EXPECT_EQ(tensorName(Source::Gguf, "tok_emb"), "token_embd.weight");
  EXPECT_EQ(tensorName(Source::HuggingFace, "layers.12.wk"), "model.layers.12.self_attn.k_proj.weight");
  EXPECT_EQ(tensorName(Source::Gguf, "layers.12.b_down"), "blk.12.ffn_down.bias");
  for (const char *none : {"layers.x.wk", "layers..wk", "layers.1", "layers.1.q", "wq", ""})
    EXPECT_EQ(tensorName(Source::Gguf, none), "") << none;
}

TEST(WeightTable, CoversTheExampleExactly) {
  for (auto [model, weights] :
       {std::pair{"hf", "hf/model.safetensors"}, {"tiny-llama-f32.gguf", "tiny-llama-f32.gguf"}}) {
    Result<ModelConfig> config = loadModelConfig(examplePath(model));
    ASSERT_TRUE(config) << messageOf(config);
    Result<std::optional<std::string>> file = findWeightsFile(examplePath(model));
    ASSERT_TRUE(file && *file);
    EXPECT_EQ(**file, examplePath(weights));
    Result<Container> container = Container::open(**file);
    ASSERT_TRUE(container) << messageOf(container);
    std::vector<std::string> unused;
    EXPECT_EQ(messageOf(checkWeights(*config, *container, &unused)), "");
    EXPECT_EQ(unused, std::vector<std::string>{});
    EXPECT_EQ(weightTable(*config).size(), container->tensors().size());
  }
}

TEST(WeightTable, ListsBiasesAndHeadInProgramOrder) {
  ModelConfig config;
  config.layers = 1;
  config.hidden = 8, config.heads = 4, config.kvHeads = 2, config.headDim = 3, config.ffn = 16, config.vocab = 5;
  config.qkvBias = config.outBias = config.mlpBias = true;
  std::string names;
  for (const WeightSpec &spec : weightTable(config))
    names += spec.logical + shapeOf(spec.shape) + " ";
  EXPECT_EQ(names, "tok_emb:5x8 layers.0.attn_norm:8 layers.0.wq:12x8 layers.0.wk:6x8 layers.0.wv:6x8 layers.0.bq:12 "
                   "layers.0.bk:6 layers.0.bv:6 layers.0.wo:8x12 layers.0.bo:8 layers.0.ffn_norm:8 "
                   "layers.0.w_gate:16x8 layers.0.w_up:16x8 layers.0.w_down:8x16 layers.0.b_gate:16 layers.0.b_up:16 "
                   "layers.0.b_down:8 final_norm:8 lm_head:5x8 ");
}

TEST(WeightTable, NamesAMissingTensorAndAWrongShape) {
  Result<ModelConfig> config = loadModelConfig(examplePath("hf"));
  ASSERT_TRUE(config);
  config->tied = false;
  Result<Container> container = Container::open(examplePath("hf/model.safetensors"));
  ASSERT_TRUE(container);
  Status missing = checkWeights(*config, *container);
  EXPECT_EQ(codeOf(missing), "BAD_CONFIG");
  EXPECT_CONTAINS(messageOf(missing), "has no tensor 'lm_head.weight' (lm_head)");
  config->tied = true;
  config->ffn = 85;
  EXPECT_EQ(codeOf(checkWeights(*config, *container)), "BAD_SHAPE");
  config->ffn = 84;
  config->layers = 2;
  std::vector<std::string> unused;
  EXPECT_TRUE(checkWeights(*config, *container, &unused));
  EXPECT_EQ(unused.size(), 9u);
}

/// A safetensors file with the tensors of a small decoder, all zeros; `types` are those that are not F32.
std::string decoderFile(const ModelConfig &config, const std::map<std::string, std::string> &types) {
  std::string header, data;
  for (const WeightSpec &spec : weightTable(config)) {
    auto other = types.find(spec.logical);
    std::string type = other == types.end() ? "F32" : other->second, shape;
    uint64_t begin = data.size();
    data.append(*tensorBytes(*findSafetensorsType(type), spec.shape), '\0');
    for (int64_t extent : spec.shape)
      shape += (shape.empty() ? "" : ",") + std::to_string(extent);
    header += (header.empty() ? "{\"" : ",\"") + spec.tensor + "\":{\"dtype\":\"" + type + "\",\"shape\":[" + shape +
              "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(data.size()) + "]}";
  }
  header += "}";
  return bytesOf<uint64_t>(header.size()) + header + data;
}

TEST(WeightTable, SaysHowWeightsAreStored) {
  ModelConfig config;
  config.layers = 1;
  config.hidden = 8, config.heads = 4, config.kvHeads = 2, config.headDim = 2, config.ffn = 16, config.vocab = 5;
  TemporaryDirectory directory;
  auto storageWith = [&](const std::map<std::string, std::string> &types) {
    Result<Container> container = Container::open(directory.write("model.safetensors", decoderFile(config, types)));
    EXPECT_TRUE(container) << messageOf(container);
    return weightStorage(config, *container);
  };
  auto storage = storageWith({{"layers.0.wq", "BF16"}, {"layers.0.attn_norm", "F16"}, {"lm_head", "F16"}});
  ASSERT_TRUE(storage) << messageOf(storage);
  EXPECT_EQ(storage->size(), weightTable(config).size());
  EXPECT_EQ(storage->at("layers.0.wq"), "bf16");
  EXPECT_EQ(storage->at("layers.0.wk"), "f32");
  EXPECT_EQ(storage->at("layers.0.attn_norm"), "f16");
  EXPECT_EQ(storage->at("lm_head"), "f16");
  auto matrix = storageWith({{"layers.0.w_up", "F64"}});
  EXPECT_EQ(codeOf(matrix), "BAD_DTYPE");
  EXPECT_CONTAINS(messageOf(matrix), "tensor 'model.layers.0.mlp.up_proj.weight' is f64; expected f32, f16 or bf16, or "
                                     "one of q4_0");
  auto vector = storageWith({{"final_norm", "I32"}});
  EXPECT_EQ(codeOf(vector), "BAD_DTYPE");
  EXPECT_CONTAINS(messageOf(vector), "tensor 'model.norm.weight' is i32; expected f32, f16 or bf16");
}

TEST(WeightTable, FindsTheFileOrSaysWhyNot) {
  TemporaryDirectory directory;
  std::string config = directory.write("config.json", "{}");
  EXPECT_FALSE(*findWeightsFile(directory.path));
  directory.write("model.safetensors.index.json", "{}");
  EXPECT_EQ(codeOf(findWeightsFile(config)), "UNSUPPORTED");
  directory.write("model.safetensors", "x");
  EXPECT_EQ(**findWeightsFile(config), directory / "model.safetensors");
}

TEST(WeightSource, ResolvesRelativeAndOverridden) {
  WeightSource source(examplePath("hf"));
  Result<const void *> norm = source.resolve("model.safetensors", "model.norm.weight", "f32", {48});
  ASSERT_TRUE(norm) << messageOf(norm);
  WeightSource moved = WeightSource::inDirectory(examplePath("hf"));
  Result<const void *> same = moved.resolve("/elsewhere/../model.safetensors", "model.norm.weight", "f32", {48});
  ASSERT_TRUE(same) << messageOf(same);
  EXPECT_EQ(std::memcmp(*norm, *same, 48 * sizeof(float)), 0);
  WeightSource other = std::move(source); // pointers outlive a move
  EXPECT_EQ(std::memcmp(*norm, *same, 48 * sizeof(float)), 0);
  std::vector<std::string> unused = other.unusedTensors();
  EXPECT_EQ(unused.size(), 28u);
  EXPECT_NE(std::find(unused.begin(), unused.end(),
                      examplePath("hf/model.safetensors") + ": model.layers.0.mlp.up_proj.weight"),
            unused.end());
}

TEST(WeightSource, RefusesWhatDoesNotFit) {
  WeightSource source(examplePath("hf"));
  auto resolve = [&](const char *file, const char *tensor, const char *dtype, std::vector<int64_t> shape) {
    return source.resolve(file, tensor, dtype, shape);
  };
  Result<const void *> missing = resolve("model.safetensors", "model.norm.wait", "f32", {48});
  EXPECT_EQ(codeOf(missing), "BAD_CONFIG");
  EXPECT_CONTAINS(messageOf(missing), "has no tensor 'model.norm.wait'");
  EXPECT_EQ(codeOf(resolve("model.safetensors", "model.norm.weight", "f16", {48})), "BAD_DTYPE");
  EXPECT_EQ(codeOf(resolve("model.safetensors", "model.norm.weight", "f32", {6, 8})), "BAD_SHAPE");
  EXPECT_EQ(codeOf(resolve("absent.safetensors", "model.norm.weight", "f32", {48})), "BAD_PATH");
}

TEST(WeightSource, CopiesWhatTheFileAlignsBadly) {
  // A header of 59 bytes puts the data at an odd address.
  std::string header = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  header.resize(59, ' ');
  TemporaryDirectory directory;
  directory.write("w.safetensors", safetensorsBytes(header, bytesOf(1.5f) + bytesOf(-2.0f)));
  WeightSource source(directory.path);
  Result<const void *> weight = source.resolve("w.safetensors", "w", "f32", {2});
  ASSERT_TRUE(weight) << messageOf(weight);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(*weight) % alignof(float), 0u);
  EXPECT_EQ(static_cast<const float *>(*weight)[0], 1.5f);
  EXPECT_EQ(static_cast<const float *>(*weight)[1], -2.0f);
  EXPECT_EQ(*source.resolve("w.safetensors", "w", "f32", {2}), *weight);
}

} // namespace
