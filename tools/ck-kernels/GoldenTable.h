//===- GoldenTable.h - golden files and the operations that they test -*- C++ -*-===//
//
// One row for each operation of a golden file: the calls that compute its results. A call is written
//
//   rms_norm eps=$eps gain=weight | input=x gamma=gamma -> output=out rstd=rstd
//
// with the operation and its attributes (`$eps` is a parameter of the case), then operands and results, each by the
// operation's name = the file's. What ends in `?` is left out where the case has none. A result is compared when the
// file expects it, and is an operand of later calls under its name. `view | input=a -> output=b` gives a another shape.
// `@id` behind the operation asks for a provider, `output=name:q8_0` for a type of result.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TOOLS_KERNELS_GOLDENTABLE_H
#define CK_TOOLS_KERNELS_GOLDENTABLE_H

#include "GoldenRun.h"

namespace ck::golden {

/// One result that was compared.
struct Outcome {
  std::string name, provider;
  double error = 0, bound = 0; ///< largest error over the largest magnitude expected (see Case::fromTable)
};

/// A case under way.
class Session {
public:
  Session(const std::vector<KernelMap> &maps, ck_context *ctx, Case &one) : one(one), maps(maps), ctx(ctx) {}

  /// Makes one call of a row. An Error has the code "NOT_RUN" where the case needs what CK does not have.
  Status call(const std::string &text);
  /// Compares a result with what the file expects under that name, if it does.
  Status compare(const std::string &name, const reference::Tensor &got, const std::string &provider);

  Case &one;
  std::vector<Outcome> outcomes;

private:
  Result<Params> readAttributes(const std::string &op, const std::vector<std::string> &texts) const;
  Status addOperands(const std::vector<std::string> &texts, OpCall &call) const;
  Status addResults(const std::vector<std::string> &texts, OpCall &call,
                    std::map<std::string, std::string> &names) const;

  const std::vector<KernelMap> &maps;
  ck_context *ctx;
};

/// "This case is not run because ..."
Error notRun(std::string reason);

struct Row {
  std::string op;
  Maker maker;
  /// The calls that all cases have in common, in order.
  std::vector<std::string> calls;
  /// Before them: derives parameters, values and shapes from those of the file.
  Status (*prepare)(Case &one) = nullptr;
  /// After them: what cases differ in, or what no list of calls says.
  Status (*finish)(Session &session) = nullptr;
};

/// nullptr where CK has nothing to run on such a file.
const Row *findRow(Maker maker, const std::string &op);

/// Runs one case; the result says what was compared.
Result<std::vector<Outcome>> runCase(const std::vector<KernelMap> &maps, ck_context *ctx, const Row &row, Case one);

// The rows by maker.
std::vector<Row> torchRows();
std::vector<Row> ggmlRows();

} // namespace ck::golden

#endif // CK_TOOLS_KERNELS_GOLDENTABLE_H
