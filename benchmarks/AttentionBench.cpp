//===- AttentionBench.cpp - attention as training runs it -----------------===//
//
// Causal attention over the rows of a call, forward with its log-sum-exp and backward. Work counts the products of
// visible pairs alone: two of them forward, five backward. With sequences:B the rows are B packed sequences.
//
//===----------------------------------------------------------------------===//
#include "Bench.h"

using namespace ck::bench;

namespace {

constexpr int64_t kMaxRows = 4096, kMaxWidth = 12 * 128;

/// Operands of both passes. The layouts hold equally much.
struct Operands {
  float *q = makeFloats(kMaxRows * kMaxWidth), *k = makeFloats(kMaxRows * kMaxWidth);
  float *v = makeFloats(kMaxRows * kMaxWidth), *output = makeFloats(kMaxRows * kMaxWidth);
  float *lse = makeFloats(kMaxRows * kMaxWidth), *dOutput = makeFloats(kMaxRows * kMaxWidth);
  float *dQ = makeFloats(kMaxRows * kMaxWidth), *dK = makeFloats(kMaxRows * kMaxWidth);
  float *dV = makeFloats(kMaxRows * kMaxWidth);
  std::vector<float> delta = std::vector<float>(kMaxRows * kMaxWidth);
  std::vector<int32_t> ranges = std::vector<int32_t>(2 * kMaxRows);
};

struct Shape {
  int64_t T, H, KV, D, sequences;
  /// Multiply-adds of one product over the visible pairs of all heads, as operations.
  double product() const {
    const double rows = static_cast<double>(T) / static_cast<double>(sequences);
    return 2.0 * static_cast<double>(H * D * sequences) * rows * (rows + 1) / 2;
  }
};

template <typename Args> void describe(const Shape &shape, const std::vector<int32_t> &seqs, Args &args) {
  args.seqs = shape.sequences > 1 ? seqs.data() : nullptr;
  args.T = shape.T, args.H = shape.H, args.KV = shape.KV, args.D = shape.D, args.B = shape.sequences + 1;
}

template <typename Args> using Kernel = int32_t (*)(ck_context *, const Args *);

template <typename Forward, typename Backward>
void runAttention(benchmark::State &state, int threads, bool backward, Kernel<Forward> forwardKernel,
                  const char *forwardName, Kernel<Backward> backwardKernel, const char *backwardName) {
  static Operands data;
  const Shape shape = {state.range(0), state.range(1), state.range(2), state.range(3), state.range(4)};
  std::vector<int32_t> seqs;
  for (int64_t b = 0; b <= shape.sequences; ++b)
    seqs.push_back(static_cast<int32_t>(b * shape.T / shape.sequences));
  Meter meter(state, threads, Meter::Ceiling::Fma);
  Forward forward = {};
  forward.q = data.q, forward.k = data.k, forward.v = data.v, forward.output = data.output, forward.lse = data.lse;
  describe(shape, seqs, forward);
  meter.prepare(forwardName, forward);
  if (!backward)
    return meter.run(2 * shape.product(), [&] { return forwardKernel(meter.context(), &forward); });
  forwardKernel(meter.context(), &forward);
  Backward args = {};
  args.d_output = data.dOutput, args.q = data.q, args.k = data.k, args.v = data.v;
  args.output = data.output, args.lse = data.lse, args.d_q = data.dQ, args.d_k = data.dK, args.d_v = data.dV;
  args.delta = data.delta.data(), args.ranges = data.ranges.data();
  describe(shape, seqs, args);
  meter.prepare(backwardName, args);
  meter.run(5 * shape.product(), [&] { return backwardKernel(meter.context(), &args); });
}

void runTokenMajor(benchmark::State &state, int threads, bool backward) {
  runAttention<ckk_attention_token_major_f32_args, ckk_attention_grad_token_major_f32_args>(
      state, threads, backward, ckk_attention_token_major_f32, "attention_token_major_f32",
      ckk_attention_grad_token_major_f32, "attention_grad_token_major_f32");
}

void runHeadMajor(benchmark::State &state, int threads, bool backward) {
  runAttention<ckk_attention_head_major_f32_args, ckk_attention_grad_head_major_f32_args>(
      state, threads, backward, ckk_attention_head_major_f32, "attention_head_major_f32",
      ckk_attention_grad_head_major_f32, "attention_grad_head_major_f32");
}

} // namespace

void ck::bench::registerAttention() {
  for (int threads : {1, 2})
    for (bool backward : {false, true})
      for (bool headMajor : {false, true}) {
        const std::string name = std::string(backward ? "attention_grad" : "attention") +
                                 (headMajor ? "_head_major" : "_token_major") + "/threads:" + std::to_string(threads);
        auto *bench =
            benchmark::RegisterBenchmark(name.c_str(), headMajor ? runHeadMajor : runTokenMajor, threads, backward);
        bench->ArgNames({"T", "H", "KV", "D", "sequences"})->UseManualTime()->Unit(benchmark::kMicrosecond);
        for (int64_t T : {256, 512, 1024, 2048})
          bench->Args({T, 6, 6, 64, 1});
        if (headMajor)
          continue;
        for (int64_t T : {64, 256, 1024})
          bench->Args({T, 12, 12, 64, 1});
        bench->Args({1024, 6, 6, 64, 4})
            ->Args({1024, 8, 4, 64, 1})
            ->Args({1024, 8, 2, 128, 1})
            ->Args({257, 6, 6, 64, 1});
      }
}
