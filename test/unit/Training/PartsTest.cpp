//===- PartsTest.cpp - schedule, initial weights, losses, gradient check --===//
#include "TrainingSupport.h"
#include "ck/Training/ConsoleReport.h"
#include "ck/Training/Evaluate.h"
#include "ck/Training/GradCheck.h"
#include "ck/Training/LossHistory.h"
#include "ck/Training/Schedule.h"

using namespace ck;
using namespace ck::test;

namespace {

TEST(Schedule, WarmsUpAndFalls) {
  Schedule schedule{Schedule::Cosine, 1.0, 0.1, 10, 110};
  EXPECT_DOUBLE_EQ(schedule.at(1), 0.1);
  EXPECT_DOUBLE_EQ(schedule.at(10), 1.0);
  EXPECT_DOUBLE_EQ(schedule.at(60), 0.55);
  EXPECT_DOUBLE_EQ(schedule.at(110), 0.1);
  EXPECT_DOUBLE_EQ(schedule.at(500), 0.1);
  for (int64_t step = 11; step < 110; ++step)
    EXPECT_LT(schedule.at(step + 1), schedule.at(step));
  Schedule constant{Schedule::Constant, 0.5, 0, 0, 10};
  EXPECT_EQ(constant.at(1), 0.5);
  EXPECT_EQ(constant.at(10), 0.5);
  Schedule onlyWarmup{Schedule::Cosine, 1.0, 0.1, 10, 10};
  EXPECT_EQ(onlyWarmup.at(10), 1.0);
}

TEST(InitialWeights, NormalOfTheRightWidthWhateverTheOrder) {
  constexpr int64_t count = 100'001;
  std::vector<float> values(count), again(count), other(count);
  fillNormal(3, "layers.0.wq", 0.02, values.data(), count);
  fillNormal(3, "layers.0.wq", 0.02, again.data(), 1000); // a prefix is the same
  EXPECT_TRUE(std::equal(again.begin(), again.begin() + 1000, values.begin()));
  fillNormal(3, "layers.0.wk", 0.02, other.data(), count);
  double sum = 0, squares = 0, fourth = 0, cross = 0, neighbours = 0;
  for (int64_t i = 0; i < count; ++i) {
    double z = values[i] / 0.02;
    sum += z;
    squares += z * z;
    fourth += z * z * z * z;
    cross += z * other[i] / 0.02;
    neighbours += i ? z * values[i - 1] / 0.02 : 0;
  }
  EXPECT_NEAR(sum / count, 0, 0.015);
  EXPECT_NEAR(squares / count, 1, 0.02);
  EXPECT_NEAR(fourth / count, 3, 0.15);
  EXPECT_NEAR(cross / count, 0, 0.015);
  EXPECT_NEAR(neighbours / count, 0, 0.015);
}

/// Buffers for the rows of a weight table, with their memory.
struct Buffers {
  explicit Buffers(const std::vector<WeightSpec> &table) {
    for (const WeightSpec &spec : table) {
      StateBuffer buffer{spec.logical, spec.shape, nullptr};
      storage.push_back(std::make_unique<std::vector<float>>(buffer.size(), -7.0f));
      buffer.data = storage.back()->data();
      list.push_back(buffer);
    }
  }
  const StateBuffer &operator[](const std::string &name) const {
    return *std::find_if(list.begin(), list.end(), [&](const StateBuffer &buffer) { return buffer.name == name; });
  }
  std::vector<std::unique_ptr<std::vector<float>>> storage;
  std::vector<StateBuffer> list;
};

double deviationOf(const StateBuffer &buffer) {
  double squares = 0;
  for (int64_t i = 0; i < buffer.size(); ++i)
    squares += double{buffer.data[i]} * buffer.data[i];
  return std::sqrt(squares / buffer.size());
}

TEST(InitialWeights, EachKindOfTensorInItsWay) {
  ModelConfig config;
  config.hidden = 64, config.layers = 8, config.heads = 4, config.kvHeads = 2, config.headDim = 16;
  config.ffn = 96, config.vocab = 128, config.mlpBias = true;
  Buffers buffers(weightTable(config));
  initializeParameters(config, 5, buffers.list);
  EXPECT_NEAR(deviationOf(buffers["tok_emb"]), 0.02, 0.001);
  EXPECT_NEAR(deviationOf(buffers["layers.3.wq"]), 0.02, 0.001);
  EXPECT_NEAR(deviationOf(buffers["layers.3.wo"]), 0.02 / 4, 0.0003);
  EXPECT_NEAR(deviationOf(buffers["layers.3.w_down"]), 0.02 / 4, 0.0003);
  EXPECT_NEAR(deviationOf(buffers["lm_head"]), 0.02, 0.001);
  for (const char *gain : {"layers.0.attn_norm", "layers.7.ffn_norm", "final_norm"})
    EXPECT_EQ(buffers[gain].data[5], 1) << gain;
  EXPECT_EQ(buffers["layers.2.b_up"].data[0], 0);
}

TEST(InitialWeights, FromAModelsFileInThreeTypes) {
  ModelConfig config;
  config.hidden = 2, config.layers = 0, config.heads = config.kvHeads = 1, config.headDim = 2;
  config.ffn = 1, config.vocab = 3, config.tied = true;
  std::string header = R"({"model.embed_tokens.weight": {"dtype": "BF16", "shape": [3, 2], "data_offsets": [0, 12]},
                          "model.norm.weight": {"dtype": "F16", "shape": [2], "data_offsets": [12, 16]}})";
  std::string data;
  for (uint16_t half : {0x3f80, 0xc000, 0x0000, 0x3f81, 0x7f7f, 0x0001})
    data += bytesOf<uint16_t>(half);
  for (uint16_t half : {0xb800, 0x0001}) // -0.5 and the least subnormal
    data += bytesOf<uint16_t>(half);
  Result<Container> container = parseSafetensors(header, data);
  ASSERT_TRUE(container) << messageOf(container);
  Buffers buffers(weightTable(config));
  ASSERT_TRUE(loadParameters(config, *container, buffers.list));
  EXPECT_EQ(buffers["tok_emb"].data[0], 1);
  EXPECT_EQ(buffers["tok_emb"].data[1], -2);
  EXPECT_EQ(buffers["tok_emb"].data[3], 1.0078125f);
  EXPECT_EQ(buffers["final_norm"].data[0], -0.5f);
  EXPECT_EQ(buffers["final_norm"].data[1], 0x1p-24f);

  header.replace(header.find("F16\", \"shape\": [2]"), 3, "I16");
  Status status = loadParameters(config, *parseSafetensors(header, data), buffers.list);
  EXPECT_EQ(codeOf(status), "BAD_DTYPE");
  EXPECT_CONTAINS(messageOf(status), "'model.norm.weight' is i16");
}

