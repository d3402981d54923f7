//===- Entries.h - the entries of a module ----------------------*- C++ -*-===//
//
// What the passes before bufferization ask of functions: which are entries, and what their values are at most.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_TRANSFORMS_ENTRIES_H
#define CK_LIB_TRANSFORMS_ENTRIES_H

#include "ck/Dialect/CK/CKDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ck {

/// True if `function` has a body of one block that ends in `return`.
bool isStraightLine(mlir::func::FuncOp function);

/// The functions of `module` that are marked `ck.entry` and are a straight line, in order.
llvm::SmallVector<mlir::func::FuncOp> entriesOf(mlir::ModuleOp module);

/// The entry that runs once at load is named so.
inline constexpr llvm::StringLiteral kInitEntry = "init";

/// The loosest numerics class that a module allows: its `ck.numerics`, f32 without one.
NumericsClass numericsLimit(mlir::ModuleOp module);

/// The shapes of an entry's tensors with every run-time extent at its bound: shape inference from arguments at their
/// bounds. `ck.fused` is looked into; ops of CALL have the shapes of their destinations.
class BoundedShapes {
public:
  /// Emits one error at the op that cannot be bounded, or that does not fit its signature at the bounds, and fails.
  static llvm::FailureOr<BoundedShapes> compute(mlir::func::FuncOp entry);

  bool contains(mlir::Value value) const { return shapes.contains(value); }
  /// The shape of a ranked tensor of the entry.
  llvm::ArrayRef<int64_t> shape(mlir::Value value) const { return shapes.find(value)->second; }
  /// Bytes of a tensor at the bounds; saturates at the largest int64_t. 0 for what is no tensor with storage.
  int64_t bytes(mlir::Value value) const;

private:
  llvm::LogicalResult addBlock(mlir::Block &block);
  llvm::LogicalResult addOp(mlir::Operation &op);
  llvm::LogicalResult addSignatureOp(SignatureOpInterface op);
  llvm::FailureOr<int64_t> bound(mlir::Value index) const;
  std::vector<ActualOperand> actuals(llvm::ArrayRef<mlir::Value> values) const;

  llvm::DenseMap<mlir::Value, llvm::SmallVector<int64_t>> shapes;
};

} // namespace ck

#endif // CK_LIB_TRANSFORMS_ENTRIES_H
