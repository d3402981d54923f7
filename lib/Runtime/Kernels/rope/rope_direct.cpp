//===- rope_direct.cpp - rotary position embeddings without tables --------===//
//
// Pair i of row t turns by pos[t] theta^(-2i/R) / factor_i. The angles of a row are computed once for all its heads.
//
//===----------------------------------------------------------------------===//
#include "rope/Angles.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "rope/rope_direct.cpp"
#include "hwy/foreach_target.h"

#include "rope/Rotate.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

/// Every power of its own: position * step^i.
struct Powers {
  float step;
  Powers(float theta, int64_t R) : step(std::pow(theta, -2.0f / static_cast<float>(R))) {}
  template <typename Use> void operator()(float position, int64_t P, Use use) const {
    for (int64_t i = 0; i < P; ++i)
      use(i, position * std::pow(step, static_cast<float>(i)));
  }
};

/// Each angle is the one before it times step.
struct Recursion {
  float step;
  Recursion(float theta, int64_t R) : step(std::pow(theta, -2.0f / static_cast<float>(R))) {}
  template <typename Use> void operator()(float position, int64_t P, Use use) const {
    for (int64_t i = 0; i < P; ++i, position *= step)
      use(i, position);
  }
};

template <typename Angles, typename Args>
int32_t ropeDirect(ck_context *ctx, const Args *args, const HeadsOf<InF32, InF32> &q, const HeadsOf<InF32, InF32> &k) {
  const int64_t T = args->T, D = args->D, P = args->P;
  if (const int32_t status = checkAngles(ctx, "pos", args->pos, T, args->theta))
    return status;
  const Angles angles(static_cast<float>(args->theta), 2 * P);
  const float sign = args->inverse ? -1.0f : 1.0f, *factors = args->freq_factors;
  const int64_t work = (q.count + k.count) * D + P * kAngleCost;
  parallelRange(ctx, T, rowsPerTask(work), [&](int64_t begin, int64_t end, int thread) HWY_ATTR {
    float *cosines = static_cast<float *>(ck_thread_scratch(ctx, thread)), *sines = cosines + P;
    for (int64_t t = begin; t < end; ++t) {
      angles(static_cast<float>(args->pos[t]), P, [&](int64_t i, float angle) {
        if (factors)
          angle /= factors[i];
        cosines[i] = std::cos(angle), sines[i] = std::sin(angle);
      });
      rotateRow<Half>(q, t, D, P, cosines, sines, sign, nullptr);
      if (k.from)
        rotateRow<Half>(k, t, D, P, cosines, sines, sign, nullptr);
    }
  });
  return CK_OK;
}

} // namespace

CK_KERNEL(rope_forward_qk_split_direct) {
  return ropeDirect<Powers>(ctx, args, queries<InF32, InF32>(args), keys<InF32, InF32>(args));
}
CK_KERNEL(rope_forward_q_gemma4) { return ropeDirect<Powers>(ctx, args, queries<InF32, InF32>(args), {}); }
CK_KERNEL(rope_forward_qk_split_llama) {
  return ropeDirect<Recursion>(ctx, args, queries<InF32, InF32>(args), keys<InF32, InF32>(args));
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
