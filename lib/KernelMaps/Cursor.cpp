//===- Cursor.cpp - reading position of the signature parsers -------------===//
//
// Tokens and the wording of parse errors. Classification of characters is ASCII on purpose: a map must not mean
// something else under another locale.
//
//===----------------------------------------------------------------------===//
#include "Cursor.h"

namespace ck::maps {

static bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

void Cursor::skipSpace() {
  while (position < text.size() && isSpace(text[position]))
    ++position;
}

bool Cursor::atEnd() {
  skipSpace();
  return position == text.size();
}

char Cursor::peek() {
  skipSpace();
  return position < text.size() ? text[position] : 0;
}

bool Cursor::startsWith(std::string_view token) {
  skipSpace();
  return text.substr(position, token.size()) == token;
}

bool Cursor::consume(std::string_view token) {
  if (!startsWith(token))
    return false;
  position += token.size();
  return true;
}

std::string_view Cursor::identifier() {
  skipSpace();
  size_t end = position;
  if (end < text.size() && isNameStart(text[end]))
    do
      ++end;
    while (end < text.size() && (isNameStart(text[end]) || isDigit(text[end])));
  std::string_view name = text.substr(position, end - position);
  position = end;
  return name;
}

std::string_view Cursor::digits() {
  skipSpace();
  size_t end = position;
  while (end < text.size() && isDigit(text[end]))
    ++end;
  std::string_view number = text.substr(position, end - position);
  position = end;
  return number;
}

std::string_view Cursor::until(char stop) {
  skipSpace();
  size_t end = std::min(text.find(stop, position), text.size());
  std::string_view part = text.substr(position, end - position);
  position = end;
  while (!part.empty() && isSpace(part.back()))
    part.remove_suffix(1);
  return part;
}

Error Cursor::expected(std::string_view what) {
  skipSpace();
  std::string found = "the end";
  if (position < text.size()) {
    // A run of name characters is one token to a reader; other bytes are shown singly, controls and non-ASCII by code.
    size_t end = position;
    while (end < text.size() && end - position < 32 && (isNameStart(text[end]) || isDigit(text[end])))
      ++end;
    unsigned char c = static_cast<unsigned char>(text[position]);
    if (end > position)
      found = inQuotes(text.substr(position, end - position));
    else if (c >= 0x20 && c < 0x7f)
      found = inQuotes(text.substr(position, 1));
    else
      found = "byte " + std::to_string(c);
  }
  return error("expected " + std::string(what) + ", found " + found);
}

Error Cursor::error(std::string_view message) { return errorAt(position, message); }

Error Cursor::errorAt(size_t mark, std::string_view message) {
  return {"column " + std::to_string(mark + 1) + ": " + std::string(message)};
}

size_t Cursor::mark() {
  skipSpace();
  return position;
}

std::string inQuotes(std::string_view text) { return "'" + std::string(text) + "'"; }

std::string join(const std::vector<std::string> &parts, std::string_view separator) {
  std::string all;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i)
      all += separator;
    all += parts[i];
  }
  return all;
}

std::string extentText(int64_t extent) { return extent == kDynamicDim ? "?" : std::to_string(extent); }

std::string shapeText(const std::vector<int64_t> &shape) {
  std::vector<std::string> parts;
  for (int64_t extent : shape)
    parts.push_back(extentText(extent));
  return "[" + join(parts, ",") + "]";
}

} // namespace ck::maps
