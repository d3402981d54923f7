//===- probs.cpp - attention that keeps its probabilities -----------------===//
//
// For backward passes that want the probabilities themselves. They are computed where they stay: scores of a chunk of
// rows, softmax along each row, then the sum of the values. Keys that a row does not see have probability 0.
//
//===----------------------------------------------------------------------===//
#include "attention/Visible.h"

CK_SAME_MASKS(ATTENTION_PROBS_HEAD_MAJOR_F32);
CK_SAME_MASKS(ATTENTION_PROBS_TOKEN_MAJOR_F32);

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/probs.cpp"
#include "hwy/foreach_target.h"

#include "VecMath.h"
#include "attention/Products.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

/// Rows of a task: enough to pay for packing the keys.
constexpr int64_t kChunk = 4 * kBlock;

/// One call. Element (t, h, 0) of q and output lies at t * queryRow + h * queryHead, (j, g, 0) of k and v at
/// j * keyRow + g * keyHead. Elements of 16 bits are bfloat16; their output is summed in f32, then rounded once.
template <typename Element> struct Call {
  const Element *q, *k, *v;
  const float *sinks;
  float *output, *probs;
  Element *rounded; ///< of the same layout as output; null where that is the result
  int64_t T, H, KV, D;
  int64_t queryRow, queryHead, keyRow, keyHead;
  Visible visible;
  double scale, softcap;

  RowsOf<Element> keys(const Element *data, int64_t g, int64_t j) const {
    return {data + g * keyHead + j * keyRow, keyRow};
  }
  float *probsRow(int64_t h, int64_t t) const { return probs + (h * T + t) * T; }
};

/// Working memory of a task.
struct Workspace {
  float *columns;    ///< transposed keys
  float *values;     ///< keys' values
  float *rows, *sum; ///< queries, outputs
  float *pairs;      ///< scores or probabilities of a block
  Workspace(float *memory, int64_t D)
      : columns(memory), values(columns + D * kBlock), rows(values + paddedWidth(D) * kBlock),
        sum(rows + paddedWidth(D) * kBlock), pairs(sum + paddedWidth(D) * kBlock) {}
};

/// A chunk of rows of one key/value head: [t, tEnd), and the keys that some of them sees.
struct Chunk {
  int64_t g, t, tEnd;
  KeyRange ranges[kChunk];
  KeyRange keys;

  template <typename Element>
  Chunk(const Call<Element> &call, int64_t g, int64_t first)
      : g(g), t(first), tEnd(std::min(call.T, first + kChunk)), keys({call.T, 0}) {
    for (int64_t row = t; row < tEnd; ++row) {
      const KeyRange range = call.visible.of(row);
      ranges[row - t] = {std::max<int64_t>(range.begin, 0), range.end};
      keys = {std::min(keys.begin, ranges[row - t].begin), std::max(keys.end, range.end)};
    }
  }

  BlockBounds bounds(int64_t first, int64_t j) const {
    BlockBounds bounds;
    bounds.rows = std::min(kBlock, tEnd - first), bounds.keys = std::min(kBlock, keys.end - j);
    for (int64_t row = 0; row < bounds.rows; ++row)
      bounds.setRow(row, ranges[first - t + row].begin - j, ranges[first - t + row].end - j);
    return bounds;
  }

  /// Calls body(h, first row, bounds) for the blocks of rows that see a key of the block at j.
  template <typename Element, typename Body> void overBlocks(const Call<Element> &call, int64_t j, Body body) const {
    const int64_t group = call.H / call.KV;
    for (int64_t first = t; first < tEnd; first += kBlock)
      if (const BlockBounds bounds = this->bounds(first, j); bounds.some)
        for (int64_t h = g * group; h < (g + 1) * group; ++h)
          body(h, first, bounds);
  }
};

