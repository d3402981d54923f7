//===- TrainerTest.cpp - runs that end well, badly, and are resumed -------===//
#include "ck/Training/Trainer.h"
#include "TrainingSupport.h"

#include <csignal>
#include <sys/resource.h>

using namespace ck;
using namespace ck::test;

namespace {

constexpr int32_t kVocab = 13;

/// Mostly each token follows from the last one.
std::vector<int32_t> learnableTokens(int64_t count) {
  std::vector<int32_t> ids = someTokens(count, kVocab);
  for (int64_t i = 1; i < count; ++i)
    if (ids[i] > 2)
      ids[i] = (ids[i - 1] * 5 + 1) % kVocab;
  return ids;
}

struct Recorder : TrainObserver {
  std::vector<StepReport> steps;
  std::vector<std::string> warnings;
  void onStep(const StepReport &report) override { steps.push_back(report); }
  void onWarning(const std::string &text) override { warnings.push_back(text); }
};

/// A run over some tokens, in one process's life.
struct TestRun {
  explicit TestRun(const std::string &path, int64_t steps) : directory(*RunDirectory::open(path)) {
    options.steps = steps;
    options.schedule = {Schedule::Cosine, 0.5, 0.05, 3, 40};
    options.evalEvery = 4;
    options.saveEvery = 5;
    options.identity = {{"--seed", "9"}, {"--lr", "0.5"}};
    options.interrupt = &interrupt;
  }

  Status go(bool resume = false) {
    Trainer trainer(
        program, *source, directory, options, Validation{tokens, Windows{tokens.validation(), 6}, 2},
        [&] { return ++models, Status::success(); }, recorder);
    if (resume) {
      Result<Checkpoint> checkpoint = Checkpoint::open(directory.checkpoint());
      if (!checkpoint)
        return checkpoint.error();
      if (Status status = trainer.resume(*checkpoint); !status)
        return status;
    }
    Status status = trainer.run();
    interrupted = trainer.interrupted();
    return status;
  }

  RunDirectory directory;
  TrainerOptions options;
  TokenStream tokens = TokenStream::fromIds(learnableTokens(200));
  std::unique_ptr<DataSource> source = windowSource(tokens, Windows{tokens.training(), 6}, 2, 2, 9);
  BigramProgram program{kVocab};
  Recorder recorder;
  std::atomic<bool> interrupt{false};
  bool interrupted = false;
  int models = 0;
};

TEST(Trainer, LearnsSavesAndReports) {
  TemporaryDirectory directory;
  TestRun run(directory / "a/b", 40);
  ASSERT_TRUE(run.go());
  ASSERT_EQ(run.recorder.steps.size(), 40u);
  EXPECT_LT(run.recorder.steps.back().row.loss, run.recorder.steps.front().row.loss - 0.3);
  EXPECT_EQ(run.program.numbers.front(), 1);
  EXPECT_EQ(run.program.numbers.back(), 40);
  EXPECT_EQ(run.models, 8);
  EXPECT_TRUE(std::isnan(run.recorder.steps[2].row.validation));
  EXPECT_FALSE(std::isnan(run.recorder.steps[3].row.validation));
  std::string table = readFile(directory / "a/b/loss.csv");
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 41);
  EXPECT_CONTAINS(readFile(directory / "a/b/loss.svg"), "<svg");
}

