//===- JsonCursor.cpp - reading JSON with located errors ------------------===//
//
// Messages say what stands there and what was expected.
//
//===----------------------------------------------------------------------===//
#include "JsonCursor.h"

#include <algorithm>
#include <cmath>

namespace ck {

static const nlohmann::json nothing;

bool JsonCursor::fail(const std::string &message) const {
  if (ok())
    error = (pointer.empty() ? "/" : pointer) + ": " + message;
  return false;
}

/// The value as a reader would recognise it, short.
static std::string describe(const nlohmann::json &value) {
  if (value.is_object() || value.is_array())
    return std::string("an ") + value.type_name();
  std::string text = value.dump(-1, ' ', true);
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

bool JsonCursor::isObject(std::initializer_list<const char *> required,
                          std::initializer_list<const char *> optional) const {
  if (!ok())
    return false;
  if (!value.is_object())
    return fail("found " + describe(value) + ", expected an object");
  for (const char *name : required)
    if (!value.contains(name))
      return fail("'" + std::string(name) + "' is missing");
  auto knows = [](std::initializer_list<const char *> names, const std::string &name) {
    return std::any_of(names.begin(), names.end(), [&](const char *known) { return name == known; });
  };
  for (const auto &member : value.items())
    if (!knows(required, member.key()) && !knows(optional, member.key()))
      return fail("unknown member " + describe(nlohmann::json(member.key())));
  return true;
}

JsonCursor JsonCursor::operator[](const char *name) const {
  return JsonCursor(has(name) ? value.find(name).value() : nothing, *this, name);
}

size_t JsonCursor::size() const {
  if (!value.is_array())
    return fail("found " + describe(value) + ", expected an array"), 0;
  return value.size();
}

JsonCursor JsonCursor::at(size_t index) const {
  return JsonCursor(value.is_array() && index < value.size() ? value[index] : nothing, *this, std::to_string(index));
}

int64_t JsonCursor::integer(int64_t low, int64_t high) const {
  bool fits =
      value.is_number_integer() && (!value.is_number_unsigned() || value.get<uint64_t>() <= uint64_t(INT64_MAX));
  int64_t result = fits ? value.get<int64_t>() : low;
  if (fits && low <= result && result <= high)
    return result;
  std::string expected = high == INT64_MAX ? "an integer of at least " + std::to_string(low)
                         : high == low - 1 ? "no index: there is nothing to choose from"
                                           : "an integer in " + std::to_string(low) + ".." + std::to_string(high);
  if (low == INT64_MIN)
    expected = "a 64-bit integer";
  fail("found " + describe(value) + ", expected " + expected);
  return low;
}

double JsonCursor::number() const {
  double result = value.is_number() ? value.get<double>() : NAN;
  if (std::isfinite(result))
    return result;
  fail("found " + describe(value) + ", expected a finite number");
  return 0;
}

std::string JsonCursor::text() const {
  if (value.is_string()) {
    const auto &text = value.get_ref<const std::string &>();
    if (!text.empty() && text.find('\0') == std::string::npos)
      return text;
  }
  fail("found " + describe(value) + ", expected a non-empty string");
  return "";
}

} // namespace ck
