//===- Evidence.cpp - what was checked, and of which sources --------------===//

#include "Evidence.h"
#include "Maps.h"
#include "ck/Support/Sha256.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace fs = std::filesystem;

namespace ck::check {

using Json = nlohmann::ordered_json;

static const char kernelRoot[] = "lib/Runtime/Kernels", referenceRoot[] = "test/reference";
// Headers of both sides of the runtime's border; what they say is part of a kernel.
static const std::string supportFolder = "ck/Support/";

SourceDigests::SourceDigests(std::string sourceDir, const std::vector<KernelMap> &maps)
    : sourceDir(std::move(sourceDir)), maps(maps) {}

Result<const std::string *> SourceDigests::text(const std::string &path) {
  auto known = texts.find(path);
  if (known == texts.end()) {
    Result<std::string> read = readText(sourceDir + "/" + path);
    if (!read)
      return read.error();
    known = texts.emplace(path, *std::move(read)).first;
  }
  return &known->second;
}

/// What the text includes in quotes.
static std::vector<std::string> includesOf(const std::string &text) {
  std::vector<std::string> names;
  static const std::string word = "#include \"";
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    at += word.size();
    if (size_t end = text.find('"', at); end != std::string::npos)
      names.push_back(text.substr(at, end - at));
  }
  return names;
}

/// Adds `path` and, of what it includes, what is below `root`.
Status SourceDigests::addClosure(const std::string &root, const std::string &path, std::vector<std::string> &files) {
  if (std::find(files.begin(), files.end(), path) != files.end())
    return Status::success();
  Result<const std::string *> own = text(path);
  if (!own)
    return own.error();
  files.push_back(path);
  for (const std::string &name : includesOf(**own)) {
    std::vector<fs::path> folders = {fs::path(path).parent_path(), fs::path(root)};
    if (root == kernelRoot && name.compare(0, supportFolder.size(), supportFolder) == 0)
      folders = {"include"};
    for (const fs::path &folder : folders) {
      const std::string candidate = (folder / name).lexically_normal().string();
      std::error_code failed;
      if (name == "Reference.h" || name == "Contracts.h" || !fs::is_regular_file(sourceDir + "/" + candidate, failed))
        continue;
      if (Status status = addClosure(root, candidate, files); !status)
        return status;
      // The body of the header.
      const std::string body = fs::path(candidate).replace_extension(".cpp").string();
      if (root == referenceRoot && fs::is_regular_file(sourceDir + "/" + body, failed))
        if (Status status = addClosure(root, body, files); !status)
          return status;
      break;
    }
  }
  return Status::success();
}

/// Source files of a folder of the tree, sorted.
static std::vector<std::string> sourcesIn(const std::string &sourceDir, const std::string &folder) {
  std::vector<std::string> files;
  std::error_code failed;
  for (const fs::directory_entry &entry : fs::directory_iterator(sourceDir + "/" + folder, failed))
    if (entry.path().extension() == ".cpp")
      files.push_back(folder + "/" + entry.path().filename().string());
  std::sort(files.begin(), files.end());
  return files;
}

Result<std::vector<std::string>> SourceDigests::kernelFiles(const KernelMap &map) {
  // A twin is the kernel of the map that it names.
  const KernelMap *owner = map.sameAs.empty() ? &map : findMap(maps, map.sameAs);
  std::vector<std::string> files;
  for (const auto &implementation : owner ? owner->implementations : map.implementations)
    if (Status status = addClosure(kernelRoot, kernelRoot + ("/" + implementation.source), files); !status)
      return Error{map.id() + ": " + status.error().message};
  auto named = [&](const std::string &path) {
    for (const KernelMap &other : maps)
      for (const auto &implementation : other.implementations)
        if (kernelRoot + ("/" + implementation.source) == path)
          return true;
    return false;
  };
  for (size_t i = 0; i < files.size(); ++i)
    if (const std::string folder = fs::path(files[i]).parent_path().string();
        fs::path(files[i]).extension() == ".h" && folder != kernelRoot)
      for (const std::string &body : sourcesIn(sourceDir, folder))
        if (!named(body))
          if (Status status = addClosure(kernelRoot, body, files); !status)
            return status.error();
  std::sort(files.begin(), files.end());
  return files;
}

