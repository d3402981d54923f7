//===- LayerBench.cpp - the kernels between the products ------------------===//
//
// Shapes of a Llama of width 768 with 12 heads over 4 of keys. Those that move memory are compared with reading their
// inputs from memory, though theirs may come from a cache: a share above 1 says so.
//
//===----------------------------------------------------------------------===//
#include "Bench.h"

using namespace ck::bench;

namespace {

constexpr int64_t kHeads = 12, kKvHeads = 4, kWidth = 64, kEmbed = kHeads * kWidth, kFfn = 2048, kRows = 512;

/// Positions 0, 1, 2, ...
const int32_t *positions() {
  static std::vector<int32_t> values = [] {
    std::vector<int32_t> v(1 << 16);
    for (size_t i = 0; i < v.size(); ++i)
      v[i] = static_cast<int32_t>(i);
    return v;
  }();
  return values.data();
}

void runRmsNorm(benchmark::State &state, int threads) {
  Meter meter(state, threads, Meter::Ceiling::Read);
  static float *input = makeFloats(kRows * kEmbed), *gamma = makeFloats(kEmbed), *output = makeFloats(kRows * kEmbed);
  ckk_rmsnorm_forward_args args = {};
  args.input = input;
  args.gamma = gamma;
  args.output = output;
  args.T = state.range(0);
  args.E = kEmbed;
  args.eps = 1e-5;
  meter.run(4.0 * args.T * kEmbed, [&] { return ckk_rmsnorm_forward(meter.context(), &args); });
}

void runGlu(benchmark::State &state, int threads) {
  Meter meter(state, threads, Meter::Ceiling::Read);
  static float *gate = makeFloats(kRows * kFfn), *up = makeFloats(kRows * kFfn), *output = makeFloats(kRows * kFfn);
  ckk_glu_split_f32_args args = {};
  args.gate = gate;
  args.up = up;
  args.output = output;
  args.T = state.range(0);
  args.F = kFfn;
  args.act = CKK_GLU_SPLIT_F32_ACT_SILU;
  meter.run(8.0 * args.T * kFfn, [&] { return ckk_glu_split_f32(meter.context(), &args); });
}

void runRope(benchmark::State &state, int threads) {
  Meter meter(state, threads, Meter::Ceiling::Read);
  static float *q = makeFloats(kRows * kEmbed), *k = makeFloats(kRows * kKvHeads * kWidth);
  static float *table = makeFloats(2 * 4096 * kWidth / 2);
  ckk_rope_forward_qk_token_major_f32_args args = {};
  args.q = args.q_out = q;
  args.k = args.k_out = k;
  args.pos = positions();
  args.S = 4096;
  args.P = kWidth / 2;
  args.cos = table;
  args.sin = table + args.S * args.P;
  args.T = state.range(0);
  args.H = kHeads;
  args.KV = kKvHeads;
  args.D = kWidth;
  meter.run(4.0 * args.T * (kHeads + kKvHeads) * kWidth,
            [&] { return ckk_rope_forward_qk_token_major_f32(meter.context(), &args); });
}

/// A prompt of T rows over its own keys: half of the T x T scores are visible.
void runAttention(benchmark::State &state, int threads) {
  Meter meter(state, threads, Meter::Ceiling::Fma);
  const int64_t rows = state.range(0);
  static float *q = makeFloats(4096 * kEmbed), *output = makeFloats(4096 * kEmbed);
  static float *k = makeFloats(kKvHeads * 4096 * kWidth), *v = makeFloats(kKvHeads * 4096 * kWidth);
  ckk_attention_cache_f32_args args = {};
  args.q = q;
  args.k = k;
  args.v = v;
  args.pos = positions();
  args.output = output;
  args.T = rows;
  args.H = kHeads;
  args.KV = kKvHeads;
  args.D = kWidth;
  args.S = 4096;
  args.mask = CKK_ATTENTION_CACHE_F32_MASK_CAUSAL;
  meter.prepare("attention_cache_f32", args);
  meter.run(4.0 * kHeads * kWidth * rows * (rows + 1) / 2,
            [&] { return ckk_attention_cache_f32(meter.context(), &args); });
}

/// One row over a cache of S keys.
void runDecodeAttention(benchmark::State &state, int threads) {
  Meter meter(state, threads, Meter::Ceiling::Read);
  const int64_t keys = state.range(0);
  static float *q = makeFloats(kEmbed), *output = makeFloats(kEmbed), *partials = makeFloats(1 << 22);
  static float *k = makeFloats(kKvHeads * 16384 * kWidth), *v = makeFloats(kKvHeads * 16384 * kWidth);
  ckk_attention_decode_cache_f32_args args = {};
  args.q = q;
  args.k = k;
  args.v = v;
  args.pos = positions() + keys - 1;
  args.output = output;
  args.partials = partials;
  args.H = kHeads;
  args.KV = kKvHeads;
  args.D = kWidth;
  args.S = keys;
  args.mask = CKK_ATTENTION_DECODE_CACHE_F32_MASK_CAUSAL;
  meter.prepare("attention_decode_cache_f32", args);
  meter.run(8.0 * kKvHeads * keys * kWidth, [&] { return ckk_attention_decode_cache_f32(meter.context(), &args); });
}

} // namespace

void ck::bench::registerLayers() {
  for (int threads : {1, 2}) {
    const std::string suffix = "/threads:" + std::to_string(threads);
    const auto add = [&](const char *name, void (*run)(benchmark::State &, int), const char *arg,
                         std::vector<int64_t> sizes) {
      auto *bench = benchmark::RegisterBenchmark((name + suffix).c_str(), run, threads);
      bench->ArgNames({arg})->UseManualTime()->Unit(benchmark::kMicrosecond);
      for (int64_t size : sizes)
        bench->Arg(size);
    };
    add("rms_norm", runRmsNorm, "T", {1, kRows});
    add("glu", runGlu, "T", {1, kRows});
    add("rope", runRope, "T", {1, kRows});
    add("attention", runAttention, "T", {128, kRows, 2048});
    add("attention_decode", runDecodeAttention, "S", {512, 4096, 16384});
  }
}
