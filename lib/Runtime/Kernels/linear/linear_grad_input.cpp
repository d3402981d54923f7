//===- linear_grad_input.cpp - gradients through frozen stored weights ----===//
//
// d_input = d_output * weight, with the weight widened or de-quantised by the engine as it reads it.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "linear/linear_grad_input.cpp"
#include "hwy/foreach_target.h"

#include "linear/Projections.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

template <class Args> int32_t gradInput(ck_context *ctx, GemmType type, const Args &args) {
  return product(ctx, type, args.d_output, args.T, args.N, columnsTarget(args.weight, args.K, args.d_input), nullptr);
}

} // namespace

CK_KERNEL(linear_grad_input_f16) { return gradInput(ctx, GemmType::F16, *args); }
CK_KERNEL(linear_grad_input_bf16) { return gradInput(ctx, GemmType::BF16, *args); }
CK_KERNEL(linear_grad_input_q4_0) { return gradInput(ctx, GemmType::Q4_0, *args); }
CK_KERNEL(linear_grad_input_q4_1) { return gradInput(ctx, GemmType::Q4_1, *args); }
CK_KERNEL(linear_grad_input_q4_k) { return gradInput(ctx, GemmType::Q4_K, *args); }
CK_KERNEL(linear_grad_input_q5_0) { return gradInput(ctx, GemmType::Q5_0, *args); }
CK_KERNEL(linear_grad_input_q5_1) { return gradInput(ctx, GemmType::Q5_1, *args); }
CK_KERNEL(linear_grad_input_q5_k) { return gradInput(ctx, GemmType::Q5_K, *args); }
CK_KERNEL(linear_grad_input_q6_k) { return gradInput(ctx, GemmType::Q6_K, *args); }
CK_KERNEL(linear_grad_input_q8_0) { return gradInput(ctx, GemmType::Q8_0, *args); }

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
