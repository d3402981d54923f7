//===- activation.cpp - elementwise activations ---------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pointwise/activation.cpp"
#include "hwy/foreach_target.h"

#include "pointwise/Activations.h"
#include "pointwise/Elementwise.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

CK_KERNEL(activation_f32) {
  const auto run = [=](auto function) HWY_ATTR {
    mapFlat(ctx, args->input, args->output, args->N, function);
    return static_cast<int32_t>(CK_OK);
  };
  const float alpha = static_cast<float>(args->alpha);
  switch (args->kind) {
  case CKK_ACTIVATION_F32_KIND_SILU:
    return run(Silu());
  case CKK_ACTIVATION_F32_KIND_GELU_TANH:
    return run(GeluTanh());
  case CKK_ACTIVATION_F32_KIND_GELU_ERF:
    return run(GeluErf());
  case CKK_ACTIVATION_F32_KIND_GELU_QUICK:
    return run(GeluQuick());
  case CKK_ACTIVATION_F32_KIND_RELU:
    return run(Relu());
  case CKK_ACTIVATION_F32_KIND_LEAKY_RELU:
    return run(LeakyRelu{alpha});
  case CKK_ACTIVATION_F32_KIND_TANH:
    return run(Tanh());
  case CKK_ACTIVATION_F32_KIND_SIGMOID:
    return run(Sigmoid());
  case CKK_ACTIVATION_F32_KIND_EXP:
    return run(Exp());
  case CKK_ACTIVATION_F32_KIND_SIN:
    return run(Sin());
  case CKK_ACTIVATION_F32_KIND_SOFTCAP:
    if (alpha == 0)
      return run([](F32 x) HWY_ATTR { return x; });
    return run(Softcap{alpha});
  }
  return ck_fail(ctx, CK_INVALID_ARGUMENT, "kind %lld is not an activation", static_cast<long long>(args->kind));
}

CK_KERNEL(gelu_fast_inplace) {
  mapFlat(ctx, args->input, args->output, args->N, GeluTanh());
  return CK_OK;
}

CK_KERNEL(relu2_forward) {
  mapFlat(ctx, args->input, args->output, args->N, Relu2());
  return CK_OK;
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
