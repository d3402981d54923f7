//===- TrainEngine.cpp - a training program, compiled and ready -----------===//
#include "TrainEngine.h"

#include "ck/Transforms/Pipelines.h"

#include "mlir/Pass/PassManager.h"

#include <malloc.h>

using namespace ck;
using namespace ck::run;

static void setOptions(const TrainSetup &setup, TrainingOptions &options) {
  options.optimizer = setup.purpose == TrainSetup::Purpose::Train ? setup.optimizer : "none";
  options.accumulate = setup.accumulate;
  options.beta1 = setup.beta1;
  options.beta2 = setup.beta2;
  options.eps = setup.eps;
  options.weightDecay = setup.weightDecay;
  options.momentum = setup.momentum;
  options.clip = setup.clip;
  options.noDecay = setup.noDecay;
  options.checkpoint = setup.checkpoint;
  options.maps = setup.kernelMaps;
  options.report = setup.report;
}

Status TrainEngine::compile(const TrainSetup &setup) {
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  DiagnosticCollector diagnostics(*context);
  TrainingShape shape;
  shape.rows = setup.rows;
  shape.sequences = setup.sequences;
  shape.positions = setup.positions;
  shape.trainStep = setup.purpose != TrainSetup::Purpose::Loss;
  shape.eval = setup.purpose != TrainSetup::Purpose::Grad;
  auto module = buildTrainingDecoder(*context, setup.config, shape,
                                     setup.purpose == TrainSetup::Purpose::Train ? "" : setup.weightsFile);
  if (!module)
    return module.error();
  mlir::PassManager passes(context.get());
  if (setup.purpose == TrainSetup::Purpose::Loss) {
    InferenceOptions options;
    options.maps = setup.kernelMaps;
    options.report = setup.report;
    buildInferencePipeline(passes, options);
  } else {
    TrainingOptions options;
    setOptions(setup, options);
    buildTrainingPipeline(passes, options);
  }
  if (mlir::failed(passes.run(**module)))
    return diagnostics.error("the training pipeline failed");
  auto execution = CompiledModel::create(**module, ctx, setup.engine, /*model=*/"");
  if (!execution)
    return execution.error();
  compiled = std::move(*execution);
  return Status::success();
}

Status TrainEngine::mapWeights(const TrainSetup &setup) {
  source.emplace("");
  for (int32_t i = 0; i < model()->buffers; ++i) {
    const ck_buffer_info &buffer = model()->buffer[i];
    if (buffer.role != CK_WEIGHT)
      continue;
    if (!buffer.file)
      return Error{"the model has no weights: '" + std::string(buffer.name) + "' names no file"};
    Result<const void *> data = source->resolve(buffer.file, buffer.tensor, buffer.dtype,
                                                std::vector<int64_t>(buffer.dims, buffer.dims + buffer.rank));
    if (!data)
      return data.error();
    weights.push_back(const_cast<void *>(*data));
  }
  return Status::success();
}

Result<std::unique_ptr<TrainEngine>> TrainEngine::create(const TrainSetup &setup) {
  std::unique_ptr<TrainEngine> engine(new TrainEngine);
  engine->ctx = ck_context_create(setup.threads);
  if (!engine->ctx)
    return Error{ck_context_error(nullptr)};
  if (Status status = engine->compile(setup); !status)
    return status.error();
  // What the compiler used is gone, but stays with the allocator; training wants it for itself.
  malloc_trim(0);
  if (Status status = engine->mapWeights(setup); !status)
    return status.error();
  engine->state = ck_session_create(engine->ctx, engine->model(), engine->weights.data());
  if (!engine->state)
    return Error{ck_context_error(engine->ctx)};
  return engine;
}

TrainEngine::~TrainEngine() {
  if (state)
    ck_session_destroy(state);
  compiled.reset();
  if (ctx)
    ck_context_destroy(ctx);
}
