//===- OpRules.h - rules that several ops share -----------------*- C++ -*-===//
//
// An op and its gradient have the same attributes, and the same rules about them. Each emits one error on the op.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_DIALECT_CK_OPRULES_H
#define CK_LIB_DIALECT_CK_OPRULES_H

#include "ck/Dialect/CK/CKDialect.h"

namespace ck {

/// `value` is finite and at least `least`.
llvm::LogicalResult requireFinite(mlir::Operation *op, llvm::StringRef name, double value, double least);
/// `heads` and `kvHeads` are given with `layout` head_major only.
llvm::LogicalResult verifyProjectionHeads(mlir::Operation *op, llvm::StringRef layout, int64_t heads, int64_t kvHeads);
/// `input` and `weights` are stored in types that a projection multiplies.
llvm::LogicalResult verifyProjection(mlir::Operation *op, mlir::Value input,
                                     llvm::ArrayRef<std::pair<llvm::StringRef, mlir::Value>> weights);
/// Queries group evenly over keys.
llvm::LogicalResult verifyAttentionHeads(mlir::Operation *op, int64_t heads, int64_t kvHeads);
/// Frequencies and their scaling are numbers that make sense.
llvm::LogicalResult verifyRotaryScaling(RopeTableOp op);
/// A window belongs to the sliding mask.
llvm::LogicalResult verifyWindow(mlir::Operation *op, llvm::StringRef mask, int64_t window);
/// `alpha` belongs to some activations.
llvm::LogicalResult verifyAlpha(mlir::Operation *op, llvm::StringRef kind, double alpha);
/// `gain` says whether there is a gamma.
llvm::LogicalResult verifyGain(mlir::Operation *op, llvm::StringRef gain, mlir::Value gamma);
/// `codes` says whether `input` has scales; without codes it holds floats.
llvm::LogicalResult verifyCodes(mlir::Operation *op, llvm::StringRef codes, mlir::Value input, mlir::Value scales);
/// The lists of a gradient op name what it has, in order, and as many values as it adds to.
llvm::LogicalResult verifyGradient(GradientOpInterface op);

} // namespace ck

#endif // CK_LIB_DIALECT_CK_OPRULES_H
