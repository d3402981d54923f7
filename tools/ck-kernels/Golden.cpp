//===- Golden.cpp - the command `golden` ----------------------------------===//

#include "Commands.h"
#include "GoldenTable.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace ck::check {

using Json = nlohmann::ordered_json;
using golden::Outcome;

namespace {

enum class Verdict { Passed, Failed, NotRun };

struct CaseReport {
  int number;
  std::string note;
  Verdict verdict = Verdict::Passed;
  std::string reason; ///< of NotRun, and of Failed where nothing could be compared
  std::vector<Outcome> outcomes;
};

struct FileReport {
  std::string path, op, reason; ///< a reason where the whole file is not run
  std::vector<CaseReport> cases;
};

} // namespace

static const char *const verdictNames[] = {"passed", "failed", "not run"};

/// Runs a case under each instruction set; of each result the largest error counts.
static CaseReport runOne(const std::vector<KernelMap> &maps, const std::vector<std::shared_ptr<ck_context>> &contexts,
                         const golden::Row &row, const golden::Case &one) {
  CaseReport report{one.number, one.note, Verdict::Passed, "", {}};
  for (const std::shared_ptr<ck_context> &ctx : contexts) {
    Result<std::vector<Outcome>> outcomes = runCase(maps, ctx.get(), row, one);
    if (!outcomes) {
      report.verdict = outcomes.error().code == "NOT_RUN" ? Verdict::NotRun : Verdict::Failed;
      report.reason = outcomes.error().message;
      return report;
    }
    for (size_t i = 0; i < outcomes->size(); ++i)
      if (i < report.outcomes.size())
        report.outcomes[i].error = std::max(report.outcomes[i].error, (*outcomes)[i].error);
      else
        report.outcomes.push_back((*outcomes)[i]);
  }
  for (const Outcome &outcome : report.outcomes)
    if (!(outcome.error <= outcome.bound))
      report.verdict = Verdict::Failed;
  return report;
}

static void print(const FileReport &file) {
  if (!file.reason.empty()) {
    std::printf("%s: not run: %s\n", file.op.c_str(), file.reason.c_str());
    return;
  }
  for (const CaseReport &one : file.cases) {
    std::string text = file.op + " case " + std::to_string(one.number) + ": " +
                       verdictNames[static_cast<int>(one.verdict)] + (one.reason.empty() ? "" : ": " + one.reason);
    for (const Outcome &outcome : one.outcomes) {
      char numbers[64];
      std::snprintf(numbers, sizeof(numbers), " %.2g (bound %.2g)", outcome.error, outcome.bound);
      text += (&outcome == one.outcomes.data() ? ": " : ", ") + outcome.name + numbers;
      if (!(outcome.error <= outcome.bound))
        text += " OVER, by " + outcome.provider;
    }
    std::printf("%s\n", text.c_str());
  }
}

static Json toJson(const FileReport &file) {
  Json cases = Json::array();
  for (const CaseReport &one : file.cases) {
    Json results = Json::array();
    for (const Outcome &outcome : one.outcomes)
      results.push_back(
          {{"name", outcome.name}, {"provider", outcome.provider}, {"error", outcome.error}, {"bound", outcome.bound}});
    Json json = {{"case", one.number},
                 {"note", one.note},
                 {"result", verdictNames[static_cast<int>(one.verdict)]},
                 {"tensors", results}};
    if (!one.reason.empty())
      json["reason"] = one.reason;
    cases.push_back(json);
  }
  Json json = {{"file", file.path}, {"op", file.op}, {"run", file.reason.empty()}, {"cases", cases}};
  if (!file.reason.empty())
    json["reason"] = file.reason;
  return json;
}

/// A context for each instruction set asked for, or for each that the machine has.
static Result<std::vector<std::shared_ptr<ck_context>>> makeContexts(const Options &options) {
  std::vector<std::shared_ptr<ck_context>> contexts;
  for (int isa = 0; isa < CK_ISA_COUNT; ++isa) {
    bool asked = std::count(options.isas.begin(), options.isas.end(), isa) != 0;
    if (options.isas.empty() ? isa > ck_best_isa() : !asked)
      continue;
    std::shared_ptr<ck_context> ctx(ck_context_create(options.threads.front()), ck_context_destroy);
    if (!ctx)
      return Error{std::string("no context: ") + ck_context_error(nullptr)};
    if (ck_context_set_isa(ctx.get(), static_cast<ck_isa>(isa)) != CK_OK)
      return Error{ck_context_error(ctx.get())};
    contexts.push_back(std::move(ctx));
  }
  return contexts;
}

Result<int> runGolden(const Arguments &arguments) {
  if (arguments.ids.empty())
    return Error{"golden needs files"};
  Result<std::vector<KernelMap>> maps =
      loadKernelMaps(arguments.mapDir.empty() ? defaultKernelMapDir() : arguments.mapDir);
  if (!maps)
    return maps.error();
  Result<std::vector<std::shared_ptr<ck_context>>> contexts = makeContexts(arguments.options);
  if (!contexts)
    return contexts.error();
  int counts[3] = {0, 0, 0};
  Json files = Json::array();
  for (const std::string &path : arguments.ids) {
    Result<golden::File> file = golden::readFile(path);
    if (!file)
      return file.error();
    FileReport report{path, file->op, "", {}};
    const golden::Row *row = findRow(file->maker, file->op);
    if (!row)
      report.reason = "CK has no operation for it";
    for (const golden::Case &one : file->cases)
      if (row) {
        report.cases.push_back(runOne(*maps, *contexts, *row, one));
        ++counts[static_cast<int>(report.cases.back().verdict)];
      } else {
        ++counts[static_cast<int>(Verdict::NotRun)];
      }
    if (arguments.json)
      files.push_back(toJson(report));
    else
      print(report);
  }
  if (arguments.json)
    std::printf("%s\n", Json{{"passed", counts[0]}, {"failed", counts[1]}, {"not_run", counts[2]}, {"files", files}}
                            .dump(2, ' ', false, Json::error_handler_t::replace)
                            .c_str());
  else
    std::printf("%d cases passed, %d failed, %d not run\n", counts[0], counts[1], counts[2]);
  return counts[1] ? 1 : 0;
}

} // namespace ck::check
