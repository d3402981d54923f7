//===- Contracts.h - results to the last bit --------------------*- C++ -*-===//
//
// Some kernels promise more than closeness: their map names a contract in `numerics.bits`, and every implementation
// must give exactly what the function of that name gives. Each is written from the description of the contract, in the
// declared types, rounding points and order of sums, without a kernel's code.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TEST_REFERENCE_CONTRACTS_H
#define CK_TEST_REFERENCE_CONTRACTS_H

#include "Reference.h"

namespace ck::reference {

struct Contract {
  std::string name;
  /// As Operation::evaluate, on a call of an operation that the map implements: operands by the operation's names,
  /// values exactly as the kernel sees them. Outputs are what memory must hold: f32 values as doubles; a
  /// block-quantised output also in Tensor::bytes. The operation's own reference has run before and accepted the call,
  /// so that arguments are valid; its results are in the outputs.
  void (*evaluate)(Call &call) = nullptr;
};

/// nullptr if there is none of that name.
const Contract *findContract(std::string_view name);
/// All of them, by name.
const std::vector<Contract> &contracts();

/// Round to nearest, ties to even: the values of a narrower type, held as f32. A NaN stays one.
float roundBF16(float value);
float roundF16(float value);

// One list per source file; see Contracts.cpp.
std::vector<Contract> linearContracts();
std::vector<Contract> normContracts();
std::vector<Contract> pointwiseContracts();
std::vector<Contract> ropeContracts();
std::vector<Contract> quantContracts();
std::vector<Contract> visionContracts();

} // namespace ck::reference

#endif // CK_TEST_REFERENCE_CONTRACTS_H
