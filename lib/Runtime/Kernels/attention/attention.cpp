//===- attention.cpp - attention of many query rows -----------------------===//
//
// Over caches (rows stand at given positions) and over the rows of the call itself, token-major or head-major. A task
// is a block of query rows of one key/value head; see Tile.h for what happens inside. Results depend on shapes and
// positions, never on the number of threads.
//
//===----------------------------------------------------------------------===//
#include "attention/Visible.h"

CK_SAME_MASKS(ATTENTION_CACHE_F32);
CK_SAME_MASKS(ATTENTION_HEAD_MAJOR_F32);
CK_SAME_MASKS(ATTENTION_TOKEN_MAJOR_F32);

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/attention.cpp"
#include "hwy/foreach_target.h"

#include "attention/Tile.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

/// One call. Element (t, h, 0) of q and output lies at t * queryRow + h * queryHead, (j, g, 0) of k and v at
/// j * keyRow + g * keyHead.
struct Call {
  const float *q, *k, *v, *sinks;
  float *output, *lse;
  int64_t T, H, KV, D;
  int64_t queryRow, queryHead, keyRow, keyHead;
  Visible visible;
  double scale, softcap;
};

/// Rows of a block and the keys they see. Arrays are filled up to whole vectors by repeating the last row.
struct Block {
  int64_t g, rows, vectors;
  int64_t at[kRows]; ///< of the row in q and output
  int64_t lseAt[kRows];
  int64_t head[kRows];
  KeyRange keys[kRows];
  KeyRange vectorKeys[kRowVectors]; ///< hull over the lanes
  KeyRange some, every;             ///< keys that some row sees, that every row sees

  /// Rows from `first` on of key/value head g; row = token * group + head in the group.
  Block(const Call &call, int64_t g, int64_t first) : g(g) {
    const int64_t group = call.H / call.KV;
    rows = std::min(kRows, call.T * group - first);
    vectors = ceilDiv(rows, kLanes);
    int64_t t = first / group, inGroup = first % group;
    KeyRange range = call.visible.of(t);
    for (int64_t row = 0; row < vectors * kLanes; ++row) {
      const int64_t h = g * group + inGroup;
      at[row] = t * call.queryRow + h * call.queryHead;
      lseAt[row] = h * call.T + t;
      head[row] = h;
      keys[row] = range;
      if (row + 1 < rows && ++inGroup == group) {
        inGroup = 0;
        range = call.visible.of(++t);
      }
    }
    every = {0, INT64_MAX};
    some = {INT64_MAX, 0};
    for (int64_t n = 0; n < vectors; ++n) {
      vectorKeys[n] = {INT64_MAX, 0};
      for (int64_t row = n * kLanes; row < (n + 1) * kLanes; ++row) {
        every = {std::max(every.begin, keys[row].begin), std::min(every.end, keys[row].end)};
        if (!keys[row].empty())
          vectorKeys[n] = {std::min(vectorKeys[n].begin, keys[row].begin), std::max(vectorKeys[n].end, keys[row].end)};
      }
      some = {std::min(some.begin, vectorKeys[n].begin), std::max(some.end, vectorKeys[n].end)};
    }
  }
};

HWY_INLINE void prepareBlock(const Call &call, const Block &block, const Workspace &work) {
  const int64_t padded = block.vectors * kLanes;
  const float *q[kRows];
  for (int64_t row = 0; row < padded; ++row)
    q[row] = call.q + block.at[row];
  for (int64_t row = 0; row < block.rows; ++row) // the results' lines come while the block is computed
    for (int64_t d = 0; d < call.D; d += 16)
      __builtin_prefetch(call.output + block.at[row] + d, /*write=*/1);
  const double cap = call.softcap != 0 ? call.softcap : 1.0;
  transposeIn(q, padded, call.D, static_cast<float>(call.scale / cap), work.q);
  for (int64_t d = 0; d < call.D; ++d)
    for (int64_t row = 0; row < padded; row += kLanes)
      store(zero(), work.out + d * kRows + row);
  const float lowest = -std::numeric_limits<float>::infinity();
  for (int64_t row = 0; row < padded; ++row) {
    const float sink = call.sinks ? call.sinks[block.head[row]] : lowest;
    work.top[row] = sink;
    work.sum[row] = sink == lowest ? 0.0f : 1.0f + (sink - sink); // exp(sink - sink): 1, NaN for +infinity and NaN
  }
}

HWY_INLINE void finishBlock(const Call &call, const Block &block, const Workspace &work) {
  float *out[kRows];
  for (int64_t row = 0; row < block.vectors * kLanes; ++row) {
    const bool nothing = block.keys[row].empty();
    out[row] = call.output + block.at[row];
    work.rescale[row] = nothing ? 0.0f : 1.0f / work.sum[row];
    if (!call.lse || row >= block.rows)
      continue;
    // -infinity for a row without keys; NaN, like its output, for one whose scores are all -infinity.
    const float top = work.top[row];
    call.lse[block.lseAt[row]] = nothing && !call.sinks ? top : top - (top - top) + std::log(work.sum[row]);
  }
  transposeOut(work.out, work.rescale, block.rows, call.D, out);
}

