//===- quantize.cpp - activations to 8 bits -------------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "quant/quantize.cpp"
#include "hwy/foreach_target.h"

#include "quant/ActBlocks.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

template <class Act, class Args> int32_t quantizeRow(ck_context *ctx, const Args &args) {
  quantizeBlocks<Act>(ctx, args.input, args.K, static_cast<uint8_t *>(args.output));
  return CK_OK;
}

template <class Act, class Args> int32_t quantizeRows(ck_context *ctx, const Args &args) {
  quantizeBlocks<Act>(ctx, args.input, args.T * args.K, static_cast<uint8_t *>(args.output));
  return CK_OK;
}

} // namespace

CK_KERNEL(quantize_row_q8_0) { return quantizeRow<ActQ8_0>(ctx, *args); }
CK_KERNEL(quantize_batch_q8_0) { return quantizeRows<ActQ8_0>(ctx, *args); }
CK_KERNEL(quantize_rows_q8_1) { return quantizeRows<ActQ8_1>(ctx, *args); }
CK_KERNEL(quantize_row_q8_k) { return quantizeRow<ActQ8_K>(ctx, *args); }
CK_KERNEL(quantize_batch_q8_k) { return quantizeRows<ActQ8_K>(ctx, *args); }
// Groups of four rows have no rule of their own.
CK_KERNEL(quantize_row_q8_k_llama_repack) { return quantizeRows<ActQ8_K>(ctx, *args); }

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
