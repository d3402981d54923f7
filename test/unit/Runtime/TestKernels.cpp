//===- TestKernels.cpp - a table of kernels for the tests -----------------===//
//
// Small functions with the shapes that matter: optional operands, doubles, updated state, scratch, missing
// implementations, failures with and without a message.
//
//===----------------------------------------------------------------------===//
#include "Registry.h"
#include "TestSupport.h"

#include <cstring>

namespace {

struct AddArgs {
  const float *a, *b;
  float *out;
  int64_t N;
  double scale;
};
int32_t add(ck_context *ctx, const void *slots) {
  auto *args = static_cast<const AddArgs *>(slots);
  ck_parallel(
      ctx, args->N,
      [](void *data, int64_t i, int) {
        auto *args = static_cast<const AddArgs *>(data);
        args->out[i] = float(args->scale * (args->a[i] + (args->b ? args->b[i] : 0)));
      },
      const_cast<AddArgs *>(args));
  return CK_OK;
}

struct CumsumArgs {
  const float *x;
  float *sum, *out;
  int64_t N;
};
int32_t cumsum(ck_context *, const void *slots) {
  auto *args = static_cast<const CumsumArgs *>(slots);
  for (int64_t i = 0; i < args->N; ++i)
    args->out[i] = *args->sum += args->x[i];
  return CK_OK;
}

template <int isa> int32_t tellIsa(ck_context *, const void *slots) {
  **static_cast<float *const *>(slots) = isa;
  return CK_OK;
}

struct LimitArgs {
  const float *x;
  int64_t N;
};
int32_t limit(ck_context *ctx, const void *slots) {
  auto *args = static_cast<const LimitArgs *>(slots);
  for (int64_t i = 0; i < args->N; ++i)
    if (args->x[i] > 10)
      return ck_fail(ctx, CK_INVALID_ARGUMENT, "x[%lld] is %g, expected at most 10", (long long)i, args->x[i]);
  return CK_OK;
}

struct ScratchArgs {
  float *out;
  char *tmp;
  int64_t N;
};
int64_t scratchBytes(const void *slots) { return static_cast<const ScratchArgs *>(slots)->N; }
int32_t scratch(ck_context *ctx, const void *slots) {
  auto *args = static_cast<const ScratchArgs *>(slots);
  std::memset(args->tmp, 1, args->N);
  for (int thread = 0; thread < ck_context_threads(ctx); ++thread)
    std::memset(ck_thread_scratch(ctx, thread), 2, args->N);
  *args->out = float(args->tmp[0]);
  return CK_OK;
}

int32_t silent(ck_context *, const void *) { return CK_UNSUPPORTED; }
int32_t wide(ck_context *, const void *) { return CK_OK; }

// As in the generated table, `call` is a function that knows its kernel.
#define TEST_KERNEL(name, slots, kinds, scratch, ...)                                                                  \
  extern const ck_kernel name##Kernel;                                                                                 \
  int32_t name##Call(ck_context *ctx, const void *args) { return ck_call_kernel(ctx, &name##Kernel, args); }           \
  const ck_kernel name##Kernel = {"test_" #name, "digest-of-" #name, name##Call, {__VA_ARGS__}, slots, scratch, kinds, \
                                  nullptr};

TEST_KERNEL(add, 5, "rRwif", nullptr, add)
TEST_KERNEL(cumsum, 4, "rwwi", nullptr, cumsum)
TEST_KERNEL(isa, 1, "w", nullptr, tellIsa<CK_ISA_SCALAR>, tellIsa<CK_ISA_AVX2>)
TEST_KERNEL(limit, 2, "ri", nullptr, limit)
TEST_KERNEL(scratch, 3, "wsi", scratchBytes, scratch)
TEST_KERNEL(silent, 0, "", nullptr, silent)
TEST_KERNEL(wide, 0, "", nullptr, nullptr, nullptr, wide)

} // namespace

extern "C" {
const ck_kernel *const ck_kernel_table[] = {&addKernel,     &cumsumKernel, &isaKernel, &limitKernel,
                                            &scratchKernel, &silentKernel, &wideKernel};
const size_t ck_kernel_table_size = sizeof(ck_kernel_table) / sizeof(*ck_kernel_table);
}
