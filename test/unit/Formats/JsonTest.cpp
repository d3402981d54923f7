//===- JsonTest.cpp - JSON text at the edge -------------------------------===//
#include "ck/Import/Formats/Json.h"
#include "FormatsSupport.h"

#include <cmath>

using namespace ck;
using namespace ck::test;

namespace {

TEST(Json, KeepsTypesAndOrder) {
  Result<json::Value> root = json::parse(
      R"({"b": [1, -2, 2.5, true, null], "a": "x\u00e9\n", "big": 9223372036854775807, "bigger": 9223372036854775808})",
      "t.json");
  ASSERT_TRUE(root) << messageOf(root);
  ASSERT_TRUE(root->asObject());
  EXPECT_EQ(root->asObject()->front().first, "b");
  const json::Value::Array &list = *root->find("b")->asArray();
  EXPECT_EQ(list[0].asInteger(), 1);
  EXPECT_EQ(list[1].asInteger(), -2);
  EXPECT_FALSE(list[2].asInteger());
  EXPECT_EQ(list[2].asNumber(), 2.5);
  EXPECT_EQ(list[3].asBool(), true);
  EXPECT_TRUE(list[4].isNull());
  EXPECT_EQ(*root->find("a")->asString(), "x\xC3\xA9\n");
  EXPECT_EQ(root->find("big")->asInteger(), INT64_MAX);
  EXPECT_FALSE(root->find("bigger")->asInteger());
  EXPECT_EQ(root->find("c"), nullptr);
}

TEST(Json, ReadsWhatPythonWritesForNonFiniteNumbers) {
  Result<json::Value> root =
      json::parse(R"({"NaN": "NaN \" Infinity", "x": [NaN, -Infinity, Infinity], "y": "~", "z": -1})", "t.json");
  ASSERT_TRUE(root) << messageOf(root);
  EXPECT_EQ(*root->find("NaN")->asString(), "NaN \" Infinity");
  const json::Value::Array &list = *root->find("x")->asArray();
  EXPECT_TRUE(std::isnan(*list[0].asNumber()));
  EXPECT_EQ(list[1].asNumber(), -INFINITY);
  EXPECT_EQ(list[2].asNumber(), INFINITY);
  EXPECT_EQ(*root->find("y")->asString(), "~");
  EXPECT_EQ(codeOf(json::parse("{NaN: 1}", "t")), "BAD_JSON");
  EXPECT_EQ(codeOf(json::parse("NaNa", "t")), "BAD_JSON");
}

TEST(Json, PointsAtTheFault) {
  Result<json::Value> bad = json::parse("{\n  \"a\": 1,\n  \"b\" 2\n}", "t.json");
  EXPECT_EQ(codeOf(bad), "BAD_JSON");
  EXPECT_CONTAINS(messageOf(bad), "t.json:3:");
}

TEST(Json, RefusesEverythingThatIsNotOneValue) {
  for (const char *text : {"", " ", "{", "[1,]", "{\"a\":1} x", "[1] [2]", "'a'", "01", "1e999", "\"\xFF\"", "// c\n1",
                           "\"", "\"\\", "{\"a\"", "tru", "-", "[\x01]"})
    EXPECT_EQ(codeOf(json::parse(text, "t")), "BAD_JSON") << text;
}

TEST(Json, RefusesAKeyTwiceInOneObjectOnly) {
  EXPECT_EQ(codeOf(json::parse(R"({"a": 1, "b": {"a": 2}})", "t")), "OK");
  Result<json::Value> twice = json::parse(R"({"b": {"a": 2, "\u0061": 3}})", "t");
  EXPECT_EQ(codeOf(twice), "DUPLICATE");
  EXPECT_CONTAINS(messageOf(twice), "'a'");
}

TEST(Json, RefusesDepthWithoutRecursion) {
  std::string deep = std::string(json::kMaxDepth, '[') + std::string(json::kMaxDepth, ']');
  EXPECT_EQ(codeOf(json::parse(deep, "t")), "OK");
  EXPECT_EQ(codeOf(json::parse("[" + deep + "]", "t")), "TOO_DEEP");
  EXPECT_EQ(codeOf(json::parse(std::string(5'000'000, '['), "t")), "TOO_DEEP");
  std::string objects;
  for (int i = 0; i < 60'000; ++i)
    objects += "{\"a\":";
  EXPECT_EQ(codeOf(json::parse(objects, "t")), "TOO_DEEP");
}

} // namespace
