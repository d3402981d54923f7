//===- MutateCommand.cpp - are the checks good enough? --------------------===//
//
// Each mutant is compiled, linked and checked by processes of its own, several at a time. First come few geometries,
// which most mutants do not survive, then all.
//
//===----------------------------------------------------------------------===//
#include "Commands.h"
#include "Evidence.h"
#include "Maps.h"
#include "Mutants.h"
#include "Process.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

namespace fs = std::filesystem;

namespace ck::check {

using Json = nlohmann::ordered_json;

// A build may be slow on a busy machine; a check that is not done by then does not end.
static constexpr int buildSeconds = 600, checkSeconds = 900;
static const char kernelFolder[] = "lib/Runtime/Kernels";

namespace {

struct Verdict {
  enum class Kind { Killed, Survived, Broken };
  Kind kind = Kind::Broken;
  std::string text; ///< the check that killed it, or why it is broken
};

/// What is the same for all mutants.
struct Workshop {
  std::string sourceDir, mapDir, folder, checker;
  RuntimeBuild build;
  std::map<std::string, std::string> kernels; ///< by source: the ids that a change of it can break, as words
  std::map<std::string, RuntimeBuild::Unit> units;

  std::string link(const std::string &library, const std::string &without, const std::string &object) const;
  Verdict check(const std::string &ids, const std::string &place) const;
  Verdict tryOne(const Mutant &mutant, const Mutation &mutation, const std::string &place) const;
};

} // namespace

/// Links the objects of the build, one of them replaced (or none), to a runtime library. The changed object stands
/// first: of functions that several objects hold, the linker takes the first.
std::string Workshop::link(const std::string &library, const std::string &without, const std::string &object) const {
  std::string command = shellWord(build.compiler) + " -shared " CK_SHARED_FLAGS " -o " + shellWord(library);
  if (!object.empty())
    command += " " + shellWord(object);
  for (const auto &[source, unit] : build.units)
    if (unit.output != without)
      command += " " + shellWord(unit.output);
  return command + " -lpthread";
}

Verdict Workshop::check(const std::string &ids, const std::string &place) const {
  for (const char *options : {" --geometries 6 --threads 1,3", ""}) {
    const std::string command = "LD_LIBRARY_PATH=" + shellWord(place) + " " + shellWord(checker) +
                                " check --fail-fast --maps " + shellWord(mapDir) + options + ids;
    Result<Outcome> outcome = runShell(command, place, place + "/check.log", checkSeconds);
    if (!outcome)
      return {Verdict::Kind::Broken, outcome.error().message};
    if (outcome->timedOut)
      return {Verdict::Kind::Killed, "the check did not end within " + std::to_string(checkSeconds) + " s"};
    if (outcome->code == 0)
      continue;
    const std::string complaint = firstComplaint(outcome->output);
    if (!complaint.empty())
      return {Verdict::Kind::Killed, complaint};
    if (outcome->code > 128)
      return {Verdict::Kind::Killed, "the check ended by signal " + std::to_string(outcome->code - 128)};
    return {Verdict::Kind::Broken, "the check could not run: " + outcome->output};
  }
  return {Verdict::Kind::Survived, ""};
}

Verdict Workshop::tryOne(const Mutant &mutant, const Mutation &mutation, const std::string &place) const {
  std::error_code failed;
  fs::remove_all(place, failed);
  fs::create_directories(place, failed);
  const std::string real = sourceDir + "/" + kernelFolder, copy = place + "/Kernels";
  fs::copy(real, copy, fs::copy_options::recursive, failed);
  if (failed)
    return {Verdict::Kind::Broken, copy + ": cannot copy the kernels: " + failed.message()};
  if (Status status = writeText(copy + "/" + mutant.file, mutation.text); !status)
    return {Verdict::Kind::Broken, status.error().message};
  const RuntimeBuild::Unit &unit = build.units.at(real + "/" + mutant.source);
  const std::string object = place + "/mutant.o";
  for (const std::string &command :
       {build.compile(unit, real, copy, object), link(place + "/libCKRuntime.so", unit.output, object)}) {
    Result<Outcome> outcome = runShell(command, unit.folder, place + "/build.log", buildSeconds);
    if (!outcome)
      return {Verdict::Kind::Broken, outcome.error().message};
    if (outcome->code != 0 || outcome->timedOut)
      return {Verdict::Kind::Broken, "it does not build: " + outcome->output};
  }
  Verdict verdict = check(kernels.at(mutant.source), place);
  fs::remove_all(place, failed);
  return verdict;
}

/// The kernels that a change of `source` can break.
static Result<std::string> kernelsOf(const std::string &source, const std::vector<KernelMap> &maps,
                                     SourceDigests &digests) {
  std::string ids;
  for (const KernelMap &map : maps) {
    Result<std::vector<std::string>> files = digests.kernelFiles(map);
    if (!files)
      return files.error();
    if (map.sameAs.empty() && std::count(files->begin(), files->end(), kernelFolder + ("/" + source)))
      ids += " " + map.id();
  }
  if (ids.empty())
    return Error{source + ": is part of no kernel"};
  return ids;
}

/// Applies all mutants to the sources as they are, and finds their kernels and their places in the build.
static Status prepare(const std::vector<Mutant> &mutants, const std::vector<KernelMap> &maps, Workshop &shop,
                      std::vector<Mutation> &mutations) {
  SourceDigests digests(shop.sourceDir, maps);
  const std::string folder = shop.sourceDir + "/" + kernelFolder + "/";
  std::string wrong;
  for (const Mutant &mutant : mutants) {
    Result<std::string> text = readText(folder + mutant.file);
    if (!text)
      return text.error();
    Result<Mutation> mutation = applyMutant(mutant, *text);
    if (!mutation)
      wrong += "\n  " + mutation.error().message;
    mutations.push_back(mutation ? *std::move(mutation) : Mutation());
    if (!shop.build.units.count(folder + mutant.source))
      return Error{mutant.source + ": the build does not compile it"};
    if (shop.kernels.count(mutant.source))
      continue;
    Result<std::string> ids = kernelsOf(mutant.source, maps, digests);
    if (!ids)
      return ids.error();
    shop.kernels[mutant.source] = *ids;
  }
  return wrong.empty() ? Status::success() : Error{"mutants that no longer apply:" + wrong};
}

/// The library as it is must pass the same run.
static Status checkUnchanged(const Workshop &shop) {
  const std::string place = shop.folder + "/unchanged";
  std::error_code failed;
  fs::create_directories(place, failed);
  Result<Outcome> linked =
      runShell(shop.link(place + "/libCKRuntime.so", "", ""), place, place + "/build.log", buildSeconds);
  if (!linked)
    return linked.error();
  if (linked->code != 0)
    return Error{"the runtime cannot be linked of the objects of the build: " + linked->output};
  // A name that is in two lists is checked once.
  std::set<std::string> seen;
  std::string ids;
  for (const auto &[source, list] : shop.kernels)
    for (size_t at = 1; at < list.size();) {
      const size_t end = std::min(list.find(' ', at), list.size());
      if (seen.insert(list.substr(at, end - at)).second)
        ids += " " + list.substr(at, end - at);
      at = end + 1;
    }
  Verdict verdict = shop.check(ids, place);
  fs::remove_all(place, failed);
  if (verdict.kind == Verdict::Kind::Survived)
    return Status::success();
  return Error{"the kernels as they are fail the check already: " + verdict.text};
}

Result<int> runMutate(const Arguments &arguments) {
  if (!arguments.ids.empty())
    return Error{"mutate takes no kernel ids; --family chooses a list of mutants"};
  Result<std::vector<KernelMap>> maps = loadMaps(arguments);
  if (!maps)
    return maps.error();
  Workshop shop;
  shop.sourceDir = sourceDir(arguments);
  shop.mapDir = arguments.mapDir.empty() ? defaultKernelMapDir() : arguments.mapDir;
  const std::string buildDir = arguments.buildDir.empty() ? CK_BINARY_DIR : arguments.buildDir;
  shop.folder = arguments.out.empty() ? buildDir + "/mutants" : fs::absolute(arguments.out).string();
  shop.checker = buildDir + "/bin/ck-kernels";
  Result<std::vector<Mutant>> all = loadMutants(shop.sourceDir + "/test/mutants", arguments.family);
  if (!all)
    return all.error();
  std::vector<Mutant> mutants;
  for (size_t i = 0; i < all->size(); i += static_cast<size_t>(arguments.every))
    mutants.push_back((*all)[i]);
  const std::string commands = buildDir + "/compile_commands.json";
  Result<std::string> text = readText(commands);
  Result<RuntimeBuild> build = text ? parseRuntimeBuild(*text, commands) : Result<RuntimeBuild>(text.error());
  if (!build)
    return build.error();
  shop.build = *std::move(build);
  std::vector<Mutation> mutations;
  if (Status status = prepare(mutants, *maps, shop, mutations); !status)
    return status.error();

  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::vector<Verdict> verdicts(mutants.size());
  auto place = [&](size_t i) {
    return mutants[i].file + ":" + std::to_string(mutations[i].line) + ": " + mutants[i].what;
  };
  Status unchanged;
  auto work = [&](int worker) {
    if (worker == 0)
      unchanged = checkUnchanged(shop);
    for (size_t i; (i = next++) < mutants.size();) {
      verdicts[i] = shop.tryOne(mutants[i], mutations[i], shop.folder + "/" + std::to_string(worker));
      if (arguments.json)
        continue;
      static const char *const words[] = {"killed by ", "SURVIVED", "BROKEN: "};
      std::lock_guard<std::mutex> lock(mutex);
      std::printf("%s\n  %s%s\n", place(i).c_str(), words[static_cast<int>(verdicts[i].kind)],
                  verdicts[i].text.c_str());
      std::fflush(stdout);
    }
  };
  int jobs = arguments.jobs ? arguments.jobs : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> workers;
  for (int worker = 0; worker < std::min<int>(jobs, static_cast<int>(mutants.size())); ++worker)
    workers.emplace_back(work, worker);
  for (std::thread &worker : workers)
    worker.join();
  if (!unchanged)
    return unchanged.error();

  int counts[3] = {};
  Json list = Json::array();
  for (size_t i = 0; i < mutants.size(); ++i) {
    ++counts[static_cast<int>(verdicts[i].kind)];
    static const char *const words[] = {"killed", "survived", "broken"};
    list.push_back({{"family", mutants[i].family},
                    {"file", mutants[i].file},
                    {"line", mutations[i].line},
                    {"what", mutants[i].what},
                    {"verdict", words[static_cast<int>(verdicts[i].kind)]},
                    {"by", verdicts[i].text}});
  }
  if (arguments.json) {
    std::printf("%s\n", list.dump(1, ' ', false, Json::error_handler_t::replace).c_str());
  } else {
    std::printf("%zu mutants: %d killed, %d survived, %d broken; the kernels as they are pass the same checks\n",
                mutants.size(), counts[0], counts[1], counts[2]);
    for (size_t i = 0; i < mutants.size(); ++i)
      if (verdicts[i].kind != Verdict::Kind::Killed)
        std::printf("  %s\n", place(i).c_str());
  }
  return counts[1] + counts[2] ? 1 : 0;
}

} // namespace ck::check
