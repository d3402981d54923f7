//===- TokenizerGguf.cpp - tokenizer metadata of GGUF ---------------------===//
//
// tokenizer.ggml.model = "llama": SentencePiece BPE as pieces with scores and kinds. The rules are SentencePiece's: any
// two neighbours whose joint spelling is a piece may merge, the highest score first.
//
//===----------------------------------------------------------------------===//
#include "Text.h"
#include "TokenizerTables.h"

#include <algorithm>
#include <cmath>

namespace ck {

namespace {

/// Keys under tokenizer. that do not change ids or text of this kind of tokenizer.
constexpr std::string_view kIgnorable[] = {"tokenizer.ggml.pre", // of kinds that split text first
                                           "tokenizer.ggml.token_type_count",
                                           "tokenizer.ggml.merges", // SentencePiece merges by score
                                           "tokenizer.ggml.padding_token_id",
                                           "tokenizer.ggml.seperator_token_id",
                                           "tokenizer.ggml.cls_token_id",
                                           "tokenizer.ggml.mask_token_id",
                                           "tokenizer.ggml.prefix_token_id",
                                           "tokenizer.ggml.suffix_token_id",
                                           "tokenizer.ggml.middle_token_id",
                                           "tokenizer.ggml.fim_pre_token_id",
                                           "tokenizer.ggml.fim_suf_token_id",
                                           "tokenizer.ggml.fim_mid_token_id",
                                           "tokenizer.ggml.fim_pad_token_id",
                                           "tokenizer.ggml.fim_rep_token_id",
                                           "tokenizer.ggml.fim_sep_token_id",
                                           "tokenizer.huggingface.json",
                                           "tokenizer.chat_template",
                                           "tokenizer.chat_templates"};

constexpr std::string_view kKnown[] = {"tokenizer.ggml.model",
                                       "tokenizer.ggml.tokens",
                                       "tokenizer.ggml.scores",
                                       "tokenizer.ggml.token_type",
                                       "tokenizer.ggml.bos_token_id",
                                       "tokenizer.ggml.eos_token_id",
                                       "tokenizer.ggml.eot_token_id",
                                       "tokenizer.ggml.eom_token_id",
                                       "tokenizer.ggml.unknown_token_id",
                                       "tokenizer.ggml.add_bos_token",
                                       "tokenizer.ggml.add_eos_token",
                                       "tokenizer.ggml.add_space_prefix",
                                       "tokenizer.ggml.add_sep_token",
                                       "tokenizer.ggml.remove_extra_whitespaces"};

class GgufTokenizerReader {
public:
  explicit GgufTokenizerReader(const Container &gguf) : gguf(gguf), source(gguf.path()) {}

  Result<std::shared_ptr<TokenizerTables>> read() {
    CK_CHECK(checkKind());
    CK_CHECK(checkKeys());
    CK_CHECK(readTokens());
    CK_CHECK(readSpecials());
    tables->byScore = true;
    CK_CHECK(tables->finish(source));
    return std::move(tables);
  }

private:
  Status checkKind() {
    const MetaValue *model = gguf.findMeta("tokenizer.ggml.model");
    if (!model)
      return fail("BAD_CONFIG", source, ": has no tokenizer (tokenizer.ggml.model)");
    std::string kind = model->asString() ? *model->asString() : "";
    if (kind == "llama")
      return Status::success();
    return fail("UNSUPPORTED", source, ": ",
                kind == "gpt2" ? "byte-level BPE, the GPT-2 kind of tokenizer," : "a tokenizer",
                " (tokenizer.ggml.model ", model->brief(), ") is not supported; expected 'llama', SentencePiece BPE");
  }

  Status checkKeys() {
    for (const MetaEntry &entry : gguf.metadata()) {
      const std::string &key = entry.key;
      auto in = [&](const auto &list) { return std::find(std::begin(list), std::end(list), key) != std::end(list); };
      bool named = key.compare(0, 24, "tokenizer.chat_template.") == 0;
      if (key.compare(0, 10, "tokenizer.") == 0 && !named && !in(kKnown) && !in(kIgnorable))
        return fail("UNSUPPORTED", source, ": the key ", quote(key), " (", entry.value.brief(),
                    ") is not known and may change the tokens");
    }
    return Status::success();
  }

  template <typename T>
  Status array(const char *key, std::optional<T> (MetaArray::*decode)() const, T &out, const char *expected) {
    const MetaValue *value = gguf.findMeta(key);
    std::optional<T> decoded = value && value->asArray() ? (value->asArray()->*decode)() : std::nullopt;
    if (!decoded)
      return fail("BAD_CONFIG", source, ": ", key, " is ", value ? value->brief() : "missing",
                  "; expected an array of ", expected);
    out = *std::move(decoded);
    return Status::success();
  }

