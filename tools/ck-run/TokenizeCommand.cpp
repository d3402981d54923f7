//===- TokenizeCommand.cpp - ck-run tokenize ------------------------------===//
#include "Options.h"

#include "ck/Import/Formats/Tokenizer.h"

#include <iostream>

using namespace llvm;
using namespace ck;
using namespace ck::run;

static cl::opt<std::string> text("text", cl::desc("text to encode"), cl::sub(tokenizeCommand()), cl::cat(category()));
static cl::opt<std::string> decode("decode", cl::desc("ids to decode, with commas between them"),
                                   cl::sub(tokenizeCommand()), cl::cat(category()));
static cl::opt<bool> noSpecial("no-special", cl::desc("add no begin or end token"), cl::sub(tokenizeCommand()),
                               cl::cat(category()));

int ck::run::runTokenize() {
  if ((text.getNumOccurrences() > 0) == (decode.getNumOccurrences() > 0))
    return fail({"tokenize takes either --text or --decode"});
  Result<Tokenizer> tokenizer = Tokenizer::open(modelPath());
  if (!tokenizer)
    return fail(tokenizer.error());
  if (decode.getNumOccurrences()) {
    Result<std::vector<int32_t>> ids = parseIds(decode, "decode");
    if (!ids)
      return fail(ids.error());
    Result<std::string> decoded = tokenizer->decode(*ids);
    if (!decoded)
      return fail(decoded.error());
    if (wantsJson())
      printJson({{"text", *decoded}});
    else
      std::cout << *decoded << std::endl;
    return 0;
  }
  EncodeOptions options;
  options.addSpecial = !noSpecial;
  Result<std::vector<int32_t>> ids = tokenizer->encode(text, options);
  if (!ids)
    return fail(ids.error());
  if (wantsJson()) {
    printJson({{"ids", *ids}});
    return 0;
  }
  for (size_t i = 0; i < ids->size(); ++i)
    std::cout << (i ? "," : "") << (*ids)[i];
  std::cout << std::endl;
  return 0;
}
