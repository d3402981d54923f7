//===- SchemaTest.cpp - strict JSON and the schema validator --------------===//

#include "Schema.h"
#include "StrictJson.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

using namespace ck;
using nlohmann::json;

namespace {

std::string parseError(const std::string &text) {
  Result<json> value = parseStrictJson(text);
  return value ? "value " + value->dump() : value.error().message;
}

json readJson(const std::string &name) {
  std::ifstream file(std::string(CK_TEST_MAPS) + "/" + name);
  return json::parse(file);
}

TEST(StrictJson, Values) {
  for (const char *text :
       {"null", "true", "[]", "{}", "-3", "1.5", "\"a\"", "[1,[2,{}]]", "{\"a\":{\"b\":[1]},\"c\":2}"})
    EXPECT_EQ(parseError(text), std::string("value ") + text);
}

TEST(StrictJson, Refusals) {
  EXPECT_EQ(parseError("{\"a\": 1, \"a\": 2}"), "#: duplicate key \"a\"");
  EXPECT_EQ(parseError("{\"p\": [0, {\"x/y\": {\"n\": 1, \"n\": 1}}]}"), "#/p/1/x~1y: duplicate key \"n\"");
  EXPECT_EQ(
      parseError(std::string(65, '[') + std::string(65, ']')), "#" + std::string() + [] {
        std::string pointer;
        for (int i = 0; i < 63; ++i)
          pointer += "/0";
        return pointer;
      }() + ": nested deeper than 64 levels");
  EXPECT_NE(parseError(std::string(100000, '[')).find("nested deeper than 64 levels"), std::string::npos);
  EXPECT_EQ(parseError("{} x").rfind("line 1, column 4: ", 0), 0u) << parseError("{} x");
  EXPECT_EQ(parseError("{\"a\":\n NaN}").rfind("line 2, column 2: ", 0), 0u) << parseError("{\"a\":\n NaN}");
  EXPECT_EQ(parseError("1e999"), "byte 5: number overflow parsing '1e999'");
  for (const char *text :
       {"", "{", "[1,]", "{\"a\"}", "\"\xff\"", "Infinity", "// c\n1", "'a'", "{\"a\":1}}", "\"\\ud800\""})
    EXPECT_EQ(parseError(text).rfind("line ", 0), 0u) << text << ": " << parseError(text);
}

TEST(Schema, IsWithinTheSubset) {
  ASSERT_TRUE(kernelMapSchema().is_object());
  Status s = checkSchemaSubset(kernelMapSchema());
  EXPECT_TRUE(s) << s.error().message;
}

TEST(Schema, SubsetCheckNoticesWhatItCannotDo) {
  auto subset = [](const char *text) {
    Status s = checkSchemaSubset(json::parse(text));
    return s ? std::string() : s.error().message;
  };
  EXPECT_EQ(subset(R"({"properties": {"a": {"multipleOf": 2}}})"),
            "#/properties/a: this validator does not know the rule multipleOf");
  EXPECT_EQ(subset(R"({"items": {"pattern": "a"}})"), "#/items/pattern: a pattern needs a maxLength of at most 1024");
  EXPECT_EQ(subset(R"({"$ref": "#/$defs/x"})"), "#/$ref: #/$defs/x is no definition without further references");
  EXPECT_NE(subset(R"({"properties": 4})"), "");
}

TEST(Schema, Rules) {
  auto check = [](const char *schema, const char *value) {
    Status s = validate(json::parse(schema), json::parse(value));
    return s ? std::string("valid") : s.error().message;
  };
  EXPECT_EQ(check(R"({"type": "integer"})", "3"), "valid");
  EXPECT_EQ(check(R"({"type": "integer"})", "3.0"), "valid");
  EXPECT_EQ(check(R"({"type": "integer"})", "3.5"), "#: expected integer, found 3.5 [type]");
  EXPECT_EQ(check(R"({"type": "number"})", "true"), "#: expected number, found true [type]");
  EXPECT_EQ(check(R"({"type": ["null", "object"]})", "null"), "valid");
  EXPECT_EQ(check(R"({"const": 2})", "3"), "#: must be 2, found 3 [const]");
  EXPECT_EQ(check(R"({"maxLength": 2})", "\"\xc3\xa9\xc3\xa9\""), "valid");
  EXPECT_EQ(check(R"({"maxLength": 2})", "\"abc\""), "#: longer than 2 characters [maxLength]");
  EXPECT_EQ(check(R"({"additionalProperties": {"minimum": 1}})", R"({"a": 0})"), "#/a: 0 is less than 1 [minimum]");
  EXPECT_EQ(check("[]", "1"), "the schema is no object");
  EXPECT_EQ(check(R"({"$ref": "#/$defs/none"})", "1").rfind("the schema is malformed", 0), 0u);
  EXPECT_EQ(check(R"({"pattern": "("})", "\"a\"").rfind("the schema is malformed", 0), 0u);
  // A long value never reaches the recursive regular expressions.
  std::string longText = "\"" + std::string(200000, 'a') + "\"";
  EXPECT_EQ(check(R"({"maxLength": 8, "pattern": "^(a|b)*$"})", longText.c_str()),
            "#: longer than 8 characters [maxLength]");
}

TEST(Schema, RefusesWithPointerAndRule) {
  const json good = readJson("maps/rmsnorm_forward.json");
  const json cases = readJson("schema-cases.json");
  ASSERT_TRUE(validate(kernelMapSchema(), good));
  ASSERT_GT(cases.size(), 20u);
  for (const json &item : cases) {
    json edited = good;
    if (item.contains("put")) {
      auto put = item["put"].begin();
      edited[json::json_pointer(put.key())] = put.value();
    } else {
      json patch = json::array({{{"op", "remove"}, {"path", item["drop"]}}});
      edited = edited.patch(patch);
    }
    Status s = validate(kernelMapSchema(), edited);
    EXPECT_EQ(s ? "valid" : s.error().message, item["error"].get<std::string>());
  }
}

} // namespace
