//===- Norm.cpp - normalisation of rows -----------------------------------===//

#include "Pieces.h"

#include <cmath>

namespace ck::reference {
namespace {

Status rmsNorm(Call &call) {
  const Tensor &input = call.in("input");
  const Tensor *gamma = call.optional("gamma");
  Tensor &output = call.out("output"), *rstd = call.wanted("rstd");
  int64_t T = input.extent(0), E = input.extent(1);
  if (Status status = call.expectShapes({{"input", {T, E}}, {"gamma", {E}}, {"output", {T, E}}, {"rstd", {T}}});
      !status)
    return status;
  std::string gain = call.word("gain");
  if ((gain == "none") == (gamma != nullptr))
    return badCall("gain = " + gain + " and the presence of gamma contradict each other");
  for (int64_t t = 0; t < T; ++t) {
    double squares = 0;
    for (int64_t e = 0; e < E; ++e)
      squares += input.data[t * E + e] * input.data[t * E + e];
    double r = 1 / std::sqrt(squares / static_cast<double>(E) + call.number("eps"));
    for (int64_t e = 0; e < E; ++e) {
      double g = gain == "none" ? 1.0 : gain == "weight" ? gamma->data[e] : 1.0 + gamma->data[e];
      output.data[t * E + e] = input.data[t * E + e] * r * g;
    }
    if (rstd)
      rstd->data[t] = r;
  }
  return Status::success();
}

} // namespace

std::vector<Operation> normOperations() {
  Operation norm;
  norm.name = "rms_norm";
  norm.inputs = {"input", "gamma?"};
  norm.outputs = {"output", "rstd?"};
  norm.defaults = {{"eps", 1e-5}, {"gain", std::string("weight")}, {"save_rstd", false}};
  norm.evaluate = rmsNorm;
  norm.draws = {{{{"eps", 1e-5}}, {{"eps", 1e-6}}, {{"eps", 0.25}}}};
  norm.magnitudes = {1, 0.01, 100};
  return {norm};
}

} // namespace ck::reference
