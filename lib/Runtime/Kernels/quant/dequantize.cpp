//===- dequantize.cpp - blocks to f32 -------------------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "quant/dequantize.cpp"
#include "hwy/foreach_target.h"

#include "quant/Decode.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

/// Rows lie one behind the other, and so do their blocks.
template <class Format, class Args> int32_t dequantize(ck_context *ctx, const Args &args) {
  const auto *const from = static_cast<const uint8_t *>(args.input);
  float *const to = args.output;
  parallelRange(ctx, args.T * args.K / Format::kElements, kTaskElements / Format::kElements,
                [=](int64_t begin, int64_t end, int) HWY_ATTR {
                  decodeRow<Format>(from + begin * Format::kBytes, (end - begin) * Format::kElements,
                                    to + begin * Format::kElements);
                });
  return CK_OK;
}

} // namespace

CK_KERNEL(dequantize_rows_q4_0) { return dequantize<DecodeQ4_0>(ctx, *args); }
CK_KERNEL(dequantize_rows_q4_1) { return dequantize<DecodeQ4_1>(ctx, *args); }
CK_KERNEL(dequantize_rows_q4_k) { return dequantize<DecodeQ4_K>(ctx, *args); }
CK_KERNEL(dequantize_rows_q5_0) { return dequantize<DecodeQ5_0>(ctx, *args); }
CK_KERNEL(dequantize_rows_q5_1) { return dequantize<DecodeQ5_1>(ctx, *args); }
CK_KERNEL(dequantize_rows_q5_k) { return dequantize<DecodeQ5_K>(ctx, *args); }
CK_KERNEL(dequantize_rows_q6_k) { return dequantize<DecodeQ6_K>(ctx, *args); }
CK_KERNEL(dequantize_rows_q8_0) { return dequantize<DecodeQ8_0>(ctx, *args); }
CK_KERNEL(dequantize_rows_q8_1) { return dequantize<DecodeQ8_1>(ctx, *args); }
CK_KERNEL(dequantize_rows_q8_k) { return dequantize<DecodeQ8_K>(ctx, *args); }

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
