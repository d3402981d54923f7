//===- TokenizerRulesTest.cpp - the rules of tokenizers, one by one -------===//
//
// Small vocabularies made by hand, where the right ids can be seen; and the heap against the obvious slow loop.
//
//===----------------------------------------------------------------------===//
#include "FormatsSupport.h"
#include "ck/Import/Formats/ByteTokenizer.h"
#include "ck/Import/Formats/Tokenizer.h"

#include <chrono>
#include <map>
#include <random>

using namespace ck;
using namespace ck::test;

namespace {

using Ids = std::vector<int32_t>;

/// A tokenizer.json whose parts a test can replace.
struct JsonParts {
  std::string vocab = R"({"<unk>": 0, "<s>": 1, "</s>": 2, "\u2581": 3, "a": 4, "b": 5, "c": 6, "ab": 7, "\u2581a": 8,
                          "bc": 9, "abc": 10})";
  std::string merges = R"(["a b", ["\u2581", "a"], "b c", "ab c"])";
  std::string model = R"("type": "BPE", "unk_token": "<unk>", "fuse_unk": true, "byte_fallback": true)";
  std::string added = R"([{"id": 0, "content": "<unk>", "special": true}, {"id": 1, "content": "<s>", "special": true},
                          {"id": 2, "content": "</s>", "special": true}])";
  std::string normalizer = R"({"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "\u2581"},
                               {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]})";
  std::string decoder = R"({"type": "Sequence", "decoders": [
                            {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
                            {"type": "ByteFallback"}, {"type": "Fuse"},
                            {"type": "Strip", "content": " ", "start": 1, "stop": 0}]})";
  std::string post = R"({"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                         {"Sequence": {"id": "A", "type_id": 0}}], "special_tokens": {"<s>": {"ids": [1]}}})";
  std::string rest = R"("version": "1.0")";

  Result<Tokenizer> parse() const {
    return Tokenizer::fromJson("{" + rest + ", \"model\": {" + model + ", \"vocab\": " + vocab + ", \"merges\": " +
                                   merges + "}, \"added_tokens\": " + added + ", \"normalizer\": " + normalizer +
                                   ", \"decoder\": " + decoder + ", \"post_processor\": " + post + "}",
                               "t.json");
  }
};

Ids encode(const Result<Tokenizer> &tokenizer, std::string_view text, bool special = false, bool parse = true) {
  EXPECT_TRUE(tokenizer) << messageOf(tokenizer);
  Result<Ids> ids = tokenizer ? tokenizer->encode(text, {special, parse}) : Result<Ids>(tokenizer.error());
  EXPECT_TRUE(ids) << messageOf(ids);
  return ids ? *ids : Ids{-1};
}

TEST(TokenizerJson, MergesByRankNotByLength) {
  Result<Tokenizer> tokenizer = JsonParts().parse();
  EXPECT_EQ(encode(tokenizer, "abc"), (Ids{3, 10})); // "a b" before "_ a"; then "ab c"
  EXPECT_EQ(encode(tokenizer, "ac"), (Ids{8, 6}));
  EXPECT_EQ(encode(tokenizer, "bc"), (Ids{3, 9}));
  EXPECT_EQ(encode(tokenizer, ""), Ids{});
  EXPECT_EQ(encode(tokenizer, "", true), Ids{1});
  EXPECT_EQ(encode(tokenizer, "a", true), (Ids{1, 8}));
  EXPECT_EQ(tokenizer->bos(), 1);
}

TEST(TokenizerJson, SpecialTokensSplitTheText) {
  Result<Tokenizer> tokenizer = JsonParts().parse();
  EXPECT_EQ(encode(tokenizer, "a</s>b"), (Ids{8, 2, 3, 5})); // the text behind gets its own space
  EXPECT_EQ(encode(tokenizer, "</s></s>"), (Ids{2, 2}));
  EXPECT_EQ(encode(tokenizer, "a<s", false), (Ids{8, 0})); // "<s" is unknown text, fused
  EXPECT_EQ(encode(tokenizer, "</s>", false, false), (Ids{3, 0}));
  EXPECT_EQ(*tokenizer->decode({8, 2, 3, 5}, {true}), "a b");
  EXPECT_EQ(*tokenizer->decode({1, 8, 2}, {false}), "<s> a</s>");
  EXPECT_TRUE(tokenizer->isSpecial(2));
  EXPECT_FALSE(tokenizer->isSpecial(4));
}

