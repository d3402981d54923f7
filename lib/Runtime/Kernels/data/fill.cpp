//===- fill.cpp - constants, and values moved among zeros -----------------===//
//
// The C library's memset and memcpy pick their own instructions, so one implementation serves every set.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

namespace {

// Larger than elsewhere: a store costs little and a long run of them less.
constexpr int64_t kChunk = 4 * ck::kTaskElements;

int32_t fillWith(ck_context *ctx, float *to, int64_t n, float value) {
  ck::parallelRange(ctx, n, kChunk, [=](int64_t begin, int64_t end, int) { std::fill(to + begin, to + end, value); });
  return CK_OK;
}

int32_t clear(ck_context *ctx, float *to, int64_t n) {
  ck::parallelRange(ctx, n, kChunk,
                    [=](int64_t begin, int64_t end, int) { ck::clearElements(to + begin, end - begin); });
  return CK_OK;
}

int32_t lastRowGrad(ck_context *ctx, const float *row, float *to, int64_t T, int64_t E) {
  if (T < 1)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "input has no rows");
  clear(ctx, to, (T - 1) * E);
  ck::copyElements(to + (T - 1) * E, row, E);
  return CK_OK;
}

} // namespace

CK_PORTABLE_KERNEL(zero_f32) { return clear(ctx, args->dst, args->L); }

CK_PORTABLE_KERNEL(fill_f32) { return fillWith(ctx, args->output, args->N, static_cast<float>(args->value)); }

CK_PORTABLE_KERNEL(last_row_grad_f32) { return lastRowGrad(ctx, args->d_output, args->d_input, args->T, args->E); }
CK_PORTABLE_KERNEL(last_element_grad_f32) { return lastRowGrad(ctx, args->d_output, args->d_input, args->T, 1); }

CK_PORTABLE_KERNEL(residual_add_backward_f32) {
  ck::parallelRange(ctx, args->N, kChunk, [=](int64_t begin, int64_t end, int) {
    for (float *to : {args->a, args->b})
      ck::copyElements(to + begin, args->input + begin, end - begin);
  });
  return CK_OK;
}
