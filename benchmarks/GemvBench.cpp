//===- GemvBench.cpp - one row times a ring of weights --------------------===//
//
// An iteration reads the whole ring once, matrix after matrix; the ceiling is a plain read of the same ring by as many
// threads.
//
//===----------------------------------------------------------------------===//
#include "Bench.h"

using namespace ck::bench;

namespace {

void runGemv(benchmark::State &state, int threads) {
  const int64_t n = state.range(0), k = state.range(1);
  Meter meter(state, threads, Meter::Ceiling::Read);
  static float *input = makeFloats(1 << 16), *output = makeFloats(1 << 16);
  const Ring ring = weightRing();
  const size_t matrix = static_cast<size_t>(n * k), matrices = ring.count / matrix;
  ckk_gemv_f32_args args = {};
  args.input = input;
  args.output = output;
  args.N = n;
  args.K = k;
  meter.prepare("gemv_f32", args);
  meter.run(4.0 * static_cast<double>(matrix * matrices), [&] {
    for (size_t i = 0; i < matrices; ++i) {
      args.weight = ring.data + i * matrix;
      if (int32_t status = ckk_gemv_f32(meter.context(), &args))
        return status;
    }
    return int32_t(CK_OK);
  });
}

void runHeadColumns(benchmark::State &state, int threads) {
  const int64_t v = state.range(0), e = state.range(1);
  Meter meter(state, threads, Meter::Ceiling::Read);
  static float *input = makeFloats(1 << 16), *logits = makeFloats(1 << 16);
  const Ring ring = weightRing();
  const size_t matrix = static_cast<size_t>(v * e), matrices = ring.count / matrix;
  ckk_head_gemv_embed_major_f32_args args = {};
  args.input = input;
  args.logits = logits;
  args.V = v;
  args.E = e;
  meter.prepare("head_gemv_embed_major_f32", args);
  meter.run(4.0 * static_cast<double>(matrix * matrices), [&] {
    for (size_t i = 0; i < matrices; ++i) {
      args.weight = ring.data + i * matrix;
      if (int32_t status = ckk_head_gemv_embed_major_f32(meter.context(), &args))
        return status;
    }
    return int32_t(CK_OK);
  });
}

} // namespace

void ck::bench::registerGemv() {
  for (int threads : {1, 2}) {
    const std::string suffix = "/threads:" + std::to_string(threads);
    auto *gemv = benchmark::RegisterBenchmark(("gemv_ring" + suffix).c_str(), runGemv, threads);
    gemv->ArgNames({"N", "K"})->UseManualTime()->Unit(benchmark::kMillisecond);
    gemv->Args({768, 768})->Args({2048, 768})->Args({768, 2048})->Args({32000, 768})->Args({4096, 4096});
    auto *head = benchmark::RegisterBenchmark(("head_columns_ring" + suffix).c_str(), runHeadColumns, threads);
    head->ArgNames({"V", "E"})->UseManualTime()->Unit(benchmark::kMillisecond)->Args({32000, 768});
  }
}
