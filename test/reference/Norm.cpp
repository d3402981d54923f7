//===- Norm.cpp - normalisation of rows and its gradients -----------------===//

#include "Checked.h"

#include <algorithm>
#include <cmath>

namespace ck::reference {
namespace {

/// The factor of a normalised value; `gamma` is null where gain = none.
double gainOf(const std::string &gain, const Tensor *gamma, int64_t e) {
  return gain == "none" ? 1.0 : gain == "weight" ? gamma->data[e] : 1.0 + gamma->data[e];
}

Status expectGain(const std::string &gain, const Tensor *gamma) {
  if ((gain == "none") == (gamma != nullptr))
    return badCall("gain = " + gain + " and the presence of gamma contradict each other");
  return Status::success();
}

double reciprocalRoot(const double *x, int64_t n, double eps) {
  double squares = 0;
  for (int64_t i = 0; i < n; ++i)
    squares += x[i] * x[i];
  return 1 / std::sqrt(squares / static_cast<double>(n) + eps);
}

/// The values of `input`, which may be codes: `codes` = int8 holds one in each element, int4 two in each byte, the
/// first in the low half, 8 more than they mean. Row t of codes is multiplied by input_scale[t].
Result<Tensor> decodeRows(const Call &call, int64_t T, int64_t E) {
  const std::string codes = call.word("codes");
  const Tensor &stored = call.in("input"), *scale = call.optional("input_scale");
  if ((codes == "none") != !scale)
    return badCall("codes = " + codes + " and the presence of input_scale contradict each other");
  if (codes == "int4" && E % 2)
    return badCall("a row of an odd number of codes does not fill bytes");
  if (Status status = call.expectShapes({{"input", {T, codes == "int4" ? E / 2 : E}}, {"input_scale", {T}}}); !status)
    return status.error();
  if (!scale)
    return stored;
  Tensor values = Tensor::zeros({T, E});
  for (int64_t t = 0; t < T; ++t)
    for (int64_t e = 0; e < E; ++e) {
      int64_t code = codes == "int8" ? stored.integer(t * E + e) : stored.integer((t * E + e) / 2);
      if (codes == "int4")
        code = (e % 2 ? code / 16 : code % 16) - 8;
      values.data[t * E + e] = static_cast<double>(code) * scale->data[t];
    }
  return values;
}

Status rmsNorm(Call &call) {
  const Tensor *gamma = call.optional("gamma");
  Tensor &output = call.out("output"), *rstd = call.wanted("rstd");
  int64_t T = output.extent(0), E = output.extent(1);
  if (Status status = call.expectShapes({{"gamma", {E}}, {"output", {T, E}}, {"rstd", {T}}}); !status)
    return status;
  Result<Tensor> input = decodeRows(call, T, E);
  if (!input)
    return input.error();
  std::string gain = call.word("gain");
  if (Status status = expectGain(gain, gamma); !status)
    return status;
  for (double &value : input->data)
    value *= call.number("scale");
  for (int64_t t = 0; t < T; ++t) {
    double r = reciprocalRoot(input->data.data() + (t * E), E, call.number("eps"));
    for (int64_t e = 0; e < E; ++e)
      output.data[t * E + e] = input->data[t * E + e] * r * gainOf(gain, gamma, e);
    if (rstd)
      rstd->data[t] = r;
  }
  return Status::success();
}

/// The gradient of one row y = x r g with r = 1/sqrt(mean(x^2) + eps): dx = r (dy g - x r mean(dy g x r)). Gives the
/// largest sum of the magnitudes of an element's terms: with one column, all of the result but eps cancels.
double rmsNormRowGrad(const double *dy, const double *x, double r, const std::string &gain, const Tensor *gamma,
                      int64_t E, double *dx, double *dgamma) {
  double c = 0, magnitudes = 0, terms = 0;
  for (int64_t e = 0; e < E; ++e) {
    const double product = dy[e] * gainOf(gain, gamma, e) * (x[e] * r);
    c += product;
    magnitudes += std::fabs(product);
  }
  c /= static_cast<double>(E);
  magnitudes /= static_cast<double>(E);
  for (int64_t e = 0; e < E; ++e) {
    const double g = dy[e] * gainOf(gain, gamma, e);
    if (dx)
      dx[e] = r * (g - x[e] * r * c);
    terms = std::max(terms, r * (std::fabs(g) + std::fabs(x[e] * r) * magnitudes));
    if (dgamma)
      dgamma[e] += dy[e] * (x[e] * r);
  }
  return terms;
}

double *rowOf(Tensor *tensor, int64_t row, int64_t width) {
  return tensor ? tensor->data.data() + row * width : nullptr;
}

Status rmsNormGrad(Call &call) {
  const Tensor &dOutput = call.in("d_output"), &rstd = call.in("rstd");
  const Tensor *gamma = call.optional("gamma");
  Tensor *dInput = call.wanted("d_input"), *dGamma = call.wanted("d_gamma");
  int64_t T = dOutput.extent(0), E = dOutput.extent(1);
  if (Status status = call.expectShapes(
          {{"d_output", {T, E}}, {"gamma", {E}}, {"rstd", {T}}, {"d_input", {T, E}}, {"d_gamma", {E}}});
      !status)
    return status;
  Result<Tensor> input = decodeRows(call, T, E);
  if (!input)
    return input.error();
  if (Status status = expectGain(call.word("gain"), gamma); !status)
    return status;
  if (dGamma && !gamma)
    return badCall("d_gamma is wanted, but there is no gamma");
  for (int64_t t = 0; t < T; ++t)
    rmsNormRowGrad(dOutput.data.data() + (t * E), input->data.data() + (t * E), rstd.data[t], call.word("gain"), gamma,
                   E, rowOf(dInput, t, E), rowOf(dGamma, 0, E));
  return Status::success();
}

Status layerNorm(Call &call) {
  const Tensor &input = call.in("input");
  const Tensor *gamma = call.optional("gamma"), *beta = call.optional("beta");
  Tensor &output = call.out("output"), *mean = call.wanted("mean"), *rstd = call.wanted("rstd");
  int64_t T = input.extent(0), E = input.extent(1);
  if (Status status = call.expectShapes(
          {{"input", {T, E}}, {"gamma", {E}}, {"beta", {E}}, {"output", {T, E}}, {"mean", {T}}, {"rstd", {T}}});
      !status)
    return status;
  if (call.flag("checked"))
    for (const char *name : {"input", "gamma", "beta"})
      if (Status status = expectFinite(call, name); !status)
        return status;
  for (int64_t t = 0; t < T; ++t) {
    const double *x = input.data.data() + (t * E);
    double m = 0, magnitudes = 0, variance = 0;
    for (int64_t e = 0; e < E; ++e) {
      m += x[e];
      magnitudes += std::fabs(x[e]);
    }
    m /= static_cast<double>(E);
    for (int64_t e = 0; e < E; ++e)
      variance += (x[e] - m) * (x[e] - m);
    double r = 1 / std::sqrt(variance / static_cast<double>(E) + call.number("eps"));
    for (int64_t e = 0; e < E; ++e)
      output.data[t * E + e] = (x[e] - m) * r * (gamma ? gamma->data[e] : 1) + (beta ? beta->data[e] : 0);
    if (mean) {
      mean->data[t] = m;
      mean->addsUp(magnitudes / static_cast<double>(E));
    }
    if (rstd)
      rstd->data[t] = r;
  }
  return Status::success();
}

/// With h = (x - mean) r and g = dy gamma: dx = r (g - mean(g) - h mean(g h)).
Status layerNormGrad(Call &call) {
  const Tensor &dOutput = call.in("d_output"), &input = call.in("input"), &gamma = call.in("gamma");
  Tensor *dInput = call.wanted("d_input"), *dGamma = call.wanted("d_gamma"), *dBeta = call.wanted("d_beta");
  int64_t T = input.extent(0), E = input.extent(1);
  if (Status status = call.expectShapes({{"d_output", {T, E}},
                                         {"input", {T, E}},
                                         {"gamma", {E}},
                                         {"mean", {T}},
                                         {"rstd", {T}},
                                         {"d_input", {T, E}},
                                         {"d_gamma", {E}},
                                         {"d_beta", {E}}});
      !status)
    return status;
  for (int64_t t = 0; t < T; ++t) {
    const double *dy = dOutput.data.data() + (t * E), *x = input.data.data() + (t * E);
    double m = call.in("mean").data[t], r = call.in("rstd").data[t], meanG = 0, meanGH = 0;
    for (int64_t e = 0; e < E; ++e) {
      meanG += dy[e] * gamma.data[e];
      meanGH += dy[e] * gamma.data[e] * ((x[e] - m) * r);
    }
    meanG /= static_cast<double>(E);
    meanGH /= static_cast<double>(E);
    for (int64_t e = 0; e < E; ++e) {
      double h = (x[e] - m) * r;
      if (dInput)
        dInput->data[t * E + e] = r * (dy[e] * gamma.data[e] - meanG - h * meanGH);
      if (dGamma)
        dGamma->data[e] += dy[e] * h;
      if (dBeta)
        dBeta->data[e] += dy[e];
    }
  }
  return Status::success();
}

/// The shapes that q and k may have: head-major, or tokens of heads side by side.
Status expectHeads(const Call &call, std::initializer_list<const char *> names) {
  int64_t D = call.integer("head_dim");
  for (const char *name : names)
    for (const auto *operands : {&call.inputs, &call.outputs}) {
      auto it = operands->find(name);
      if (it == operands->end())
        continue;
      const std::vector<int64_t> &shape = it->second.shape;
      bool fits = call.word("layout") == "head_major" ? shape.size() == 3 && shape[2] == D
                                                      : shape.size() == 2 && D > 0 && shape[1] % D == 0;
      if (!fits)
        return badCall(std::string(name) + " does not consist of heads of " + std::to_string(D));
    }
  return Status::success();
}

Status qkNorm(Call &call) {
  int64_t D = call.integer("head_dim");
  if (Status status = expectHeads(call, {"q", "k"}); !status)
    return status;
  if (Status status = call.expectShapes(
          {{"q_gamma", {D}}, {"k_gamma", {D}}, {"q_out", call.in("q").shape}, {"k_out", call.in("k").shape}});
      !status)
    return status;
  for (std::string side : {"q", "k"}) {
    const Tensor &x = call.in(side), &gamma = call.in(side + "_gamma");
    for (int64_t row = 0; row < (D ? x.elements() / D : 0); ++row) {
      double r = reciprocalRoot(x.data.data() + (row * D), D, call.number("eps"));
      for (int64_t d = 0; d < D; ++d)
        call.out(side + "_out").data[row * D + d] = x.data[row * D + d] * r * gainOf(call.word("gain"), &gamma, d);
    }
  }
  return Status::success();
}

Status qkNormGrad(Call &call) {
  int64_t D = call.integer("head_dim");
  if (Status status = expectHeads(call, {"q", "k"}); !status)
    return status;
  const std::vector<int64_t> &qShape = call.in("q").shape, &kShape = call.in("k").shape;
  if (Status status = call.expectShapes({{"d_q_out", qShape},
                                         {"d_k_out", kShape},
                                         {"q_gamma", {D}},
                                         {"k_gamma", {D}},
                                         {"d_q", qShape},
                                         {"d_k", kShape},
                                         {"d_q_gamma", {D}},
                                         {"d_k_gamma", {D}}});
      !status)
    return status;
  for (std::string side : {"q", "k"}) {
    const Tensor &dy = call.in("d_" + side + "_out"), &x = call.in(side), &gamma = call.in(side + "_gamma");
    Tensor *dx = call.wanted("d_" + side);
    for (int64_t row = 0; row < (D ? x.elements() / D : 0); ++row) {
      const double terms =
          rmsNormRowGrad(dy.data.data() + (row * D), x.data.data() + (row * D),
                         reciprocalRoot(x.data.data() + (row * D), D, call.number("eps")), call.word("gain"), &gamma, D,
                         rowOf(dx, row, D), rowOf(call.wanted("d_" + side + "_gamma"), 0, D));
      if (dx)
        dx->addsUp(terms);
    }
  }
  return Status::success();
}

/// Codes of all values, scales that are positive.
bool prepareCodes(Call &call, Random &random) {
  const std::string codes = call.word("codes");
  if (codes == "none")
    return true;
  for (double &code : call.inputs["input"].data)
    code = static_cast<double>(codes == "int8" ? random.below(256) - 128 : random.below(256));
  for (double &scale : call.inputs["input_scale"].data)
    scale = static_cast<double>(static_cast<float>(random.uniform(0.001, 0.1)));
  return true;
}

bool spoilChecked(Call &call, Random &random) {
  const char *names[] = {"input", "gamma", "beta"};
  return spoilFinite(call, names[random.below(3)], random);
}

/// The saved reciprocal roots are positive.
bool prepareRstd(Call &call, Random &random) {
  if (call.attrs.count("codes"))
    prepareCodes(call, random);
  for (double &r : call.inputs["rstd"].data)
    r = static_cast<double>(static_cast<float>(random.uniform(0.25, 2)));
  return true;
}

} // namespace

std::vector<Operation> normOperations() {
  const std::vector<Params> epsilons = valuesOf("eps", {1e-5, 1e-6, 0.25});

  Operation rms;
  rms.name = "rms_norm";
  rms.inputs = {"input", "gamma?", "input_scale?"};
  rms.outputs = {"output", "rstd?"};
  rms.defaults = {{"eps", 1e-5},
                  {"gain", std::string("weight")},
                  {"save_rstd", false},
                  {"scale", 1.0},
                  {"codes", std::string("none")}};
  rms.evaluate = rmsNorm;
  rms.prepare = prepareCodes;
  rms.draws = {epsilons, valuesOf("scale", {1.0, 8.0, -0.3})};
  rms.magnitudes = {1, 0.01, 100};

  Operation rmsGrad;
  rmsGrad.name = "rms_norm_grad";
  rmsGrad.inputs = {"d_output", "input", "gamma?", "rstd", "input_scale?"};
  rmsGrad.outputs = {"d_input?", "d_gamma?"};
  rmsGrad.defaults = {{"gain", std::string("weight")}, {"codes", std::string("none")}};
  addAccumulation(rmsGrad, {"d_input", "d_gamma"});
  rmsGrad.evaluate = rmsNormGrad;
  rmsGrad.prepare = prepareRstd;

  Operation layer;
  layer.name = "layer_norm";
  layer.inputs = {"input", "gamma?", "beta?"};
  layer.outputs = {"output", "mean?", "rstd?"};
  layer.defaults = {{"eps", 1e-5}, {"save_stats", false}, {"checked", false}};
  layer.together = {{"mean", "rstd"}};
  layer.evaluate = layerNorm;
  layer.spoil = spoilChecked;
  layer.draws = {epsilons};
  layer.magnitudes = {1, 0.01, 100};

  Operation layerGrad;
  layerGrad.name = "layer_norm_grad";
  layerGrad.inputs = {"d_output", "input", "gamma", "mean", "rstd"};
  layerGrad.outputs = {"d_input?", "d_gamma?", "d_beta?"};
  addAccumulation(layerGrad, {"d_input", "d_gamma", "d_beta"});
  layerGrad.evaluate = layerNormGrad;
  layerGrad.prepare = prepareRstd;

  Operation heads;
  heads.name = "qk_norm";
  heads.inputs = {"q", "k", "q_gamma", "k_gamma"};
  heads.outputs = {"q_out", "k_out"};
  heads.defaults = {
      {"eps", 1e-5}, {"head_dim", int64_t(1)}, {"gain", std::string("weight")}, {"layout", std::string("token_major")}};
  heads.evaluate = qkNorm;
  heads.draws = {epsilons, valuesOf("head_dim", {int64_t(1), int64_t(7), int64_t(8), int64_t(16), int64_t(64),
                                                 int64_t(80), int64_t(128)})};
  heads.magnitudes = {1, 0.01, 100};

  Operation headsGrad = heads;
  headsGrad.name = "qk_norm_grad";
  headsGrad.inputs = {"d_q_out", "d_k_out", "q", "k", "q_gamma", "k_gamma"};
  headsGrad.outputs = {"d_q?", "d_k?", "d_q_gamma?", "d_k_gamma?"};
  addAccumulation(headsGrad, {"d_q_gamma", "d_k_gamma"});
  headsGrad.evaluate = qkNormGrad;
  headsGrad.magnitudes = {1};
  return {rms, rmsGrad, layer, layerGrad, heads, headsGrad};
}

} // namespace ck::reference
