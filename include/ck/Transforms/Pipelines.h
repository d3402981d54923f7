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
  Option<std::string> packing{*this, "packing", llvm::cl::desc("How to pack buffers into the arena: greedy"),
                              llvm::cl::init("greedy")};
  Option<int64_t> guard{*this, "guard", llvm::cl::desc("Bytes to leave free around every buffer"), llvm::cl::init(0)};
  Option<std::string> report{
      *this, "report", llvm::cl::desc("Write the memory plan as JSON to this file ('-': stdout)"), llvm::cl::init("")};
};

/// GRAPH to PLAN for inference: verify, resolve aliases, hoist to @init, canonicalize, cse, schedule, select providers,
/// verify, bufferize, plan memory, verify. Fails with one located error at the first pass that refuses the module.
void buildInferencePipeline(mlir::OpPassManager &manager, const InferenceOptions &options);

/// Registers `ck-inference-pipeline`.
void registerPipelines();

} // namespace ck

#endif // CK_TRANSFORMS_PIPELINES_H
