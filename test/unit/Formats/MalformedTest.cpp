//===- MalformedTest.cpp - files that are wrong on purpose ----------------===//
//
// Each file of the data folder's malformed/ must fail with the class that expected.json states, fast and in little
// memory; the controls must load.
//
//===----------------------------------------------------------------------===//
#include "FormatsSupport.h"
#include "ck/Import/Formats/Json.h"
#include "ck/Import/Formats/ModelConfig.h"

#include <chrono>
#include <sys/resource.h>

using namespace ck;
using namespace ck::test;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

long peakKiB() {
  rusage usage;
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

std::string endOf(const std::string &path) { return path.substr(path.rfind('.')); }

TEST(Malformed, FailsAsExpected) {
  CK_NEEDS_DATA("malformed/expected.json");
  Result<json::Value> expected = json::parseFile(dataPath("malformed/expected.json"));
  ASSERT_TRUE(expected) << messageOf(expected);
  const json::Value::Object &files = *expected->find("files")->asObject();
  ASSERT_GT(files.size(), 20u);
  long before = peakKiB();
  for (const json::Value::Member &file : files) {
    std::string path = dataPath("malformed/" + file.first), code, message;
    auto start = std::chrono::steady_clock::now();
    if (endOf(path) == ".json") {
      Result<ModelConfig> config = loadModelConfig(path);
      code = codeOf(config);
      message = messageOf(config);
    } else {
      Result<Container> container = Container::open(path);
      code = codeOf(container);
      message = messageOf(container);
    }
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    EXPECT_EQ(code, *file.second.find("expect")->asString()) << file.first << ": " << message;
    EXPECT_LT(took.count(), 2.0) << file.first;
    if (code != "OK") {
      EXPECT_CONTAINS(message, path);
    }
  }
  if (!kSanitized) {
    EXPECT_LT(peakKiB() - before, 64 * 1024);
  }
}

TEST(Malformed, GoodContainersOfOthersOpen) {
  CK_NEEDS_DATA("containers");
  for (const char *name : {"containers/jfk-codes.safetensors", "containers/voices.safetensors",
                           "golden/ggml/quantize_q4_K.safetensors", "models/rwkv7-834K/model.safetensors",
                           "models/stories260K/stories260K-q4_0.gguf", "tokenizers/ggml-vocab-gpt-2.gguf"}) {
    Result<Container> container = Container::open(dataPath(name));
    EXPECT_EQ(codeOf(container), "OK") << messageOf(container);
  }
}

} // namespace
