//===- GgufTest.cpp - the GGUF reader -------------------------------------===//
#include "FormatsSupport.h"

using namespace ck;
using namespace ck::test;

namespace {

std::string floats(size_t count, float first = 0) {
  std::string out;
  for (size_t i = 0; i < count; ++i)
    out += bytesOf(first + static_cast<float>(i));
  return out;
}

TEST(Gguf, ReadsEveryTypeOfMetadata) {
  GgufBuilder file;
  file.raw("u8", 0, bytesOf<uint8_t>(200)).raw("i8", 1, bytesOf<int8_t>(-3)).raw("u16", 2, bytesOf<uint16_t>(60000));
  file.raw("i16", 3, bytesOf<int16_t>(-300)).u32("u32", 4000000000u).raw("i32", 5, bytesOf<int32_t>(-70000));
  file.f32("f32", 0.5f).boolean("yes", true).text("text", "h\xC3\xA9").raw("u64", 10, bytesOf<uint64_t>(1ull << 63));
  file.raw("i64", 11, bytesOf<int64_t>(-5)).raw("f64", 12, bytesOf(0.1));
  file.strings("names", {"a", "", "ccc"}).array<int16_t>("shorts", 3, {-1, 2}).array<float>("reals", 6, {1.5f});
  std::string nested = bytesOf<uint32_t>(9) + bytesOf<uint64_t>(2) +                              // two arrays:
                       bytesOf<uint32_t>(4) + bytesOf<uint64_t>(1) + bytesOf<uint32_t>(7) +       // [7],
                       bytesOf<uint32_t>(8) + bytesOf<uint64_t>(1) + GgufBuilder::string("deep"); // ["deep"]
  file.raw("nested", 9, nested);
  Result<Container> container = file.parse();
  ASSERT_TRUE(container) << messageOf(container);
  auto integer = [&](const char *key) { return container->findMeta(key)->asInteger(); };
  EXPECT_EQ(integer("u8"), 200);
  EXPECT_EQ(integer("i8"), -3);
  EXPECT_EQ(integer("u16"), 60000);
  EXPECT_EQ(integer("i16"), -300);
  EXPECT_EQ(integer("u32"), 4000000000);
  EXPECT_EQ(integer("i32"), -70000);
  EXPECT_EQ(integer("i64"), -5);
  EXPECT_FALSE(integer("u64"));
  EXPECT_EQ(container->findMeta("u64")->brief(), "9223372036854775808");
  EXPECT_FALSE(integer("f32"));
  EXPECT_EQ(container->findMeta("f32")->asNumber(), 0.5);
  EXPECT_EQ(container->findMeta("f64")->asNumber(), 0.1);
  EXPECT_EQ(container->findMeta("yes")->asBool(), true);
  EXPECT_EQ(*container->findMeta("text")->asString(), "h\xC3\xA9");
  EXPECT_EQ(container->findMeta("names")->asArray()->strings(), (std::vector<std::string_view>{"a", "", "ccc"}));
  EXPECT_EQ(container->findMeta("shorts")->asArray()->integers(), (std::vector<int64_t>{-1, 2}));
  EXPECT_FALSE(container->findMeta("shorts")->asArray()->numbers());
  EXPECT_EQ(container->findMeta("reals")->asArray()->numbers(), std::vector<double>{1.5});
  std::vector<MetaArray> inner = *container->findMeta("nested")->asArray()->arrays();
  ASSERT_EQ(inner.size(), 2u);
  EXPECT_EQ(inner[0].integers(), std::vector<int64_t>{7});
  EXPECT_EQ(inner[1].strings(), std::vector<std::string_view>{"deep"});
  EXPECT_EQ(container->findMeta("absent"), nullptr);
}

TEST(Gguf, GivesTensorsInRowMajorOrder) {
  GgufBuilder file;
  file.version = 2;
  file.tensor("w", {3, 2}, 0, floats(6)).tensor("b", {5}, 0, floats(5, 100)).tensor("s", {}, 0, floats(1, 7));
  Result<Container> container = file.parse();
  ASSERT_TRUE(container) << messageOf(container);
  EXPECT_EQ(container->version(), 2u);
  ASSERT_EQ(container->tensors().size(), 3u);
  const TensorInfo *w = container->find("w"), *b = container->find("b"), *s = container->find("s");
  EXPECT_EQ(w->shape, (std::vector<int64_t>{2, 3}));
  EXPECT_STREQ(w->dtype->name, "f32");
  EXPECT_EQ(w->bytes, 24u);
  EXPECT_EQ(reinterpret_cast<const float *>(w->data)[5], 5.0f);
  EXPECT_EQ(b->offset % 32, 0u);
  EXPECT_EQ(reinterpret_cast<const float *>(b->data)[4], 104.0f);
  EXPECT_TRUE(s->shape.empty());
  EXPECT_EQ(reinterpret_cast<const float *>(s->data)[0], 7.0f);
}

TEST(Gguf, HonoursTheAlignment) {
  for (uint32_t alignment : {1u, 8u, 16u, 64u, 4096u})
    for (size_t padding : {0, 1, 17}) {
      GgufBuilder file;
      file.alignment = alignment;
      file.u32("general.alignment", alignment).text("pad", std::string(padding, 'x'));
      file.tensor("a", {3}, 0, floats(3, 1)).tensor("b", {2}, 0, floats(2, 8));
      Result<Container> container = file.parse();
      ASSERT_TRUE(container) << messageOf(container);
      float value;
      std::memcpy(&value, container->find("b")->data + 4, sizeof value);
      EXPECT_EQ(value, 9.0f) << alignment;
      EXPECT_EQ(container->find("a")->offset % alignment, 0u);
    }
  for (uint32_t alignment : {0u, 3u, 48u, 1u << 31}) {
    GgufBuilder file;
    file.u32("general.alignment", alignment).tensor("a", {1}, 0, floats(1));
    EXPECT_EQ(codeOf(file.parse()), "BAD_ALIGNMENT") << alignment;
  }
  GgufBuilder odd;
  odd.tensor("a", {1}, 0, floats(100), 4);
  EXPECT_EQ(codeOf(odd.parse()), "BAD_ALIGNMENT");
}

TEST(Gguf, KnowsTheSizeOfEveryBlockFormat) {
  // Bytes of 256 elements, from the published formats.
  const std::pair<uint32_t, size_t> sizes[] = {
      {0, 1024}, {1, 512},  {2, 144},  {3, 160},  {6, 176},  {7, 192},  {8, 272},   {9, 288},   {10, 84},
      {11, 110}, {12, 144}, {13, 176}, {14, 210}, {15, 292}, {16, 66},  {17, 74},   {18, 98},   {19, 50},
      {20, 144}, {21, 110}, {22, 82},  {23, 136}, {24, 256}, {25, 512}, {26, 1024}, {27, 2048}, {28, 2048},
      {29, 56},  {30, 512}, {34, 54},  {35, 66},  {39, 136}, {40, 144}, {41, 36},   {42, 72}};
  for (auto [type, bytes] : sizes) {
    GgufBuilder file;
    file.tensor("t", {256, 3}, type, std::string(3 * bytes, 'x'));
    Result<Container> container = file.parse();
    ASSERT_TRUE(container) << messageOf(container);
    EXPECT_EQ(container->tensors()[0].bytes, 3 * bytes) << type;
  }
  for (uint32_t type : {4u, 5u, 31u, 38u, 43u, 0xffffffffu}) {
    GgufBuilder file;
    file.tensor("t", {256}, type, std::string(4096, 'x'));
    EXPECT_EQ(codeOf(file.parse()), "BAD_DTYPE") << type;
  }
}

TEST(Gguf, RefusesShapesThatCannotBe) {
  auto code = [](const std::vector<uint64_t> &dims, uint32_t type) {
    GgufBuilder file;
    file.tensor("t", dims, type, std::string(64, 'x'));
    return codeOf(file.parse());
  };
  EXPECT_EQ(code({1, 1, 1, 1}, 0), "OK");
  EXPECT_EQ(code({1, 1, 1, 1, 1}, 0), "BAD_SHAPE");
  EXPECT_EQ(code({4, 0}, 0), "BAD_SHAPE");
  EXPECT_EQ(code({33, 2}, 8), "BAD_SHAPE");
  EXPECT_EQ(code({}, 8), "BAD_SHAPE");
  EXPECT_EQ(code({1ull << 63}, 0), "OVERFLOW");
  EXPECT_EQ(code({1ull << 33, 1ull << 31}, 0), "OVERFLOW");
  EXPECT_EQ(code({1ull << 62}, 0), "OVERFLOW");
  EXPECT_EQ(code({17}, 0), "TRUNCATED");
}

TEST(Gguf, RefusesTensorsOutOfPlace) {
  auto code = [](std::optional<uint64_t> first, std::optional<uint64_t> second, const char *name = "b") {
    GgufBuilder file;
    file.tensor("a", {8}, 0, std::string(32, 'x'), first).tensor(name, {8}, 0, std::string(32, 'x'), second);
    return codeOf(file.parse());
  };
  EXPECT_EQ(code(0, 32), "OK");
  EXPECT_EQ(code(32, 0), "OK");
  EXPECT_EQ(code(0, 0), "OVERLAP");
  EXPECT_EQ(code(0, 64), "OUT_OF_RANGE");
  EXPECT_EQ(code(0, ~0ull - 31), "OUT_OF_RANGE");
  EXPECT_EQ(code(0, 32, "a"), "DUPLICATE");
  GgufBuilder wide;
  wide.tensor("a", {16}, 0, std::string(64, 'x')).tensor("b", {8}, 0, "", 32);
  EXPECT_EQ(codeOf(wide.parse()), "OVERLAP");
}

TEST(Gguf, RefusesHeadersThatLie) {
  GgufBuilder file;
  file.u32("k", 1);
  std::string good = file.bytes();
  auto code = [](std::string bytes) {
    return codeOf(Container::parse(MappedFile::fromMemory(std::move(bytes), "t.gguf")));
  };
  EXPECT_EQ(code(good), "OK");
  EXPECT_EQ(code("GGU"), "BAD_MAGIC");
  EXPECT_EQ(code("GGUF\x03"), "TRUNCATED");
  EXPECT_EQ(code("GGUF" + bytesOf<uint32_t>(1) + good.substr(8)), "BAD_VERSION");
  std::string bigEndian = "GGUF" + std::string("\0\0\0\3", 4) + good.substr(8);
  EXPECT_CONTAINS(messageOf(Container::parse(MappedFile::fromMemory(bigEndian, "t.gguf"))), "big-endian");
  for (size_t cut = 4; cut < good.size(); ++cut)
    EXPECT_EQ(code(good.substr(0, cut)), "TRUNCATED") << cut;
  EXPECT_EQ(code("GGUF" + bytesOf<uint32_t>(3) + bytesOf<uint64_t>(~0ull) + good.substr(16)), "ABSURD_COUNT");
  EXPECT_EQ(codeOf(GgufBuilder().raw("", 4, bytesOf(1)).parse()), "BAD_HEADER");
  EXPECT_EQ(codeOf(GgufBuilder().raw("k", 13, bytesOf(1)).parse()), "BAD_DTYPE");
  EXPECT_EQ(codeOf(GgufBuilder().raw("k", 7, "\x02").parse()), "BAD_HEADER");
  EXPECT_EQ(codeOf(GgufBuilder().u32("k", 1).u32("k", 1).parse()), "DUPLICATE");
  EXPECT_EQ(codeOf(GgufBuilder().raw("k", 9, bytesOf<uint32_t>(4) + bytesOf<uint64_t>(3)).parse()), "TRUNCATED");
  EXPECT_EQ(codeOf(GgufBuilder().raw("k", 9, bytesOf<uint32_t>(4) + bytesOf<uint64_t>(1ull << 62)).parse()),
            "ABSURD_COUNT");
  std::string deep;
  for (int i = 0; i < 10000; ++i)
    deep += bytesOf<uint32_t>(9) + bytesOf<uint64_t>(1);
  EXPECT_EQ(codeOf(GgufBuilder().raw("k", 9, deep).parse()), "TOO_DEEP");
  EXPECT_EQ(codeOf(GgufBuilder().tensor("", {1}, 0, "1234").parse()), "BAD_HEADER");
}

TEST(Gguf, MessagesShowNamesSafely) {
  GgufBuilder file;
  file.tensor("bad\n\x1b[31m" + std::string(500, 'n'), {0}, 0, "");
  std::string message = messageOf(file.parse());
  EXPECT_CONTAINS(message, "test.gguf: tensor 'bad\\x0a\\x1b[31mnnn");
  EXPECT_LT(message.size(), 250u);
}

TEST(Container, RecognisesByExtensionThenByContent) {
  TemporaryDirectory directory;
  std::string gguf = GgufBuilder().u32("k", 1).bytes(), safetensors = safetensorsBytes("{}", "");
  EXPECT_EQ(Container::open(directory.write("a", gguf))->format(), Container::Format::Gguf);
  EXPECT_EQ(Container::open(directory.write("b", safetensors))->format(), Container::Format::Safetensors);
  EXPECT_EQ(codeOf(Container::open(directory.write("c.gguf", safetensors))), "BAD_MAGIC");
  EXPECT_EQ(codeOf(Container::open(directory.write("d", "some text that is no model"))), "BAD_MAGIC");
}

TEST(Container, OpensTheExampleModel) {
  Result<Container> gguf = Container::open(examplePath("tiny-llama-f32.gguf"));
  ASSERT_TRUE(gguf) << messageOf(gguf);
  EXPECT_EQ(gguf->find("token_embd.weight")->shape, (std::vector<int64_t>{340, 48}));
  Result<Container> hf = Container::open(examplePath("hf/model.safetensors"));
  ASSERT_TRUE(hf) << messageOf(hf);
  const TensorInfo *a = gguf->find("blk.1.ffn_down.weight"), *b = hf->find("model.layers.1.mlp.down_proj.weight");
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->shape, b->shape);
  ASSERT_EQ(a->bytes, b->bytes);
  EXPECT_EQ(std::memcmp(a->data, b->data, a->bytes), 0);
}

} // namespace
