//===- MemoryPlan.h - lifetimes and places of an entry's buffers -*- C++ -*-===//
//
// What planning finds out about one entry before it changes anything: its buffers, when they live, what may share
// storage, and where the packer put them.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_TRANSFORMS_MEMORYPLAN_H
#define CK_LIB_TRANSFORMS_MEMORYPLAN_H

#include "Storage.h"
#include "ck/Packing/Packing.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/raw_ostream.h"

namespace ck {

/// Offsets of planned buffers are multiples of this: a cache line, and the widest vector.
inline constexpr int64_t kBufferAlignment = 64;

/// One buffer of the activation arena: an allocation, or scratch of a call.
struct PlannedBuffer {
  std::string name;                ///< from its location, else from the call that writes it first
  mlir::memref::AllocOp alloc;     ///< null for scratch
  CallOp call;                     ///< that first uses it
  int64_t bytes = 0;               ///< at the bounds
  int64_t first = -1, last = -1;   ///< the calls that use it first and last, by position in the entry
  std::optional<size_t> storageOf; ///< the buffer whose storage it takes over in place
  int64_t offset = 0;
};

/// The plan of one entry.
struct EntryPlan {
  mlir::func::FuncOp entry;
  std::vector<CallOp> steps;
  std::vector<PlannedBuffer> buffers;
  int64_t arenaBytes = 0;
  int64_t bound = 0;              ///< no plan with these in-place pairs is smaller
  int64_t boundBeforeInPlace = 0; ///< no plan without in-place pairs is smaller
  int64_t threadScratchBytes = 0;
  int64_t peak = -1; ///< the call at which most bytes are live; -1 = nothing is ever live
  std::string strategy;
};

/// Places of all buffers of a role in an arena of their own, one after the other.
struct ArenaLayout {
  struct Place {
    BufferOp buffer;
    int64_t offset, bytes;
  };
  llvm::SmallVector<Place> places;
  int64_t bytes = 0;
};

/// Removes what needs no place: deallocations, allocations that no call uses, questions about extents of allocations.
void dropUnusedBuffers(mlir::func::FuncOp entry);

/// Plans the activation arena of `entry`, after dropUnusedBuffers, with `guard` free bytes around every buffer. Changes
/// nothing. Emits an error and fails if the entry is not bufferized, a size has no bound, or the arena exceeds 64 bits.
llvm::FailureOr<EntryPlan> planEntry(mlir::func::FuncOp entry, const ContractCache &contracts, int64_t guard,
                                     const PackOptions &packOptions);

/// Lays out the root buffers of `role` in order of declaration. Emits an error and fails on overflow.
llvm::FailureOr<ArenaLayout> layOutArena(mlir::ModuleOp module, llvm::StringRef role, int64_t guard);

/// Writes the report of a planned module as a JSON object.
void writePlanReport(llvm::raw_ostream &stream, mlir::ModuleOp module, llvm::ArrayRef<EntryPlan> plans,
                     const ArenaLayout &states, const ArenaLayout &constants, int64_t guard);

} // namespace ck

#endif // CK_LIB_TRANSFORMS_MEMORYPLAN_H
