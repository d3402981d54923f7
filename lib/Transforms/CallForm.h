//===- CallForm.h - what bufferization asks of CALL -------------*- C++ -*-===//
//
// Bufferization may only fail with an error that a user understands, so its demands are checked before it starts.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_TRANSFORMS_CALLFORM_H
#define CK_LIB_TRANSFORMS_CALLFORM_H

#include "Storage.h"

namespace ck {

/// A straight line of `ck.call`, `ck.param`, `tensor.empty` and index arithmetic, in which arguments are inputs or
/// states and results are outputs, constants or states. Emits one located error and fails otherwise.
llvm::LogicalResult checkCallForm(mlir::func::FuncOp entry);

/// Every state is one chain of updates: nothing reads a version after the next one has been written, and the result
/// tagged with the state is the last version. Otherwise a copy of the state would be needed: one error that names it.
llvm::LogicalResult checkStates(mlir::func::FuncOp entry);

} // namespace ck

#endif // CK_LIB_TRANSFORMS_CALLFORM_H