TEST(TokenizerJson, UnknownTextIsFusedOrNot) {
  JsonParts parts;
  EXPECT_EQ(encode(parts.parse(), "xyaz"), (Ids{3, 0, 4, 0}));
  parts.model = R"("type": "BPE", "unk_token": "<unk>", "fuse_unk": false)";
  EXPECT_EQ(encode(parts.parse(), "xyaz"), (Ids{3, 0, 0, 4, 0}));
  parts.model = R"("type": "BPE")";
  Result<Ids> ids = parts.parse()->encode("ax");
  EXPECT_EQ(codeOf(ids), "BAD_INPUT");
  EXPECT_CONTAINS(messageOf(ids), "'x'");
}

TEST(TokenizerJson, IgnoreMergesTakesWholePieces) {
  JsonParts parts;
  parts.vocab.insert(parts.vocab.size() - 1, R"(, "\u2581abc": 11)");
  EXPECT_EQ(encode(parts.parse(), "abc"), (Ids{3, 10}));
  parts.model += R"(, "ignore_merges": true)";
  EXPECT_EQ(encode(parts.parse(), "abc"), Ids{11});
}

TEST(TokenizerJson, TheLongestAddedTokenWins) {
  JsonParts parts;
  parts.added = R"([{"id": 11, "content": "<x>", "special": true}, {"id": 12, "content": "<x>y", "special": false}])";
  parts.post = "null";
  EXPECT_EQ(encode(parts.parse(), "<x><x>y"), (Ids{11, 12}));
  EXPECT_EQ(encode(parts.parse(), "<x>y", false, false), Ids{12}); // only special ones can be switched off
  EXPECT_EQ(*parts.parse()->decode({11, 12}), "<x>y");             // and are skipped
}

TEST(TokenizerJson, WithoutANormalizerSpacesAreCharacters) {
  JsonParts parts;
  parts.normalizer = "null";
  parts.decoder = R"({"type": "Fuse"})";
  parts.vocab = R"({"<unk>": 0, "<s>": 1, "</s>": 2, "a": 3, " ": 4, " a": 5, "\u2581": 6})";
  parts.merges = R"([[" ", "a"]])";
  EXPECT_EQ(encode(parts.parse(), "a a"), (Ids{3, 5}));
  EXPECT_EQ(encode(parts.parse(), "\u2581a "), (Ids{6, 3, 4}));
  EXPECT_EQ(*parts.parse()->decode({5, 6}), " a\u2581");
  EXPECT_EQ(*parts.parse()->decode({4, 4}), "  ");
}

TEST(TokenizerJson, ByteTokenizerKeepsEveryByte) {
  Result<Tokenizer> tokenizer = Tokenizer::fromJson(byteTokenizerJson(), "bytes.json");
  ASSERT_TRUE(tokenizer) << messageOf(tokenizer);
  EXPECT_EQ(tokenizer->vocabSize(), 256);
  EXPECT_FALSE(tokenizer->bos());
  std::string all;
  Ids expected;
  for (int i = 0; i < 256; ++i) {
    all += char(i);
    expected.push_back(i);
  }
  std::string text = " two  spaces, \u2581, <0x41>, </s>\n";
  for (unsigned char c : text)
    expected.push_back(c);
  EXPECT_EQ(encode(tokenizer, all + text, true), expected);
  EXPECT_EQ(*tokenizer->decodeBytes(expected), all + text);
  EXPECT_EQ(*tokenizer->decode(encode(tokenizer, text)), text);
}

