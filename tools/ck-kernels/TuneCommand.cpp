//===- TuneCommand.cpp - writes the measured cost table -------------------===//

#include "Commands.h"
#include "Lint.h"
#include "Maps.h"
#include "Measure.h"
#include "ck/KernelMaps/CostTable.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

namespace ck::check {

static constexpr double budget = 0.05; ///< seconds for each point

/// Without --sizes: one row, a few, many; the other extents as they usually are.
static std::vector<std::map<std::string, int64_t>> usualGrid(const KernelMap &map) {
  const std::vector<std::string> dims = map.contract.signature.dimNames();
  if (std::find(dims.begin(), dims.end(), "T") == dims.end())
    return {{}};
  return {{{"T", 1}}, {{"T", 8}}, {{"T", 64}}, {{"T", 512}}};
}

/// True if selection ever has to choose between this map and another.
static bool hasRival(const KernelMap &map, const std::vector<KernelMap> &maps) {
  for (const KernelMap &other : maps)
    for (const Implements &entry : map.implements)
      for (const Implements &rival : other.implements)
        if (&other != &map && map.sameAs.empty() && other.sameAs.empty() && rival.op == entry.op)
          return true;
  return false;
}

Result<int> runTune(const Arguments &arguments) {
  Result<MeasuringJob> job = MeasuringJob::create(arguments, /*writes=*/true);
  if (!job)
    return job.error();
  ck_context *const ctx = job->ctx.get();

  CostTable table;
  table.machine = machineName();
  table.isa = ck_isa_name(ck_context_isa(ctx));
  table.threads = ck_context_threads(ctx);
  for (const KernelMap *map : job->chosen) {
    const bool named = std::count(arguments.ids.begin(), arguments.ids.end(), map->id()) != 0;
    if (!named && !hasRival(*map, job->maps))
      continue;
    const ck_kernel *kernel = ck_find_kernel(map->id().c_str());
    if (std::string mismatch = registryMismatch(*map, kernel); !mismatch.empty())
      return Error{map->id() + ": " + mismatch};
    CostTable::Kernel measured;
    measured.digest = map->digest;
    std::string refusal;
    for (const auto &point : arguments.sizes.empty() ? usualGrid(*map) : job->sizes) {
      Result<Measurement> one = measure(*map, *kernel, point, ctx, budget);
      if (!one) { // a grid may have points that a kernel does not take
        refusal = one.error().message;
        continue;
      }
      measured.points.push_back({one->dims, std::max<int64_t>(1, std::llround(one->seconds * 1e12))});
      if (!arguments.json) {
        std::printf("%s: %s: %.4g us\n", map->id().c_str(), one->geometry.c_str(), one->seconds * 1e6);
        std::fflush(stdout);
      }
    }
    if (measured.points.empty() && named)
      return Error{refusal};
    if (measured.points.empty())
      std::fprintf(stderr, "ck-kernels: warning: not measured: %s\n", refusal.c_str());
    else
      table.kernels[map->id()] = std::move(measured);
  }
  if (table.kernels.empty())
    return Error{"nothing was measured: no kernel chosen has a rival; name ids to measure them all the same"};
  if (Status status = writeText(arguments.out, table.str()); !status)
    return status.error();
  std::printf("%s: times of %zu kernels on %s, %s, %d threads\n", arguments.out.c_str(), table.kernels.size(),
              table.machine.c_str(), table.isa.c_str(), table.threads);
  return 0;
}

} // namespace ck::check
