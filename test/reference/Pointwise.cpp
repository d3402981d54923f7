//===- Pointwise.cpp - operations on one element at a time ----------------===//

#include "Checked.h"

namespace ck::reference {
namespace {

Status activation(Call &call) {
  const Tensor &input = call.in("input");
  Tensor &output = call.out("output");
  if (Status status = call.expectShapes({{"output", input.shape}}); !status)
    return status;
  if (!isActivation(call.word("kind")))
    return badCall("there is no activation " + call.word("kind"));
  if (call.flag("checked"))
    if (Status status = expectFinite(call, "input"); !status)
      return status;
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

/// One row that is added to every row.
Status biasAdd(Call &call) {
  const Tensor &input = call.in("input"), &bias = call.in("bias");
  int64_t T = input.extent(0), E = input.extent(1);
  if (Status status = call.expectShapes({{"input", {T, E}}, {"bias", {E}}, {"output", {T, E}}}); !status)
    return status;
  for (int64_t t = 0; t < T; ++t)
    for (int64_t e = 0; e < E; ++e)
      call.out("output").data[t * E + e] = input.data[t * E + e] + bias.data[e];
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

Status activationGrad(Call &call) {
  const Tensor &dOutput = call.in("d_output"), &input = call.in("input");
  if (Status status = call.expectShapes({{"d_output", input.shape}, {"d_input", input.shape}}); !status)
    return status;
  if (!isActivation(call.word("kind")))
    return badCall("there is no activation " + call.word("kind"));
  for (int64_t i = 0; i < input.elements(); ++i)
    call.out("d_input").data[i] =
        dOutput.data[i] * activationSlope(call.word("kind"), input.data[i], call.number("alpha"));
  return Status::success();
}

/// d_gate = d_output up act'(gate), d_up = d_output act(gate); a stacked gate has a stacked gradient.
Status gluGrad(Call &call) {
  const Tensor &dOutput = call.in("d_output"), &gate = call.in("gate"), *up = call.optional("up");
  Tensor &dGate = call.out("d_gate"), *dUp = call.wanted("d_up");
  std::string act = call.word("act");
  if (!isActivation(act))
    return badCall("there is no activation " + act);
  if (!up != !dUp)
    return badCall("d_up is a result where up is an operand, and only there");
  int64_t T = gate.extent(0), F = dOutput.extent(1);
  std::vector<int64_t> half = {T, F}, whole = {T, up ? F : 2 * F};
  if (up && gate.shape.size() == 1) // leading dims may be none
    half = whole = gate.shape;
  if (Status status =
          call.expectShapes({{"d_output", half}, {"gate", whole}, {"up", half}, {"d_gate", whole}, {"d_up", half}});
      !status)
    return status;
  for (int64_t i = 0; i < dOutput.elements(); ++i) {
    int64_t at = up ? i : i / F * 2 * F + i % F;
    double x = gate.data[at], u = up ? up->data[i] : gate.data[at + F], dy = dOutput.data[i];
    dGate.data[at] = dy * u * activationSlope(act, x, 0);
    (dUp ? dUp->data[i] : dGate.data[at + F]) = dy * activate(act, x, 0);
  }
  return Status::success();
}

Status scale(Call &call) {
  const Tensor &input = call.in("input");
  if (Status status = call.expectShapes({{"output", input.shape}, {"by", {1}}}); !status)
    return status;
  const Tensor *by = call.optional("by");
  for (int64_t i = 0; i < input.elements(); ++i)
    call.out("output").data[i] = call.number("factor") * (by ? by->data[0] : 1) * input.data[i];
  return Status::success();
}

Status accumulate(Call &call) {
  const Tensor &dst = call.in("dst"), &src = call.in("src");
  if (Status status = call.expectShapes({{"dst", src.shape}}); !status)
    return status;
  for (int64_t i = 0; i < src.elements(); ++i)
    call.out("dst").data[i] = dst.data[i] + src.data[i];
  return Status::success();
}

Status zero(Call &call) {
  for (double &value : call.out("dst").data)
    value = 0;
  return Status::success();
}

Status fill(Call &call) {
  if (Status status = call.expectShapes({{"output", call.in("like").shape}}); !status)
    return status;
  for (double &value : call.out("output").data)
    value = call.number("value");
  return Status::success();
}

bool spoilChecked(Call &call, Random &random) { return spoilFinite(call, "input", random); }

} // namespace

std::vector<Operation> pointwiseOperations() {
  using Word = std::string;
  const std::vector<Params> kinds = valuesOf(
      "kind", {Word("silu"), Word("gelu_tanh"), Word("gelu_erf"), Word("gelu_quick"), Word("relu"), Word("relu2"),
               Word("leaky_relu"), Word("tanh"), Word("sigmoid"), Word("exp"), Word("sin"), Word("softcap")});
  const std::vector<Params> gates = valuesOf("act", {Word("silu"), Word("gelu_tanh"), Word("gelu_erf"),
                                                     Word("gelu_quick"), Word("relu"), Word("relu2"), Word("sigmoid")});

  Operation act;
  act.name = "activation";
  act.inputs = {"input"};
  act.outputs = {"output"};
  act.defaults = {{"kind", std::string("silu")}, {"alpha", 0.0}, {"checked", false}};
  act.evaluate = activation;
  act.spoil = spoilChecked;
  act.draws = {{{{"alpha", 0.01}}, {{"alpha", 5.0}}, {{"alpha", 0.0}}}, kinds};
  act.magnitudes = {1, 0.1, 8, 40};

  Operation gated;
  gated.name = "glu";
  gated.inputs = {"gate", "up?"};
  gated.outputs = {"output"};
  gated.defaults = {{"act", std::string("silu")}};
  gated.evaluate = glu;
  gated.draws = {gates};
  gated.magnitudes = {1, 0.1, 8, 40};

  Operation sum;
  sum.name = "add";
  sum.inputs = {"a", "b"};
  sum.outputs = {"output"};
  sum.defaults = {{"alpha", 1.0}, {"scale", 1.0}};
  sum.evaluate = add;
  sum.draws = {{{{"alpha", 1.0}}, {{"alpha", -0.5}}, {{"alpha", 2.0}}}, {{{"scale", 1.0}}, {{"scale", 0.7071}}}};

  Operation biased;
  biased.name = "bias_add";
  biased.inputs = {"input", "bias"};
  biased.outputs = {"output"};
  biased.evaluate = biasAdd;

  Operation product;
  product.name = "mul";
  product.inputs = {"a", "b"};
  product.outputs = {"output"};
  product.evaluate = mul;

  Operation actGrad = act;
  actGrad.name = "activation_grad";
  actGrad.inputs = {"d_output", "input"};
  actGrad.outputs = {"d_input"};
  actGrad.evaluate = activationGrad;
  actGrad.defaults.erase("checked");
  actGrad.spoil = nullptr;
  actGrad.magnitudes = {1, 0.1, 8};

  Operation gatedGrad = gated;
  gatedGrad.name = "glu_grad";
  gatedGrad.inputs = {"d_output", "gate", "up?"};
  gatedGrad.outputs = {"d_gate", "d_up?"};
  gatedGrad.evaluate = gluGrad;
  gatedGrad.magnitudes = {1, 0.1, 8};

  Operation scaled;
  scaled.name = "scale";
  scaled.inputs = {"input", "by?"};
  scaled.outputs = {"output"};
  scaled.defaults = {{"factor", 1.0}};
  scaled.evaluate = scale;
  scaled.draws = {valuesOf("factor", {0.125, -3.0, 0.7071})};

  Operation added;
  added.name = "accumulate";
  added.inputs = {"dst", "src"};
  added.outputs = {"dst"};
  added.evaluate = accumulate;

  Operation cleared;
  cleared.name = "zero";
  cleared.inputs = {"dst"};
  cleared.outputs = {"dst"};
  cleared.evaluate = zero;

  Operation filled;
  filled.name = "fill";
  filled.inputs = {"like"};
  filled.outputs = {"output"};
  filled.defaults = {{"value", 0.0}};
  filled.evaluate = fill;
  filled.draws = {valuesOf("value", {1.0, -0.5, 0.0})};
  return {act, gated, sum, biased, product, actGrad, gatedGrad, scaled, added, cleared, filled};
}

} // namespace ck::reference
