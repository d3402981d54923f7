//===- GradCommand.cpp - ck-run grad --------------------------------------===//
#include "Options.h"
#include "TrainInputs.h"

#include "ck/Import/Formats/SafetensorsWriter.h"
#include "ck/Training/SessionProgram.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;
using llvm::errs;
using namespace ck;
using namespace ck::run;

#define CK_GRAD cl::sub(gradCommand()), cl::cat(category())

static cl::opt<std::string> batchPath("batch", cl::desc("JSON file with input_ids and targets"), cl::Required, CK_GRAD);
static cl::opt<std::string> out("out", cl::desc("safetensors file for the loss and the gradients"), CK_GRAD);
static cl::opt<bool> gradCheck("grad-check", cl::desc("compare each gradient with differences of the loss"), CK_GRAD);
static cl::opt<std::string> recompute("checkpoint", cl::desc("what backward recomputes: none (default) or layer"),
                                      cl::init("none"), CK_GRAD);
static cl::opt<std::string> report("report", cl::desc("file for the memory plan"), CK_GRAD);

static Status writeGradients(const ModelConfig &config, const std::vector<StateBuffer> &gradients, double loss,
                             int64_t valid) {
  std::vector<TensorToWrite> tensors;
  // "d_layers.0.wq" is the gradient of layers.0.wq; the file has the model's name of it.
  for (const StateBuffer &gradient : gradients)
    tensors.push_back(floatTensor(tensorName(config.source, gradient.name.substr(2)), gradient.shape, gradient.data));
  return writeSafetensors(out, {{"loss", Json(loss).dump()}, {"valid_targets", std::to_string(valid)}}, tensors);
}

/// The parts of the result that a check adds. Returns false if a gradient is wrong.
static bool addCheck(const GradCheckReport &result, Json &json) {
  Json tooSmall = Json::array(), wrong = Json::array();
  for (const GradCheckRow &row : result.rows)
    if (row.outcome != GradCheckRow::Right)
      (row.outcome == GradCheckRow::Wrong ? wrong : tooSmall).push_back(row.name);
  json["checked"] = result.count(GradCheckRow::Right) + result.count(GradCheckRow::Wrong);
  json["right"] = result.count(GradCheckRow::Right);
  json["wrong"] = wrong;
  json["too_small"] = tooSmall;
  errs() << gradCheckText(result);
  return wrong.empty();
}

static Result<TrainSetup> makeSetup(const ModelInputs &inputs, const std::vector<Sequence> &sequences) {
  Result<EngineOptions> flags = engineOptions();
  if (!flags)
    return flags.error();
  if (recompute != "none" && recompute != "layer")
    return Error{"--checkpoint must be none or layer, got '" + recompute + "'"};
  TrainSetup setup;
  setup.config = inputs.config;
  for (const Sequence &sequence : sequences) {
    setup.rows += static_cast<int64_t>(sequence.tokens.size());
    setup.positions = std::max(setup.positions, static_cast<int64_t>(sequence.tokens.size()));
  }
  setup.sequences = static_cast<int64_t>(sequences.size());
  setup.checkpoint = recompute;
  setup.report = report;
  setup.engine = flags->kind;
  setup.kernelMaps = flags->kernelMaps;
  setup.threads = flags->threads;
  setup.weightsFile = inputs.weightsFile;
  setup.purpose = TrainSetup::Purpose::Grad;
  // A check moves the parameters, and other element types must become f32: then they cannot stay in their file.
  if (gradCheck || !holdsOnlyF32(inputs)) {
    setup.purpose = TrainSetup::Purpose::Train;
    setup.accumulate = true;
    setup.optimizer = "sgd";
  }
  if (setup.positions > inputs.config.maxContext)
    return Error{batchPath + ": a sequence has " + std::to_string(setup.positions) +
                 " tokens, but the model was made for " + std::to_string(inputs.config.maxContext)};
  return setup;
}

int ck::run::runGrad() {
  if (out.empty() && !gradCheck)
    return fail({"grad needs --out, a file for the gradients, or --grad-check"});
  Result<ModelInputs> inputs = loadModelInputs(modelPath(), true);
  if (!inputs)
    return fail(inputs.error());
  if (llvm::sys::fs::equivalent(out.getValue(), inputs->weightsFile))
    return fail({"--out is " + out + ", the file with the weights; choose another one"});
  Result<std::vector<Sequence>> sequences = readBatchFile(batchPath, inputs->config.vocab);
  if (!sequences)
    return fail(sequences.error());
  Result<TrainSetup> setup = makeSetup(*inputs, *sequences);
  if (!setup)
    return fail(setup.error());
  auto engine = TrainEngine::create(*setup);
  if (!engine)
    return fail(engine.error());
  auto program = SessionProgram::create((*engine)->session(), weightTable(inputs->config));
  if (!program)
    return fail(program.error());

  Batch batch = wholeBatch(*sequences);
  float scale = batch.valid ? static_cast<float>(1 / static_cast<double>(batch.valid)) : 0;
  if (!batch.valid)
    errs() << "ck-run: warning: " << batchPath << ": every target is ignored (-100); loss and gradients are zero\n";
  double loss = 0;
  if (setup->purpose == TrainSetup::Purpose::Train) {
    if (Status status = loadParameters(inputs->config, *inputs->weights, (*program)->parameters()); !status)
      return fail(status.error());
    Result<double> result = (*program)->accumulate(batch, scale);
    if (!result)
      return fail(result.error());
    loss = *result;
  } else {
    Result<StepOutcome> result = (*program)->step(batch, scale, 0, 1);
    if (!result)
      return fail(result.error());
    loss = result->loss;
  }
  const std::vector<StateBuffer> &gradients = (*program)->gradients();
  if (std::string where = findNonFinite(gradients); !where.empty())
    return fail({"the gradient " + where});
  Json json = {{"loss", loss}, {"valid_targets", batch.valid}, {"tensors", gradients.size()}};
  if (!out.empty()) {
    if (Status status = writeGradients(inputs->config, gradients, loss, batch.valid); !status)
      return fail(status.error());
    json["out"] = out.getValue();
    errs() << "wrote " << out << ": " << gradients.size() << " gradients of the loss " << Json(loss).dump() << "\n";
  }
  bool right = true;
  if (gradCheck) {
    Result<GradCheckReport> result = checkGradients(**program, batch);
    if (!result)
      return fail(result.error());
    right = addCheck(*result, json);
  }
  if (wantsJson())
    printJson(json);
  return right ? 0 : 1;
}
