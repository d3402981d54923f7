//===- InspectCommand.cpp - ck-run inspect --------------------------------===//
//
// Opens a container or a configuration and shows what it holds. A file that is refused says why and with which class.
//
//===----------------------------------------------------------------------===//
#include "Options.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <iostream>
#include <map>

using namespace ck;
using namespace ck::run;

static std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text;
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? " x " : "") + std::to_string(shape[i]);
  return text.empty() ? "scalar" : text;
}

static Json configJson(const ModelConfig &config) {
  Json json = {{"format", config.source == ModelConfig::Source::Gguf ? "gguf" : "huggingface"},
               {"name", config.name},
               {"hidden", config.hidden},
               {"layers", config.layers},
               {"heads", config.heads},
               {"kv_heads", config.kvHeads},
               {"head_dim", config.headDim},
               {"ffn", config.ffn},
               {"vocab", config.vocab},
               {"max_context", config.maxContext},
               {"rms_eps", config.rmsEps},
               {"rope_theta", config.ropeTheta},
               {"rope_pairing", pairingName(config.pairing)},
               {"rope_scaling", ropeScalingName(config.ropeScaling.kind)},
               {"activation", config.activation},
               {"tied", config.tied},
               {"eos", config.eos}};
  if (config.bos)
    json["bos"] = *config.bos;
  return json;
}

static int showConfig(const ModelConfig &config) {
  Json json = configJson(config);
  if (wantsJson()) {
    printJson(json);
    return 0;
  }
  for (const auto &[key, value] : json.items())
    std::cout << key << ": " << value.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
  return 0;
}

/// What a container holds of one element type.
struct TypeTotal {
  int64_t tensors = 0;
  uint64_t bytes = 0;
};

static std::map<std::string, TypeTotal> totalsOf(const Container &container) {
  std::map<std::string, TypeTotal> totals;
  for (const TensorInfo &tensor : container.tensors()) {
    TypeTotal &total = totals[tensor.dtype->name];
    ++total.tensors;
    total.bytes += tensor.bytes;
  }
  return totals;
}

static int showContainer(const Container &container) {
  if (wantsJson()) {
    Json tensors = Json::array(), metadata = Json::object();
    for (const TensorInfo &tensor : container.tensors())
      tensors.push_back({{"name", tensor.name},
                         {"dtype", tensor.dtype->name},
                         {"shape", tensor.shape},
                         {"offset", tensor.offset},
                         {"bytes", tensor.bytes}});
    for (const MetaEntry &entry : container.metadata())
      metadata[entry.key] = entry.value.brief();
    Json json = {{"format", container.formatName()}};
    if (container.version())
      json["version"] = container.version();
    json["metadata"] = std::move(metadata);
    Json types = Json::object();
    for (const auto &[name, total] : totalsOf(container))
      types[name] = {{"tensors", total.tensors}, {"bytes", total.bytes}};
    json["types"] = std::move(types);
    json["tensors"] = std::move(tensors);
    printJson(json);
    return 0;
  }
  std::cout << container.path() << ": " << container.formatName();
  if (container.version())
    std::cout << " version " << container.version();
  std::cout << ", " << container.fileSize() << " bytes\n";
  for (const MetaEntry &entry : container.metadata())
    std::cout << "  " << entry.key << " = " << entry.value.brief() << "\n";
  uint64_t bytes = 0;
  for (const TensorInfo &tensor : container.tensors()) {
    std::cout << "  " << tensor.name << "  " << tensor.dtype->name << "  " << shapeText(tensor.shape) << "  "
              << tensor.bytes << " bytes\n";
    bytes += tensor.bytes;
  }
  std::cout << container.tensors().size() << " tensors, " << bytes << " bytes";
  const char *separator = ": ";
  for (const auto &[name, total] : totalsOf(container)) {
    std::cout << separator << total.tensors << " " << name << " (" << total.bytes << " bytes)";
    separator = ", ";
  }
  std::cout << "\n";
  return 0;
}

int ck::run::runInspect() {
  const std::string &path = modelPath();
  if (llvm::sys::fs::is_directory(path) || llvm::sys::path::extension(path) == ".json") {
    Result<ModelConfig> config = loadModelConfig(path);
    return config ? showConfig(*config) : fail(config.error());
  }
  Result<Container> container = Container::open(path);
  return container ? showContainer(*container) : fail(container.error());
}
