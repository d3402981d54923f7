//===- dot_quant.cpp - linear layers of raw quantised weights, in a declared order -===//
//
// Activations come quantised, or are quantised first. DotOrders.h has the orders of sums.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "linear/dot_quant.cpp"
#include "hwy/foreach_target.h"

#include "linear/DotOrders.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

/// output[rows,N] = A W^T + bias.
template <class Dot, class Args> int32_t multiply(ck_context *ctx, const Args &args, int64_t rows, const void *a) {
  const DotProblem problem = {rows, args.N, args.K, static_cast<const uint8_t *>(a),
                              static_cast<const uint8_t *>(args.weight)};
  multiplyBlocks<Dot>(ctx, problem, [&args](int64_t row, int64_t n, float sum) HWY_ATTR {
    args.output[row * args.N + n] = args.bias ? sum + args.bias[n] : sum;
  });
  return CK_OK;
}

/// Activations come quantised.
template <class Dot, class Args> int32_t linear(ck_context *ctx, const Args &args) {
  return multiply<Dot>(ctx, args, args.T, args.input);
}
template <class Dot, class Args> int32_t linearRow(ck_context *ctx, const Args &args) {
  return multiply<Dot>(ctx, args, 1, args.input);
}

/// Activations are quantised first, as Act says where it is not the order's own form.
template <class Dot, class Act = typename Dot::Act, class Args>
int32_t quantizeAndMultiply(ck_context *ctx, const Args &args, int64_t rows) {
  auto *const codes = static_cast<uint8_t *>(args.codes);
  quantizeBlocks<Act>(ctx, args.input, rows * args.K, codes);
  return multiply<Dot>(ctx, args, rows, codes);
}

} // namespace

CK_KERNEL(gemm_nt_q4_0_q8_0) { return linear<DotLanes<RawQ4_0>>(ctx, *args); }
CK_KERNEL(gemm_nt_q4_1_q8_1) { return linear<DotMinLanes<RawQ4_1>>(ctx, *args); }
CK_KERNEL(gemm_nt_q5_0_q8_0) { return linear<DotLanes<RawQ5_0>>(ctx, *args); }
CK_KERNEL(gemm_nt_q5_1_q8_1) { return linear<DotMinLanes<RawQ5_1>>(ctx, *args); }
CK_KERNEL(gemm_nt_q8_0_q8_0) { return linear<DotAscending<RawQ8_0>>(ctx, *args); }
CK_KERNEL(gemm_nt_q4_k_q8_k) { return linear<DotQ4_K>(ctx, *args); }
CK_KERNEL(gemm_nt_q5_k_q8_k) { return linear<DotQ5_K>(ctx, *args); }
CK_KERNEL(gemm_nt_q6_k_q8_k) { return linear<DotQ6_K>(ctx, *args); }

CK_KERNEL(gemv_q5_0_q8_0) { return linearRow<DotLanes<RawQ5_0>>(ctx, *args); }
CK_KERNEL(gemv_q8_0_q8_0) { return linearRow<DotLanes<RawQ8_0>>(ctx, *args); }
CK_KERNEL(gemv_q4_k_q8_k) { return linearRow<DotQ4_K>(ctx, *args); }
CK_KERNEL(gemv_q6_k_q8_k) { return linearRow<DotQ6_K>(ctx, *args); }

CK_KERNEL(gemm_nt_q8_0_q8_0_contract) { return quantizeAndMultiply<DotAscending<RawQ8_0>>(ctx, *args, args->T); }
CK_KERNEL(gemv_q8_0_q8_0_contract) { return quantizeAndMultiply<DotLanes<RawQ8_0>>(ctx, *args, 1); }
CK_KERNEL(gemm_nt_q5_1) { return quantizeAndMultiply<DotMinAscending<RawQ5_1>>(ctx, *args, args->T); }
CK_KERNEL(gemv_q5_1) { return quantizeAndMultiply<DotMinAscending<RawQ5_1>>(ctx, *args, 1); }
CK_KERNEL(gemm_nt_q5_k) { return quantizeAndMultiply<DotQ5_K>(ctx, *args, args->T); }
CK_KERNEL(gemv_q5_k) { return quantizeAndMultiply<DotQ5_K>(ctx, *args, 1); }

CK_KERNEL(gemv_fused_q5_0_bias) { return quantizeAndMultiply<DotAscending<RawQ5_0>, ActQ8_0PlusHalf>(ctx, *args, 1); }
CK_KERNEL(gemv_fused_q8_0_bias) { return quantizeAndMultiply<DotAscending<RawQ8_0>, ActQ8_0PlusHalf>(ctx, *args, 1); }
CK_KERNEL(gemv_fused_q5_0_bias_parallel_omp) { return quantizeAndMultiply<DotLanes<RawQ5_0>>(ctx, *args, 1); }

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
