//===- Commands.cpp - list, lint and check --------------------------------===//

#include "Commands.h"
#include "Evidence.h"
#include "Lint.h"
#include "Maps.h"
#include "Reference.h"

#include <algorithm>
#include <cstdio>
#include <dlfcn.h>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace ck::check {

using Json = nlohmann::ordered_json;

Result<std::vector<KernelMap>> loadMaps(const Arguments &arguments) {
  std::string folder = arguments.mapDir.empty() ? defaultKernelMapDir() : arguments.mapDir;
  Result<std::vector<KernelMap>> maps = loadKernelMaps(folder);
  if (maps && maps->empty())
    return Error{folder + ": holds no kernel map"};
  return maps;
}

std::string sourceDir(const Arguments &arguments) {
  return arguments.sourceDir.empty() ? CK_SOURCE_DIR : arguments.sourceDir;
}

static void print(const Json &json) {
  std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

/// `with kind = "silu"` for the attributes of an entry.
static std::string attrText(const Params &attrs) {
  std::string text;
  for (const auto &[name, value] : attrs)
    text += (text.empty() ? "" : ", ") + name + "=" + ck::toString(value);
  return text.empty() ? "" : "{" + text + "}";
}

Result<int> runList(const Arguments &arguments) {
  if (!arguments.ids.empty())
    return Error{"list takes no kernel ids"};
  Result<std::vector<KernelMap>> maps = loadMaps(arguments);
  if (!maps)
    return maps.error();
  Result<std::vector<const KernelMap *>> chosen = chooseMaps({arguments.family.empty(), arguments.family, {}}, *maps);
  if (!chosen)
    return chosen.error();
  Json list = Json::array();
  for (const KernelMap *map : *chosen) {
    std::string ops, isas;
    Json implements = Json::array(), sets = Json::array();
    bool judged = !map->implements.empty();
    for (const Implements &entry : map->implements) {
      ops += (ops.empty() ? "" : ", ") + entry.op + attrText(entry.attrs);
      implements.push_back(entry.op + attrText(entry.attrs));
      judged &= reference::findOperation(entry.op) != nullptr;
    }
    const ck_kernel *kernel = ck_find_kernel(map->id().c_str());
    for (int isa = 0; kernel && isa < CK_ISA_COUNT; ++isa)
      if (kernel->implementation[isa]) {
        isas += std::string(isas.empty() ? "" : " ") + ck_isa_name(static_cast<ck_isa>(isa));
        sets.push_back(ck_isa_name(static_cast<ck_isa>(isa)));
      }
    if (!arguments.json)
      std::printf("%s: %s; %s; %s; tolerance %.2g; %s\n", map->id().c_str(), ops.c_str(),
                  std::string(ck::toString(map->numerics)).c_str(), kernel ? isas.c_str() : "not in the registry",
                  map->tolerance, judged ? "has a reference" : "has no reference");
    list.push_back({{"id", map->id()},
                    {"family", familyOf(*map)},
                    {"operation", map->operation},
                    {"implements", implements},
                    {"signature", map->contract.signature.str()},
                    {"numerics", ck::toString(map->numerics)},
                    {"tolerance", map->tolerance},
                    {"isas", sets},
                    {"in_registry", kernel != nullptr},
                    {"reference", judged},
                    {"digest", map->digest}});
  }
  if (arguments.json)
    print({{"kernels", list}});
  return 0;
}

Result<int> runLint(const Arguments &arguments) {
  if (!arguments.ids.empty() || !arguments.family.empty())
    return Error{"lint looks at all maps; it takes no kernel ids and no family"};
  Result<std::vector<KernelMap>> maps = loadMaps(arguments);
  if (!maps)
    return maps.error();
  std::vector<std::string> findings = lint(*maps, [](const std::string &id) { return ck_find_kernel(id.c_str()); });
  size_t count = 0;
  const ck_kernel *const *kernels = ck_kernels(&count);
  for (size_t i = 0; i < count; ++i)
    if (!findMap(*maps, kernels[i]->id))
      findings.push_back(std::string(kernels[i]->id) + ": the kernel has no map");
  if (arguments.json) {
    print({{"maps", maps->size()}, {"findings", findings}});
  } else {
    for (const std::string &finding : findings)
      std::printf("%s\n", finding.c_str());
    std::printf("%zu maps, %zu findings\n", maps->size(), findings.size());
  }
  return findings.empty() ? 0 : 1;
}

static Json toJson(const Report &report) {
  static const char *const results[] = {"passed", "failed", "not checked"};
  Json failures = Json::array();
  for (const Failure &failure : report.failures)
    failures.push_back(
        {{"op", failure.op}, {"geometry", failure.geometry}, {"where", failure.where}, {"what", failure.what}});
  Json json = {{"id", report.id},
               {"result", results[static_cast<int>(report.result)]},
               {"oracles", report.oracles},
               {"geometries", report.geometries},
               {"calls", report.calls},
               {"max_error", report.maxError},
               {"tolerance", report.tolerance},
               {"isas", report.isas}};
  if (report.result == Report::Result::NotChecked)
    json["reason"] = report.reason;
  json["failures"] = failures;
  return json;
}

/// The file that the kernels come from.
static std::string runtimeLibrary() {
  Dl_info info = {};
  return dladdr(reinterpret_cast<const void *>(&ck_find_kernel), &info) && info.dli_fname ? info.dli_fname : "";
}

/// Reads what a record holds already; a run adds to it and replaces what it checks anew.
static Status openRecord(const Arguments &arguments, EvidenceTable &evidence) {
  if (arguments.record.empty())
    return Status::success();
  const Options standard, &options = arguments.options;
  if (!options.isas.empty() || options.threads != standard.threads || options.seed != standard.seed ||
      options.geometries != standard.geometries || options.onlyGeometry != standard.onlyGeometry)
    return Error{"--record takes whole runs: without --isa, --threads, --seed, --geometries and --only-geometry"};
  if (!std::filesystem::exists(arguments.record))
    return Status::success();
  Result<std::string> text = readText(arguments.record);
  Result<EvidenceTable> table = text ? parseEvidence(*text, arguments.record) : Result<EvidenceTable>(text.error());
  if (!table)
    return table.error();
  evidence = *std::move(table);
  return Status::success();
}

Result<int> runCheck(const Arguments &arguments) {
  if (!arguments.all && arguments.ids.empty() && arguments.family.empty())
    return Error{"check needs kernel ids, --family or --all"};
  Result<std::vector<KernelMap>> maps = loadMaps(arguments);
  if (!maps)
    return maps.error();
  Result<std::vector<const KernelMap *>> chosen = chooseMaps({arguments.all, arguments.family, arguments.ids}, *maps);
  if (!chosen)
    return chosen.error();
  EvidenceTable evidence;
  if (Status status = openRecord(arguments, evidence); !status)
    return status.error();
  SourceDigests digests(sourceDir(arguments), *maps);
  for (const std::string &id : arguments.unchecked)
    if (!findMap(*maps, id))
      return Error{"--unchecked: there is no kernel '" + id + "'"};
  Result<Checker> checker = Checker::create(arguments.options);
  if (!checker)
    return checker.error();
  reportCrashes();
  if (!arguments.record.empty())
    for (const KernelMap *map : *chosen)
      if (Status status = digests.checkBuilt(*map, runtimeLibrary(), "/proc/self/exe"); !status)
        return status.error();

  int passed = 0, failed = 0, notChecked = 0;
  Json reports = Json::array();
  for (const KernelMap *map : *chosen) {
    Report report;
    const ck_kernel *kernel = ck_find_kernel(map->id().c_str());
    if (std::string mismatch = registryMismatch(*map, kernel); mismatch.empty()) {
      report = checker->check(*map, *kernel);
    } else { // not even its arguments can be trusted
      report.id = map->id();
      report.result = Report::Result::Failed;
      report.failures.push_back({"", -1, "", mismatch});
    }
    if (!arguments.record.empty()) {
      Result<Evidence> one = makeEvidence(report, *map, digests);
      if (!one)
        return one.error();
      evidence[map->id()] = *std::move(one);
    }
    bool declared = std::count(arguments.unchecked.begin(), arguments.unchecked.end(), report.id) != 0;
    passed += report.result == Report::Result::Passed;
    notChecked += report.result == Report::Result::NotChecked && declared;
    failed += report.result == Report::Result::Failed || (report.result == Report::Result::NotChecked && !declared);
    if (arguments.json) {
      reports.push_back(toJson(report));
    } else {
      std::printf("%s\n", toString(report, arguments.options).c_str());
      std::fflush(stdout);
    }
    if (failed && arguments.failFast)
      break;
  }
  if (!arguments.record.empty())
    if (Status status = writeText(arguments.record, recordText(evidence)); !status)
      return status.error();
  if (arguments.json) {
    Json threads = arguments.options.threads;
    print({{"seed", arguments.options.seed},
           {"threads", threads},
           {"passed", passed},
           {"failed", failed},
           {"not_checked", notChecked},
           {"reports", reports}});
  } else {
    std::printf("%d passed, %d failed, %d not checked\n", passed, failed, notChecked);
  }
  return failed ? 1 : 0;
}

} // namespace ck::check
