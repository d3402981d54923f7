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

#include "linear/Projections.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

#define CK_LINEAR(id, TYPE)                                                                                            \
  CK_KERNEL(id) {                                                                                                      \
    return product(ctx, GemmType::TYPE, args->input, args->T, args->K,                                                 \
                   rowsTarget(args->weight, args->N, args->K, args->bias, args->output), args->packed);                \
  }
#define CK_GEMV(id, TYPE)                                                                                              \
  CK_KERNEL(id) {                                                                                                      \
    return product(ctx, GemmType::TYPE, args->input, 1, args->K,                                                       \
                   rowsTarget(args->weight, args->N, args->K, args->bias, args->output), nullptr);                     \
  }
#define CK_HEAD(id, TYPE)                                                                                              \
  CK_KERNEL(id) {                                                                                                      \
    return cappedProduct(ctx, GemmType::TYPE, args->input, args->T, args->E,                                           \
                         rowsTarget(args->weight, args->V, args->E, nullptr, args->logits), args->softcap,             \
                         args->packed);                                                                                \
  }
#define CK_QKV(id, TYPE)                                                                                               \
  CK_KERNEL(id) { return qkvRows(ctx, GemmType::TYPE, *args, args->T, args->packed); }

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
