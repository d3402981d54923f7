//===- Reference.h - what each operation means, in double precision -*- C++ -*-===//
//
// One function per operation, written from its formula in plain loops over doubles. It shares no code with the kernels
// and takes no part in a compiled model: it is the judge of both. With the function comes what a checker has to know
// in order to ask good questions: the attributes and their interesting values, valid and invalid integer inputs.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TEST_REFERENCE_H
#define CK_TEST_REFERENCE_H

#include "ck/KernelMaps/Signature.h"

#include <initializer_list>

namespace ck::reference {

/// A row-major tensor of any element type, held as doubles (integers of up to 53 bits are exact). Leading dims that a
/// signature writes as `...T` are flattened to one.
struct Tensor {
  std::vector<int64_t> shape;
  std::vector<double> data;
  std::string dtype;          ///< element type in the kernel's memory; set by the checker
  std::vector<uint8_t> bytes; ///< of a block-quantised type: compact rows of blocks, whose values `data` holds
  /// Of a result whose terms cancel: the largest sum of their magnitudes. No arithmetic has errors that are small
  /// against what is left, so errors are measured against this where it is more than the largest result.
  double terms = 0;

  static Tensor zeros(std::vector<int64_t> shape);
  /// Tells of one result what the magnitudes of its terms add up to.
  void addsUp(double magnitudes);
  int64_t extent(size_t axis) const { return axis < shape.size() ? shape[axis] : 0; }
  int64_t elements() const;
  int64_t integer(int64_t i) const { return static_cast<int64_t>(data[i]); }
};

/// A small deterministic generator (SplitMix64); equal seeds give equal streams everywhere.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t bits();
  /// Uniform in [0, bound); bound >= 1.
  int64_t below(int64_t bound) { return static_cast<int64_t>(bits() % static_cast<uint64_t>(bound)); }
  /// Uniform in [low, high).
  double uniform(double low, double high);

private:
  uint64_t state;
};

/// One application of an operation: attributes, inputs and shaped outputs by the operation's names. An operand that is
/// updated in place is in both maps; its output starts as a copy of the input.
struct Call {
  Params attrs;
  std::map<std::string, Tensor> inputs, outputs;

  const Tensor &in(const std::string &name) const { return inputs.at(name); }
  const Tensor *optional(const std::string &name) const;
  Tensor &out(const std::string &name) { return outputs.at(name); }
  /// nullptr where the caller does not want this result.
  Tensor *wanted(const std::string &name);

  double number(const std::string &attr) const;
  int64_t integer(const std::string &attr) const;
  bool flag(const std::string &attr) const;
  std::string word(const std::string &attr) const;

  /// Success if every present operand of the list has the shape given.
  Status expectShapes(std::initializer_list<std::pair<const char *, std::vector<int64_t>>> expected) const;
};

/// The reference of one operation.
struct Operation {
  std::string name;
  /// Operand names; `name?` may be absent, `name*` stands for name0, name1 and so on.
  std::vector<std::string> inputs, outputs;
  /// Every attribute that the reference understands, with its default.
  Params defaults;
  /// Fills the outputs. An error says that the call breaks the contract: a kernel must refuse it. Where there is an
  /// attribute `accumulate`, gives plain gradients: sums are formed by ck::reference::evaluate.
  Status (*evaluate)(Call &call) = nullptr;

  /// Attribute values worth trying: each axis lists joint assignments, and each geometry takes one of every axis.
  std::vector<std::vector<Params>> draws;
  /// Groups of optional operands that are present together or not at all.
  std::vector<std::vector<std::string>> together;
  /// Adjusts randomly drawn shapes (operand name to shape) where extents are related in a way that no signature says.
  void (*relate)(const Params &attrs, std::map<std::string, std::vector<int64_t>> &shapes) = nullptr;
  /// Magnitudes of the random inputs worth trying.
  std::vector<double> magnitudes = {1};
  /// Replaces inputs by values that have a meaning (indices in range) and plants NaN where nothing may be read. False
  /// if this geometry admits none. Absent for operations on plain numbers.
  bool (*prepare)(Call &call, Random &random) = nullptr;
  /// Makes a valid call break the contract in one place; false if it cannot. Absent where every value is valid.
  bool (*spoil)(Call &call, Random &random) = nullptr;
};

/// The reference of `op` (mnemonic without `ck.`), nullptr if there is none.
const Operation *findOperation(std::string_view op);
/// All of them, by name.
const std::vector<Operation> &operations();

/// True if one of the entries (`name`, `name?`, `name*`) stands for `operand`.
bool namesOperand(const std::vector<std::string> &entries, const std::string &operand);

/// Checks names and presence, completes attributes by their defaults, then evaluates.
Status evaluate(const Operation &operation, Call &call);

// One list per source file; see Reference.cpp.
std::vector<Operation> linearOperations();
std::vector<Operation> normOperations();
std::vector<Operation> pointwiseOperations();
std::vector<Operation> ropeOperations();
std::vector<Operation> attentionOperations();
std::vector<Operation> dataOperations();
std::vector<Operation> lossOperations();
std::vector<Operation> optimizerOperations();
std::vector<Operation> quantOperations();
std::vector<Operation> visionOperations();
std::vector<Operation> textOperations();
std::vector<Operation> fusedOperations();
std::vector<Operation> chainOperations();

} // namespace ck::reference

#endif // CK_TEST_REFERENCE_H
