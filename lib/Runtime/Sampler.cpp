//===- Sampler.cpp - choosing a token from logits -------------------------===//
//
// Probabilities stay unnormalised: weights exp((logit - greatest) / temperature) and one uniform number per token.
//
//===----------------------------------------------------------------------===//
#include "ck/Runtime/Sampler.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace ck {

static uint64_t rotateLeft(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

Random::Random(uint64_t seed) {
  // Spread the seed by a counter and a mixing function, as the generator's authors advise; it is never all zero.
  for (uint64_t &word : state) {
    uint64_t z = seed += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    word = z ^ z >> 31;
  }
}

uint64_t Random::next() {
  uint64_t result = rotateLeft(state[0] + state[3], 23) + state[0];
  uint64_t shifted = state[1] << 17;
  state[2] ^= state[0];
  state[3] ^= state[1];
  state[1] ^= state[2];
  state[0] ^= state[3];
  state[2] ^= shifted;
  state[3] = rotateLeft(state[3], 45);
  return result;
}

/// exp(x) for x <= 0 to about an ulp, by additions and multiplications alone: libm's differs between systems.
static double portableExp(double x) {
  if (!(x > -700))
    return 0;
  constexpr double log2e = 0x1.71547652b82fep+0, ln2High = 0x1.62e42fee00000p-1, ln2Low = 0x1.a39ef35793c76p-33;
  double n = std::nearbyint(x * log2e);
  double r = (x - n * ln2High) - n * ln2Low;
  double sum = 1;
  for (int i = 14; i >= 1; --i)
    sum = 1 + r / i * sum;
  return std::ldexp(sum, int(n));
}

Result<Sampler> Sampler::create(const SamplingOptions &options) {
  if (!(options.temperature >= 0) || std::isinf(options.temperature))
    return Error{"temperature is " + std::to_string(options.temperature) + ", expected a number of at least 0"};
  if (options.topK < 0)
    return Error{"top-k is " + std::to_string(options.topK) + ", expected at least 1, or 0 for all"};
  if (!(options.topP > 0 && options.topP <= 1))
    return Error{"top-p is " + std::to_string(options.topP) + ", expected more than 0 and at most 1"};
  return Sampler(options);
}

Result<int32_t> Sampler::sample(const float *logits, int64_t count) {
  if (count < 1 || count > INT32_MAX)
    return Error{"no token to choose from: " + std::to_string(count) + " logits"};
  int64_t best = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (std::isnan(logits[i]) || logits[i] == INFINITY)
      return Error{"logit " + std::to_string(i) + " is " + (std::isnan(logits[i]) ? "NaN" : "infinite")};
    if (logits[i] > logits[best])
      best = i;
  }
  if (std::isinf(logits[best]))
    return Error{"every logit is -inf"};
  return options.temperature == 0 ? int32_t(best) : draw(logits, count, logits[best]);
}

int32_t Sampler::draw(const float *logits, int64_t count, float greatest) {
  auto byLogit = [](const Candidate &a, const Candidate &b) {
    return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
  };
  candidates.clear();
  for (int64_t i = 0; i < count; ++i)
    candidates.push_back({logits[i], int32_t(i), 0});
  if (options.topK > 0 && options.topK < count) {
    std::nth_element(candidates.begin(), candidates.begin() + options.topK, candidates.end(), byLogit);
    candidates.resize(options.topK);
    // The order after nth_element is the library's; the sums below must not depend on it.
    std::sort(candidates.begin(), candidates.end(), byLogit);
  }
  double total = 0;
  for (Candidate &candidate : candidates)
    total += candidate.weight = portableExp((double(candidate.logit) - double(greatest)) / options.temperature);

  if (options.topP < 1) {
    // A heap gives the greatest first and leaves the long tail unsorted; what it gave stands at the back.
    auto heapOrder = [&](const Candidate &a, const Candidate &b) { return byLogit(b, a); };
    std::make_heap(candidates.begin(), candidates.end(), heapOrder);
    auto rest = candidates.end();
    double kept = 0;
    while (rest != candidates.begin() && kept < options.topP * total) {
      std::pop_heap(candidates.begin(), rest, heapOrder);
      kept += (--rest)->weight;
    }
    candidates.erase(candidates.begin(), rest);
    std::reverse(candidates.begin(), candidates.end());
    total = kept;
  }

  double target = random.uniform() * total;
  int32_t token = candidates.front().token;
  for (const Candidate &candidate : candidates) {
    // Rounding may leave the target at the very end: then the last token with any weight is it.
    if (candidate.weight > 0)
      token = candidate.token;
    if (target < candidate.weight)
      break;
    target -= candidate.weight;
  }
  return token;
}

} // namespace ck
