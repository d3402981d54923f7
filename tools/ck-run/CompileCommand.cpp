//===- CompileCommand.cpp - ck-run compile --------------------------------===//
#include "Options.h"

#include "ck/Import/Formats/AtomicFile.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ck;
using namespace ck::run;

static cl::opt<std::string> output("o", cl::desc("file to write: .so, .o or .ckplan (default: MODEL.so)"),
                                   cl::sub(compileCommand()), cl::cat(category()));

static Status write(mlir::ModuleOp module, const std::string &path) {
  StringRef extension = sys::path::extension(path);
  if (extension == ".ckplan") {
    Result<Program> program = readPlan(module);
    if (!program)
      return program.error();
    return writeFileAtomically(path, {printTable(*program)});
  }
  if (extension != ".so" && extension != ".o")
    return ck::Error{path + ": expected a name that ends in .so, .o or .ckplan"};
  if (Status status = lowerPlan(module); !status)
    return status;
  if (extension == ".so")
    return writeSharedLibrary(module, path);
  SmallVector<char> object;
  raw_svector_ostream stream(object);
  if (Status status = writeObject(module, stream); !status)
    return status;
  return writeFileAtomically(path, {std::string_view(object.data(), object.size())});
}

int ck::run::runCompile() {
  Result<EngineOptions> options = engineOptions();
  if (!options)
    return fail(options.error());
  std::string path =
      output.getNumOccurrences() ? output.getValue() : StringRef(options->model).rtrim('/').str() + ".so";
  auto context = makeContext();
  auto module = compileToPlan(*context, *options);
  if (!module)
    return fail(module.error());
  if (Status status = write(**module, path); !status)
    return fail(status.error());
  if (wantsJson())
    printJson({{"out", path}});
  else
    errs() << "wrote " << path << "\n";
  return 0;
}
