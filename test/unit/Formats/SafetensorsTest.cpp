//===- SafetensorsTest.cpp - the safetensors reader -----------------------===//
#include "FormatsSupport.h"

using namespace ck;
using namespace ck::test;

namespace {

std::string tensor(const std::string &name, const std::string &dtype, const std::string &shape, int64_t from,
                   int64_t to) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":[" +
         std::to_string(from) + "," + std::to_string(to) + "]}";
}

std::string codeFor(const std::string &entries, size_t data) {
  return codeOf(parseSafetensors("{" + entries + "}", std::string(data, '\1')));
}

TEST(Safetensors, ReadsTensorsAndMetadata) {
  Result<Container> file =
      parseSafetensors("{\"__metadata__\":{\"format\":\"pt\"}," + tensor("b", "F16", "[3]", 8, 14) + "," +
                           tensor("a", "F32", "[1,2]", 0, 8) + "," + tensor("none", "I64", "[0,5]", 8, 8) + "}   ",
                       bytesOf(1.5f) + bytesOf(2.5f) + "abcdef");
  ASSERT_TRUE(file) << messageOf(file);
  EXPECT_EQ(*file->findMeta("format")->asString(), "pt");
  ASSERT_EQ(file->tensors().size(), 3u);
  const TensorInfo *a = file->find("a");
  EXPECT_EQ(a->shape, (std::vector<int64_t>{1, 2}));
  EXPECT_STREQ(a->dtype->name, "f32");
  float value;
  std::memcpy(&value, a->data + 4, sizeof value);
  EXPECT_EQ(value, 2.5f);
  EXPECT_EQ(std::memcmp(file->find("b")->data, "abcdef", 6), 0);
  EXPECT_EQ(file->find("none")->bytes, 0u);
}

TEST(Safetensors, ReadsAnEmptyFile) { EXPECT_EQ(codeFor("", 0), "OK"); }

TEST(Safetensors, KnowsTheDtypes) {
  for (auto [name, bits] : std::vector<std::pair<const char *, int>>{
           {"BOOL", 8}, {"U8", 8},   {"I8", 8},    {"F8_E4M3", 8}, {"F8_E5M2", 8}, {"F8_E8M0", 8}, {"I16", 16},
           {"U16", 16}, {"F16", 16}, {"BF16", 16}, {"I32", 32},    {"U32", 32},    {"F32", 32},    {"F64", 64},
           {"I64", 64}, {"U64", 64}, {"C64", 64},  {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}})
    EXPECT_EQ(codeFor(tensor("t", name, "[8]", 0, bits), bits), "OK") << name;
  EXPECT_EQ(codeFor(tensor("t", "F7", "[1]", 0, 4), 4), "BAD_DTYPE");
  EXPECT_EQ(codeFor(tensor("t", "f32", "[1]", 0, 4), 4), "BAD_DTYPE");
  EXPECT_EQ(codeFor(tensor("t", "F4", "[3]", 0, 2), 2), "BAD_SHAPE");
}

TEST(Safetensors, RefusesLayoutsThatAreNotExact) {
  std::string a = tensor("a", "F32", "[2]", 0, 8);
  EXPECT_EQ(codeFor(a, 8), "OK");
  EXPECT_EQ(codeFor(a, 9), "BAD_HEADER");                                          // trailing byte
  EXPECT_EQ(codeFor(tensor("a", "F32", "[2]", 4, 12), 12), "BAD_HEADER");          // hole at the start
  EXPECT_EQ(codeFor(a + "," + tensor("b", "U8", "[1]", 9, 10), 10), "BAD_HEADER"); // hole between
  EXPECT_EQ(codeFor(a + "," + tensor("b", "F32", "[2]", 4, 12), 12), "OVERLAP");
  EXPECT_EQ(codeFor(a + "," + tensor("b", "F32", "[2]", 0, 8), 8), "OVERLAP");
  EXPECT_EQ(codeFor(a, 7), "TRUNCATED");
  EXPECT_EQ(codeFor(tensor("a", "F32", "[2]", 8, 16), 4), "OUT_OF_RANGE");
  EXPECT_EQ(codeFor(tensor("a", "F32", "[2]", 8, 0), 8), "OUT_OF_RANGE");
  EXPECT_EQ(codeFor(tensor("a", "F32", "[2]", -8, 0), 8), "OUT_OF_RANGE");
  EXPECT_EQ(codeFor(tensor("a", "F32", "[3]", 0, 8), 8), "BAD_SHAPE");
  EXPECT_EQ(codeFor(tensor("a", "F32", "[-2]", 0, 8), 8), "BAD_SHAPE");
  EXPECT_EQ(codeFor(tensor("a", "F32", "[2.0]", 0, 8), 8), "BAD_SHAPE");
  EXPECT_EQ(codeFor(tensor("a", "F32", "[4294967296,4294967296]", 0, 8), 8), "OVERFLOW");
  EXPECT_EQ(codeFor(tensor("a", "F32", "[4611686018427387904]", 0, 8), 8), "OVERFLOW");
  EXPECT_EQ(codeFor(a + "," + a, 8), "DUPLICATE");
}

TEST(Safetensors, RefusesHeadersThatAreNotTheFormat) {
  EXPECT_EQ(codeFor("\"a\":1", 0), "BAD_HEADER");
  EXPECT_EQ(codeFor("\"a\":{\"dtype\":\"F32\",\"shape\":[]}", 0), "BAD_HEADER");
  EXPECT_EQ(codeFor("\"__metadata__\":{\"n\":1}", 0), "BAD_HEADER");
  EXPECT_EQ(codeFor("\"__metadata__\":[]", 0), "BAD_HEADER");
  EXPECT_EQ(codeFor(tensor("", "U8", "[1]", 0, 1), 1), "BAD_HEADER");
  EXPECT_EQ(codeOf(parseSafetensors("[]", "")), "BAD_HEADER");
  EXPECT_EQ(codeOf(parseSafetensors("{\"a\"", "")), "BAD_JSON");
  EXPECT_EQ(codeOf(parseSafetensors("{\"a\":" + std::string(60000, '['), "")), "TOO_DEEP");
  auto code = [](std::string bytes) {
    return codeOf(Container::parse(MappedFile::fromMemory(std::move(bytes), "t.safetensors")));
  };
  EXPECT_EQ(code("1234567"), "TRUNCATED");
  EXPECT_EQ(code(bytesOf<uint64_t>(3) + "{}"), "TRUNCATED");
  EXPECT_EQ(code(bytesOf<uint64_t>(~0ull) + "{}"), "ABSURD_COUNT");
}

} // namespace
