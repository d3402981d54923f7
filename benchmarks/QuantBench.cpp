//===- QuantBench.cpp - linear layers of 16-bit and quantised weights -----===//
//
// quant_linear: a prompt of 512 rows against one packed weight, activations quantised in the same iteration, as a share
// of the f32 FMA peak (the products of 8 bits can be above it). quant_ring: one row against a ring of distinct packed
// weights, as a share of a plain read of that ring.
//
//===----------------------------------------------------------------------===//
#include "Bench.h"
#include "ck/KernelMaps/DType.h"

#include <string>

using namespace ck::bench;

namespace {

/// A weight format and that of the activations it is multiplied with.
struct Format {
  const char *type, *activations;
};
constexpr Format formats[] = {{"q4_0", "q8_0"}, {"q4_1", "q8_1"}, {"q5_0", "q8_0"}, {"q5_1", "q8_1"},
                              {"q8_0", "q8_0"}, {"q4_k", "q8_k"}, {"q5_k", "q8_k"}, {"q6_k", "q8_k"}};

/// The args of linear_packed_<any>: their maps have one signature but for the types.
using LinearArgs = ckk_linear_packed_q4_0_args;
using QuantizeArgs = ckk_quantize_batch_q8_0_args;

int64_t rowBytes(const char *type, int64_t k) { return *ck::storageBytes(type, {k}); }

/// Any codes, and factors that are finite and not subnormal, wherever they lie.
void fillBlocks(uint8_t *to, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    to[i] = static_cast<uint8_t>(0x10 | (i * 2654435761u >> 13 & 0x2f));
}

const ck_kernel *kernel(const std::string &id) { return ck_find_kernel(id.c_str()); }

void runPrompt(benchmark::State &state, int threads, Format format) {
  const int64_t m = state.range(0), n = state.range(1), k = state.range(2);
  Meter meter(state, threads, Meter::Ceiling::Fma);
  static float *input = makeFloats(512 * 8192), *output = makeFloats(size_t(512) * 32000);
  static float *quantised = makeFloats(512 * 8192), *panels = makeFloats(512 * 8192);
  const Ring ring = weightRing();
  const std::string activations = format.activations;
  const ck_kernel *multiply = kernel(std::string("linear_packed_") + format.type);
  const ck_kernel *quantise = kernel((activations == "q8_1" ? "quantize_rows_" : "quantize_batch_") + activations);
  if (!multiply || !quantise)
    return state.SkipWithError("no such kernel");
  fillBlocks(reinterpret_cast<uint8_t *>(const_cast<float *>(ring.data)),
             static_cast<size_t>((n + 15) / 16 * 16 * rowBytes(format.type, k)));
  LinearArgs args = {};
  args.input = quantised;
  args.weight = ring.data;
  args.output = output;
  args.panels = reinterpret_cast<uint8_t *>(panels);
  args.T = m;
  args.K = k;
  args.N = n;
  QuantizeArgs rows = {};
  rows.input = input;
  rows.output = quantised;
  rows.T = m;
  rows.K = k;
  meter.prepare(multiply->id, args);
  meter.run(2.0 * m * n * k, [&] {
    const int32_t status = quantise->call(meter.context(), &rows);
    return status ? status : multiply->call(meter.context(), &args);
  });
}

void runRing(benchmark::State &state, int threads, Format format) {
  const int64_t n = state.range(0), k = state.range(1);
  Meter meter(state, threads, Meter::Ceiling::Read);
  static float *input = makeFloats(1 << 16), *output = makeFloats(1 << 16), *panels = makeFloats(1 << 16);
  const Ring ring = weightRing();
  const ck_kernel *multiply = kernel(std::string("linear_packed_") + format.type);
  if (!multiply)
    return state.SkipWithError("no such kernel");
  const auto matrix = static_cast<size_t>((n + 15) / 16 * 16 * rowBytes(format.type, k));
  const size_t matrices = ring.count * sizeof(float) / matrix;
  auto *weights = reinterpret_cast<uint8_t *>(const_cast<float *>(ring.data));
  fillBlocks(weights, matrix * matrices);
  LinearArgs args = {};
  args.input = input;
  args.output = output;
  args.panels = reinterpret_cast<uint8_t *>(panels);
  args.T = 1;
  args.K = k;
  args.N = n;
  meter.prepare(multiply->id, args);
  meter.run(static_cast<double>(matrix * matrices), [&] {
    for (size_t i = 0; i < matrices; ++i) {
      args.weight = weights + i * matrix;
      if (int32_t status = multiply->call(meter.context(), &args))
        return status;
    }
    return int32_t(CK_OK);
  });
}

} // namespace

void ck::bench::registerQuant() {
  const int64_t shapes[][3] = {{512, 768, 768},   {512, 2048, 768},  {512, 768, 2048},
                               {512, 8192, 2048}, {512, 4096, 4096}, {512, 32000, 768}};
  for (int threads : {1, 2})
    for (const Format &format : formats) {
      const std::string suffix = std::string("/") + format.type + "/threads:" + std::to_string(threads);
      auto *prompt = benchmark::RegisterBenchmark(("quant_linear" + suffix).c_str(), runPrompt, threads, format);
      prompt->ArgNames({"M", "N", "K"})->UseManualTime()->Unit(benchmark::kMicrosecond);
      for (const auto &shape : shapes)
        prompt->Args({shape[0], shape[1], shape[2]});
      auto *ring = benchmark::RegisterBenchmark(("quant_ring" + suffix).c_str(), runRing, threads, format);
      ring->ArgNames({"N", "K"})->UseManualTime()->Unit(benchmark::kMillisecond);
      ring->Args({768, 768})->Args({2048, 768})->Args({768, 2048})->Args({32000, 768})->Args({4096, 4096});
    }
}
