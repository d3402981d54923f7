//===- SamplerTest.cpp - choice, statistics, determinism ------------------===//

#include "ck/Runtime/Sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

using namespace ck;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

int32_t sampleOnce(const SamplingOptions &options, const std::vector<float> &logits) {
  Result<Sampler> sampler = Sampler::create(options);
  EXPECT_TRUE(sampler);
  Result<int32_t> token = sampler->sample(logits.data(), int64_t(logits.size()));
  EXPECT_TRUE(token) << token.error().message;
  return *token;
}

std::string sampleError(const SamplingOptions &options, const std::vector<float> &logits) {
  Result<Sampler> sampler = Sampler::create(options);
  Result<int32_t> token = sampler->sample(logits.data(), int64_t(logits.size()));
  return token ? "" : token.error().message;
}

/// Frequencies of n draws.
std::vector<double> frequencies(const SamplingOptions &options, const std::vector<float> &logits, int n = 200000) {
  Result<Sampler> sampler = Sampler::create(options);
  std::vector<double> result(logits.size(), 0);
  for (int i = 0; i < n; ++i)
    result[*sampler->sample(logits.data(), int64_t(logits.size()))] += 1;
  for (double &count : result)
    count /= n;
  return result;
}

std::vector<double> softmax(const std::vector<float> &logits, double temperature) {
  std::vector<double> result;
  for (float logit : logits)
    result.push_back(std::exp(logit / temperature));
  double sum = std::accumulate(result.begin(), result.end(), 0.0);
  for (double &p : result)
    p /= sum;
  return result;
}

/// Five standard deviations of a frequency over 200000 draws.
void expectNear(const std::vector<double> &got, const std::vector<double> &wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], wanted[i], 5 * std::sqrt(wanted[i] * (1 - wanted[i]) / 200000)) << "token " << i;
}

TEST(Greedy, TakesTheGreatestAndOfEqualOnesTheFirst) {
  EXPECT_EQ(sampleOnce({}, {1, 3, 2}), 1);
  EXPECT_EQ(sampleOnce({}, {-1, -1, -1}), 0);
  EXPECT_EQ(sampleOnce({}, {0, 5, 5}), 1);
  EXPECT_EQ(sampleOnce({}, {-infinity, -infinity, -5}), 2);
  EXPECT_EQ(sampleOnce({}, {-0.0f, 0.0f}), 0);
  EXPECT_EQ(sampleOnce({}, {7}), 0);
}

TEST(Sampler, RefusesLogitsThatAreNoNumbers) {
  for (double temperature : {0.0, 1.0}) {
    SamplingOptions options{temperature};
    EXPECT_EQ(sampleError(options, {1, NAN, 2}), "logit 1 is NaN");
    EXPECT_EQ(sampleError(options, {NAN}), "logit 0 is NaN");
    EXPECT_EQ(sampleError(options, {1, 2, infinity}), "logit 2 is infinite");
    EXPECT_EQ(sampleError(options, {-infinity, -infinity}), "every logit is -inf");
    EXPECT_EQ(sampleError(options, {}), "no token to choose from: 0 logits");
  }
}

TEST(Sampler, RefusesOptionsOutOfRange) {
  for (double temperature : {-0.1, double(NAN), double(INFINITY)})
    EXPECT_FALSE(Sampler::create({temperature}));
  EXPECT_FALSE(Sampler::create({1, -1}));
  for (double topP : {0.0, -1.0, 1.001, double(NAN)})
    EXPECT_FALSE(Sampler::create({1, 0, topP}));
  EXPECT_EQ(Sampler::create({1, 0, 2}).error().message, "top-p is 2.000000, expected more than 0 and at most 1");
}

TEST(Sampler, FollowsTheSoftmaxAtItsTemperature) {
  std::vector<float> logits = {0, 1, 2, -1, 0.5f};
  for (double temperature : {0.5, 1.0, 3.0})
    expectNear(frequencies({temperature}, logits), softmax(logits, temperature));
  expectNear(frequencies({1}, {-infinity, 0, -infinity}), {0, 1, 0});
}

