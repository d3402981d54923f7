//===- EquivalentOps.h - finding an op that computes the same ---*- C++ -*-===//
#ifndef CK_LIB_TRANSFORMS_EQUIVALENTOPS_H
#define CK_LIB_TRANSFORMS_EQUIVALENTOPS_H

#include "mlir/IR/OperationSupport.h"

namespace ck {

/// Ops by structure: name, attributes, operands, result types and regions; locations do not count. Ops that were added
/// must not change or die while the table is in use.
class EquivalentOps {
public:
  /// The op added earlier that equals `op`; adds `op` and returns it if there is none.
  mlir::Operation *findOrAdd(mlir::Operation *op) {
    using Equivalence = mlir::OperationEquivalence;
    auto hash = Equivalence::computeHash(op, Equivalence::directHashValue, Equivalence::ignoreHashValue,
                                         Equivalence::IgnoreLocations);
    auto &bucket = byHash[static_cast<size_t>(hash)];
    for (mlir::Operation *known : bucket)
      if (known == op || Equivalence::isEquivalentTo(known, op, Equivalence::IgnoreLocations))
        return known;
    bucket.push_back(op);
    return op;
  }

private:
  llvm::DenseMap<size_t, llvm::SmallVector<mlir::Operation *, 1>> byHash;
};

} // namespace ck

#endif // CK_LIB_TRANSFORMS_EQUIVALENTOPS_H
