//===- gradient.cpp - gradients of attention over the rows of a call ------===//
//
// Probabilities come back from the saved log-sum-exp, block by block, so that nothing quadratic is stored:
//
//   P = exp(S - lse)      dS = P (dO V^T - delta), delta[row] = dO[row] . O[row]
//   dV = P^T dO           dK = dS^T Q           dQ = dS K
//
// A task takes one chunk of the keys of one key/value head against one chunk of the rows of all its query heads. Tasks
// run in phases: in phase p, chunk c of the keys meets chunk c + p of the rows. So no two tasks of a phase add to the
// same results, all five products are computed once, and sums have an order that depends on shapes alone.
//
//===----------------------------------------------------------------------===//
#include "attention/Visible.h"

CK_SAME_MASKS(ATTENTION_GRAD_HEAD_MAJOR_F32);
CK_SAME_MASKS(ATTENTION_GRAD_TOKEN_MAJOR_F32);

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/gradient.cpp"
#include "hwy/foreach_target.h"

#include "VecMath.h"
#include "attention/Products.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {
namespace {

/// One call. Element (t, h, 0) of q, output and their gradients lies at t * queryRow + h * queryHead, (j, g, 0) of k
/// and v and theirs at j * keyRow + g * keyHead.
struct Call {
  const float *dOutput, *q, *k, *v, *output, *lse, *sinks;
  float *dQ, *dK, *dV, *dSinks;
  float *delta;    ///< [H, T]
  int32_t *ranges; ///< visible keys of each row: begin, end
  int64_t T, H, KV, D;
  int64_t queryRow, queryHead, keyRow, keyHead;
  Visible visible;
  double scale, softcap;

  Rows queries(const float *data, int64_t h, int64_t t) const {
    return {data + h * queryHead + t * queryRow, queryRow};
  }
  Rows keys(const float *data, int64_t g, int64_t j) const { return {data + g * keyHead + j * keyRow, keyRow}; }
  bool wantsScores() const { return dQ || dK; }
};

/// Most blocks of keys in a chunk.
constexpr int64_t kChunkBlocks = 4;

/// Operands and sums of one block of keys. What vectors run along has rows of `padded` elements.
struct Keys {
  float *kT, *vT; ///< transposed, kT times the scale
  float *k, *dK, *dV;
  bool finite; ///< all of k
};

/// Working memory of a task: a chunk of keys, a block of rows, a block of pairs.
struct Workspace {
  int64_t padded;
  Keys keys[kChunkBlocks];
  float *q, *dO, *dQ, *p, *dS;