/// The operations that a text of references applies as steps of chains, in quotes.
static std::vector<std::string> stepsOf(const std::string &text) {
  std::vector<std::string> names;
  for (const char *call : {" apply(\"", " step(\""}) {
    const std::string opening = call;
    for (size_t at = text.find(opening); at != std::string::npos; at = text.find(opening, at + 1)) {
      const size_t begin = at + opening.size() - 1, end = text.find('"', begin + 1);
      if (end != std::string::npos)
        names.push_back(text.substr(begin, end + 1 - begin));
    }
  }
  return names;
}

Result<std::vector<std::string>> SourceDigests::referenceFiles(const KernelMap &map) {
  std::vector<std::string> words;
  for (const Implements &implements : map.implements)
    words.push_back("\"" + implements.op + "\"");
  if (!map.bits.empty())
    words.push_back("\"" + map.bits + "\"");
  std::vector<std::string> files;
  for (size_t i = 0; i < words.size(); ++i) // grows: a chain is judged by the references of its steps
    for (const std::string &path : sourcesIn(sourceDir, referenceRoot)) {
      Result<const std::string *> own = text(path);
      if (!own)
        return own.error();
      if ((*own)->find(words[i]) == std::string::npos)
        continue;
      if (Status status = addClosure(referenceRoot, path, files); !status)
        return status.error();
      for (const std::string &step : stepsOf(**own))
        if (std::find(words.begin(), words.end(), step) == words.end())
          words.push_back(step);
    }
  std::sort(files.begin(), files.end());
  return files;
}

Result<std::string> SourceDigests::digest(const std::vector<std::string> &files) {
  std::string list;
  for (const std::string &file : files)
    list += file + "\n";
  std::string &known = digests[list];
  if (!known.empty())
    return known;
  std::string bytes;
  for (const std::string &file : files) {
    Result<const std::string *> own = text(file);
    if (!own)
      return own.error();
    bytes += file + "\n" + std::to_string((*own)->size()) + "\n" + **own;
  }
  return known = sha256(bytes);
}

Result<std::string> SourceDigests::kernel(const KernelMap &map) {
  Result<std::vector<std::string>> files = kernelFiles(map);
  return files ? digest(*files) : files.error();
}

Result<std::string> SourceDigests::reference(const KernelMap &map) {
  Result<std::vector<std::string>> files = referenceFiles(map);
  return files ? digest(*files) : files.error();
}

Status SourceDigests::checkBuilt(const KernelMap &map, const std::string &library, const std::string &program) {
  Result<std::vector<std::string>> kernel = kernelFiles(map), reference = referenceFiles(map);
  for (const auto &[files, binary] : {std::pair(&kernel, &library), std::pair(&reference, &program)}) {
    if (!*files)
      return files->error();
    std::error_code failed;
    const fs::file_time_type built = fs::last_write_time(*binary, failed);
    if (failed)
      return Error{*binary + ": cannot see when it was built: " + failed.message()};
    for (const std::string &file : **files)
      if (fs::last_write_time(sourceDir + "/" + file, failed) > built)
        return Error{file + ": is newer than " + *binary + "; build first, then record"};
  }
  return Status::success();
}