/// Scores of what a chunk sees, in place of its probabilities.
template <typename Element> void scoreChunk(const Call<Element> &call, const Chunk &chunk, const Workspace &work) {
  const double cap = call.softcap != 0 ? call.softcap : 1.0;
  for (int64_t j = chunk.keys.begin; j < chunk.keys.end; j += kBlock) {
    packTransposed(call.keys(call.k, chunk.g, j), std::min(kBlock, chunk.keys.end - j), call.D,
                   static_cast<float>(call.scale / cap), work.columns);
    chunk.overBlocks(call, j, [&](int64_t h, int64_t first, const BlockBounds &bounds) HWY_ATTR {
      packRows(RowsOf<Element>{call.q + h * call.queryHead + first * call.queryRow, call.queryRow}, bounds.rows, call.D,
               work.rows);
      multiplyPairs(bounds, work.rows, work.columns, call.D, work.pairs);
      for (int64_t row = 0; row < bounds.rows; ++row)
        copyElements(call.probsRow(h, first + row) + j, work.pairs + row * kBlock, bounds.keys);
    });
  }
}

/// Softmax over one row of n scores, which come divided by the cap.
HWY_INLINE void normaliseRow(float *row, int64_t n, double softcap, float sink) {
  const float lowest = -std::numeric_limits<float>::infinity();
  const F32 cap = set(static_cast<float>(softcap));
  F32 most = set(lowest);
  for (int64_t i = 0; i < n; i += kLanes) {
    const int64_t count = std::min(kLanes, n - i);
    F32 score = loadN(row + i, count, lowest);
    if (softcap != 0) {
      score = cap * vtanh(score);
      storeN(score, row + i, count);
      score = loadN(row + i, count, lowest);
    }
    most = hn::Max(most, score);
  }
  HWY_ALIGN float lanes[kLanes];
  store(most, lanes);
  float top = sink;
  for (float lane : lanes)
    top = lane > top ? lane : top;
  // Where every score is -infinity, the row has no probabilities: 0/0.
  const F32 origin = set(top == lowest ? 0.0f : top);
  F32 sum = zero();
  for (int64_t i = 0; i < n; i += kLanes) {
    const F32 weight = vexp(loadN(row + i, std::min(kLanes, n - i), lowest) - origin);
    sum = sum + weight;
    storeN(weight, row + i, std::min(kLanes, n - i));
  }
  const float extra = sink == lowest ? 0.0f : hn::GetLane(vexp(set(sink) - origin));
  const F32 factor = set(1.0f / (sumLanes(sum) + extra));
  for (int64_t i = 0; i < n; i += kLanes)
    storeN(loadN(row + i, std::min(kLanes, n - i)) * factor, row + i, std::min(kLanes, n - i));
}

template <typename Element> void normaliseChunk(const Call<Element> &call, const Chunk &chunk) {
  const int64_t group = call.H / call.KV;
  for (int64_t h = chunk.g * group; h < (chunk.g + 1) * group; ++h) {
    const float sink = call.sinks ? call.sinks[h] : -std::numeric_limits<float>::infinity();
    for (int64_t t = chunk.t; t < chunk.tEnd; ++t) {
      const KeyRange range = chunk.ranges[t - chunk.t];
      float *row = call.probsRow(h, t);
      std::fill_n(row, range.begin, 0.0f);
      normaliseRow(row + range.begin, range.end - range.begin, call.softcap, sink);
      std::fill(row + range.end, row + call.T, 0.0f);
    }
  }
}

/// Outputs of a chunk from its probabilities.
template <typename Element> void sumChunk(const Call<Element> &call, const Chunk &chunk, const Workspace &work) {
  const int64_t D = call.D, padded = paddedWidth(D);
  for (int64_t j = chunk.keys.begin; j < chunk.keys.end; j += kBlock) {
    const int64_t keys = std::min(kBlock, chunk.keys.end - j);
    const bool finite = packRows(call.keys(call.v, chunk.g, j), keys, D, work.values);
    chunk.overBlocks(call, j, [&](int64_t h, int64_t first, const BlockBounds &bounds) HWY_ATTR {
      for (int64_t row = 0; row < bounds.rows; ++row)
        copyElements(work.pairs + row * kBlock, call.probsRow(h, first + row) + j, bounds.keys);
      if (!bounds.edge || finite) {
        sumOverKeys(bounds, work.pairs, work.values, padded, /*add=*/false, work.sum);
      } else { // 0 times infinity is no 0
        for (int64_t row = 0; row < bounds.rows; ++row) {
          std::fill_n(work.sum + row * padded, padded, 0.0f);
          for (int64_t key = bounds.begin[row]; key < bounds.end[row]; ++key)
            addScaled(work.pairs[row * kBlock + key], work.values + key * padded, padded, work.sum + row * padded);
        }
      }
      addRows(work.sum, bounds.rows, D, call.output + h * call.queryHead + first * call.queryRow, call.queryRow);
    });
  }
}

