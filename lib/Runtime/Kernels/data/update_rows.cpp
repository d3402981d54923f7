//===- update_rows.cpp - rows written at run-time positions ---------------===//
//
// Only copies: the C library's memcpy picks its own instructions, so one implementation serves every set.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

CK_PORTABLE_KERNEL(logits_copy_to_position) {
  const int64_t S = args->S, V = args->V;
  if (ck::firstOutside(args->pos, 1, S) == 0)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "pos[0] is %d, outside the buffer of %lld rows", args->pos[0],
                   static_cast<long long>(S));
  ck::copyElements(args->dst + args->pos[0] * V, args->src, V);
  return CK_OK;
}
