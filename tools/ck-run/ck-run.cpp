//===- ck-run.cpp - runs models on this machine ---------------------------===//
//
// A thin main: one file for each subcommand beside this one.
//
//===----------------------------------------------------------------------===//
#include "Options.h"

#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <iostream>

using namespace ck::run;

/// Flushes what went to the standard output; false where the system did not take all of it.
static bool outputIsWritten() {
  std::cout.flush();
  llvm::outs().flush();
  bool written = std::cout.good() && !llvm::outs().has_error();
  llvm::outs().clear_error(); // or it would end the program as a fault of LLVM
  return written;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  std::signal(SIGXFSZ, SIG_IGN); // a file that may not grow is an error of the write, with its name
  std::pair<llvm::cl::SubCommand *, int (*)()> commands[] = {
      {&generateCommand(), runGenerate}, {&logitsCommand(), runLogits}, {&tokenizeCommand(), runTokenize},
      {&inspectCommand(), runInspect},   {&benchCommand(), runBench},   {&compileCommand(), runCompile},
      {&trainCommand(), runTrain},       {&gradCommand(), runGrad},     {&lossCommand(), runLoss},
      {&convertCommand(), runConvert}};
  llvm::cl::HideUnrelatedOptions(category());
  for (auto [command, run] : commands)
    llvm::cl::HideUnrelatedOptions(category(), *command);
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &stream) { stream << "ck-run " CK_VERSION "\n"; });
  llvm::cl::ParseCommandLineOptions(argc, argv, "CK: compiles a model for this CPU and runs it\n");
  for (auto [command, run] : commands)
    if (*command) {
      int code = run();
      if (outputIsWritten())
        return code;
      llvm::errs() << "ck-run: error: the output cannot be written\n";
      return 1;
    }
  llvm::errs() << "ck-run: error: expected a command: generate, logits, tokenize, inspect, bench, compile, "
                  "train, grad, loss or convert (see ck-run --help)\n";
  return 1;
}
