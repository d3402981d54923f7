//===- TokenizerGgufTest.cpp - tokenizers written as GGUF metadata --------===//
#include "FormatsSupport.h"
#include "ck/Import/Formats/ByteTokenizer.h"
#include "ck/Import/Formats/GgufWriter.h"
#include "ck/Import/Formats/Tokenizer.h"

#include <random>

using namespace ck;
using namespace ck::test;

namespace {

/// The tokenizer of the metadata that `from` writes.
Result<Tokenizer> throughGguf(const Tokenizer &from, int64_t vocab, std::optional<int64_t> bos,
                              std::optional<int64_t> eos) {
  TemporaryDirectory directory;
  GgufMetadata metadata;
  if (Status status = from.toGguf(metadata, vocab, bos, eos); !status)
    return status.error();
  if (bos)
    metadata.set("tokenizer.ggml.bos_token_id", static_cast<uint32_t>(*bos));
  if (eos)
    metadata.set("tokenizer.ggml.eos_token_id", static_cast<uint32_t>(*eos));
  Result<TensorStream> stream = ggufStream(directory / "t.gguf", metadata, {});
  if (!stream)
    return stream.error();
  if (Status status = stream->commit(); !status)
    return status.error();
  Result<Container> file = Container::open(directory / "t.gguf");
  return file ? Tokenizer::fromGguf(*file) : Result<Tokenizer>(file.error());
}

void expectSame(const Tokenizer &a, const Tokenizer &b, const std::string &text) {
  for (bool special : {true, false}) {
    Result<std::vector<int32_t>> x = a.encode(text, {special, special}), y = b.encode(text, {special, special});
    ASSERT_TRUE(x && y);
    ASSERT_EQ(*x, *y) << text;
    ASSERT_EQ(*a.decodeBytes(*x, {!special}), *b.decodeBytes(*y, {!special})) << text;
  }
}

std::vector<std::string> texts() {
  std::vector<std::string> out = {
      "", " ", "   a", "Hello, y'all! 3 + 4 = 7.", "caf\xC3\xA9 <s>", "\xF0\x9F\x98\x81\n\t</s>x"};
  std::mt19937 random(4);
  const std::string letters = "  aaabcdeeeghiilmnoorsttuwy,.T\n\xC3\xA9";
  for (int i = 0; i < 1000; ++i) {
    std::string text;
    for (size_t length = random() % 30; length > 0; --length)
      text += letters[random() % letters.size()];
    out.push_back(text);
  }
  return out;
}

TEST(TokenizerGguf, TheExampleComesBack) {
  Result<Tokenizer> json = Tokenizer::open(examplePath("hf"));
  ASSERT_TRUE(json) << messageOf(json);
  Result<Tokenizer> gguf = throughGguf(*json, 350, 1, 2);
  ASSERT_TRUE(gguf) << messageOf(gguf);
  EXPECT_EQ(gguf->vocabSize(), 350);
  EXPECT_EQ(gguf->tokenText(345), "[PAD345]");
  EXPECT_EQ(gguf->bos(), 1);
  for (const std::string &text : texts())
    expectSame(*json, *gguf, text);
  // Unused ids are no tokens of a tokenizer.json.
  Result<std::string> again = gguf->toJson();
  ASSERT_TRUE(again) << messageOf(again);
  EXPECT_EQ(again->find("[PAD"), std::string::npos);
  Result<Tokenizer> back = Tokenizer::fromJson(*again, "again.json");
  ASSERT_TRUE(back) << messageOf(back);
  for (const std::string &text : texts())
    expectSame(*json, *back, text);
}

TEST(TokenizerGguf, TheVocabularyOfLlamaComesBack) {
  CK_NEEDS_DATA("tokenizers/ggml-vocab-llama-spm.gguf");
  const std::string path = dataPath("tokenizers/ggml-vocab-llama-spm.gguf");
  Result<Tokenizer> original = Tokenizer::open(path);
  ASSERT_TRUE(original) << messageOf(original);
  Result<std::string> text = original->toJson();
  ASSERT_TRUE(text) << messageOf(text);
  Result<Tokenizer> json = Tokenizer::fromJson(*text, "t.json");
  ASSERT_TRUE(json) << messageOf(json);
  Result<Tokenizer> gguf = throughGguf(*json, 32000, 1, 2);
  ASSERT_TRUE(gguf) << messageOf(gguf);
  std::istringstream input(readFile(path + ".inp"));
  for (std::string line; std::getline(input, line);)
    expectSame(*original, *gguf, line);
  for (const std::string &line : texts())
    expectSame(*original, *gguf, line);
}

/// A tokenizer.json whose parts a test can replace.
Result<Tokenizer> made(const std::string &merges, const std::string &model = "", const std::string &added = "",
                       const char *strip = "1") {
  return Tokenizer::fromJson(
      R"({"model": {"type": "BPE", "unk_token": "<unk>", "fuse_unk": true, "byte_fallback": true)" + model +
          R"(, "vocab": {"<unk>": 0, "<s>": 1, "</s>": 2, "\u2581": 3, "a": 4, "b": 5, "c": 6, "ab": 7, "\u2581a": 8,
              "bc": 9, "abc": 10}, "merges": )" +
          merges + R"(}, "added_tokens": [{"id": 0, "content": "<unk>", "special": true}, {"id": 1, "content": "<s>",
              "special": true}, {"id": 2, "content": "</s>", "special": true})" +
          added + R"(], "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "\u2581"},
              {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]}, "decoder": {"type": "Sequence",
              "decoders": [{"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"},
              {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": )" +
          strip + R"(, "stop": 0}]}, "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken":
              {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}], "special_tokens": {"<s>":
              {"ids": [1]}}}})",
      "t.json");
}

