//===- SafetensorsWriterTest.cpp - written files, read again --------------===//
#include "ck/Import/Formats/SafetensorsWriter.h"
#include "FormatsSupport.h"
#include "ck/Import/Formats/DurableFile.h"

#include <csignal>
#include <sys/resource.h>

using namespace ck;
using namespace ck::test;

namespace {

TEST(SafetensorsWriter, ReadsBackWhatItWrote) {
  TemporaryDirectory directory;
  std::string path = directory / "a.safetensors";
  std::vector<float> matrix = {1, 2, 3, 4, 5, 6};
  double number = 0.1;
  std::vector<TensorToWrite> tensors = {
      {"scalar", findStorageType("f64"), {}, {{reinterpret_cast<const char *>(&number), 8}}},
      floatTensor("m\"1", {2, 3}, matrix.data()),
      floatTensor("none", {0, 3}, nullptr)};
  ASSERT_TRUE(writeSafetensors(path, {{"step", "7"}, {"text", "\"quoted\"\n"}}, tensors));
  Result<Container> container = Container::open(path);
  ASSERT_TRUE(container) << messageOf(container);
  ASSERT_EQ(container->tensors().size(), 3u);
  EXPECT_EQ(*container->findMeta("step")->asString(), "7");
  EXPECT_EQ(*container->findMeta("text")->asString(), "\"quoted\"\n");
  EXPECT_EQ(container->tensors()[0].offset % 64, 0u);
  EXPECT_EQ(std::memcmp(container->find("scalar")->data, &number, 8), 0);
  const TensorInfo *read = container->find("m\"1");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(std::memcmp(read->data, matrix.data(), read->bytes), 0);
  EXPECT_FALSE(exists(path + ".tmp"));
}

TEST(SafetensorsWriter, PiecesChangePlaces) {
  TemporaryDirectory directory;
  std::vector<float> rows = {1, 2, 3, 4};
  TensorToWrite tensor = floatTensor("w", {2, 2}, rows.data());
  std::string_view bytes = tensor.pieces[0];
  tensor.pieces = {bytes.substr(8), bytes.substr(0, 8)};
  ASSERT_TRUE(writeSafetensors(directory / "p.safetensors", {}, {tensor}));
  Result<Container> container = Container::open(directory / "p.safetensors");
  ASSERT_TRUE(container) << messageOf(container);
  const float swapped[] = {3, 4, 1, 2};
  EXPECT_EQ(std::memcmp(container->find("w")->data, swapped, 16), 0);
}

TEST(SafetensorsWriter, RefusesWhatNoReaderWouldOpen) {
  TemporaryDirectory directory;
  float value = 1;
  auto code = [&](const std::vector<TensorToWrite> &tensors) {
    return codeOf(writeSafetensors(directory / "x.safetensors", {}, tensors));
  };
  EXPECT_EQ(code({floatTensor("a", {1}, &value), floatTensor("a", {1}, &value)}), "DUPLICATE");
  EXPECT_EQ(code({floatTensor("__metadata__", {1}, &value)}), "DUPLICATE");
  TensorToWrite wrong = floatTensor("a", {1}, &value);
  wrong.shape = {2};
  EXPECT_EQ(code({wrong}), "BAD_SHAPE");
  wrong.dtype = findStorageType("q4_0");
  EXPECT_EQ(code({wrong}), "BAD_DTYPE");
  EXPECT_FALSE(exists(directory / "x.safetensors"));
  EXPECT_FALSE(exists(directory / "x.safetensors.tmp"));
}

TEST(SafetensorsWriter, ALimitOfTheSystemLeavesTheOldFile) {
  TemporaryDirectory directory;
  std::string path = directory.write("c.safetensors", "old");
  std::vector<float> values(1 << 16);
  // A file size limit stands for a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit before, small;
  ::getrlimit(RLIMIT_FSIZE, &before);
  small = before;
  small.rlim_cur = 100'000;
  ::setrlimit(RLIMIT_FSIZE, &small);
  Status status = writeSafetensors(path, {}, {floatTensor("w", {1 << 16}, values.data())});
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(codeOf(status), "BAD_PATH");
  EXPECT_CONTAINS(messageOf(status), "c.safetensors: cannot be written: File too large");
  EXPECT_EQ(readFile(path), "old");
  EXPECT_FALSE(exists(path + ".tmp"));
}

TEST(DurableFile, ReplacesWholeAndCleansUp) {
  TemporaryDirectory directory;
  std::string path = directory.write("out", "old"), link = directory / "link";
  directory.write("out.tmp", "rest of a writer that was killed, longer than what follows");
  ASSERT_EQ(::symlink(path.c_str(), link.c_str()), 0);
  {
    Result<DurableFile> dropped = DurableFile::create(path);
    ASSERT_TRUE(dropped);
    ASSERT_TRUE(dropped->write("half"));
    EXPECT_EQ(readFile(path), "old");
  }
  EXPECT_EQ(readFile(path), "old");
  EXPECT_FALSE(exists(path + ".tmp"));
  Result<DurableFile> file = DurableFile::create(link);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write("new "));
  ASSERT_TRUE(file->write("text"));
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(readFile(path), "new text");
  EXPECT_EQ(codeOf(DurableFile::create(directory.path)), "BAD_PATH");
  EXPECT_EQ(codeOf(DurableFile::create(directory / "absent/out")), "BAD_PATH");
}

} // namespace
