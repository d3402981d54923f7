//===- Adjoint.h - what an op is given to build its adjoint -----*- C++ -*-===//
//
// Reverse mode asks each op: given the cotangents of your results, what are those of your operands? The question and
// the answer are one object. Operands go by their names in the op's signature.
//
//===----------------------------------------------------------------------===//
#ifndef CK_DIALECT_CK_ADJOINT_H
#define CK_DIALECT_CK_ADJOINT_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeRange.h"

#include <map>

namespace ck {

class SignatureOpInterface;

/// What forward ops keep for their adjoints.
struct AdjointOptions {
  /// Attention keeps its probabilities instead of their log-sum-exp, where its adjoint can use them.
  bool saveProbs = false;
};

/// One op while it is differentiated. New ops go in at `builder`'s insertion point.
class Adjoint {
public:
  /// `cotangents` has one value for each result, null for none; `needed` says which operands want a gradient.
  Adjoint(mlir::OpBuilder &builder, SignatureOpInterface op, llvm::ArrayRef<mlir::Value> cotangents,
          llvm::ArrayRef<bool> needed);

  mlir::OpBuilder &builder;

  /// The cotangent of result `index`; null if nothing that matters depends on it.
  mlir::Value cotangent(unsigned index) const { return cotangents[index]; }
  /// The same with zeros instead of null.
  mlir::Value cotangentOrZero(unsigned index);
  /// True if the gradient of operand `name` is wanted; false for an absent one.
  bool needs(llvm::StringRef name) const;
  mlir::Value operand(llvm::StringRef name) const;
  /// Gives the gradient of operand `name`. What is not given is zero.
  void give(llvm::StringRef name, mlir::Value gradient);

  /// Those of `names` that are wanted, in their order.
  llvm::SmallVector<llvm::StringRef> wanted(llvm::ArrayRef<llvm::StringRef> names) const;
  /// The types of the gradients of operands (f32, in their shapes), and a location that names the gradients of
  /// operands: what an op needs whose results are the gradients of `names`.
  llvm::SmallVector<mlir::Type> types(llvm::ArrayRef<llvm::StringRef> names) const;
  mlir::Location loc(llvm::ArrayRef<llvm::StringRef> names) const;
  /// Gives results in the order of `names`.
  void give(llvm::ArrayRef<llvm::StringRef> names, mlir::ValueRange gradients);

  /// The gradient of each operand of the op, null for none.
  llvm::ArrayRef<mlir::Value> getGradients() const { return gradients; }

private:
  /// The number of an operand, or -1.
  int indexOf(llvm::StringRef name) const;

  mlir::Operation *op;
  llvm::ArrayRef<mlir::Value> cotangents;
  llvm::ArrayRef<bool> needed;
  llvm::SmallVector<mlir::Value> gradients;
  std::map<std::string, int, std::less<>> numbers;
};

} // namespace ck

#endif // CK_DIALECT_CK_ADJOINT_H
