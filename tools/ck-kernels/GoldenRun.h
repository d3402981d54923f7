//===- GoldenRun.h - operations called through their providers --*- C++ -*-===//
//
// Chooses a provider for an operation as the compiler does, legal ones by cost, and calls it on tensors.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TOOLS_KERNELS_GOLDENRUN_H
#define CK_TOOLS_KERNELS_GOLDENRUN_H

#include "GoldenCase.h"
#include "ck/KernelMaps/Match.h"
#include "ck/Runtime/Runtime.h"

namespace ck::golden {

/// An operation with its operands by name.
struct OpCall {
  std::string op;
  Params attrs;
  std::map<std::string, Value> inputs;
  /// Shapes and types of the wanted results; filled by the call. What is updated in place is among the inputs too.
  std::map<std::string, Value> outputs;
  std::string provider; ///< the one to take; "" for the cheapest
};

/// Calls the best legal provider of `call` and gives its id. Errors: no reference (so no defaults of attributes), no
/// legal provider (with the reason of the nearest one), two of equal cost, or what the kernel said.
Result<std::string> callProvider(const std::vector<KernelMap> &maps, ck_context *ctx, OpCall &call);

} // namespace ck::golden

#endif // CK_TOOLS_KERNELS_GOLDENRUN_H
