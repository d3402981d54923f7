//===- Passes.h - from PLAN to code -----------------------------*- C++ -*-===//
#ifndef CK_TARGET_PASSES_H
#define CK_TARGET_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace ck {

#define GEN_PASS_DECL
#include "ck/Target/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ck/Target/Passes.h.inc"

} // namespace ck

#endif // CK_TARGET_PASSES_H
