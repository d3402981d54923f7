//===- Options.cpp - the command line of ck-run ---------------------------===//
#include "Options.h"

#include "llvm/Support/raw_ostream.h"

#include <iostream>

using namespace llvm;
using namespace ck;

cl::OptionCategory &ck::run::category() {
  static cl::OptionCategory options("Options");
  return options;
}
cl::SubCommand &ck::run::generateCommand() {
  static cl::SubCommand command("generate", "continue a prompt with a model");
  return command;
}
cl::SubCommand &ck::run::logitsCommand() {
  static cl::SubCommand command("logits", "write the logits of every position to a .npy file");
  return command;
}
cl::SubCommand &ck::run::tokenizeCommand() {
  static cl::SubCommand command("tokenize", "turn text into token ids, or ids into text");
  return command;
}
cl::SubCommand &ck::run::inspectCommand() {
  static cl::SubCommand command("inspect", "show what a model file or configuration holds");
  return command;
}
cl::SubCommand &ck::run::benchCommand() {
  static cl::SubCommand command("bench", "measure tokens per second beside the machine's peaks");
  return command;
}
cl::SubCommand &ck::run::compileCommand() {
  static cl::SubCommand command("compile", "compile a model ahead of time");
  return command;
}

cl::SubCommand &ck::run::trainCommand() {
  static cl::SubCommand command("train", "train a model on a text, from nothing or further");
  return command;
}
cl::SubCommand &ck::run::gradCommand() {
  static cl::SubCommand command("grad", "write or check the gradients of a model's loss");
  return command;
}
cl::SubCommand &ck::run::lossCommand() {
  static cl::SubCommand command("loss", "measure how well a model predicts a text");
  return command;
}
cl::SubCommand &ck::run::convertCommand() {
  static cl::SubCommand command("convert", "write a model in another format or with other storage types");
  return command;
}

using namespace ck::run;

// Options of several subcommands; those of one stand beside its code.
#define CK_ENGINE_COMMANDS                                                                                             \
  cl::sub(generateCommand()), cl::sub(logitsCommand()), cl::sub(benchCommand()), cl::sub(compileCommand()),            \
      cl::cat(category())
#define CK_ALL_COMMANDS cl::sub(tokenizeCommand()), cl::sub(inspectCommand()), CK_ENGINE_COMMANDS
#define CK_MEASURE_COMMANDS cl::sub(gradCommand()), cl::sub(lossCommand())
#define CK_TRAINING_COMMANDS cl::sub(trainCommand()), CK_MEASURE_COMMANDS

static cl::opt<std::string> model(cl::Positional, cl::Required, cl::desc("MODEL"), CK_ALL_COMMANDS, CK_MEASURE_COMMANDS,
                                  cl::sub(convertCommand()));
static cl::opt<bool> json("json", cl::desc("print one JSON object on stdout (train: one line a step)"), CK_ALL_COMMANDS,
                          CK_TRAINING_COMMANDS, cl::sub(convertCommand()));
static cl::opt<std::string> engine("engine", cl::desc("how to run the plan: jit, aot or interpret (default jit)"),
                                   cl::init("jit"), CK_ENGINE_COMMANDS, CK_TRAINING_COMMANDS);
static cl::opt<int64_t> threads("threads", cl::desc("threads to use (default: online CPUs)"), cl::init(0),
                                CK_ENGINE_COMMANDS, CK_TRAINING_COMMANDS, cl::sub(convertCommand()));
static cl::opt<int64_t> contextSize("context", cl::desc("rows of the KV cache (default: the model's, at most 4096)"),
                                    cl::init(0), CK_ENGINE_COMMANDS);
static cl::opt<int64_t> chunk("chunk", cl::desc("most prompt tokens in one call (default 512)"), cl::init(512),
                              CK_ENGINE_COMMANDS);
static cl::opt<std::string> weights("weights", cl::desc("folder that holds the weight files"), CK_ENGINE_COMMANDS);
static cl::opt<std::string>
    numerics("numerics",
             cl::desc("loosest numerics class: f32, f16_operands, bf16_operands or "
                      "q8_activations (default: q8_activations for quantised weights, else f32)"),
             CK_ENGINE_COMMANDS);
static cl::opt<std::string>
    pack("pack",
         cl::desc("layout of quantised weights: load (packed when the model is loaded) or never "
                  "(default load)"),
         cl::init("load"), CK_ENGINE_COMMANDS);
static cl::opt<std::string> costs("costs", cl::desc("file of measured costs of kernels (ck-kernels tune)"),
                                  CK_ENGINE_COMMANDS);
static cl::opt<std::string> kernelMaps("kernel-maps", cl::desc("folder of the kernel maps"), CK_ENGINE_COMMANDS,
                                       CK_TRAINING_COMMANDS);

bool ck::run::wantsJson() { return json; }
const std::string &ck::run::modelPath() { return model; }

Result<EngineOptions> ck::run::engineOptions() {
  auto atLeast = [](int64_t value, int64_t least, int64_t most, const char *option) -> Status {
    if (value >= least && value <= most)
      return Status::success();
    return Error{std::string("--") + option + " must be between " + std::to_string(least) + " and " +
                 std::to_string(most) + ", got " + std::to_string(value)};
  };
  if (engine != "jit" && engine != "aot" && engine != "interpret")
    return Error{"--engine must be jit, aot or interpret, got '" + engine + "'"};
  if (pack != "load" && pack != "never")
    return Error{"--pack must be load or never, got '" + pack + "'"};
  for (const Status &status : {atLeast(threads, threads.getNumOccurrences() ? 1 : 0, 1024, "threads"),
                               atLeast(contextSize, contextSize.getNumOccurrences() ? 1 : 0, INT32_MAX, "context"),
                               atLeast(chunk, 1, INT32_MAX, "chunk")})
    if (!status)
      return status.error();
  EngineOptions options;
  options.model = model;
  options.kind = engine;
  options.weights = weights;
  options.kernelMaps = kernelMaps;
  options.threads = static_cast<int>(threads);
  options.import.context = contextSize;
  options.import.chunk = chunk;
  options.import.numerics = numerics;
  options.pack = pack;
  options.costs = costs;
  return options;
}

int ck::run::fail(const Error &error) {
  std::string text = error.message;
  if (!error.code.empty())
    text += " [" + error.code + "]";
  errs() << "ck-run: error: " << text << "\n";
  if (json) {
    Json object = {{"error", error.message}};
    if (!error.code.empty())
      object["code"] = error.code;
    printJson(object);
  }
  return 1;
}

void ck::run::printJson(const Json &object) {
  // Bytes of a file that are no UTF-8 must not keep the rest from being read.
  std::cout << object.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
}

Result<std::vector<int32_t>> ck::run::parseIds(const std::string &text, const char *option) {
  std::vector<int32_t> ids;
  if (text.empty())
    return ids;
  SmallVector<StringRef> pieces;
  StringRef(text).split(pieces, ',');
  for (auto [index, piece] : enumerate(pieces)) {
    int32_t id;
    if (piece.trim().getAsInteger(10, id))
      return Error{std::string("--") + option + ": item " + std::to_string(index) + " ('" + piece.str() +
                   "') is no token id; expected integers with commas between them"};
    ids.push_back(id);
  }
  return ids;
}
