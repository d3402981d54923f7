//===- Loss.cpp - the two ends of a backward pass -------------------------===//
//
// The loss, from which gradients start, and the table of an embedding, in which they end.
//
//===----------------------------------------------------------------------===//

#include "Pieces.h"

#include <algorithm>
#include <cmath>

namespace ck::reference {
namespace {

constexpr int64_t ignoredTarget = -100;

/// loss = s sum over valid rows of (log sum exp(logits) - logits[target]); s is given or 1 / (number of valid rows).
Status crossEntropy(Call &call) {
  const Tensor &logits = call.in("logits"), &targets = call.in("targets");
  const Tensor *scale = call.optional("scale");
  Tensor &loss = call.out("loss"), *dLogits = call.wanted("d_logits");
  int64_t T = logits.extent(0), V = logits.extent(1), valid = 0;
  if (Status status = call.expectShapes(
          {{"logits", {T, V}}, {"targets", {T}}, {"scale", {1}}, {"loss", {1}}, {"d_logits", {T, V}}});
      !status)
    return status;
  for (int64_t t = 0; t < T; ++t) {
    int64_t target = targets.integer(t);
    if (target != ignoredTarget && (target < 0 || target >= V))
      return invalid("targets[" + std::to_string(t) + "] is " + std::to_string(target));
    valid += target != ignoredTarget;
  }
  double s = scale ? scale->data[0] : 1.0 / static_cast<double>(valid), sum = 0;
  for (int64_t t = 0; t < T; ++t) {
    const double *row = logits.data.data() + (t * V);
    bool ignored = targets.integer(t) == ignoredTarget;
    double top = -INFINITY, total = 0;
    for (int64_t v = 0; v < V; ++v)
      top = std::max(top, row[v]);
    for (int64_t v = 0; v < V; ++v)
      total += std::exp(row[v] - top);
    if (!ignored)
      sum += std::log(total) + top - row[targets.integer(t)];
    for (int64_t v = 0; dLogits && v < V; ++v) {
      double p = std::exp(row[v] - top) / total;
      dLogits->data[t * V + v] = ignored ? 0 : s * (v == targets.integer(t) ? p - 1 : p);
    }
  }
  loss.data[0] = valid ? s * sum : 0;
  return Status::success();
}

/// Each target valid or ignored; now and then all of them ignored.
bool prepareTargets(Call &call, Random &random) {
  Tensor &targets = call.inputs["targets"];
  bool none = random.below(8) == 0;
  if (!fillIndices(targets, call.in("logits").extent(1), random))
    return false;
  for (double &target : targets.data)
    if (none || random.below(5) == 0)
      target = ignoredTarget;
  return true;
}

bool spoilTargets(Call &call, Random &random) {
  return spoilIndex(call.inputs["targets"], call.in("logits").extent(1), random);
}

Status embeddingGrad(Call &call) {
  const Tensor &ids = call.in("ids"), &dOutput = call.in("d_output");
  Tensor &dTable = call.out("d_table");
  int64_t T = ids.extent(0), V = call.integer("rows"), E = dOutput.extent(1);
  if (Status status = call.expectShapes({{"ids", {T}}, {"d_output", {T, E}}, {"d_table", {V, E}}}); !status)
    return status;
  if (Status status = expectIndices("ids", ids, V); !status)
    return status;
  std::fill(dTable.data.begin(), dTable.data.end(), 0.0);
  for (int64_t t = 0; t < T; ++t)
    for (int64_t e = 0; e < E; ++e)
      dTable.data[ids.integer(t) * E + e] += dOutput.data[t * E + e];
  return Status::success();
}

bool prepareIds(Call &call, Random &random) { return fillIndices(call.inputs["ids"], call.integer("rows"), random); }

bool spoilIds(Call &call, Random &random) { return spoilIndex(call.inputs["ids"], call.integer("rows"), random); }

} // namespace

std::vector<Operation> lossOperations() {
  Operation loss;
  loss.name = "cross_entropy";
  loss.inputs = {"logits", "targets", "scale?"};
  loss.outputs = {"loss", "d_logits?"};
  loss.defaults = {{"save", std::string("none")}};
  loss.evaluate = crossEntropy;
  loss.prepare = prepareTargets;
  loss.spoil = spoilTargets;
  loss.magnitudes = {1, 8, 40};

  Operation table;
  table.name = "embedding_grad";
  table.inputs = {"ids", "d_output"};
  table.outputs = {"d_table"};
  table.defaults = {{"rows", int64_t(1)}};
  addAccumulation(table, {"d_table"});
  table.evaluate = embeddingGrad;
  table.draws = {valuesOf("rows", {int64_t(1), int64_t(2), int64_t(7), int64_t(65), int64_t(257), int64_t(1000)})};
  table.prepare = prepareIds;
  table.spoil = spoilIds;
  return {loss, table};
}

} // namespace ck::reference
