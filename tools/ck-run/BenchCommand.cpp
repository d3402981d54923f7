//===- BenchCommand.cpp - ck-run bench ------------------------------------===//
//
// Tokens per second of a model, beside what the machine can do at most: the FMA peak bounds the prompt, the read
// bandwidth bounds generation. All are measured in this one run. A configuration without weights gets random ones.
//
//===----------------------------------------------------------------------===//
#include "Options.h"
#include "RandomWeights.h"

#include "ck/Import/Formats/WeightTable.h"
#include "ck/Runtime/Peak.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <map>

using namespace llvm;
using namespace ck;
using namespace ck::run;

static cl::opt<int64_t> promptTokens("prompt-tokens", cl::desc("length of the prompt (default 512)"), cl::init(512),
                                     cl::sub(benchCommand()), cl::cat(category()));
static cl::opt<int64_t> genTokens("gen-tokens", cl::desc("tokens to generate (default 128)"), cl::init(128),
                                  cl::sub(benchCommand()), cl::cat(category()));
static cl::opt<std::string> dtype("dtype",
                                  cl::desc("type of the random matrices of a configuration without weights: f32, f16, "
                                           "bf16 or a block type (default f32)"),
                                  cl::sub(benchCommand()), cl::cat(category()));
static cl::opt<int64_t> repeat("repeat", cl::desc("runs after one that warms up; medians are reported (default 3)"),
                               cl::init(3), cl::sub(benchCommand()), cl::cat(category()));

static double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// Floating-point operations of a prompt: a multiply and an add for each weight of the layers and each row, the same
/// for each visible key in queries and values, and the head once, for the last row.
static double promptFlops(const ModelConfig &config, double rows) {
  double layers = 0;
  for (const WeightSpec &spec : weightTable(config))
    if (spec.shape.size() == 2 && spec.logical != "tok_emb" && spec.logical != "lm_head")
      layers += double(spec.shape[0]) * double(spec.shape[1]);
  double keys = rows * (rows + 1) / 2, width = double(config.heads) * double(config.headDim);
  return 2 * (rows * layers + 2 * double(config.layers) * keys * width + double(config.vocab) * double(config.hidden));
}

int ck::run::runBench() {
  if (promptTokens < 1 || genTokens < 1 || repeat < 1)
    return fail({"--prompt-tokens, --gen-tokens and --repeat must be at least 1"});
  Result<EngineOptions> options = engineOptions();
  if (!options)
    return fail(options.error());
  if (options->import.context == 0)
    options->import.context = promptTokens + genTokens;
  if (options->import.context < promptTokens + genTokens)
    return fail({"--context " + std::to_string(options->import.context) + " is less than --prompt-tokens " +
                 std::to_string(promptTokens) + " plus --gen-tokens " + std::to_string(genTokens)});
  Result<std::optional<std::string>> weights = findWeightsFile(options->model);
  options->randomWeights = weights && !*weights;
  if (!dtype.empty()) {
    if (!options->randomWeights)
      return fail({"--dtype is for configurations without weights: " + options->model + " says itself what it stores"});
    Result<ModelConfig> config = loadModelConfig(options->model);
    if (!config)
      return fail(config.error());
    auto storage = storageOfAll(*config, dtype);
    if (!storage)
      return fail({"--dtype: " + storage.error().message});
    options->import.storage = *std::move(storage);
  }
  auto engine = Engine::create(*options);
  if (!engine)
    return fail(engine.error());
  Result<Generator> generator = (*engine)->generator(options->import.chunk, std::nullopt);
  if (!generator)
    return fail(generator.error());

  std::vector<int32_t> prompt;
  for (int64_t i = 0; i < promptTokens; ++i)
    prompt.push_back(static_cast<int32_t>((i * 7919 + 1) % generator->vocab()));
  GenerateOptions generate;
  // The first new token comes from the prompt's logits: one more makes genTokens steps of decode.
  generate.maxTokens = genTokens + 1;
  std::vector<double> promptRates, decodeRates, peaks, reads;
  for (int64_t run = 0; run <= repeat; ++run) {
    auto result = generator->generate(prompt, generate);
    if (!result)
      return fail(result.error());
    errs() << format("run %lld: prompt %.1f tokens/s, generation %.1f tokens/s\n", (long long)run,
                     promptTokens / result->promptSeconds, result->decodeSteps / result->decodeSeconds);
    // The first run touches the weights for the first time.
    if (run == 0)
      continue;
    promptRates.push_back(promptTokens / result->promptSeconds);
    decodeRates.push_back(result->decodeSteps / result->decodeSeconds);
    peaks.push_back(ck_measure_fma_peak((*engine)->context(), 0.2));
    reads.push_back(ck_measure_read_bandwidth((*engine)->context(), 0));
  }
  double promptRate = median(promptRates), decodeRate = median(decodeRates), peak = median(peaks), read = median(reads);
  // What one step of generation reads: all but the embedding, of which it reads one row, unless that is the head too.
  int64_t weightBytes = 0;
  std::map<std::string, int64_t> bytesOfType;
  bool tied = (*engine)->config() && (*engine)->config()->tied;
  for (int32_t i = 0; i < (*engine)->model()->buffers; ++i) {
    const ck_buffer_info &buffer = (*engine)->model()->buffer[i];
    if (buffer.role != CK_WEIGHT)
      continue;
    bytesOfType[buffer.dtype] += buffer.bytes;
    if (tied || std::string_view(buffer.name) != "tok_emb")
      weightBytes += buffer.bytes;
  }
  auto most = std::max_element(bytesOfType.begin(), bytesOfType.end(),
                               [](const auto &a, const auto &b) { return a.second < b.second; });
  Json json = {{"prompt_tokens", promptTokens.getValue()},
               {"gen_tokens", genTokens.getValue()},
               {"threads", ck_context_threads((*engine)->context())},
               {"dtype", most == bytesOfType.end() ? "" : most->first},
               {"isa", ck_isa_name(ck_context_isa((*engine)->context()))},
               {"prompt_tokens_per_s", promptRate},
               {"generated_tokens_per_s", decodeRate},
               {"fma_peak_gflops", peak},
               {"read_gb_per_s", read}};
  if ((*engine)->config()) {
    const ModelConfig &config = *(*engine)->config();
    json["prompt_share_of_peak"] = promptRate / promptTokens * promptFlops(config, promptTokens) / (peak * 1e9);
    json["generation_share_of_read"] = decodeRate * double(weightBytes) / (read * 1e9);
  }
  if (wantsJson()) {
    printJson(json);
    return 0;
  }
  for (const auto &[key, value] : json.items())
    outs() << key << ": " << value.dump() << "\n";
  return 0;
}
