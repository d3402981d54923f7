//===- probs_gradient.cpp - gradients from saved probabilities ------------===//
//
//   dS = P (dO V^T - sum over the keys of P dO V^T)
//   dV = P^T dO           dK = scale dS^T Q           dQ = scale dS K
//
// The probabilities say which keys a row sees: one of probability 0 has no influence. First each chunk of rows makes
// its part of dS, which is a result, and dQ; then each chunk of keys sums dK and dV.
//
//===----------------------------------------------------------------------===//
#include "attention/Visible.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/probs_gradient.cpp"
#include "hwy/foreach_target.h"

#include "attention/Products.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

/// Rows or keys of a task.
constexpr int64_t kChunk = 2 * kBlock;

/// One call. Element (t, h, 0) of q and d_output lies at t * queryRow + h * queryHead, (j, g, 0) of k and v at
/// j * keyRow + g * keyHead. Elements of 16 bits are bfloat16; gradients are summed in f32 and rounded once.
template <typename Element> struct Call {
  const Element *dOutput, *q, *k, *v;
  const float *probs;
  float *dQ, *dScores;
  Element *dK, *dV;
  Element *roundedQ; ///< of the same layout as dQ; null where that is the result
  float *mean;       ///< [H, T]: sum over the keys of p dp
  int64_t T, H, KV, D;
  int64_t queryRow, queryHead, keyRow, keyHead;
  float scale;

  int64_t queryAt(int64_t h, int64_t t) const { return h * queryHead + t * queryRow; }
  int64_t keyAt(int64_t g, int64_t j) const { return g * keyHead + j * keyRow; }
  int64_t pairAt(int64_t h, int64_t t, int64_t j) const { return (h * T + t) * T + j; }
};

/// Working memory of a task: operands of up to two products over keys or rows, their sums, two blocks of pairs.
struct Workspace {
  int64_t padded;
  float *operand[2], *sum[2], *pairs[2];
  Workspace(float *memory, int64_t D) : padded(paddedWidth(D)) {
    for (float **block : {&operand[0], &operand[1], &sum[0], &sum[1]}) {
      *block = memory;
      memory += kBlock * padded;
    }
    pairs[0] = memory, pairs[1] = memory + kBlock * kBlock;
  }
};

/// Copies a block of pairs from rows of T; keys behind the last are 0.
HWY_INLINE void loadPairs(int64_t T, const float *from, int64_t rows, int64_t keys, float factor, float *to) {
  const F32 scale = set(factor);
  for (int64_t row = 0; row < rows; ++row, from += T, to += kBlock)
    for (int64_t key = 0; key < kBlock; key += kLanes)
      store(loadN(from + key, std::clamp<int64_t>(keys - key, 0, kLanes)) * scale, to + key);
}

/// Where the probabilities of a block are not 0, widened to whole vectors and to bounds that ascend.
HWY_INLINE BlockBounds boundsOf(const float *probs, int64_t rows, int64_t keys) {
  int64_t begin[kBlock], end[kBlock];
  for (int64_t row = 0; row < rows; ++row) {
    begin[row] = kBlock, end[row] = 0;
    for (int64_t key = 0; key < kBlock; key += kLanes)
      if (!hn::AllTrue(F32Tag(), load(probs + row * kBlock + key) == zero())) {
        begin[row] = std::min(begin[row], key);
        end[row] = key + kLanes;
      }
  }
  for (int64_t row = 1; row < rows; ++row) {
    end[row] = std::max(end[row], end[row - 1]);
    begin[rows - 1 - row] = std::min(begin[rows - 1 - row], begin[rows - row]);
  }
  BlockBounds bounds;
  bounds.rows = rows, bounds.keys = keys;
  for (int64_t row = 0; row < rows; ++row)
    bounds.setRow(row, begin[row], end[row]);
  return bounds;
}

/// n sums as a result.
HWY_INLINE void writeResult(const float *from, int64_t n, float *to) { copyElements(to, from, n); }
HWY_INLINE void writeResult(const float *from, int64_t n, uint16_t *to) {
  for (int64_t i = 0; i < n; ++i)
    to[i] = floatToBF16(from[i]);
}

