//===- embedding.cpp - rows of a table by id ------------------------------===//
//
// Only copies: the C library's memcpy picks its own instructions, so one implementation serves every set.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

CK_PORTABLE_KERNEL(embedding_rows_f32) {
  const int64_t T = args->T, V = args->V, E = args->E;
  if (const int64_t bad = ck::firstOutside(args->ids, T, V); bad < T)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "ids[%lld] is %d, outside the vocabulary of %lld",
                   static_cast<long long>(bad), args->ids[bad], static_cast<long long>(V));
  ck::parallelRange(ctx, T, ck::rowsPerTask(E), [=](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t)
      ck::copyElements(args->output + t * E, args->table + args->ids[t] * E, E);
  });
  return CK_OK;
}