Result<Evidence> makeEvidence(const Report &report, const KernelMap &map, SourceDigests &digests) {
  static const char *const results[] = {"passed", "failed", "not checked"};
  Result<std::string> kernel = digests.kernel(map), reference = digests.reference(map);
  for (const Result<std::string> *digest : {&kernel, &reference})
    if (!*digest)
      return digest->error();
  Evidence evidence;
  evidence.map = map.digest;
  evidence.kernel = *kernel;
  evidence.reference = *reference;
  evidence.result = results[static_cast<int>(report.result)];
  evidence.oracles = report.oracles;
  evidence.isas = report.isas;
  evidence.bits = map.bits;
  evidence.geometries = report.geometries;
  evidence.tolerance = report.tolerance;
  evidence.maxError = report.maxError;
  return evidence;
}

Result<std::string> staleness(const Evidence &evidence, const KernelMap &map, SourceDigests &digests) {
  Result<std::string> kernel = digests.kernel(map), reference = digests.reference(map);
  for (const Result<std::string> *digest : {&kernel, &reference})
    if (!*digest)
      return digest->error();
  std::string changed;
  auto note = [&](bool differs, const char *part) {
    if (differs)
      changed += (changed.empty() ? "" : ", ") + std::string(part);
  };
  note(evidence.map != map.digest, "the map");
  note(evidence.kernel != *kernel, "the kernel");
  note(evidence.reference != *reference, "the reference");
  return changed;
}

static Evidence readEvidence(const Json &json) {
  Evidence evidence;
  const Json &digests = json.at("digests");
  evidence.map = digests.at("map");
  evidence.kernel = digests.at("kernel");
  evidence.reference = digests.at("reference");
  evidence.result = json.at("result");
  if (evidence.result != "passed" && evidence.result != "failed" && evidence.result != "not checked")
    throw std::runtime_error("result is '" + evidence.result + "', expected passed, failed or not checked");
  evidence.oracles = json.at("oracles").get<std::vector<std::string>>();
  evidence.isas = json.at("isas").get<std::vector<std::string>>();
  evidence.bits = json.at("bits");
  evidence.geometries = json.at("geometries");
  evidence.tolerance = json.at("tolerance");
  evidence.maxError = json.value("max_error", -1.0);
  return evidence;
}

Result<EvidenceTable> parseEvidence(std::string_view text, const std::string &path) {
  std::string where;
  try {
    const Json json = Json::parse(text);
    if (!json.is_object() || !json.contains("format") || !json.contains("kernels"))
      return Error{path + ": is no evidence; expected an object with \"format\" and \"kernels\""};
    EvidenceTable table;
    if (json.at("format") != "ck-evidence-1" && json.at("format") != "ck-ledger-1")
      return Error{path + ": the format is " + json.at("format").dump() +
                   ", expected \"ck-evidence-1\" or \"ck-ledger-1\""};
    for (const Json &row : json.at("kernels")) {
      where = "kernel " + std::to_string(table.size());
      const std::string id = row.at("id");
      where = id;
      if (!row.contains("evidence"))
        continue;
      if (!table.emplace(id, readEvidence(row.at("evidence"))).second)
        return Error{path + ": " + id + " is there twice"};
    }
    return table;
  } catch (const std::exception &error) {
    return Error{path + ": " + (where.empty() ? "" : where + ": ") + error.what()};
  }
}

Json toJson(const Evidence &evidence, bool measured) {
  Json json = {{"result", evidence.result},         {"oracles", evidence.oracles},     {"bits", evidence.bits},
               {"geometries", evidence.geometries}, {"tolerance", evidence.tolerance}, {"isas", evidence.isas}};
  if (measured)
    json["max_error"] = evidence.maxError;
  json["digests"] = {{"map", evidence.map}, {"kernel", evidence.kernel}, {"reference", evidence.reference}};
  return json;
}

std::string recordText(const EvidenceTable &table) {
  Json rows = Json::array();
  for (const auto &[id, evidence] : table)
    rows.push_back({{"id", id}, {"evidence", toJson(evidence, true)}});
  return Json({{"format", "ck-evidence-1"}, {"kernels", rows}}).dump(1) + "\n";
}

} // namespace ck::check
