//===- Passes.td - the passes between GRAPH and CODE ------------*- tablegen -*-===//
//
// In the order of the road: graph passes, selection, buffers and memory, verification between the phases.
//
// Passes have no statistics: packaged MLIR libraries are built without them, and a build of ours with asserts would not
// agree with such a library on their layout.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TRANSFORMS_PASSES_TD
#define CK_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

include "ck/Transforms/GraphPasses.td"
include "ck/Transforms/GradientPasses.td"
include "ck/Transforms/MemoryPasses.td"
include "ck/Transforms/TrainPasses.td"

#endif // CK_TRANSFORMS_PASSES_TD
