//===- Gradients.h - the gradients that an op can give ----------*- C++ -*-===//
//
// Gradient ops state their gradients in a table of one line each; signature, verifier and the passes that add gradients
// up all read it.
//
//===----------------------------------------------------------------------===//
#ifndef CK_DIALECT_CK_GRADIENTS_H
#define CK_DIALECT_CK_GRADIENTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace ck {

/// One gradient: result `d_<name>` of type `dtype` with the dims `dims`, in brackets.
struct Gradient {
  std::string name, dims;
  bool parameter = false; ///< of a weight, bias or gain rather than of an activation
  bool always = false;    ///< exists whatever `wrt` says
  std::string dtype = "f32";
};

/// The operands of a gradient op, as the input side of a signature, and its gradients in their order.
struct GradientTable {
  std::string operands;
  std::vector<Gradient> gradients;

  /// Those that exist with the attribute `wrt`; all of them if it is null.
  llvm::SmallVector<Gradient> existing(mlir::ArrayAttr wrt) const;
};

/// True if `accumulate` = `mode` (none, params, input or all) adds `gradient` to an operand.
bool isAccumulated(llvm::StringRef mode, const Gradient &gradient);

/// The signature of a gradient op: accumulated gradients stand on both sides, behind the other operands.
std::string gradientSignature(const GradientTable &table, mlir::ArrayAttr wrt, llvm::StringRef accumulate);

/// The dims of queries or keys: `[T,heads*width]` token-major, `[heads,T,width]` head-major.
std::string headDims(llvm::StringRef heads, llvm::StringRef layout, llvm::StringRef width = "$head_dim");

} // namespace ck

#endif // CK_DIALECT_CK_GRADIENTS_H
