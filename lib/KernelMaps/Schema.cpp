//===- Schema.cpp - a subset of JSON Schema -------------------------------===//
//
// One class walks schema and instance together and stops at the first rule that does not hold.
//
//===----------------------------------------------------------------------===//
#include "Schema.h"

#include "Cursor.h"
#include "StrictJson.h"

#include <cmath>
#include <map>
#include <regex>

using json = nlohmann::json;

namespace ck::maps {

namespace {

bool hasType(const json &value, const std::string &type) {
  if (type == "object")
    return value.is_object();
  if (type == "array")
    return value.is_array();
  if (type == "string")
    return value.is_string();
  if (type == "boolean")
    return value.is_boolean();
  if (type == "null")
    return value.is_null();
  if (type == "number")
    return value.is_number();
  return type == "integer" && (value.is_number_integer() ||
                               (value.is_number_float() && value.get<double>() == std::floor(value.get<double>())));
}

/// The value as JSON, shortened for an error message.
std::string shown(const json &value) {
  std::string text = value.dump(-1, ' ', /*ensure_ascii=*/true);
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

/// Unicode characters of a valid UTF-8 string.
size_t length(const std::string &text) {
  size_t n = 0;
  for (char c : text)
    n += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return n;
}

/// Compiling costs far more than matching, and a schema has few patterns.
const std::regex &compiled(const std::string &pattern) {
  static thread_local std::map<std::string, std::regex> cache;
  auto it = cache.find(pattern);
  return it != cache.end() ? it->second : cache.emplace(pattern, std::regex(pattern)).first->second;
}

std::string count(size_t n, const char *noun) { return std::to_string(n) + " " + noun + (n == 1 ? "" : "s"); }

class Validator {
public:
  explicit Validator(const json &root) : root(root) {}

  Status check(const json &schema, const json &value, const std::string &at) {
    if (auto ref = schema.find("$ref"); ref != schema.end())
      if (Status s = check(root.at("$defs").at(ref->get<std::string>().substr(8)), value, at); !s)
        return s;
    if (Status s = checkAny(schema, value, at); !s)
      return s;
    if (value.is_string())
      return checkString(schema, value.get_ref<const std::string &>(), at);
    if (value.is_number())
      return checkNumber(schema, value, at);
    if (value.is_array())
      return checkArray(schema, value, at);
    if (value.is_object())
      return checkObject(schema, value, at);
    return Status::success();
  }

private:
  static Error error(const std::string &at, const std::string &what, const char *rule) {
    return {at + ": " + what + " [" + rule + "]"};
  }

  Status checkAny(const json &schema, const json &value, const std::string &at) {
    if (auto type = schema.find("type"); type != schema.end()) {
      std::vector<std::string> types = type->is_string() ? std::vector<std::string>{type->get<std::string>()}
                                                         : type->get<std::vector<std::string>>();
      bool any = false;
      for (const std::string &t : types)
        any |= hasType(value, t);
      if (!any)
        return error(at, "expected " + join(types, " or ") + ", found " + shown(value), "type");
    }
    if (auto constant = schema.find("const"); constant != schema.end() && value != *constant)
      return error(at, "must be " + shown(*constant) + ", found " + shown(value), "const");
    if (auto choices = schema.find("enum"); choices != schema.end()) {
      std::vector<std::string> texts;
      for (const json &choice : *choices) {
        if (choice == value)
          return Status::success();
        texts.push_back(shown(choice));
      }
      return error(at, "expected one of " + join(texts, ", ") + ", found " + shown(value), "enum");
    }
    return Status::success();
  }

  Status checkString(const json &schema, const std::string &value, const std::string &at) {
    // Length first: the regular expressions of the standard library recurse once per character.
    if (auto limit = schema.find("maxLength"); limit != schema.end() && length(value) > limit->get<size_t>())
      return error(at, "longer than " + count(limit->get<size_t>(), "character"), "maxLength");
    if (auto limit = schema.find("minLength"); limit != schema.end() && length(value) < limit->get<size_t>())
      return error(at, "shorter than " + count(limit->get<size_t>(), "character"), "minLength");
    if (auto pattern = schema.find("pattern"); pattern != schema.end())
      if (!std::regex_search(value, compiled(pattern->get<std::string>())))
        return error(at, shown(value) + " does not match " + pattern->get<std::string>(), "pattern");
    return Status::success();
  }

  Status checkNumber(const json &schema, const json &value, const std::string &at) {
    if (auto limit = schema.find("minimum"); limit != schema.end() && value < *limit)
      return error(at, shown(value) + " is less than " + shown(*limit), "minimum");
    return Status::success();
  }

  Status checkArray(const json &schema, const json &value, const std::string &at) {
    if (auto limit = schema.find("minItems"); limit != schema.end() && value.size() < limit->get<size_t>())
      return error(at, "has fewer than " + count(limit->get<size_t>(), "item"), "minItems");
    if (auto limit = schema.find("maxItems"); limit != schema.end() && value.size() > limit->get<size_t>())
      return error(at, "has more than " + count(limit->get<size_t>(), "item"), "maxItems");
    if (auto items = schema.find("items"); items != schema.end())
      for (size_t i = 0; i < value.size(); ++i)
        if (Status s = check(*items, value[i], pointerTo(at, i)); !s)
          return s;
    return Status::success();
  }

  Status checkObject(const json &schema, const json &value, const std::string &at) {
    auto properties = schema.find("properties");
    auto additional = schema.find("additionalProperties");
    auto names = schema.find("propertyNames");
    for (auto &[key, member] : value.items()) {
      std::string here = pointerTo(at, key);
      if (names != schema.end())
        if (Status s = check(*names, json(key), here); !s)
          return s;
      if (properties != schema.end() && properties->contains(key)) {
        if (Status s = check(properties->at(key), member, here); !s)
          return s;
      } else if (additional != schema.end() && additional->is_object()) {
        if (Status s = check(*additional, member, here); !s)
          return s;
      } else if (additional != schema.end() && !additional->get<bool>()) {
        std::vector<std::string> known;
        if (properties != schema.end())
          for (auto &property : properties->items())
            known.push_back(property.key());
        return error(here, "no such field; known are " + join(known, ", "), "additionalProperties");
      }
    }
    if (auto required = schema.find("required"); required != schema.end())
      for (const json &key : *required)
        if (!value.contains(key.get<std::string>()))
          return error(at, "field " + shown(key) + " is missing", "required");
    return Status::success();
  }

  const json &root;
};

Status checkSubset(const json &root, const json &schema, const std::string &at) {
  static const std::vector<std::string> known = {
      "$schema",   "title",     "description",          "$defs",   "$ref",          "type",     "enum",
      "const",     "required",  "properties",           "items",   "propertyNames", "minItems", "maxItems",
      "minLength", "maxLength", "additionalProperties", "pattern", "minimum"};
  for (auto &[key, value] : schema.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end())
      return Error{at + ": this validator does not know the rule " + key};
    std::string here = pointerTo(at, key);
    if (key == "properties" || key == "$defs") {
      for (auto &[name, sub] : value.items())
        if (Status s = checkSubset(root, sub, pointerTo(here, name)); !s)
          return s;
    } else if (key == "items" || key == "propertyNames" || (key == "additionalProperties" && value.is_object())) {
      if (Status s = checkSubset(root, value, here); !s)
        return s;
    } else if (key == "$ref") {
      std::string ref = value.get<std::string>();
      if (ref.rfind("#/$defs/", 0) != 0 || !root.contains("$defs") || !root["$defs"].contains(ref.substr(8)) ||
          root["$defs"][ref.substr(8)].contains("$ref"))
        return Error{here + ": " + ref + " is no definition without further references"};
    } else if (key == "pattern" && (!schema.contains("maxLength") || schema["maxLength"].get<size_t>() > 1024)) {
      return Error{here + ": a pattern needs a maxLength of at most 1024"};
    }
  }
  return Status::success();
}

} // namespace

Status validate(const json &schema, const json &instance) {
  if (!schema.is_object())
    return Error{"the schema is no object"};
  try {
    return Validator(schema).check(schema, instance, "#");
  } catch (const std::exception &error) { // a malformed schema, or a pattern that std::regex refuses
    return Error{std::string("the schema is malformed: ") + error.what()};
  }
}

Status checkSchemaSubset(const json &schema) {
  try {
    return checkSubset(schema, schema, "#");
  } catch (const std::exception &error) {
    return Error{std::string("the schema is malformed: ") + error.what()};
  }
}

} // namespace ck::maps