  Workspace(float *memory, int64_t D, int64_t T) : padded(paddedWidth(D)) {
    const auto take = [&memory](int64_t count) {
      float *at = memory;
      memory += count;
      return at;
    };
    for (float **block : {&q, &dO, &dQ})
      *block = take(kBlock * padded);
    p = take(kBlock * kBlock), dS = take(kBlock * kBlock);
    for (int64_t i = 0; i < std::min(kChunkBlocks, ceilDiv(T, kBlock)); ++i) {
      keys[i].kT = take(D * kBlock), keys[i].vT = take(D * kBlock);
      for (float **block : {&keys[i].k, &keys[i].dK, &keys[i].dV})
        *block = take(kBlock * padded);
    }
  }
};

/// Replaces scores and d_output.v of a block by p and scale * ds, exact zeros where a row does not see a key.
template <bool Capped>
HWY_INLINE void differentiateScores(const Call &call, const BlockBounds &bounds, const float *lse, const float *delta,
                                    const Workspace &work) {
  const I32 lanes = hn::Iota(I32Tag(), 0);
  const F32 cap = set(static_cast<float>(call.softcap)), scale = set(static_cast<float>(call.scale));
  for (int64_t row = 0; row < bounds.rows; ++row) {
    const int64_t begin = bounds.begin[row], end = bounds.end[row];
    const F32 origin = set(lse[row]), mean = set(delta[row]);
    for (int64_t key = 0; key < kBlock; key += kLanes) {
      float *p = work.p + row * kBlock + key, *dS = work.dS + row * kBlock + key;
      if (key >= end || key + kLanes <= begin) {
        store(zero(), p);
        store(zero(), dS);
        continue;
      }
      F32 score = load(p), slope = scale;
      if (Capped) {
        const F32 ratio = vtanh(score);
        score = cap * ratio;
        slope = hn::NegMulAdd(ratio * scale, ratio, scale);
      }
      F32 weight = vexp(score - origin);
      F32 change = weight * (load(dS) - mean) * slope;
      if (key < begin || key + kLanes > end) {
        const I32 first = hn::Set(I32Tag(), static_cast<int32_t>(begin - key));
        const I32 last = hn::Set(I32Tag(), static_cast<int32_t>(end - key));
        const F32Mask seen = hn::RebindMask(F32Tag(), hn::AndNot(first > lanes, last > lanes));
        weight = hn::IfThenElseZero(seen, weight);
        change = hn::IfThenElseZero(seen, change);
      }
      store(weight, p);
      store(change, dS);
    }
  }
}

/// The three sums of a block, pair by pair: a pair that is not seen is left out instead of multiplied by its zero,
/// because 0 times infinity is no 0.
void addPairs(const Call &call, const BlockBounds &bounds, const Keys &keys, const Workspace &work) {
  const int64_t padded = work.padded;
  for (int64_t row = 0; row < bounds.rows; ++row)
    for (int64_t key = bounds.begin[row]; key < bounds.end[row]; ++key) {
      const float p = work.p[row * kBlock + key], dS = work.dS[row * kBlock + key];
      if (call.dV)
        addScaled(p, work.dO + row * padded, padded, keys.dV + key * padded);
      if (call.dK)
        addScaled(dS, work.q + row * padded, padded, keys.dK + key * padded);
      if (call.dQ)
        addScaled(dS, keys.k + key * padded, padded, work.dQ + row * padded);
    }
}

HWY_INLINE void addProducts(const Call &call, const BlockBounds &bounds, const Keys &keys, const Workspace &work) {
  if (call.dV)
    sumOverRows(bounds, work.p, work.dO, work.padded, keys.dV);
  if (call.dK)
    sumOverRows(bounds, work.dS, work.q, work.padded, keys.dK);
  if (call.dQ)
    sumOverKeys(bounds, work.dS, keys.k, work.padded, /*add=*/true, work.dQ);
}

/// The rows that `work` holds, from t of head h on, against one block of keys. `finite`: all those rows are.
void differentiateBlock(const Call &call, int64_t h, int64_t t, const BlockBounds &bounds, bool finite,
                        const Keys &keys, const Workspace &work) {
  multiplyPairs(bounds, work.q, keys.kT, call.D, work.p);
  if (call.wantsScores())
    multiplyPairs(bounds, work.dO, keys.vT, call.D, work.dS);
  const float *lse = call.lse + h * call.T + t, *delta = call.delta + h * call.T + t;
  if (call.softcap != 0)
    differentiateScores<true>(call, bounds, lse, delta, work);
  else
    differentiateScores<false>(call, bounds, lse, delta, work);
  if (bounds.edge && !(finite && keys.finite))
    addPairs(call, bounds, keys, work);
  else
    addProducts(call, bounds, keys, work);
}

/// Takes sums out of `from`: into results that hold nothing yet, or added to them.
HWY_INLINE void putRows(const float *from, int64_t rows, int64_t D, bool first, float *to, int64_t stride) {
  if (!first)
    return addRows(from, rows, D, to, stride);
  for (int64_t row = 0; row < rows; ++row)
    copyElements(to + row * stride, from + row * paddedWidth(D), D);
}

/// Keys [j, jEnd) of head g against the rows [t, tEnd) of its query heads. In the first phase both are the same, and
/// each row sees its own key, so that all results of the chunk are written.
void differentiateChunks(const Call &call, int64_t g, int64_t j, int64_t jEnd, int64_t t, int64_t tEnd,
                         Workspace &work) {
  if (call.ranges[2 * t] >= jEnd || call.ranges[2 * tEnd - 1] <= j)
    return;
  const int64_t group = call.H / call.KV, D = call.D, padded = work.padded, blocks = ceilDiv(jEnd - j, kBlock);
  const bool first = j == t;
  const auto keysOf = [&](int64_t block) { return std::min(kBlock, jEnd - j - block * kBlock); };
  const double cap = call.softcap != 0 ? call.softcap : 1.0;
  for (int64_t block = 0; block < blocks; ++block) {
    Keys &keys = work.keys[block];
    const Rows k = call.keys(call.k, g, j + block * kBlock), v = call.keys(call.v, g, j + block * kBlock);
    packTransposed(k, keysOf(block), D, static_cast<float>(call.scale / cap), keys.kT);
    packTransposed(v, keysOf(block), D, 1.0f, keys.vT);
    keys.finite = packRows(k, keysOf(block), D, keys.k);
    std::fill_n(keys.dK, keysOf(block) * padded, 0.0f);
    std::fill_n(keys.dV, keysOf(block) * padded, 0.0f);
  }
  for (; t < tEnd; t += kBlock) {
    const int64_t rows = std::min(kBlock, tEnd - t);
    BlockBounds bounds[kChunkBlocks];
    for (int64_t block = 0; block < blocks; ++block) {
      bounds[block].rows = rows, bounds[block].keys = keysOf(block);
      for (int64_t row = 0; row < rows; ++row)
        bounds[block].setRow(row, call.ranges[2 * (t + row)] - j - block * kBlock,
                             call.ranges[2 * (t + row) + 1] - j - block * kBlock);
    }
    for (int64_t h = g * group; h < (g + 1) * group; ++h) {
      bool finite = packRows(call.queries(call.q, h, t), rows, D, work.q);
      finite &= packRows(call.queries(call.dOutput, h, t), rows, D, work.dO);
      std::fill_n(work.dQ, rows * padded, 0.0f);
      for (int64_t block = 0; block < blocks; ++block)
        if (bounds[block].some)
          differentiateBlock(call, h, t, bounds[block], finite, work.keys[block], work);
      if (call.dQ)
        putRows(work.dQ, rows, D, first, call.dQ + h * call.queryHead + t * call.queryRow, call.queryRow);
    }
  }
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t at = g * call.keyHead + (j + block * kBlock) * call.keyRow;
    if (call.dK)
      putRows(work.keys[block].dK, keysOf(block), D, first, call.dK + at, call.keyRow);
    if (call.dV)
      putRows(work.keys[block].dV, keysOf(block), D, first, call.dV + at, call.keyRow);
  }
}