TEST(Trainer, AResumedRunEqualsAnUnbrokenOne) {
  TemporaryDirectory directory;
  TestRun whole(directory / "whole", 23);
  ASSERT_TRUE(whole.go());
  std::string checkpoint = readFile(directory / "whole/training.safetensors"),
              table = readFile(directory / "whole/loss.csv");

  { // Stopped by an interrupt that was set before it began: one step, saved.
    TestRun broken(directory / "broken", 23);
    broken.interrupt = true;
    ASSERT_TRUE(broken.go());
    EXPECT_TRUE(broken.interrupted);
    EXPECT_EQ(broken.recorder.steps.size(), 1u);
  }
  { // Stopped by an error at update 8, with a checkpoint of step 5.
    TestRun broken(directory / "broken", 23);
    broken.program.failAt = 8;
    Status status = broken.go(true);
    EXPECT_EQ(messageOf(status),
              "step 8: entry 'train_step': clip_factor: gradient norm is nan; the checkpoint of step "
              "5 in " +
                  (directory / "broken") + " is intact");
  }
  { // A table that went on beyond the checkpoint, as after a kill.
    std::ofstream(directory / "broken/loss.csv", std::ios::app) << "9,1,1,1,\n10,0.3";
    TestRun resumed(directory / "broken", 23);
    ASSERT_TRUE(resumed.go(true));
    EXPECT_FALSE(resumed.interrupted);
    EXPECT_EQ(resumed.recorder.steps.front().step, 6);
  }
  EXPECT_TRUE(readFile(directory / "broken/training.safetensors") == checkpoint);
  EXPECT_EQ(readFile(directory / "broken/loss.csv"), table);

  TestRun again(directory / "broken", 23); // nothing is left to do
  ASSERT_TRUE(again.go(true));
  EXPECT_EQ(again.program.calls, 0);
  EXPECT_EQ(again.models, 1);
  EXPECT_TRUE(readFile(directory / "broken/training.safetensors") == checkpoint);
}

TEST(Trainer, OptionsThatMatterMustStay) {
  TemporaryDirectory directory;
  {
    TestRun first(directory / "run", 2);
    ASSERT_TRUE(first.go());
  }
  TestRun second(directory / "run", 4);
  second.options.identity = {{"--seed", "9"}, {"--lr", "0.1"}, {"--clip", "1"}};
  Status status = second.go(true);
  EXPECT_EQ(codeOf(status), "CONFLICT");
  EXPECT_CONTAINS(messageOf(status), "--lr was 0.5, now 0.1; --clip was absent, now 1");
  EXPECT_EQ(second.program.calls, 0);
}

TEST(Trainer, NeverSavesWhatIsNotFinite) {
  TemporaryDirectory directory;
  TestRun run(directory / "run", 20);
  run.options.evalEvery = 0;
  run.program.poisonAt = 10;
  Status status = run.go();
  EXPECT_CONTAINS(messageOf(status),
                  "training.safetensors: not written at step 10, because 'bias' holds nan at element 2; "
                  "the checkpoint of step 5 is intact");
  Result<Checkpoint> checkpoint = Checkpoint::open(run.directory.checkpoint());
  ASSERT_TRUE(checkpoint) << messageOf(checkpoint);
  EXPECT_EQ(checkpoint->state().step, 5);

  TestRun other(directory / "other", 20);
  other.options.evalEvery = 0;
  other.program.poisonAt = 7;
  status = other.go();
  EXPECT_CONTAINS(messageOf(status), "step 8: the loss");
  EXPECT_CONTAINS(messageOf(status), "holds nan at element 0; the checkpoint of step 5");
}

TEST(Trainer, AStepWithoutTargetsIsSkipped) {
  TemporaryDirectory directory;
  TestRun run(directory / "run", 3);
  run.source = fixedSource({{{1, 2}, {-100, -100}}}, 1);
  std::vector<float> before(run.program.parameters()[0].data, run.program.parameters()[0].data + kVocab * kVocab);
  run.options.evalEvery = 0;
  ASSERT_TRUE(run.go());
  EXPECT_EQ(run.program.calls, 0);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), run.program.parameters()[0].data));
  ASSERT_EQ(run.recorder.warnings.size(), 3u);
  EXPECT_CONTAINS(run.recorder.warnings[0], "step 1: every target is ignored");
  EXPECT_EQ(run.recorder.steps[0].row.loss, 0);
  EXPECT_EQ(Checkpoint::open(run.directory.checkpoint())->state().updates, 0);
}

