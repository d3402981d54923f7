//===- Chains.cpp - chains of operations under one contract ---------------===//
//
// A contract is what the operations of its pattern are, one after the other; each is judged by its own reference.
//
//===----------------------------------------------------------------------===//
#include "Pieces.h"

#include <cmath>

namespace ck::reference {
namespace {

Status addRmsNorm(Call &call) {
  std::map<std::string, Tensor> sum = {{"output", call.out("sum")}}, normed = {{"output", call.out("output")}};
  if (Status status = apply("add", {}, {{"a", call.in("a")}, {"b", call.in("b")}}, sum); !status)
    return status;
  call.out("sum") = sum["output"];
  if (Status status = apply("rms_norm", {{"eps", call.number("eps")}},
                            {{"input", sum["output"]}, {"gamma", call.in("gamma")}}, normed);
      !status)
    return status;
  call.out("output") = normed["output"];
  return Status::success();
}

Status linearActivation(Call &call) {
  std::map<std::string, Tensor> inputs = {{"input", call.in("input")}, {"weight", call.in("weight")}};
  if (const Tensor *bias = call.optional("bias"))
    inputs["bias"] = *bias;
  std::map<std::string, Tensor> product = {{"output", call.out("output")}}, output = product;
  if (Status status = apply("linear", {}, inputs, product); !status)
    return status;
  const std::string kind = call.word("kind");
  Params attrs = {{"kind", kind}};
  if (kind == "softcap")
    attrs["alpha"] = call.number("alpha");
  if (Status status = apply("activation", attrs, {{"input", product["output"]}}, output); !status)
    return status;
  call.out("output") = output["output"];
  return Status::success();
}

/// Products of about 1, so that an activation is not at one of its ends.
bool prepareLinear(Call &call, Random &) {
  scaleByPowerOfTwo(call.inputs["weight"], 1 / std::sqrt(static_cast<double>(call.in("input").extent(1))));
  return true;
}

} // namespace

std::vector<Operation> chainOperations() {
  Operation norm;
  norm.name = "add_rms_norm";
  norm.inputs = {"a", "b", "gamma"};
  norm.outputs = {"sum", "output"};
  norm.defaults = {{"eps", 1e-5}};
  norm.evaluate = addRmsNorm;
  norm.draws = {valuesOf("eps", {1e-5, 1e-6})};
  norm.magnitudes = {1, 1e-3, 1e3};

  Operation linear;
  linear.name = "linear_activation";
  linear.inputs = {"input", "weight", "bias?"};
  linear.outputs = {"output"};
  linear.defaults = {{"kind", std::string("silu")}, {"alpha", 3.0}};
  linear.evaluate = linearActivation;
  linear.prepare = prepareLinear;
  return {norm, linear};
}

} // namespace ck::reference
