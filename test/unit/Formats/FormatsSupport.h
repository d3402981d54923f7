//===- FormatsSupport.h - files made for tests ------------------*- C++ -*-===//
//
// Writers of small GGUF and safetensors files that can also be made wrong on purpose, and the paths of the model that
// lies in the repository.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TEST_UNIT_FORMATS_FORMATSSUPPORT_H
#define CK_TEST_UNIT_FORMATS_FORMATSSUPPORT_H

#include "TestData.h"
#include "ck/Import/Formats/Container.h"

#include <cstring>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace ck::test {

inline std::string examplePath(const std::string &relative) {
  return std::string(CK_SOURCE_DIR) + "/examples/models/tiny-llama/" + relative;
}

inline std::string readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// A directory of this test, removed with everything in it at the end.
class TemporaryDirectory {
public:
  TemporaryDirectory() {
    std::string pattern = ::testing::TempDir() + "ck-formats-XXXXXX";
    path = ::mkdtemp(pattern.data()) ? pattern : "";
  }
  ~TemporaryDirectory() { std::system(("rm -rf '" + path + "'").c_str()); }
  std::string operator/(const std::string &name) const { return path + "/" + name; }
  std::string write(const std::string &name, const std::string &bytes) const {
    std::ofstream(path + "/" + name, std::ios::binary) << bytes;
    return path + "/" + name;
  }
  std::string path;
};

template <typename T> std::string bytesOf(T value) {
  return std::string(reinterpret_cast<const char *>(&value), sizeof value);
}

/// Builds the bytes of a GGUF file entry by entry.
class GgufBuilder {
public:
  uint32_t version = 3;
  uint32_t alignment = 32; ///< of the data; an entry of its own says so in the file
  std::string entries, infos, data;
  uint64_t entryCount = 0, tensorCount = 0;

  static std::string string(const std::string &text) { return bytesOf<uint64_t>(text.size()) + text; }

  GgufBuilder &raw(const std::string &key, uint32_t type, const std::string &value) {
    entries += string(key) + bytesOf(type) + value;
    ++entryCount;
    return *this;
  }
  GgufBuilder &u32(const std::string &key, uint32_t value) { return raw(key, 4, bytesOf(value)); }
  GgufBuilder &f32(const std::string &key, float value) { return raw(key, 6, bytesOf(value)); }
  GgufBuilder &boolean(const std::string &key, bool value) { return raw(key, 7, std::string(1, value ? 1 : 0)); }
  GgufBuilder &text(const std::string &key, const std::string &value) { return raw(key, 8, string(value)); }
  GgufBuilder &strings(const std::string &key, const std::vector<std::string> &values) {
    std::string all = bytesOf<uint32_t>(8) + bytesOf<uint64_t>(values.size());
    for (const std::string &value : values)
      all += string(value);
    return raw(key, 9, all);
  }
  template <typename T> GgufBuilder &array(const std::string &key, uint32_t type, const std::vector<T> &values) {
    std::string all = bytesOf(type) + bytesOf<uint64_t>(values.size());
    for (T value : values)
      all += bytesOf(value);
    return raw(key, 9, all);
  }

  /// `dims` innermost first, as in the file. Without `offset` the data goes behind what is there.
  GgufBuilder &tensor(const std::string &name, const std::vector<uint64_t> &dims, uint32_t type,
                      const std::string &bytes, std::optional<uint64_t> offset = std::nullopt) {
    data.resize((data.size() + alignment - 1) / alignment * alignment);
    infos += string(name) + bytesOf<uint32_t>(dims.size());
    for (uint64_t extent : dims)
      infos += bytesOf(extent);
    infos += bytesOf(type) + bytesOf<uint64_t>(offset ? *offset : data.size());
    data += bytes;
    ++tensorCount;
    return *this;
  }

  std::string bytes() const {
    std::string out = "GGUF" + bytesOf(version) + bytesOf(tensorCount) + bytesOf(entryCount) + entries + infos;
    if (tensorCount)
      out.resize((out.size() + alignment - 1) / alignment * alignment);
    return out + data;
  }
  Result<Container> parse() const { return Container::parse(MappedFile::fromMemory(bytes(), "test.gguf")); }
};

inline std::string safetensorsBytes(const std::string &header, const std::string &data) {
  return bytesOf<uint64_t>(header.size()) + header + data;
}
inline Result<Container> parseSafetensors(const std::string &header, const std::string &data) {
  return Container::parse(MappedFile::fromMemory(safetensorsBytes(header, data), "test.safetensors"));
}

/// "OK", or the class of the error.
template <typename T> std::string codeOf(const Result<T> &result) { return result ? "OK" : result.error().code; }
inline std::string codeOf(const Status &status) { return status ? "OK" : status.error().code; }
/// The message of the error, empty for success.
template <typename T> std::string messageOf(const Result<T> &result) { return result ? "" : result.error().message; }
inline std::string messageOf(const Status &status) { return status ? "" : status.error().message; }

} // namespace ck::test

#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << "in: " << (text)

#endif // CK_TEST_UNIT_FORMATS_FORMATSSUPPORT_H
