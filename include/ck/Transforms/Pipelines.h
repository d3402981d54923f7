//===- Pipelines.h - passes in the order of the road ------------*- C++ -*-===//
//
// What the tools run. Each pipeline is a function with an option struct, and a text pipeline of the same options.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TRANSFORMS_PIPELINES_H
#define CK_TRANSFORMS_PIPELINES_H

#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace ck {

/// Options of `ck-inference-pipeline`. Fields can be set in code like plain variables.
struct InferenceOptions : mlir::PassPipelineOptions<InferenceOptions> {
  Option<std::string> policy{*this, "policy", llvm::cl::desc("How to choose providers: fastest, reference or pin"),
                             llvm::cl::init("fastest")};
  Option<std::string> costs{*this, "costs", llvm::cl::desc("File of measured costs of providers (ck-kernels tune)"),
                            llvm::cl::init("")};
  ListOption<std::string> pins{*this, "pin", llvm::cl::desc("Preferred providers: op:provider or @name:provider")};
  Option<std::string> maps{*this, "maps",
                           llvm::cl::desc("Folder of kernel maps; empty: $CK_KERNEL_MAPS, else those of the "
                                          "installation"),
                           llvm::cl::init("")};
  Option<std::string> isa{*this, "isa",
                          llvm::cl::desc("Widest instruction set that every target machine has: scalar, avx2, avx512 "
                                         "or avx512_vnni"),
                          llvm::cl::init("scalar")};
  Option<bool> remarks{*this, "remarks", llvm::cl::desc("Say which provider was chosen for each op, and why"),
                       llvm::cl::init(false)};
  Option<std::string> pack{
      *this, "pack", llvm::cl::desc("Layout of quantised weights: load (packed when the model is loaded) or never"),
      llvm::cl::init("load")};
  Option<std::string> packing{*this, "packing", llvm::cl::desc("How to pack buffers into the arena: greedy"),
                              llvm::cl::init("greedy")};
  Option<int64_t> guard{*this, "guard", llvm::cl::desc("Bytes to leave free around every buffer"), llvm::cl::init(0)};
  Option<std::string> report{
      *this, "report", llvm::cl::desc("Write the memory plan as JSON to this file ('-': stdout)"), llvm::cl::init("")};
};

/// GRAPH to PLAN for inference: verify, resolve aliases, quantize activations, pack weights, hoist to @init,
/// canonicalize, cse, schedule, fuse, select providers, verify, bufferize, plan memory, verify. Fails with one located
/// error at the first pass that refuses the module.
void buildInferencePipeline(mlir::OpPassManager &manager, const InferenceOptions &options);

/// Options of `ck-training-pipeline`: those of --ck-autodiff, --ck-checkpoint and --ck-build-train-step, and those of
/// inference.
struct TrainingOptions : InferenceOptions {
  Option<std::string> entry{*this, "entry", llvm::cl::desc("Name of the entry whose loss is differentiated"),
                            llvm::cl::init("train_step")};
  Option<std::string> save{*this, "save", llvm::cl::desc("What attention keeps for its gradient: lse or probs"),
                           llvm::cl::init("lse")};
  Option<std::string> checkpoint{*this, "checkpoint", llvm::cl::desc("What backward recomputes: none or layer"),
                                 llvm::cl::init("none")};
  Option<std::string> optimizer{*this, "optimizer",
                                llvm::cl::desc("adamw or sgd; none: gradients stay outputs of the entry"),
                                llvm::cl::init("adamw")};
  Option<bool> accumulate{*this, "accumulate", llvm::cl::desc("Sum the gradients of several micro-batches"),
                          llvm::cl::init(false)};
  Option<double> clip{*this, "clip", llvm::cl::desc("Largest norm of all gradients together; 0: any"),
                      llvm::cl::init(1.0)};
  Option<double> weightDecay{*this, "weight-decay", llvm::cl::desc("Decay of tensors of two or more dims"),
                             llvm::cl::init(0.1)};
  Option<std::string> noDecay{*this, "no-decay", llvm::cl::desc("Regular expression: names of tensors without decay"),
                              llvm::cl::init("")};
  Option<double> beta1{*this, "beta1", llvm::cl::desc("AdamW: decay of the mean gradient"), llvm::cl::init(0.9)};
  Option<double> beta2{*this, "beta2", llvm::cl::desc("AdamW: decay of the mean squared gradient"),
                       llvm::cl::init(0.95)};
  Option<double> eps{*this, "eps", llvm::cl::desc("AdamW: added to the root of the mean square"), llvm::cl::init(1e-8)};
  Option<double> momentum{*this, "momentum", llvm::cl::desc("SGD: share of the last update that is kept"),
                          llvm::cl::init(0.0)};
  Option<bool> nesterov{*this, "nesterov", llvm::cl::desc("SGD: look ahead along the momentum"), llvm::cl::init(false)};
};

/// GRAPH to PLAN for training: verify, resolve aliases, quantize activations, autodiff, checkpoint, build the train
/// step, fold accumulation, then the inference pipeline. With `optimizer=none` the gradients stay outputs.
void buildTrainingPipeline(mlir::OpPassManager &manager, const TrainingOptions &options);

/// Registers `ck-inference-pipeline` and `ck-training-pipeline`.
void registerPipelines();

} // namespace ck

#endif // CK_TRANSFORMS_PIPELINES_H
