//===- GenerateCommand.cpp - ck-run generate ------------------------------===//
#include "Options.h"

#include "ck/Import/Formats/Tokenizer.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <iostream>

using namespace llvm;
using namespace ck;
using namespace ck::run;

static cl::opt<std::string> prompt("prompt", cl::desc("text to continue"), cl::Required, cl::sub(generateCommand()),
                                   cl::cat(category()));
static cl::opt<int64_t> maxTokens("max-tokens", cl::desc("most new tokens (default 128)"), cl::init(128),
                                  cl::sub(generateCommand()), cl::cat(category()));
static cl::opt<double> temperature("temperature", cl::desc("0 takes the likeliest token (default)"), cl::init(0),
                                   cl::sub(generateCommand()), cl::cat(category()));
static cl::opt<int64_t> topK("top-k", cl::desc("sample among the K likeliest tokens (default: all)"), cl::init(0),
                             cl::sub(generateCommand()), cl::cat(category()));
static cl::opt<double> topP("top-p", cl::desc("sample among the tokens that make up probability P (default 1)"),
                            cl::init(1), cl::sub(generateCommand()), cl::cat(category()));
static cl::opt<uint64_t> seed("seed", cl::desc("seed of the sampler (default 0)"), cl::init(0),
                              cl::sub(generateCommand()), cl::cat(category()));
static cl::opt<bool> ignoreEos("ignore-eos", cl::desc("go on after an end token"), cl::sub(generateCommand()),
                               cl::cat(category()));
static cl::opt<std::string> tokenizerPath("tokenizer", cl::desc("tokenizer.json or GGUF (default: the model's)"),
                                          cl::sub(generateCommand()), cl::cat(category()));

static std::atomic<bool> interrupted{false};

static double perSecond(double count, double seconds) { return seconds > 0 ? count / seconds : 0; }

int ck::run::runGenerate() {
  if (maxTokens < 0)
    return fail({"--max-tokens must not be negative, got " + std::to_string(maxTokens)});
  Result<EngineOptions> options = engineOptions();
  if (!options)
    return fail(options.error());
  Result<Tokenizer> tokenizer = Tokenizer::open(tokenizerPath.empty() ? options->model : tokenizerPath);
  if (!tokenizer)
    return fail(tokenizer.error());
  Result<std::vector<int32_t>> ids = tokenizer->encode(prompt);
  if (!ids)
    return fail(ids.error());
  auto engine = Engine::create(*options);
  if (!engine)
    return fail(engine.error());
  const std::optional<ModelConfig> &config = (*engine)->config();

  GenerateOptions generate;
  generate.maxTokens = maxTokens;
  generate.sampling = {temperature, topK, topP, seed};
  generate.interrupt = &interrupted;
  if (!ignoreEos) {
    generate.eos = tokenizer->eos();
    if (config)
      generate.eos.insert(generate.eos.end(), config->eos.begin(), config->eos.end());
  }
  std::optional<int32_t> bos = tokenizer->bos();
  if (!bos && config && config->bos)
    bos = static_cast<int32_t>(*config->bos);
  Result<Generator> generator = (*engine)->generator(options->import.chunk, bos);
  if (!generator)
    return fail(generator.error());

  // The prompt's ids go through the decoder too: a space at the start of the continuation is kept by that.
  StreamDecoder decoder(*tokenizer);
  std::vector<int32_t> shown = ids->empty() && bos ? std::vector<int32_t>{*bos} : *ids;
  std::string text;
  std::signal(SIGINT, [](int) {
    interrupted = true;
    std::signal(SIGINT, SIG_DFL);
  });
  auto show = [&](const std::string &piece) {
    text += piece;
    if (!wantsJson())
      std::cout << piece << std::flush;
  };
  for (int32_t id : shown)
    if (id >= 0 && id < tokenizer->vocabSize())
      (void)decoder.push(id);
  auto result = generator->generate(*ids, generate, [&](int32_t id, const float *) {
    // A vocabulary may be padded beyond the tokenizer's: such an id has no text.
    if (id < tokenizer->vocabSize())
      if (Result<std::string> piece = decoder.push(id))
        show(*piece);
  });
  if (!result)
    return fail(result.error());
  show(decoder.finish());

  double promptRate = perSecond(result->prompt.size(), result->promptSeconds);
  double decodeRate = perSecond(result->decodeSteps, result->decodeSeconds);
  if (wantsJson()) {
    printJson({{"prompt_ids", result->prompt},
               {"ids", result->ids},
               {"text", text},
               {"stop", toString(result->stop)},
               {"prompt_tokens_per_s", promptRate},
               {"generated_tokens_per_s", decodeRate}});
  } else {
    std::cout << std::endl;
    errs() << format("%zu prompt tokens at %.1f/s, %zu new tokens at %.1f/s, stop: %s\n", result->prompt.size(),
                     promptRate, result->ids.size(), decodeRate, toString(result->stop));
  }
  return 0;
}
