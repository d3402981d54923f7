//===- activation_grad.cpp - gradients of elementwise activations ---------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pointwise/activation_grad.cpp"
#include "hwy/foreach_target.h"

#include "pointwise/Elementwise.h"
#include "pointwise/Slopes.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

template <typename Function, typename Args> int32_t gradient(ck_context *ctx, const Args *args, Function function) {
  mapFlat(ctx, args->d_output, args->input, args->d_input, args->N,
          [=](F32 dy, F32 x) HWY_ATTR { return dy * function(x).slope; });
  return CK_OK;
}

} // namespace

CK_KERNEL(activation_grad_f32) {
  const float alpha = static_cast<float>(args->alpha);
  switch (args->kind) {
  case CKK_ACTIVATION_GRAD_F32_KIND_SILU:
    return gradient(ctx, args, SiluSlope());
  case CKK_ACTIVATION_GRAD_F32_KIND_GELU_TANH:
    return gradient(ctx, args, GeluTanhSlope());
  case CKK_ACTIVATION_GRAD_F32_KIND_GELU_ERF:
    return gradient(ctx, args, GeluErfSlope());
  case CKK_ACTIVATION_GRAD_F32_KIND_GELU_QUICK:
    return gradient(ctx, args, GeluQuickSlope());
  case CKK_ACTIVATION_GRAD_F32_KIND_RELU:
    return gradient(ctx, args, ReluSlope());
  case CKK_ACTIVATION_GRAD_F32_KIND_LEAKY_RELU:
    return gradient(ctx, args, LeakyReluSlope{alpha});
  case CKK_ACTIVATION_GRAD_F32_KIND_TANH:
    return gradient(ctx, args, TanhSlope());
  case CKK_ACTIVATION_GRAD_F32_KIND_SIGMOID:
    return gradient(ctx, args, SigmoidSlope());
  case CKK_ACTIVATION_GRAD_F32_KIND_EXP:
    return gradient(ctx, args, ExpSlope());
  case CKK_ACTIVATION_GRAD_F32_KIND_SIN:
    return gradient(ctx, args, SinSlope());
  case CKK_ACTIVATION_GRAD_F32_KIND_SOFTCAP:
    return gradient(ctx, args, SoftcapSlope{alpha});
  }
  return ck_fail(ctx, CK_INVALID_ARGUMENT, "kind %lld is not an activation", static_cast<long long>(args->kind));
}

CK_KERNEL(relu2_backward_f32) { return gradient(ctx, args, Relu2Slope()); }

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
