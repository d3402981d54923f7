//===- bf16_pointwise.cpp - elementwise operations on bf16 ----------------===//
//
// Operands widen to f32; where a contract rounds in between, it says so here.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pointwise/bf16_pointwise.cpp"
#include "hwy/foreach_target.h"

#include "pointwise/Activations.h"
#include "pointwise/Bf16.h"
#include "pointwise/Slopes.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

template <typename Function>
int32_t eachElement(ck_context *ctx, const uint16_t *x, uint16_t *y, int64_t n, Function function) {
  parallelRange(ctx, n, kTaskElements,
                [=](int64_t begin, int64_t end, int) HWY_ATTR { mapRow(x + begin, y + begin, end - begin, function); });
  return CK_OK;
}

/// body(t, first column, columns) over pieces of rows of F columns.
template <typename Body> int32_t eachPiece(ck_context *ctx, int64_t T, int64_t F, Body body) {
  const int64_t chunk = std::min(std::max<int64_t>(F, 1), kTaskElements), chunks = ceilDiv(F, chunk);
  parallelRange(ctx, T * chunks, rowsPerTask(chunk), [=](int64_t begin, int64_t end, int) HWY_ATTR {
    for (int64_t i = begin; i < end; ++i)
      body(i / chunks, i % chunks * chunk, std::min(chunk, F - i % chunks * chunk));
  });
  return CK_OK;
}

/// output = combine(gate, up) with rows of gate and up side by side.
template <typename Args, typename Combine> int32_t gated(ck_context *ctx, const Args *args, Combine combine) {
  const uint16_t *input = args->gate;
  uint16_t *output = args->output;
  const int64_t F = args->F;
  return eachPiece(ctx, args->T, F, [=](int64_t t, int64_t from, int64_t n) HWY_ATTR {
    const uint16_t *gate = input + t * 2 * F + from;
    mapRow(gate, gate + F, output + t * F + from, n, combine);
  });
}

} // namespace

CK_KERNEL(ck_residual_add_token_major_bf16_storage) {
  parallelRange(ctx, args->N, kTaskElements, [=](int64_t begin, int64_t end, int) HWY_ATTR {
    mapRow(args->a + begin, args->b + begin, args->output + begin, end - begin,
           [](F32 a, F32 b) HWY_ATTR { return a + b; });
  });
  return CK_OK;
}

CK_KERNEL(final_logit_scale_muse_pytorch_bf16_storage) {
  const float factor = static_cast<float>(args->factor);
  return eachElement(ctx, args->input, args->output, args->N, [=](F32 x) HWY_ATTR { return x * set(factor); });
}

CK_KERNEL(gelu_pytorch_erf_sleef_bf16_storage) {
  return eachElement(ctx, args->input, args->output, args->N, GeluErf());
}

CK_KERNEL(geglu_forward_bf16) {
  return gated(ctx, args, [](F32 gate, F32 up) HWY_ATTR { return GeluTanh()(gate) * up; });
}

CK_KERNEL(swiglu_forward_bf16) {
  return gated(ctx, args, [](F32 gate, F32 up) HWY_ATTR { return vsilu(gate) * up; });
}

CK_KERNEL(swiglu_forward_pytorch_bf16_storage) {
  return gated(ctx, args, [](F32 gate, F32 up) HWY_ATTR { return roundToBF16(vsilu(gate)) * up; });
}

CK_KERNEL(swiglu_backward_bf16) {
  const int64_t F = args->F;
  return eachPiece(ctx, args->T, F, [=](int64_t t, int64_t from, int64_t n) HWY_ATTR {
    const uint16_t *gate = args->gate + t * 2 * F + from;
    const float *dy = args->d_output + t * F + from;
    float *dGate = args->d_gate + t * 2 * F + from;
    eachVector(n, [=](int64_t i, int64_t lanes) HWY_ATTR {
      const F32 d = loadUpTo(dy + i, lanes);
      const Sloped act = SiluSlope()(loadUpTo(gate + i, lanes));
      storeUpTo(d * loadUpTo(gate + F + i, lanes) * act.slope, dGate + i, lanes);
      storeUpTo(d * act.value, dGate + F + i, lanes);
    });
  });
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
