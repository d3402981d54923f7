//===- glu.cpp - gated linear units ---------------------------------------===//
//
// output = act(gate) * up. Split: gate and up are two operands. Stacked: each row of one operand holds the gate in its
// first half and up in its second.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pointwise/glu.cpp"
#include "hwy/foreach_target.h"

#include "pointwise/Activations.h"
#include "pointwise/Elementwise.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

template <typename Activation> struct Gated {
  Activation activation;
  HWY_INLINE F32 operator()(F32 gate, F32 up) const { return activation(gate) * up; }
};

template <typename Activation>
int32_t stacked(ck_context *ctx, const float *input, float *output, int64_t T, int64_t F, Activation activation) {
  // Columns are split as well, because a decode step has a single row.
  const int64_t chunk = std::min(std::max<int64_t>(F, 1), kTaskElements), chunks = ceilDiv(F, chunk);
  parallelRange(ctx, T * chunks, rowsPerTask(chunk), [=](int64_t begin, int64_t end, int) HWY_ATTR {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t t = i / chunks, from = i % chunks * chunk;
      const float *gate = input + t * 2 * F + from;
      mapRow(gate, gate + F, output + t * F + from, std::min(chunk, F - from), Gated<Activation>{activation});
    }
  });
  return CK_OK;
}

} // namespace

CK_KERNEL(swiglu_forward) { return stacked(ctx, args->gate, args->output, args->T, args->F, Silu()); }
CK_KERNEL(geglu_forward_fp32) { return stacked(ctx, args->gate, args->output, args->T, args->F, GeluTanh()); }
CK_KERNEL(geglu_forward_quick) { return stacked(ctx, args->gate, args->output, args->T, args->F, GeluQuick()); }

CK_KERNEL(glu_stacked_f32) {
  const auto run = [=](auto activation)
                       HWY_ATTR { return stacked(ctx, args->gate, args->output, args->T, args->F, activation); };
  switch (args->act) {
  case CKK_GLU_STACKED_F32_ACT_GELU_ERF:
    return run(GeluErf());
  case CKK_GLU_STACKED_F32_ACT_RELU:
    return run(Relu());
  case CKK_GLU_STACKED_F32_ACT_RELU2:
    return run(Relu2());
  case CKK_GLU_STACKED_F32_ACT_SIGMOID:
    return run(Sigmoid());
  }
  return ck_fail(ctx, CK_INVALID_ARGUMENT, "act %lld is not an activation", static_cast<long long>(args->act));
}

CK_KERNEL(glu_split_f32) {
  const auto run = [=](auto activation) HWY_ATTR {
    mapFlat(ctx, args->gate, args->up, args->output, args->T * args->F, Gated<decltype(activation)>{activation});
    return static_cast<int32_t>(CK_OK);
  };
  switch (args->act) {
  case CKK_GLU_SPLIT_F32_ACT_SILU:
    return run(Silu());
  case CKK_GLU_SPLIT_F32_ACT_GELU_TANH:
    return run(GeluTanh());
  case CKK_GLU_SPLIT_F32_ACT_GELU_ERF:
    return run(GeluErf());
  case CKK_GLU_SPLIT_F32_ACT_GELU_QUICK:
    return run(GeluQuick());
  case CKK_GLU_SPLIT_F32_ACT_RELU:
    return run(Relu());
  case CKK_GLU_SPLIT_F32_ACT_RELU2:
    return run(Relu2());
  case CKK_GLU_SPLIT_F32_ACT_SIGMOID:
    return run(Sigmoid());
  }
  return ck_fail(ctx, CK_INVALID_ARGUMENT, "act %lld is not an activation", static_cast<long long>(args->act));
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
