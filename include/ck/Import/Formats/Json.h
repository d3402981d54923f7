//===- Json.h - JSON text at the edge, without exceptions -------*- C++ -*-===//
//
// Model files are strangers' JSON: nested 60,000 deep, with a key twice, with the NaN that Python writes. This edge
// turns such text into a small value tree or into one error, and hides the JSON library from everything behind it.
//
//===----------------------------------------------------------------------===//
#ifndef CK_IMPORT_FORMATS_JSON_H
#define CK_IMPORT_FORMATS_JSON_H

#include "ck/Support/Result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ck::json {

/// One JSON value. Integers that fit int64 stay exact; others are numbers. Object members keep the order of the file.
class Value {
public:
  using Array = std::vector<Value>;
  using Member = std::pair<std::string, Value>;
  using Object = std::vector<Member>;
  using Storage = std::variant<std::nullptr_t, bool, int64_t, double, std::string, Array, Object>;

  Value() : storage(nullptr) {}
  /// Replaces the value by one of the types of Storage.
  template <typename T> void set(T value) { storage.template emplace<T>(std::move(value)); }

  bool isNull() const { return std::holds_alternative<std::nullptr_t>(storage); }
  /// Typed views; null or nullopt if the value has another type.
  std::optional<bool> asBool() const;
  std::optional<int64_t> asInteger() const;
  std::optional<double> asNumber() const; ///< integer or real; may be NaN or infinite
  const std::string *asString() const { return std::get_if<std::string>(&storage); }
  const Array *asArray() const { return std::get_if<Array>(&storage); }
  const Object *asObject() const { return std::get_if<Object>(&storage); }
  Array *asArray() { return std::get_if<Array>(&storage); }
  Object *asObject() { return std::get_if<Object>(&storage); }

  /// The member named `key` of an object; null if absent or if this is no object. Linear in the number of members.
  const Value *find(std::string_view key) const;
  /// "null", "a boolean", "an integer", "a number", "a string", "an array", "an object".
  const char *kindName() const;
  /// The value for a message, shortened: `"gelu"`, `3`, `NaN`, `an array of 4`.
  std::string brief() const;

private:
  Storage storage;
};

/// Nesting beyond this is refused (TOO_DEEP); no model file of any known tool comes near it.
inline constexpr int kMaxDepth = 64;

/// Parses one JSON text; `source` names it in messages. Accepts the literals NaN, Infinity and -Infinity as numbers,
/// because Python writes them: whoever uses the number must check that it is finite. Errors: BAD_JSON (with line and
/// column; also for text behind the value), TOO_DEEP, DUPLICATE (a key twice in one object).
Result<Value> parse(std::string_view text, const std::string &source);

/// Maps and parses a file; errors as MappedFile::open and parse.
Result<Value> parseFile(const std::string &path);

} // namespace ck::json

#endif // CK_IMPORT_FORMATS_JSON_H
