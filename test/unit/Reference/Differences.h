//===- Differences.h - gradients against finite differences -----*- C++ -*-===//
//
// The reference of `X_grad` is compared with differences of the reference of `X`, in double precision. Operands have
// one rule of names: the cotangent of the result y is the operand d_y, the gradient of the operand x is the result d_x,
// and what X saves for its gradient keeps its name. Shapes come from the signatures of the kernel maps.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TEST_UNIT_REFERENCE_DIFFERENCES_H
#define CK_TEST_UNIT_REFERENCE_DIFFERENCES_H

#include "Geometry.h"

namespace ck::test {

/// The operation whose gradient `name` is: `name` without `_grad`, or itself if it computes a gradient beside its
/// results. nullptr if it is no gradient.
const reference::Operation *forwardOf(const reference::Operation &gradient);

/// True if `name` says that the operation is a gradient, or one of its results is that of an operand.
bool isGradient(const reference::Operation &operation);

/// "x" of "x?" and "x*".
std::string bareName(const std::string &entry);

/// One call of a gradient and the call of its forward operation that it belongs to.
struct Pair {
  const reference::Operation &forward, &gradient;
  reference::Call forwardCall, gradientCall;
};

/// Draws numbers for `geometry` of a map of `gradient` and evaluates both. An Error says why the operands of the two do
/// not fit each other; its code is "REJECTED" where the operation has no valid inputs at these extents.
Result<Pair> makePair(const reference::Operation &forward, const reference::Operation &gradient, const KernelMap &map,
                      const check::GeometryDrawer &drawer, const check::Geometry &geometry);

/// Compares the gradient of the forward operand `operand` with differences along random directions and single elements;
/// "" or what is wrong.
std::string compareGradient(const Pair &pair, const std::string &operand, uint64_t seed);

} // namespace ck::test

#endif // CK_TEST_UNIT_REFERENCE_DIFFERENCES_H
