//===- EntryJudge.h - judges the memory plan of one entry -------*- C++ -*-===//
//
// Knows nothing of how plans are made. It executes an entry on a map of bytes: every read must see what the same buffer
// was given, so whatever overlaps while it still matters is found where it is read.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_TRANSFORMS_ENTRYJUDGE_H
#define CK_LIB_TRANSFORMS_ENTRYJUDGE_H

#include "ByteMap.h"
#include "LiveBytes.h"
#include "Storage.h"

namespace ck {

/// The arenas of a module, as its attributes state them.
struct PlanArenas {
  int64_t activation = 0, constant = 0, state = 0, guard = 0;
  llvm::DenseMap<int64_t, BufferOp> constants; ///< by offset
};

/// One operand or scratch area of a call.
struct PlanAccess {
  std::string operand; ///< name in the contract
  mlir::Value value;
  enum class Kind { Activation, Constant, Weight, Input, Output, State } kind;
  ByteRange range; ///< of arenas
  bool reads = false, writes = false, isInput = false;
};

/// Verifies one entry.
class EntryJudge {
public:
  EntryJudge(mlir::func::FuncOp entry, const PlanArenas &arenas, const ContractCache &contracts)
      : entry(entry), arenas(arenas), contracts(contracts) {}
  llvm::LogicalResult judge();

  int64_t arenaBytes = 0;
  LiveBytes live;                                      ///< activations, by step
  llvm::MapVector<mlir::Value, int64_t> constantsRead; ///< views of constants that are read, with their offsets
  llvm::DenseSet<int64_t> constantsWritten;            ///< offsets

private:
  llvm::LogicalResult judgeInterface();
  llvm::LogicalResult judgeOp(mlir::Operation &op);
  llvm::LogicalResult judgeView(ViewOp view);
  llvm::LogicalResult judgeCall(CallOp call);
  llvm::LogicalResult judgeScratch(CallOp call, const Contract &contract);
  llvm::LogicalResult judgePair(CallOp call, const Contract &contract, const PlanAccess &a, const PlanAccess &b);
  llvm::LogicalResult judgeStateCopy(CallOp call, llvm::ArrayRef<PlanAccess> accesses);
  llvm::LogicalResult judgeRead(CallOp call, const PlanAccess &access);
  llvm::LogicalResult judgeWrite(CallOp call, const PlanAccess &access);
  llvm::LogicalResult judgeEnd(mlir::func::ReturnOp end);
  llvm::FailureOr<PlanAccess> accessOf(CallOp call, mlir::Value value, llvm::StringRef operand);
  std::string describe(const PlanAccess &access);

  mlir::func::FuncOp entry;
  const PlanArenas &arenas;
  const ContractCache &contracts;
  llvm::DenseMap<mlir::Value, ByteRange> views;
  ByteMap bytes;
  llvm::DenseSet<mlir::Value> outputsWritten;
  int64_t step = 0, threadScratch = 0;
};

} // namespace ck

#endif // CK_LIB_TRANSFORMS_ENTRYJUDGE_H
