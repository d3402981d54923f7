//===- ConvertTest.cpp - models from one format to another ----------------===//
//
// The model of our own lies in the repository in both formats, each written by its own program: converting one must
// give the other.
//
//===----------------------------------------------------------------------===//
#include "FormatsSupport.h"
#include "ck/Import/Formats/AtomicFile.h"
#include "ck/Import/Formats/ConvertModel.h"
#include "ck/Import/Formats/RopeRows.h"
#include "ck/Import/Formats/RowCodec.h"
#include "ck/Import/Formats/Tokenizer.h"
#include "ck/Import/Formats/WeightTable.h"

#include <cmath>
#include <csignal>
#include <dirent.h>
#include <set>
#include <sys/resource.h>
#include <sys/stat.h>

using namespace ck;
using namespace ck::test;

namespace {

constexpr Container::Format kGguf = Container::Format::Gguf, kHf = Container::Format::Safetensors;

struct Conversion {
  Result<ConvertReport> report;
  std::vector<std::string> notes;
};

Conversion convert(const std::string &from, Container::Format target, const std::string &type, const std::string &out,
                   int threads = 2, bool tokenizer = true) {
  std::vector<std::string> notes;
  ConvertOptions options;
  options.target = target;
  options.type = type;
  options.out = out;
  options.threads = threads;
  options.tokenizer = tokenizer;
  options.note = [&](const std::string &text) { notes.push_back(text); };
  Result<ConvertReport> report = convertModel(from, options);
  return {std::move(report), std::move(notes)};
}

/// Every tensor of `a` is in `b`, with the same type, shape and bytes.
void expectSameTensors(const std::string &a, const std::string &b) {
  Result<Container> left = Container::open(a), right = Container::open(b);
  ASSERT_TRUE(left) << messageOf(left);
  ASSERT_TRUE(right) << messageOf(right);
  ASSERT_EQ(left->tensors().size(), right->tensors().size());
  for (const TensorInfo &tensor : left->tensors()) {
    const TensorInfo *other = right->find(tensor.name);
    ASSERT_TRUE(other) << tensor.name;
    EXPECT_EQ(tensor.dtype, other->dtype) << tensor.name;
    EXPECT_EQ(tensor.shape, other->shape) << tensor.name;
    ASSERT_EQ(tensor.bytes, other->bytes) << tensor.name;
    EXPECT_EQ(std::memcmp(tensor.data, other->data, tensor.bytes), 0) << tensor.name;
  }
}

void expectSameConfig(const std::string &a, const std::string &b) {
  Result<ModelConfig> left = loadModelConfig(a), right = loadModelConfig(b);
  ASSERT_TRUE(left) << messageOf(left);
  ASSERT_TRUE(right) << messageOf(right);
  auto numbers = [](const ModelConfig &c) {
    return std::vector<double>{double(c.hidden),
                               double(c.layers),
                               double(c.heads),
                               double(c.kvHeads),
                               double(c.headDim),
                               double(c.ffn),
                               double(c.vocab),
                               double(c.maxContext),
                               c.rmsEps,
                               c.ropeTheta,
                               double(c.tied),
                               double(c.qkvBias),
                               double(c.outBias),
                               double(c.mlpBias),
                               double(c.bos.value_or(-1)),
                               double(c.ropeScaling.kind),
                               c.ropeScaling.factor};
  };
  EXPECT_EQ(numbers(*left), numbers(*right));
  EXPECT_EQ(left->eos, right->eos);
  EXPECT_EQ(left->activation, right->activation);
}

void expectSameTokens(const std::string &a, const std::string &b) {
  Result<Tokenizer> left = Tokenizer::open(a), right = Tokenizer::open(b);
  ASSERT_TRUE(left) << messageOf(left);
  ASSERT_TRUE(right) << messageOf(right);
  for (const char *text : {"Once upon a time, there was a star.", "  two  spaces", "", "caf\xC3\xA9\n\t<s> </s>",
                           "\xF0\x9F\x98\x81 happy happier", "and the the andthe"}) {
    Result<std::vector<int32_t>> x = left->encode(text), y = right->encode(text);
    ASSERT_TRUE(x && y);
    EXPECT_EQ(*x, *y) << text;
    EXPECT_EQ(*left->decode(*x), *right->decode(*y));
  }
}

/// Names in a folder, without . and .. .
std::set<std::string> listing(const std::string &path) {
  std::set<std::string> names;
  if (DIR *folder = ::opendir(path.c_str())) {
    while (dirent *entry = ::readdir(folder))
      names.insert(entry->d_name);
    ::closedir(folder);
  }
  names.erase(".");
  names.erase("..");
  return names;
}

TEST(RopeRows, EachOrderIsTheReverseOfTheOther) {
  using Pairing = ModelConfig::RopePairing;
  for (int64_t headDim : {2, 8, 10})
    for (int64_t row = 0; row < 3 * headDim; ++row)
      EXPECT_EQ(rowOfOtherPairing(rowOfOtherPairing(row, headDim, Pairing::Half), headDim, Pairing::Adjacent), row);
  EXPECT_EQ(rowOfOtherPairing(8 + 1, 8, Pairing::Half), 8 + 2);
  EXPECT_EQ(rowOfOtherPairing(8 + 1, 8, Pairing::Adjacent), 8 + 4);
  for (const char *name : {"layers.0.wq", "layers.11.bk"})
    EXPECT_TRUE(turnsWithPositions(name));
  for (const char *name : {"layers.0.wv", "tok_emb", "layers.0.attn_norm", "wqx"})
    EXPECT_FALSE(turnsWithPositions(name));
}

TEST(Convert, EachFormOfTheExampleGivesTheOther) {
  TemporaryDirectory directory;
  const std::string hf = examplePath("hf"), gguf = examplePath("tiny-llama-f32.gguf");
  const std::string newHf = directory / "hf", newGguf = directory / "m.gguf";
  Conversion there = convert(hf, kGguf, "", newGguf), back = convert(gguf, kHf, "", newHf);
  ASSERT_TRUE(there.report) << messageOf(there.report);
  ASSERT_TRUE(back.report) << messageOf(back.report);
  EXPECT_TRUE(there.notes.empty() && back.notes.empty());
  expectSameTensors(gguf, newGguf);
  expectSameTensors(hf + "/model.safetensors", newHf + "/model.safetensors");
  for (auto [a, b] : {std::pair{gguf, newGguf}, {hf, newHf}, {hf, newGguf}}) {
    expectSameConfig(a, b);
    expectSameTokens(a, b);
  }
  // And back again, to the last byte of every file.
  const std::string again = directory / "again";
  ASSERT_TRUE(convert(newGguf, kHf, "", again).report);
  EXPECT_EQ(listing(newHf), listing(again));
  for (const char *name : {"config.json", "generation_config.json", "model.safetensors", "tokenizer.json"})
    EXPECT_EQ(readFile(newHf + "/" + name), readFile(again + "/" + name)) << name;
}

TEST(Convert, EqualsStories260K) {
  CK_NEEDS_DATA("models/stories260K/hf");
  TemporaryDirectory directory;
  const std::string base = dataPath("models/stories260K/"), gguf = base + "stories260K-f32.gguf";
  ASSERT_TRUE(convert(gguf, kHf, "", directory / "hf").report);
  expectSameTensors(base + "hf/model.safetensors", directory / "hf/model.safetensors");
  expectSameTokens(base + "hf", directory / "hf");
  for (const char *type : {"f32", "f16", "q8_0", "q4_0"}) {
    const std::string out = directory / (std::string(type) + ".gguf");
    Conversion made = convert(base + "hf", kGguf, type, out);
    ASSERT_TRUE(made.report) << messageOf(made.report);
    expectSameTensors(base + "stories260K-" + type + ".gguf", out);
    expectSameConfig(gguf, out);
    expectSameTokens(gguf, out);
  }
}

TEST(Convert, EveryTypeIsNearTheOriginalAndFallsBackByTensor) {
  TemporaryDirectory directory;
  Result<Container> original = Container::open(examplePath("tiny-llama-f32.gguf"));
  ASSERT_TRUE(original) << messageOf(original);
  // No row of this model (48 and 84 elements) is whole blocks.
  for (const char *type :
       {"f16", "BF16", "q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "q4_k", "q5_k", "q6_k", "Q4_K_M", "q5_k_m"}) {
    const std::string out = directory / "m.gguf";
    Conversion made = convert(examplePath("hf"), kGguf, type, out);
    ASSERT_TRUE(made.report) << type << ": " << messageOf(made.report);
    bool plain = std::string(type) == "f16" || std::string(type) == "BF16";
    EXPECT_EQ(made.notes.size(), plain ? 0u : 22u) << type;
    EXPECT_EQ(made.report->fallbacks.size(), made.notes.size());
    if (!plain) {
      EXPECT_CONTAINS(made.notes[1],
                      "tensor 'blk.0.attn_q.weight' becomes f16: rows of 48 elements are no multiple of ");
    }
    Result<Container> file = Container::open(out);
    ASSERT_TRUE(file) << messageOf(file);
    for (const TensorInfo &tensor : file->tensors()) {
      std::string_view stored = tensor.dtype->name;
      EXPECT_EQ(stored, tensor.shape.size() == 1 ? "f32" : std::string(type) == "BF16" ? "bf16" : "f16");
      int64_t count = *elementCount(tensor.shape);
      std::vector<float> values(count), exact(count);
      findRowCodec(*tensor.dtype)->decode(tensor.data, values.data(), count);
      std::memcpy(exact.data(), original->find(tensor.name)->data, count * 4);
      for (int64_t i = 0; i < count; ++i)
        ASSERT_LE(std::fabs(values[i] - exact[i]), std::fabs(exact[i]) / 200 + 1e-7) << tensor.name << " " << i;
    }
    ::unlink(out.c_str());
  }
}

TEST(Convert, ThreadsDoNotChangeTheBytes) {
  TemporaryDirectory directory;
  ASSERT_TRUE(convert(examplePath("hf"), kGguf, "f16", directory / "1.gguf", 1).report);
  ASSERT_TRUE(convert(examplePath("hf"), kGguf, "f16", directory / "7.gguf", 7).report);
  EXPECT_EQ(readFile(directory / "1.gguf"), readFile(directory / "7.gguf"));
}

TEST(Convert, CopiesWhatItNeedNotUnderstand) {
  TemporaryDirectory directory;
  // Between files of one format everything stays but the types.
  const std::string gguf = examplePath("tiny-llama-f32.gguf"), half = directory / "half.gguf", out = directory / "o";
  ASSERT_TRUE(convert(gguf, kGguf, "f16", half).report);
  Result<Container> before = Container::open(gguf), after = Container::open(half);
  ASSERT_TRUE(before && after);
  for (const MetaEntry &entry : before->metadata())
    if (entry.key != "general.file_type" && entry.key != "general.alignment") {
      ASSERT_TRUE(after->findMeta(entry.key)) << entry.key;
      EXPECT_EQ(after->findMeta(entry.key)->brief(), entry.value.brief());
    }
  EXPECT_EQ(after->findMeta("general.file_type")->asInteger(), 1);
  ASSERT_TRUE(convert(examplePath("hf"), kHf, "bf16", out).report);
  EXPECT_EQ(listing(out), listing(examplePath("hf")));
  EXPECT_EQ(readFile(out + "/tokenizer.json"), readFile(examplePath("hf/tokenizer.json")));
  EXPECT_CONTAINS(readFile(out + "/config.json"), "\"torch_dtype\": \"bfloat16\"");
  expectSameConfig(examplePath("hf"), out);
}

TEST(Convert, LeavesTheTokenizerOut) {
  TemporaryDirectory directory;
  ASSERT_TRUE(convert(examplePath("hf"), kGguf, "", directory / "m.gguf", 1, false).report);
  Result<Container> file = Container::open(directory / "m.gguf");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->findMeta("tokenizer.ggml.tokens"), nullptr);
  expectSameConfig(examplePath("hf"), directory / "m.gguf");
  Conversion back = convert(directory / "m.gguf", kHf, "", directory / "hf");
  ASSERT_TRUE(back.report) << messageOf(back.report);
  ASSERT_EQ(back.notes.size(), 1u);
  EXPECT_CONTAINS(back.notes[0], "has no tokenizer");
  EXPECT_EQ(listing(directory / "hf"),
            (std::set<std::string>{"config.json", "generation_config.json", "model.safetensors"}));
}

TEST(Convert, RefusesAndLeavesNothing) {
  TemporaryDirectory directory;
  const std::string hf = examplePath("hf"),
                    gguf = directory.write("m.gguf", readFile(examplePath("tiny-llama-f32.gguf")));
  auto refused = [&](const std::string &from, Container::Format target, const char *type, const std::string &out,
                     const char *code, const char *says) {
    std::set<std::string> before = listing(directory.path);
    Conversion made = convert(from, target, type, out);
    EXPECT_EQ(codeOf(made.report), code);
    EXPECT_CONTAINS(messageOf(made.report), says);
    EXPECT_EQ(listing(directory.path), before);
  };
  const std::string out = directory / "out";
  refused(hf, kGguf, "q3_k", out, "BAD_TYPE", "the type 'q3_k' is not known; expected one of f32, f16, bf16, q8_0");
  refused(hf, kHf, "q8_0", out, "UNSUPPORTED", "a Hugging Face folder cannot hold the type q8_0");
  refused(gguf, kGguf, "f16", gguf, "CONFLICT", "m.gguf: is the model that is to be converted");
  refused(hf, kHf, "f16", hf + "/", "CONFLICT", "is the model that is to be converted");
  refused(hf, kGguf, "f16", gguf, "CONFLICT", "m.gguf: exists already");
  refused(hf, kHf, "f16", directory.path, "CONFLICT", "exists already");
  refused(hf, kGguf, "f16", "/dev/full", "CONFLICT", "/dev/full: exists already");
  refused(hf, kGguf, "", "", "BAD_PATH", "empty name");
  refused(hf, kGguf, "", directory / "absent/m.gguf", "BAD_PATH", "absent/m.gguf: cannot be written: No such file");
  refused(hf, kHf, "", directory / "absent/m", "BAD_PATH", "absent/m: cannot be made: No such file");
  refused(directory / "none.gguf", kHf, "", out, "BAD_PATH", "none.gguf");
  std::string cut = readFile(gguf);
  cut.resize(cut.size() - 100);
  refused(directory.write("cut.gguf", cut), kHf, "", out, "TRUNCATED", "cut.gguf: tensor ");
  ASSERT_EQ(::symlink("nowhere", (directory / "link").c_str()), 0);
  refused(hf, kGguf, "", directory / "link", "CONFLICT", "exists already");
}

TEST(Convert, NamesTheWeightThatHasNoPlaceInTheType) {
  TemporaryDirectory directory;
  Result<Container> file = Container::open(examplePath("tiny-llama-f32.gguf"));
  ASSERT_TRUE(file);
  const TensorInfo *tensor = file->find("blk.1.attn_k.weight");
  // Columns 48; row 5, column 7.
  size_t at = tensor->offset + (5 * 48 + 7) * 4;
  for (auto [value, says] :
       {std::pair{NAN, "nan is not finite"}, {INFINITY, "inf is not finite"}, {1e6f, "1e+06 is beyond"}}) {
    std::string bytes = readFile(file->path());
    std::memcpy(&bytes[at], &value, 4);
    Conversion made = convert(directory.write("m.gguf", bytes), kGguf, "f16", directory / "o.gguf");
    EXPECT_EQ(codeOf(made.report), "BAD_VALUE");
    EXPECT_CONTAINS(messageOf(made.report), "m.gguf: tensor 'blk.1.attn_k.weight': row 5, column 7: the value ");
    EXPECT_CONTAINS(messageOf(made.report), says);
    made = convert(directory / "m.gguf", kHf, "bf16", directory / "o");
    EXPECT_EQ(codeOf(made.report), std::isfinite(value) ? "OK" : "BAD_VALUE");
    EXPECT_EQ(listing(directory.path).size(), std::isfinite(value) ? 2u : 1u);
  }
}

TEST(Convert, AFullDiskLeavesNothing) {
  TemporaryDirectory directory;
  // A file size limit stands for a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit before, small;
  ::getrlimit(RLIMIT_FSIZE, &before);
  small = before;
  small.rlim_cur = 100'000;
  ::setrlimit(RLIMIT_FSIZE, &small);
  Conversion file = convert(examplePath("hf"), kGguf, "", directory / "m.gguf");
  Conversion folder = convert(examplePath("hf"), kHf, "", directory / "hf");
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(codeOf(file.report), "BAD_PATH");
  EXPECT_CONTAINS(messageOf(file.report), "m.gguf: cannot be written: File too large");
  EXPECT_EQ(codeOf(folder.report), "BAD_PATH");
  EXPECT_EQ(listing(directory.path), std::set<std::string>{});
}

TEST(Convert, UsesUpWhatAKilledRunHasLeft) {
  TemporaryDirectory directory;
  ASSERT_EQ(::mkdir((directory / "hf.tmp").c_str(), 0777), 0);
  directory.write("hf.tmp/model.safetensors.tmp", "half");
  directory.write("hf.tmp/config.json", "{");
  ASSERT_TRUE(convert(examplePath("hf"), kHf, "", directory / "hf").report);
  EXPECT_EQ(listing(directory.path), std::set<std::string>{"hf"});
  EXPECT_EQ(listing(directory / "hf"), listing(examplePath("hf")));
  // But never what is no part of a model.
  ASSERT_EQ(::mkdir((directory / "o.tmp").c_str(), 0777), 0);
  directory.write("o.tmp/letter", "dear");
  EXPECT_CONTAINS(messageOf(convert(examplePath("hf"), kHf, "", directory / "o").report), "o.tmp: is in the way");
  EXPECT_EQ(readFile(directory / "o.tmp/letter"), "dear");
}

/// A small model whose rows are whole blocks of 256: three layers, biases on request.
std::string madeModel(const TemporaryDirectory &directory, const std::string &extra = "") {
  const std::string config = R"({"model_type": "llama", "hidden_size": 256, "num_hidden_layers": 9,
      "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 256, "vocab_size": 40,
      "max_position_embeddings": 64, "rms_norm_eps": 1e-6, "rope_theta": 500000.0, "eos_token_id": [2, 5])" +
                             extra + "}";
  Result<ModelConfig> parsed = modelConfigFromHf(config, "config.json");
  EXPECT_TRUE(parsed) << messageOf(parsed);
  std::string header, data;
  uint32_t state = 1;
  for (const WeightSpec &spec : weightTable(*parsed)) {
    std::string shape;
    for (int64_t extent : spec.shape)
      shape += (shape.empty() ? "" : ",") + std::to_string(extent);
    size_t begin = data.size();
    for (int64_t i = *elementCount(spec.shape); i > 0; --i) {
      state = state * 1664525 + 1013904223;
      data += bytesOf(static_cast<float>(state >> 8) / (1 << 24) - 0.5f);
    }
    header += (header.empty() ? "{\"" : ", \"") + spec.tensor + "\": {\"dtype\": \"F32\", \"shape\": [" + shape +
              "], \"data_offsets\": [" + std::to_string(begin) + "," + std::to_string(data.size()) + "]}";
  }
  EXPECT_EQ(::mkdir((directory / "made").c_str(), 0777), 0);
  directory.write("made/config.json", config);
  directory.write("made/model.safetensors", safetensorsBytes(header + "}", data));
  return directory / "made";
}

