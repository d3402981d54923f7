//===- InitialWeights.h - parameters before the first step ------*- C++ -*-===//
//
// Fresh parameters are a function of (seed, name, element) alone: the same on one thread or many, whatever the order in
// which tensors are filled, and for each tensor whatever the rest of the model looks like.
//
//   key   = mix(seed) xor fnv1a64(name)
//   u(i)  = ((mix(key + (i + 1) * 0x9e3779b97f4a7c15) >> 11) + 0.5) * 2^-53          in (0, 1)
//   element 2j, 2j+1 = deviation * sqrt(-2 ln u(2j)) * (cos, sin)(2 pi u(2j+1))      in double, rounded once
//
// where mix is the finalizer of SplitMix64.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TRAINING_INITIALWEIGHTS_H
#define CK_TRAINING_INITIALWEIGHTS_H

#include "ck/Import/Formats/WeightTable.h"
#include "ck/Training/TrainProgram.h"

namespace ck {

/// Normal(0, deviation) values of tensor `name`, by the formula above.
void fillNormal(uint64_t seed, const std::string &name, double deviation, float *data, int64_t count);

/// Fills parameters for training from nothing: normal(0, 0.02) for matrices and embeddings, divided by sqrt(2 * layers)
/// for the projections that write to the residual stream (wo, w_down); ones for the gains of norms; zeros for biases.
void initializeParameters(const ModelConfig &config, uint64_t seed, const std::vector<StateBuffer> &parameters);

/// Fills parameters from the file of a model, whose elements may be f32, f16 or bf16. Errors: those of checkWeights;
/// BAD_DTYPE (another type: names tensor and type).
Status loadParameters(const ModelConfig &config, const Container &weights, const std::vector<StateBuffer> &parameters);

} // namespace ck

#endif // CK_TRAINING_INITIALWEIGHTS_H
