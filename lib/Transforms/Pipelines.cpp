//===- Pipelines.cpp - passes in the order of the road --------------------===//
#include "ck/Transforms/Pipelines.h"

#include "ck/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void ck::buildInferencePipeline(OpPassManager &manager, const InferenceOptions &options) {
  manager.addPass(createCKVerifyGraph());
  manager.addPass(createCKResolveAliases());
  manager.addPass(createCKQuantizeActivations());
  CKPackWeightsOptions packing;
  packing.pack = options.pack;
  manager.addPass(createCKPackWeights(std::move(packing)));
  manager.addPass(createCKHoistInit());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createCKSchedule());
  CKFuseOptions fusion;
  fusion.maps = options.maps;
  fusion.isa = options.isa;
  manager.addPass(createCKFuse(std::move(fusion)));

  CKSelectProvidersOptions selection;
  selection.policy = options.policy;
  selection.costs = options.costs;
  selection.pins.assign(options.pins.begin(), options.pins.end());
  selection.maps = options.maps;
  selection.isa = options.isa;
  selection.remarks = options.remarks;
  manager.addPass(createCKSelectProviders(std::move(selection)));
  manager.addPass(createCKVerifyCall());

  CKBufferizeOptions bufferization;
  bufferization.maps = options.maps;
  manager.addPass(createCKBufferize(std::move(bufferization)));
  CKPlanMemoryOptions planning;
  planning.packing = options.packing;
  planning.guard = options.guard;
  planning.report = options.report;
  manager.addPass(createCKPlanMemory(std::move(planning)));
  manager.addPass(createCKVerifyPlan());
}

void ck::buildTrainingPipeline(OpPassManager &manager, const TrainingOptions &options) {
  manager.addPass(createCKVerifyGraph());
  manager.addPass(createCKResolveAliases());
  manager.addPass(createCKQuantizeActivations()); // Projections of several storage types have adjoints of their own.
  CKAutodiffOptions autodiff;
  autodiff.entry = options.entry;
  autodiff.save = options.save;
  manager.addPass(createCKAutodiff(std::move(autodiff)));
  CKCheckpointOptions checkpoint;
  checkpoint.policy = options.checkpoint;
  manager.addPass(createCKCheckpoint(std::move(checkpoint)));
  if (options.optimizer != "none") {
    CKBuildTrainStepOptions step;
    step.entry = options.entry;
    step.optimizer = options.optimizer;
    step.accumulate = options.accumulate;
    step.clip = options.clip;
    step.weightDecay = options.weightDecay;
    step.noDecay = options.noDecay;
    step.beta1 = options.beta1;
    step.beta2 = options.beta2;
    step.eps = options.eps;
    step.momentum = options.momentum;
    step.nesterov = options.nesterov;
    manager.addPass(createCKBuildTrainStep(std::move(step)));
  }
  manager.addPass(createCKFoldAccumulate());
  buildInferencePipeline(manager, options);
}

void ck::registerPipelines() {
  PassPipelineRegistration<InferenceOptions>(
      "ck-inference-pipeline", "GRAPH to PLAN: from a model's ops to planned calls of kernels",
      [](OpPassManager &manager, const InferenceOptions &options) { buildInferencePipeline(manager, options); });
  PassPipelineRegistration<TrainingOptions>(
      "ck-training-pipeline", "GRAPH with a loss to PLAN: gradients, optimizer, planned calls of kernels",
      [](OpPassManager &manager, const TrainingOptions &options) { buildTrainingPipeline(manager, options); });
}
