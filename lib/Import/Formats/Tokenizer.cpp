//===- Tokenizer.cpp - text to token ids and back -------------------------===//
#include "ck/Import/Formats/Tokenizer.h"

#include "Text.h"
#include "TokenizerTables.h"
#include "ck/Import/Formats/Utf8.h"

#include <algorithm>
#include <sys/stat.h>

namespace ck {

bool isByteSpelling(std::string_view text) {
  auto hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'); };
  return text.size() == 6 && text.substr(0, 3) == "<0x" && hex(text[3]) && hex(text[4]) && text[5] == '>';
}

Status TokenizerTables::finish(const std::string &source) {
  for (size_t id = 0; id < tokens.size(); ++id) {
    const Token &token = tokens[id];
    if (token.kind == TokenKind::Byte) {
      // "<0xAB>"; the readers have checked the spelling.
      byteToken[std::stoi(token.text.substr(3, 2), nullptr, 16)] = static_cast<int32_t>(id);
      continue;
    }
    // Control tokens are no pieces: text that happens to merge to their spelling stays text.
    if (token.kind != TokenKind::Normal && token.kind != TokenKind::Unused && token.kind != TokenKind::UserDefined)
      continue;
    if (token.text.empty())
      continue;
    if (!pieces.emplace(token.text, static_cast<int32_t>(id)).second)
      return fail("DUPLICATE", source, ": two tokens are spelt ", quote(token.text));
    longestPiece = std::max(longestPiece, token.text.size());
  }
  std::sort(literals.begin(), literals.end(),
            [](const Literal &a, const Literal &b) { return a.text.size() > b.text.size(); });
  for (size_t i = 0; i < literals.size(); ++i)
    literalsByByte[static_cast<unsigned char>(literals[i].text[0])].push_back(static_cast<uint32_t>(i));
  return Status::success();
}

Result<Tokenizer> Tokenizer::open(const std::string &path) {
  std::string file = path;
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    file += path.back() == '/' ? "tokenizer.json" : "/tokenizer.json";
    if (::stat(file.c_str(), &info) != 0)
      return fail("BAD_PATH", path, ": the directory has no tokenizer.json");
  }
  Result<MappedFile> mapped = MappedFile::open(file);
  if (!mapped)
    return mapped.error();
  if (file.size() >= 5 && file.substr(file.size() - 5) == ".json")
    return fromJson(mapped->text(), file);
  Result<Container> container = Container::parse(*std::move(mapped));
  if (!container)
    return container.error();
  return fromGguf(*container);
}

namespace {

/// The literal that starts at `text[at]`, the longest if there are several; null if none.
const TokenizerTables::Literal *literalAt(const TokenizerTables &tables, std::string_view text, size_t at,
                                          bool parseSpecial) {
  for (uint32_t index : tables.literalsByByte[static_cast<unsigned char>(text[at])]) {
    const TokenizerTables::Literal &literal = tables.literals[index];
    if ((parseSpecial || !literal.special) && text.substr(at, literal.text.size()) == literal.text)
      return &literal;
  }
  return nullptr;
}

/// Encodes text without literals.
Status encodePlain(const TokenizerTables &tables, std::string_view text, std::vector<int32_t> &ids) {
  if (text.empty() || !tables.marksSpaces)
    return mergeText(tables, text, ids);
  std::string normal;
  normal.reserve(text.size() + 16);
  if (tables.prefixSpace)
    normal += kSpaceMark;
  for (char c : text)
    c == ' ' ? normal.append(kSpaceMark) : normal.append(1, c);
  return mergeText(tables, normal, ids);
}

Error outOfRange(const TokenizerTables &tables, int32_t id, const std::string &where) {
  return fail("OUT_OF_RANGE", "token id ", id, where, " is outside the vocabulary of ", tables.tokens.size());
}

bool hasId(const TokenizerTables &tables, int32_t id) {
  return id >= 0 && static_cast<size_t>(id) < tables.tokens.size();
}

/// Appends the bytes of one valid id. `atStart`: nothing has been decoded before; updated.
void appendBytes(const TokenizerTables &tables, int32_t id, DecodeOptions options, bool &atStart, std::string &out) {
  const TokenizerTables::Token &token = tables.tokens[id];
  size_t before = out.size();
  switch (token.kind) {
  case TokenKind::Hole:
    return;
  case TokenKind::Byte:
    out += static_cast<char>(std::stoi(token.text.substr(3, 2), nullptr, 16));
    break;
  case TokenKind::Unknown:
  case TokenKind::Control:
    if (options.skipSpecial)
      return;
    [[fallthrough]];
  case TokenKind::UserDefined:
    out += token.text;
    break;
  case TokenKind::Normal:
  case TokenKind::Unused: {
    std::string_view rest = token.text;
    for (size_t mark; tables.marksSpaces && (mark = rest.find(kSpaceMark)) != std::string_view::npos;) {
      out.append(rest.substr(0, mark)).append(1, ' ');
      rest.remove_prefix(mark + kSpaceMark.size());
    }
    out += rest;
    break;
  }
  }
  if (!atStart || out.size() == before)
    return;
  atStart = false;
  if (tables.stripSpace && out[before] == ' ')
    out.erase(before, 1);
}

} // namespace

