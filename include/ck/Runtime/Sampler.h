//===- Sampler.h - choosing a token from logits -----------------*- C++ -*-===//
//
// Greedy or random choice with temperature, top-k and top-p. Equal logits, options and seed give equal tokens on every
// platform: the generator and the exponential are our own and use only basic IEEE arithmetic in double.
//
//===----------------------------------------------------------------------===//
#ifndef CK_RUNTIME_SAMPLER_H
#define CK_RUNTIME_SAMPLER_H

#include "ck/Runtime/Runtime.h"
#include "ck/Support/Result.h"

#include <utility>
#include <vector>

namespace ck {

/// xoshiro256++, seeded from one integer.
class CK_API Random {
public:
  explicit Random(uint64_t seed);
  uint64_t next();
  /// Uniform in [0, 1), a multiple of 2^-53.
  double uniform() { return double(next() >> 11) * 0x1p-53; }

private:
  uint64_t state[4];
};

struct SamplingOptions {
  double temperature = 0; ///< 0 = the greatest logit
  int64_t topK = 0;       ///< only the k greatest logits; 0 = all
  double topP = 1;        ///< only the fewest tokens whose probabilities sum to at least this; in (0, 1]
  uint64_t seed = 0;
};

/// Applied in this order: temperature, top-k, top-p. Ties go to the lowest index.
class CK_API Sampler {
public:
  /// Error for a temperature that is negative or not finite, a negative topK, or topP outside (0, 1].
  static Result<Sampler> create(const SamplingOptions &options);

  /// An index below `count`. Error if count < 1, a logit is NaN or +inf (named), or all are -inf.
  Result<int32_t> sample(const float *logits, int64_t count);

private:
  explicit Sampler(const SamplingOptions &options) : options(options), random(options.seed) {}
  int32_t draw(const float *logits, int64_t count, float greatest);

  SamplingOptions options;
  Random random;
  struct Candidate {
    float logit;
    int32_t token;
    double weight;
  };
  std::vector<Candidate> candidates; ///< kept between calls to save the allocation
};

} // namespace ck

#endif // CK_RUNTIME_SAMPLER_H
