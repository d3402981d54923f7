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

/// Working memory of a task. Blocks that vectors run along have rows of `padded` elements.
struct Workspace {
  int64_t padded;
  float *kT, *vT, *k, *dK, *dV, *q, *dO, *dQ, *p, *dS;

  Workspace(float *memory, int64_t D) : padded(paddedWidth(D)) {
    const auto take = [&memory](int64_t count) {
      float *at = memory;
      memory += count;
      return at;
    };
    kT = take(D * kBlock), vT = take(D * kBlock);
    for (float **block : {&k, &dK, &dV, &q, &dO, &dQ})
      *block = take(kBlock * padded);
    p = take(kBlock * kBlock), dS = take(kBlock * kBlock);
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
void addPairs(const Call &call, const BlockBounds &bounds, const Workspace &work) {
  const int64_t padded = work.padded;
  for (int64_t row = 0; row < bounds.rows; ++row) {
    std::fill_n(work.dQ + row * padded, padded, 0.0f);
    for (int64_t key = bounds.begin[row]; key < bounds.end[row]; ++key) {
      const float p = work.p[row * kBlock + key], dS = work.dS[row * kBlock + key];
      if (call.dV)
        addScaled(p, work.dO + row * padded, padded, work.dV + key * padded);
      if (call.dK)
        addScaled(dS, work.q + row * padded, padded, work.dK + key * padded);
      if (call.dQ)
        addScaled(dS, work.k + key * padded, padded, work.dQ + row * padded);
    }
  }
}

HWY_INLINE void addProducts(const Call &call, const BlockBounds &bounds, const Workspace &work) {
  if (call.dV)
    sumOverRows(bounds, work.p, work.dO, work.padded, work.dV);
  if (call.dK)
    sumOverRows(bounds, work.dS, work.q, work.padded, work.dK);
  if (call.dQ)
    sumOverKeys(bounds, work.dS, work.k, work.padded, /*add=*/false, work.dQ);
}

/// Rows [t, t + bounds.rows) of head h against the keys that `work` holds. `finite`: all those keys are.
void differentiateBlock(const Call &call, int64_t h, int64_t t, const BlockBounds &bounds, bool finite,
                        const Workspace &work) {
  const int64_t D = call.D;
  const Rows q = call.queries(call.q, h, t), dO = call.queries(call.dOutput, h, t);
  finite &= packRows(q, bounds.rows, D, work.q);
  finite &= packRows(dO, bounds.rows, D, work.dO);
  multiplyPairs(bounds, work.q, work.kT, D, work.p);
  if (call.wantsScores())
    multiplyPairs(bounds, work.dO, work.vT, D, work.dS);
  const float *lse = call.lse + h * call.T + t, *delta = call.delta + h * call.T + t;
  if (call.softcap != 0)
    differentiateScores<true>(call, bounds, lse, delta, work);
  else
    differentiateScores<false>(call, bounds, lse, delta, work);
  if (bounds.edge && !finite)
    addPairs(call, bounds, work);
  else
    addProducts(call, bounds, work);
  if (call.dQ)
    addRows(work.dQ, bounds.rows, D, call.dQ + h * call.queryHead + t * call.queryRow, call.queryRow);
}

/// Keys [j, jEnd) of head g against the rows [t, tEnd) of its query heads.
void differentiateChunks(const Call &call, int64_t g, int64_t j, int64_t jEnd, int64_t t, int64_t tEnd,
                         const Workspace &work) {
  const int64_t group = call.H / call.KV, D = call.D;
  const double cap = call.softcap != 0 ? call.softcap : 1.0;
  for (; j < jEnd; j += kBlock) {
    const int64_t keys = std::min(kBlock, jEnd - j);
    if (call.ranges[2 * t] >= j + keys || call.ranges[2 * tEnd - 1] <= j)
      continue;
    const Rows k = call.keys(call.k, g, j);
    packTransposed(k, keys, D, static_cast<float>(call.scale / cap), work.kT);
    packTransposed(call.keys(call.v, g, j), keys, D, 1.0f, work.vT);
    const bool finite = packRows(k, keys, D, work.k);
    std::fill_n(work.dK, keys * work.padded, 0.0f);
    std::fill_n(work.dV, keys * work.padded, 0.0f);
    for (int64_t first = t; first < tEnd; first += kBlock) {
      BlockBounds bounds;
      bounds.rows = std::min(kBlock, tEnd - first), bounds.keys = keys;
      for (int64_t row = 0; row < bounds.rows; ++row)
        bounds.setRow(row, call.ranges[2 * (first + row)] - j, call.ranges[2 * (first + row) + 1] - j);
      for (int64_t h = g * group; bounds.some && h < (g + 1) * group; ++h)
        differentiateBlock(call, h, first, bounds, finite, work);
    }
    const int64_t at = g * call.keyHead + j * call.keyRow;
    if (call.dK)
      addRows(work.dK, keys, D, call.dK + at, call.keyRow);
    if (call.dV)
      addRows(work.dV, keys, D, call.dV + at, call.keyRow);
  }
}

/// Rows and keys of a chunk: enough chunks for a team, large enough that packing the keys is paid off.
int64_t chunkSize(const Call &call) {
  const int64_t even = ceilDiv(ceilDiv(call.T * call.KV, 16), kBlock) * kBlock;
  return std::clamp<int64_t>(even, kBlock, 4 * kBlock);
}

/// delta and visible keys of each row; zeros in the results that tasks add to.
void prepareRows(ck_context *ctx, const Call &call) {
  const int64_t D = call.D, grain = ceilDiv(rowsPerTask(2 * call.H * D), 16) * 16;
  parallelRange(ctx, call.T, grain, [&](int64_t begin, int64_t end, int) HWY_ATTR {
    for (int64_t h = 0; h < call.H; ++h)
      dotRows(call.queries(call.dOutput, h, begin), call.queries(call.output, h, begin), end - begin, D,
              call.delta + h * call.T + begin);
    const auto clear = [&](float *gradient, int64_t heads, int64_t head, int64_t row) {
      for (int64_t t = begin; gradient && t < end; ++t)
        for (int64_t h = 0; h < heads; ++h)
          std::fill_n(gradient + h * head + t * row, D, 0.0f);
    };
    clear(call.dQ, call.H, call.queryHead, call.queryRow);
    clear(call.dK, call.KV, call.keyHead, call.keyRow);
    clear(call.dV, call.KV, call.keyHead, call.keyRow);
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
      differentiateChunks(call, i % call.KV, j, std::min(T, j + chunk), t, std::min(T, t + chunk),
                          Workspace(static_cast<float *>(ck_thread_scratch(ctx, thread)), call.D));
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
