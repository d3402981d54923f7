//===- argmax.cpp - index of the largest value of each row ----------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/argmax.cpp"
#include "hwy/foreach_target.h"

#include "Rows.h"
#include "Simd.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

/// The first index that holds `value`, 0 if none does.
HWY_INLINE int64_t firstEqual(const float *x, int64_t n, float value) {
  const F32 wanted = set(value);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    if (const intptr_t lane = hn::FindFirstTrue(F32Tag(), load(x + i) == wanted); lane >= 0)
      return i + lane;
  for (; i < n; ++i)
    if (x[i] == value)
      return i;
  return 0;
}

} // namespace

CK_KERNEL(argmax_f32) {
  const int64_t V = args->V;
  parallelRange(ctx, args->T, rowsPerTask(V), [=](int64_t begin, int64_t end, int) HWY_ATTR {
    for (int64_t t = begin; t < end; ++t) {
      const float *row = args->input + t * V;
      args->output[t] = static_cast<int32_t>(firstEqual(row, V, largest(row, V)));
    }
  });
  return CK_OK;
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
