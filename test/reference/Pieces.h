//===- Pieces.h - scalar formulas and index inputs that references share -*- C++ -*-===//
#ifndef CK_TEST_REFERENCE_PIECES_H
#define CK_TEST_REFERENCE_PIECES_H

#include "Reference.h"

#include <limits>

namespace ck::reference {

inline constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

/// f(x) of the closed list of activations; `alpha` is the slope of leaky_relu and the cap of softcap.
bool isActivation(const std::string &kind);
double activate(const std::string &kind, double x, double alpha);
/// f'(x). At the kink of relu, relu2 and leaky_relu it is the slope on the left.
double activationSlope(const std::string &kind, double x, double alpha);
/// cap * tanh(x / cap); x itself when cap is 0.
double softcap(double x, double cap);

/// The harness asked something that the operation does not define.
Error badCall(std::string what);
/// The values break the contract.
Error invalid(std::string what);

/// An error unless every element of `indices` lies in [0, limit).
Status expectIndices(const char *name, const Tensor &indices, int64_t limit);
/// Fills with random indices below `limit`; false if there is an element but no index.
bool fillIndices(Tensor &indices, int64_t limit, Random &random);
/// As fillIndices, no index twice.
bool fillDistinctIndices(Tensor &indices, int64_t limit, Random &random);
/// Puts one element outside [0, limit); false if there is none.
bool spoilIndex(Tensor &indices, int64_t limit, Random &random);

/// Evaluates the reference of `name` on these operands, as a step of a chain; results go to `outputs`, which have their
/// shapes.
Status apply(const char *name, const Params &attrs, const std::map<std::string, Tensor> &inputs,
             std::map<std::string, Tensor> &outputs);

/// Multiplies by the power of two next to `factor`, so that no value is rounded anew: keeps sums of many products near
/// 1, where an error of the sum and an error of what follows it (a cap, an exponential) are of one size.
void scaleByPowerOfTwo(Tensor &tensor, double factor);

/// One joint assignment for each value of the attribute: an axis of Operation::draws.
std::vector<Params> valuesOf(const char *attr, std::initializer_list<Param> values);

/// Gives a gradient operation the attribute `accumulate`, and an optional operand for each result that can be added to.
void addAccumulation(Operation &operation, std::initializer_list<const char *> results);

/// Pairs of (heads, kv_heads): single, plain, grouped, and groups of 7 and 24 that no vector width divides.
std::vector<Params> headCounts();

} // namespace ck::reference

#endif // CK_TEST_REFERENCE_PIECES_H
