//===- GgufWriterTest.cpp - written files, read again ---------------------===//
#include "ck/Import/Formats/GgufWriter.h"
#include "FormatsSupport.h"

#include <csignal>
#include <limits>
#include <sys/resource.h>

using namespace ck;
using namespace ck::test;

namespace {

const StorageType *type(const char *name) { return findStorageType(name); }

std::string_view view(const std::vector<float> &values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(float)};
}

GgufMetadata everyKind() {
  GgufMetadata metadata;
  metadata.set("u8", uint8_t{200}).set("i8", int8_t{-3}).set("u16", uint16_t{65535}).set("i16", int16_t{-300});
  metadata.set("u32", uint32_t{7}).set("i32", int32_t{-7}).set("f32", 0.1f).set("bool", true);
  metadata.set("text", "a \xE2\x96\x81 b").set("u64", UINT64_MAX).set("i64", INT64_MIN).set("f64", 0.1);
  metadata.set("strings", std::vector<std::string>{"", "two", "3"}).set("floats", std::vector<float>{1.5f, -2});
  metadata.set("ids", std::vector<int32_t>{1, -2, 3}).set("none", std::vector<uint64_t>{});
  return metadata;
}

void expectEveryKind(const Container &file) {
  auto integer = [&](const char *key, MetaType kind) {
    EXPECT_EQ(file.findMeta(key)->type, kind) << key;
    return file.findMeta(key)->asInteger();
  };
  EXPECT_EQ(integer("u8", MetaType::U8), 200);
  EXPECT_EQ(integer("i8", MetaType::I8), -3);
  EXPECT_EQ(integer("u16", MetaType::U16), 65535);
  EXPECT_EQ(integer("i16", MetaType::I16), -300);
  EXPECT_EQ(integer("u32", MetaType::U32), 7);
  EXPECT_EQ(integer("i32", MetaType::I32), -7);
  EXPECT_EQ(integer("i64", MetaType::I64), INT64_MIN);
  EXPECT_EQ(file.findMeta("u64")->bits, UINT64_MAX);
  EXPECT_EQ(file.findMeta("f32")->asNumber(), double{0.1f});
  EXPECT_EQ(file.findMeta("f64")->asNumber(), 0.1);
  EXPECT_EQ(file.findMeta("bool")->asBool(), true);
  EXPECT_EQ(*file.findMeta("text")->asString(), "a \xE2\x96\x81 b");
  EXPECT_EQ(file.findMeta("strings")->asArray()->strings(), (std::vector<std::string_view>{"", "two", "3"}));
  EXPECT_EQ(file.findMeta("floats")->asArray()->numbers(), (std::vector<double>{1.5, -2}));
  EXPECT_EQ(file.findMeta("ids")->asArray()->integers(), (std::vector<int64_t>{1, -2, 3}));
  EXPECT_EQ(file.findMeta("none")->asArray()->count, 0u);
}