/// d_scores of rows [t, t + bounds.rows) before the mean is taken off, and their part of the mean.
template <typename Element>
void differentiateValues(const Call<Element> &call, int64_t h, int64_t t, int64_t j, const BlockBounds &bounds,
                         const float *valuesT, const Workspace &work) {
  packRows(RowsOf<Element>{call.dOutput + call.queryAt(h, t), call.queryRow}, bounds.rows, call.D, work.operand[1]);
  multiplyPairs(bounds, work.operand[1], valuesT, call.D, work.pairs[1]);
  for (int64_t row = 0; row < bounds.rows; ++row) {
    float *dScores = call.dScores + call.pairAt(h, t + row, j);
    F32 sum = zero();
    for (int64_t key = 0; key < bounds.keys; key += kLanes) {
      const int64_t n = std::min(kLanes, bounds.keys - key);
      const F32 p = load(work.pairs[0] + row * kBlock + key);
      if (key >= bounds.end[row] || key + kLanes <= bounds.begin[row]) {
        storeN(zero(), dScores + key, n);
        continue;
      }
      const F32 change = hn::IfThenZeroElse(p == zero(), load(work.pairs[1] + row * kBlock + key));
      sum = fma(p, change, sum);
      storeN(change, dScores + key, n);
    }
    call.mean[h * call.T + t + row] += sumLanes(sum);
  }
}

/// Finishes d_scores of those rows against keys [j, j + bounds.keys), whose rows `work` holds, and adds to their dQ.
template <typename Element>
void differentiateScores(const Call<Element> &call, int64_t h, int64_t t, int64_t j, const BlockBounds &bounds,
                         bool finite, const Workspace &work) {
  bool sparse = false; // some key within the bounds has probability 0
  for (int64_t row = 0; row < bounds.rows; ++row) {
    float *dScores = call.dScores + call.pairAt(h, t + row, j);
    const F32 mean = set(call.mean[h * call.T + t + row]);
    for (int64_t key = 0; key < kBlock; key += kLanes) {
      const int64_t n = std::clamp<int64_t>(bounds.keys - key, 0, kLanes);
      const F32 p = load(work.pairs[0] + row * kBlock + key);
      const F32Mask unseen = p == zero();
      const F32 change = hn::IfThenZeroElse(unseen, p * (loadN(dScores + key, n) - mean));
      storeN(change, dScores + key, n);
      store(change * set(call.scale), work.pairs[1] + row * kBlock + key);
      sparse |= !hn::AllFalse(F32Tag(), unseen);
    }
  }
  if (!call.dQ)
    return;
  if (finite || !sparse) {
    sumOverKeys(bounds, work.pairs[1], work.operand[0], work.padded, /*add=*/false, work.sum[0]);
  } else { // 0 times infinity is no 0
    for (int64_t row = 0; row < bounds.rows; ++row) {
      float *sum = work.sum[0] + row * work.padded;
      std::fill_n(sum, work.padded, 0.0f);
      for (int64_t key = 0; key < bounds.keys; ++key)
        if (work.pairs[0][row * kBlock + key] != 0)
          addScaled(work.pairs[1][row * kBlock + key], work.operand[0] + key * work.padded, work.padded, sum);
    }
  }
  addRows(work.sum[0], bounds.rows, call.D, call.dQ + call.queryAt(h, t), call.queryRow);
}

/// d_scores and dQ of the rows [t, tEnd) of the query heads of g.
template <typename Element>
void differentiateRows(const Call<Element> &call, int64_t g, int64_t t, int64_t tEnd, const Workspace &work) {
  const int64_t group = call.H / call.KV, T = call.T;
  for (int64_t h = g * group; h < (g + 1) * group; ++h)
    for (int64_t row = t; row < tEnd; ++row) {
      call.mean[h * T + row] = 0;
      if (call.dQ)
        std::fill_n(call.dQ + call.queryAt(h, row), call.D, 0.0f);
    }
  for (int pass = 0; pass < 2; ++pass)
    for (int64_t j = 0; j < T; j += kBlock) {
      const int64_t keys = std::min(kBlock, T - j);
      bool finite = true;
      if (pass == 0)
        packTransposed(RowsOf<Element>{call.v + call.keyAt(g, j), call.keyRow}, keys, call.D, 1.0f, work.operand[0]);
      else
        finite = packRows(RowsOf<Element>{call.k + call.keyAt(g, j), call.keyRow}, keys, call.D, work.operand[0]);
      for (int64_t first = t; first < tEnd; first += kBlock)
        for (int64_t h = g * group; h < (g + 1) * group; ++h) {
          const int64_t rows = std::min(kBlock, tEnd - first), at = call.pairAt(h, first, j);
          loadPairs(call.T, call.probs + at, rows, keys, 1.0f, work.pairs[0]);
          const BlockBounds bounds = boundsOf(work.pairs[0], rows, keys);
          if (pass == 0)
            differentiateValues(call, h, first, j, bounds, work.operand[0], work);
          else if (bounds.some)
            differentiateScores(call, h, first, j, bounds, finite, work);
        }
    }
  for (int64_t h = g * group; call.roundedQ && h < (g + 1) * group; ++h)
    for (int64_t row = t; row < tEnd; ++row)
      writeResult(call.dQ + call.queryAt(h, row), call.D, call.roundedQ + call.queryAt(h, row));
}

