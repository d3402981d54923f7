//===- Commands.h - the commands of ck-kernels ------------------*- C++ -*-===//
#ifndef CK_TOOLS_KERNELS_COMMANDS_H
#define CK_TOOLS_KERNELS_COMMANDS_H

#include "Check.h"

namespace ck::check {

struct Arguments {
  std::string command, family, mapDir;
  std::vector<std::string> ids, unchecked;
  bool all = false, json = false;
  Options options;
};

/// Each returns the exit code; an Error is a wrong command line or an unreadable map.
Result<int> runList(const Arguments &arguments);
Result<int> runLint(const Arguments &arguments);
Result<int> runCheck(const Arguments &arguments);
/// The ids are paths of golden files; see GoldenCase.h.
Result<int> runGolden(const Arguments &arguments);

} // namespace ck::check

#endif // CK_TOOLS_KERNELS_COMMANDS_H
