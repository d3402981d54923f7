//===- Utf8.cpp - stepping through bytes that may be UTF-8 ----------------===//
#include "ck/Import/Formats/Utf8.h"

namespace ck {

Utf8Step nextUtf8(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byte(at);
  if (lead < 0x80)
    return {Utf8Step::Valid, 1};
  size_t length = lead >= 0xC2 && lead <= 0xDF ? 2 : (lead & 0xF0) == 0xE0 ? 3 : lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
  if (length == 0)
    return {Utf8Step::Invalid, 1};
  // The second byte's range shuts out overlong forms, surrogates, and values above U+10FFFF.
  unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  for (size_t i = 1; i < length; ++i) {
    if (at + i == text.size())
      return {Utf8Step::Incomplete, i};
    unsigned char next = byte(at + i);
    if (next < low || next > high)
      return {Utf8Step::Invalid, i};
    low = 0x80;
    high = 0xBF;
  }
  return {Utf8Step::Valid, length};
}

std::string toValidUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    Utf8Step step = nextUtf8(text, at);
    out += step.kind == Utf8Step::Valid ? text.substr(at, step.length) : kReplacementCharacter;
    at += step.length;
  }
  return out;
}

} // namespace ck