  Status readTokens() {
    std::vector<std::string_view> texts;
    std::vector<double> scores;
    std::vector<int64_t> kinds;
    CK_CHECK(array("tokenizer.ggml.tokens", &MetaArray::strings, texts, "strings"));
    CK_CHECK(array("tokenizer.ggml.scores", &MetaArray::numbers, scores, "numbers"));
    CK_CHECK(array("tokenizer.ggml.token_type", &MetaArray::integers, kinds, "integers"));
    if (texts.empty() || texts.size() != scores.size() || texts.size() != kinds.size() || texts.size() > 1 << 24)
      return fail("CONFLICT", source, ": the tokenizer has ", texts.size(), " tokens, ", scores.size(), " scores and ",
                  kinds.size(), " kinds; expected the same number of each");
    static constexpr TokenKind kKinds[] = {TokenKind::Normal,      TokenKind::Unknown, TokenKind::Control,
                                           TokenKind::UserDefined, TokenKind::Unused,  TokenKind::Byte};
    for (size_t id = 0; id < texts.size(); ++id) {
      std::string what = "token " + std::to_string(id) + " (" + quote(texts[id]) + ")";
      if (kinds[id] < 1 || kinds[id] > 6)
        return fail("BAD_CONFIG", source, ": ", what, " is of kind ", kinds[id], "; expected 1 to 6");
      if (!std::isfinite(scores[id]))
        return fail("BAD_CONFIG", source, ": ", what, " has the score ", scores[id], "; expected a finite number");
      TokenKind kind = kKinds[kinds[id] - 1];
      if (kind == TokenKind::Byte && !isByteSpelling(texts[id]))
        return fail("BAD_CONFIG", source, ": ", what, " is of kind byte; expected the spelling <0x00> to <0xFF>");
      tables->tokens.push_back({std::string(texts[id]), kind});
      tables->scores.push_back(static_cast<float>(scores[id]));
      if (kind == TokenKind::Unknown && !tables->unknown)
        tables->unknown = static_cast<int32_t>(id);
      bool special = kind == TokenKind::Control || kind == TokenKind::Unknown;
      if ((special || kind == TokenKind::UserDefined) && !texts[id].empty())
        tables->literals.push_back({std::string(texts[id]), static_cast<int32_t>(id), special});
    }
    return Status::success();
  }

  Status id(const char *key, std::optional<int32_t> &out) {
    const MetaValue *value = gguf.findMeta(key);
    if (!value)
      return Status::success();
    std::optional<int64_t> id = value->asInteger();
    if (!id || *id < 0 || *id >= static_cast<int64_t>(tables->tokens.size()))
      return fail("BAD_CONFIG", source, ": ", key, " is ", value->brief(), "; expected an id below ",
                  tables->tokens.size());
    out = static_cast<int32_t>(*id);
    return Status::success();
  }

  Status flag(const char *key, bool absent, bool &out) {
    const MetaValue *value = gguf.findMeta(key);
    if (value && !value->asBool())
      return fail("BAD_CONFIG", source, ": ", key, " is ", value->brief(), "; expected a boolean");
    out = value ? *value->asBool() : absent;
    return Status::success();
  }

  Status readSpecials() {
    CK_CHECK(id("tokenizer.ggml.bos_token_id", tables->bos));
    CK_CHECK(id("tokenizer.ggml.unknown_token_id", tables->unknown));
    std::optional<int32_t> eos;
    for (const char *key :
         {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
      std::optional<int32_t> end;
      CK_CHECK(id(key, end));
      if (!eos)
        eos = end;
      if (end && std::find(tables->eos.begin(), tables->eos.end(), *end) == tables->eos.end())
        tables->eos.push_back(*end);
    }
    bool addBos = false, addEos = false, separator = false, squeeze = false;
    CK_CHECK(flag("tokenizer.ggml.add_bos_token", true, addBos));
    CK_CHECK(flag("tokenizer.ggml.add_eos_token", false, addEos));
    CK_CHECK(flag("tokenizer.ggml.add_space_prefix", true, tables->prefixSpace));
    CK_CHECK(flag("tokenizer.ggml.add_sep_token", false, separator));
    CK_CHECK(flag("tokenizer.ggml.remove_extra_whitespaces", false, squeeze));
    if (separator || squeeze)
      return fail("UNSUPPORTED", source, ": ",
                  separator ? "tokenizer.ggml.add_sep_token" : "tokenizer.ggml.remove_extra_whitespaces",
                  " = true is not supported");
    tables->stripSpace = tables->prefixSpace;
    // A vocabulary that names no BOS gets none; only an explicit wish for one is then a contradiction.
    if (addBos && !tables->bos && gguf.findMeta("tokenizer.ggml.add_bos_token"))
      return fail("CONFLICT", source, ": tokenizer.ggml.add_bos_token is true, but there is no bos_token_id");
    if (addEos && !eos)
      return fail("CONFLICT", source, ": tokenizer.ggml.add_eos_token is true, but there is no eos_token_id");
    if (addBos && tables->bos)
      tables->before.push_back(*tables->bos);
    if (addEos)
      tables->after.push_back(*eos);
    return Status::success();
  }

  const Container &gguf;
  const std::string &source;
  std::shared_ptr<TokenizerTables> tables = std::make_shared<TokenizerTables>();
};

} // namespace

Result<Tokenizer> Tokenizer::fromGguf(const Container &gguf) {
  Result<std::shared_ptr<TokenizerTables>> tables = GgufTokenizerReader(gguf).read();
  if (!tables)
    return tables.error();
  Tokenizer tokenizer;
  tokenizer.tables = *std::move(tables);
  return tokenizer;
}

} // namespace ck
