//===- FilesTest.cpp - mapped files, atomic output, .npy ------------------===//
#include "FormatsSupport.h"
#include "ck/Import/Formats/AtomicFile.h"
#include "ck/Import/Formats/Npy.h"
#include "ck/Import/Formats/Utf8.h"

#include <dirent.h>

using namespace ck;
using namespace ck::test;

namespace {

int entriesIn(const std::string &directory) {
  int count = 0;
  DIR *open = ::opendir(directory.c_str());
  while (dirent *entry = ::readdir(open))
    count += entry->d_name[0] != '.';
  ::closedir(open);
  return count;
}

TEST(MappedFile, MapsWhatIsThere) {
  TemporaryDirectory directory;
  Result<MappedFile> file = MappedFile::open(directory.write("a.bin", std::string("abc\0d", 5)));
  ASSERT_TRUE(file) << messageOf(file);
  EXPECT_EQ(file->text(), std::string_view("abc\0d", 5));
  MappedFile moved = *std::move(file);
  EXPECT_EQ(moved.size(), 5u);
  EXPECT_EQ(moved.data()[4], 'd');
}

TEST(MappedFile, RefusesWhatIsNoFile) {
  TemporaryDirectory directory;
  EXPECT_EQ(codeOf(MappedFile::open(directory / "absent")), "BAD_PATH");
  EXPECT_CONTAINS(messageOf(MappedFile::open(directory / "absent")), "absent: cannot be opened: No such file");
  EXPECT_CONTAINS(messageOf(MappedFile::open(directory.path)), "is a directory");
  EXPECT_EQ(codeOf(MappedFile::open(directory.write("empty", ""))), "TRUNCATED");
  EXPECT_CONTAINS(messageOf(MappedFile::open("/dev/null")), "not a regular file");
}

TEST(AtomicFile, ReplacesWholeAndLeavesNothingElse) {
  TemporaryDirectory directory;
  std::string path = directory.write("out", "old");
  ASSERT_TRUE(writeFileAtomically(path, {"new ", "text"}));
  EXPECT_EQ(readFile(path), "new text");
  EXPECT_EQ(entriesIn(directory.path), 1);
}

TEST(AtomicFile, FollowsLinksAndSparesDevices) {
  TemporaryDirectory directory;
  std::string target = directory.write("target", "old"), link = directory / "link";
  ASSERT_EQ(::symlink(target.c_str(), link.c_str()), 0);
  ASSERT_TRUE(writeFileAtomically(link, {"new"}));
  EXPECT_EQ(readFile(target), "new");
  ASSERT_TRUE(writeFileAtomically("/dev/null", {"gone"}));
  struct stat info;
  ASSERT_EQ(::stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
}

TEST(AtomicFile, SaysWhyItFails) {
  TemporaryDirectory directory;
  Status status = writeFileAtomically(directory / "no/such/out", {"x"});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, "BAD_PATH");
  EXPECT_CONTAINS(status.error().message, "no/such/out: cannot be written: No such file");
  EXPECT_CONTAINS(messageOf(writeFileAtomically(directory.path, {"x"})), "is a directory");
  // A full device, the classic of half-written files.
  EXPECT_CONTAINS(messageOf(writeFileAtomically("/dev/full", {std::string(1 << 16, 'x')})), "No space left");
}

TEST(Npy, WritesTheDocumentedLayout) {
  TemporaryDirectory directory;
  std::vector<float> data = {1, 2, 3, 4, 5, -6.5f};
  std::string path = directory / "m.npy";
  ASSERT_TRUE(writeNpy(path, data.data(), 2, 3));
  std::string bytes = readFile(path);
  ASSERT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  size_t header = static_cast<unsigned char>(bytes[8]) + 256 * static_cast<unsigned char>(bytes[9]);
  EXPECT_EQ((10 + header) % 64, 0u);
  std::string text = bytes.substr(10, header);
  EXPECT_CONTAINS(text, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
  EXPECT_EQ(text.back(), '\n');
  ASSERT_EQ(bytes.size(), 10 + header + 6 * sizeof(float));
  EXPECT_EQ(std::memcmp(bytes.data() + 10 + header, data.data(), 6 * sizeof(float)), 0);
}

TEST(Utf8, StepsByWhatCanStillBecomeACharacter) {
  auto step = [](std::string_view text) { return nextUtf8(text, 0); };
  EXPECT_EQ(step("a").length, 1u);
  EXPECT_EQ(step("\xF0\x9F\x98\x80").length, 4u);
  EXPECT_EQ(step("\xE2\x82").kind, Utf8Step::Incomplete);
  EXPECT_EQ(step("\xE2\x82z").kind, Utf8Step::Invalid);
  EXPECT_EQ(step("\xE2\x82z").length, 2u);
  for (const char *bad : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF"}) {
    EXPECT_EQ(step(bad).kind, Utf8Step::Invalid);
    EXPECT_EQ(step(bad).length, 1u);
  }
  EXPECT_EQ(toValidUtf8("a\xFFz\xE2\x82"), "a\xEF\xBF\xBDz\xEF\xBF\xBD");
}

} // namespace