/// Rows and keys of a chunk: enough chunks for a team, large enough that packing the keys is paid off.
int64_t chunkSize(const Call &call) {
  const int64_t even = ceilDiv(ceilDiv(call.T * call.KV, 16), kBlock) * kBlock;
  return std::clamp<int64_t>(even, kBlock, kChunkBlocks * kBlock);
}

/// delta and visible keys of each row.
void prepareRows(ck_context *ctx, const Call &call) {
  const int64_t D = call.D, grain = ceilDiv(rowsPerTask(2 * call.H * D), 16) * 16;
  parallelRange(ctx, call.T, grain, [&](int64_t begin, int64_t end, int) HWY_ATTR {
    for (int64_t h = 0; h < call.H; ++h)
      dotRows(call.queries(call.dOutput, h, begin), call.queries(call.output, h, begin), end - begin, D,
              call.delta + h * call.T + begin);
    for (int64_t t = begin; t < end; ++t) {
      const KeyRange range = call.visible.of(t);
      call.ranges[2 * t] = static_cast<int32_t>(std::max<int64_t>(range.begin, 0));
      call.ranges[2 * t + 1] = static_cast<int32_t>(range.end);
    }
  });
}

/// A sink is a key of score sinks[h] and value 0.
void differentiateSinks(ck_context *ctx, const Call &call) {
  parallelRange(ctx, call.H, rowsPerTask(call.T * 16), [&](int64_t begin, int64_t end, int) HWY_ATTR {
    for (int64_t h = begin; h < end; ++h) {
      const float *lse = call.lse + h * call.T, *delta = call.delta + h * call.T;
      const F32 sink = set(call.sinks[h]);
      double sum = 0;
      for (int64_t t = 0; t < call.T; t += kLanes) {
        const int64_t n = std::min(kLanes, call.T - t);
        HWY_ALIGN float products[kLanes];
        store(vexp(sink - loadN(lse + t, n)) * loadN(delta + t, n), products);
        for (int64_t i = 0; i < n; ++i)
          sum -= static_cast<double>(products[i]);
      }
      call.dSinks[h] = static_cast<float>(sum);
    }
  });
}

