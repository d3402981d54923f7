//===- linear_stored.cpp - linear layers of weights as files hold them ----===//
//
// 16-bit and block-quantised weights with f32 activations: each weight is worth exactly what its format says, and sums
// are those of the GEMM engine.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "linear/linear_stored.cpp"
#include "hwy/foreach_target.h"

#include "Simd.h"
#include "linear/Gemm.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

/// A weight of rows of k elements with its destination, row-major [m, n].
GemmTarget storedTarget(const void *weight, int64_t n, int64_t k, const float *bias, float *output) {
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

GemmProblem storedProblem(GemmType type, const float *input, int64_t m, int64_t k, const GemmTarget *targets, int count,
                          float *packed) {
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

template <class Args> int32_t linear(ck_context *ctx, GemmType type, const Args &args, int64_t rows, float *packed) {
  const GemmTarget target = storedTarget(args.weight, args.N, args.K, args.bias, args.output);
  return gemm(ctx, storedProblem(type, args.input, rows, args.K, &target, 1, packed));
}

template <class Args> int32_t head(ck_context *ctx, GemmType type, const Args &args) {
  const GemmTarget target = storedTarget(args.weight, args.V, args.E, nullptr, args.logits);
  GemmProblem problem = storedProblem(type, args.input, args.T, args.E, &target, 1, args.packed);
  if (args.softcap > 0) {
    problem.activation = GemmActivation::Softcap;
    problem.cap = static_cast<float>(args.softcap);
  }
  return gemm(ctx, problem);
}

template <class Args> int32_t qkv(ck_context *ctx, GemmType type, const Args &args) {
  const GemmTarget targets[] = {storedTarget(args.wq, args.NQ, args.E, args.bq, args.q),
                                storedTarget(args.wk, args.NK, args.E, args.bk, args.k),
                                storedTarget(args.wv, args.NV, args.E, args.bv, args.v)};
  return gemm(ctx, storedProblem(type, args.input, args.T, args.E, targets, 3, args.packed));
}

} // namespace

#define CK_LINEAR(id, TYPE)                                                                                            \
  CK_KERNEL(id) { return linear(ctx, GemmType::TYPE, *args, args->T, args->packed); }
#define CK_GEMV(id, TYPE)                                                                                              \
  CK_KERNEL(id) { return linear(ctx, GemmType::TYPE, *args, 1, nullptr); }
#define CK_HEAD(id, TYPE)                                                                                              \
  CK_KERNEL(id) { return head(ctx, GemmType::TYPE, *args); }
#define CK_QKV(id, TYPE)                                                                                               \
  CK_KERNEL(id) { return qkv(ctx, GemmType::TYPE, *args); }

CK_LINEAR(linear_f16, F16)
CK_LINEAR(linear_bf16, BF16)
CK_LINEAR(linear_q4_0, Q4_0)
CK_LINEAR(linear_q4_1, Q4_1)
CK_LINEAR(linear_q5_1, Q5_1)
CK_LINEAR(linear_q5_k, Q5_K)
CK_LINEAR(gemm_nt_q4_k, Q4_K)
CK_LINEAR(gemm_nt_q5_0, Q5_0)
CK_LINEAR(gemm_nt_q6_k, Q6_K)
CK_LINEAR(gemm_nt_q8_0, Q8_0)
CK_GEMV(gemv_q4_k, Q4_K)
CK_GEMV(gemv_q5_0, Q5_0)
CK_GEMV(gemv_q6_k, Q6_K)
CK_GEMV(gemv_q8_0, Q8_0)
CK_HEAD(head_f16, F16)
CK_HEAD(head_bf16, BF16)
CK_HEAD(head_q4_0, Q4_0)
CK_HEAD(head_q4_1, Q4_1)
CK_HEAD(head_q5_0, Q5_0)
CK_HEAD(head_q5_1, Q5_1)
CK_HEAD(head_q8_0, Q8_0)
CK_HEAD(head_q4_k, Q4_K)
CK_HEAD(head_q5_k, Q5_K)
CK_HEAD(head_q6_k, Q6_K)
CK_QKV(qkv_linear_f16, F16)
CK_QKV(qkv_linear_bf16, BF16)

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
