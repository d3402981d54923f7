//===- TokenizerJson.cpp - tokenizer.json of SentencePiece-style BPE ------===//
//
// tokenizer.json describes a pipeline of parts. This reader knows the parts that Llama-family SentencePiece models use
// and refuses every other by name, because a part that is skipped gives wrong ids without a sign.
//
//===----------------------------------------------------------------------===//
#include "Text.h"
#include "TokenizerTables.h"
#include "ck/Import/Formats/Json.h"

#include <algorithm>

namespace ck {

namespace {

using json::Value;

constexpr int64_t kMaxIds = 1 << 24;

class JsonReader {
public:
  JsonReader(const Value &root, const std::string &source) : root(root), source(source) {}

  Result<std::shared_ptr<TokenizerTables>> read() {
    if (!root.asObject())
      return fail("BAD_CONFIG", source, ": is ", root.kindName(), "; expected an object");
    CK_CHECK(checkKind());
    CK_CHECK(onlyKeys(root, "the file",
                      {"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
                       "post_processor", "decoder", "model"}));
    if (present(root, "truncation"))
      return unsupported("truncation");
    CK_CHECK(readVocab());
    CK_CHECK(readMerges());
    CK_CHECK(readAddedTokens());
    CK_CHECK(readModelFlags());
    CK_CHECK(readNormalizer());
    CK_CHECK(readDecoder());
    CK_CHECK(readPostProcessor());
    CK_CHECK(tables->finish(source));
    return std::move(tables);
  }

private:
  Error unsupported(const std::string &what) const {
    return fail("UNSUPPORTED", source, ": ", what, " is not supported");
  }
  Error bad(const std::string &what) const { return fail("BAD_CONFIG", source, ": ", what); }

  /// A member that is neither absent nor null.
  static const Value *present(const Value &object, std::string_view key) {
    const Value *value = object.find(key);
    return value && !value->isNull() ? value : nullptr;
  }
  static std::string text(const Value *value) {
    return value && value->asString() ? *value->asString() : std::string();
  }
  static std::string typeOf(const Value &part) { return text(part.find("type")); }
  static bool isTrue(const Value &object, std::string_view key) {
    const Value *value = object.find(key);
    return value && value->asBool() == true;
  }

  Status onlyKeys(const Value &object, const std::string &where, std::initializer_list<std::string_view> keys) const {
    for (const Value::Member &member : *object.asObject())
      if (!member.second.isNull() && std::find(keys.begin(), keys.end(), member.first) == keys.end())
        return unsupported("the key " + quote(member.first) + " of " + where);
    return Status::success();
  }

  /// Names the kind of a tokenizer that is not ours, before any detail of it is refused.
  Status checkKind() {
    const Value *model = present(root, "model");
    if (!model || !model->asObject())
      return bad("has no model");
    std::string type = typeOf(*model);
    if (!type.empty() && type != "BPE")
      return unsupported("a tokenizer of type " + quote(type) + " (expected BPE with byte fallback)");
    for (const char *key : {"pre_tokenizer", "decoder"})
      if (const Value *part = present(root, key)) {
        const Value *list = part->find(std::string(key) == "decoder" ? "decoders" : "pretokenizers");
        Value::Array one{*part};
        for (const Value &step : list && list->asArray() ? *list->asArray() : one)
          if (typeOf(step) == "ByteLevel")
            return unsupported("byte-level BPE, the GPT-2 kind of tokenizer, (expected SentencePiece-style BPE)");
      }
    if (const Value *part = present(root, "pre_tokenizer"))
      return unsupported("the pre_tokenizer " + quote(typeOf(*part)));
    return Status::success();
  }

  Status readVocab() {
    const Value &model = *root.find("model");
    const Value *vocab = present(model, "vocab");
    if (!vocab || !vocab->asObject() || vocab->asObject()->empty())
      return bad("model.vocab is missing or empty; expected an object of ids");
    for (const Value::Member &member : *vocab->asObject()) {
      std::optional<int64_t> id = member.second.asInteger();
      if (!id || *id < 0 || *id >= kMaxIds)
        return bad("model.vocab gives the token " + quote(member.first) + " the id " + member.second.brief() +
                   "; expected an integer below " + std::to_string(kMaxIds));
      CK_CHECK(place(*id, member.first, TokenKind::Normal));
      ids.emplace(member.first, static_cast<int32_t>(*id));
    }
    return Status::success();
  }

  Status place(int64_t id, const std::string &spelling, TokenKind kind) {
    if (tables->tokens.size() <= static_cast<size_t>(id))
      tables->tokens.resize(id + 1);
    TokenizerTables::Token &token = tables->tokens[id];
    if (token.kind != TokenKind::Hole && token.text != spelling)
      return fail("CONFLICT", source, ": the tokens ", quote(token.text), " and ", quote(spelling),
                  " both have the id ", id);
    token = {spelling, kind};
    return Status::success();
  }