TEST(Trainer, MicroBatchesAreOneBatch) {
  TemporaryDirectory directory;
  std::vector<Sequence> sequences = {{{1, 2, 3}, {2, 3, 4}}, {{5, 1}, {6, -100}}, {{7}, {-100}}};
  std::vector<double> losses, norms;
  for (int64_t batchSize : {3, 2, 1}) {
    TestRun run(directory / ("run" + std::to_string(batchSize)), 1);
    run.source = fixedSource(sequences, batchSize);
    ASSERT_TRUE(run.go());
    losses.push_back(run.recorder.steps[0].row.loss);
    norms.push_back(run.recorder.steps[0].row.gradNorm);
    EXPECT_EQ(run.recorder.steps[0].valid, 4);
  }
  EXPECT_NEAR(losses[1], losses[0], 1e-6);
  EXPECT_NEAR(losses[2], losses[0], 1e-6);
  EXPECT_NEAR(norms[1], norms[0], 1e-6);
  EXPECT_NEAR(norms[2], norms[0], 1e-6);
}

TEST(Trainer, AFullDiskLeavesTheLastCheckpoint) {
  TemporaryDirectory directory;
  TestRun run(directory / "run", 12);
  std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit before, small;
  ::getrlimit(RLIMIT_FSIZE, &before);
  ASSERT_TRUE(run.go());
  std::string kept = readFile(directory / "run/training.safetensors");
  TestRun more(directory / "run2", 12);
  small = before;
  small.rlim_cur = kept.size() / 2;
  ::setrlimit(RLIMIT_FSIZE, &small);
  Status status = more.go();
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(codeOf(status), "BAD_PATH");
  EXPECT_CONTAINS(messageOf(status), "training.safetensors: cannot be written: File too large");
  EXPECT_FALSE(exists(directory / "run2/training.safetensors"));
  EXPECT_FALSE(exists(directory / "run2/training.safetensors.tmp"));
}