/// dK and dV of the keys [j, jEnd) of head g.
template <typename Element>
void differentiateKeys(const Call<Element> &call, int64_t g, int64_t j, int64_t jEnd, const Workspace &work) {
  const int64_t group = call.H / call.KV, D = call.D, padded = work.padded;
  struct Part {
    const float *weights;
    const Element *rows;
    float scale;
    Element *result;
  };
  const Part parts[] = {{call.probs, call.dOutput, 1.0f, call.dV}, {call.dScores, call.q, call.scale, call.dK}};
  for (; j < jEnd; j += kBlock) {
    const int64_t keys = std::min(kBlock, jEnd - j);
    for (float *sum : work.sum)
      std::fill_n(sum, keys * padded, 0.0f);
    for (int64_t h = g * group; h < (g + 1) * group; ++h)
      for (int64_t t = 0; t < call.T; t += kBlock) {
        const int64_t rows = std::min(kBlock, call.T - t);
        loadPairs(call.T, call.probs + call.pairAt(h, t, j), rows, keys, 1.0f, work.pairs[0]);
        const BlockBounds bounds = boundsOf(work.pairs[0], rows, keys);
        for (int part = 0; bounds.some && part < 2; ++part) {
          if (!parts[part].result)
            continue;
          const bool finite =
              packRows(RowsOf<Element>{parts[part].rows + call.queryAt(h, t), call.queryRow}, rows, D, work.operand[0]);
          const float *weights = work.pairs[part];
          if (part == 1)
            loadPairs(call.T, call.dScores + call.pairAt(h, t, j), rows, keys, call.scale, work.pairs[1]);
          if (finite) {
            sumOverRows(bounds, weights, work.operand[0], padded, work.sum[part]);
            continue;
          }
          for (int64_t row = 0; row < rows; ++row) // 0 times infinity is no 0
            for (int64_t key = 0; key < keys; ++key)
              if (work.pairs[0][row * kBlock + key] != 0)
                addScaled(weights[row * kBlock + key], work.operand[0] + row * padded, padded,
                          work.sum[part] + key * padded);
        }
      }
    for (int part = 0; part < 2; ++part)
      if (Element *result = parts[part].result) {
        result += call.keyAt(g, j);
        for (int64_t key = 0; key < keys; ++key)
          writeResult(work.sum[part] + key * padded, D, result + key * call.keyRow);
      }
  }
}

template <typename Element, typename Args>
int32_t differentiate(ck_context *ctx, const Args *args, Call<Element> call) {
  call.dOutput = args->d_output, call.q = args->q, call.k = args->k, call.v = args->v, call.probs = args->probs;
  call.dK = args->d_k, call.dV = args->d_v, call.dScores = args->d_scores;
  call.mean = args->mean;
  call.T = args->T, call.H = args->H, call.KV = args->KV, call.D = args->D;
  call.scale = static_cast<float>(scoreScale(args->scale, args->D));
  const int64_t T = call.T, tasks = call.KV * ceilDiv(T, kChunk);
  const auto overChunks = [&](auto body) {
    parallelFor(ctx, tasks, [&](int64_t i, int thread) HWY_ATTR {
      const int64_t first = i / call.KV * kChunk;
      body(call, i % call.KV, first, std::min(T, first + kChunk),
           Workspace(static_cast<float *>(ck_thread_scratch(ctx, thread)), call.D));
    });
  };
  overChunks(differentiateRows<Element>);
  if (call.dK || call.dV)
    overChunks(differentiateKeys<Element>);
  return CK_OK;
}

template <typename Element, typename Args> Call<Element> headMajor(const Args *args) {
  Call<Element> call = {};
  call.queryRow = call.keyRow = args->D;
  call.queryHead = call.keyHead = args->T * args->D;
  return call;
}

} // namespace

CK_KERNEL(attention_backward_causal_head_major_gqa) {
  Call<float> call = headMajor<float>(args);
  call.dQ = args->d_q;
  return differentiate(ctx, args, call);
}

CK_KERNEL(attention_backward_causal_head_major_gqa_bf16) {
  Call<uint16_t> call = headMajor<uint16_t>(args);
  call.dQ = args->d_q ? args->sums : nullptr, call.roundedQ = args->d_q;
  return differentiate(ctx, args, call);
}

CK_KERNEL(attention_probs_grad_token_major_f32) {
  Call<float> call = {};
  call.dQ = args->d_q;
  call.queryHead = call.keyHead = args->D;
  call.queryRow = args->H * args->D, call.keyRow = args->KV * args->D;
  return differentiate(ctx, args, call);
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
