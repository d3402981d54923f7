//===- Engine.h - a model, compiled and ready to run ------------*- C++ -*-===//
//
// The road of a model in one process: import, the inference pipeline, one of three executions of the plan, weights,
// session.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TOOLS_CK_RUN_ENGINE_H
#define CK_TOOLS_CK_RUN_ENGINE_H

#include "Compiled.h"
#include "ck/Import/Formats/ModelConfig.h"
#include "ck/Import/Formats/WeightSource.h"
#include "ck/Import/Import.h"
#include "ck/Runtime/Generate.h"
#include "ck/Runtime/Runtime.h"

namespace ck::run {

struct EngineOptions {
  std::string model;        ///< directory, config.json, GGUF, or a module (.mlir) in GRAPH or PLAN form
  std::string kind = "jit"; ///< jit, aot, interpret
  std::string weights;      ///< folder that holds the weight files; empty = where the model names them
  std::string kernelMaps;   ///< empty = the default folder
  std::string costs;        ///< file of measured costs of kernels; empty = the costs of the maps
  std::string pack;         ///< layout of quantised weights, load or never; empty = load
  int threads = 0;          ///< 0 = online CPUs
  ImportOptions import;
  bool randomWeights = false; ///< fill weights from a generator instead of files (benchmarks)
  bool quiet = false;         ///< no warnings on stderr
};

/// Imports a model and runs the inference pipeline on it; a module that is planned already stays as it is.
Result<mlir::OwningOpRef<mlir::ModuleOp>> compileToPlan(mlir::MLIRContext &context, const EngineOptions &options,
                                                        std::vector<std::string> *unused = nullptr);
class Engine {
public:
  static Result<std::unique_ptr<Engine>> create(const EngineOptions &options);
  ~Engine();

  ck_context *context() const { return ctx; }
  ck_session *session() const { return state; }
  const ck_model *model() const { return table; }
  /// Absent for a module, which carries no configuration.
  const std::optional<ModelConfig> &config() const { return modelConfig; }
  /// Positions that fit: rows of the KV caches of the compiled model, or fewer if fewer were asked for.
  int64_t contextLength() const;
  /// A generator over the session; `chunk` is the most tokens of one call.
  Result<Generator> generator(int64_t chunk, std::optional<int32_t> bos) const;
  /// "aot: built in ..." and the like, for people.
  const std::string &origin() const { return compiled->origin(); }

private:
  Engine() = default;
  Status compile(const EngineOptions &options);
  Status loadWeights(const EngineOptions &options);

  ck_context *ctx = nullptr;
  ck_session *state = nullptr;
  const ck_model *table = nullptr;
  std::optional<CompiledModel> compiled;
  std::unique_ptr<WeightSource> source;
  std::vector<void *> pointers;
  std::vector<std::pair<void *, size_t>> mappings; ///< of random weights
  std::optional<ModelConfig> modelConfig;
  int64_t contextLimit = 0; ///< 0 = all rows of the caches
};

} // namespace ck::run

#endif // CK_TOOLS_CK_RUN_ENGINE_H
