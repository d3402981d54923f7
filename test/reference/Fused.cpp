//===- Fused.cpp - chains of operations that one provider stands for ------===//

#include "Pieces.h"

#include <cmath>

namespace ck::reference {
namespace {

/// input[t,e] / sqrt(mean of squares + eps) * gamma[e].
std::vector<double> rmsNorm(const std::vector<double> &input, const Tensor &gamma, int64_t rows, double eps) {
  const int64_t width = gamma.extent(0);
  std::vector<double> output(input.size());
  for (int64_t t = 0; t < rows; ++t) {
    double squares = 0;
    for (int64_t e = 0; e < width; ++e)
      squares += input[t * width + e] * input[t * width + e];
    for (int64_t e = 0; e < width; ++e)
      output[t * width + e] =
          input[t * width + e] / std::sqrt(squares / static_cast<double>(width) + eps) * gamma.data[e];
  }
  return output;
}

/// output[t,n] = bias[n] + sum_k input[t,k] * weight[n,k].
std::vector<double> project(const std::vector<double> &input, const Tensor &weight, const Tensor *bias, int64_t rows) {
  const int64_t N = weight.extent(0), K = weight.extent(1);
  std::vector<double> output(rows * N);
  for (int64_t t = 0; t < rows; ++t)
    for (int64_t n = 0; n < N; ++n) {
      double sum = bias ? bias->data[n] : 0;
      for (int64_t k = 0; k < K; ++k)
        sum += input[t * K + k] * weight.data[n * K + k];
      output[t * N + n] = sum;
    }
  return output;
}

Status fusedNormQkv(Call &call) {
  const Tensor &input = call.in("input");
  const int64_t T = input.extent(0), E = input.extent(1);
  if (Status status = call.expectShapes({{"gamma", {E}}}); !status)
    return status;
  const std::vector<double> normed = rmsNorm(input.data, call.in("gamma"), T, call.number("eps"));
  for (const char *name : {"q", "k", "v"}) {
    const Tensor &weight = call.in(std::string("w") + name), *bias = call.optional(std::string("b") + name);
    Tensor &output = call.out(name);
    const int64_t heads = call.integer(name[0] == 'q' ? "heads" : "kv_heads"), N = weight.extent(0);
    if (heads < 1 || N % heads || weight.shape != std::vector<int64_t>{N, E} ||
        (bias && bias->shape != std::vector<int64_t>{N}) || output.shape != std::vector<int64_t>{heads, T, N / heads})
      return badCall(std::string("a shape that belongs to ") + name + " does not follow from its weight");
    const std::vector<double> rows = project(normed, weight, bias, T);
    for (int64_t t = 0, D = N / heads; t < T; ++t)
      for (int64_t n = 0; n < N; ++n)
        output.data[(n / D * T + t) * D + n % D] = rows[t * N + n];
  }
  return Status::success();
}

bool prepareNormQkv(Call &call, Random &) {
  for (const char *name : {"wq", "wk", "wv"})
    scaleByPowerOfTwo(call.inputs[name], 1 / std::sqrt(static_cast<double>(call.in("input").extent(1))));
  return true;
}

Status fusedOutMlp(Call &call) {
  const Tensor &attn = call.in("attn"), &residual = call.in("residual");
  const int64_t H = attn.extent(0), T = attn.extent(1), D = attn.extent(2), E = residual.extent(1);
  const int64_t F = call.in("w2").extent(1);
  if (Status status = call.expectShapes({{"residual", {T, E}},
                                         {"gamma", {E}},
                                         {"wo", {E, H * D}},
                                         {"w1", {2 * F, E}},
                                         {"w2", {E, F}},
                                         {"bo", {E}},
                                         {"b1", {2 * F}},
                                         {"b2", {E}},
                                         {"output", {T, E}}});
      !status)
    return status;
  std::vector<double> merged(T * H * D), gated(T * F);
  for (int64_t h = 0; h < H; ++h)
    for (int64_t t = 0; t < T; ++t)
      for (int64_t d = 0; d < D; ++d)
        merged[(t * H + h) * D + d] = attn.data[(h * T + t) * D + d];
  std::vector<double> hidden = project(merged, call.in("wo"), call.optional("bo"), T);
  for (size_t i = 0; i < hidden.size(); ++i)
    hidden[i] += residual.data[i];
  const std::vector<double> pairs =
      project(rmsNorm(hidden, call.in("gamma"), T, call.number("eps")), call.in("w1"), call.optional("b1"), T);
  for (int64_t t = 0; t < T; ++t)
    for (int64_t f = 0; f < F; ++f)
      gated[t * F + f] = activate("silu", pairs[t * 2 * F + f], 0) * pairs[t * 2 * F + F + f];
  call.out("output").data = project(gated, call.in("w2"), call.optional("b2"), T);
  for (size_t i = 0; i < hidden.size(); ++i)
    call.out("output").data[i] += hidden[i];
  return Status::success();
}

bool prepareOutMlp(Call &call, Random &) {
  for (const char *name : {"wo", "w1", "w2"})
    scaleByPowerOfTwo(call.inputs[name], 1 / std::sqrt(static_cast<double>(call.in(name).extent(1))));
  return true;
}

} // namespace

std::vector<Operation> fusedOperations() {
  Operation qkv;
  qkv.name = "fused_norm_qkv";
  qkv.inputs = {"input", "gamma", "wq", "wk", "wv", "bq?", "bk?", "bv?"};
  qkv.outputs = {"q", "k", "v"};
  qkv.defaults = {{"eps", 1e-5}, {"heads", int64_t(0)}, {"kv_heads", int64_t(0)}};
  qkv.evaluate = fusedNormQkv;
  qkv.prepare = prepareNormQkv;
  qkv.draws = {headCounts(), valuesOf("eps", {1e-5, 1e-6})};

  Operation mlp;
  mlp.name = "fused_out_mlp";
  mlp.inputs = {"attn", "residual", "gamma", "wo", "w1", "w2", "bo?", "b1?", "b2?"};
  mlp.outputs = {"output"};
  mlp.defaults = {{"eps", 1e-5}};
  mlp.evaluate = fusedOutMlp;
  mlp.prepare = prepareOutMlp;
  mlp.draws = {valuesOf("eps", {1e-5, 1e-6})};
  return {qkv, mlp};
}

} // namespace ck::reference
