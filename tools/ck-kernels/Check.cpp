//===- Check.cpp - does a kernel do what its map says? --------------------===//

#include "Check.h"
#include "Trial.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <unistd.h>

namespace ck::check {

// How often a geometry is drawn anew until extents, `requires` and the operation agree.
static constexpr int maxAttempts = 400;
// How many geometries break the relation of extents, where the operation has one.
static constexpr int misfitGeometries = 8;

static char callUnderWay[2048];

static void onMemoryFault(int) {
  const char *parts[] = {"ck-kernels: the kernel touched memory outside its operands: ", callUnderWay, "\n"};
  for (const char *part : parts)
    if (write(STDERR_FILENO, part, std::strlen(part)) < 0)
      break;
  _exit(1);
}

void reportCrashes() {
  struct sigaction action = {};
  action.sa_handler = onMemoryFault;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
}

Result<Checker> Checker::create(const Options &options) {
  Checker checker;
  checker.options = options;
  for (int threads : options.threads) {
    std::shared_ptr<ck_context> ctx(ck_context_create(threads), ck_context_destroy);
    if (!ctx)
      return Error{"no context of " + std::to_string(threads) + " threads: " + ck_context_error(nullptr)};
    for (ck_isa isa : options.isas)
      if (ck_context_set_isa(ctx.get(), isa) != CK_OK)
        return Error{std::string("cannot run ") + ck_isa_name(isa) + ": " + ck_context_error(ctx.get())};
    checker.contexts.push_back(std::move(ctx));
  }
  return checker;
}

bool Checker::runEverywhere(Trial &trial, const std::string &where, const ck_kernel &kernel, Failure &failure,
                            Report &report) {
  for (int isa = 0; isa < CK_ISA_COUNT; ++isa) {
    bool wanted = options.isas.empty() || std::count(options.isas.begin(), options.isas.end(), isa);
    if (!wanted || !kernel.implementation[isa] || isa > ck_best_isa())
      continue;
    std::string name = ck_isa_name(static_cast<ck_isa>(isa));
    if (!std::count(report.isas.begin(), report.isas.end(), name))
      report.isas.push_back(name);
    trial.startIsa();
    for (const std::shared_ptr<ck_context> &ctx : contexts) {
      failure.where = where + ", " + name + ", " + std::to_string(ck_context_threads(ctx.get())) + " threads";
      std::snprintf(callUnderWay, sizeof(callUnderWay), "%s: %s; seed %llu, geometry %d", kernel.id,
                    failure.where.c_str(), static_cast<unsigned long long>(options.seed), failure.geometry);
      if (ck_context_set_isa(ctx.get(), static_cast<ck_isa>(isa)) != CK_OK) {
        failure.what = ck_context_error(ctx.get());
        return false;
      }
      ++report.calls;
      failure.what = trial.run(ctx.get());
      report.maxError = std::max(report.maxError, trial.maxError());
      if (!failure.what.empty())
        return false;
    }
  }
  return true;
}

bool Checker::checkGeometry(Trial &trial, const std::string &geometryText, const ck_kernel &kernel, Failure &failure,
                            Report &report) {
  // prepare(Plain) was done by the caller: it decides whether the geometry can be had.
  for (Variant variant : {Variant::Plain, Variant::NonFinite, Variant::InPlace, Variant::Spoiled}) {
    std::string where = geometryText + ", " + std::string(toString(variant));
    if (variant != Variant::Plain) {
      Result<bool> applies = trial.prepare(variant);
      if (!applies) {
        failure.where = where;
        failure.what = applies.error().message;
        return false;
      }
      if (!*applies)
        continue;
    }
    if (!runEverywhere(trial, where, kernel, failure, report))
      return false;
  }
  return true;
}

void Checker::checkAs(const KernelMap &map, const Implements &implements, const ck_kernel &kernel, Report &report) {
  const reference::Operation &operation = *reference::findOperation(implements.op);
  GeometryDrawer drawer(map, implements, operation, options.seed);
  Subject subject{map, implements, kernel, operation};
  Failure failure;
  failure.op = implements.op;
  std::string lastRefusal;
  const int ordinary = drawer.edgeCases() + options.geometries;
  int accepted = 0, last = ordinary + (operation.relate ? misfitGeometries : 0);
  for (int index = 0; index < last; ++index) {
    if (options.onlyGeometry >= 0 && index != options.onlyGeometry)
      continue;
    const bool misfit = index >= ordinary;
    for (int attempt = 0; attempt < maxAttempts; ++attempt) {
      Result<Geometry> geometry = drawer.draw(index, attempt, !misfit);
      if (!geometry) {
        lastRefusal = geometry.error().message;
        continue;
      }
      failure.geometry = index;
      failure.where = geometry->str();
      Trial trial(subject, drawer, *geometry);
      if (misfit) {
        Result<bool> ready = trial.prepare(Variant::Misfit);
        if (!ready || !*ready) // by chance a fit, or of no meaning at all
          continue;
        const std::string where = geometry->str() + ", " + std::string(toString(Variant::Misfit));
        if (!runEverywhere(trial, where, kernel, failure, report)) {
          report.failures.push_back(failure);
          return;
        }
        break;
      }
      Result<bool> ready = trial.prepare(Variant::Plain);
      if (!ready && ready.error().code == "REJECTED") {
        lastRefusal = ready.error().message;
        continue;
      }
      if (!ready)
        failure.what = ready.error().message;
      if (!ready || !checkGeometry(trial, geometry->str(), kernel, failure, report)) {
        report.failures.push_back(failure);
        return;
      }
      ++accepted;
      break;
    }
  }
  report.geometries += accepted;
  if (options.onlyGeometry >= last) {
    report.failures.push_back({implements.op, -1, "",
                               "there is no geometry " + std::to_string(options.onlyGeometry) + ": they are 0 to " +
                                   std::to_string(last - 1)});
    return;
  }
  // An edge case may be impossible, most of the others must not be.
  if (accepted == 0 || (options.onlyGeometry < 0 && accepted * 2 < options.geometries))
    report.failures.push_back({implements.op, -1, "",
                               "only " + std::to_string(accepted) + " of " + std::to_string(last) +
                                   " geometries could be drawn; the last was refused because: " + lastRefusal});
}

Report Checker::check(const KernelMap &map, const ck_kernel &kernel) {
  Report report;
  report.id = map.id();
  report.tolerance = map.tolerance;
  if (map.implements.empty())
    report.reason = "its map implements no operation";
  for (const Implements &implements : map.implements)
    if (!reference::findOperation(implements.op))
      report.reason = "there is no reference of " + implements.op;
  if (!report.reason.empty())
    return report;
  for (const Implements &implements : map.implements) {
    if (!std::count(report.oracles.begin(), report.oracles.end(), implements.op))
      report.oracles.push_back(implements.op);
    checkAs(map, implements, kernel, report);
  }
  if (report.calls == 0 && report.failures.empty())
    report.failures.push_back({map.implements.front().op, -1, "", "no instruction set of this machine was tried"});
  report.result = report.failures.empty() ? Report::Result::Passed : Report::Result::Failed;
  return report;
}

static std::string join(const std::vector<std::string> &parts, const char *separator) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : separator) + part;
  return text;
}

std::string toString(const Report &report, const Options &options) {
  if (report.result == Report::Result::NotChecked)
    return report.id + ": not checked: " + report.reason;
  std::vector<std::string> threads;
  for (int count : options.threads)
    threads.push_back(std::to_string(count));
  char numbers[200];
  std::snprintf(numbers, sizeof(numbers), "%d geometries, %lld calls, max error %.2g (allowed %.2g)", report.geometries,
                static_cast<long long>(report.calls), report.maxError, report.tolerance);
  std::string text = report.id + ": " + (report.failures.empty() ? "passed" : "FAILED") + ": reference " +
                     join(report.oracles, ", ") + "; " + numbers + "; " + join(report.isas, " ") + "; threads " +
                     join(threads, " ");
  for (const Failure &failure : report.failures) {
    text += failure.op.empty() ? "\n  " : "\n  as " + failure.op + ": ";
    text += failure.what;
    if (failure.geometry < 0)
      continue;
    text += "\n    " + failure.where;
    text += "\n    repeat: ck-kernels check " + report.id + " --seed " + std::to_string(options.seed) +
            " --only-geometry " + std::to_string(failure.geometry);
  }
  return text;
}

} // namespace ck::check
