//===- StreamBench.cpp - kernels that memory limits -----------------------===//
//
// Gradients of norms and gates, the loss, optimizers: an iteration works on operands larger than the caches and counts
// the bytes that must move, each operand read or written once. The ceiling is a plain read.
//
//===----------------------------------------------------------------------===//
#include "Bench.h"

#include <string>

using namespace ck::bench;

namespace {

/// Operands of a case: slices of one piece of memory that is made once, each a multiple of 64 bytes.
class Slices {
public:
  float *take(int64_t count) {
    float *slice = base() + used;
    used += (static_cast<size_t>(count) + 15) / 16 * 16;
    return slice;
  }
  /// Second moments and the like, which are not negative.
  float *takePositive(int64_t count) {
    float *slice = take(count);
    for (int64_t i = 0; i < count; ++i)
      slice[i] = slice[i] < 0 ? -slice[i] : slice[i];
    return slice;
  }

private:
  static float *base() {
    static float *memory = makeFloats(size_t(160) << 20);
    return memory;
  }
  size_t used = 0;
};

constexpr int64_t kElements = int64_t(16) << 20;

void runAdamW(benchmark::State &state, int threads) {
  Meter meter(state, threads, Meter::Ceiling::Read);
  static const float rate = 1e-4f;
  static const int32_t step = 7;
  Slices slices;
  ckk_adamw_update_f32_args args = {};
  args.L = kElements;
  args.w = slices.take(kElements);
  args.m = slices.take(kElements);
  args.v = slices.takePositive(kElements);
  args.grad = slices.take(kElements);
  args.lr = &rate;
  args.step = &step;
  args.beta1 = 0.9;
  args.beta2 = 0.95;
  args.eps = 1e-8;
  args.weight_decay = 0.1;
  meter.run(28.0 * static_cast<double>(kElements), [&] { return ckk_adamw_update_f32(meter.context(), &args); });
}

void runSumSquares(benchmark::State &state, int threads) {
  Meter meter(state, threads, Meter::Ceiling::Read);
  static double sum = 0, partials[kElements / 65536];
  Slices slices;
  ckk_sum_squares_f32_args args = {};
  args.L = kElements;
  args.input = slices.take(kElements);
  args.sum = &sum;
  args.partials = partials;
  meter.run(4.0 * static_cast<double>(kElements), [&] { return ckk_sum_squares_f32(meter.context(), &args); });
}

void runAccumulate(benchmark::State &state, int threads) {
  Meter meter(state, threads, Meter::Ceiling::Read);
  Slices slices;
  ckk_gradient_accumulate_f32_args args = {};
  args.L = kElements;
  args.dst = slices.take(kElements);
  args.src = slices.take(kElements);
  meter.run(12.0 * static_cast<double>(kElements), [&] { return ckk_gradient_accumulate_f32(meter.context(), &args); });
}

void runZero(benchmark::State &state, int threads) {
  Meter meter(state, threads, Meter::Ceiling::Read);
  Slices slices;
  ckk_zero_f32_args args = {};
  args.L = kElements;
  args.dst = slices.take(kElements);
  meter.run(4.0 * static_cast<double>(kElements), [&] { return ckk_zero_f32(meter.context(), &args); });
}

void runRmsNormGrad(benchmark::State &state, int threads) {
  const int64_t T = state.range(0), E = state.range(1);
  Meter meter(state, threads, Meter::Ceiling::Read);
  Slices slices;
  ckk_rmsnorm_backward_args args = {};
  args.T = T;
  args.E = E;
  args.d_output = slices.take(T * E);
  args.input = slices.take(T * E);
  args.gamma = slices.take(E);
  args.rstd = slices.takePositive(T);
  args.d_input = slices.take(T * E);
  args.d_gamma = slices.take(E);
  args.partials = slices.take(32 * E);
  meter.run(12.0 * static_cast<double>(T * E), [&] { return ckk_rmsnorm_backward(meter.context(), &args); });
}

void runSwigluGrad(benchmark::State &state, int threads) {
  const int64_t T = state.range(0), F = state.range(1);
  Meter meter(state, threads, Meter::Ceiling::Read);
  Slices slices;
  ckk_glu_grad_split_f32_args args = {};
  args.T = T;
  args.F = F;
  args.act = CKK_GLU_GRAD_SPLIT_F32_ACT_SILU;
  args.d_output = slices.take(T * F);
  args.gate = slices.take(T * F);
  args.up = slices.take(T * F);
  args.d_gate = slices.take(T * F);
  args.d_up = slices.take(T * F);
  meter.run(20.0 * static_cast<double>(T * F), [&] { return ckk_glu_grad_split_f32(meter.context(), &args); });
}

void runCrossEntropy(benchmark::State &state, int threads) {
  const int64_t T = state.range(0), V = state.range(1);
  Meter meter(state, threads, Meter::Ceiling::Read);
  Slices slices;
  static std::vector<int32_t> targets;
  static std::vector<double> losses;
  targets.assign(static_cast<size_t>(T), 0);
  losses.assign(static_cast<size_t>(T), 0);
  for (int64_t t = 0; t < T; ++t)
    targets[static_cast<size_t>(t)] = static_cast<int32_t>(t * 7919 % V);
  float loss = 0;
  ckk_softmax_cross_entropy_loss_args args = {};
  args.T = T;
  args.V = V;
  args.logits = slices.take(T * V);
  args.d_logits = slices.take(T * V);
  args.targets = targets.data();
  args.losses = losses.data();
  args.loss = &loss;
  meter.run(8.0 * static_cast<double>(T * V), [&] { return ckk_softmax_cross_entropy_loss(meter.context(), &args); });
}

void runEmbeddingGrad(benchmark::State &state, int threads) {
  const int64_t T = state.range(0), V = state.range(1), E = state.range(2);
  Meter meter(state, threads, Meter::Ceiling::Read);
  Slices slices;
  static std::vector<int32_t> ids;
  ids.assign(static_cast<size_t>(T), 0);
  for (int64_t t = 0; t < T; ++t)
    ids[static_cast<size_t>(t)] = static_cast<int32_t>(t * 7919 % V);
  ckk_embedding_grad_f32_args args = {};
  args.T = T;
  args.V = V;
  args.E = E;
  args.ids = ids.data();
  args.d_output = slices.take(T * E);
  args.d_table = slices.take(V * E);
  // The table is cleared, then some of its rows are read and written.
  meter.run(4.0 * static_cast<double>(V * E + 3 * T * E),
            [&] { return ckk_embedding_grad_f32(meter.context(), &args); });
}

} // namespace

void ck::bench::registerStreams() {
  for (int threads : {1, 2}) {
    auto add = [&](const char *name, void (*run)(benchmark::State &, int)) {
      auto *bench = benchmark::RegisterBenchmark((std::string(name) + "/threads:" + std::to_string(threads)).c_str(),
                                                 run, threads);
      return bench->UseManualTime()->Unit(benchmark::kMillisecond);
    };
    add("adamw", runAdamW);
    add("sum_squares", runSumSquares);
    add("accumulate", runAccumulate);
    add("zero", runZero);
    add("rms_norm_grad", runRmsNormGrad)->ArgNames({"T", "E"})->Args({1024, 384})->Args({16384, 768});
    add("swiglu_grad", runSwigluGrad)->ArgNames({"T", "F"})->Args({1024, 1024})->Args({8192, 2048});
    add("cross_entropy", runCrossEntropy)->ArgNames({"T", "V"})->Args({1024, 4096})->Args({64, 50257});
    add("embedding_grad", runEmbeddingGrad)->ArgNames({"T", "V", "E"})->Args({1024, 4096, 384})->Args({64, 50257, 768});
  }
}
