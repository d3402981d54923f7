//===- TokenizerTest.cpp - tokenizers of real files -----------------------===//
#include "ck/Import/Formats/Tokenizer.h"
#include "FormatsSupport.h"
#include "ck/Import/Formats/Json.h"

#include <random>

using namespace ck;
using namespace ck::test;

namespace {

using Ids = std::vector<int32_t>;

Ids integers(const json::Value &list) {
  Ids out;
  for (const json::Value &value : *list.asArray())
    out.push_back(static_cast<int32_t>(*value.asInteger()));
  return out;
}

std::string streamed(const Tokenizer &tokenizer, const Ids &ids, DecodeOptions options = {}) {
  StreamDecoder decoder(tokenizer, options);
  std::string out;
  for (int32_t id : ids)
    out += *decoder.push(id);
  return out + decoder.finish();
}

/// Text of every kind: spaces in odd places, controls, several scripts, emoji with joiners, NUL.
const std::vector<std::string> kTexts = {"",
                                         " ",
                                         "  ",
                                         "   a",
                                         "a ",
                                         " a b  c ",
                                         "\t",
                                         "\n\n\n",
                                         "Hello, world!",
                                         "Hello, y'all! 3 + 4 = 7.",
                                         "caf\xC3\xA9 na\xC3\xAFve",
                                         "\xE6\x88\x91\xE6\x83\xB3\xE5\x9C\xA8",
                                         "\xF0\x9F\x98\x81\xF0\x9F\x8F\xBD\xE2\x80\x8D",
                                         std::string("a\0b", 3),
                                         "<0x41> <unk",
                                         "\xEF\xBF\xBD",
                                         "\xC2\xA0nbsp",
                                         "tab\there\r\n"};

std::string randomText(std::mt19937 &random) {
  std::string out;
  for (size_t length = random() % 40; length > 0; --length) {
    uint32_t kind = random() % 6;
    if (kind < 3)
      out += static_cast<char>('a' + random() % 26);
    else if (kind < 4)
      out += ' ';
    else if (kind < 5)
      out += kTexts[random() % kTexts.size()];
    else
      out += static_cast<char>(random() % 128);
  }
  return out;
}

/// Both tokenizers of one model: tokenizer.json and GGUF.
void checkPair(const std::string &directory, const std::string &gguf) {
  Result<Tokenizer> a = Tokenizer::open(directory), b = Tokenizer::open(gguf);
  ASSERT_TRUE(a) << messageOf(a);
  ASSERT_TRUE(b) << messageOf(b);
  EXPECT_EQ(a->vocabSize(), b->vocabSize());
  EXPECT_EQ(a->bos(), b->bos());
  std::mt19937 random(11);
  std::vector<std::string> texts = kTexts;
  for (int i = 0; i < 2000; ++i)
    texts.push_back(randomText(random));
  for (const std::string &text : texts) {
    for (bool special : {true, false}) {
      EncodeOptions options{special, /*parseSpecial=*/false};
      Ids ids = *a->encode(text, options);
      ASSERT_EQ(ids, *b->encode(text, options)) << text;
      ASSERT_EQ(*a->decode(ids), text);
      ASSERT_EQ(*b->decode(ids), text);
      ASSERT_EQ(streamed(*a, ids), text);
    }
    std::string marked = text + "</s>" + text;
    ASSERT_EQ(*a->encode(marked), *b->encode(marked)) << text;
  }
}

TEST(Tokenizer, BothFormsOfTheExampleAgree) { checkPair(examplePath("hf"), examplePath("tiny-llama-f32.gguf")); }

TEST(Tokenizer, BothFormsOfStories260KAgree) {
  CK_NEEDS_DATA("models/stories260K/hf");
  checkPair(dataPath("models/stories260K/hf"), dataPath("models/stories260K/stories260K-f32.gguf"));
}

/// A golden file: prompt, prompt_ids, greedy_ids and the text of both.
void checkGolden(const std::string &model, const std::string &golden) {
  Result<Tokenizer> tokenizer = Tokenizer::open(model);
  ASSERT_TRUE(tokenizer) << messageOf(tokenizer);
  Result<json::Value> root = json::parseFile(golden);
  ASSERT_TRUE(root) << messageOf(root);
  const std::string &prompt = *root->find("prompt")->asString();
  Ids promptIds = integers(*root->find("prompt_ids")), newIds = integers(*root->find("greedy_ids"));
  EXPECT_EQ(*tokenizer->encode(prompt), promptIds);
  StreamDecoder decoder(*tokenizer);
  std::string head, tail;
  for (int32_t id : promptIds)
    head += *decoder.push(id);
  for (int32_t id : newIds)
    tail += *decoder.push(id);
  tail += decoder.finish();
  EXPECT_EQ(head, prompt);
  const std::string &text = *root->find("text")->asString();
  EXPECT_TRUE(text == head + tail || text == tail) << head << "|" << tail;
}

TEST(Tokenizer, ReadsTheExamplesGoldens) {
  for (const char *golden : {"golden_once.json", "golden_star.json"}) {
    checkGolden(examplePath("hf"), examplePath(golden));
    checkGolden(examplePath("tiny-llama-f32.gguf"), examplePath(golden));
  }
}

TEST(Tokenizer, ReadsTheGoldensOfStories260K) {
  CK_NEEDS_DATA("models/stories260K/hf");
  for (const char *golden : {"golden_once.json", "golden_tim.json"})
    for (const char *model : {"hf", "stories260K-f32.gguf", "hf/tokenizer.json"})
      checkGolden(dataPath("models/stories260K/") + model, dataPath("models/stories260K/") + golden);
}

TEST(Tokenizer, EqualsThePublishedVectorsOfLlama) {
  CK_NEEDS_DATA("tokenizers/ggml-vocab-llama-spm.gguf");
  std::string base = dataPath("tokenizers/ggml-vocab-llama-spm.gguf");
  Result<Tokenizer> tokenizer = Tokenizer::open(base);
  ASSERT_TRUE(tokenizer) << messageOf(tokenizer);
  EXPECT_EQ(tokenizer->vocabSize(), 32000);
  std::string input = readFile(base + ".inp");
  std::istringstream output(readFile(base + ".out"));
  const std::string separator = "\n__ggml_vocab_test__\n";
  int strings = 0;
  for (size_t begin = 0; begin <= input.size(); ++strings) {
    size_t end = input.find(separator, begin);
    std::string text = input.substr(begin, end == std::string::npos ? end : end - begin);
    std::string line;
    std::getline(output, line);
    std::istringstream numbers(line);
    Ids expected{std::istream_iterator<int32_t>(numbers), {}};
    EXPECT_EQ(*tokenizer->encode(text, {/*addSpecial=*/false}), expected) << text;
    EXPECT_EQ(*tokenizer->decode(expected), text);
    EXPECT_EQ(streamed(*tokenizer, expected), text);
    Ids withBos = expected;
    withBos.insert(withBos.begin(), 1);
    EXPECT_EQ(*tokenizer->encode(text), withBos);
    begin = end == std::string::npos ? input.size() + 1 : end + separator.size();
  }
  EXPECT_EQ(strings, 47);
}

TEST(Tokenizer, BytesThatAreNoTextSurvive) {
  Result<Tokenizer> tokenizer = Tokenizer::open(examplePath("hf"));
  ASSERT_TRUE(tokenizer);
  std::mt19937 random(3);
  for (int i = 0; i < 500; ++i) {
    std::string bytes(random() % 30, ' ');
    for (char &c : bytes)
      c = static_cast<char>(random());
    if (bytes.find("\xE2\x96\x81") != std::string::npos)
      continue; // the space mark itself reads as a space
    Ids ids = *tokenizer->encode(bytes, {true, false});
    EXPECT_EQ(*tokenizer->decodeBytes(ids), bytes);
    std::string text = *tokenizer->decode(ids);
    EXPECT_EQ(streamed(*tokenizer, ids), text);
  }
}

TEST(Tokenizer, StreamsOnlyWholeCharacters) {
  Result<Tokenizer> tokenizer = Tokenizer::open(examplePath("hf"));
  ASSERT_TRUE(tokenizer);
  auto byte = [](int value) { return 3 + value; }; // <0x00> is id 3
  StreamDecoder decoder(*tokenizer);
  EXPECT_EQ(*decoder.push(byte(0xF0)), "");
  EXPECT_EQ(*decoder.push(byte(0x9F)), "");
  EXPECT_EQ(*decoder.push(byte(0x98)), "");
  EXPECT_EQ(*decoder.push(byte(0x81)), "\xF0\x9F\x98\x81");
  EXPECT_EQ(*decoder.push(byte(0xE2)), "");
  EXPECT_EQ(*decoder.push(byte('a')), "\xEF\xBF\xBD"
                                      "a");
  EXPECT_EQ(*decoder.push(byte(0xC3)), "");
  EXPECT_EQ(decoder.finish(), "\xEF\xBF\xBD");
  EXPECT_EQ(decoder.finish(), "");
}

TEST(Tokenizer, ContinuationsKeepTheirSpace) {
  Result<Tokenizer> tokenizer = Tokenizer::open(examplePath("hf"));
  ASSERT_TRUE(tokenizer);
  Ids ids = *tokenizer->encode("a a");
  StreamDecoder decoder(*tokenizer);
  std::string prompt = *decoder.push(ids[0]) + *decoder.push(ids[1]), rest;
  for (size_t i = 2; i < ids.size(); ++i)
    rest += *decoder.push(ids[i]);
  EXPECT_EQ(prompt, "a");
  EXPECT_EQ(rest, " a");
  StreamDecoder fromNothing(*tokenizer); // after BOS alone, the text starts here
  EXPECT_EQ(*fromNothing.push(1), "");
  EXPECT_EQ(*fromNothing.push(ids[1]), "a");
}

TEST(Tokenizer, IdsOutsideTheVocabularyAreErrors) {
  Result<Tokenizer> tokenizer = Tokenizer::open(examplePath("hf"));
  ASSERT_TRUE(tokenizer);
  for (int32_t id : {-1, 340, INT32_MAX}) {
    Result<std::string> text = tokenizer->decode({1, id});
    EXPECT_EQ(codeOf(text), "OUT_OF_RANGE");
    EXPECT_EQ(messageOf(text), "token id " + std::to_string(id) + " at index 1 is outside the vocabulary of 340");
    EXPECT_EQ(codeOf(StreamDecoder(*tokenizer).push(id)), "OUT_OF_RANGE");
    EXPECT_EQ(tokenizer->tokenText(id), "");
    EXPECT_FALSE(tokenizer->isSpecial(id));
  }
}

TEST(Tokenizer, OtherKindsAreRefusedByName) {
  TemporaryDirectory empty;
  EXPECT_EQ(codeOf(Tokenizer::open(empty.path)), "BAD_PATH");
  EXPECT_CONTAINS(messageOf(Tokenizer::open(empty.path)), "has no tokenizer.json");
  CK_NEEDS_DATA("tokenizers");
  for (const char *name : {"gpt2-hf", "gpt-neox-20b-hf", "ggml-vocab-gpt-2.gguf"}) {
    Result<Tokenizer> tokenizer = Tokenizer::open(dataPath("tokenizers/") + name);
    EXPECT_EQ(codeOf(tokenizer), "UNSUPPORTED") << name;
    EXPECT_CONTAINS(messageOf(tokenizer), "byte-level BPE");
  }
}

TEST(Tokenizer, WrittenAsJsonItIsTheSame) {
  std::string hf = examplePath("hf/tokenizer.json"), gguf = examplePath("tiny-llama-f32.gguf");
  std::vector<std::string> paths = {hf, gguf};
  if (exists(dataPath("models/stories260K")))
    for (const char *file : {"hf/tokenizer.json", "stories260K-f32.gguf"})
      paths.push_back(dataPath("models/stories260K/") + file);
  for (const std::string &path : paths) {
    Result<Tokenizer> before = Tokenizer::open(path);
    ASSERT_TRUE(before) << messageOf(before);
    Result<std::string> text = before->toJson();
    ASSERT_TRUE(text) << messageOf(text);
    Result<Tokenizer> after = Tokenizer::fromJson(*text, "written.json");
    ASSERT_TRUE(after) << messageOf(after);
    EXPECT_EQ(after->vocabSize(), before->vocabSize());
    EXPECT_EQ(after->bos(), before->bos());
    for (const char *sample : {"", "Once upon a time, there was a little girl named Lily.", "  two  spaces ",
                               "\xff\xfe bytes", "\u00e9\u20ac", "<s>tokens</s> in text",
                               "The quick brown fox; 12,345 of them!\n\n\tTab", "aaaaaaaaaaaaaaaaaaaaaa"}) {
      EXPECT_EQ(*after->encode(sample), *before->encode(sample)) << path << ": " << sample;
      EXPECT_EQ(*after->decodeBytes(*after->encode(sample)), *before->decodeBytes(*before->encode(sample)));
    }
  }
}

} // namespace
