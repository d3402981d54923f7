//===- FuzzTest.cpp - damaged files never crash a reader ------------------===//
//
// Valid files are damaged thousands of times, by a fixed seed. Whatever comes out must be a value or an error; what is
// accepted must be usable: every byte that a tensor claims is read. Sanitizers make this test sharp.
//
//===----------------------------------------------------------------------===//
#include "FormatsSupport.h"
#include "ck/Import/Formats/Json.h"
#include "ck/Import/Formats/ModelConfig.h"
#include "ck/Import/Formats/Tokenizer.h"
#include "ck/Import/Formats/WeightTable.h"

#include <random>

using namespace ck;
using namespace ck::test;

namespace {

/// One to four faults: a byte changed, an extreme 8-byte number planted, a piece removed or doubled, the end cut off.
std::string damage(std::string bytes, std::mt19937_64 &random) {
  static constexpr uint64_t kExtremes[] = {0, 1, 0x7fffffff, 0xffffffff, 1ull << 60, ~0ull >> 1, 1ull << 63, ~0ull};
  for (uint64_t faults = 1 + random() % 4; faults > 0 && !bytes.empty(); --faults) {
    size_t at = random() % bytes.size(), length = std::min<size_t>(random() % 16, bytes.size() - at);
    switch (random() % 8) {
    case 0:
      bytes.resize(at);
      break;
    case 1:
      bytes.erase(at, length);
      break;
    case 2:
      bytes.insert(at, bytes.substr(at, length));
      break;
    case 3:
      if (bytes.size() - at >= 8)
        bytes.replace(at, 8, bytesOf(kExtremes[random() % 8]));
      break;
    case 4:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
      break;
    case 5: // digits and structure of JSON
      bytes[at] = "0123456789-.eE\"[]{},:\\nN"[random() % 24];
      break;
    default:
      bytes[at] = static_cast<char>(random());
    }
  }
  return bytes;
}

uint64_t useContainer(const Container &container) {
  uint64_t sum = 0;
  for (const TensorInfo &tensor : container.tensors())
    for (uint64_t i = 0; i < tensor.bytes; ++i)
      sum += tensor.data[i];
  for (const MetaEntry &entry : container.metadata()) {
    sum += entry.value.brief().size();
    if (const MetaArray *array = entry.value.asArray()) {
      sum += array->integers() ? 1 : 0;
      sum += array->numbers() ? 1 : 0;
      sum += array->arrays() ? 1 : 0;
      if (auto strings = array->strings())
        for (std::string_view text : *strings)
          sum += text.empty() ? 0 : static_cast<unsigned char>(text.back());
    }
  }
  return sum;
}

void useTokenizer(const Result<Tokenizer> &tokenizer) {
  if (!tokenizer)
    return;
  Result<std::vector<int32_t>> ids = tokenizer->encode("Once upon a time\xFF\xE2\x82 <s>");
  if (ids) {
    EXPECT_TRUE(tokenizer->decode(*ids));
  }
}

/// Reads `rounds` damaged forms of a file with `read`, which returns true for accepted ones; some, but not all, must
/// be.
template <typename Read> void fuzz(const std::string &good, int rounds, Read read) {
  ASSERT_FALSE(good.empty());
  ASSERT_TRUE(read(good)) << "the undamaged file";
  std::mt19937_64 random(20240229);
  int accepted = 0;
  for (int i = 0; i < rounds; ++i)
    accepted += read(damage(good, random));
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, rounds);
}

bool readContainer(const std::string &bytes, const std::string &name) {
  Result<Container> container = Container::parse(MappedFile::fromMemory(bytes, name));
  if (!container) {
    EXPECT_FALSE(container.error().message.empty() || container.error().code.empty());
    return false;
  }
  useContainer(*container);
  if (container->format() == Container::Format::Gguf) {
    if (Result<ModelConfig> config = modelConfigFromGguf(*container)) {
      EXPECT_FALSE(checkWeights(*config, *container)); // there are no layers
    }
    useTokenizer(Tokenizer::fromGguf(*container));
  }
  return true;
}

TEST(Fuzz, Gguf) {
  GgufBuilder file;
  file.text("general.architecture", "llama").u32("llama.context_length", 16).u32("llama.embedding_length", 8);
  file.u32("llama.block_count", 1).u32("llama.feed_forward_length", 8).u32("llama.attention.head_count", 2);
  file.f32("llama.attention.layer_norm_rms_epsilon", 1e-5f).text("tokenizer.ggml.model", "llama");
  file.strings("tokenizer.ggml.tokens", {"<unk>", "<s>", "a", "\xE2\x96\x81", "ta", "t"});
  file.array<float>("tokenizer.ggml.scores", 6, {0, 0, -1, -2, -3, -4});
  file.array<int32_t>("tokenizer.ggml.token_type", 5, {2, 3, 1, 1, 5, 1});
  file.tensor("token_embd.weight", {8, 6}, 0, std::string(192, 1)).tensor("x", {32, 2}, 2, std::string(36, 2));
  fuzz(file.bytes(), 20000, [](const std::string &bytes) { return readContainer(bytes, "f.gguf"); });
}

/// Only the header of a whole model is damaged, so that more of the damage reaches the tokenizer.
TEST(Fuzz, GgufHeaderOfAModel) {
  std::string good = readFile(examplePath("tiny-llama-f32.gguf"));
  size_t header = Container::open(examplePath("tiny-llama-f32.gguf"))->tensors()[0].offset;
  fuzz(good.substr(0, header), 1000, [&](const std::string &damaged) {
    Result<Container> container = Container::parse(MappedFile::fromMemory(damaged + good.substr(header), "f.gguf"));
    if (!container)
      return false;
    useContainer(*container);
    (void)codeOf(modelConfigFromGguf(*container));
    useTokenizer(Tokenizer::fromGguf(*container));
    return true;
  });
}

TEST(Fuzz, Safetensors) {
  std::string header = R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,4],"data_offsets":[0,32]},)"
                       R"("b":{"dtype":"F16","shape":[8],"data_offsets":[32,48]}})";
  fuzz(safetensorsBytes(header, std::string(48, 'x')), 20000,
       [](const std::string &bytes) { return readContainer(bytes, "f.safetensors"); });
}

TEST(Fuzz, HfConfig) {
  fuzz(readFile(examplePath("hf/config.json")), 20000, [](const std::string &text) {
    Result<ModelConfig> config = modelConfigFromHf(text, "config.json");
    return config && !weightTable(*config).empty();
  });
}

TEST(Fuzz, TokenizerJson) {
  fuzz(readFile(examplePath("hf/tokenizer.json")), 2000, [](const std::string &text) {
    Result<Tokenizer> tokenizer = Tokenizer::fromJson(text, "tokenizer.json");
    useTokenizer(tokenizer);
    return static_cast<bool>(tokenizer);
  });
}

TEST(Fuzz, ControlFilesOfTheDataFolder) {
  CK_NEEDS_DATA("malformed");
  for (const char *name : {"00-control-valid.gguf", "00-control-valid.safetensors"})
    fuzz(readFile(dataPath("malformed/") + name), 5000,
         [&](const std::string &bytes) { return readContainer(bytes, name); });
  fuzz(readFile(dataPath("malformed/00-control-config.json")), 5000,
       [](const std::string &text) { return static_cast<bool>(modelConfigFromHf(text, "config.json")); });
}

} // namespace
