//===- GemmEpilogue.h - from sums to elements of C --------------*- C++ -*-===//
//
// Every path of the engine ends here: a block of sums, row-major, gets bias and activation and is stored in or added to
// C, whose columns may lie in groups. Also the small transposition by which tiles change between rows and columns.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMEPILOGUE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMEPILOGUE_H
#undef CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMEPILOGUE_H
#else
#define CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMEPILOGUE_H
#endif

#include "Quads.h"
#include "linear/Gemm.h"
#include "pointwise/Activations.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

struct Identity {
  HWY_INLINE F32 operator()(F32 x) const { return x; }
};

/// A block of sums on its way to C: sums[i * stride + j] belongs to row m + i, column n + j.
struct Sums {
  const float *data;
  int64_t stride, m, n, rows, cols;
};

/// c[i,j] (+)= act(sums[i,j] + bias[j]).
template <class Activation>
void finishSums(const GemmProblem &problem, const GemmTarget &target, const Sums &sums, Activation activation) {
  for (int64_t done = 0; done < sums.cols;) {
    const int64_t run = target.cN.run(sums.n + done, sums.cols - done);
    const float *const bias = target.bias ? target.bias + sums.n + done : nullptr;
    float *const c = target.c + sums.m * target.strideM + target.cN.offset(sums.n + done);
    for (int64_t j = 0; j < run; j += kLanes) {
      const int64_t n = std::min(kLanes, run - j);
      const F32 b = bias ? loadN(bias + j, n) : zero();
      for (int64_t i = 0; i < sums.rows; ++i) {
        F32 y = loadN(sums.data + i * sums.stride + done + j, n);
        y = activation(bias ? y + b : y);
        float *const at = c + i * target.strideM + j;
        storeN(problem.accumulate ? loadN(at, n) + y : y, at, n);
      }
    }
    done += run;
  }
}

inline void finish(const GemmProblem &problem, const GemmTarget &target, const Sums &sums) {
  switch (problem.activation) {
  case GemmActivation::None:
    return finishSums(problem, target, sums, Identity());
  case GemmActivation::Silu:
    return finishSums(problem, target, sums, Silu());
  case GemmActivation::GeluTanh:
    return finishSums(problem, target, sums, GeluTanh());
  case GemmActivation::GeluErf:
    return finishSums(problem, target, sums, GeluErf());
  case GemmActivation::GeluQuick:
    return finishSums(problem, target, sums, GeluQuick());
  case GemmActivation::Relu:
    return finishSums(problem, target, sums, Relu());
  case GemmActivation::Relu2:
    return finishSums(problem, target, sums, Relu2());
  case GemmActivation::Sigmoid:
    return finishSums(problem, target, sums, Sigmoid());
  case GemmActivation::Tanh:
    return finishSums(problem, target, sums, Tanh());
  case GemmActivation::Softcap:
    return finishSums(problem, target, sums, Softcap{problem.cap});
  }
}

#if HWY_TARGET != HWY_SCALAR
/// Stores the 128-bit blocks of v `stride` elements apart, or adds them to what is there.
HWY_INLINE void storeQuads(F32 v, float *p, int64_t stride, bool add) {
#if HWY_TARGET == HWY_AVX3
  __m128 quad[] = {_mm512_castps512_ps128(v.raw), _mm512_extractf32x4_ps(v.raw, 1), _mm512_extractf32x4_ps(v.raw, 2),
                   _mm512_extractf32x4_ps(v.raw, 3)};
#else
  __m128 quad[] = {_mm256_castps256_ps128(v.raw), _mm256_extractf128_ps(v.raw, 1)};
#endif
#pragma GCC unroll 4
  for (__m128 q : quad) {
    _mm_storeu_ps(p, add ? _mm_add_ps(_mm_loadu_ps(p), q) : q);
    p += stride;
  }
}
#endif

/// Four vectors of kLanes elements become kLanes rows of four: to[i * stride + j] = v[j][i], or += if `add`.
HWY_INLINE void storeTransposed(F32 v0, F32 v1, F32 v2, F32 v3, float *to, int64_t stride, bool add) {
#if HWY_TARGET == HWY_SCALAR
  store(add ? load(to) + v0 : v0, to);
  store(add ? load(to + 1) + v1 : v1, to + 1);
  store(add ? load(to + 2) + v2 : v2, to + 2);
  store(add ? load(to + 3) + v3 : v3, to + 3);
#else
  transposeQuads(v0, v1, v2, v3);
  storeQuads(v0, to, 4 * stride, add);
  storeQuads(v1, to + stride, 4 * stride, add);
  storeQuads(v2, to + 2 * stride, 4 * stride, add);
  storeQuads(v3, to + 3 * stride, 4 * stride, add);
#endif
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMEPILOGUE_H
