//===- TrainCommand.cpp - ck-run train ------------------------------------===//
//
// Checks the command line, puts the parts of ck/Training together and lets them run.
//
//===----------------------------------------------------------------------===//
#include "Options.h"
#include "TrainInputs.h"

#include "ck/Training/ConsoleReport.h"
#include "ck/Training/SessionProgram.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <unistd.h>

namespace cl = llvm::cl;
using llvm::errs;
using namespace ck;
using namespace ck::run;

#define CK_TRAIN cl::sub(trainCommand()), cl::cat(category())

static cl::opt<std::string> configPath("config", cl::desc("config.json of a model to train from nothing"), CK_TRAIN);
static cl::opt<std::string> model("model", cl::desc("folder or GGUF of a model to train further"), CK_TRAIN);
static cl::opt<std::string> text("text", cl::desc("text to learn; its last tenth validates"), CK_TRAIN);
static cl::opt<std::string>
    tokens("tokens", cl::desc("the same as raw ids: u16, or u32 if the vocabulary is above 65536"), CK_TRAIN);
static cl::opt<std::string> batchPath("batch", cl::desc("JSON file with input_ids and targets, used at each step"),
                                      CK_TRAIN);
static cl::opt<std::string> out("out", cl::desc("folder for checkpoint, model and losses"), CK_TRAIN);
static cl::opt<bool> resume("resume", cl::desc("go on from the checkpoint in --out, if there is one"), CK_TRAIN);
static cl::opt<int64_t> steps("steps", cl::desc("steps of the whole run"), CK_TRAIN);
static cl::opt<int64_t> batchSize("batch-size", cl::desc("sequences in one call (default 8; with --batch: all)"),
                                  CK_TRAIN);
static cl::opt<int64_t> seq("seq", cl::desc("tokens of a sequence (default: the model's context, at most 256)"),
                            CK_TRAIN);
static cl::opt<int64_t> accumulate("accumulate", cl::desc("calls whose gradients make one step (default 1)"),
                                   cl::init(1), CK_TRAIN);
static cl::opt<double> lr("lr", cl::desc("greatest learning rate (default 1e-3)"), cl::init(1e-3), CK_TRAIN);
static cl::opt<double> minLr("min-lr", cl::desc("learning rate at the end of cosine (default: a tenth of --lr)"),
                             CK_TRAIN);
static cl::opt<int64_t>
    warmup("warmup",
           cl::desc("steps in which the rate rises (default: with cosine a tenth, at most 100; with constant 0)"),
           CK_TRAIN);
static cl::opt<std::string> schedule("schedule", cl::desc("constant or cosine (default)"), cl::init("cosine"),
                                     CK_TRAIN);
static cl::opt<std::string> optimizer("optimizer", cl::desc("adamw (default) or sgd"), cl::init("adamw"), CK_TRAIN);
static cl::opt<double> beta1("beta1", cl::desc("of adamw (default 0.9)"), cl::init(0.9), CK_TRAIN);
static cl::opt<double> beta2("beta2", cl::desc("of adamw (default 0.95)"), cl::init(0.95), CK_TRAIN);
static cl::opt<double> eps("eps", cl::desc("of adamw (default 1e-8)"), cl::init(1e-8), CK_TRAIN);
static cl::opt<double> momentum("momentum", cl::desc("of sgd (default 0)"), cl::init(0), CK_TRAIN);
static cl::opt<double> weightDecay("weight-decay", cl::desc("on tensors of two or more dimensions (default 0.1)"),
                                   cl::init(0.1), CK_TRAIN);
static cl::opt<std::string> noDecay("no-decay", cl::desc("regular expression: parameters that do not decay"), CK_TRAIN);
static cl::opt<double> clip("clip", cl::desc("largest norm of all gradients (default 1; 0 = any)"), cl::init(1),
                            CK_TRAIN);
static cl::opt<uint64_t> seed("seed", cl::desc("of initial weights and of the order of the text (default 0)"),
                              cl::init(0), CK_TRAIN);
