//===- JsonCursor.h - reading JSON with located errors ----------*- C++ -*-===//
//
// A place in a JSON document that knows its JSON pointer. The first error is kept; after it every accessor returns a
// harmless value, so that readers may run on and check once per object.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_RUNTIME_JSONCURSOR_H
#define CK_LIB_RUNTIME_JSONCURSOR_H

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <string>

namespace ck {

class JsonCursor {
public:
  /// The root of a document; the first error goes to `error`, which must be empty.
  JsonCursor(const nlohmann::json &value, std::string &error) : value(value), error(error) {}

  bool ok() const { return error.empty(); }
  /// Records "<pointer>: <message>" unless an error came before; returns false.
  bool fail(const std::string &message) const;

  /// True if this is an object with all of `required` and nothing beyond `required` and `optional`.
  bool isObject(std::initializer_list<const char *> required, std::initializer_list<const char *> optional = {}) const;
  bool has(const char *key) const { return value.is_object() && value.contains(key); }
  /// A member that isObject() found; null JSON after an error.
  JsonCursor operator[](const char *key) const;

  /// The number of elements; an error and 0 if this is no array.
  size_t size() const;
  JsonCursor at(size_t index) const;

  bool isNull() const { return value.is_null(); }
  bool isInteger() const { return value.is_number_integer(); }
  bool isString() const { return value.is_string(); }
  bool isArray() const { return value.is_array(); }

  /// An integer in [low, high], else an error and `low`.
  int64_t integer(int64_t low, int64_t high) const;
  /// A finite number.
  double number() const;
  /// Text without a NUL inside; an error if it is empty.
  std::string text() const;

private:
  JsonCursor(const nlohmann::json &value, const JsonCursor &parent, const std::string &key)
      : value(value), error(parent.error), pointer(parent.pointer + "/" + key) {}

  const nlohmann::json &value;
  std::string &error;
  std::string pointer; ///< RFC 6901; keys are those of the reader, which need no escapes
};

} // namespace ck

#endif // CK_LIB_RUNTIME_JSONCURSOR_H
