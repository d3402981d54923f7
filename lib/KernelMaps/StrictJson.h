//===- StrictJson.h - JSON without ambiguity --------------------*- C++ -*-===//
//
// Reads JSON for contracts: duplicate keys, deep nesting, trailing text and numbers out of range are errors.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_KERNELMAPS_STRICTJSON_H
#define CK_LIB_KERNELMAPS_STRICTJSON_H

#include "ck/Support/Result.h"

#include <nlohmann/json.hpp>

namespace ck::maps {

/// Parses one JSON value. Errors start with a place: "line 3, column 5: ..." or a JSON pointer, "#/params/0: ...".
Result<nlohmann::json> parseStrictJson(std::string_view text);

/// `pointer` extended by a key or an index, escaped as RFC 6901 says. The root is "#".
std::string pointerTo(const std::string &pointer, std::string_view key);
std::string pointerTo(const std::string &pointer, size_t index);

} // namespace ck::maps

namespace ck {
using namespace maps;
} // namespace ck

#endif // CK_LIB_KERNELMAPS_STRICTJSON_H
