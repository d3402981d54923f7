//===- Compiled.cpp - a plan in one of three executions -------------------===//
#include "Compiled.h"

#include "ck/Dialect/CK/CKDialect.h"
#include "ck/Import/Formats/AtomicFile.h"
#include "ck/Target/Passes.h"
#include "ck/Transforms/BufferizableOpInterfaceImpl.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace ck;
using namespace ck::run;

DiagnosticCollector::DiagnosticCollector(mlir::MLIRContext &context)
    : handler(&context, [this](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error || !text.empty())
          return mlir::success();
        llvm::raw_string_ostream stream(text);
        mlir::Location loc = diagnostic.getLocation();
        if (auto file = llvm::dyn_cast<mlir::FileLineColLoc>(loc))
          stream << file.getFilename().getValue() << ":" << file.getLine() << ":" << file.getColumn() << ": ";
        else if (auto named = llvm::dyn_cast<mlir::NameLoc>(loc))
          stream << named.getName().getValue() << ": ";
        else if (!llvm::isa<mlir::UnknownLoc>(loc))
          stream << loc << ": ";
        stream << diagnostic;
        for (mlir::Diagnostic &note : diagnostic.getNotes())
          stream << "\n  " << note;
        return mlir::success();
      }) {}

std::unique_ptr<mlir::MLIRContext> ck::run::makeContext() {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<CKDialect>();
  registerBufferizableOpInterfaceExternalModels(registry);
  // The passes are a chain over one module: threads would only wait for each other.
  auto context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  // The place is in the message; the op in its generic form would only push the reasons away.
  context->printOpOnDiagnostic(false);
  return context;
}

Result<Program> ck::run::readPlan(mlir::ModuleOp module) {
  DiagnosticCollector diagnostics(*module.getContext());
  mlir::FailureOr<Program> program = readProgram(module);
  if (mlir::failed(program))
    return diagnostics.error("the plan cannot be read");
  return std::move(*program);
}

Status ck::run::lowerPlan(mlir::ModuleOp module) {
  DiagnosticCollector diagnostics(*module.getContext());
  mlir::PassManager passes(module.getContext());
  passes.addPass(createCKLowerToLLVM());
  if (mlir::failed(passes.run(module)))
    return diagnostics.error("the plan cannot be lowered");
  return Status::success();
}

/// The shared library beside the model whose plan has `digest`; empty if there is none.
static std::string findCompiled(const std::string &model, const std::string &name, const std::string &digest) {
  llvm::StringRef stem = llvm::StringRef(model).rtrim('/');
  llvm::SmallString<128> replaced = stem;
  llvm::sys::path::replace_extension(replaced, "so");
  for (const std::string &path : {stem.str() + ".so", replaced.str().str()}) {
    if (!llvm::sys::fs::is_regular_file(path))
      continue;
    auto table = loadSharedLibrary(path, name);
    if (table && (*table)->abi_version == CK_ABI_VERSION && digest == (*table)->digest)
      return path;
  }
  return "";
}

namespace {
/// A fresh folder that is removed with everything in it.
struct TemporaryFolder {
  llvm::SmallString<128> path;
  /// The path of a file in it.
  Result<std::string> file(const char *name) {
    if (path.empty())
      if (std::error_code code = llvm::sys::fs::createUniqueDirectory("ck", path))
        return Error{"cannot make a temporary folder: " + code.message()};
    return (path + "/" + name).str();
  }
  ~TemporaryFolder() {
    if (!path.empty())
      llvm::sys::fs::remove_directories(path);
  }
};
} // namespace

Result<CompiledModel> CompiledModel::fromTable(const Program &program, ck_context *ctx) {
  TemporaryFolder folder;
  Result<std::string> path = folder.file("model.ckplan");
  if (!path)
    return path.error();
  if (Status status = writeFileAtomically(*path, {printTable(program)}); !status)
    return status.error();
  CompiledModel model;
  if (const ck_model *loaded = ck_plan_load(ctx, path->c_str()))
    model.plan = std::shared_ptr<const ck_model>(loaded, ck_plan_destroy);
  else
    return Error{ck_context_error(ctx)};
  model.pointer = model.plan.get();
  model.description = "table";
  return model;
}

Result<CompiledModel> CompiledModel::create(mlir::ModuleOp module, ck_context *ctx, const std::string &kind,
                                            const std::string &beside) {
  if (kind == "jit") {
    if (Status status = lowerPlan(module); !status)
      return status.error();
    auto compiled = compileJit(module);
    if (!compiled)
      return compiled.error();
    CompiledModel model;
    model.jit = std::move(*compiled);
    model.pointer = model.jit->model();
    model.description = "jit";
    return model;
  }
  Result<Program> program = readPlan(module);
  if (!program)
    return program.error();
  if (kind == "interpret")
    return fromTable(*program, ctx);

  CompiledModel model;
  std::string library = beside.empty() ? "" : findCompiled(beside, program->name, program->digest);
  model.description = library;
  TemporaryFolder folder;
  if (library.empty()) {
    Result<std::string> path = folder.file("model.so");
    if (!path)
      return path.error();
    library = *path;
    model.description = "built in a temporary folder";
    if (Status status = lowerPlan(module); !status)
      return status.error();
    if (Status status = writeSharedLibrary(module, library); !status)
      return status.error();
  }
  auto loaded = loadSharedLibrary(library, program->name);
  if (!loaded)
    return loaded.error();
  model.pointer = *loaded;
  return model;
}