TEST(GgufWriter, ReadsBackWhatItWrote) {
  TemporaryDirectory directory;
  std::vector<float> matrix = {1, 2, 3, 4, 5, 6};
  std::string block(18, 'q');
  for (uint32_t alignment : {1u, 16u, 32u, 4096u}) {
    std::string path = directory / "a.gguf";
    Result<TensorStream> stream = ggufStream(
        path, everyKind(), {{"m", type("f32"), {2, 3}}, {"q", type("q4_0"), {1, 1, 32}}, {"scalar", type("f32"), {}}},
        alignment);
    ASSERT_TRUE(stream) << messageOf(stream);
    // Pieces need not end where tensors end.
    std::string all = std::string(view(matrix)) + block + bytesOf(2.5f);
    for (size_t at = 0; at < all.size(); at += 5)
      ASSERT_TRUE(stream->write(std::string_view(all).substr(at, 5)));
    EXPECT_FALSE(exists(path));
    ASSERT_TRUE(stream->commit());
    Result<Container> file = Container::open(path);
    ASSERT_TRUE(file) << messageOf(file);
    EXPECT_EQ(file->version(), 3u);
    EXPECT_EQ(file->fileSize() % alignment, 0u);
    EXPECT_EQ(file->metadata().size(), everyKind().count() + (alignment != 32));
    expectEveryKind(*file);
    EXPECT_EQ(file->find("m")->shape, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(std::memcmp(file->find("m")->data, matrix.data(), 24), 0);
    EXPECT_EQ(file->find("q")->shape, (std::vector<int64_t>{1, 1, 32}));
    EXPECT_EQ(std::memcmp(file->find("q")->data, block.data(), 18), 0);
    for (const TensorInfo &tensor : file->tensors())
      EXPECT_EQ(tensor.offset % alignment, 0u);
    ::unlink(path.c_str());
  }
}

TEST(GgufWriter, CopiesMetadataOfEveryKind) {
  TemporaryDirectory directory;
  // An array of arrays too, which only copying can make.
  std::string nested = bytesOf<uint32_t>(9) + bytesOf<uint64_t>(2);
  for (uint16_t value : {1, 2})
    nested += bytesOf<uint32_t>(2) + bytesOf<uint64_t>(1) + bytesOf(value);
  Result<TensorStream> first = ggufStream(directory / "a.gguf", everyKind(), {});
  ASSERT_TRUE(first && first->commit());
  Result<Container> source = Container::open(directory / "a.gguf");
  Result<Container> odd = GgufBuilder().raw("nested", 9, nested).parse();
  ASSERT_TRUE(source && odd);
  GgufMetadata metadata;
  for (const MetaEntry &entry : source->metadata())
    metadata.copy(entry.key, entry.value);
  EXPECT_EQ(metadata.encode(), everyKind().encode());
  metadata.copy("nested", *odd->findMeta("nested"));
  metadata.set("bool", false).erase("u8");
  Result<TensorStream> second = ggufStream(directory / "b.gguf", metadata, {});
  ASSERT_TRUE(second && second->commit());
  Result<Container> copy = Container::open(directory / "b.gguf");
  ASSERT_TRUE(copy) << messageOf(copy);
  EXPECT_EQ(copy->findMeta("nested")->asArray()->arrays()->at(1).integers(), (std::vector<int64_t>{2}));
  EXPECT_EQ(copy->findMeta("bool")->asBool(), false);
  EXPECT_EQ(copy->findMeta("u8"), nullptr);
}

TEST(GgufWriter, RefusesWhatNoReaderWouldOpen) {
  TemporaryDirectory directory;
  auto code = [&](const std::vector<TensorHeader> &tensors, uint32_t alignment = 32) {
    return codeOf(ggufStream(directory / "x.gguf", {}, tensors, alignment));
  };
  EXPECT_EQ(code({{"a", type("f32"), {1}}, {"a", type("f32"), {1}}}), "DUPLICATE");
  EXPECT_EQ(code({{"", type("f32"), {1}}}), "DUPLICATE");
  EXPECT_EQ(code({{"a", type("u64"), {1}}}), "BAD_DTYPE");
  EXPECT_EQ(code({{"a", nullptr, {1}}}), "BAD_DTYPE");
  EXPECT_EQ(code({{"a", type("f32"), {1, 1, 1, 1, 1}}}), "BAD_SHAPE");
  EXPECT_EQ(code({{"a", type("f32"), {2, 0}}}), "BAD_SHAPE");
  EXPECT_EQ(code({{"a", type("q8_0"), {2, 33}}}), "BAD_SHAPE");
  EXPECT_EQ(code({{"a", type("f32"), {INT64_MAX / 2, 1}}, {"b", type("f32"), {1}}}), "BAD_SHAPE");
  EXPECT_EQ(code({{std::string(64, 'a'), type("f32"), {1}}}), "BAD_HEADER");
  EXPECT_EQ(code({}, 0), "BAD_ALIGNMENT");
  EXPECT_EQ(code({}, 48), "BAD_ALIGNMENT");
  EXPECT_FALSE(exists(directory / "x.gguf"));
  EXPECT_FALSE(exists(directory / "x.gguf.tmp"));
}

TEST(GgufWriter, TooFewOrTooManyBytesLeaveNothing) {
  TemporaryDirectory directory;
  std::string path = directory / "x.gguf";
  {
    Result<TensorStream> stream = ggufStream(path, {}, {{"a", type("f32"), {2}}});
    ASSERT_TRUE(stream);
    ASSERT_TRUE(stream->write("1234567"));
    EXPECT_EQ(codeOf(stream->commit()), "BAD_SHAPE");
    EXPECT_EQ(codeOf(stream->write("89")), "BAD_SHAPE");
  }
  EXPECT_FALSE(exists(path));
  EXPECT_FALSE(exists(path + ".tmp"));
}

TEST(GgufWriter, ALimitOfTheSystemLeavesNothing) {
  TemporaryDirectory directory;
  std::string path = directory / "x.gguf";
  std::vector<float> values(1 << 16);
  // A file size limit stands for a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit before, small;
  ::getrlimit(RLIMIT_FSIZE, &before);
  small = before;
  small.rlim_cur = 100'000;
  ::setrlimit(RLIMIT_FSIZE, &small);
  Status status;
  {
    Result<TensorStream> stream = ggufStream(path, {}, {{"a", type("f32"), {1 << 16}}});
    status = stream ? stream->write(view(values)) : Status(stream.error());
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(codeOf(status), "BAD_PATH");
  EXPECT_CONTAINS(messageOf(status), "x.gguf: cannot be written: File too large");
  EXPECT_FALSE(exists(path));
  EXPECT_FALSE(exists(path + ".tmp"));
}

} // namespace
