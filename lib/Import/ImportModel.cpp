//===- ImportModel.cpp - a path becomes a module --------------------------===//
#include "ck/Import/Formats/WeightTable.h"
#include "ck/Import/Import.h"

#include <filesystem>

using namespace ck;

Result<mlir::OwningOpRef<mlir::ModuleOp>> ck::importModel(mlir::MLIRContext &context, const std::string &path,
                                                          ImportOptions options, const std::string &relativeTo,
                                                          std::vector<std::string> *unused) {
  Result<ModelConfig> config = loadModelConfig(path);
  if (!config)
    return config.error();
  Result<std::optional<std::string>> weights = findWeightsFile(path);
  if (!weights)
    return weights.error();
  if (*weights) {
    Result<Container> container = Container::open(**weights);
    if (!container)
      return container.error();
    auto storage = weightStorage(*config, *container, unused);
    if (!storage)
      return storage.error();
    options.storage = *std::move(storage);
    std::error_code code;
    std::filesystem::path base = relativeTo.empty() ? "." : relativeTo;
    std::filesystem::path relative = std::filesystem::proximate(**weights, base, code);
    options.weightsFile = code ? **weights : relative.string();
  }
  if (options.training) // On f32 weights: another file is refused when it is read.
    return buildTrainingDecoder(context, *config, *options.training, options.weightsFile);
  return buildDecoder(context, *config, options);
}
