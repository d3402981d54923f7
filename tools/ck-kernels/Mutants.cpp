//===- Mutants.cpp - lists of mutants, and how a build makes them ---------===//

#include "Mutants.h"
#include "Maps.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

namespace fs = std::filesystem;

namespace ck::check {

using Json = nlohmann::json;

Result<std::vector<Mutant>> parseMutants(std::string_view text, const std::string &path) {
  std::vector<Mutant> mutants;
  try {
    for (const Json &entry : Json::parse(text)) {
      static const std::set<std::string> fields = {"file", "source", "before", "after", "what"};
      for (const auto &[name, value] : entry.items())
        if (!fields.count(name))
          throw std::runtime_error("unknown field \"" + name + "\"");
      Mutant mutant;
      mutant.family = fs::path(path).stem().string();
      mutant.file = entry.at("file");
      mutant.source = entry.value("source", mutant.file);
      mutant.before = entry.at("before");
      mutant.after = entry.at("after");
      mutant.what = entry.at("what");
      if (fs::path(mutant.source).extension() != ".cpp")
        throw std::runtime_error("a header needs the field \"source\": a .cpp file that includes it");
      if (mutant.before.empty() || mutant.before == mutant.after || mutant.what.empty())
        throw std::runtime_error("before, after and what must say something");
      mutants.push_back(std::move(mutant));
    }
  } catch (const std::exception &error) {
    return Error{path + ": #/" + std::to_string(mutants.size()) + ": " + error.what()};
  }
  if (mutants.empty())
    return Error{path + ": lists no mutant"};
  return mutants;
}

Result<std::vector<Mutant>> loadMutants(const std::string &folder, const std::string &family) {
  std::vector<std::string> paths;
  std::error_code failed;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, failed))
    if (entry.path().extension() == ".json" && (family.empty() || entry.path().stem() == family))
      paths.push_back(entry.path().string());
  if (failed)
    return Error{folder + ": cannot read it: " + failed.message()};
  if (paths.empty())
    return Error{folder + ": holds no list of mutants" + (family.empty() ? "" : " of the family '" + family + "'")};
  std::sort(paths.begin(), paths.end());
  std::vector<Mutant> all;
  for (const std::string &path : paths) {
    Result<std::string> text = readText(path);
    if (!text)
      return text.error();
    Result<std::vector<Mutant>> mutants = parseMutants(*text, path);
    if (!mutants)
      return mutants.error();
    all.insert(all.end(), mutants->begin(), mutants->end());
  }
  return all;
}

Result<Mutation> applyMutant(const Mutant &mutant, const std::string &text) {
  size_t at = text.find(mutant.before), count = 0;
  for (size_t next = at; next != std::string::npos; next = text.find(mutant.before, next + 1))
    ++count;
  if (count != 1)
    return Error{mutant.file + ": holds '" + mutant.before + "' " + std::to_string(count) +
                 " times, expected once; the mutant is: " + mutant.what};
  Mutation mutation;
  mutation.line = 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  mutation.text = text.substr(0, at) + mutant.after + text.substr(at + mutant.before.size());
  return mutation;
}

/// Where ` -o ` of a command leads, as it is written.
static std::string outputOf(const std::string &command) {
  const size_t at = command.find(" -o ");
  if (at == std::string::npos)
    return "";
  return command.substr(at + 4, command.find(' ', at + 4) - at - 4);
}

Result<RuntimeBuild> parseRuntimeBuild(std::string_view text, const std::string &path) {
  RuntimeBuild build;
  try {
    for (const Json &entry : Json::parse(text)) {
      RuntimeBuild::Unit unit{entry.at("directory"), entry.at("command"), ""};
      const std::string output = outputOf(unit.command);
      bool ours = false;
      for (const char *target : {"/CKKernels.dir/", "/CKRuntimeCore.dir/", "/CKRuntime.dir/"})
        ours |= output.find(target) != std::string::npos;
      if (!ours)
        continue;
      unit.output = (fs::path(unit.folder) / output).string();
      // A cache in front of the compiler serves compiling, not linking.
      std::string first = unit.command.substr(0, unit.command.find(' '));
      if (fs::path(first).filename() == "ccache")
        first = unit.command.substr(first.size() + 1, unit.command.find(' ', first.size() + 1) - first.size() - 1);
      build.compiler = first;
      build.units[entry.at("file").get<std::string>()] = std::move(unit);
    }
  } catch (const std::exception &error) {
    return Error{path + ": " + error.what()};
  }
  if (build.units.empty())
    return Error{path + ": compiles no part of the runtime; --build takes the folder of a CMake build of CK"};
  return build;
}

static void replaceAll(std::string &text, const std::string &from, const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

std::string RuntimeBuild::compile(const Unit &unit, const std::string &realKernelDir, const std::string &kernelDir,
                                  const std::string &output) const {
  std::string command = unit.command;
  replaceAll(command, " -o " + outputOf(unit.command) + " ", " -o " + output + " ");
  replaceAll(command, realKernelDir, kernelDir);
  return command + " -w"; // a value that a mutant no longer uses is no reason not to try it
}

std::string firstComplaint(const std::string &output) {
  size_t failed = output.find(": FAILED: ");
  if (failed != std::string::npos) {
    const size_t begin = output.rfind('\n', failed) + 1; // npos + 1 is the start
    const size_t line = output.find("\n  ", failed);
    if (line == std::string::npos)
      return "";
    return output.substr(begin, failed - begin) + ": " +
           output.substr(line + 3, output.find('\n', line + 1) - line - 3);
  }
  static const std::string fault = "ck-kernels: the kernel touched memory outside its operands";
  if (size_t at = output.find(fault); at != std::string::npos)
    return output.substr(at + 12, output.find('\n', at) - at - 12);
  return "";
}

} // namespace ck::check
