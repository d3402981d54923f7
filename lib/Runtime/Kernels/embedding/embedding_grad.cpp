//===- embedding_grad.cpp - rows added to the rows of a table by id -------===//
//
// Tasks take columns, and every task all rows in ascending order: an id that comes twice is added up in that order.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "embedding/embedding_grad.cpp"
#include "hwy/foreach_target.h"

#include "pointwise/Elementwise.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

template <bool kClear, typename Args> int32_t scatterAdd(ck_context *ctx, const Args *args) {
  const int64_t T = args->T, V = args->V, E = args->E;
  if (const int64_t bad = firstOutside(args->ids, T, V); bad < T)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "ids[%lld] is %d, outside the vocabulary of %lld",
                   static_cast<long long>(bad), args->ids[bad], static_cast<long long>(V));
  if (kClear)
    parallelRange(ctx, V * E, 4 * kTaskElements,
                  [=](int64_t begin, int64_t end, int) { clearElements(args->d_table + begin, end - begin); });
  // Whole cache lines, and enough work to be worth a task.
  const int64_t columns = std::max<int64_t>(64, rowsPerTask(T));
  parallelRange(ctx, E, columns, [=](int64_t begin, int64_t end, int) HWY_ATTR {
    for (int64_t t = 0; t < T; ++t) {
      const float *from = args->d_output + t * E;
      float *to = args->d_table + args->ids[t] * E;
      mapRow(to + begin, from + begin, to + begin, end - begin, [](F32 a, F32 b) HWY_ATTR { return a + b; });
    }
  });
  return CK_OK;
}

} // namespace

CK_KERNEL(embedding_grad_f32) { return scatterAdd<true>(ctx, args); }
CK_KERNEL(embedding_backward_f32) { return scatterAdd<false>(ctx, args); }

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
