//===- Projections.h - layers as problems of the GEMM engine ----*- C++ -*-===//
//
// What the providers of linear layers have in common, whatever their weights are stored in.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_LINEAR_PROJECTIONS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_LINEAR_PROJECTIONS_H
#undef CK_LIB_RUNTIME_KERNELS_LINEAR_PROJECTIONS_H
#else
#define CK_LIB_RUNTIME_KERNELS_LINEAR_PROJECTIONS_H
#endif

#include "Simd.h"
#include "linear/Gemm.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

/// input[m,k] times a weight stored as rows of K, to row-major [m,n].
inline GemmTarget rowsTarget(const void *weight, int64_t n, int64_t k, const float *bias, float *output) {
  GemmTarget target;
  target.b = weight;
  target.bK = 1;
  target.bN = k;
  target.n = n;
  target.bias = bias;
  target.c = output;
  target.strideM = n;
  return target;
}

/// input[m,k] times a weight stored as [k,n].
inline GemmTarget columnsTarget(const void *weight, int64_t n, float *output) {
  GemmTarget target = rowsTarget(weight, n, 1, nullptr, output);
  target.bK = n;
  target.bN = 1;
  return target;
}

/// A row-major input[m,k] times `count` weights of one type.
inline GemmProblem problemOf(GemmType type, const float *input, int64_t m, int64_t k, const GemmTarget *targets,
                             int count, float *packed) {
  GemmProblem problem;
  problem.m = m;
  problem.k = k;
  problem.a = input;
  problem.aM = k;
  problem.aK = 1;
  problem.targets = targets;
  problem.count = count;
  problem.type = type;
  problem.packed = packed;
  return problem;
}

inline int32_t product(ck_context *ctx, GemmType type, const float *input, int64_t m, int64_t k,
                       const GemmTarget &target, float *packed) {
  return gemm(ctx, problemOf(type, input, m, k, &target, 1, packed));
}

/// As product, with cap(x) = softcap * tanh(x / softcap) of each element where softcap is not 0.
inline int32_t cappedProduct(ck_context *ctx, GemmType type, const float *input, int64_t m, int64_t k,
                             const GemmTarget &target, double softcap, float *packed) {
  GemmProblem problem = problemOf(type, input, m, k, &target, 1, packed);
  if (softcap > 0) {
    problem.activation = GemmActivation::Softcap;
    problem.cap = static_cast<float>(softcap);
  }
  return gemm(ctx, problem);
}

/// The three projections of attention, to rows.
template <class Args> int32_t qkvRows(ck_context *ctx, GemmType type, const Args &args, int64_t m, float *packed) {
  const GemmTarget targets[] = {rowsTarget(args.wq, args.NQ, args.E, args.bq, args.q),
                                rowsTarget(args.wk, args.NK, args.E, args.bk, args.k),
                                rowsTarget(args.wv, args.NV, args.E, args.bv, args.v)};
  return gemm(ctx, problemOf(type, args.input, m, args.E, targets, 3, packed));
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_LINEAR_PROJECTIONS_H
