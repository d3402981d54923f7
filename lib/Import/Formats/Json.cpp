//===- Json.cpp - JSON text at the edge, without exceptions ---------------===//
//
// The only file of this library that sees the JSON library. Its event parser keeps its own stack, so depth costs
// nothing; the handler builds our tree and stops at the first thing that it does not accept.
//
//===----------------------------------------------------------------------===//
#include "ck/Import/Formats/Json.h"

#include "Text.h"
#include "ck/Import/Formats/MappedFile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>

namespace ck::json {

namespace {

/// A literal that JSON does not have, and the number it stands for.
struct NonFinite {
  size_t stringIndex; ///< which string of the text, counting keys, stands in its place
  double value;
};

/// Writes a string of the same length over each NaN and Infinity outside strings, so that positions in messages stay
/// right, and notes which strings these are.
std::vector<NonFinite> replaceNonFinite(std::string_view text, std::string &replaced) {
  std::vector<NonFinite> found;
  size_t strings = 0;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at)
        if (text[at] == '\\')
          ++at;
      ++at;
      ++strings;
      continue;
    }
    std::string_view rest = text.substr(at);
    bool negative = rest.substr(0, 9) == "-Infinity";
    size_t length = negative ? 9 : rest.substr(0, 8) == "Infinity" ? 8 : rest.substr(0, 3) == "NaN" ? 3 : 0;
    if (length == 0) {
      ++at;
      continue;
    }
    if (found.empty())
      replaced = text;
    double infinity = std::numeric_limits<double>::infinity();
    found.push_back({strings++, length == 3 ? std::nan("") : negative ? -infinity : infinity});
    replaced.replace(at, length, '"' + std::string(length - 2, '~') + '"');
    at += length;
  }
  return found;
}

std::string lineAndColumn(std::string_view text, size_t at) {
  at = std::min(at, text.size());
  size_t line = 1 + std::count(text.begin(), text.begin() + at, '\n');
  size_t begin = text.substr(0, at).rfind('\n');
  size_t column = at - (begin == std::string_view::npos ? 0 : begin + 1);
  return std::to_string(line) + ":" + std::to_string(std::max<size_t>(column, 1));
}

/// Receives events in the order of the text. A method that returns false stops the parser; `failure` says why.
class Builder : public nlohmann::json_sax<nlohmann::json> {
public:
  Builder(std::string_view text, const std::string &source, std::vector<NonFinite> nonFinite)
      : text(text), source(source), nonFinite(std::move(nonFinite)) {}

  bool null() override { return place() != nullptr; }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(int64_t{value}); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return add(static_cast<int64_t>(value));
    return add(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t &) override { return add(double{value}); }
  bool string(string_t &value) override {
    if (const NonFinite *literal = takeNonFinite())
      return add(literal->value);
    return add(std::move(value));
  }
  bool binary(binary_t &) override { return stop(fail("BAD_JSON", source, ": binary data in JSON")); }

