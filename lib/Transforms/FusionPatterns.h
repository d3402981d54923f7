//===- FusionPatterns.h - chains of ops that contracts stand for -*- C++ -*-===//
//
// A fusion is a function in kernel_maps/fusions/*.mlir: its name is the contract, its body the chain. Run-time extents
// of the pattern stand for any extent; an attribute that an op lists in `ck.params` may have any value, which becomes a
// parameter of the contract.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_TRANSFORMS_FUSIONPATTERNS_H
#define CK_LIB_TRANSFORMS_FUSIONPATTERNS_H

#include "ck/Dialect/CK/CKDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ck {

/// Attribute of a pattern's op: the names of its attributes that may have any value.
inline constexpr llvm::StringLiteral kFusionParams = "ck.params";

/// A chain found in an entry.
struct FusionMatch {
  llvm::SmallVector<mlir::Operation *> ops;       ///< in the order of the pattern
  llvm::SmallVector<mlir::Value> inputs, outputs; ///< in the order of the pattern's arguments and results
  mlir::NamedAttrList params;
};

/// The patterns of one folder of kernel maps, in the order of files and functions.
class FusionPatterns {
public:
  /// Reads `dir`/fusions/*.mlir; no such folder means no patterns. Errors are emitted at their place in the file: text
  /// that does not parse, a function that is no straight line of graph ops, an op that nothing before it leads to.
  static mlir::FailureOr<FusionPatterns> load(llvm::StringRef dir, mlir::MLIRContext *context);

  llvm::ArrayRef<mlir::func::FuncOp> patterns() const { return functions; }

  /// The chain of `pattern` that begins with `first`, if there is one whose inner values nobody else reads and whose
  /// results are read only behind its last op.
  static std::optional<FusionMatch> match(mlir::func::FuncOp pattern, mlir::Operation *first);

private:
  llvm::SmallVector<mlir::OwningOpRef<mlir::ModuleOp>> files;
  llvm::SmallVector<mlir::func::FuncOp> functions;
};

} // namespace ck

#endif // CK_LIB_TRANSFORMS_FUSIONPATTERNS_H
