//===- Registry.cpp - finding and calling kernels -------------------------===//
//
// The one door through which every engine calls a kernel: instruction set, scratch and profile are settled here.
//
//===----------------------------------------------------------------------===//
#include "Registry.h"
#include "Context.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

using namespace ck;

const ck_kernel *const *ck_kernels(size_t *count) {
  if (count)
    *count = ck_kernel_table_size;
  return ck_kernel_table;
}

const ck_kernel *ck_find_kernel(const char *id) {
  const ck_kernel *const *end = ck_kernel_table + ck_kernel_table_size;
  const ck_kernel *const *found =
      std::lower_bound(ck_kernel_table, end, id,
                       [](const ck_kernel *kernel, const char *id) { return std::strcmp(kernel->id, id) < 0; });
  return found != end && !std::strcmp((*found)->id, id) ? *found : nullptr;
}

static ck_kernel_fn bestImplementation(const ck_kernel *kernel, ck_isa isa) {
  for (int i = isa; i >= 0; --i)
    if (kernel->implementation[i])
      return kernel->implementation[i];
  return nullptr;
}

static int32_t callUnsupported(ck_context *ctx, const ck_kernel *kernel) {
  for (int i = ctx->isa + 1; i < CK_ISA_COUNT; ++i)
    if (kernel->implementation[i])
      return ck_fail(ctx, CK_UNSUPPORTED, "%s: needs %s, but this context runs %s", kernel->id, ck_isa_name(ck_isa(i)),
                     ck_isa_name(ctx->isa));
  return ck_fail(ctx, CK_UNSUPPORTED, "%s: has no implementation in this build", kernel->id);
}

/// The profile row of `kernel`; null when there is no memory for it.
static ck_profile_row *profileRow(ck_context *ctx, const ck_kernel *kernel) {
  for (ck_profile_row &row : ctx->profile)
    if (row.kernel == kernel->id)
      return &row;
  try {
    ctx->profile.push_back({kernel->id, 0, 0});
    return &ctx->profile.back();
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

static int32_t callProfiled(ck_context *ctx, const ck_kernel *kernel, ck_kernel_fn function, const void *args) {
  auto start = std::chrono::steady_clock::now();
  int32_t code = function(ctx, args);
  std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (ck_profile_row *row = profileRow(ctx, kernel)) {
    ++row->calls;
    row->seconds += elapsed.count();
  }
  return code;
}

template <typename T> static int32_t checkFinite(ck_context *ctx, const T *operand, int64_t count, const char *name) {
  for (int64_t i = 0; operand && i < count; ++i)
    if (!std::isfinite(operand[i]))
      return ck_fail(ctx, CK_NOT_FINITE, "result '%s' holds %g at element %lld", name, double(operand[i]),
                     (long long)i);
  return CK_OK;
}

int32_t ck_check_finite_f32(ck_context *ctx, const float *operand, int64_t count, const char *name) {
  return checkFinite(ctx, operand, count, name);
}

int32_t ck_check_finite_f64(ck_context *ctx, const double *operand, int64_t count, const char *name) {
  return checkFinite(ctx, operand, count, name);
}

int32_t ck_call_kernel(ck_context *ctx, const ck_kernel *kernel, const void *args) {
  ck_kernel_fn function = bestImplementation(kernel, ctx->isa);
  if (!function)
    return callUnsupported(ctx, kernel);
  if (kernel->thread_scratch) {
    int64_t needed = kernel->thread_scratch(args);
    if (needed > 0 && uint64_t(needed) > ctx->scratchBytes)
      return ck_fail(ctx, CK_INVALID_ARGUMENT, "%s: needs %lld bytes of thread scratch, %zu are reserved", kernel->id,
                     (long long)needed, ctx->scratchBytes);
  }
  uint64_t failures = ctx->failures;
  int32_t code = ctx->profiling ? callProfiled(ctx, kernel, function, args) : function(ctx, args);
  if (code == CK_OK && ctx->checkFinite && kernel->check_finite)
    code = kernel->check_finite(ctx, args);
  return code == CK_OK ? CK_OK : locateError(ctx, code, failures, "%s", kernel->id);
}
