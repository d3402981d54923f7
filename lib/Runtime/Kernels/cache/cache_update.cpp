//===- cache_update.cpp - new keys and values into their caches -----------===//
//
// Only copies: the C library's memcpy picks its own instructions, so one implementation serves every set.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

CK_PORTABLE_KERNEL(cache_update_f32) {
  const int64_t T = args->T, S = args->S, KV = args->KV, D = args->D;
  const int64_t limit = args->ring ? (S > 0 ? INT64_MAX : 0) : S;
  if (const int64_t bad = ck::firstOutside(args->pos, T, limit); bad < T)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "pos[%lld] is %d, outside the cache of %lld rows",
                   static_cast<long long>(bad), args->pos[bad], static_cast<long long>(S));
  // A task owns whole heads, so that of two rows with one slot the later one stays.
  ck::parallelRange(ctx, KV, ck::rowsPerTask(2 * T * D), [=](int64_t begin, int64_t end, int) {
    for (int64_t g = begin; g < end; ++g)
      for (int64_t t = 0; t < T; ++t) {
        const int64_t slot = args->ring ? args->pos[t] % S : args->pos[t];
        const int64_t to = (g * S + slot) * D, from = (t * KV + g) * D;
        ck::copyElements(args->k_cache + to, args->k + from, D);
        ck::copyElements(args->v_cache + to, args->v + from, D);
      }
  });
  return CK_OK;
}