TEST(LossHistory, TableIsExactAndPictureWellFormed) {
  LossHistory history = {{5.1, 0.001, 1.25}, {1.0 / 3, 1e-05, 2, 4.5}};
  EXPECT_EQ(lossTable(history), "step,loss,lr,grad_norm,val_loss\n1,5.1,0.001,1.25,\n"
                                "2,0.3333333333333333,1e-05,2,4.5\n");
  EXPECT_EQ(lossTable({}), "step,loss,lr,grad_norm,val_loss\n");
  LossHistory longRun(5000);
  for (size_t i = 0; i < longRun.size(); ++i) {
    longRun[i] = {5 * std::exp(-double(i) / 900) + (i % 7) * 0.05, 1e-3, 1};
    if (i % 500 == 0)
      longRun[i].validation = longRun[i].loss + 0.3;
  }
  for (const LossHistory &each : {LossHistory(), LossHistory(1), LossHistory(3), history, longRun}) {
    std::string picture = lossPicture(each);
    EXPECT_EQ(picture.substr(0, 5), "<svg ");
    EXPECT_EQ(picture.substr(picture.size() - 7), "</svg>\n");
    EXPECT_EQ(picture.find("nan"), std::string::npos);
    EXPECT_EQ(picture.find("inf"), std::string::npos);
    EXPECT_LT(picture.size(), 60'000u);
  }
  EXPECT_CONTAINS(lossPicture(longRun), "validation, last");
  if (const char *keep = std::getenv("CK_KEEP_PICTURE"))
    std::ofstream(keep) << lossPicture(longRun);
}

TEST(ConsoleReport, OneLineAStep) {
  StepReport report{120, 1000, 2, {2.34567, 1e-3, 0.5}, 512, 500, 0.25};
  EXPECT_EQ(stepJson(report),
            R"({"step": 120, "loss": 2.34567, "lr": 0.001, "grad_norm": 0.5, "val_loss": null, "epoch": 2, )"
            R"("tokens": 500, "tokens_per_s": 2000, "seconds": 0.25})");
  EXPECT_EQ(stepLine(report, 2048, 3.5), "step 120/1000  loss 2.3457  val 3.5000  2048 tokens/s  ETA 3:40");
  EXPECT_EQ(stepLine(report, 0, std::nan("")), "step 120/1000  loss 2.3457");
  EXPECT_CONTAINS(stepLine(report, 10, std::nan("")), "ETA 12:30:56");
  report.valid = 0;
  EXPECT_CONTAINS(stepJson(report), "\"skipped\": true");
}

std::string shown(bool isTerminal, int64_t steps) {
  std::FILE *file = std::tmpfile();
  ConsoleReport console(file, isTerminal, nullptr);
  for (int64_t step = 1; step <= steps; ++step) {
    StepReport report{step, steps, 0, {2.5, 1e-3, 0.5}, 100, 100, 0.1};
    report.row.validation = step == 3 ? 2.75 : std::nan("");
    console.onStep(report);
  }
  console.finish();
  std::string text(std::ftell(file), ' ');
  std::rewind(file);
  EXPECT_EQ(std::fread(text.data(), 1, text.size(), file), text.size());
  std::fclose(file);
  return text;
}

TEST(ConsoleReport, LinesForFilesAndABarForTerminals) {
  std::string lines = shown(false, 40);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 22); // 1, 3 (validation), 2, 4, .. 40
  EXPECT_EQ(lines.find('\r'), std::string::npos);
  EXPECT_CONTAINS(lines, "step 3/40  loss 2.5000  val 2.7500  1000 tokens/s  ETA 0:04\n");
  std::string bar = shown(true, 40);
  EXPECT_EQ(std::count(bar.begin(), bar.end(), '\n'), 1);
  EXPECT_EQ(std::count(bar.begin(), bar.end(), '\r'), 40);
  EXPECT_CONTAINS(bar, "\u2581] step 40/40");
  // No terminal says how wide it is here: each line must fit 80 columns. A block is three bytes of one column.
  for (size_t at = 0, next; at < bar.size(); at = next) {
    next = std::min(bar.find('\r', at + 1), bar.size());
    int64_t continuations =
        std::count_if(bar.begin() + at, bar.begin() + next, [](char c) { return (c & 0xc0) == 0x80; });
    EXPECT_LE(int64_t(next - at) - continuations, 80 + 4); // with the escape sequence
  }
}

