//===- TrainInputs.h - what training commands read --------------*- C++ -*-===//
//
// Shared by train, grad and loss: a model with the texts beside it, tokens, and checks of flags.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TOOLS_CK_RUN_TRAININPUTS_H
#define CK_TOOLS_CK_RUN_TRAININPUTS_H

#include "TrainEngine.h"
#include "ck/Training/BatchFile.h"
#include "ck/Training/GradCheck.h"
#include "ck/Training/InitialWeights.h"
#include "ck/Training/RunDirectory.h"
#include "ck/Training/TokenStream.h"

namespace ck::run {

struct ModelInputs {
  ModelConfig config;
  ModelTexts texts;
  std::string digest;                 ///< of config.json, or of what would stand there
  std::string weightsFile;            ///< empty without weights
  std::optional<Container> weights;   ///< open and checked against the configuration
  std::optional<Tokenizer> tokenizer; ///< beside the configuration, or in the GGUF
};

/// Reads a model: a folder with config.json, a config.json, or a GGUF file. With `needWeights`, one without is an
/// error; else weights are not looked for.
Result<ModelInputs> loadModelInputs(const std::string &path, bool needWeights);

/// The tokens of --text or --tokens, whichever is given. A text goes through the model's tokenizer; without one its
/// bytes are the tokens, and a byte tokenizer becomes the model's.
Result<TokenStream> loadTokens(ModelInputs &inputs, const std::string &text, const std::string &tokens);

/// True if the weights are f32 throughout, so that a program can read them where they lie.
bool holdsOnlyF32(const ModelInputs &inputs);

/// All sequences as one batch.
Batch wholeBatch(const std::vector<Sequence> &sequences);

/// "--steps must be between 1 and 9, got 0".
Status checkRange(const char *option, int64_t value, int64_t least, int64_t most);
/// A finite number of at least 0 and, if `below` is given, less than it.
Status checkRate(const char *option, double value, double below = 0);

/// The result of a gradient check for people: a line for each tensor that is not right, then the count.
std::string gradCheckText(const GradCheckReport &report);

} // namespace ck::run

#endif // CK_TOOLS_CK_RUN_TRAININPUTS_H