TEST(Checkpoint, RefusesStrangers) {
  TemporaryDirectory directory;
  std::string header = R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})";
  std::string path = directory.write("t.safetensors", safetensorsBytes(header, "abcd"));
  EXPECT_CONTAINS(messageOf(Checkpoint::open(path)), "is no checkpoint of a training run");
  auto with = [&](const std::string &training) {
    std::string text = R"({"__metadata__": {"training": )" + training +
                       R"(}, "history": {"dtype": "F64", "shape": [0, 4], "data_offsets": [0, 0]}})";
    return messageOf(Checkpoint::open(directory.write("t.safetensors", safetensorsBytes(text, ""))));
  };
  EXPECT_EQ(with(R"("{\"version\": 1, \"step\": 0, \"updates\": 0, \"epoch\": 0, \"index\": 0, \"options\": {}}")"),
            "");
  EXPECT_CONTAINS(with(R"("{\"version\": 2}")"), "its version is 2; expected 1");
  EXPECT_CONTAINS(with(R"("{\"version\": 1, \"step\": -1}")"), "step is -1; expected a natural number");
  EXPECT_CONTAINS(
      with(R"("{\"version\": 1, \"step\": 3, \"updates\": 0, \"epoch\": 0, \"index\": 0, \"options\": {}}")"),
      "'history' is not f64 [3, 4]");
  EXPECT_CONTAINS(with(R"("no json")"), "metadata 'training'");
}

TEST(RunDirectory, BelongsToOneRun) {
  TemporaryDirectory directory;
  {
    Result<RunDirectory> first = RunDirectory::open(directory / "x/y/");
    ASSERT_TRUE(first) << messageOf(first);
    EXPECT_EQ(codeOf(RunDirectory::open(directory / "x/y")), "CONFLICT");
    EXPECT_FALSE(first->hasCheckpoint());
  }
  EXPECT_TRUE(RunDirectory::open(directory / "x/y"));
  directory.write("file", "");
  EXPECT_EQ(codeOf(RunDirectory::open(directory / "file")), "BAD_PATH");
  EXPECT_EQ(codeOf(RunDirectory::open(directory / "file/below")), "BAD_PATH");
  EXPECT_EQ(codeOf(RunDirectory::open("")), "BAD_PATH");
}

/// Parameters of a configuration, each element its own number.
struct ModelProgram : BigramProgram {
  explicit ModelProgram(const ModelConfig &config) : BigramProgram(2) {
    float next = 0;
    for (const WeightSpec &spec : weightTable(config)) {
      StateBuffer buffer{spec.logical, spec.shape, nullptr};
      memory.push_back(std::make_unique<std::vector<float>>());
      for (int64_t i = 0; i < buffer.size(); ++i)
        memory.back()->push_back(next++);
      buffer.data = memory.back()->data();
      list.push_back(buffer);
    }
  }
  const std::vector<StateBuffer> &parameters() const override { return list; }
  std::vector<std::unique_ptr<std::vector<float>>> memory;
  std::vector<StateBuffer> list;
};

ModelConfig smallConfig() {
  ModelConfig config;
  config.name = "small";
  config.hidden = 4, config.layers = 1, config.heads = 2, config.kvHeads = 1, config.headDim = 4, config.ffn = 3;
  config.vocab = 5, config.maxContext = 32, config.rmsEps = 1e-5, config.ropeTheta = 10000, config.activation = "silu";
  config.tied = true, config.bos = 1, config.eos = {2, 3};
  return config;
}

TEST(RunDirectory, WritesAModelThatReadersOpen) {
  TemporaryDirectory directory;
  RunDirectory run = *RunDirectory::open(directory / "run");
  ModelConfig config = smallConfig();
  config.ropeScaling = {RopeScaling::Linear, 2};
  Result<std::string> text = hfConfigText(config);
  ASSERT_TRUE(text) << messageOf(text);
  ModelProgram program(config);
  ASSERT_TRUE(run.writeModel(config, {*text, "", ""}, program));
  Result<ModelConfig> read = loadModelConfig(run.path());
  ASSERT_TRUE(read) << messageOf(read);
  EXPECT_EQ(read->headDim, 4);
  EXPECT_EQ(read->eos, config.eos);
  EXPECT_EQ(read->ropeScaling.factor, 2);
  EXPECT_TRUE(read->tied);
  Result<Container> weights = Container::open(directory / "run/model.safetensors");
  ASSERT_TRUE(weights) << messageOf(weights);
  EXPECT_TRUE(checkWeights(*read, *weights));
  EXPECT_FALSE(exists(directory / "run/tokenizer.json"));
  const TensorInfo *wq = weights->find("model.layers.0.self_attn.q_proj.weight");
  ASSERT_TRUE(wq);
  EXPECT_EQ(std::memcmp(wq->data, program.memory[2]->data(), wq->bytes), 0);
}

TEST(RunDirectory, TurnsGgufPairsIntoHalves) {
  TemporaryDirectory directory;
  RunDirectory run = *RunDirectory::open(directory / "run");
  ModelConfig config = smallConfig();
  config.source = ModelConfig::Source::Gguf;
  config.pairing = ModelConfig::RopePairing::Adjacent;
  ModelProgram program(config);
  ASSERT_TRUE(run.writeModel(config, {}, program));
  Result<Container> weights = Container::open(directory / "run/model.safetensors");
  ASSERT_TRUE(weights) << messageOf(weights);
  // Heads of four rows: 0 2 1 3, then 4 6 5 7.
  const float *original = program.memory[2]->data();
  const TensorInfo *wq = weights->find("model.layers.0.self_attn.q_proj.weight");
  ASSERT_TRUE(wq);
  const int64_t order[] = {0, 2, 1, 3, 4, 6, 5, 7};
  for (int64_t row = 0; row < 8; ++row)
    EXPECT_EQ(std::memcmp(wq->data + 16 * row, original + 4 * order[row], 16), 0) << row;
  const TensorInfo *wv = weights->find("model.layers.0.self_attn.v_proj.weight");
  ASSERT_TRUE(wv);
  EXPECT_EQ(std::memcmp(wv->data, program.memory[4]->data(), wv->bytes), 0);
}

TEST(RunDirectory, ConfigTextSaysWhatItCannotSay) {
  ModelConfig config = smallConfig();
  config.qkvBias = true;
  EXPECT_EQ(codeOf(hfConfigText(config)), "UNSUPPORTED");
  config.outBias = true;
  for (const char *activation : {"silu", "gelu_tanh", "gelu_erf", "gelu_quick", "relu", "relu2"}) {
    config.activation = activation;
    Result<ModelConfig> read = modelConfigFromHf(*hfConfigText(config), "config.json");
    ASSERT_TRUE(read) << messageOf(read);
    EXPECT_EQ(read->activation, activation);
    EXPECT_TRUE(read->qkvBias);
  }
}

} // namespace