TEST(LossBar, FallsWithTheLossAndFillsWithTheRun) {
  LossBar bar;
  EXPECT_EQ(bar.draw(4), "    ");
  for (int64_t step = 1; step <= 60; ++step)
    bar.add(StepReport{step, 80, 0, {8.0 - double(step) / 10, 1e-3, 0.5}, 1, 1, 1});
  EXPECT_EQ(bar.draw(4), "\u2588\u2585\u2581 ");
}

Batch someBatch(int32_t vocab) {
  TokenStream stream = TokenStream::fromIds(someTokens(41, vocab));
  Batch batch;
  Windows windows{{0, 41}, 16};
  for (int64_t w = 0; w < windows.count(); ++w)
    windows.add(w, stream, batch);
  return batch;
}

TEST(GradCheck, PassesRightGradientsAndNamesWrongOnes) {
  BigramProgram program(11);
  Batch batch = someBatch(11);
  std::vector<float> before(program.parameters()[0].data, program.parameters()[0].data + 121);
  for (double error : {1.0, 1.03, -1.0, 0.0}) {
    BigramProgram checked(11);
    checked.biasError = error;
    ASSERT_TRUE(checked.accumulate(batch, 1.0f / batch.valid));
    Result<GradCheckReport> report = checkGradients(checked, batch);
    ASSERT_TRUE(report) << messageOf(report);
    ASSERT_EQ(report->rows.size(), 3u);
    EXPECT_EQ(report->rows[0].outcome, GradCheckRow::Right);
    EXPECT_NEAR(report->rows[0].ratio, 1, 1e-3);
    EXPECT_EQ(report->rows[1].outcome, error == 1 ? GradCheckRow::Right : GradCheckRow::Wrong) << error;
    EXPECT_EQ(report->rows[2].outcome, GradCheckRow::TooSmall); // nothing depends on it
    EXPECT_EQ(report->count(GradCheckRow::Wrong), error == 1 ? 0 : 1);
    // The parameters are back to the last bit.
    EXPECT_TRUE(std::equal(before.begin(), before.end(), checked.parameters()[0].data));
  }
}

TEST(Evaluate, IsTheMeanOverEveryPredictedToken) {
  BigramProgram program(11);
  TokenStream stream = TokenStream::fromIds(someTokens(50, 11));
  Batch whole;
  Windows one{{5, 50}, 100};
  one.add(0, stream, whole);
  double expected = *program.eval(whole, 1.0f) / 44;
  for (int64_t length : {1, 7, 44, 100})
    for (int64_t batchSize : {1, 3}) {
      Result<Evaluation> result = evaluate(program, stream, Windows{{5, 50}, length}, batchSize);
      ASSERT_TRUE(result) << messageOf(result);
      EXPECT_EQ(result->tokens, 44);
      EXPECT_NEAR(result->loss, expected, 1e-6);
    }
  std::atomic<bool> stop{true};
  EXPECT_FALSE(evaluate(program, stream, Windows{{5, 50}, 7}, 1, &stop));
}

} // namespace
