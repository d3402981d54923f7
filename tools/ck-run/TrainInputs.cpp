//===- TrainInputs.cpp - what training commands read ----------------------===//
#include "TrainInputs.h"

#include "ck/Import/Formats/ByteTokenizer.h"
#include "ck/Support/Sha256.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace ck;
using namespace ck::run;

static Result<std::string> readText(const std::string &path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.error();
  return std::string(file->text());
}

/// config.json and what stands beside it.
static Status readFolder(const std::string &path, ModelInputs &inputs) {
  llvm::SmallString<128> config(path);
  if (llvm::sys::fs::is_directory(path))
    llvm::sys::path::append(config, "config.json");
  Result<std::string> text = readText(config.str().str());
  if (!text)
    return text.error();
  inputs.texts.config = *text;
  auto beside = [&](const char *name) {
    llvm::SmallString<128> file(llvm::sys::path::parent_path(config));
    llvm::sys::path::append(file, name);
    return llvm::sys::fs::exists(file) ? file.str().str() : std::string();
  };
  if (std::string file = beside("generation_config.json"); !file.empty()) {
    if (!(text = readText(file)))
      return text.error();
    inputs.texts.generationConfig = *text;
  }
  if (std::string file = beside("tokenizer.json"); !file.empty()) {
    if (!(text = readText(file)))
      return text.error();
    inputs.texts.tokenizer = *text;
    Result<Tokenizer> tokenizer = Tokenizer::fromJson(*text, file);
    if (!tokenizer)
      return tokenizer.error();
    inputs.tokenizer = *tokenizer;
  }
  return Status::success();
}

static Status readGguf(const std::string &path, ModelInputs &inputs) {
  Result<std::string> text = hfConfigText(inputs.config);
  if (!text)
    return text.error();
  inputs.texts.config = *text;
  // A kind of tokenizer that CK does not know matters only once a text is to be read.
  Result<Tokenizer> tokenizer = Tokenizer::open(path);
  if (!tokenizer)
    return Status::success();
  inputs.tokenizer = *tokenizer;
  if (Result<std::string> written = tokenizer->toJson())
    inputs.texts.tokenizer = *written;
  else
    llvm::errs() << "ck-run: warning: no tokenizer.json will stand beside the model: " << written.error().message
                 << "\n";
  return Status::success();
}

Result<ModelInputs> ck::run::loadModelInputs(const std::string &path, bool needWeights) {
  ModelInputs inputs;
  Result<ModelConfig> config = loadModelConfig(path);
  if (!config)
    return config.error();
  inputs.config = *config;
  bool isGguf = config->source == ModelConfig::Source::Gguf;
  if (Status status = isGguf ? readGguf(path, inputs) : readFolder(path, inputs); !status)
    return status.error();
  inputs.digest = sha256(inputs.texts.config);
  if (!needWeights)
    return inputs;
  Result<std::optional<std::string>> file = findWeightsFile(path);
  if (!file)
    return file.error();
  if (!*file)
    return Error{path + ": has no model.safetensors beside its configuration", "BAD_PATH"};
  Result<Container> weights = Container::open(**file);
  if (!weights)
    return weights.error();
  std::vector<std::string> unused;
  if (Status status = checkWeights(inputs.config, *weights, &unused); !status)
    return status.error();
  for (const std::string &tensor : unused)
    llvm::errs() << "ck-run: warning: " << path << ": tensor '" << tensor << "' is not used by the model\n";
  inputs.weightsFile = **file;
  inputs.weights = *weights;
  return inputs;
}

Result<TokenStream> ck::run::loadTokens(ModelInputs &inputs, const std::string &text, const std::string &tokens) {
  if (text.empty())
    return TokenStream::fromTokenFile(tokens, inputs.config.vocab);
  if (inputs.tokenizer)
    return TokenStream::fromText(text, *inputs.tokenizer, inputs.config.vocab);
  Result<TokenStream> stream = TokenStream::fromBytes(text, inputs.config.vocab);
  if (stream)
    inputs.texts.tokenizer = byteTokenizerJson();
  return stream;
}

bool ck::run::holdsOnlyF32(const ModelInputs &inputs) {
  for (const WeightSpec &spec : weightTable(inputs.config))
    if (std::string_view(inputs.weights->find(spec.tensor)->dtype->name) != "f32")
      return false;
  return true;
}

Batch ck::run::wholeBatch(const std::vector<Sequence> &sequences) {
  Batch batch;
  for (const Sequence &sequence : sequences)
    batch.add(sequence);
  return batch;
}

Status ck::run::checkRange(const char *option, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most)
    return Status::success();
  return Error{std::string("--") + option + " must be between " + std::to_string(least) + " and " +
               std::to_string(most) + ", got " + std::to_string(value)};
}

Status ck::run::checkRate(const char *option, double value, double below) {
  if (std::isfinite(value) && value >= 0 && (below == 0 || value < below))
    return Status::success();
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "--" << option << " must be a number of at least 0";
  if (below > 0)
    stream << " and below " << llvm::format("%g", below);
  stream << ", got " << llvm::format("%g", value);
  return Error{text};
}

std::string ck::run::gradCheckText(const GradCheckReport &report) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  double worst = 0;
  for (const GradCheckRow &row : report.rows) {
    if (row.outcome == GradCheckRow::Right)
      worst = std::max(worst, std::fabs(row.ratio - 1));
    if (row.outcome == GradCheckRow::Wrong)
      stream << "  " << row.name << ": WRONG: the loss changes " << llvm::format("%.4g", row.ratio)
             << " times as much as the gradient (norm " << llvm::format("%.3g", row.norm) << ") says\n";
    if (row.outcome == GradCheckRow::TooSmall)
      stream << "  " << row.name << ": not checked: a gradient of norm " << llvm::format("%.3g", row.norm)
             << " changes the loss too little to be seen in f32\n";
  }
  stream << "grad-check: " << report.count(GradCheckRow::Right) << " of " << report.rows.size() << " tensors right to "
         << llvm::format("%g", report.bound) << " (worst " << llvm::format("%.2g", worst) << "), "
         << report.count(GradCheckRow::Wrong) << " wrong, " << report.count(GradCheckRow::TooSmall)
         << " too small to check\n";
  return text;
}