TEST(Convert, MixesFollowTheirRule) {
  TemporaryDirectory directory;
  const std::string model = madeModel(directory, R"(, "attention_bias": true)");
  Conversion made = convert(model, kGguf, "q4_k_m", directory / "m.gguf");
  ASSERT_TRUE(made.report) << messageOf(made.report);
  EXPECT_EQ(made.notes,
            std::vector<std::string>{"there is no tokenizer.json beside the model, so the file gets no tokenizer"});
  Result<Container> file = Container::open(directory / "m.gguf");
  ASSERT_TRUE(file) << messageOf(file);
  EXPECT_EQ(file->findMeta("general.file_type")->asInteger(), 15);
  // Of nine layers the first two and the last two, and the third of those between.
  std::set<std::string> exact = {"output.weight"};
  for (int layer : {0, 1, 4, 7, 8})
    for (const char *part : {".attn_v.weight", ".ffn_down.weight"})
      exact.insert("blk." + std::to_string(layer) + part);
  for (const TensorInfo &tensor : file->tensors())
    EXPECT_STREQ(tensor.dtype->name, tensor.shape.size() == 1   ? "f32"
                                     : exact.count(tensor.name) ? "q6_k"
                                                                : "q4_k")
        << tensor.name;
  EXPECT_EQ(made.report->types.at("q6_k"), exact.size());
  expectSameConfig(model, directory / "m.gguf");
  // Biases of q and k change places with their rows, and come back.
  ASSERT_TRUE(convert(model, kGguf, "", directory / "f32.gguf").report);
  ASSERT_TRUE(convert(directory / "f32.gguf", kHf, "", directory / "back").report);
  expectSameTensors(model + "/model.safetensors", directory / "back/model.safetensors");
  Result<Container> before = Container::open(model + "/model.safetensors"),
                    after = Container::open(directory / "f32.gguf");
  ASSERT_TRUE(before && after);
  float half, adjacent;
  std::memcpy(&half, before->find("model.layers.0.self_attn.k_proj.bias")->data + 4 * (64 + 33), 4);
  std::memcpy(&adjacent, after->find("blk.0.attn_k.bias")->data + 4 * (64 + 3), 4);
  EXPECT_EQ(half, adjacent);
}