const std::string kComplete = R"(["a b", "\u2581 a", "b c", "ab c", "a bc"])";

TEST(TokenizerGguf, MergesBecomeScores) {
  Result<Tokenizer> json = made(kComplete, "", R"(, {"id": 11, "content": "cab", "special": false})");
  ASSERT_TRUE(json) << messageOf(json);
  Result<Tokenizer> gguf = throughGguf(*json, 12, 1, 2);
  ASSERT_TRUE(gguf) << messageOf(gguf);
  std::mt19937 random(2);
  for (int i = 0; i < 500; ++i) {
    std::string text;
    for (size_t length = random() % 12; length > 0; --length)
      text += "abc "[random() % 4];
    expectSame(*json, *gguf, text);
  }
}

TEST(TokenizerGguf, RefusesWhatScoresCannotSay) {
  auto refused = [](const Result<Tokenizer> &tokenizer, const char *says, int64_t vocab = 20, int64_t bos = 1) {
    ASSERT_TRUE(tokenizer) << messageOf(tokenizer);
    GgufMetadata metadata;
    Status status = tokenizer->toGguf(metadata, vocab, bos, 2);
    EXPECT_NE(codeOf(status), "OK");
    EXPECT_CONTAINS(messageOf(status), says);
    EXPECT_EQ(metadata.count(), 0u);
  };
  // A text "bc" ranked first leaves "a", "bc", which scores would merge.
  refused(made(R"(["a b", "\u2581 a", "b c", "ab c"])"), "the pieces 'a' and 'bc' that do not merge, though 'abc'");
  refused(made(R"(["a b", "a bc", "b c", "ab c", "\u2581 a"])"), "merges to 'abc' with merges to others between them");
  refused(made(kComplete, R"(, "ignore_merges": true)"), "ignore_merges");
  refused(made(kComplete, "", R"(, {"id": 12, "content": "a\u2581", "special": false})"), "with a mark of a space");
  refused(made(kComplete, "", "", "0"), "a space in front of text");
  refused(made(kComplete), "the tokenizer has 11 tokens, but the model's vocabulary is 10", 10);
  refused(made(kComplete), "other tokens before the text", 20, 0);
  refused(Tokenizer::fromJson(byteTokenizerJson(), "bytes.json"), "spaces that are characters like others", 256);
}

} // namespace
