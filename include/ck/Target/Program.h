//===- Program.h - a PLAN module as a list of calls -------------*- C++ -*-===//
//
// Every engine runs the same thing: a planned module read into buffers, entries and calls whose arguments are filled
// slots. LLVM IR, the table and its digest are all written from this one view, so they cannot drift apart.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TARGET_PROGRAM_H
#define CK_TARGET_PROGRAM_H

#include "ck/KernelMaps/Expr.h"
#include "mlir/IR/BuiltinOps.h"

namespace ck {

/// One declared buffer of the running model, in the order of its table.
struct ProgramBuffer {
  std::string name, role, dtype, file, tensor;
  llvm::SmallVector<int64_t> dims;
  int64_t bytes = 0;
  int64_t offset = -1; ///< in the const or state arena
};

/// A named input or output of an entry; a run-time extent is -1 - (index of its dim).
struct ProgramValue {
  std::string name, dtype;
  llvm::SmallVector<int64_t> dims;
};

/// One 8-byte slot of a provider's arguments.
struct ProgramSlot {
  enum class Kind { Null, Weight, Const, State, Arena, Input, Output, Size, Real };
  Kind kind = Kind::Null;
  int64_t index = 0;            ///< Weight, Input, Output: position; Const, State, Arena: byte offset
  int64_t bytes = 0;            ///< arenas: extent at the bound
  Expr size = Expr::integer(0); ///< Size: over the entry's dims
  double real = 0;
};

/// A call of a kernel or, if `kernel` is -1, a check that `slots[0]` is at most `bound`.
struct ProgramStep {
  int64_t kernel = -1;
  int64_t bound = 0;
  std::string name; ///< of the first result, for traces and messages
  llvm::SmallVector<ProgramSlot> slots;
};

struct ProgramEntry {
  std::string name;
  int64_t arenaBytes = 0, threadScratchBytes = 0;
  llvm::SmallVector<std::pair<std::string, int64_t>> dims; ///< name and bound
  llvm::SmallVector<ProgramValue> inputs, outputs;
  std::vector<ProgramStep> steps;
};

struct Program {
  std::string name;
  int64_t constBytes = 0, stateBytes = 0;
  std::vector<ProgramBuffer> buffers;
  llvm::SmallVector<std::pair<std::string, std::string>> kernels; ///< id and callDigest
  std::vector<ProgramEntry> entries;
  std::string digest; ///< SHA-256 over everything above but the names of steps
};

/// Reads a module in PLAN form. Emits one located error and fails if something is not in that form.
llvm::FailureOr<Program> readProgram(mlir::ModuleOp module);

/// The program in the .ckplan format, see docs/ckplan.md. Names of steps are for people; the digest leaves them out.
std::string printTable(const Program &program, bool withNames = true);

/// `name` with every character that a linker symbol may not hold spelt as `_` and its hexadecimal code.
std::string mangle(llvm::StringRef name);

} // namespace ck

#endif // CK_TARGET_PROGRAM_H
