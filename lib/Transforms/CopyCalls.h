//===- CopyCalls.h - copies as calls of a provider --------------*- C++ -*-===//
//
// The run time has kernels and nothing else, so a copy that bufferization needs is a call like any other.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_TRANSFORMS_COPYCALLS_H
#define CK_LIB_TRANSFORMS_COPYCALLS_H

#include "KernelMapLibrary.h"
#include "ck/Dialect/CK/CKDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace ck {

/// True for a provider of the inventory's `copy` with the contract `input[...N]:$X -> output[...N]:$X`.
bool isCopyProvider(llvm::StringRef operation, const Contract &contract);

/// Replaces every `memref.copy` by a call of a copy provider: one of the module, else the one kernel map below `mapDir`
/// (empty: the default folder) that implements `ck.copy` for the type, which is then embedded. Copies onto themselves
/// are dropped. Emits an error at the copy and fails when there is no provider.
llvm::LogicalResult replaceCopies(mlir::ModuleOp module, KernelMapLibrary &library, const std::string &mapDir);

} // namespace ck

#endif // CK_LIB_TRANSFORMS_COPYCALLS_H
