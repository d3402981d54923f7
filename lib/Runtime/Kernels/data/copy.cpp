//===- copy.cpp - values moved as they are --------------------------------===//
//
// One provider for each element size. Only copies: the C library's memcpy picks its own instructions, so one
// implementation serves every set.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

namespace {

int32_t copyBytes(ck_context *ctx, const void *input, void *output, int64_t bytes) {
  if (input == output)
    return CK_OK;
  constexpr int64_t kChunk = 4 * ck::kTaskElements;
  ck::parallelRange(ctx, bytes, kChunk, [=](int64_t begin, int64_t end, int) {
    ck::copyElements(static_cast<char *>(output) + begin, static_cast<const char *>(input) + begin, end - begin);
  });
  return CK_OK;
}

int32_t lastRow(ck_context *ctx, const void *input, void *output, int64_t T, int64_t rowBytes) {
  if (T < 1)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "input has no rows");
  return copyBytes(ctx, static_cast<const char *>(input) + (T - 1) * rowBytes, output, rowBytes);
}

} // namespace

#define CK_COPY(bits)                                                                                                  \
  CK_PORTABLE_KERNEL(copy_b##bits) { return copyBytes(ctx, args->input, args->output, args->N * (bits / 8)); }         \
  CK_PORTABLE_KERNEL(last_row_b##bits) {                                                                               \
    return lastRow(ctx, args->input, args->output, args->T, args->E * (bits / 8));                                     \
  }                                                                                                                    \
  CK_PORTABLE_KERNEL(last_element_b##bits) { return lastRow(ctx, args->input, args->output, args->T, bits / 8); }

CK_COPY(8)
CK_COPY(16)
CK_COPY(32)
CK_COPY(64)

// The inventory's own names for copies of f32: the residual stream, and the logits of the last token.
CK_PORTABLE_KERNEL(memcpy) { return copyBytes(ctx, args->input, args->output, args->L * 4); }
CK_PORTABLE_KERNEL(copy_last_logits) { return lastRow(ctx, args->input, args->output, args->T, args->V * 4); }
