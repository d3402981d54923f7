//===- ModelTable.h - ck_model and its parts as LLVM globals ----*- C++ -*-===//
#ifndef CK_LIB_TARGET_MODELTABLE_H
#define CK_LIB_TARGET_MODELTABLE_H

#include "ck/Target/Program.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace ck {

/// Writes the static description of a program (ck_model in ck/Runtime/Runtime.h) as globals, and the one exported
/// function `ckm_<model>` that returns it. Strings and extents are pooled.
class ModelTable {
public:
  ModelTable(mlir::ModuleOp module, const Program &program) : module(module), program(program) {}

  /// The internal symbol of an entry; it cannot clash with any other name.
  static std::string entrySymbol(const Program &program, size_t entry);

  /// The address of a zero-terminated copy of `text`, at the builder's position.
  mlir::Value string(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef text);

  /// Emits everything that is left: call once, after the entries.
  void emit(mlir::OpBuilder &builder);

private:
  class Initializer;
  mlir::LLVM::GlobalOp emitValues(mlir::OpBuilder &builder, llvm::StringRef name, llvm::ArrayRef<ProgramValue> values);

  mlir::ModuleOp module;
  const Program &program;
  std::string pool;
  llvm::StringMap<int64_t> offsets;
  llvm::SmallVector<int64_t> extents;
};

} // namespace ck

#endif // CK_LIB_TARGET_MODELTABLE_H
