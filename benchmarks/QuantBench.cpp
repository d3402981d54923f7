//===- QuantBench.cpp - linear layers of 16-bit and quantised weights -----===//
//
// quant_linear: a prompt of 512 rows against one packed weight, activations quantised in the same iteration, as a share
// of the f32 FMA peak (the products of 8 bits can be above it). quant_ring: one row against a ring of distinct packed
// weights, as a share of a plain read of that ring. half_linear and half_ring: the same for 16-bit weights as a file
// holds them and f32 activations.
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

/// The same of linear_<any>.
using HalfArgs = ckk_linear_f16_args;

/// Any codes, and factors that are finite and not subnormal, wherever they lie.
void fillBlocks(uint8_t *to, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    to[i] = static_cast<uint8_t>(0x10 | (i * 2654435761u >> 13 & 0x2f));
}

const ck_kernel *kernel(const std::string &id) { return ck_find_kernel(id.c_str()); }

/// Memory that the operands of any case fit in.
struct Operands {
  float *input = makeFloats(512 * 8192), *output = makeFloats(size_t(512) * 32000);
  float *quantised = makeFloats(512 * 8192), *scratch = makeFloats(512 * 8192);
};
const Operands &operands() {
  static const Operands made;
  return made;
}

LinearArgs packedArgs(int64_t m, int64_t n, int64_t k) {
  LinearArgs args = {};
  args.input = operands().quantised;
  args.output = operands().output;
  args.panels = reinterpret_cast<uint8_t *>(operands().scratch);
  args.T = m;
  args.N = n;
  args.K = k;
  return args;
}

HalfArgs halfArgs(int64_t m, int64_t n, int64_t k) {
  HalfArgs args = {};
  args.input = operands().input;
  args.output = operands().output;
  args.packed = operands().scratch;
  args.T = m;
  args.N = n;
  args.K = k;
  return args;
}

/// Any weights, as many bytes as asked for.
template <class Args> uint8_t *setWeights(Args &args, size_t bytes) {
  auto *weights = reinterpret_cast<uint8_t *>(const_cast<float *>(weightRing().data));
  fillBlocks(weights, bytes);
  args.weight = reinterpret_cast<decltype(args.weight)>(weights);
  return weights;
}

/// Rows of a weight in whole groups.
size_t packedBytes(Format format, int64_t n, int64_t k) {
  return static_cast<size_t>((n + 15) / 16 * 16 * *ck::storageBytes(format.type, {k}));
}

void runPrompt(benchmark::State &state, int threads, Format format) {
  const int64_t m = state.range(0), n = state.range(1), k = state.range(2);
  Meter meter(state, threads, Meter::Ceiling::Fma);
  const std::string activations = format.activations;
  const ck_kernel *multiply = kernel(std::string("linear_packed_") + format.type);
  const ck_kernel *quantise = kernel((activations == "q8_1" ? "quantize_rows_" : "quantize_batch_") + activations);
  if (!multiply || !quantise)
    return state.SkipWithError("no such kernel");
  LinearArgs args = packedArgs(m, n, k);
  setWeights(args, packedBytes(format, n, k));
  QuantizeArgs rows = {};
  rows.input = operands().input;
  rows.output = operands().quantised;
  rows.T = m;
  rows.K = k;
  meter.prepare(multiply->id, args);
  meter.run(2.0 * m * n * k, [&] {
    const int32_t status = quantise->call(meter.context(), &rows);
    return status ? status : multiply->call(meter.context(), &args);
  });
}

void runHalfPrompt(benchmark::State &state, int threads, const char *type) {
  const int64_t m = state.range(0), n = state.range(1), k = state.range(2);
  Meter meter(state, threads, Meter::Ceiling::Fma);
  const ck_kernel *multiply = kernel(std::string("linear_") + type);
  if (!multiply)
    return state.SkipWithError("no such kernel");
  HalfArgs args = halfArgs(m, n, k);
  setWeights(args, static_cast<size_t>(2 * n * k));
  meter.prepare(multiply->id, args);
  meter.run(2.0 * m * n * k, [&] { return multiply->call(meter.context(), &args); });
}

/// One row and a ring of weights of `matrix` bytes each.
template <class Args> void streamRing(Meter &meter, const ck_kernel *multiply, size_t matrix, Args args) {
  const size_t matrices = weightRing().count * sizeof(float) / matrix;
  const uint8_t *const weights = setWeights(args, matrix * matrices);
  meter.prepare(multiply->id, args);
  meter.run(static_cast<double>(matrix * matrices), [&] {
    for (size_t i = 0; i < matrices; ++i) {
      args.weight = reinterpret_cast<decltype(args.weight)>(weights + i * matrix);
      if (int32_t status = multiply->call(meter.context(), &args))
        return status;
    }
    return int32_t(CK_OK);
  });
}

void runRing(benchmark::State &state, int threads, Format format) {
  const int64_t n = state.range(0), k = state.range(1);
  Meter meter(state, threads, Meter::Ceiling::Read);
  const ck_kernel *multiply = kernel(std::string("linear_packed_") + format.type);
  if (!multiply)
    return state.SkipWithError("no such kernel");
  streamRing(meter, multiply, packedBytes(format, n, k), packedArgs(1, n, k));
}

void runHalfRing(benchmark::State &state, int threads, const char *type) {
  const int64_t n = state.range(0), k = state.range(1);
  Meter meter(state, threads, Meter::Ceiling::Read);
  const ck_kernel *multiply = kernel(std::string("linear_") + type);
  if (!multiply)
    return state.SkipWithError("no such kernel");
  streamRing(meter, multiply, static_cast<size_t>(2 * n * k), halfArgs(1, n, k));
}

} // namespace

void ck::bench::registerQuant() {
  const int64_t shapes[][3] = {{512, 768, 768},   {512, 2048, 768},  {512, 768, 2048},
                               {512, 8192, 2048}, {512, 4096, 4096}, {512, 32000, 768}};
  const auto prompt = [&](const std::string &name, auto... run) {
    auto *bench = benchmark::RegisterBenchmark(name.c_str(), run...);
    bench->ArgNames({"M", "N", "K"})->UseManualTime()->Unit(benchmark::kMicrosecond);
    for (const auto &shape : shapes)
      bench->Args({shape[0], shape[1], shape[2]});
  };
  const auto ring = [](const std::string &name, auto... run) {
    auto *bench = benchmark::RegisterBenchmark(name.c_str(), run...);
    bench->ArgNames({"N", "K"})->UseManualTime()->Unit(benchmark::kMillisecond);
    bench->Args({768, 768})->Args({2048, 768})->Args({768, 2048})->Args({32000, 768})->Args({4096, 4096});
  };
  for (int threads : {1, 2}) {
    const std::string suffix = "/threads:" + std::to_string(threads);
    for (const Format &format : formats) {
      prompt(std::string("quant_linear/") + format.type + suffix, runPrompt, threads, format);
      ring(std::string("quant_ring/") + format.type + suffix, runRing, threads, format);
    }
    for (const char *type : {"f16", "bf16"}) {
      prompt(std::string("half_linear/") + type + suffix, runHalfPrompt, threads, type);
      ring(std::string("half_ring/") + type + suffix, runHalfRing, threads, type);
    }
  }
}
