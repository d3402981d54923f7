//===- StrictJson.cpp - JSON without ambiguity ----------------------------===//
//
// A SAX handler that builds the value, because the library's own builder keeps the last of two equal keys.
//
//===----------------------------------------------------------------------===//
#include "StrictJson.h"

#include <vector>

using json = nlohmann::json;

namespace ck::maps {

std::string pointerTo(const std::string &pointer, std::string_view key) {
  std::string text = pointer + "/";
  for (char c : key)
    if (c == '~')
      text += "~0";
    else if (c == '/')
      text += "~1";
    else
      text += c;
  return text;
}

std::string pointerTo(const std::string &pointer, size_t index) { return pointer + "/" + std::to_string(index); }

namespace {

constexpr size_t kMaxDepth = 64;

class Builder final : public json::json_sax_t {
public:
  json root;
  std::string message;

  bool null() override { return add(nullptr) != nullptr; }
  bool boolean(bool value) override { return add(value) != nullptr; }
  bool number_integer(number_integer_t value) override { return add(value) != nullptr; }
  bool number_unsigned(number_unsigned_t value) override { return add(value) != nullptr; }
  bool number_float(number_float_t value, const string_t &) override { return add(value) != nullptr; }
  bool string(string_t &value) override { return add(std::move(value)) != nullptr; }
  bool binary(binary_t &) override { return fail("binary values are not JSON"); }

  bool start_object(size_t) override { return open(json::object()); }
  bool start_array(size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t &name) override {
    if (stack.back()->contains(name))
      return fail("duplicate key " + json(name).dump());
    nextKey = std::move(name);
    return true;
  }

  bool parse_error(size_t position, const std::string &, const json::exception &error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while ..."
    message = error.what();
    for (std::string_view prefix : {"] ", "parse error at ", "parse error: "})
      if (size_t at = message.find(prefix); at != std::string::npos && (prefix == "] " || at == 0))
        message = message.substr(at + prefix.size());
    if (message.rfind("line ", 0) != 0)
      message = "byte " + std::to_string(position) + ": " + message;
    return false;
  }

private:
  json *add(json value) {
    if (stack.empty()) {
      root = std::move(value);
      return &root;
    }
    json &parent = *stack.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    json &slot = parent[nextKey];
    slot = std::move(value);
    return &slot;
  }
  bool open(json container) {
    if (stack.size() == kMaxDepth)
      return fail("nested deeper than " + std::to_string(kMaxDepth) + " levels");
    std::string pointer = "#";
    if (!stack.empty())
      pointer = stack.back()->is_array() ? pointerTo(pointers.back(), stack.back()->size())
                                         : pointerTo(pointers.back(), nextKey);
    stack.push_back(add(std::move(container)));
    pointers.push_back(std::move(pointer));
    return true;
  }
  bool close() {
    stack.pop_back();
    pointers.pop_back();
    return true;
  }
  bool fail(const std::string &text) {
    message = (pointers.empty() ? "#" : pointers.back()) + ": " + text;
    return false;
  }

  std::vector<json *> stack; // open containers; a parent does not change while its child is open
  std::vector<std::string> pointers;
  std::string nextKey;
};

} // namespace

Result<json> parseStrictJson(std::string_view text) {
  Builder builder;
  try {
    if (!json::sax_parse(text.begin(), text.end(), &builder))
      return Error{builder.message};
  } catch (const json::exception &error) {
    return Error{error.what()};
  }
  return std::move(builder.root);
}

} // namespace ck::maps
