//===- Pointwise.cpp - operations on one element at a time ----------------===//

#include "Pieces.h"

namespace ck::reference {
namespace {

Status activation(Call &call) {
  const Tensor &input = call.in("input");
  Tensor &output = call.out("output");
  if (Status status = call.expectShapes({{"output", input.shape}}); !status)
    return status;
  if (!isActivation(call.word("kind")))
    return badCall("there is no activation " + call.word("kind"));
  for (int64_t i = 0; i < input.elements(); ++i)
    output.data[i] = activate(call.word("kind"), input.data[i], call.number("alpha"));
  return Status::success();
}

/// Two operands are gate and up; one operand holds both, gate in the first half of each row.
Status glu(Call &call) {
  const Tensor &gate = call.in("gate"), *up = call.optional("up");
  Tensor &output = call.out("output");
  std::string act = call.word("act");
  if (!isActivation(act))
    return badCall("there is no activation " + act);
  if (up) {
    if (Status status = call.expectShapes({{"up", gate.shape}, {"output", gate.shape}}); !status)
      return status;
    for (int64_t i = 0; i < gate.elements(); ++i)
      output.data[i] = activate(act, gate.data[i], 0) * up->data[i];
    return Status::success();
  }
  int64_t T = gate.extent(0), F = output.extent(1);
  if (Status status = call.expectShapes({{"gate", {T, 2 * F}}, {"output", {T, F}}}); !status)
    return status;
  for (int64_t t = 0; t < T; ++t)
    for (int64_t f = 0; f < F; ++f)
      output.data[t * F + f] = activate(act, gate.data[t * 2 * F + f], 0) * gate.data[t * 2 * F + F + f];
  return Status::success();
}

Status add(Call &call) {
  const Tensor &a = call.in("a"), &b = call.in("b");
  if (Status status = call.expectShapes({{"b", a.shape}, {"output", a.shape}}); !status)
    return status;
  for (int64_t i = 0; i < a.elements(); ++i)
    call.out("output").data[i] = call.number("scale") * (a.data[i] + call.number("alpha") * b.data[i]);
  return Status::success();
}

Status mul(Call &call) {
  const Tensor &a = call.in("a"), &b = call.in("b");
  if (Status status = call.expectShapes({{"b", a.shape}, {"output", a.shape}}); !status)
    return status;
  for (int64_t i = 0; i < a.elements(); ++i)
    call.out("output").data[i] = a.data[i] * b.data[i];
  return Status::success();
}

std::vector<Params> kinds(const char *attr, std::initializer_list<const char *> names) {
  std::vector<Params> list;
  for (const char *name : names)
    list.push_back({{attr, std::string(name)}});
  return list;
}

} // namespace

std::vector<Operation> pointwiseOperations() {
  Operation act;
  act.name = "activation";
  act.inputs = {"input"};
  act.outputs = {"output"};
  act.defaults = {{"kind", std::string("silu")}, {"alpha", 0.0}};
  act.evaluate = activation;
  act.draws = {{{{"alpha", 0.01}}, {{"alpha", 5.0}}},
               kinds("kind", {"silu", "gelu_tanh", "gelu_erf", "gelu_quick", "relu", "relu2", "leaky_relu", "tanh",
                              "sigmoid", "exp", "sin", "softcap"})};
  act.magnitudes = {1, 0.1, 8, 40};

  Operation gated;
  gated.name = "glu";
  gated.inputs = {"gate", "up?"};
  gated.outputs = {"output"};
  gated.defaults = {{"act", std::string("silu")}};
  gated.evaluate = glu;
  gated.draws = {kinds("act", {"silu", "gelu_tanh", "gelu_erf", "gelu_quick", "relu", "relu2", "sigmoid"})};
  gated.magnitudes = {1, 0.1, 8, 40};

  Operation sum;
  sum.name = "add";
  sum.inputs = {"a", "b"};
  sum.outputs = {"output"};
  sum.defaults = {{"alpha", 1.0}, {"scale", 1.0}};
  sum.evaluate = add;
  sum.draws = {{{{"alpha", 1.0}}, {{"alpha", -0.5}}, {{"alpha", 2.0}}}, {{{"scale", 1.0}}, {{"scale", 0.7071}}}};

  Operation product;
  product.name = "mul";
  product.inputs = {"a", "b"};
  product.outputs = {"output"};
  product.evaluate = mul;
  return {act, gated, sum, product};
}

} // namespace ck::reference
