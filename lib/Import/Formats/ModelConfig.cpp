//===- ModelConfig.cpp - the shape of a Llama-family decoder --------------===//
#include "ConfigChecks.h"
#include "Text.h"
#include "ck/Import/Formats/Json.h"

#include <charconv>
#include <sys/stat.h>

namespace ck {

const char *pairingName(ModelConfig::RopePairing pairing) {
  return pairing == ModelConfig::RopePairing::Half ? "half" : "adjacent";
}

const char *ropeScalingName(RopeScaling::Kind kind) {
  return kind == RopeScaling::Llama3 ? "llama3" : kind == RopeScaling::Linear ? "linear" : "none";
}

std::string activationFromHf(std::string_view name) {
  static constexpr std::pair<const char *, const char *> kNames[] = {
      {"silu", "silu"},
      {"swish", "silu"},
      {"gelu", "gelu_erf"},
      {"gelu_new", "gelu_tanh"},
      {"gelu_fast", "gelu_tanh"},
      {"gelu_pytorch_tanh", "gelu_tanh"},
      {"quick_gelu", "gelu_quick"},
      {"relu", "relu"},
      {"relu2", "relu2"},
  };
  for (const auto &[hf, ours] : kNames)
    if (name == hf)
      return ours;
  return "";
}

double decimalOf(float value) {
  char text[32];
  std::to_chars_result end = std::to_chars(text, text + sizeof text, value);
  double decimal = value;
  std::from_chars(text, end.ptr, decimal);
  return decimal;
}

Status finishConfig(ModelConfig &config, const std::string &source, const ConfigKeys &keys) {
  if (config.heads % config.kvHeads != 0)
    return fail("BAD_CONFIG", source, ": ", keys.heads, " = ", config.heads, " is no multiple of ", keys.kvHeads, " = ",
                config.kvHeads);
  if (config.headDim == 0) {
    if (config.hidden % config.heads != 0)
      return fail("BAD_CONFIG", source, ": ", keys.hidden, " = ", config.hidden, " is no multiple of ", keys.heads,
                  " = ", config.heads, ", and there is no ", keys.headDim);
    config.headDim = config.hidden / config.heads;
  }
  if (config.headDim % 2 != 0)
    return fail("BAD_CONFIG", source, ": ", keys.headDim, " = ", config.headDim,
                "; expected an even number, because rotary positions turn pairs");
  if (config.headDim > kMaxWidth / config.heads)
    return fail("BAD_CONFIG", source, ": ", keys.heads, " * ", keys.headDim, " = ", config.heads, " * ", config.headDim,
                "; expected at most ", kMaxWidth);
  auto inVocab = [&](int64_t id) { return id >= 0 && id < config.vocab; };
  if (config.bos && !inVocab(*config.bos))
    return fail("BAD_CONFIG", source, ": the begin token ", *config.bos, " is outside the vocabulary of ",
                config.vocab);
  for (int64_t id : config.eos)
    if (!inVocab(id))
      return fail("BAD_CONFIG", source, ": the end token ", id, " is outside the vocabulary of ", config.vocab);
  return Status::success();
}

namespace {

bool isDirectory(const std::string &path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool exists(const std::string &path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0;
}

std::string directoryOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

/// generation_config.json says which tokens end generation; chat models name more of them there than in config.json.
Status readGenerationConfig(ModelConfig &config, const std::string &path) {
  Result<json::Value> root = json::parseFile(path);
  if (!root)
    return root.error();
  const json::Value *eos = root->find("eos_token_id");
  if (!eos || eos->isNull())
    return Status::success();
  json::Value::Array one{*eos};
  config.eos.clear();
  for (const json::Value &id : eos->asArray() ? *eos->asArray() : one) {
    if (!id.asInteger() || *id.asInteger() < 0 || *id.asInteger() >= config.vocab)
      return fail("BAD_CONFIG", path, ": eos_token_id is ", id.brief(), "; expected an id below ", config.vocab);
    config.eos.push_back(*id.asInteger());
  }
  return Status::success();
}

} // namespace

Result<ModelConfig> loadModelConfig(const std::string &path) {
  std::string file = path;
  if (isDirectory(path)) {
    file += path.back() == '/' ? "config.json" : "/config.json";
    if (!exists(file))
      return fail("BAD_PATH", path, ": the directory has no config.json");
  }
  Result<MappedFile> mapped = MappedFile::open(file);
  if (!mapped)
    return mapped.error();
  bool isJson = file.size() >= 5 && file.substr(file.size() - 5) == ".json";
  if (!isJson) {
    Result<Container> container = Container::parse(*std::move(mapped));
    if (!container)
      return container.error();
    return modelConfigFromGguf(*container);
  }

  Result<ModelConfig> config = modelConfigFromHf(mapped->text(), file);
  if (!config)
    return config;
  std::string directory = directoryOf(file);
  if (exists(directory + "generation_config.json"))
    CK_CHECK(readGenerationConfig(*config, directory + "generation_config.json"));
  return config;
}

} // namespace ck
