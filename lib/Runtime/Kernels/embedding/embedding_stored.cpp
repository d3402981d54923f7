//===- embedding_stored.cpp - rows of a table in any storage type ---------===//
//
// Each row is widened or de-quantised as its format defines, then its position's row is added, if there is a table of
// positions. The position of a row is its number.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "embedding/embedding_stored.cpp"
#include "hwy/foreach_target.h"

#include "quant/Decode.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

template <class Format, class Args> int32_t embedRows(ck_context *ctx, const Args &args) {
  const int64_t T = args.T, V = args.V, E = args.E;
  if (const int64_t bad = firstOutside(args.ids, T, V); bad < T)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "ids[%lld] is %d, outside the vocabulary of %lld",
                   static_cast<long long>(bad), args.ids[bad], static_cast<long long>(V));
  if (args.pos_emb && T > args.S)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "there are %lld rows, but only %lld positions", static_cast<long long>(T),
                   static_cast<long long>(args.S));
  const auto *const table = reinterpret_cast<const uint8_t *>(args.table);
  const int64_t rowBytes = E / Format::kElements * Format::kBytes;
  parallelRange(ctx, T, rowsPerTask(E), [=](int64_t begin, int64_t end, int) HWY_ATTR {
    for (int64_t t = begin; t < end; ++t) {
      float *const row = args.output + t * E;
      decodeRow<Format>(table + args.ids[t] * rowBytes, E, row);
      if (!args.pos_emb)
        continue;
      const float *const position = args.pos_emb + t * E;
      int64_t e = 0;
      for (; e + kLanes <= E; e += kLanes)
        store(hn::Add(load(row + e), load(position + e)), row + e);
      for (; e < E; ++e)
        row[e] += position[e];
    }
  });
  return CK_OK;
}

} // namespace

CK_KERNEL(embedding_forward_fp32) { return embedRows<DecodeF32>(ctx, *args); }
CK_KERNEL(embedding_forward_bf16_fp32) { return embedRows<DecodeBF16>(ctx, *args); }
CK_KERNEL(embedding_forward_f16) { return embedRows<DecodeF16>(ctx, *args); }
CK_KERNEL(embedding_forward_q4_0) { return embedRows<DecodeQ4_0>(ctx, *args); }
CK_KERNEL(embedding_forward_q4_1) { return embedRows<DecodeQ4_1>(ctx, *args); }
CK_KERNEL(embedding_forward_q4_k) { return embedRows<DecodeQ4_K>(ctx, *args); }
CK_KERNEL(embedding_forward_q5_0) { return embedRows<DecodeQ5_0>(ctx, *args); }
CK_KERNEL(embedding_forward_q5_1) { return embedRows<DecodeQ5_1>(ctx, *args); }
CK_KERNEL(embedding_forward_q5_k) { return embedRows<DecodeQ5_K>(ctx, *args); }
CK_KERNEL(embedding_forward_q6_k) { return embedRows<DecodeQ6_K>(ctx, *args); }
CK_KERNEL(embedding_forward_q8_0) { return embedRows<DecodeQ8_0>(ctx, *args); }

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
