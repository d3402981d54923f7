//===- speculative.cpp - accept or reject a drafted token -----------------===//
#include "KernelSupport.h"

/// The target's own choice is the first of its largest logits; a NaN is never chosen.
CK_PORTABLE_KERNEL(speculative_verify_greedy_f32) {
  (void)ctx;
  const float *const logits = args->logits;
  int64_t best = -1;
  for (int64_t v = 0; v < args->V; ++v)
    if (!std::isnan(logits[v]) && (best < 0 || logits[v] > logits[best]))
      best = v;
  *args->token = static_cast<int32_t>(best);
  *args->accepted = best >= 0 && *args->draft_token == best;
  return CK_OK;
}

/// A token that finds no room in the buffer is dropped, but counts.
CK_PORTABLE_KERNEL(speculative_commit_one_i32) {
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  int32_t *const counter = *args->accepted ? args->n_accepted : args->n_rejected;
  if (*args->target_pos == kMost || *counter == kMost)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "%s is %d and cannot grow",
                   *args->target_pos == kMost ? "target_pos"
                   : *args->accepted          ? "n_accepted"
                                              : "n_rejected",
                   kMost);
  if (*args->count >= 0 && *args->count < args->L)
    args->buffer[(*args->count)++] = *args->token;
  ++*args->target_pos;
  *args->draft_pos = *args->target_pos;
  ++*counter;
  return CK_OK;
}