Result<std::vector<int32_t>> Tokenizer::encode(std::string_view text, EncodeOptions options) const {
  // Spaces grow to three bytes; positions are 32-bit.
  if (text.size() >= (uint64_t{1} << 31) / 3)
    return fail("BAD_INPUT", "a text of ", text.size(), " bytes; expected less than 700 MB");
  std::vector<int32_t> ids;
  if (options.addSpecial)
    ids = tables->before;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const TokenizerTables::Literal *literal = literalAt(*tables, text, at, options.parseSpecial);
    if (!literal) {
      ++at;
      continue;
    }
    CK_CHECK(encodePlain(*tables, text.substr(begin, at - begin), ids));
    ids.push_back(literal->id);
    begin = at += literal->text.size();
  }
  CK_CHECK(encodePlain(*tables, text.substr(begin), ids));
  if (options.addSpecial)
    ids.insert(ids.end(), tables->after.begin(), tables->after.end());
  return ids;
}

Result<std::string> Tokenizer::decodeBytes(const std::vector<int32_t> &ids, DecodeOptions options) const {
  std::string out;
  bool atStart = true;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!hasId(*tables, ids[i]))
      return outOfRange(*tables, ids[i], " at index " + std::to_string(i));
    appendBytes(*tables, ids[i], options, atStart, out);
  }
  return out;
}

Result<std::string> Tokenizer::decode(const std::vector<int32_t> &ids, DecodeOptions options) const {
  Result<std::string> bytes = decodeBytes(ids, options);
  return bytes ? Result<std::string>(toValidUtf8(*bytes)) : bytes;
}

int64_t Tokenizer::vocabSize() const { return static_cast<int64_t>(tables->tokens.size()); }

std::string_view Tokenizer::tokenText(int32_t id) const {
  return id < 0 || id >= vocabSize() ? std::string_view() : std::string_view(tables->tokens[id].text);
}

bool Tokenizer::isSpecial(int32_t id) const { return id >= 0 && id < vocabSize() && tables->isSpecial(id); }

std::optional<int32_t> Tokenizer::bos() const { return tables->bos; }
const std::vector<int32_t> &Tokenizer::eos() const { return tables->eos; }

Result<std::string> StreamDecoder::push(int32_t id) {
  if (!hasId(*tokenizer.tables, id))
    return outOfRange(*tokenizer.tables, id, "");
  appendBytes(*tokenizer.tables, id, options, atStart, pending);
  std::string out;
  size_t at = 0;
  while (at < pending.size()) {
    Utf8Step step = nextUtf8(pending, at);
    if (step.kind == Utf8Step::Incomplete)
      break;
    out += step.kind == Utf8Step::Valid ? std::string_view(pending).substr(at, step.length) : kReplacementCharacter;
    at += step.length;
  }
  pending.erase(0, at);
  return out;
}

std::string StreamDecoder::finish() {
  std::string out = pending.empty() ? std::string() : std::string(kReplacementCharacter);
  pending.clear();
  atStart = true;
  return out;
}

} // namespace ck
