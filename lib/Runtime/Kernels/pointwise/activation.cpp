//===- activation.cpp - elementwise activations ---------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pointwise/activation.cpp"
#include "hwy/foreach_target.h"

#include "pointwise/Activations.h"
#include "pointwise/Elementwise.h"

#ifndef CK_ACTIVATION_KINDS
#define CK_ACTIVATION_KINDS
namespace ck {
/// The order of the map's enum.
enum class ActivationKind : int64_t {
  Silu,
  GeluTanh,
  GeluErf,
  GeluQuick,
  Relu,
  LeakyRelu,
  Tanh,
  Sigmoid,
  Exp,
  Sin,
  Softcap
};
} // namespace ck
#endif

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

CK_KERNEL(activation_f32) {
  const auto run = [=](auto function) HWY_ATTR {
    mapFlat(ctx, args->input, args->output, args->N, function);
    return static_cast<int32_t>(CK_OK);
  };
  const float alpha = static_cast<float>(args->alpha);
  switch (static_cast<ActivationKind>(args->kind)) {
  case ActivationKind::Silu:
    return run(Silu());
  case ActivationKind::GeluTanh:
    return run(GeluTanh());
  case ActivationKind::GeluErf:
    return run(GeluErf());
  case ActivationKind::GeluQuick:
    return run(GeluQuick());
  case ActivationKind::Relu:
    return run(Relu());
  case ActivationKind::LeakyRelu:
    return run(LeakyRelu{alpha});
  case ActivationKind::Tanh:
    return run(Tanh());
  case ActivationKind::Sigmoid:
    return run(Sigmoid());
  case ActivationKind::Exp:
    return run(Exp());
  case ActivationKind::Sin:
    return run(Sin());
  case ActivationKind::Softcap:
    if (alpha == 0)
      return run([](F32 x) HWY_ATTR { return x; });
    return run(Softcap{alpha});
  }
  return ck_fail(ctx, CK_INVALID_ARGUMENT, "kind %lld is not an activation", static_cast<long long>(args->kind));
}

CK_KERNEL(relu2_forward) {
  mapFlat(ctx, args->input, args->output, args->N, Relu2());
  return CK_OK;
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
