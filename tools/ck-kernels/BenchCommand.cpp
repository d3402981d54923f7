//===- BenchCommand.cpp - kernels beside the machine's peaks --------------===//

#include "Commands.h"
#include "Lint.h"
#include "Maps.h"
#include "Measure.h"
#include "ck/Runtime/Peak.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace ck::check {

using Json = nlohmann::ordered_json;

static constexpr double budget = 0.3; ///< seconds for each kernel

static Result<std::shared_ptr<ck_context>> makeContext(const Arguments &arguments) {
  const Options standard;
  if (arguments.options.isas.size() > 1 ||
      (arguments.options.threads != standard.threads && arguments.options.threads.size() > 1))
    return Error{arguments.command + " measures one instruction set and one number of threads at a time"};
  const int threads = arguments.options.threads == standard.threads ? 0 : arguments.options.threads.front();
  std::shared_ptr<ck_context> ctx(ck_context_create(threads), ck_context_destroy);
  if (!ctx)
    return Error{std::string("no context: ") + ck_context_error(nullptr)};
  if (!arguments.options.isas.empty() && ck_context_set_isa(ctx.get(), arguments.options.isas.front()) != CK_OK)
    return Error{std::string("--isa: ") + ck_context_error(ctx.get())};
  return ctx;
}

static std::string timeText(double seconds) {
  char text[40];
  if (seconds >= 1e-3)
    std::snprintf(text, sizeof(text), "%.3g ms", seconds * 1e3);
  else
    std::snprintf(text, sizeof(text), "%.3g us", seconds * 1e6);
  return text;
}

Result<MeasuringJob> MeasuringJob::create(const Arguments &arguments, bool writes) {
  if (!arguments.all && arguments.ids.empty() && arguments.family.empty())
    return Error{arguments.command + " needs kernel ids, --family or --all"};
  if (writes && arguments.out.empty())
    return Error{arguments.command + " needs --out FILE, where it writes the cost table"};
  Result<std::vector<KernelMap>> maps = loadMaps(arguments);
  if (!maps)
    return maps.error();
  MeasuringJob job;
  job.maps = *std::move(maps);
  auto chosen = chooseMaps({arguments.all, arguments.family, arguments.ids}, job.maps);
  if (!chosen)
    return chosen.error();
  auto sizes = parseSizes(arguments.sizes);
  if (!sizes)
    return sizes.error();
  auto ctx = makeContext(arguments);
  if (!ctx)
    return ctx.error();
  job.chosen = *std::move(chosen);
  job.sizes = *std::move(sizes);
  job.ctx = *std::move(ctx);
  return job;
}

Result<int> runBench(const Arguments &arguments) {
  Result<MeasuringJob> job = MeasuringJob::create(arguments);
  if (!job)
    return job.error();
  ck_context *const ctx = job->ctx.get();
  const double peak = ck_measure_fma_peak(ctx, 0.3), read = ck_measure_read_bandwidth(ctx, 0);
  if (read == 0)
    return Error{std::string("cannot measure the read bandwidth: ") + ck_context_error(ctx)};
  const char *isa = ck_isa_name(ck_context_isa(ctx));
  if (!arguments.json)
    std::printf("%s, %s, %d threads: f32 multiply-add peak %.4g GFLOP/s, memory read %.3g GB/s\n",
                machineName().c_str(), isa, ck_context_threads(ctx), peak, read);
  int failures = 0;
  Json rows = Json::array();
  for (const KernelMap *map : job->chosen)
    for (const auto &one : job->sizes) {
      const ck_kernel *kernel = ck_find_kernel(map->id().c_str());
      const std::string mismatch = registryMismatch(*map, kernel);
      Result<Measurement> measured = mismatch.empty() ? measure(*map, *kernel, one, ctx, budget)
                                                      : Result<Measurement>(Error{map->id() + ": " + mismatch});
      failures += !measured;
      if (!measured) {
        std::fprintf(stderr, "ck-kernels: error: %s\n", measured.error().message.c_str());
        continue;
      }
      const double gflops = measured->operations / measured->seconds * 1e-9;
      const double bandwidth = static_cast<double>(measured->bytes) / measured->seconds * 1e-9;
      Json row = {{"id", map->id()},          {"geometry", measured->geometry}, {"seconds", measured->seconds},
                  {"calls", measured->calls}, {"gb_per_s", bandwidth},          {"share_of_read", bandwidth / read}};
      std::string text = map->id() + ": " + measured->geometry + ": " + timeText(measured->seconds) + " (median of " +
                         std::to_string(measured->calls) + ")";
      char numbers[120];
      if (gflops > 0) {
        row["gflops"] = gflops;
        row["share_of_peak"] = gflops / peak;
        std::snprintf(numbers, sizeof(numbers), ", %.4g GFLOP/s = %.2f of peak", gflops, gflops / peak);
        text += numbers;
      }
      std::snprintf(numbers, sizeof(numbers), ", %.3g GB/s = %.2f of read", bandwidth, bandwidth / read);
      if (!arguments.json)
        std::printf("%s%s\n", text.c_str(), numbers);
      std::fflush(stdout);
      rows.push_back(std::move(row));
    }
  if (arguments.json)
    std::printf("%s\n", Json({{"machine", machineName()},
                              {"isa", isa},
                              {"threads", ck_context_threads(ctx)},
                              {"peak_gflops", peak},
                              {"read_gb_per_s", read},
                              {"kernels", rows}})
                            .dump(1)
                            .c_str());
  return failures ? 1 : 0;
}

} // namespace ck::check