TEST(Convert, TypesOfBlocksBecomeF32InAFolder) {
  TemporaryDirectory directory;
  const std::string model = madeModel(directory);
  ASSERT_TRUE(convert(model, kGguf, "q6_k", directory / "q.gguf").report);
  Conversion made = convert(directory / "q.gguf", kHf, "", directory / "hf");
  ASSERT_TRUE(made.report) << messageOf(made.report);
  EXPECT_EQ(made.report->types.size(), 1u);
  EXPECT_CONTAINS(made.notes[0], "tensor 'model.embed_tokens.weight' becomes f32: the format has no type q6_k");
  Result<Container> a = Container::open(model + "/model.safetensors"),
                    b = Container::open(directory / "hf/model.safetensors");
  ASSERT_TRUE(a && b);
  for (const TensorInfo &tensor : a->tensors()) {
    double error = 0, square = 0;
    for (uint64_t i = 0; i < tensor.bytes / 4; ++i) {
      float x, y;
      std::memcpy(&x, tensor.data + 4 * i, 4);
      std::memcpy(&y, b->find(tensor.name)->data + 4 * i, 4);
      error += (double{x} - y) * (double{x} - y);
      square += double{x} * x;
    }
    EXPECT_LE(std::sqrt(error / square), 0.015) << tensor.name;
  }
}

TEST(Convert, RefusesWhatTheTargetCannotExpress) {
  for (auto [extra, says] :
       {std::pair{R"(, "hidden_act": "gelu")", "the activation gelu_erf has no key in GGUF"},
        {R"(, "rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4,
             "original_max_position_embeddings": 32})",
         "RoPE scaling of type llama3 has no keys in GGUF"}}) {
    TemporaryDirectory directory;
    Conversion made = convert(madeModel(directory, extra), kGguf, "", directory / "m.gguf");
    EXPECT_EQ(codeOf(made.report), "UNSUPPORTED");
    EXPECT_CONTAINS(messageOf(made.report), says);
    EXPECT_EQ(listing(directory.path), std::set<std::string>{"made"});
  }
  TemporaryDirectory directory;
  const std::string model = madeModel(directory, R"(, "rope_scaling": {"type": "linear", "factor": 2.5})");
  ASSERT_TRUE(convert(model, kGguf, "", directory / "m.gguf").report);
  expectSameConfig(model, directory / "m.gguf");
}

} // namespace
