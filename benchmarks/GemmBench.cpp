//===- GemmBench.cpp - matrix products ------------------------------------===//
//
// linear: one weight again and again. linear_stream: a ring of distinct weights, as a prefill meets them. few_rows: the
// same for short prompts, where reading the weights is the limit. train_forward, train_input, train_weight: the three
// products of a training step, with the shapes of a small decoder (1024 rows) and of GPT-2's width (64 rows).
//
//===----------------------------------------------------------------------===//
#include "Bench.h"

using namespace ck::bench;

namespace {

void runLinear(benchmark::State &state, int threads, bool stream, Meter::Ceiling ceiling) {
  const int64_t m = state.range(0), n = state.range(1), k = state.range(2);
  Meter meter(state, threads, ceiling);
  static float *input = makeFloats(512 * 4096), *output = makeFloats(512 * 32000), *packed = makeFloats(512 * 4096);
  const Ring ring = weightRing();
  const size_t matrix = static_cast<size_t>(n * k), matrices = stream ? ring.count / matrix : 1;
  size_t next = 0;
  ckk_gemm_blocked_serial_args args = {};
  args.input = input;
  args.output = output;
  args.packed = packed;
  args.T = m;
  args.K = k;
  args.N = n;
  meter.prepare("gemm_blocked_serial", args);
  const double work = ceiling == Meter::Ceiling::Fma ? 2.0 * m * n * k : 4.0 * n * k;
  meter.run(work, [&] {
    args.weight = ring.data + next++ % matrices * matrix;
    return ckk_gemm_blocked_serial(meter.context(), &args);
  });
}

enum class Product { Forward, Input, Weight };

void runTraining(benchmark::State &state, int threads, Product product) {
  const int64_t t = state.range(0), n = state.range(1), k = state.range(2);
  constexpr size_t kInput = size_t(1024) * 2048, kOutput = size_t(1024) * 4096, kWeight = size_t(50257) * 768;
  Meter meter(state, threads, Meter::Ceiling::Fma);
  static float *input = makeFloats(kInput), *output = makeFloats(kOutput), *weight = makeFloats(kWeight);
  static float *dInput = makeFloats(kInput), *dWeight = makeFloats(kWeight), *scratch = makeFloats(kOutput);
  ckk_gemm_blocked_serial_args forward = {};
  forward.input = input;
  forward.weight = weight;
  forward.output = output;
  forward.packed = scratch;
  ckk_gemm_backward_f32_args backward = {};
  backward.d_output = output;
  backward.input = input;
  backward.weight = weight;
  backward.parts = scratch;
  (product == Product::Input ? backward.d_input : backward.d_weight) = product == Product::Input ? dInput : dWeight;
  forward.T = backward.T = t;
  forward.N = backward.N = n;
  forward.K = backward.K = k;
  if (product == Product::Forward)
    meter.prepare("gemm_blocked_serial", forward);
  else
    meter.prepare("gemm_backward_f32", backward);
  meter.run(2.0 * t * n * k, [&] {
    return product == Product::Forward ? ckk_gemm_blocked_serial(meter.context(), &forward)
                                       : ckk_gemm_backward_f32(meter.context(), &backward);
  });
}

} // namespace

void ck::bench::registerGemm() {
  const int64_t shapes[][3] = {{128, 768, 768},   {128, 2048, 768},  {128, 768, 2048},  {128, 4096, 4096},
                               {256, 1024, 1024}, {512, 768, 768},   {512, 2048, 768},  {512, 768, 2048},
                               {512, 4096, 1024}, {512, 4096, 4096}, {512, 8192, 2048}, {512, 32000, 768}};
  const int64_t training[][3] = {{1024, 384, 384}, {1024, 1024, 384}, {1024, 384, 1024}, {1024, 4096, 384},
                                 {64, 768, 768},   {64, 2048, 768},   {64, 768, 2048},   {64, 50257, 768}};
  for (int threads : {1, 2}) {
    const std::string suffix = "/threads:" + std::to_string(threads);
    for (bool stream : {false, true}) {
      auto *bench = benchmark::RegisterBenchmark(((stream ? "linear_stream" : "linear") + suffix).c_str(), runLinear,
                                                 threads, stream, Meter::Ceiling::Fma);
      bench->ArgNames({"M", "N", "K"})->UseManualTime()->Unit(benchmark::kMicrosecond);
      for (const auto &shape : shapes)
        bench->Args({shape[0], shape[1], shape[2]});
    }
    for (auto [name, product] : {std::pair{"train_forward", Product::Forward},
                                 {"train_input", Product::Input},
                                 {"train_weight", Product::Weight}}) {
      auto *bench = benchmark::RegisterBenchmark((name + suffix).c_str(), runTraining, threads, product);
      bench->ArgNames({"T", "N", "K"})->UseManualTime()->Unit(benchmark::kMicrosecond);
      for (const auto &shape : training)
        bench->Args({shape[0], shape[1], shape[2]});
    }
    auto *few =
        benchmark::RegisterBenchmark(("few_rows" + suffix).c_str(), runLinear, threads, true, Meter::Ceiling::Read);
    few->ArgNames({"M", "N", "K"})->UseManualTime()->Unit(benchmark::kMicrosecond);
    for (int64_t m : {2, 4, 8, 16})
      few->Args({m, 2048, 768});
  }
}
