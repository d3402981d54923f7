//===- Cursor.h - reading position of the signature parsers -----*- C++ -*-===//
//
// The parsers of expressions, signatures, `where`, params and scratch share this cursor; their errors all read
// "column 12: expected ']', found 'x'".
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_KERNELMAPS_CURSOR_H
#define CK_LIB_KERNELMAPS_CURSOR_H

#include "ck/KernelMaps/Expr.h"

#include <string>
#include <string_view>

namespace ck::maps {

/// A position in a text. White space between tokens is skipped. The text must outlive the cursor.
class Cursor {
public:
  explicit Cursor(std::string_view text) : text(text) {}

  /// True at the end of the text.
  bool atEnd();
  /// The next character, or 0 at the end.
  char peek();
  /// True if the text goes on with `token`, which stays unread.
  bool startsWith(std::string_view token);
  /// Reads `token` if it is next.
  bool consume(std::string_view token);
  /// Reads a name ([A-Za-z_][A-Za-z0-9_]*); empty if none is next.
  std::string_view identifier();
  /// Reads decimal digits; empty if none is next.
  std::string_view digits();
  /// Reads up to `stop` or the end, without trailing white space.
  std::string_view until(char stop);
  /// "column N: expected <expected>, found <what is next>".
  Error expected(std::string_view what);
  /// "column N: <message>", at the next token or at a mark.
  Error error(std::string_view message);
  Error errorAt(size_t mark, std::string_view message);
  /// The position of the next token.
  size_t mark();

private:
  void skipSpace();

  std::string_view text;
  size_t position = 0;
};

/// Parses one expression and leaves the cursor behind it (ExprParser.cpp).
Result<Expr> parseExpression(Cursor &cursor);

/// `x` in quotes.
std::string inQuotes(std::string_view text);
/// Parts joined by `separator`.
std::string join(const std::vector<std::string> &parts, std::string_view separator);
/// "[2,?,4]".
std::string shapeText(const std::vector<int64_t> &shape);
/// "64", or "?" for an extent that is not known before run time.
std::string extentText(int64_t extent);

/// Longest text that the parsers take.
inline constexpr size_t kMaxTextLength = 16384;

} // namespace ck::maps

namespace ck {
using namespace maps;
} // namespace ck

#endif // CK_LIB_KERNELMAPS_CURSOR_H
