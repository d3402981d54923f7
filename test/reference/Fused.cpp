//===- Fused.cpp - chains of operations that one provider stands for ------===//

#include "Pieces.h"

#include <cmath>

namespace ck::reference {
namespace {

using Tensors = std::map<std::string, Tensor>;

/// One step with one result of the shape given.
Result<Tensor> step(const char *name, const Params &attrs, const Tensors &inputs, std::vector<int64_t> shape) {
  Tensors outputs = {{"output", Tensor::zeros(std::move(shape))}};
  if (Status status = apply(name, attrs, inputs, outputs); !status)
    return status.error();
  return outputs["output"];
}

/// Adds `bias` of the call to the operands of a projection, if it is there.
Tensors projection(const Call &call, const Tensor &input, const char *weight, const char *bias) {
  Tensors inputs = {{"input", input}, {"weight", call.in(weight)}};
  if (const Tensor *present = call.optional(bias))
    inputs["bias"] = *present;
  return inputs;
}

Status fusedNormQkv(Call &call) {
  const Tensor &input = call.in("input");
  Result<Tensor> normed =
      step("rms_norm", {{"eps", call.number("eps")}}, {{"input", input}, {"gamma", call.in("gamma")}}, input.shape);
  if (!normed)
    return normed.error();
  Tensors inputs = {{"input", *normed}};
  for (const char *name : {"wq", "wk", "wv", "bq", "bk", "bv"})
    if (const Tensor *present = call.optional(name))
      inputs[name] = *present;
  return apply(
      "qkv_linear",
      {{"layout", std::string("head_major")}, {"heads", call.integer("heads")}, {"kv_heads", call.integer("kv_heads")}},
      inputs, call.outputs);
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
  Tensor merged = Tensor::zeros({T, H * D});
  for (int64_t h = 0; h < H; ++h)
    for (int64_t t = 0; t < T; ++t)
      for (int64_t d = 0; d < D; ++d)
        merged.data[(t * H + h) * D + d] = attn.data[(h * T + t) * D + d];
  Result<Tensor> value = step("linear", {}, projection(call, merged, "wo", "bo"), {T, E});
  if (value)
    value = step("add", {}, {{"a", *value}, {"b", residual}}, {T, E});
  if (!value)
    return value.error();
  const Tensor hidden = *value;
  value = step("rms_norm", {{"eps", call.number("eps")}}, {{"input", hidden}, {"gamma", call.in("gamma")}}, {T, E});
  if (value)
    value = step("linear", {}, projection(call, *value, "w1", "b1"), {T, 2 * F});
  if (value)
    value = step("glu", {{"act", std::string("silu")}}, {{"gate", *value}}, {T, F});
  if (value)
    value = step("linear", {}, projection(call, *value, "w2", "b2"), {T, E});
  if (value)
    value = step("add", {}, {{"a", *value}, {"b", hidden}}, {T, E});
  if (!value)
    return value.error();
  call.out("output").data = value->data;
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