static cl::opt<int64_t> evalEvery("eval-every", cl::desc("steps between measurements of the validation loss"),
                                  CK_TRAIN);
static cl::opt<int64_t> saveEvery("save-every", cl::desc("steps between checkpoints (default: only at the end)"),
                                  CK_TRAIN);
static cl::opt<std::string> recompute("checkpoint", cl::desc("what backward recomputes: none (default) or layer"),
                                      cl::init("none"), CK_TRAIN);
static cl::opt<std::string> report("report", cl::desc("file for the memory plan"), CK_TRAIN);
static cl::opt<bool> gradCheck("grad-check", cl::desc("check the gradients of the first batch before training"),
                               CK_TRAIN);

static std::atomic<bool> interrupted{false};

static void onSignal(int signal) {
  interrupted = true;
  std::signal(signal, SIG_DFL); // a second one ends at once
}

namespace {

/// One `ck-run train` from the command line to the last checkpoint.
class TrainRun {
public:
  Status run();

private:
  Status checkOptions();
  Status loadConfig();
  Status loadData();
  Status openDirectory();
  Result<std::string> parametersWithoutDecay() const;
  Status compile();
  Status fillParameters();
  Status checkGradients();
  RunOptions identity() const;

  EngineOptions engineFlags;
  ModelInputs inputs;
  std::string exempt; ///< a regular expression over CK's names of parameters; empty = none
  std::unique_ptr<DataSource> data;
  std::optional<Validation> validation;
  std::string dataDigest;
  std::optional<RunDirectory> directory;
  std::optional<Checkpoint> checkpoint;
  Schedule rates;
  std::unique_ptr<TrainEngine> engine;
  std::unique_ptr<SessionProgram> program;
};

Status TrainRun::checkOptions() {
  Result<EngineOptions> flags = engineOptions();
  if (!flags)
    return flags.error();
  engineFlags = *flags;
  if (configPath.empty() == model.empty())
    return Error{"train takes either --config (a model from nothing) or --model (a trained one)"};
  if (!text.empty() + !tokens.empty() + !batchPath.empty() != 1)
    return Error{"train takes one of --text, --tokens and --batch"};
  if (out.empty())
    return Error{"train needs --out, the folder for its results"};
  if (!steps.getNumOccurrences())
    return Error{"train needs --steps, the number of steps"};
  bool constant = schedule == "constant", adamw = optimizer == "adamw";
  if (!constant && schedule != "cosine")
    return Error{"--schedule must be constant or cosine, got '" + schedule + "'"};
  if (!adamw && optimizer != "sgd")
    return Error{"--optimizer must be adamw or sgd, got '" + optimizer + "'"};
  if (recompute != "none" && recompute != "layer")
    return Error{"--checkpoint must be none or layer, got '" + recompute + "'"};
  if (!adamw && (beta1.getNumOccurrences() || beta2.getNumOccurrences() || eps.getNumOccurrences()))
    return Error{"--beta1, --beta2 and --eps belong to --optimizer adamw"};
  if (adamw && momentum.getNumOccurrences())
    return Error{"--momentum belongs to --optimizer sgd"};
  if (constant && minLr.getNumOccurrences())
    return Error{"--min-lr belongs to --schedule cosine"};
  if (!batchPath.empty() && (seq.getNumOccurrences() || evalEvery.getNumOccurrences()))
    return Error{std::string(seq.getNumOccurrences() ? "--seq" : "--eval-every") +
                 " has no meaning with --batch, whose sequences are what they are"};
  for (const Status &status :
       {checkRange("steps", steps, 1, INT32_MAX - 1),
        checkRange("batch-size", batchSize, batchSize.getNumOccurrences() ? 1 : 0, 1 << 20),
        checkRange("seq", seq, seq.getNumOccurrences() ? 1 : 0, 1 << 27),
        checkRange("accumulate", accumulate, 1, 1 << 20), checkRange("warmup", warmup, 0, INT32_MAX),
        checkRange("eval-every", evalEvery, evalEvery.getNumOccurrences() ? 1 : 0, INT32_MAX),
        checkRange("save-every", saveEvery, saveEvery.getNumOccurrences() ? 1 : 0, INT32_MAX), checkRate("lr", lr),
        checkRate("min-lr", minLr), checkRate("weight-decay", weightDecay), checkRate("clip", clip),
        checkRate("eps", eps), checkRate("beta1", beta1, 1), checkRate("beta2", beta2, 1),
        checkRate("momentum", momentum, 1)})
    if (!status)
      return status;
  if (minLr > lr)
    return Error{"--min-lr is " + std::to_string(minLr) + ", above --lr, which is " + std::to_string(lr)};
  rates.kind = constant ? Schedule::Constant : Schedule::Cosine;
  rates.peak = lr;
  rates.last = minLr.getNumOccurrences() ? double(minLr) : lr / 10;
  rates.steps = steps;
  // A constant rate may go on for more steps later, so nothing about it depends on their number.
  rates.warmup = warmup.getNumOccurrences() ? int64_t(warmup) : constant ? 0 : std::min<int64_t>(100, steps / 10);
  return Status::success();
}

Status TrainRun::loadConfig() {
  Result<ModelInputs> loaded = loadModelInputs(model.empty() ? configPath : model, !model.empty());
  if (!loaded)
    return loaded.error();
  inputs = *std::move(loaded);
  Result<std::string> names = parametersWithoutDecay();
  if (!names)
    return names.error();
  exempt = *names;
  return Status::success();
}

Status TrainRun::loadData() {
  int64_t context = inputs.config.maxContext;
  if (!batchPath.empty()) {
    Result<std::vector<Sequence>> sequences = readBatchFile(batchPath, inputs.config.vocab);
    if (!sequences)
      return sequences.error();
    int64_t count = static_cast<int64_t>(sequences->size());
    int64_t each = batchSize.getNumOccurrences() ? int64_t(batchSize) : (count + accumulate - 1) / accumulate;
    if ((count + each - 1) / each > accumulate)
      return Error{batchPath + ": has " + std::to_string(count) + " sequences, but --batch-size " +
                   std::to_string(each) + " times --accumulate " + std::to_string(accumulate) + " holds only " +
                   std::to_string(each * accumulate)};
    data = fixedSource(*sequences, each);
    std::vector<int32_t> all;
    for (const Sequence &sequence : *sequences) {
      all.push_back(static_cast<int32_t>(sequence.tokens.size())); // where one ends matters too
      all.insert(all.end(), sequence.tokens.begin(), sequence.tokens.end());
      all.insert(all.end(), sequence.targets.begin(), sequence.targets.end());
    }
    dataDigest = TokenStream::fromIds(all).digest();
    if (data->maxPositions() > context)
      return Error{batchPath + ": a sequence has " + std::to_string(data->maxPositions()) +
                   " tokens, but the model was made for " + std::to_string(context)};
    return Status::success();
  }
  int64_t length = seq.getNumOccurrences() ? int64_t(seq) : std::min<int64_t>(256, context);
  if (length > context)
    return Error{"--seq is " + std::to_string(length) + ", but the model was made for " + std::to_string(context) +
                 " positions"};
  Result<TokenStream> stream = loadTokens(inputs, text, tokens);
  if (!stream)
    return stream.error();
  int64_t size = batchSize.getNumOccurrences() ? int64_t(batchSize) : 8;
  Windows windows{stream->training(), length};
  if (windows.count() == 0)
    return Error{(text.empty() ? tokens : text) + ": has " + std::to_string(stream->size()) +
                 " tokens; training needs at least 2"};
  data = windowSource(*stream, windows, size, accumulate, seed);
  dataDigest = stream->digest();
  validation = Validation{*stream, Windows{stream->validation(), length}, size};
  if (validation->windows.count() == 0) {
    if (evalEvery > 0)
      return Error{"--eval-every: the text has " + std::to_string(stream->size()) +
                   " tokens, too few to set a tenth of them apart for validation"};
    validation.reset();
  }
  return Status::success();
}

/// Whatever changes the numbers of a run, as a user would write it.
RunOptions TrainRun::identity() const {
  auto number = [](double value) { return Json(value).dump(); };
  RunOptions options = {{"the configuration", inputs.digest},
                        {"the data", dataDigest},
                        {"--batch-size", std::to_string(data->maxSequences())},
                        {"--accumulate", std::to_string(accumulate)},
                        {"--seed", std::to_string(seed)},
                        {"--schedule", schedule},
                        {"--lr", number(lr)},
                        {"--warmup", std::to_string(rates.warmup)},
                        {"--optimizer", optimizer},
                        {"--weight-decay", number(weightDecay)},
                        {"--no-decay", noDecay},
                        {"--clip", number(clip)}};
  if (batchPath.empty())
    options.push_back({"--seq", std::to_string(data->maxPositions())});
  if (rates.kind == Schedule::Cosine) {
    options.push_back({"--steps (the length of the cosine)", std::to_string(steps)});
    options.push_back({"--min-lr", number(rates.last)});
  }
  if (optimizer == "adamw") {
    options.push_back({"--beta1", number(beta1)});
    options.push_back({"--beta2", number(beta2)});
    options.push_back({"--eps", number(eps)});
  } else {
    options.push_back({"--momentum", number(momentum)});
  }
  return options;
}

Status TrainRun::openDirectory() {
  Result<RunDirectory> opened = RunDirectory::open(out);
  if (!opened)
    return opened.error();
  directory.emplace(*std::move(opened));
  if (!directory->hasCheckpoint()) {
    if (directory->hasModel())
      return Error{out + ": holds a model that no training run has put there; choose another folder"};
    if (resume)
      errs() << "ck-run: note: " << out << " has no checkpoint yet; starting from the first step\n";
    return Status::success();
  }
  Result<Checkpoint> opening = Checkpoint::open(directory->checkpoint());
  if (!opening)
    return opening.error();
  if (!resume)
    return Error{out + ": holds the checkpoint of step " + std::to_string(opening->state().step) +
                 "; go on with --resume, or choose another folder"};
  if (Status status = opening->checkOptions(identity()); !status)
    return status;
  DataPosition position = opening->state().position;
  if (data->next(position).empty())
    return Error{directory->checkpoint() + ": its position in the data, window " +
                     std::to_string(opening->state().position.index) + " of epoch " +
                     std::to_string(opening->state().position.epoch) + ", is behind the last one",
                 "OUT_OF_RANGE"};
  checkpoint.emplace(*std::move(opening));
  return Status::success();
}

/// --no-decay as the pass wants it: the parameters that it matches under CK's names or under the file's.
Result<std::string> TrainRun::parametersWithoutDecay() const {
  if (noDecay.empty())
    return std::string();
  llvm::Regex pattern(noDecay);
  std::string reason, names;
  if (!pattern.isValid(reason))
    return Error{"--no-decay must be a regular expression, got '" + noDecay + "' (" + reason + ")"};
  for (const WeightSpec &spec : weightTable(inputs.config))
    if (pattern.match(spec.logical) || pattern.match(spec.tensor))
      names += (names.empty() ? "" : "|") + llvm::Regex::escape(spec.logical);
  if (names.empty())
    return Error{"--no-decay '" + noDecay + "' matches no parameter; they have names like '" +
                 weightTable(inputs.config).front().tensor + "'"};
  return "^(" + names + ")$";
}

Status TrainRun::compile() {
  TrainSetup setup;
  setup.config = inputs.config;
  setup.rows = data->maxRows();
  setup.sequences = data->maxSequences();
  setup.positions = data->maxPositions();
  if (validation) {
    int64_t sequences = std::min(validation->batchSize, validation->windows.count());
    setup.rows = std::max(setup.rows, sequences * validation->windows.longest());
    setup.sequences = std::max(setup.sequences, sequences);
    setup.positions = std::max(setup.positions, validation->windows.longest());
  }
  setup.accumulate = accumulate > 1 || gradCheck;
  setup.optimizer = optimizer;
  setup.beta1 = beta1;
  setup.beta2 = beta2;
  setup.eps = eps;
  setup.weightDecay = weightDecay;
  setup.momentum = momentum;
  setup.clip = clip;
  setup.noDecay = exempt;
  setup.checkpoint = recompute;
  setup.report = report;
  setup.engine = engineFlags.kind;
  setup.kernelMaps = engineFlags.kernelMaps;
  setup.threads = engineFlags.threads;
  auto created = TrainEngine::create(setup);
  if (!created)
    return created.error();
  engine = std::move(*created);
  auto bound = SessionProgram::create(engine->session(), weightTable(inputs.config));
  if (!bound)
    return bound.error();
  program = std::move(*bound);
  return Status::success();
}

Status TrainRun::fillParameters() {
  if (checkpoint)
    return Status::success();
  if (inputs.weights)
    return loadParameters(inputs.config, *inputs.weights, program->parameters());
  initializeParameters(inputs.config, seed, program->parameters());
  return Status::success();
}

Status TrainRun::checkGradients() {
  DataPosition position = checkpoint ? checkpoint->state().position : DataPosition();
  Batch batch = data->next(position).front();
  Result<double> loss = program->accumulate(batch, batch.valid ? 1.0f / static_cast<float>(batch.valid) : 0.0f);
  if (!loss)
    return loss.error();
  Result<GradCheckReport> result = ck::checkGradients(*program, batch);
  if (!result)
    return result.error();
  for (const StateBuffer &gradient : program->gradients())
    std::fill_n(gradient.data, gradient.size(), 0.0f);
  errs() << gradCheckText(*result);
  if (result->count(GradCheckRow::Wrong))
    return Error{"gradients are wrong; nothing was trained"};
  return Status::success();
}

Status TrainRun::run() {
  for (Status (TrainRun::*part)() : {&TrainRun::checkOptions, &TrainRun::loadConfig, &TrainRun::loadData,
                                     &TrainRun::openDirectory, &TrainRun::compile, &TrainRun::fillParameters})
    if (Status status = (this->*part)(); !status)
      return status;
  ConsoleReport console(stderr, ::isatty(STDERR_FILENO), wantsJson() ? stdout : nullptr);
  TrainerOptions options;
  options.steps = steps;
  options.schedule = rates;
  options.evalEvery = evalEvery;
  options.saveEvery = saveEvery;
  options.identity = identity();
  options.interrupt = &interrupted;
  Trainer trainer(
      *program, *data, *directory, options, validation,
      [&] { return directory->writeModel(inputs.config, inputs.texts, *program); }, console);
  if (checkpoint) {
    if (Status status = trainer.resume(*checkpoint); !status)
      return status;
    errs() << "ck-run: going on after step " << trainer.state().step << "\n";
  }
  if (gradCheck)
    if (Status status = checkGradients(); !status)
      return status;
  checkpoint.reset(); // unmaps a file as large as the states
  inputs.weights.reset();
  std::signal(SIGINT, onSignal);
  std::signal(SIGTERM, onSignal);
  Status status = trainer.run();
  console.finish();
  if (!status)
    return status;
  if (trainer.interrupted())
    errs() << "ck-run: stopped after step " << trainer.state().step << " of " << steps
           << " and saved; the same command with --resume goes on\n";
  else
    errs() << "ck-run: wrote " << out << ": model, checkpoint of step " << trainer.state().step << ", losses\n";
  return Status::success();
}

} // namespace

int ck::run::runTrain() {
  TrainRun run;
  Status status = run.run();
  return status ? 0 : fail(status.error());
}
