//===- LossCommand.cpp - ck-run loss --------------------------------------===//
#include "Options.h"
#include "TrainInputs.h"

#include "ck/Training/Evaluate.h"
#include "ck/Training/SessionProgram.h"

#include <iostream>

namespace cl = llvm::cl;
using namespace ck;
using namespace ck::run;

#define CK_LOSS cl::sub(lossCommand()), cl::cat(category())

static cl::opt<std::string> text("text", cl::desc("text to predict"), CK_LOSS);
static cl::opt<std::string>
    tokens("tokens", cl::desc("the same as raw ids: u16, or u32 if the vocabulary is above 65536"), CK_LOSS);
static cl::opt<int64_t> seq("seq", cl::desc("tokens of a window (default: the model's context, at most 512)"), CK_LOSS);
static cl::opt<int64_t> batchSize("batch-size", cl::desc("windows in one call (default 1)"), cl::init(1), CK_LOSS);

int ck::run::runLoss() {
  Result<EngineOptions> flags = engineOptions();
  if (!flags)
    return fail(flags.error());
  if (text.empty() == tokens.empty())
    return fail({"loss takes either --text or --tokens"});
  for (const Status &status : {checkRange("seq", seq, seq.getNumOccurrences() ? 1 : 0, 1 << 27),
                               checkRange("batch-size", batchSize, 1, 1 << 20)})
    if (!status)
      return fail(status.error());
  Result<ModelInputs> inputs = loadModelInputs(modelPath(), true);
  if (!inputs)
    return fail(inputs.error());
  int64_t length = seq.getNumOccurrences() ? int64_t(seq) : std::min<int64_t>(512, inputs->config.maxContext);
  if (length > inputs->config.maxContext)
    return fail({"--seq is " + std::to_string(length) + ", but the model was made for " +
                 std::to_string(inputs->config.maxContext) + " positions"});
  Result<TokenStream> stream = loadTokens(*inputs, text, tokens);
  if (!stream)
    return fail(stream.error());
  Windows windows{{0, stream->size()}, length};
  if (windows.count() == 0)
    return fail({(text.empty() ? tokens : text) + ": has " + std::to_string(stream->size()) +
                 " tokens; a loss needs at least 2"});

  TrainSetup setup;
  setup.config = inputs->config;
  setup.weightsFile = inputs->weightsFile;
  setup.sequences = std::min<int64_t>(batchSize, windows.count());
  setup.positions = windows.longest();
  setup.rows = setup.sequences * setup.positions;
  setup.engine = flags->kind;
  setup.kernelMaps = flags->kernelMaps;
  setup.threads = flags->threads;
  bool mapped = holdsOnlyF32(*inputs);
  setup.purpose = mapped ? TrainSetup::Purpose::Loss : TrainSetup::Purpose::Train;
  setup.optimizer = mapped ? setup.optimizer : "sgd";
  auto engine = TrainEngine::create(setup);
  if (!engine)
    return fail(engine.error());
  auto program = SessionProgram::create((*engine)->session(), weightTable(inputs->config));
  if (!program)
    return fail(program.error());
  if (!mapped)
    if (Status status = loadParameters(inputs->config, *inputs->weights, (*program)->parameters()); !status)
      return fail(status.error());
  Result<Evaluation> result = evaluate(**program, *stream, windows, setup.sequences);
  if (!result)
    return fail(result.error());
  if (wantsJson())
    printJson({{"loss", result->loss}, {"tokens", result->tokens}, {"windows", result->windows}, {"seq", length}});
  else
    std::cout << Json(result->loss).dump() << " nats per token over " << result->tokens << " tokens\n";
  return 0;
}
