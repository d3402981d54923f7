//===- glu_grad.cpp - gradients of gated linear units ---------------------===//
//
// d_gate = d_output * up * act'(gate), d_up = d_output * act(gate). Split: each is an operand of its own. Stacked: rows
// of gate and up side by side, and so are their gradients.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pointwise/glu_grad.cpp"
#include "hwy/foreach_target.h"

#include "pointwise/Elementwise.h"
#include "pointwise/Slopes.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

/// n elements; a result may be any of the inputs.
template <typename Slope>
HWY_INLINE void gradRow(const float *dy, const float *gate, const float *up, float *dGate, float *dUp, int64_t n,
                        Slope slope) {
  eachVector(n, [=](int64_t i, int64_t lanes) HWY_ATTR {
    const F32 d = loadUpTo(dy + i, lanes), u = loadUpTo(up + i, lanes);
    const Sloped act = slope(loadUpTo(gate + i, lanes));
    storeUpTo(d * u * act.slope, dGate + i, lanes);
    storeUpTo(d * act.value, dUp + i, lanes);
  });
}

template <typename Slope, typename Args> int32_t splitGrad(ck_context *ctx, const Args *args, Slope slope) {
  parallelRange(ctx, args->T * args->F, kTaskElements, [=](int64_t begin, int64_t end, int) HWY_ATTR {
    gradRow(args->d_output + begin, args->gate + begin, args->up + begin, args->d_gate + begin, args->d_up + begin,
            end - begin, slope);
  });
  return CK_OK;
}

template <typename Slope, typename Args> int32_t stackedGrad(ck_context *ctx, const Args *args, Slope slope) {
  const int64_t F = args->F, chunk = std::min(std::max<int64_t>(F, 1), kTaskElements), chunks = ceilDiv(F, chunk);
  parallelRange(ctx, args->T * chunks, rowsPerTask(chunk), [=](int64_t begin, int64_t end, int) HWY_ATTR {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t t = i / chunks, from = i % chunks * chunk;
      const float *gate = args->gate + t * 2 * F + from;
      float *dGate = args->d_gate + t * 2 * F + from;
      gradRow(args->d_output + t * F + from, gate, gate + F, dGate, dGate + F, std::min(chunk, F - from), slope);
    }
  });
  return CK_OK;
}

} // namespace

CK_KERNEL(swiglu_backward_exact) { return stackedGrad(ctx, args, SiluSlope()); }
CK_KERNEL(geglu_backward_exact) { return stackedGrad(ctx, args, GeluTanhSlope()); }

CK_KERNEL(glu_grad_stacked_f32) {
  switch (args->act) {
  case CKK_GLU_GRAD_STACKED_F32_ACT_GELU_ERF:
    return stackedGrad(ctx, args, GeluErfSlope());
  case CKK_GLU_GRAD_STACKED_F32_ACT_GELU_QUICK:
    return stackedGrad(ctx, args, GeluQuickSlope());
  case CKK_GLU_GRAD_STACKED_F32_ACT_RELU:
    return stackedGrad(ctx, args, ReluSlope());
  case CKK_GLU_GRAD_STACKED_F32_ACT_RELU2:
    return stackedGrad(ctx, args, Relu2Slope());
  case CKK_GLU_GRAD_STACKED_F32_ACT_SIGMOID:
    return stackedGrad(ctx, args, SigmoidSlope());
  }
  return ck_fail(ctx, CK_INVALID_ARGUMENT, "act %lld is not an activation", static_cast<long long>(args->act));
}

CK_KERNEL(glu_grad_split_f32) {
  switch (args->act) {
  case CKK_GLU_GRAD_SPLIT_F32_ACT_SILU:
    return splitGrad(ctx, args, SiluSlope());
  case CKK_GLU_GRAD_SPLIT_F32_ACT_GELU_TANH:
    return splitGrad(ctx, args, GeluTanhSlope());
  case CKK_GLU_GRAD_SPLIT_F32_ACT_GELU_ERF:
    return splitGrad(ctx, args, GeluErfSlope());
  case CKK_GLU_GRAD_SPLIT_F32_ACT_GELU_QUICK:
    return splitGrad(ctx, args, GeluQuickSlope());
  case CKK_GLU_GRAD_SPLIT_F32_ACT_RELU:
    return splitGrad(ctx, args, ReluSlope());
  case CKK_GLU_GRAD_SPLIT_F32_ACT_RELU2:
    return splitGrad(ctx, args, Relu2Slope());
  case CKK_GLU_GRAD_SPLIT_F32_ACT_SIGMOID:
    return splitGrad(ctx, args, SigmoidSlope());
  }
  return ck_fail(ctx, CK_INVALID_ARGUMENT, "act %lld is not an activation", static_cast<long long>(args->act));
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
