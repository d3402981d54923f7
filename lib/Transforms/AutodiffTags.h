//===- AutodiffTags.h - new inputs and outputs of an entry ------*- C++ -*-===//
//
// What differentiation does to the interface of an entry: inputs for cotangents, outputs for gradients.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_TRANSFORMS_AUTODIFFTAGS_H
#define CK_LIB_TRANSFORMS_AUTODIFFTAGS_H

#include "Entries.h"

namespace ck {

/// Adds an argument of the type of `like`, tagged `ck.input = name` and `ck.dims` with the names of the dims that the
/// run-time extents of `like` are. Emits an error and fails if the name is taken or an extent is no dim of an argument.
llvm::FailureOr<mlir::Value> addInput(mlir::func::FuncOp entry, llvm::StringRef name, mlir::Value like);

/// Adds a result, tagged `ck.output = name` and, if `buffer` is given, `ck.grad = buffer`. Emits an error and fails if
/// the name is taken.
llvm::LogicalResult addOutput(mlir::func::FuncOp entry, mlir::Value value, llvm::StringRef name,
                              mlir::FlatSymbolRefAttr buffer);

/// The name in `ck.dims` that a run-time extent of `value` comes from, followed through the signatures of ops; null if
/// it is no dim of an argument.
mlir::StringAttr extentName(mlir::Value value, int64_t axis);

} // namespace ck

#endif // CK_LIB_TRANSFORMS_AUTODIFFTAGS_H
