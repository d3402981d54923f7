//===- Options.h - the command line of ck-run -------------------*- C++ -*-===//
//
// Subcommands, the options that several of them share, and the one way in which they fail.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TOOLS_CK_RUN_OPTIONS_H
#define CK_TOOLS_CK_RUN_OPTIONS_H

#include "Engine.h"
#include "ck/Support/Result.h"
#include "llvm/Support/CommandLine.h"

#include <nlohmann/json.hpp>

namespace ck::run {

using Json = nlohmann::ordered_json;

/// Functions, because options of other files are constructed with them before main.
llvm::cl::OptionCategory &category();
llvm::cl::SubCommand &generateCommand();
llvm::cl::SubCommand &logitsCommand();
llvm::cl::SubCommand &tokenizeCommand();
llvm::cl::SubCommand &inspectCommand();
llvm::cl::SubCommand &benchCommand();
llvm::cl::SubCommand &compileCommand();
llvm::cl::SubCommand &trainCommand();
llvm::cl::SubCommand &gradCommand();
llvm::cl::SubCommand &lossCommand();
llvm::cl::SubCommand &convertCommand();

/// Each runs one subcommand and returns the exit code.
int runGenerate();
int runLogits();
int runTokenize();
int runInspect();
int runBench();
int runCompile();
int runTrain();
int runGrad();
int runLoss();
int runConvert();

/// True if --json was given: stdout then holds one JSON object and nothing else.
bool wantsJson();
/// MODEL, the first positional argument.
const std::string &modelPath();
/// The engine flags of the command line, checked.
Result<EngineOptions> engineOptions();

/// Prints the error on stderr, ending in its class in brackets, and with --json as an object with `error` and `code` on
/// stdout. Returns 1.
int fail(const Error &error);
/// Prints one JSON object on stdout.
void printJson(const Json &json);
/// "1,403,407" as ids; an Error names the piece that is no integer.
Result<std::vector<int32_t>> parseIds(const std::string &text, const char *option);

} // namespace ck::run

#endif // CK_TOOLS_CK_RUN_OPTIONS_H