TEST(TokenizerJson, RefusesByName) {
  auto expect = [](JsonParts parts, const char *code, const char *part) {
    Result<Tokenizer> tokenizer = parts.parse();
    EXPECT_EQ(codeOf(tokenizer), code) << messageOf(tokenizer);
    EXPECT_CONTAINS(messageOf(tokenizer), part);
  };
  auto with = [](std::string JsonParts::*member, const std::string &text) {
    JsonParts parts;
    parts.*member = text;
    return parts;
  };
  expect(with(&JsonParts::rest, R"("pre_tokenizer": {"type": "ByteLevel"})"), "UNSUPPORTED", "byte-level BPE");
  expect(with(&JsonParts::rest, R"("pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}]})"),
         "UNSUPPORTED", "byte-level BPE");
  expect(with(&JsonParts::rest, R"("pre_tokenizer": {"type": "Metaspace"})"), "UNSUPPORTED", "'Metaspace'");
  expect(with(&JsonParts::rest, R"("truncation": {})"), "UNSUPPORTED", "truncation");
  expect(with(&JsonParts::rest, R"("novelty": 1)"), "UNSUPPORTED", "'novelty'");
  expect(with(&JsonParts::model, R"("type": "Unigram")"), "UNSUPPORTED", "'Unigram'");
  expect(with(&JsonParts::model, R"("type": "BPE", "dropout": 0.1)"), "UNSUPPORTED", "dropout");
  expect(with(&JsonParts::model, R"("type": "BPE", "end_of_word_suffix": "</w>")"), "UNSUPPORTED", "'</w>'");
  expect(with(&JsonParts::model, R"("type": "BPE", "unk_token": "?")"), "BAD_CONFIG", "'?'");
  expect(with(&JsonParts::merges, R"(["a x"])"), "BAD_CONFIG", "'a x'");
  expect(with(&JsonParts::merges, R"(["a b", "a b"])"), "DUPLICATE", "'a b'");
  expect(with(&JsonParts::vocab, R"({"a": 0, "b": 0})"), "CONFLICT", "both have the id 0");
  expect(with(&JsonParts::vocab, R"({"a": -1})"), "BAD_CONFIG", "'a'");
  expect(with(&JsonParts::vocab, R"({"a": 16777216})"), "BAD_CONFIG", "'a'");
  expect(with(&JsonParts::added, R"([{"id": 1, "content": "<s>", "lstrip": true}])"), "UNSUPPORTED", "lstrip");
  expect(with(&JsonParts::added, R"([{"id": 3, "content": "<s>"}])"), "CONFLICT", "'<s>'");
  expect(with(&JsonParts::normalizer, R"({"type": "NFKC"})"), "UNSUPPORTED", "'NFKC'");
  expect(with(&JsonParts::normalizer, "null"), "UNSUPPORTED", "normalizer");
  expect(with(&JsonParts::decoder, R"({"type": "WordPiece"})"), "UNSUPPORTED", "'WordPiece'");
  expect(with(&JsonParts::post, R"({"type": "BertProcessing"})"), "UNSUPPORTED", "'BertProcessing'");
  expect(with(&JsonParts::post, R"({"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>"}}],
                                    "special_tokens": {"<s>": {"ids": [99]}}})"),
         "BAD_CONFIG", "99");
}

constexpr int32_t kNormal = 1, kUnknown = 2, kControl = 3, kUser = 4, kUnused = 5, kByte = 6;

struct Piece {
  std::string text;
  float score;
  int32_t kind;
};

GgufBuilder ggufWith(const std::vector<Piece> &pieces) {
  GgufBuilder file;
  std::vector<std::string> texts;
  std::vector<float> scores;
  std::vector<int32_t> kinds;
  for (const Piece &piece : pieces) {
    texts.push_back(piece.text);
    scores.push_back(piece.score);
    kinds.push_back(piece.kind);
  }
  file.text("tokenizer.ggml.model", "llama").strings("tokenizer.ggml.tokens", texts);
  return file.array("tokenizer.ggml.scores", 6, scores).array("tokenizer.ggml.token_type", 5, kinds);
}

Result<Tokenizer> tokenizerOf(const GgufBuilder &file) {
  Result<Container> container = file.parse();
  return container ? Tokenizer::fromGguf(*container) : Result<Tokenizer>(container.error());
}

const std::vector<Piece> kPieces = {
    {"<unk>", 0, kUnknown}, {"<s>", 0, kControl}, {"</s>", 0, kControl}, {"\xE2\x96\x81", -9, kNormal},
    {"a", -9, kNormal},     {"b", -9, kNormal},   {"c", -9, kNormal},    {"bc", -1, kNormal},
    {"ab", -2, kNormal},    {"abc", -3, kNormal}};