  Status readMerges() {
    const Value &model = *root.find("model");
    const Value *merges = present(model, "merges");
    if (!merges || !merges->asArray())
      return bad("model.merges is missing; expected an array");
    int32_t rank = 0;
    for (const Value &merge : *merges->asArray()) {
      std::string left, right;
      if (const std::string *both = merge.asString()) {
        size_t space = both->find(' ');
        if (space != std::string::npos && both->find(' ', space + 1) == std::string::npos) {
          left = both->substr(0, space);
          right = both->substr(space + 1);
        }
      } else if (const Value::Array *pair = merge.asArray(); pair && pair->size() == 2) {
        left = text(&pair->front());
        right = text(&pair->back());
      }
      auto a = ids.find(left), b = ids.find(right), result = ids.find(left + right);
      if (left.empty() || right.empty() || a == ids.end() || b == ids.end() || result == ids.end())
        return bad("merge " + std::to_string(rank) + " (" + merge.brief() +
                   "): expected two tokens of the vocabulary that join to a third");
      uint64_t key = static_cast<uint64_t>(a->second) << 32 | static_cast<uint32_t>(b->second);
      if (!tables->merges.emplace(key, TokenizerTables::Merge{rank, result->second}).second)
        return fail("DUPLICATE", source, ": the merge ", merge.brief(), " appears twice");
      ++rank;
    }
    return Status::success();
  }

