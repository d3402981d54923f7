//===- Process.h - running another program ----------------------*- C++ -*-===//
#ifndef CK_TOOLS_KERNELS_PROCESS_H
#define CK_TOOLS_KERNELS_PROCESS_H

#include "ck/Support/Result.h"

#include <string>
#include <vector>

namespace ck::check {

struct Outcome {
  int code = 0; ///< exit code; 128 + the signal that ended it
  bool timedOut = false;
  std::string output; ///< of both streams
};

/// Runs a shell command in `folder` and waits. After `seconds` the command and all that it started are killed. Output
/// goes through the file `log`. An Error when it cannot be started.
Result<Outcome> runShell(const std::string &command, const std::string &folder, const std::string &log, int seconds);

/// `text` as one word of the shell.
std::string shellWord(const std::string &text);

} // namespace ck::check

#endif // CK_TOOLS_KERNELS_PROCESS_H
