//===- Storage.h - whose storage a value is, and how large ------*- C++ -*-===//
//
// Questions that bufferization, planning and the verifier of plans ask about values of CALL and PLAN.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_TRANSFORMS_STORAGE_H
#define CK_LIB_TRANSFORMS_STORAGE_H

#include "ck/Dialect/CK/CKDialect.h"
#include "ck/Dialect/CK/Names.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ck {

/// The value whose storage `value` takes when every call writes into its destinations: an argument, a `tensor.empty`,
/// a `ck.param`, or `value` itself.
mlir::Value storageRoot(mlir::Value value);

/// The state that the storage root of `value` is, as the argument of an entry; null if it is none.
mlir::BlockArgument stateRoot(mlir::Value value);

/// True if a call of `contract` looks at what its output `name` holds before: `+=`, `|=` or updated in place.
bool readsOutput(const Contract &contract, llvm::StringRef name);

/// Replaces `tensor.dim` and `memref.dim` of results, allocations and views by the sizes that these were made with, so
/// that run-time extents are asked of arguments alone.
void resolveDims(mlir::func::FuncOp function);

/// The name in `ck.dims` of the dim that an index value is, looking through `ck.bound`; null if it is none.
mlir::StringAttr dimName(mlir::Value index);

/// An error at an entry that begins with its name and does not print its body.
mlir::InFlightDiagnostic emitEntryError(mlir::func::FuncOp entry);

/// Bytes of a memref at the bounds of its run-time extents. Emits an error at `user` and fails if an extent has no
/// bound or the bytes exceed 64 bits.
llvm::FailureOr<int64_t> boundedBytes(mlir::Operation *user, mlir::Value memref);

/// Bytes that a call needs besides its operands, at the bounds of its sizes.
struct ScratchNeed {
  llvm::SmallVector<int64_t> arena; ///< in the order of the contract's scratch without `@thread`
  llvm::SmallVector<llvm::StringRef> names;
  int64_t perThread = 0;
};
/// Emits an error at the call and fails if a size is missing or unbounded, or an expression is not monotone in a
/// run-time size, so that its value at the bound is not its largest. `contract` must outlive the result.
llvm::FailureOr<ScratchNeed> scratchNeed(CallOp call, const Contract &contract);

/// Contracts of the providers of a module, parsed once.
class ContractCache {
public:
  explicit ContractCache(mlir::ModuleOp module);
  /// Null if the module has no such provider.
  const Contract *find(mlir::FlatSymbolRefAttr callee) const;
  ProviderOp provider(mlir::FlatSymbolRefAttr callee) const;

private:
  struct Entry {
    ProviderOp provider;
    Contract contract;
  };
  llvm::DenseMap<mlir::StringAttr, Entry> entries;
};

} // namespace ck

#endif // CK_LIB_TRANSFORMS_STORAGE_H
