//===- Text.h - words of error messages -------------------------*- C++ -*-===//
//
// Private helpers for messages about untrusted files: a name from a file is quoted, escaped and cut before it is shown.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_IMPORT_FORMATS_TEXT_H
#define CK_LIB_IMPORT_FORMATS_TEXT_H

#include "ck/Support/Result.h"

#include <sstream>
#include <string_view>
#include <vector>

namespace ck::formats {

/// `'name'` with control characters, quotes and bytes outside ASCII that are no UTF-8 escaped, cut to 80 bytes.
std::string quote(std::string_view name);

/// "[2, 3]"
std::string shapeText(const std::vector<int64_t> &shape);

/// An error of class `code` whose message is `parts` printed one after the other.
template <typename... Parts> Error fail(const char *code, const Parts &...parts) {
  std::ostringstream message;
  (message << ... << parts);
  return Error{message.str(), code};
}

} // namespace ck::formats

namespace ck {
using namespace formats;
} // namespace ck

/// Returns the error of a Status or Result from the enclosing function.
#define CK_CHECK(expr)                                                                                                 \
  do {                                                                                                                 \
    if (auto ckStatus = (expr); !ckStatus)                                                                             \
      return ckStatus.error();                                                                                         \
  } while (false)

#endif // CK_LIB_IMPORT_FORMATS_TEXT_H
