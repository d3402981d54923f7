//===- Mutants.h - kernels that are wrong on purpose ------------*- C++ -*-===//
//
// A mutant is one change of one kernel source that makes it wrong. test/mutants/<family>.json lists them. A check that
// does not notice a mutant is too weak. The one changed source is compiled anew, and a runtime library is linked of it
// and of the other objects of the build; the checker then runs with that library in place of the real one.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TOOLS_KERNELS_MUTANTS_H
#define CK_TOOLS_KERNELS_MUTANTS_H

#include "ck/Support/Result.h"

#include <map>
#include <string>
#include <vector>

namespace ck::check {

struct Mutant {
  std::string family;        ///< stem of the list that it is in
  std::string file;          ///< what is changed, below lib/Runtime/Kernels
  std::string source;        ///< what is compiled: the file itself, or a source that includes it
  std::string before, after; ///< `before` is in the file exactly once
  std::string what;          ///< what is wrong with it
};

/// Reads a list: an array of objects with the fields file, before, after, what and, where file is a header, source.
/// Errors name `path` and the entry.
Result<std::vector<Mutant>> parseMutants(std::string_view text, const std::string &path);

/// All lists of a folder by name, an Error if there is none; of `family` alone unless it is "".
Result<std::vector<Mutant>> loadMutants(const std::string &folder, const std::string &family);

struct Mutation {
  std::string text; ///< of the whole file
  int line = 0;     ///< where `before` starts
};
/// Applies a mutant to the text of its file; an Error that says how often `before` is there when that is not once.
Result<Mutation> applyMutant(const Mutant &mutant, const std::string &text);

/// How a build compiles and links the runtime, as its compile_commands.json says.
struct RuntimeBuild {
  struct Unit {
    std::string folder, command, output; ///< `output` is absolute
  };
  std::string compiler;
  std::map<std::string, Unit> units; ///< by source file

  /// The command that compiles `source` to `output`, where kernel sources are taken from `kernelDir` in place of
  /// `realKernelDir`.
  std::string compile(const Unit &unit, const std::string &realKernelDir, const std::string &kernelDir,
                      const std::string &output) const;
};
/// `text` is that of compile_commands.json; the units are those of the runtime library alone.
Result<RuntimeBuild> parseRuntimeBuild(std::string_view text, const std::string &path);

/// What a run of `ck-kernels check` says was wrong, in a line: "rmsnorm_forward: output[3] is ...".
/// "" if the output is not that of a check that failed.
std::string firstComplaint(const std::string &output);

} // namespace ck::check

#endif // CK_TOOLS_KERNELS_MUTANTS_H
