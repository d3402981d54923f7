//===- Utf8.h - stepping through bytes that may be UTF-8 --------*- C++ -*-===//
//
// Text comes from users and from models, and neither promises valid UTF-8. One step function says what stands at a
// position; the tokenizer, the streaming decoder and messages agree on it.
//
//===----------------------------------------------------------------------===//
#ifndef CK_IMPORT_FORMATS_UTF8_H
#define CK_IMPORT_FORMATS_UTF8_H

#include <cstddef>
#include <string>
#include <string_view>

namespace ck {

/// What stands at a position of a byte string.
struct Utf8Step {
  enum Kind {
    Valid,     ///< one well-formed character of `length` bytes
    Invalid,   ///< `length` bytes that can belong to no character, whatever follows
    Incomplete ///< the text ends within a character that may still become valid; `length` bytes are left
  } kind;
  size_t length;
};

/// Steps at `text[at]`, at < text.size(). Overlong forms, surrogates and values above U+10FFFF are invalid.
Utf8Step nextUtf8(std::string_view text, size_t at);

/// U+FFFD, which stands for one invalid step.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

/// `text` with every invalid or incomplete step replaced by U+FFFD.
std::string toValidUtf8(std::string_view text);

} // namespace ck

#endif // CK_IMPORT_FORMATS_UTF8_H
