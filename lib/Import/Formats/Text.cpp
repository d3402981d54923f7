//===- Text.cpp - words of error messages ---------------------------------===//
#include "Text.h"

#include "ck/Import/Formats/Utf8.h"

#include <cstdio>

namespace ck::formats {

std::string quote(std::string_view name) {
  constexpr size_t kLimit = 80;
  std::string out = "'";
  size_t at = 0;
  while (at < name.size() && at < kLimit) {
    Utf8Step step = nextUtf8(name, at);
    unsigned char first = name[at];
    if (step.kind == Utf8Step::Valid && first >= 0x20 && first != '\'' && first != '\\' && first != 0x7f) {
      out += name.substr(at, step.length);
    } else {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\x%02x", first);
      out += escape;
      step.length = 1;
    }
    at += step.length;
  }
  return out + (at < name.size() ? "...'" : "'");
}

std::string shapeText(const std::vector<int64_t> &shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    out += (i ? ", " : "") + std::to_string(shape[i]);
  return out + "]";
}

} // namespace ck::formats
