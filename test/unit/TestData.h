//===- TestData.h - tests that read the data folder -------------*- C++ -*-===//
//
// Real models and goldens are too large for the repository; they lie in a folder that CMake's CK_TEST_DATA names. One
// rule for all tests that need it: absent data skips the test and says why, unless the environment has
// CK_REQUIRE_DATA=1; then it fails.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TEST_UNIT_TESTDATA_H
#define CK_TEST_UNIT_TESTDATA_H

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>

namespace ck::test {

/// The path of a file or folder in the data folder, for example dataPath("malformed").
inline std::string dataPath(const std::string &relative) { return std::string(CK_TEST_DATA) + "/" + relative; }

inline bool exists(const std::string &path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0;
}

inline bool dataIsRequired() {
  const char *value = std::getenv("CK_REQUIRE_DATA");
  return value && std::strcmp(value, "1") == 0;
}

} // namespace ck::test

/// First statement of a test (or of SetUp) that reads `relative` in the data folder.
#define CK_NEEDS_DATA(relative)                                                                                        \
  do {                                                                                                                 \
    std::string ckPath = ck::test::dataPath(relative);                                                                 \
    if (!ck::test::exists(ckPath)) {                                                                                   \
      if (ck::test::dataIsRequired())                                                                                  \
        FAIL() << "CK_REQUIRE_DATA=1, but there is no " << ckPath;                                                     \
      GTEST_SKIP() << "no " << ckPath << "; set the CMake variable CK_TEST_DATA to the data folder";                   \
    }                                                                                                                  \
  } while (false)

#endif // CK_TEST_UNIT_TESTDATA_H
