//===- Commands.h - the commands of ck-kernels ------------------*- C++ -*-===//
#ifndef CK_TOOLS_KERNELS_COMMANDS_H
#define CK_TOOLS_KERNELS_COMMANDS_H

#include "Check.h"

namespace ck::check {

struct Arguments {
  std::string command, family, mapDir, sourceDir, buildDir, record, out, op;
  std::vector<std::string> ids, unchecked;
  std::vector<std::string> sizes; ///< NAME=NUMBER, dims and attributes
  bool all = false, json = false, verify = false, failFast = false;
  int jobs = 0, every = 1; ///< of mutants
  Options options;
};

/// The maps of --maps; an Error if there are none.
Result<std::vector<KernelMap>> loadMaps(const Arguments &arguments);
/// --source, or the tree that this program was built from.
std::string sourceDir(const Arguments &arguments);

/// What bench and tune measure: kernels at sizes, in one context of --isa and --threads, by default the machine's.
struct MeasuringJob {
  std::vector<KernelMap> maps;
  std::vector<const KernelMap *> chosen; ///< of maps
  std::vector<std::map<std::string, int64_t>> sizes;
  std::shared_ptr<ck_context> ctx;

  /// With `writes`, the command needs --out as well.
  static Result<MeasuringJob> create(const Arguments &arguments, bool writes = false);
};

/// Each returns the exit code; an Error is a wrong command line or an unreadable file.
Result<int> runList(const Arguments &arguments);
Result<int> runLint(const Arguments &arguments);
Result<int> runCheck(const Arguments &arguments);
/// The ids are paths of golden files; see GoldenCase.h.
Result<int> runGolden(const Arguments &arguments);
Result<int> runLedger(const Arguments &arguments);
Result<int> runBench(const Arguments &arguments);
Result<int> runTune(const Arguments &arguments);
Result<int> runNew(const Arguments &arguments);
Result<int> runMutate(const Arguments &arguments);

} // namespace ck::check

#endif // CK_TOOLS_KERNELS_COMMANDS_H
