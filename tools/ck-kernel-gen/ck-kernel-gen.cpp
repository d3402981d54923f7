//===- ck-kernel-gen.cpp - C sources from kernel maps ---------------------===//
//
// Part of the build: writes the header that kernels are compiled against and the source of the kernel table. Files
// whose text does not change keep their time, so that nothing is rebuilt for a new note in a map.
//
//===----------------------------------------------------------------------===//
#include "ck/KernelMaps/KernelGen.h"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace ck;
namespace fs = std::filesystem;

static const char usage[] =
    "usage: ck-kernel-gen --maps DIR --header FILE --registry FILE [--sources DIR]\n"
    "Writes the args structs and prototypes (FILE.h.inc) and the table (FILE.cpp) of every\n"
    "kernel map below DIR; with --sources also one header for each kernel source, DIR/SOURCE.inc.\n";

static int fail(const std::string &message) {
  std::fprintf(stderr, "ck-kernel-gen: error: %s\n", message.c_str());
  return 1;
}

/// Replaces the file in one step, unless it holds `text` already.
static Status writeIfChanged(const fs::path &path, const std::string &text) {
  {
    std::ifstream old(path, std::ios::binary);
    if (old && std::string(std::istreambuf_iterator<char>(old), {}) == text)
      return Status::success();
  }
  std::error_code code;
  if (path.has_parent_path())
    fs::create_directories(path.parent_path(), code);
  fs::path temporary = path;
  temporary += ".tmp";
  std::ofstream file(temporary, std::ios::binary);
  file << text;
  file.close();
  if (!file)
    return Error{path.string() + ": cannot be written"};
  fs::rename(temporary, path, code);
  if (code)
    return Error{path.string() + ": " + code.message()};
  return Status::success();
}

int main(int argc, char **argv) {
  std::string maps, header, registry, sources;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--help"))
      return std::fputs(usage, stdout), 0;
    std::string *value = !std::strcmp(argv[i], "--maps")       ? &maps
                         : !std::strcmp(argv[i], "--header")   ? &header
                         : !std::strcmp(argv[i], "--registry") ? &registry
                         : !std::strcmp(argv[i], "--sources")  ? &sources
                                                               : nullptr;
    if (!value)
      return fail("unknown option '" + std::string(argv[i]) + "'\n" + usage);
    if (++i == argc)
      return fail("option " + std::string(argv[i - 1]) + " needs a value");
    *value = argv[i];
  }
  if (maps.empty() || header.empty() || registry.empty())
    return fail("--maps, --header and --registry are needed\n" + std::string(usage));

  Result<std::vector<KernelMap>> loaded = loadKernelMaps(maps);
  if (!loaded)
    return fail(loaded.error().message);
  Result<std::string> headerText = generateKernelHeader(*loaded);
  if (!headerText)
    return fail(headerText.error().message);
  Result<std::string> registryText = generateKernelRegistry(*loaded);
  if (!registryText)
    return fail(registryText.error().message);
  if (Status s = writeIfChanged(header, *headerText); !s)
    return fail(s.error().message);
  if (Status s = writeIfChanged(registry, *registryText); !s)
    return fail(s.error().message);
  for (const std::string &source : sources.empty() ? std::vector<std::string>() : kernelSources(*loaded)) {
    Result<std::string> text = generateSourceHeader(*loaded, source);
    if (!text)
      return fail(text.error().message);
    if (Status s = writeIfChanged(fs::path(sources) / (source + ".inc"), *text); !s)
      return fail(s.error().message);
  }
  return 0;
}
