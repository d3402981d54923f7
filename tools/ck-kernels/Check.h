//===- Check.h - does a kernel do what its map says? ------------*- C++ -*-===//
//
// Tries providers against the references: over many geometries, each instruction set that the machine has, several
// thread counts, finite and non-finite numbers, separate and shared storage, valid and invalid inputs.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TOOLS_KERNELS_CHECK_H
#define CK_TOOLS_KERNELS_CHECK_H

#include "ck/KernelMaps/KernelMap.h"
#include "ck/Runtime/Runtime.h"

#include <functional>
#include <memory>

namespace ck::check {

class Trial;

struct Options {
  std::vector<ck_isa> isas;                ///< empty: all that the machine and the kernel have
  std::vector<int> threads = {1, 2, 3, 8}; ///< results must not depend on it
  uint64_t seed = 1;
  int geometries = 32;   ///< random ones, besides the edge cases
  int onlyGeometry = -1; ///< repeats one of them
};

struct Failure {
  std::string op;
  int geometry = -1;
  std::string where; ///< extents and attributes, variant, instruction set, threads; "" when no call was made
  std::string what;
};

struct Report {
  enum class Result { Passed, Failed, NotChecked };
  Result result = Result::NotChecked;
  std::string id;
  std::vector<std::string> oracles; ///< operations whose references judged it
  std::vector<std::string> isas;
  int geometries = 0;
  int64_t calls = 0;
  double maxError = 0, tolerance = 0;
  std::string reason; ///< of NotChecked
  std::vector<Failure> failures;
};

class Checker {
public:
  /// Makes the contexts. An Error when one of them cannot be made, or the machine lacks an instruction set asked for.
  static Result<Checker> create(const Options &options);

  /// Tries one provider as each operation that it implements, up to the first failure of each. NotChecked when one of
  /// them has no reference.
  Report check(const KernelMap &map, const ck_kernel &kernel);

private:
  Checker() = default;
  void checkAs(const KernelMap &map, const Implements &implements, const ck_kernel &kernel, Report &report);
  /// All variants of one geometry; false after a failure.
  bool checkGeometry(Trial &trial, const std::string &geometryText, const ck_kernel &kernel, Failure &failure,
                     Report &report);
  bool runEverywhere(Trial &trial, const std::string &where, const ck_kernel &kernel, Failure &failure, Report &report);

  Options options;
  std::vector<std::shared_ptr<ck_context>> contexts; ///< one for each thread count
};

/// "rmsnorm_forward: passed, ..." and, after a failure, the command that repeats it.
std::string toString(const Report &report, const Options &options);

/// From now on a memory fault ends the program with a message that names the call under way and exit code 1.
void reportCrashes();

} // namespace ck::check

#endif // CK_TOOLS_KERNELS_CHECK_H
