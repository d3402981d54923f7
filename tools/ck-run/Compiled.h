//===- Compiled.h - a plan in one of three executions -----------*- C++ -*-===//
//
// What the commands that run a model share: MLIR's context and diagnostics, and the way from a PLAN module to the table
// of a model that the runtime can run.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TOOLS_CK_RUN_COMPILED_H
#define CK_TOOLS_CK_RUN_COMPILED_H

#include "ck/Runtime/Runtime.h"
#include "ck/Target/NativeCode.h"
#include "ck/Target/Program.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

namespace ck::run {

/// A context with every dialect that the road needs.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// Turns the diagnostics of MLIR into one Error: the first error with its place and its notes.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext &context);
  Error error(const std::string &otherwise) const { return Error{text.empty() ? otherwise : text}; }

private:
  std::string text;
  mlir::ScopedDiagnosticHandler handler;
};

/// Lowers a PLAN module in place with --ck-lower-to-llvm.
Status lowerPlan(mlir::ModuleOp module);
/// The program of a PLAN module.
Result<Program> readPlan(mlir::ModuleOp module);

/// A model as the runtime knows it, with what keeps its code alive.
class CompiledModel {
public:
  /// `kind` is jit, aot or interpret; `module` is a PLAN, and is used up. With aot, a shared library beside `model`
  /// that was compiled from the same plan is used; otherwise (or with an empty `model`) one is built in a temporary
  /// folder.
  static Result<CompiledModel> create(mlir::ModuleOp module, ck_context *ctx, const std::string &kind,
                                      const std::string &model);
  /// The table form of a plan alone.
  static Result<CompiledModel> fromTable(const Program &program, ck_context *ctx);

  const ck_model *table() const { return pointer; }
  /// "jit", "table", or where the library is: for people.
  const std::string &origin() const { return description; }

private:
  CompiledModel() = default;

  const ck_model *pointer = nullptr;
  std::string description;
  std::shared_ptr<const ck_model> plan; ///< of the table engine
  std::unique_ptr<JitModel> jit;
};

} // namespace ck::run

#endif // CK_TOOLS_CK_RUN_COMPILED_H
