//===- rope.cpp - rotary position embeddings from tables ------------------===//
//
// a' = a cos - b sin, b' = a sin + b cos for each pair (a, b) of a head's first 2P columns. Results may lie in their
// inputs: both elements of a pair are read before either is written.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "rope/rope.cpp"
#include "hwy/foreach_target.h"

#include "Simd.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

/// Pairs are columns (i, i + P).
struct Half {
  static HWY_INLINE void rotate(const float *x, float *y, const float *cosines, const float *sines, float sign,
                                int64_t P) {
    const F32 direction = set(sign);
    for (int64_t i = 0; i < P; i += kLanes) {
      const int64_t n = std::min(kLanes, P - i);
      const F32 c = loadN(cosines + i, n), s = loadN(sines + i, n) * direction;
      const F32 a = loadN(x + i, n), b = loadN(x + P + i, n);
      storeN(hn::MulSub(a, c, b * s), y + i, n);
      storeN(fma(a, s, b * c), y + P + i, n);
    }
  }
};

/// Pairs are columns (2i, 2i+1).
struct Adjacent {
  static HWY_INLINE void rotate(const float *x, float *y, const float *cosines, const float *sines, float sign,
                                int64_t P) {
    const F32 direction = set(sign);
    int64_t i = 0;
    for (; i + kLanes <= P; i += kLanes) {
      const F32 c = load(cosines + i), s = load(sines + i) * direction;
      F32 a, b;
      hn::LoadInterleaved2(F32Tag(), x + 2 * i, a, b);
      hn::StoreInterleaved2(hn::MulSub(a, c, b * s), fma(a, s, b * c), F32Tag(), y + 2 * i);
    }
    if (i == P)
      return;
    HWY_ALIGN float in[2 * kLanes] = {}, out[2 * kLanes];
    const int64_t n = P - i;
    std::memcpy(in, x + 2 * i, static_cast<size_t>(2 * n) * sizeof(float));
    const F32 c = loadN(cosines + i, n), s = loadN(sines + i, n) * direction;
    F32 a, b;
    hn::LoadInterleaved2(F32Tag(), in, a, b);
    hn::StoreInterleaved2(hn::MulSub(a, c, b * s), fma(a, s, b * c), F32Tag(), out);
    std::memcpy(y + 2 * i, out, static_cast<size_t>(2 * n) * sizeof(float));
  }
};

/// An operand and its result; element (t, h, 0) lies at t * rowStride + h * headStride.
struct Heads {
  const float *from;
  float *to;
  int64_t count, rowStride, headStride;
};

template <typename Pairing>
HWY_INLINE void rotateRow(const Heads &heads, int64_t t, int64_t D, int64_t P, const float *cosines, const float *sines,
                          float sign) {
  for (int64_t h = 0; h < heads.count; ++h) {
    const int64_t at = t * heads.rowStride + h * heads.headStride;
    Pairing::rotate(heads.from + at, heads.to + at, cosines, sines, sign, P);
    copyElements(heads.to + at + 2 * P, heads.from + at + 2 * P, D - 2 * P);
  }
}

template <typename Pairing, typename Args>
int32_t rope(ck_context *ctx, const Args *args, const Heads &q, const Heads &k, bool inverse) {
  const int64_t T = args->T, D = args->D, P = args->P, S = args->S;
  if (2 * P > D)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "the tables rotate %lld columns, but a head has %lld",
                   static_cast<long long>(2 * P), static_cast<long long>(D));
  if (const int64_t bad = firstOutside(args->pos, T, S); bad < T)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "pos[%lld] is %d, outside the table of %lld rows",
                   static_cast<long long>(bad), args->pos[bad], static_cast<long long>(S));
  const float sign = inverse ? -1.0f : 1.0f;
  parallelRange(ctx, T, rowsPerTask((q.count + k.count) * D), [&](int64_t begin, int64_t end, int) HWY_ATTR {
    for (int64_t t = begin; t < end; ++t) {
      const float *cosines = args->cos + args->pos[t] * P, *sines = args->sin + args->pos[t] * P;
      rotateRow<Pairing>(q, t, D, P, cosines, sines, sign);
      if (k.from)
        rotateRow<Pairing>(k, t, D, P, cosines, sines, sign);
    }
  });
  return CK_OK;
}

template <typename Pairing, typename Args> int32_t ropeTokenMajor(ck_context *ctx, const Args *args) {
  const int64_t D = args->D;
  return rope<Pairing>(ctx, args, {args->q, args->q_out, args->H, args->H * D, D},
                       {args->k, args->k_out, args->KV, args->KV * D, D}, args->inverse);
}

template <typename Pairing, typename Args> int32_t ropeHeadMajor(ck_context *ctx, const Args *args) {
  const int64_t D = args->D, step = args->T * D;
  return rope<Pairing>(ctx, args, {args->q, args->q_out, args->H, D, step}, {args->k, args->k_out, args->KV, D, step},
                       false);
}

/// A rotation is orthogonal: its adjoint turns the other way.
template <typename Pairing, typename Args> int32_t ropeBackward(ck_context *ctx, const Args *args) {
  const int64_t D = args->D, step = args->T * D;
  return rope<Pairing>(ctx, args, {args->d_q_out, args->d_q, args->H, D, step},
                       {args->d_k_out, args->d_k, args->KV, D, step}, true);
}

} // namespace

CK_KERNEL(rope_forward_qk) { return ropeHeadMajor<Half>(ctx, args); }
CK_KERNEL(rope_forward_qk_pairwise) { return ropeHeadMajor<Adjacent>(ctx, args); }
CK_KERNEL(rope_backward_qk_f32) { return ropeBackward<Half>(ctx, args); }
CK_KERNEL(rope_backward_qk_pairwise_f32) { return ropeBackward<Adjacent>(ctx, args); }
CK_KERNEL(rope_forward_qk_token_major_f32) { return ropeTokenMajor<Half>(ctx, args); }
CK_KERNEL(rope_forward_qk_pairwise_token_major_f32) { return ropeTokenMajor<Adjacent>(ctx, args); }

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
