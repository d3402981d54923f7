//===- TemporaryTree.h - a small source tree for a test ---------*- C++ -*-===//
#ifndef CK_TEST_UNIT_CHECK_TEMPORARYTREE_H
#define CK_TEST_UNIT_CHECK_TEMPORARYTREE_H

#include "Maps.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>

namespace ck::check {

/// A folder that is there as long as this object.
class TemporaryTree {
public:
  TemporaryTree() {
    std::string pattern = ::testing::TempDir() + "ck-check-XXXXXX";
    root = mkdtemp(pattern.data());
  }
  ~TemporaryTree() {
    std::error_code failed;
    std::filesystem::remove_all(root, failed);
  }
  void write(const std::string &path, const std::string &text) const {
    Status status = writeTextInFolder(root + "/" + path, text);
    EXPECT_TRUE(status) << (status ? "" : status.error().message);
  }
  std::string read(const std::string &path) const {
    Result<std::string> text = readText(root + "/" + path);
    return text ? *text : text.error().message;
  }

  std::string root;
};

} // namespace ck::check

#endif // CK_TEST_UNIT_CHECK_TEMPORARYTREE_H