  bool start_object(size_t) override { return open(Value::Object()); }
  bool start_array(size_t) override { return open(Value::Array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t &name) override {
    if (takeNonFinite())
      return stop(fail("BAD_JSON", source, ": a key that is no string"));
    if (!keys.back().insert(name).second)
      return stop(fail("DUPLICATE", source, ": the key ", quote(name), " appears twice in one object"));
    nextKey = std::move(name);
    return true;
  }

  bool parse_error(size_t position, const std::string &, const nlohmann::json::exception &error) override {
    std::string what = error.what(); // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    if (size_t end = what.find("] "); end != std::string::npos)
      what.erase(0, end + 2);
    if (size_t colon = what.find(": "); what.compare(0, 12, "parse error ") == 0 && colon != std::string::npos)
      what.erase(0, colon + 2);
    return stop(fail("BAD_JSON", source, ":", lineAndColumn(text, position), ": not JSON: ", toPrintable(what)));
  }

  std::optional<Error> failure;
  Value root;

private:
  static std::string toPrintable(std::string_view what) {
    std::string out = quote(what.substr(0, 300));
    return what.size() < 80 ? out.substr(1, out.size() - 2) : out;
  }

  const NonFinite *takeNonFinite() {
    size_t index = strings++;
    if (nextNonFinite == nonFinite.size() || nonFinite[nextNonFinite].stringIndex != index)
      return nullptr;
    return &nonFinite[nextNonFinite++];
  }

  bool stop(Error error) {
    if (!failure)
      failure = std::move(error);
    return false;
  }

  /// A new null where the next value belongs.
  Value *place() {
    if (stack.empty())
      return &root;
    if (Value::Array *array = stack.back()->asArray())
      return &array->emplace_back();
    Value::Member &member = stack.back()->asObject()->emplace_back();
    member.first = std::move(nextKey);
    return &member.second;
  }

  template <typename T> bool add(T value) {
    place()->set(std::move(value));
    return true;
  }

  template <typename T> bool open(T empty) {
    if (stack.size() == kMaxDepth)
      return stop(fail("TOO_DEEP", source, ": arrays and objects nested more than ", kMaxDepth, " deep"));
    // Parents do not grow while a child is open, so pointers into them stay good.
    stack.push_back(place());
    stack.back()->set(std::move(empty));
    keys.emplace_back();
    return true;
  }

  bool close() {
    stack.pop_back();
    keys.pop_back();
    return true;
  }

  std::string_view text;
  const std::string &source;
  std::vector<NonFinite> nonFinite;
  size_t nextNonFinite = 0, strings = 0;
  std::vector<Value *> stack;
  std::vector<std::unordered_set<std::string>> keys;
  std::string nextKey;
};

} // namespace

std::optional<bool> Value::asBool() const {
  const bool *value = std::get_if<bool>(&storage);
  return value ? std::optional<bool>(*value) : std::nullopt;
}

std::optional<int64_t> Value::asInteger() const {
  const int64_t *value = std::get_if<int64_t>(&storage);
  return value ? std::optional<int64_t>(*value) : std::nullopt;
}

std::optional<double> Value::asNumber() const {
  if (const double *value = std::get_if<double>(&storage))
    return *value;
  if (const int64_t *value = std::get_if<int64_t>(&storage))
    return static_cast<double>(*value);
  return std::nullopt;
}

const Value *Value::find(std::string_view key) const {
  if (const Object *object = asObject())
    for (const Member &member : *object)
      if (member.first == key)
        return &member.second;
  return nullptr;
}

const char *Value::kindName() const {
  static const char *const names[] = {"null",     "a boolean", "an integer", "a number",
                                      "a string", "an array",  "an object"};
  return names[storage.index()];
}

std::string Value::brief() const {
  if (std::optional<bool> value = asBool())
    return *value ? "true" : "false";
  if (const std::string *value = asString())
    return quote(*value);
  if (const Array *value = asArray())
    return "an array of " + std::to_string(value->size());
  if (const Object *value = asObject())
    return "an object of " + std::to_string(value->size());
  if (std::optional<int64_t> value = asInteger())
    return std::to_string(*value);
  if (std::optional<double> value = asNumber()) {
    std::ostringstream out;
    std::isnan(*value) ? out << "NaN" : out << *value;
    return out.str();
  }
  return "null";
}

Result<Value> parse(std::string_view text, const std::string &source) {
  std::string replaced;
  std::vector<NonFinite> nonFinite = replaceNonFinite(text, replaced);
  std::string_view input = nonFinite.empty() ? text : std::string_view(replaced);
  Builder builder(input, source, std::move(nonFinite));
  try {
    if (nlohmann::json::sax_parse(input.begin(), input.end(), &builder))
      return std::move(builder.root);
  } catch (const std::exception &error) {
    return fail("BAD_JSON", source, ": ", error.what());
  }
  return builder.failure ? *builder.failure : fail("BAD_JSON", source, ": not JSON");
}

Result<Value> parseFile(const std::string &path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.error();
  return parse(file->text(), path);
}

} // namespace ck::json
