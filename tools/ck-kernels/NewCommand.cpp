//===- NewCommand.cpp - starts a new kernel -------------------------------===//

#include "Commands.h"
#include "Maps.h"
#include "Reference.h"
#include "Scaffold.h"

#include <cstdio>
#include <filesystem>

namespace ck::check {

Result<int> runNew(const Arguments &arguments) {
  if (arguments.ids.size() != 1 || arguments.op.empty() || arguments.family.empty())
    return Error{"new takes one kernel id, --op and --family"};
  Result<std::vector<KernelMap>> maps = loadMaps(arguments);
  if (!maps)
    return maps.error();
  const std::string source = sourceDir(arguments), &id = arguments.ids.front();
  Result<std::vector<SourceFile>> files = scaffold(id, arguments.op, arguments.family, source, *maps);
  if (!files)
    return files.error();
  for (size_t i = 0; i < files->size(); ++i) {
    Status status = writeTextInFolder(source + "/" + (*files)[i].path, (*files)[i].text);
    if (status)
      continue;
    // Half a kernel would not build. New files come before those that change.
    std::error_code failed;
    for (size_t written = 0; written < i; ++written)
      if ((*files)[written].isNew)
        std::filesystem::remove(source + "/" + (*files)[written].path, failed);
    return status.error();
  }
  for (const SourceFile &file : *files)
    std::printf("%s %s\n", file.isNew ? "wrote" : "changed", file.path.c_str());
  std::printf("Write the contract, the kernel%s; then build and run: ck-kernels check %s\n",
              reference::findOperation(arguments.op) ? "" : " and the reference", id.c_str());
  return 0;
}

} // namespace ck::check
