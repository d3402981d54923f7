//===- TrainEngine.h - a training program, compiled and ready ---*- C++ -*-===//
//
// From a configuration to a session that can train, differentiate or measure: import, the training pipeline, one of
// three executions. What is done with it (data, schedule, checkpoints) is the business of ck/Training.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TOOLS_CK_RUN_TRAINENGINE_H
#define CK_TOOLS_CK_RUN_TRAINENGINE_H

#include "Compiled.h"
#include "ck/Import/Formats/ModelConfig.h"
#include "ck/Import/Formats/WeightSource.h"
#include "ck/Import/Import.h"

namespace ck::run {

struct TrainSetup {
  /// What the program is for.
  enum class Purpose {
    Train, ///< entries train_step, eval and, to accumulate, accumulate; parameters are states, zero at first
    Grad,  ///< entry train_step gives loss and the gradients d_<name> as outputs; weights are mapped from their file
    Loss   ///< entry eval alone; weights are mapped from their file
  } purpose = Purpose::Train;

  ModelConfig config;
  std::string weightsFile; ///< Grad and Loss: the container with the weights
  int64_t rows = 0;        ///< most tokens of one call
  int64_t sequences = 0;   ///< most sequences of one call
  int64_t positions = 0;   ///< longest sequence
  bool accumulate = false; ///< sum the gradients of several micro-batches

  std::string optimizer = "adamw"; ///< adamw or sgd
  double beta1 = 0.9, beta2 = 0.95, eps = 1e-8, weightDecay = 0.1;
  double momentum = 0; ///< of sgd
  double clip = 1;     ///< largest norm of all gradients; 0 = any
  std::string noDecay; ///< regular expression over parameter names

  std::string checkpoint = "none"; ///< what backward recomputes: none or layer
  std::string engine = "jit";      ///< jit, aot or interpret
  std::string kernelMaps;          ///< empty = the default folder
  std::string report;              ///< file for the memory plan; empty = none
  int threads = 0;                 ///< 0 = online CPUs
};

class TrainEngine {
public:
  static Result<std::unique_ptr<TrainEngine>> create(const TrainSetup &setup);
  ~TrainEngine();

  ck_context *context() const { return ctx; }
  ck_session *session() const { return state; }
  const ck_model *model() const { return compiled->table(); }

private:
  TrainEngine() = default;
  Status compile(const TrainSetup &setup);
  Status mapWeights(const TrainSetup &setup);

  ck_context *ctx = nullptr;
  ck_session *state = nullptr;
  std::optional<CompiledModel> compiled;
  std::optional<WeightSource> source;
  std::vector<void *> weights;
};

} // namespace ck::run

#endif // CK_TOOLS_CK_RUN_TRAINENGINE_H
