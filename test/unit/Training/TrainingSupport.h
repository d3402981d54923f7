//===- TrainingSupport.h - a small program to train -------------*- C++ -*-===//
//
// A bigram model in plain C++: logits of the next token are a row of a table plus a bias. It has what a compiled
// program has (several tensors, moments, gradients, micro-batches) and costs nothing.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TEST_UNIT_TRAINING_TRAININGSUPPORT_H
#define CK_TEST_UNIT_TRAINING_TRAININGSUPPORT_H

#include "../Formats/FormatsSupport.h"
#include "ck/Training/InitialWeights.h"
#include "ck/Training/TrainProgram.h"

#include <algorithm>
#include <cmath>

namespace ck::test {

class BigramProgram : public TrainProgram {
public:
  explicit BigramProgram(int64_t vocab, uint64_t seed = 1) : vocab(vocab) {
    for (auto *list : {&parameterList, &momentList, &gradientList}) {
      const char *before = list == &gradientList ? "d_" : "", *behind = list == &momentList ? ".m" : "";
      add(*list, std::string(before) + "table" + behind, {vocab, vocab});
      add(*list, std::string(before) + "bias" + behind, {vocab});
      add(*list, std::string(before) + "unused" + behind, {3});
    }
    fillNormal(seed, "table", 0.5, parameterList[0].data, vocab * vocab);
  }

  Result<double> eval(const Batch &batch, float scale) override {
    ++calls;
    return pass(batch, scale, false);
  }
  Result<double> accumulate(const Batch &batch, float scale) override {
    ++calls;
    return pass(batch, scale, true);
  }
  Result<StepOutcome> step(const Batch &batch, float scale, float lr, int32_t number) override {
    ++calls;
    numbers.push_back(number);
    if (number == failAt)
      return Error{"entry 'train_step': clip_factor: gradient norm is nan"};
    StepOutcome outcome;
    outcome.loss = pass(batch, scale, true);
    double squares = 0;
    for (size_t k = 0; k < parameterList.size(); ++k)
      for (int64_t i = 0; i < parameterList[k].size(); ++i) {
        float gradient = gradientList[k].data[i], &moment = momentList[k].data[i];
        squares += double{gradient} * gradient;
        moment = 0.9f * moment + gradient;
        parameterList[k].data[i] -= lr * moment;
        gradientList[k].data[i] = 0;
      }
    outcome.gradNorm = std::sqrt(squares);
    if (number == poisonAt)
      parameterList[1].data[2] = NAN;
    return outcome;
  }

  const std::vector<StateBuffer> &parameters() const override { return parameterList; }
  const std::vector<StateBuffer> &moments() const override { return momentList; }
  const std::vector<StateBuffer> &gradients() const override { return gradientList; }

  int calls = 0;
  std::vector<int32_t> numbers;       ///< of the optimizer steps
  int32_t failAt = -1, poisonAt = -1; ///< step that fails; step after which a parameter is NaN
  double biasError = 1;               ///< factor on the gradient of the bias

private:
  void add(std::vector<StateBuffer> &list, std::string name, std::vector<int64_t> shape) {
    StateBuffer buffer{std::move(name), std::move(shape), nullptr};
    storage.push_back(std::make_unique<std::vector<float>>(buffer.size(), 0.0f));
    buffer.data = storage.back()->data();
    list.push_back(std::move(buffer));
  }

  double pass(const Batch &batch, float scale, bool gradients) {
    const float *table = parameterList[0].data, *bias = parameterList[1].data;
    double loss = 0;
    std::vector<double> exps(vocab);
    for (int64_t row = 0; row < batch.rows(); ++row) {
      if (batch.targets[row] == kIgnoredTarget)
        continue;
      int64_t token = batch.tokens[row], target = batch.targets[row];
      double sum = 0;
      for (int64_t v = 0; v < vocab; ++v)
        sum += exps[v] = std::exp(double{table[token * vocab + v]} + bias[v]);
      loss += std::log(sum / exps[target]);
      for (int64_t v = 0; gradients && v < vocab; ++v) {
        float gradient = float(scale * (exps[v] / sum - (v == target)));
        gradientList[0].data[token * vocab + v] += gradient;
        gradientList[1].data[v] += float(gradient * biasError);
      }
    }
    return scale * loss;
  }

  int64_t vocab;
  std::vector<std::unique_ptr<std::vector<float>>> storage;
  std::vector<StateBuffer> parameterList, momentList, gradientList;
};

/// Tokens 0 .. count-1 of a fixed pseudo-random row.
inline std::vector<int32_t> someTokens(int64_t count, int32_t vocab) {
  std::vector<int32_t> ids;
  uint64_t state = 7;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    ids.push_back(static_cast<int32_t>((state >> 33) % vocab));
  }
  return ids;
}

} // namespace ck::test

#endif // CK_TEST_UNIT_TRAINING_TRAININGSUPPORT_H
