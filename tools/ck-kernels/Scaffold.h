//===- Scaffold.h - the files of a new kernel -------------------*- C++ -*-===//
#ifndef CK_TOOLS_KERNELS_SCAFFOLD_H
#define CK_TOOLS_KERNELS_SCAFFOLD_H

#include "ck/KernelMaps/KernelMap.h"

namespace ck::check {

struct SourceFile {
  std::string path; ///< below the source tree
  std::string text;
  bool isNew = true; ///< else one that exists and gets another text
};

/// The files with which work on the kernel `id` of the operation `op` starts: its map, its kernel and, for an operation
/// that has none, a reference with its entry in the list. They build, and `ck-kernels check` fails with what is missing
/// until they are filled in. Where another map implements the operation, the contract starts as a copy of it. Nothing
/// is written. An Error for a name that is no name, and for a kernel, a file or a map that is there already.
Result<std::vector<SourceFile>> scaffold(const std::string &id, const std::string &op, const std::string &family,
                                         const std::string &sourceDir, const std::vector<KernelMap> &maps);

} // namespace ck::check

#endif // CK_TOOLS_KERNELS_SCAFFOLD_H