  Status readAddedTokens() {
    const Value *added = present(root, "added_tokens");
    if (!added)
      return Status::success();
    if (!added->asArray())
      return bad("added_tokens is " + std::string(added->kindName()) + "; expected an array");
    for (const Value &token : *added->asArray()) {
      std::string content = text(token.find("content"));
      const Value *id = token.find("id");
      if (content.empty() || !id || !id->asInteger() || *id->asInteger() < 0 || *id->asInteger() >= kMaxIds)
        return bad("an added token has no content or no id below " + std::to_string(kMaxIds));
      std::string what = "the added token " + quote(content);
      CK_CHECK(onlyKeys(token, what, {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"}));
      for (const char *flag : {"single_word", "lstrip", "rstrip", "normalized"})
        if (isTrue(token, flag))
          return unsupported(what + " with " + flag + " = true");
      auto known = ids.find(content);
      if (known != ids.end() && known->second != *id->asInteger())
        return fail("CONFLICT", source, ": ", what, " has the id ", *id->asInteger(), ", but ", known->second,
                    " in model.vocab");
      bool special = isTrue(token, "special");
      CK_CHECK(place(*id->asInteger(), content, special ? TokenKind::Control : TokenKind::Normal));
      int32_t place = static_cast<int32_t>(*id->asInteger());
      if (known == ids.end())
        ids.emplace(content, place);
      tables->literals.push_back({content, place, special});
    }
    return Status::success();
  }

  Status readModelFlags() {
    const Value &model = *root.find("model");
    CK_CHECK(onlyKeys(model, "the model",
                      {"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
                       "byte_fallback", "ignore_merges", "vocab", "merges"}));
    if (const Value *dropout = present(model, "dropout"); dropout && dropout->asNumber() != 0.0)
      return unsupported("dropout of merges");
    for (const char *key : {"continuing_subword_prefix", "end_of_word_suffix"})
      if (const Value *part = present(model, key); part && !text(part).empty())
        return unsupported(key + (" " + part->brief()));
    tables->fuseUnknown = isTrue(model, "fuse_unk");
    tables->wholeFirst = isTrue(model, "ignore_merges");
    if (const Value *unknown = present(model, "unk_token")) {
      auto id = ids.find(text(unknown));
      if (id == ids.end())
        return bad("unk_token " + unknown->brief() + " is not in the vocabulary");
      tables->unknown = id->second;
      TokenizerTables::Token &token = tables->tokens[id->second];
      if (token.kind == TokenKind::Control)
        token.kind = TokenKind::Unknown;
    }
    if (isTrue(model, "byte_fallback"))
      for (TokenizerTables::Token &token : tables->tokens)
        if (token.kind == TokenKind::Normal && isByteSpelling(token.text))
          token.kind = TokenKind::Byte;
    return Status::success();
  }

  /// Steps of a part that may be a Sequence.
  std::vector<Value> steps(const Value &part, const char *list) const {
    if (typeOf(part) != "Sequence")
      return {part};
    const Value *inner = part.find(list);
    return inner && inner->asArray() ? *inner->asArray() : std::vector<Value>{part};
  }

  bool isReplace(const Value &step, std::string_view from, std::string_view to) const {
    const Value *pattern = step.find("pattern");
    return typeOf(step) == "Replace" && pattern && pattern->asObject() && pattern->asObject()->size() == 1 &&
           text(pattern->find("String")) == from && text(step.find("content")) == to;
  }

  Status readNormalizer() {
    const Value *normalizer = present(root, "normalizer");
    tables->marksSpaces = normalizer;
    if (!normalizer)
      return Status::success();
    bool replaces = false;
    for (const Value &step : steps(*normalizer, "normalizers")) {
      bool prepends = typeOf(step) == "Prepend" && text(step.find("prepend")) == kSpaceMark;
      if (prepends && !tables->prefixSpace && !replaces)
        tables->prefixSpace = true;
      else if (isReplace(step, " ", kSpaceMark) && !replaces)
        replaces = true;
      else
        return unsupported("the normalizer step " + quote(typeOf(step)) +
                           " (expected Prepend of U+2581, then Replace of ' ' by U+2581)");
    }
    return replaces ? Status::success() : unsupported("a normalizer without Replace of ' ' by U+2581");
  }

  Status readDecoder() {
    const Value *decoder = present(root, "decoder");
    if (!decoder)
      return bad("has no decoder");
    bool replaces = false;
    for (const Value &step : steps(*decoder, "decoders")) {
      std::string type = typeOf(step);
      const Value *start = step.find("start"), *stop = step.find("stop");
      if (isReplace(step, kSpaceMark, " "))
        replaces = true;
      else if (type == "Strip" && text(step.find("content")) == " " && start && stop && stop->asInteger() == 0 &&
               (start->asInteger() == 0 || start->asInteger() == 1))
        tables->stripSpace = *start->asInteger() == 1;
      else if (type != "ByteFallback" && type != "Fuse")
        return unsupported("the decoder step " + quote(type) +
                           " (expected Replace of U+2581 by ' ', ByteFallback, Fuse, Strip of one space at the start)");
    }
    if (replaces && !tables->marksSpaces)
      return unsupported("a decoder with Replace of U+2581 by ' ', but no normalizer with the reverse");
    return replaces || !tables->marksSpaces ? Status::success()
                                            : unsupported("a decoder without Replace of U+2581 by ' '");
  }

  Status readPostProcessor() {
    const Value *post = present(root, "post_processor");
    if (!post)
      return Status::success();
    if (typeOf(*post) != "TemplateProcessing")
      return unsupported("the post_processor " + quote(typeOf(*post)) + " (expected TemplateProcessing)");
    const Value *single = post->find("single");
    if (!single || !single->asArray())
      return bad("post_processor.single is missing; expected an array");
    bool seenText = false;
    for (const Value &part : *single->asArray()) {
      if (part.find("Sequence")) {
        if (seenText)
          return unsupported("a template with two sequences");
        seenText = true;
        continue;
      }
      const Value *special = part.find("SpecialToken");
      CK_CHECK(addTemplateToken(*post, special ? text(special->find("id")) : "", seenText));
    }
    return seenText ? Status::success() : bad("post_processor.single has no sequence");
  }

  Status addTemplateToken(const Value &post, const std::string &name, bool behind) {
    const Value *specials = post.find("special_tokens"), *entry = specials ? specials->find(name) : nullptr;
    const Value *list = entry ? entry->find("ids") : nullptr;
    if (!list || !list->asArray())
      return bad("post_processor: the special token " + quote(name) + " has no ids");
    for (const Value &value : *list->asArray()) {
      std::optional<int64_t> id = value.asInteger();
      if (!id || *id < 0 || *id >= static_cast<int64_t>(tables->tokens.size()) ||
          tables->tokens[*id].kind == TokenKind::Hole)
        return bad("post_processor: " + quote(name) + " has the id " + value.brief() + ", which names no token");
      (behind ? tables->after : tables->before).push_back(static_cast<int32_t>(*id));
    }
    if (!behind && !tables->before.empty())
      tables->bos = tables->before.front();
    return Status::success();
  }

  const Value &root;
  const std::string &source;
  std::unordered_map<std::string, int32_t> ids;
  std::shared_ptr<TokenizerTables> tables = std::make_shared<TokenizerTables>();
};

} // namespace

Result<Tokenizer> Tokenizer::fromJson(std::string_view text, const std::string &source) {
  Result<Value> root = json::parse(text, source);
  if (!root)
    return root.error();
  Result<std::shared_ptr<TokenizerTables>> tables = JsonReader(*root, source).read();
  if (!tables)
    return tables.error();
  Tokenizer tokenizer;
  tokenizer.tables = *std::move(tables);
  return tokenizer;
}

} // namespace ck
