//===- Passes.h - the passes between GRAPH and CODE -------------*- C++ -*-===//
#ifndef CK_TRANSFORMS_PASSES_H
#define CK_TRANSFORMS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace ck {

#define GEN_PASS_DECL
#include "ck/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ck/Transforms/Passes.h.inc"

} // namespace ck

#endif // CK_TRANSFORMS_PASSES_H