TEST(TokenizerGguf, MergesByScore) {
  Result<Tokenizer> tokenizer = tokenizerOf(ggufWith(kPieces));
  EXPECT_EQ(encode(tokenizer, "abc"), (Ids{3, 9})); // "bc", then "a" + "bc"
  EXPECT_EQ(encode(tokenizer, "abab"), (Ids{3, 8, 8}));
  EXPECT_EQ(encode(tokenizer, "x\xC3\xA9y"), (Ids{3, 0}));
  EXPECT_EQ(encode(tokenizer, "a", true), (Ids{3, 4})); // the file names no BOS
}

TEST(TokenizerGguf, ObeysItsFlags) {
  GgufBuilder file = ggufWith(kPieces);
  file.u32("tokenizer.ggml.bos_token_id", 1).u32("tokenizer.ggml.eos_token_id", 2);
  EXPECT_EQ(encode(tokenizerOf(file), "a", true), (Ids{1, 3, 4}));
  EXPECT_EQ(tokenizerOf(file)->eos(), Ids{2});
  GgufBuilder plain = file;
  plain.boolean("tokenizer.ggml.add_bos_token", false).boolean("tokenizer.ggml.add_eos_token", true);
  plain.boolean("tokenizer.ggml.add_space_prefix", false);
  Result<Tokenizer> tokenizer = tokenizerOf(plain);
  EXPECT_EQ(encode(tokenizer, " a", true), (Ids{3, 4, 2}));
  EXPECT_EQ(*tokenizer->decode({3, 4}), " a"); // no space was added, so none is taken away
}

TEST(TokenizerGguf, ControlTokensAreNoPieces) {
  std::vector<Piece> pieces = kPieces;
  for (const char *text : {"<", "s>", "<s", ">", "s"})
    pieces.push_back({text, -5, kNormal});
  pieces[1].score = 100; // would win every merge
  EXPECT_EQ(encode(tokenizerOf(ggufWith(pieces)), "<s>", false, false), (Ids{3, 12, 13}));
  EXPECT_EQ(encode(tokenizerOf(ggufWith(pieces)), "<s>"), Ids{1});
}

TEST(TokenizerGguf, UserTokensAreFoundFirst) {
  std::vector<Piece> pieces = kPieces;
  pieces.push_back({"bca", 0, kUser});
  EXPECT_EQ(encode(tokenizerOf(ggufWith(pieces)), "abcab", false, false), (Ids{3, 4, 10, 3, 5}));
  EXPECT_EQ(*tokenizerOf(ggufWith(pieces))->decode({10}), "bca");
}

TEST(TokenizerGguf, UnusedPiecesAreSplitAgain) {
  std::vector<Piece> pieces = kPieces;
  pieces[7].kind = kUnused; // "bc"
  EXPECT_EQ(encode(tokenizerOf(ggufWith(pieces)), "bc"), (Ids{3, 5, 6}));
  EXPECT_EQ(encode(tokenizerOf(ggufWith(pieces)), "abc"), (Ids{3, 9}));
}

TEST(TokenizerGguf, RefusesByName) {
  auto expect = [](const GgufBuilder &file, const char *code, const char *part) {
    Result<Tokenizer> tokenizer = tokenizerOf(file);
    EXPECT_EQ(codeOf(tokenizer), code) << messageOf(tokenizer);
    EXPECT_CONTAINS(messageOf(tokenizer), part);
  };
  expect(GgufBuilder().u32("k", 1), "BAD_CONFIG", "has no tokenizer");
  expect(GgufBuilder().text("tokenizer.ggml.model", "gpt2"), "UNSUPPORTED", "byte-level BPE");
  expect(GgufBuilder().text("tokenizer.ggml.model", "rwkv"), "UNSUPPORTED", "'rwkv'");
  expect(GgufBuilder().text("tokenizer.ggml.model", "llama"), "BAD_CONFIG", "tokenizer.ggml.tokens is missing");
  expect(ggufWith(kPieces).u32("tokenizer.ggml.novelty", 1), "UNSUPPORTED", "tokenizer.ggml.novelty");
  expect(ggufWith(kPieces).u32("tokenizer.ggml.eos_token_id", 10), "BAD_CONFIG", "eos_token_id is 10");
  expect(ggufWith(kPieces).u32("tokenizer.ggml.add_bos_token", 1), "BAD_CONFIG", "add_bos_token is 1");
  expect(ggufWith(kPieces).boolean("tokenizer.ggml.add_bos_token", true), "CONFLICT", "no bos_token_id");
  expect(ggufWith(kPieces).boolean("tokenizer.ggml.remove_extra_whitespaces", true), "UNSUPPORTED", "whitespaces");
  expect(ggufWith({{"a", NAN, kNormal}}), "BAD_CONFIG", "score");
  expect(ggufWith({{"a", 0, 7}}), "BAD_CONFIG", "kind 7");
  expect(ggufWith({{"a", 0, kByte}}), "BAD_CONFIG", "<0x00>");
  expect(ggufWith({{"a", 0, kNormal}, {"a", 0, kNormal}}), "DUPLICATE", "'a'");
}

