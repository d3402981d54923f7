//===- GoldenCase.h - files of operations with known results ----*- C++ -*-===//
//
// A golden file is a safetensors file of one operation: tensors `caseN.<name>`, and metadata that say what N goes up
// to, the parameters of each case, and how near to its results one can expect to come. Two makers are known: results in
// f64 beside the inputs in f32 (their metadata has `format`), and results of a peer in f32 (theirs has `peer`).
//
//===----------------------------------------------------------------------===//
#ifndef CK_TOOLS_KERNELS_GOLDENCASE_H
#define CK_TOOLS_KERNELS_GOLDENCASE_H

#include "Reference.h"

namespace ck::golden {

/// A tensor with the element type that it has in memory. One of a block type has its bytes beside the values.
struct Value {
  reference::Tensor tensor;
  std::string dtype = "f32";
};

/// Who made a file.
enum class Maker { Torch, Ggml };

/// One case. Rows of the table (GoldenTable.h) add to all of it.
struct Case {
  int number = 0;
  std::string note;
  Params params;
  /// Tensors by name. What is stored in f64 is rounded to f32 where it is an input; expected results keep all digits.
  std::map<std::string, Value> values, expected;
  std::map<std::string, double> bounds; ///< of expected results: largest error over their largest magnitude
  double leastScale = 0;                ///< that magnitude, where it is smaller
  std::map<std::string, std::vector<int64_t>> shapes; ///< of results that are not among the expected ones, or differ
  /// Results that come with more rows along this axis than are expected: the last ones count. -1 for none.
  int tailAxis = -1;
  /// The peer's results come out of a table of f16: an element may be off by 2e-3 and a thousandth of itself. Errors
  /// are then shares of that, and the bound is 1.
  bool fromTable = false;
  /// Types in the file of tensors that are not f32, f64, i32 or i64; they are not among the values.
  std::map<std::string, std::string> foreign;
  /// Those of them that are 16-bit floats, or bytes, which may be blocks: see takeStored.
  std::map<std::string, Value> stored;

  /// A parameter; 0 or "" if there is none.
  double real(const std::string &name) const;
  std::string word(const std::string &name) const;
  /// A tensor; one without elements if there is none of that name.
  const reference::Tensor &tensor(const std::string &name) const;
  bool has(const std::string &name) const { return values.count(name) != 0; }
  /// An error unless the tensor is there with that many dims.
  Status expectRank(const std::string &name, size_t rank) const;
  /// Makes an operand of what is stored under `name`: rows of blocks of `type`, or floats of that type. NOT_RUN if
  /// there are no blocks of that type here.
  Status takeStored(const std::string &name, const std::string &type);
};

struct File {
  std::string path, op;
  Maker maker = Maker::Torch;
  std::vector<Case> cases;
};

/// Reads a golden file. Errors: what Container::open says, metadata that are no golden file's, malformed parameters.
Result<File> readFile(const std::string &path);

} // namespace ck::golden

#endif // CK_TOOLS_KERNELS_GOLDENCASE_H