/// The kernel for any layout: keys are the rows of the call.
template <typename Element, typename Args>
int32_t attend(ck_context *ctx, const Args *args, AttentionMask mask, Call<Element> call) {
  call.q = args->q, call.k = args->k, call.v = args->v, call.sinks = args->sinks;
  call.probs = args->probs;
  call.T = args->T, call.H = args->H, call.KV = args->KV, call.D = args->D;
  call.scale = scoreScale(args->scale, args->D), call.softcap = args->softcap;
  call.visible.mask = mask;
  call.visible.keys = args->T;
  call.visible.seqs = args->seqs, call.visible.sequences = args->B - 1;
  if (const int32_t status = checkVisible(ctx, call.visible, call.T))
    return status;
  parallelFor(ctx, call.KV * ceilDiv(call.T, kChunk), [&](int64_t i, int thread) HWY_ATTR {
    const Workspace work(static_cast<float *>(ck_thread_scratch(ctx, thread)), call.D);
    const Chunk chunk(call, i % call.KV, i / call.KV * kChunk);
    const int64_t group = call.H / call.KV;
    for (int64_t t = chunk.t; t < chunk.tEnd; ++t)
      for (int64_t h = chunk.g * group; h < (chunk.g + 1) * group; ++h)
        std::fill_n(call.output + h * call.queryHead + t * call.queryRow, call.D, 0.0f);
    scoreChunk(call, chunk, work);
    normaliseChunk(call, chunk);
    sumChunk(call, chunk, work);
    if constexpr (!std::is_same_v<Element, float>)
      for (int64_t t = chunk.t; t < chunk.tEnd; ++t)
        for (int64_t h = chunk.g * group; h < (chunk.g + 1) * group; ++h) {
          const int64_t at = h * call.queryHead + t * call.queryRow;
          for (int64_t d = 0; d < call.D; ++d)
            call.rounded[at + d] = floatToBF16(call.output[at + d]);
        }
  });
  return CK_OK;
}

template <typename Element = float, typename Args> Call<Element> headMajor(const Args *args) {
  Call<Element> call = {};
  call.queryRow = call.keyRow = args->D;
  call.queryHead = call.keyHead = args->T * args->D;
  return call;
}

} // namespace

CK_KERNEL(attention_forward_causal_head_major_gqa) {
  Call<float> call = headMajor(args);
  call.output = args->output;
  return attend(ctx, args, AttentionMask::Causal, call);
}

CK_KERNEL(attention_forward_causal_head_major_gqa_bf16) {
  Call<uint16_t> call = headMajor<uint16_t>(args);
  call.output = args->sums, call.rounded = args->output;
  return attend(ctx, args, AttentionMask::Causal, call);
}

CK_KERNEL(attention_probs_head_major_f32) {
  Call<float> call = headMajor(args);
  call.output = args->output;
  call.visible.window = args->window;
  return attend(ctx, args, static_cast<AttentionMask>(args->mask), call);
}

CK_KERNEL(attention_probs_token_major_f32) {
  Call<float> call = {};
  call.output = args->output;
  call.queryHead = call.keyHead = args->D;
  call.queryRow = args->H * args->D, call.keyRow = args->KV * args->D;
  call.visible.window = args->window;
  return attend(ctx, args, static_cast<AttentionMask>(args->mask), call);
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
