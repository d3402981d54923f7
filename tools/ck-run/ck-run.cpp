//===- ck-run.cpp - runs models on this machine ---------------------------===//
//
// A thin main: one file for each subcommand beside this one.
//
//===----------------------------------------------------------------------===//
#include "Options.h"

#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace ck::run;

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
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
    if (*command)
      return run();
  llvm::errs() << "ck-run: error: expected a command: generate, logits, tokenize, inspect, bench, compile, "
                  "train, grad, loss or convert (see ck-run --help)\n";
  return 1;
}