TEST(Sampler, SurvivesExtremeTemperaturesAndLogits) {
  EXPECT_EQ(sampleOnce({1e-300}, {1, 1.0001f, 0}), 1);
  EXPECT_EQ(sampleOnce({1}, {-3e38f, 3e38f}), 1);
  expectNear(frequencies({1e300}, {5, -5}), {0.5, 0.5});
  expectNear(frequencies({1}, {1e30f, 1e30f, 0}), {0.5, 0.5, 0});
}

TEST(TopK, KeepsTheGreatest) {
  std::vector<float> logits = {0, 1, 2, -1, 0.5f};
  std::vector<double> kept = softmax({1, 2, 0.5f}, 1);
  expectNear(frequencies({1, 3}, logits), {0, kept[0], kept[1], 0, kept[2]});
  expectNear(frequencies({1, 5}, logits), softmax(logits, 1));
  expectNear(frequencies({1, 99}, logits), softmax(logits, 1));
  expectNear(frequencies({1, 1}, logits), {0, 0, 1, 0, 0});
  // Of equal logits the first ones are kept.
  expectNear(frequencies({1, 2}, {3, 3, 3, 3}), {0.5, 0.5, 0, 0});
}

TEST(TopP, KeepsTheFewestThatReachTheSum) {
  // Probabilities 0.5, 0.3, 0.2.
  std::vector<float> logits = {std::log(0.2f), std::log(0.5f), std::log(0.3f)};
  expectNear(frequencies({1, 0, 0.4}, logits), {0, 1, 0});
  expectNear(frequencies({1, 0, 0.6}, logits), {0, 0.625, 0.375});
  expectNear(frequencies({1, 0, 0.9}, logits), {0.2, 0.5, 0.3});
  expectNear(frequencies({1, 0, 1e-9}, logits), {0, 1, 0});
  expectNear(frequencies({1, 0, 0.4}, {1, 1, 1, 1}), {0.5, 0.5, 0, 0});
  // After top-k the sum is over what it kept: 0.625 and 0.375.
  expectNear(frequencies({1, 2, 0.6}, logits), {0, 1, 0});
  // The temperature comes first: at 0.5 the probabilities are 0.66, 0.24, 0.11.
  expectNear(frequencies({0.5, 0, 0.65}, logits), {0, 1, 0});
}

TEST(Sampler, RepeatsItselfForASeed) {
  std::vector<float> logits;
  for (int i = 0; i < 1000; ++i)
    logits.push_back(std::sin(float(i) * 12.9898f) * 3);
  auto draw = [&](uint64_t seed, double topP) {
    Result<Sampler> sampler = Sampler::create({0.8, 200, topP, seed});
    std::vector<int32_t> tokens;
    for (int i = 0; i < 50; ++i)
      tokens.push_back(*sampler->sample(logits.data(), 1000));
    return tokens;
  };
  EXPECT_EQ(draw(1, 0.9), draw(1, 0.9));
  EXPECT_NE(draw(1, 0.9), draw(2, 0.9));
  EXPECT_NE(draw(0, 0.9), draw(1, 0.9));
}

TEST(Sampler, GivesTheSameTokensOnEveryPlatform) {
  // Recorded once, and the same from an independent program: a change here changes everybody's texts.
  std::vector<float> logits;
  for (int i = 0; i < 32; ++i)
    logits.push_back(float(i * 7 % 32) / 8);
  Result<Sampler> sampler = Sampler::create({0.7, 20, 0.95, 42});
  std::vector<int32_t> tokens;
  for (int i = 0; i < 12; ++i)
    tokens.push_back(*sampler->sample(logits.data(), 32));
  EXPECT_EQ(tokens, (std::vector<int32_t>{8, 18, 30, 22, 8, 13, 9, 13, 18, 12, 13, 17}));
}

TEST(Random, IsUniformAndReproducible) {
  Random random(7), again(7);
  double sum = 0, squares = 0;
  for (int i = 0; i < 100000; ++i) {
    double x = random.uniform();
    ASSERT_EQ(x, again.uniform());
    ASSERT_GE(x, 0);
    ASSERT_LT(x, 1);
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / 100000, 0.5, 0.005);
  EXPECT_NEAR(squares / 100000, 1.0 / 3, 0.005);
}

} // namespace