/// Bounds relative to `begin`, clipped to [0, count].
HWY_INLINE void boundRows(const Block &block, int64_t begin, int64_t count, RowBounds &bounds) {
  for (int64_t row = 0; row < block.vectors * kLanes; ++row) {
    const int64_t from = block.keys[row].begin - begin, to = block.keys[row].end - begin;
    bounds.begin[row] = static_cast<int32_t>(std::clamp<int64_t>(from, 0, count));
    bounds.end[row] = static_cast<int32_t>(std::clamp<int64_t>(to, 0, count));
  }
}

void attendBlock(const Call &call, const Block &block, const Workspace &work) {
  prepareBlock(call, block, work);
  RowBounds bounds;
  const float *k = call.k + block.g * call.keyHead, *v = call.v + block.g * call.keyHead;
  const auto attend = [&](int64_t begin, int64_t count, int64_t first, int64_t last, bool edge) HWY_ATTR {
    attendStep({k + begin * call.keyRow, v + begin * call.keyRow, call.keyRow, call.keyRow, count, call.D, first, last,
                static_cast<float>(call.softcap)},
               edge, bounds, work);
  };
  for (int64_t begin = block.some.begin; begin < block.some.end;) {
    const int64_t common = begin >= block.every.begin ? std::min(kKeys, block.every.end - begin) : 0;
    if (common >= kEdgeKeys) {
      attend(begin, common, 0, block.vectors, false);
      begin += common;
      continue;
    }
    const int64_t count = std::min(kEdgeKeys, block.some.end - begin), end = begin + count;
    int64_t first = block.vectors, last = 0;
    for (int64_t n = 0; n < block.vectors; ++n)
      if (block.vectorKeys[n].begin < end && block.vectorKeys[n].end > begin) {
        first = std::min(first, n);
        last = n + 1;
      }
    if (first < last) {
      boundRows(block, begin, count, bounds);
      attend(begin, count, first, last, true);
    }
    begin = end;
  }
  finishBlock(call, block, work);
}

int32_t attend(ck_context *ctx, const Call &call) {
  if (call.T == 0 || call.H == 0)
    return CK_OK;
  const int64_t blocks = ceilDiv(call.T * (call.H / call.KV), kRows);
  parallelFor(ctx, call.KV * blocks, [&](int64_t i, int thread) HWY_ATTR {
    // Under a causal mask the last block sees most: longest first.
    const Block block(call, i % call.KV, (blocks - 1 - i / call.KV) * kRows);
    attendBlock(call, block, Workspace(static_cast<float *>(ck_thread_scratch(ctx, thread)), call.D));
  });
  return CK_OK;
}

/// The part that all layouts have in common.
template <typename Args> Call commonCall(const Args *args) {
  Call call = {};
  call.q = args->q, call.k = args->k, call.v = args->v, call.sinks = args->sinks;
  call.output = args->output, call.lse = args->lse;
  call.T = args->T, call.H = args->H, call.KV = args->KV, call.D = args->D;
  call.scale = scoreScale(args->scale, args->D), call.softcap = args->softcap;
  call.visible.mask = static_cast<AttentionMask>(args->mask);
  call.visible.window = args->window;
  return call;
}

/// Keys are the rows of the call.
template <typename Args> int32_t attendRows(ck_context *ctx, const Args *args, Call &call) {
  call.visible.keys = args->T;
  call.visible.seqs = args->seqs;
  call.visible.sequences = args->B - 1;
  if (const int32_t status = checkVisible(ctx, call.visible, args->T))
    return status;
  return attend(ctx, call);
}

} // namespace

CK_KERNEL(attention_cache_f32) {
  Call call = commonCall(args);
  call.queryHead = args->D, call.queryRow = args->H * args->D;
  call.keyRow = args->D, call.keyHead = args->S * args->D;
  call.visible.keys = args->S;
  call.visible.pos = args->pos;
  if (const int32_t status = checkVisible(ctx, call.visible, args->T))
    return status;
  return attend(ctx, call);
}

CK_KERNEL(attention_token_major_f32) {
  Call call = commonCall(args);
  call.queryHead = call.keyHead = args->D;
  call.queryRow = args->H * args->D, call.keyRow = args->KV * args->D;
  return attendRows(ctx, args, call);
}

CK_KERNEL(attention_head_major_f32) {
  Call call = commonCall(args);
  call.queryRow = call.keyRow = args->D;
  call.queryHead = call.keyHead = args->T * args->D;
  return attendRows(ctx, args, call);
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
