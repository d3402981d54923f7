//===- TokenizerWriteGguf.cpp - any tokenizer as GGUF metadata ------------===//
//
// GGUF knows pieces with scores: any two neighbours whose joint spelling is a piece merge, the highest score first.
// tokenizer.json lists the pairs that merge. Both are the same where the list has every way to cut a piece into two
// others, and the pairs of one piece stand together; lists made from SentencePiece models are like this. Any other list
// is refused, because the file would give other tokens without a sign.
//
//===----------------------------------------------------------------------===//
#include "Text.h"
#include "TokenizerTables.h"
#include "ck/Import/Formats/GgufWriter.h"
#include "ck/Import/Formats/Utf8.h"

#include <algorithm>

namespace ck {

namespace {

Error unsupported(const std::string &what) {
  return fail("UNSUPPORTED", "the tokenizer has ", what, ", which GGUF cannot express");
}

/// The number of token_type.
int32_t kindNumber(TokenKind kind) {
  switch (kind) {
  case TokenKind::Normal:
    return 1;
  case TokenKind::Unknown:
    return 2;
  case TokenKind::Control:
    return 3;
  case TokenKind::UserDefined:
    return 4;
  case TokenKind::Byte:
    return 6;
  case TokenKind::Hole:
  case TokenKind::Unused:
    return 5;
  }
  return 5;
}

class ScoreWriter {
public:
  explicit ScoreWriter(const TokenizerTables &tables) : tables(tables) {}

  /// Pieces that merge earlier get a higher score, beginning with 0.
  Result<std::vector<float>> scores() {
    if (tables.byScore)
      return tables.scores;
    CK_CHECK(checkComplete());
    std::vector<const std::pair<const uint64_t, TokenizerTables::Merge> *> merges;
    for (const auto &merge : tables.merges)
      merges.push_back(&merge);
    std::sort(merges.begin(), merges.end(), [](auto *a, auto *b) { return a->second.rank < b->second.rank; });
    std::vector<int32_t> place(tables.tokens.size(), -1);
    int32_t places = 0, last = -1;
    for (const auto *merge : merges) {
      int32_t result = merge->second.result;
      if (result != last && place[result] >= 0)
        return unsupported("merges to " + quote(tables.tokens[result].text) + " with merges to others between them");
      if (result != last)
        place[result] = places++;
      last = result;
    }
    if (places > 1 << 24)
      return unsupported("more than 2^24 pieces");
    // Single characters and what nothing merges to: their scores are never asked for.
    std::vector<float> scores(tables.tokens.size());
    for (size_t id = 0; id < scores.size(); ++id)
      if (tables.tokens[id].kind == TokenKind::Normal)
        scores[id] = -static_cast<float>(place[id] >= 0 ? place[id] : places);
    return scores;
  }

private:
  Status checkComplete() const {
    for (const auto &[text, id] : tables.pieces) {
      // Found as it is spelt before anything merges.
      if (tables.tokens[id].kind != TokenKind::Normal || isLiteral(id))
        continue;
      for (size_t cut = nextUtf8(text, 0).length; cut < text.size(); cut += nextUtf8(text, cut).length) {
        auto left = tables.pieces.find(text.substr(0, cut)), right = tables.pieces.find(text.substr(cut));
        if (left == tables.pieces.end() || right == tables.pieces.end())
          continue;
        uint64_t key = static_cast<uint64_t>(left->second) << 32 | static_cast<uint32_t>(right->second);
        if (!tables.merges.count(key))
          return unsupported("the pieces " + quote(left->first) + " and " + quote(right->first) +
                             " that do not merge, though " + quote(text) + " is a piece");
      }
    }
    return Status::success();
  }

  bool isLiteral(int32_t id) const {
    return std::any_of(tables.literals.begin(), tables.literals.end(),
                       [&](const TokenizerTables::Literal &literal) { return literal.id == id; });
  }

  const TokenizerTables &tables;
};

} // namespace

Status Tokenizer::toGguf(GgufMetadata &metadata, int64_t vocab, std::optional<int64_t> bos,
                         std::optional<int64_t> eos) const {
  const TokenizerTables &t = *tables;
  if (!t.marksSpaces)
    return unsupported("spaces that are characters like others");
  if (t.wholeFirst)
    return unsupported("ignore_merges (text that is a piece is not merged)");
  if (t.prefixSpace != t.stripSpace)
    return unsupported("a space in front of text that decoding does not take away, or the reverse");
  bool allBytes = std::count(t.byteToken.begin(), t.byteToken.end(), -1) == 0;
  if (t.unknown && !t.fuseUnknown && !allBytes)
    return unsupported("unknown characters that stay apart (fuse_unk = false)");
  if (!t.before.empty() && (t.before.size() > 1 || t.before[0] != bos))
    return unsupported("other tokens before the text than the begin token of the configuration");
  if (!t.after.empty() && (t.after.size() > 1 || t.after[0] != eos))
    return unsupported("other tokens behind the text than the end token of the configuration");
  if (static_cast<int64_t>(t.tokens.size()) > vocab)
    return fail("CONFLICT", "the tokenizer has ", t.tokens.size(), " tokens, but the model's vocabulary is ", vocab);

  std::vector<TokenKind> kinds;
  for (const TokenizerTables::Token &token : t.tokens)
    kinds.push_back(token.kind);
  for (const TokenizerTables::Literal &literal : t.literals)
    if (!literal.special) {
      if (literal.text.find(kSpaceMark) != std::string::npos)
        return unsupported("the added token " + quote(literal.text) + " with a mark of a space");
      kinds[literal.id] = TokenKind::UserDefined;
    }
  Result<std::vector<float>> scores = ScoreWriter(t).scores();
  if (!scores)
    return scores.error();

  std::vector<std::string> texts;
  std::vector<int32_t> kindNumbers;
  // Readers want a token for each row of the embedding.
  kinds.resize(vocab, TokenKind::Hole);
  scores->resize(vocab);
  for (int64_t id = 0; id < vocab; ++id) {
    bool hole = kinds[id] == TokenKind::Hole;
    texts.push_back(hole ? "[PAD" + std::to_string(id) + "]" : t.tokens[id].text);
    kindNumbers.push_back(kindNumber(kinds[id]));
    if (hole && t.pieces.count(texts.back()))
      return unsupported("a token " + quote(texts.back()) + ", which stands for an id without a token");
  }
  metadata.set("tokenizer.ggml.model", "llama");
  metadata.set("tokenizer.ggml.tokens", texts).set("tokenizer.ggml.scores", *scores);
  metadata.set("tokenizer.ggml.token_type", kindNumbers);
  if (t.unknown)
    metadata.set("tokenizer.ggml.unknown_token_id", static_cast<uint32_t>(*t.unknown));
  metadata.set("tokenizer.ggml.add_bos_token", !t.before.empty()).set("tokenizer.ggml.add_eos_token", !t.after.empty());
  metadata.set("tokenizer.ggml.add_space_prefix", t.prefixSpace);
  return Status::success();
}

} // namespace ck
