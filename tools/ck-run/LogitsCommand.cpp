//===- LogitsCommand.cpp - ck-run logits ----------------------------------===//
#include "Options.h"

#include "ck/Import/Formats/Npy.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ck;
using namespace ck::run;

static cl::opt<std::string> tokens("tokens", cl::desc("token ids, with commas between them"), cl::Required,
                                   cl::sub(logitsCommand()), cl::cat(category()));
static cl::opt<std::string> out("out", cl::desc("file for the logits, f32 [tokens, vocabulary]"), cl::Required,
                                cl::sub(logitsCommand()), cl::cat(category()));

int ck::run::runLogits() {
  Result<std::vector<int32_t>> ids = parseIds(tokens, "tokens");
  if (!ids)
    return fail(ids.error());
  Result<EngineOptions> options = engineOptions();
  if (!options)
    return fail(options.error());
  options->import.allLogits = true;
  auto engine = Engine::create(*options);
  if (!engine)
    return fail(engine.error());
  std::optional<int32_t> bos;
  if ((*engine)->config() && (*engine)->config()->bos)
    bos = static_cast<int32_t>(*(*engine)->config()->bos);
  Result<Generator> generator = (*engine)->generator(options->import.chunk, bos);
  if (!generator)
    return fail(generator.error());
  Result<std::vector<float>> logits = generator->logits(*ids);
  if (!logits)
    return fail(logits.error());
  int64_t vocab = generator->vocab(), rows = logits->size() / vocab;
  if (Status status = writeNpy(out, logits->data(), rows, vocab); !status)
    return fail(status.error());
  if (wantsJson())
    printJson({{"out", out.getValue()}, {"shape", {rows, vocab}}});
  else
    errs() << "wrote " << out << ": f32 [" << rows << ", " << vocab << "]\n";
  return 0;
}
