//===- TokenizerWrite.cpp - any tokenizer as tokenizer.json ---------------===//
//
// tokenizer.json knows merges with ranks, GGUF pieces with scores. Each way to cut a piece into two others becomes a
// merge, and merges are ranked by the score of what they make: the highest score still goes first.
//
//===----------------------------------------------------------------------===//
#include "Text.h"
#include "TokenizerTables.h"
#include "ck/Import/Formats/Utf8.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

namespace ck {

namespace {

using Json = nlohmann::ordered_json;

struct RankedMerge {
  int32_t left, right, result;
};

std::vector<RankedMerge> mergesByRank(const TokenizerTables &tables) {
  std::vector<RankedMerge> merges(tables.merges.size());
  for (const auto &[key, merge] : tables.merges)
    merges[merge.rank] = {static_cast<int32_t>(key >> 32), static_cast<int32_t>(key & 0xffffffff), merge.result};
  return merges;
}

std::vector<RankedMerge> mergesByScore(const TokenizerTables &tables) {
  std::vector<RankedMerge> merges;
  for (const auto &[text, id] : tables.pieces)
    for (size_t cut = nextUtf8(text, 0).length; cut < text.size(); cut += nextUtf8(text, cut).length) {
      auto left = tables.pieces.find(text.substr(0, cut)), right = tables.pieces.find(text.substr(cut));
      if (left != tables.pieces.end() && right != tables.pieces.end())
        merges.push_back({left->second, right->second, id});
    }
  std::sort(merges.begin(), merges.end(), [&](const RankedMerge &a, const RankedMerge &b) {
    float scoreA = tables.scores[a.result], scoreB = tables.scores[b.result];
    if (scoreA != scoreB)
      return scoreA > scoreB;
    return std::tie(a.result, a.left) < std::tie(b.result, b.left);
  });
  return merges;
}

/// Ids of unused tokens that no text becomes: longer than one character, and nothing merges to them.
std::set<int32_t> unreachable(const TokenizerTables &tables, const std::vector<RankedMerge> &merges) {
  std::set<int32_t> ids;
  for (size_t id = 0; id < tables.tokens.size(); ++id) {
    const std::string &text = tables.tokens[id].text;
    if (tables.tokens[id].kind == TokenKind::Unused && (text.empty() || nextUtf8(text, 0).length < text.size()))
      ids.insert(static_cast<int32_t>(id));
  }
  for (const RankedMerge &merge : merges)
    ids.erase(merge.result);
  return ids;
}

Json step(const char *type) { return {{"type", type}}; }

Json replace(std::string_view from, std::string_view to) {
  return {{"type", "Replace"}, {"pattern", {{"String", from}}}, {"content", to}};
}

Json normalizer(const TokenizerTables &tables) {
  if (!tables.marksSpaces)
    return nullptr;
  Json steps = Json::array();
  if (tables.prefixSpace)
    steps.push_back({{"type", "Prepend"}, {"prepend", kSpaceMark}});
  steps.push_back(replace(" ", kSpaceMark));
  return {{"type", "Sequence"}, {"normalizers", steps}};
}

Json decoder(const TokenizerTables &tables) {
  Json steps = Json::array();
  if (tables.marksSpaces)
    steps.push_back(replace(kSpaceMark, " "));
  steps.push_back(step("ByteFallback"));
  steps.push_back(step("Fuse"));
  if (tables.stripSpace)
    steps.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  return {{"type", "Sequence"}, {"decoders", steps}};
}

Json postProcessor(const TokenizerTables &tables) {
  if (tables.before.empty() && tables.after.empty())
    return nullptr;
  Json single = Json::array(), pair = Json::array(), specials = Json::object();
  auto add = [&](const std::vector<int32_t> &ids) {
    for (int32_t id : ids) {
      const std::string &text = tables.tokens[id].text;
      single.push_back({{"SpecialToken", {{"id", text}, {"type_id", 0}}}});
      specials[text] = {{"id", text}, {"ids", {id}}, {"tokens", {text}}};
    }
  };
  add(tables.before);
  single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
  add(tables.after);
  pair = {{{"Sequence", {{"id", "A"}, {"type_id", 0}}}}, {{"Sequence", {{"id", "B"}, {"type_id", 1}}}}};
  return {{"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", specials}};
}

} // namespace

Result<std::string> Tokenizer::toJson() const {
  Json vocab = Json::object(), added = Json::array(), merges = Json::array();
  std::vector<RankedMerge> ranked = tables->byScore ? mergesByScore(*tables) : mergesByRank(*tables);
  std::set<int32_t> dropped = unreachable(*tables, ranked);
  for (size_t id = 0; id < tables->tokens.size(); ++id) {
    const TokenizerTables::Token &token = tables->tokens[id];
    if (token.kind == TokenKind::Hole || dropped.count(static_cast<int32_t>(id)))
      continue;
    if (token.kind == TokenKind::Unused)
      return fail("UNSUPPORTED", "token ", id, " (", quote(token.text),
                  ") is of the kind 'unused', which tokenizer.json does not know");
    if (toValidUtf8(token.text) != token.text || vocab.contains(token.text))
      return fail("UNSUPPORTED", "token ", id, " (", quote(token.text),
                  ") is no UTF-8 or stands twice in the vocabulary, which tokenizer.json cannot express");
    vocab[token.text] = id;
  }
  for (const RankedMerge &merge : ranked)
    if (!dropped.count(merge.left) && !dropped.count(merge.right))
      merges.push_back({tables->tokens[merge.left].text, tables->tokens[merge.right].text});
  std::vector<TokenizerTables::Literal> literals = tables->literals;
  std::sort(literals.begin(), literals.end(), [](const auto &a, const auto &b) { return a.id < b.id; });
  for (const TokenizerTables::Literal &literal : literals)
    added.push_back({{"id", literal.id},
                     {"content", literal.text},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", literal.special}});
  Json unknown = tables->unknown ? Json(tables->tokens[*tables->unknown].text) : Json();
  bool hasBytes = std::any_of(tables->byteToken.begin(), tables->byteToken.end(), [](int32_t id) { return id >= 0; });
  Json json = {{"version", "1.0"},
               {"truncation", nullptr},
               {"padding", nullptr},
               {"added_tokens", added},
               {"normalizer", normalizer(*tables)},
               {"pre_tokenizer", nullptr},
               {"post_processor", postProcessor(*tables)},
               {"decoder", decoder(*tables)},
               {"model",
                {{"type", "BPE"},
                 {"dropout", nullptr},
                 {"unk_token", unknown},
                 {"continuing_subword_prefix", nullptr},
                 {"end_of_word_suffix", nullptr},
                 {"fuse_unk", tables->fuseUnknown},
                 {"byte_fallback", hasBytes},
                 {"ignore_merges", tables->wholeFirst},
                 {"vocab", vocab},
                 {"merges", merges}}}};
  return json.dump(1) + "\n";
}

} // namespace ck
