//===- rope.cpp - rotary position embeddings from tables ------------------===//
//
// Row t turns by the cosines and sines in row pos[t] of the tables.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "rope/rope.cpp"
#include "hwy/foreach_target.h"

#include "rope/Rotate.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

template <typename Pairing, typename Storage, typename Args>
int32_t rope(ck_context *ctx, const Args *args, const HeadsOf<Storage, Storage> &q, const HeadsOf<Storage, Storage> &k,
             bool inverse) {
  const int64_t T = args->T, D = args->D, P = args->P, S = args->S;
  if (2 * P > D)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "the tables rotate %lld columns, but a head has %lld",
                   static_cast<long long>(2 * P), static_cast<long long>(D));
  if (const int64_t bad = firstOutside(args->pos, T, S); bad < T)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "pos[%lld] is %d, outside the table of %lld rows",
                   static_cast<long long>(bad), args->pos[bad], static_cast<long long>(S));
  const float sign = inverse ? -1.0f : 1.0f;
  parallelRange(ctx, T, rowsPerTask((q.count + k.count) * D), [&](int64_t begin, int64_t end, int thread) HWY_ATTR {
    float *row = std::is_same_v<Storage, InF32> ? nullptr : static_cast<float *>(ck_thread_scratch(ctx, thread));
    for (int64_t t = begin; t < end; ++t) {
      const float *cosines = args->cos + args->pos[t] * P, *sines = args->sin + args->pos[t] * P;
      rotateRow<Pairing>(q, t, D, P, cosines, sines, sign, row);
      if (k.from)
        rotateRow<Pairing>(k, t, D, P, cosines, sines, sign, row);
    }
  });
  return CK_OK;
}

template <typename Pairing, typename Args> int32_t ropeTokenMajor(ck_context *ctx, const Args *args) {
  const int64_t D = args->D;
  return rope<Pairing, InF32>(ctx, args, {args->q, args->q_out, args->H, args->H * D, D},
                              {args->k, args->k_out, args->KV, args->KV * D, D}, args->inverse);
}

template <typename Pairing, typename Storage = InF32, typename Args>
int32_t ropeHeadMajor(ck_context *ctx, const Args *args) {
  return rope<Pairing, Storage>(ctx, args, queries<Storage, Storage>(args), keys<Storage, Storage>(args), false);
}

/// A rotation is orthogonal: its adjoint turns the other way.
template <typename Pairing, typename Storage = InF32, typename Args>
int32_t ropeBackward(ck_context *ctx, const Args *args) {
  const int64_t D = args->D, step = args->T * D;
  return rope<Pairing, Storage>(ctx, args, {args->d_q_out, args->d_q, args->H, D, step},
                                {args->d_k_out, args->d_k, args->KV, D, step}, true);
}

} // namespace

CK_KERNEL(rope_forward_qk) { return ropeHeadMajor<Half>(ctx, args); }
CK_KERNEL(rope_forward_qk_pairwise) { return ropeHeadMajor<Adjacent>(ctx, args); }
CK_KERNEL(rope_forward_qk_bf16) { return ropeHeadMajor<Half, InBF16>(ctx, args); }
CK_KERNEL(rope_backward_qk_f32) { return ropeBackward<Half>(ctx, args); }
CK_KERNEL(rope_backward_qk_pairwise_f32) { return ropeBackward<Adjacent>(ctx, args); }
CK_KERNEL(rope_backward_qk_bf16) { return ropeBackward<Half, InBF16>(ctx, args); }
CK_KERNEL(rope_forward_qk_token_major_f32) { return ropeTokenMajor<Half>(ctx, args); }
CK_KERNEL(rope_forward_qk_pairwise_token_major_f32) { return ropeTokenMajor<Adjacent>(ctx, args); }

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
