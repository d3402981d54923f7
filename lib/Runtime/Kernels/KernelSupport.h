//===- KernelSupport.h - what every kernel needs ----------------*- C++ -*-===//
//
// Target independent helpers: the generated argument structs, task grids over a context's team, and the choice of the
// instruction sets for which Highway compiles each kernel file. Include it first, before Simd.h.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_RUNTIME_KERNELS_KERNELSUPPORT_H
#define CK_LIB_RUNTIME_KERNELS_KERNELSUPPORT_H

#ifdef HIGHWAY_HWY_DETECT_TARGETS_H_
#error "KernelSupport.h selects Highway's targets and must come before any Highway header"
#endif
// Exactly three targets: scalar, AVX2 (with FMA) and AVX-512 F+BW+DQ+VL, whatever -march says.
#define HWY_BROKEN_EMU128 1
#define HWY_BASELINE_TARGETS HWY_SCALAR
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)

#include "ck/Runtime/Runtime.h"

// The args structs and prototypes of the kernels in this source file; a file without kernels has none.
#ifdef CK_KERNEL_PROTOTYPES
#if __has_include(CK_KERNEL_PROTOTYPES)
extern "C" {
#include CK_KERNEL_PROTOTYPES
}
#endif
#endif

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

/// Opens the definition of provider `id` where one implementation serves every instruction set (its map lists `scalar`
/// alone); the body sees `ctx` and `args`. See CK_KERNEL in Simd.h for the others.
#define CK_PORTABLE_KERNEL(id) extern "C" int32_t ckk_##id##__scalar(ck_context *ctx, const ckk_##id##_args *args)

namespace ck {

/// Elements of cheap work that are worth handing to another thread.
inline constexpr int64_t kTaskElements = 16384;

inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Calls body(i, thread) for i in [0, tasks) over the team. `tasks` must be a function of shapes alone.
template <typename Body> void parallelFor(ck_context *ctx, int64_t tasks, Body &&body) {
  using Fn = std::remove_reference_t<Body>;
  ck_parallel(ctx, tasks, [](void *data, int64_t i, int thread) { (*static_cast<Fn *>(data))(i, thread); }, &body);
}

/// Calls body(begin, end, thread) for consecutive ranges of at most `grain` items that cover [0, items).
template <typename Body> void parallelRange(ck_context *ctx, int64_t items, int64_t grain, Body &&body) {
  parallelFor(ctx, ceilDiv(items, grain),
              [&](int64_t i, int thread) { body(i * grain, std::min(items, (i + 1) * grain), thread); });
}

/// Rows per task such that a task does about kTaskElements of work.
inline int64_t rowsPerTask(int64_t elementsPerRow) {
  return std::max<int64_t>(1, kTaskElements / std::max<int64_t>(1, elementsPerRow));
}

/// The first of n indices that is outside [0, limit), n if all are inside.
inline int64_t firstOutside(const int32_t *indices, int64_t n, int64_t limit) {
  int64_t i = 0;
  while (i < n && indices[i] >= 0 && indices[i] < limit)
    ++i;
  return i;
}

/// Copies n elements between ranges that are disjoint or the same.
template <typename Element> void copyElements(Element *to, const Element *from, int64_t n) {
  if (to != from && n > 0)
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(Element));
}

/// n zeros. The C library writes long runs of them without reading the lines first.
inline void clearElements(float *to, int64_t n) {
  if (n > 0)
    std::memset(to, 0, static_cast<size_t>(n) * sizeof(float));
}

} // namespace ck

#endif // CK_LIB_RUNTIME_KERNELS_KERNELSUPPORT_H