int32_t differentiate(ck_context *ctx, const Call &call) {
  if (call.dSinks && !call.sinks)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "d_sinks is wanted, but there are no sinks");
  if (const int32_t status = checkVisible(ctx, call.visible, call.T))
    return status;
  prepareRows(ctx, call);
  if (call.dSinks)
    differentiateSinks(ctx, call);
  if (!call.dQ && !call.dK && !call.dV)
    return CK_OK;
  const int64_t T = call.T, chunk = chunkSize(call), chunks = ceilDiv(T, chunk);
  const bool full = call.visible.mask == AttentionMask::Full;
  for (int64_t phase = 0; phase < chunks; ++phase) {
    if (call.visible.mask == AttentionMask::Sliding && (phase - 1) * chunk + 1 >= call.visible.window)
      break; // the last key of a chunk is out of sight of all rows from here on
    const int64_t pairs = full ? chunks : chunks - phase;
    parallelFor(ctx, call.KV * pairs, [&](int64_t i, int thread) HWY_ATTR {
      const int64_t j = i / call.KV * chunk, t = (i / call.KV + phase) % chunks * chunk;
      Workspace work(static_cast<float *>(ck_thread_scratch(ctx, thread)), call.D, T);
      differentiateChunks(call, i % call.KV, j, std::min(T, j + chunk), t, std::min(T, t + chunk), work);
    });
  }
  return CK_OK;
}

/// The part that all layouts have in common.
template <typename Args> Call commonCall(const Args *args) {
  Call call = {};
  call.dOutput = args->d_output, call.q = args->q, call.k = args->k, call.v = args->v;
  call.output = args->output, call.lse = args->lse, call.sinks = args->sinks;
  call.dQ = args->d_q, call.dK = args->d_k, call.dV = args->d_v, call.dSinks = args->d_sinks;
  call.delta = args->delta, call.ranges = args->ranges;
  call.T = args->T, call.H = args->H, call.KV = args->KV, call.D = args->D;
  call.scale = scoreScale(args->scale, args->D), call.softcap = args->softcap;
  call.visible.mask = static_cast<AttentionMask>(args->mask);
  call.visible.window = args->window;
  call.visible.keys = args->T;
  call.visible.seqs = args->seqs, call.visible.sequences = args->B - 1;
  return call;
}

} // namespace

CK_KERNEL(attention_grad_token_major_f32) {
  Call call = commonCall(args);
  call.queryHead = call.keyHead = args->D;
  call.queryRow = args->H * args->D, call.keyRow = args->KV * args->D;
  return differentiate(ctx, call);
}

CK_KERNEL(attention_grad_head_major_f32) {
  Call call = commonCall(args);
  call.queryRow = call.keyRow = args->D;
  call.queryHead = call.keyHead = args->T * args->D;
  return differentiate(ctx, call);
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();