/// Pieces over a small alphabet with few distinct scores, so that ties decide often.
std::vector<Piece> randomPieces(std::mt19937 &random) {
  std::map<std::string, Piece> pieces;
  for (char c : std::string("abcd"))
    pieces[std::string(1, c)] = {std::string(1, c), -20, kNormal};
  for (int i = 0; i < 30; ++i) {
    std::string text;
    for (size_t length = 2 + random() % 4; text.size() < length;)
      text += static_cast<char>('a' + random() % 4);
    pieces[text] = {text, -static_cast<float>(random() % 8), kNormal};
  }
  std::vector<Piece> out = {{"<unk>", 0, kUnknown}, {"\xE2\x96\x81", -20, kNormal}};
  for (auto &[text, piece] : pieces)
    out.push_back(piece);
  return out;
}

/// The best pair is looked for from the start each time.
Ids slowMerge(const std::vector<Piece> &pieces, const std::string &text) {
  std::map<std::string, int32_t> ids;
  for (size_t i = 0; i < pieces.size(); ++i)
    ids[pieces[i].text] = static_cast<int32_t>(i);
  std::vector<std::string> parts;
  for (char c : text)
    parts.emplace_back(1, c);
  for (;;) {
    size_t best = parts.size();
    float bestScore = 0;
    for (size_t i = 0; i + 1 < parts.size(); ++i)
      if (auto found = ids.find(parts[i] + parts[i + 1]); found != ids.end())
        if (float score = pieces[found->second].score; best == parts.size() || score > bestScore) {
          best = i;
          bestScore = score;
        }
    if (best == parts.size())
      break;
    parts[best] += parts[best + 1];
    parts.erase(parts.begin() + best + 1);
  }
  Ids out;
  for (const std::string &part : parts)
    out.push_back(ids[part]);
  return out;
}

TEST(TokenizerMerge, TheHeapEqualsTheSlowLoop) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    std::vector<Piece> pieces = randomPieces(random);
    GgufBuilder file = ggufWith(pieces);
    file.boolean("tokenizer.ggml.add_space_prefix", false);
    Result<Tokenizer> tokenizer = tokenizerOf(file);
    for (int sample = 0; sample < 30; ++sample) {
      std::string text(random() % 60, 'a');
      for (char &c : text)
        c = static_cast<char>('a' + random() % 4);
      ASSERT_EQ(encode(tokenizer, text), slowMerge(pieces, text)) << text;
    }
  }
}

TEST(TokenizerMerge, LongTextTakesNoQuadraticTime) {
  Result<Tokenizer> tokenizer = Tokenizer::open(examplePath("tiny-llama-f32.gguf"));
  ASSERT_TRUE(tokenizer) << messageOf(tokenizer);
  std::string text(1 << 20, 'a'), mixed;
  for (int i = 0; mixed.size() < 1 << 20; ++i)
    mixed += "the star number " + std::to_string(i) + " said hello. ";
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(*tokenizer->decode(encode(tokenizer, text)), text);
  EXPECT_EQ(*tokenizer->decode(encode(tokenizer, mixed)), mixed);
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), 60.0); // the slow loop would take hours
}

} // namespace
