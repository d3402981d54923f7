//===- Text.cpp - tokens of a text, and tokens that were drafted ----------===//

#include "Pieces.h"

#include <cmath>

namespace ck::reference {
namespace {

constexpr double mostInt32 = 2147483647;

Status speculativeVerify(Call &call) {
  const Tensor &logits = call.in("logits");
  int64_t V = logits.extent(0), best = -1;
  if (Status status = call.expectShapes({{"logits", {V}}, {"draft_token", {1}}, {"accepted", {1}}, {"token", {1}}});
      !status)
    return status;
  for (int64_t v = 0; v < V; ++v)
    if (!std::isnan(logits.data[v]) && (best < 0 || logits.data[v] > logits.data[best]))
      best = v;
  call.out("token").data[0] = static_cast<double>(best);
  call.out("accepted").data[0] = best >= 0 && call.in("draft_token").integer(0) == best;
  return Status::success();
}

/// Ties, and drafts that are right as often as wrong.
bool prepareVerify(Call &call, Random &random) {
  Tensor &logits = call.inputs["logits"];
  int64_t V = logits.extent(0), best = 0;
  for (int64_t v = 1; v < V; ++v)
    if (logits.data[v] > logits.data[best])
      best = v;
  if (V > 1 && random.below(2)) {
    int64_t other = random.below(V);
    logits.data[other] = logits.data[best];
    best = std::min(best, other);
  }
  call.inputs["draft_token"].data[0] = static_cast<double>(random.below(2) ? best : random.below(V + 1) - 1);
  return true;
}

Status speculativeCommit(Call &call) {
  int64_t L = call.in("buffer").extent(0);
  for (const char *name : {"accepted", "token", "count", "target_pos", "draft_pos", "n_accepted", "n_rejected"})
    if (Status status = call.expectShapes({{name, {1}}}); !status)
      return status;
  bool accepted = call.in("accepted").integer(0) != 0;
  const char *counter = accepted ? "n_accepted" : "n_rejected";
  for (const char *name : {"target_pos", counter})
    if (call.in(name).data[0] == mostInt32)
      return invalid(std::string(name) + " cannot grow");
  int64_t count = call.in("count").integer(0);
  if (count >= 0 && count < L) {
    call.out("buffer").data[count] = call.in("token").data[0];
    call.out("count").data[0] += 1;
  }
  call.out("target_pos").data[0] += 1;
  call.out("draft_pos").data[0] = call.out("target_pos").data[0];
  call.out(counter).data[0] += 1;
  return Status::success();
}

/// A buffer that is empty, partly full or full; now and then a count that is not valid.
bool prepareCommit(Call &call, Random &random) {
  call.inputs["accepted"].data[0] = static_cast<double>(random.below(2));
  call.inputs["count"].data[0] = static_cast<double>(random.below(call.in("buffer").extent(0) + 3) - 1);
  return true;
}

bool spoilCommit(Call &call, Random &random) {
  bool accepted = call.in("accepted").integer(0) != 0;
  const char *name = random.below(2) ? "target_pos" : accepted ? "n_accepted" : "n_rejected";
  call.inputs[name].data[0] = call.outputs[name].data[0] = mostInt32;
  return true;
}

} // namespace

std::vector<Operation> textOperations() {
  Operation verify;
  verify.name = "speculative_verify";
  verify.inputs = {"logits", "draft_token"};
  verify.outputs = {"accepted", "token"};
  verify.evaluate = speculativeVerify;
  verify.prepare = prepareVerify;

  Operation commit;
  commit.name = "speculative_commit";
  commit.inputs = {"accepted", "token", "buffer", "count", "target_pos", "draft_pos", "n_accepted", "n_rejected"};
  commit.outputs = {"buffer", "count", "target_pos", "draft_pos", "n_accepted", "n_rejected"};
  commit.evaluate = speculativeCommit;
  commit.prepare = prepareCommit;
  commit.spoil = spoilCommit;
  return {verify, commit};
}

} // namespace ck::reference
