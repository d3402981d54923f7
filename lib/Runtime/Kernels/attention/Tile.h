//===- Tile.h - attention of a block of query rows --------------*- C++ -*-===//
//
// Online softmax over blocks of keys (Dao et al., FlashAttention, 2022), laid out so that vector lanes are query rows:
//
//   scores^T[key, row] = K[key, :] . Q^T[:, row]        Q is transposed once for the block of rows, K is read as it
//   lies max, exp and sum over the keys                      vertical, no lane ever talks to another out^T[d, row] +=
//   V[key, d] * scores^T[key, row]     V is read as it lies, the result is transposed once at the end
//
// Both products broadcast single elements of K and V against vectors of rows. The rows of a block are (token, head)
// pairs of all query heads that share one key/value head, so that a group reads its keys once.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_ATTENTION_TILE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_ATTENTION_TILE_H
#undef CK_LIB_RUNTIME_KERNELS_ATTENTION_TILE_H
#else
#define CK_LIB_RUNTIME_KERNELS_ATTENTION_TILE_H
#endif

#include "Quads.h"
#include "VecMath.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

inline constexpr int64_t kRows = 48;     ///< query rows of a block, the stride of all transposed buffers
inline constexpr int64_t kKeys = 64;     ///< keys of a step, where all rows see them
inline constexpr int64_t kEdgeKeys = 16; ///< keys of a step, where some rows do not
inline constexpr int64_t kRowVectors = kRows / kLanes;
/// Register tile: broadcast elements by vectors of rows. The sums, one vector of each kind and no more fit the
/// registers.
inline constexpr int kTall = HWY_TARGET == HWY_AVX3 ? 8 : 6;
inline constexpr int kWide = HWY_TARGET == HWY_AVX3 ? 3 : 2;

/// Bounds of the keys that each row sees, relative to the first key of a step.
struct RowBounds {
  HWY_ALIGN int32_t begin[kRows];
  HWY_ALIGN int32_t end[kRows];

  HWY_INLINE F32Mask visible(int64_t key, int64_t row) const {
    const I32 k = hn::Set(I32Tag(), static_cast<int32_t>(key));
    const auto from = hn::LoadU(I32Tag(), begin + row), to = hn::LoadU(I32Tag(), end + row);
    return hn::RebindMask(F32Tag(), hn::AndNot(from > k, to > k));
  }
};

/// Calls body(integral_constant<int, w>) for w = min(n, kWide).
template <typename Body> HWY_INLINE void withWidth(int64_t n, Body body) {
  if (n >= kWide)
    body(std::integral_constant<int, kWide>());
  else if (n == kWide - 1)
    body(std::integral_constant<int, kWide - 1>());
  else
    body(std::integral_constant<int, 1>());
}

/// Covers [0, n) with pieces of kTall, 4, 2 and 1: body(first, integral_constant<int, size>).
template <typename Body> HWY_INLINE void overHeight(int64_t n, Body body) {
  int64_t i = 0;
  for (; i + kTall <= n; i += kTall)
    body(i, std::integral_constant<int, kTall>());
  if (i + 4 <= n) {
    body(i, std::integral_constant<int, 4>());
    i += 4;
  }
  if (i + 2 <= n) {
    body(i, std::integral_constant<int, 2>());
    i += 2;
  }
  if (i < n)
    body(i, std::integral_constant<int, 1>());
}

/// to[d * kRows + row] = from[row][d] * factor for d in [0, D) and rows in [0, rows), a multiple of the lanes.
HWY_INLINE void transposeIn(const float *const *from, int64_t rows, int64_t D, float factor, float *to) {
  int64_t d = 0;
#if HWY_TARGET != HWY_SCALAR
  const F32 scale = set(factor);
  for (; d + 4 <= D; d += 4)
    for (int64_t row = 0; row < rows; row += kLanes) {
      // Vector i holds d..d+3 of the rows i, i + 4, ...; transposed, vector i holds column d + i of all rows.
      F32 v[4];
      for (int i = 0; i < 4; ++i)
        v[i] = gatherQuads(from + row + i, d) * scale;
      transposeQuads(v[0], v[1], v[2], v[3]);
      for (int i = 0; i < 4; ++i)
        store(v[i], to + (d + i) * kRows + row);
    }
#endif
  for (; d < D; ++d)
    for (int64_t row = 0; row < rows; ++row)
      to[d * kRows + row] = from[row][d] * factor;
}

/// to[row][d] = from[d * kRows + row] * factors[row] for rows in [0, count). Up to whole vectors, rows behind them
/// repeat the last one.
HWY_INLINE void transposeOut(const float *from, const float *factors, int64_t count, int64_t D, float *const *to) {
  int64_t d = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; d + 4 <= D; d += 4)
    for (int64_t row = 0; row < count; row += kLanes) {
      const F32 factor = load(factors + row);
      F32 v[4];
      for (int i = 0; i < 4; ++i)
        v[i] = load(from + (d + i) * kRows + row) * factor;
      transposeQuads(v[0], v[1], v[2], v[3]);
      for (int i = 0; i < 4; ++i)
        scatterQuads(v[i], to + row + i, d);
    }
#endif
  for (; d < D; ++d)
    for (int64_t row = 0; row < count; ++row)
      to[row][d] = from[d * kRows + row] * factors[row];
}

/// scores[m][row] = k[m][:] . q[:][row] for `Tall` keys and `Wide` vectors of rows.
template <int Tall, int Wide>
HWY_INLINE void scoreTile(const float *k, int64_t kStep, const float *q, int64_t D, float *scores) {
  F32 sum[Tall][Wide];
  for (int m = 0; m < Tall; ++m)
    for (int n = 0; n < Wide; ++n)
      sum[m][n] = zero();
  for (int64_t d = 0; d < D; ++d) {
    F32 column[Wide];
    for (int n = 0; n < Wide; ++n)
      column[n] = load(q + d * kRows + n * kLanes);
    for (int m = 0; m < Tall; ++m) {
      const F32 element = set(k[m * kStep + d]);
      for (int n = 0; n < Wide; ++n)
        sum[m][n] = fma(element, column[n], sum[m][n]);
    }
  }
  for (int m = 0; m < Tall; ++m)
    for (int n = 0; n < Wide; ++n)
      store(sum[m][n], scores + m * kRows + n * kLanes);
}

/// out[m][row] = out[m][row] * rescale[row] + sum_key v[key][m] weights[key][row]. With `Masked`, a key that a row does
/// not see is left out instead of multiplied by its weight 0, because 0 times infinity is no 0.
template <int Tall, int Wide, bool Masked>
HWY_INLINE void valueTile(const float *v, int64_t vStep, const float *weights, int64_t keys, const float *rescale,
                          const RowBounds &bounds, int64_t row, float *out) {
  F32 sum[Tall][Wide];
  for (int n = 0; n < Wide; ++n) {
    const F32 factor = load(rescale + n * kLanes);
    for (int m = 0; m < Tall; ++m)
      sum[m][n] = load(out + m * kRows + n * kLanes) * factor;
  }
  for (int64_t key = 0; key < keys; ++key) {
    F32 weight[Wide];
    for (int n = 0; n < Wide; ++n)
      weight[n] = load(weights + key * kRows + n * kLanes);
    for (int m = 0; m < Tall; ++m) {
      const F32 element = set(v[key * vStep + m]);
      for (int n = 0; n < Wide; ++n) {
        const F32 added = fma(element, weight[n], sum[m][n]);
        sum[m][n] = Masked ? hn::IfThenElse(bounds.visible(key, row + n * kLanes), added, sum[m][n]) : added;
      }
    }
  }
  for (int m = 0; m < Tall; ++m)
    for (int n = 0; n < Wide; ++n)
      store(sum[m][n], out + m * kRows + n * kLanes);
}

/// Working memory of a block of rows: `elements(D)` floats, 64-byte aligned.
struct Workspace {
  float *q, *out, *scores, *top, *sum, *rescale;

  Workspace(float *memory, int64_t D)
      : q(memory), out(q + D * kRows), scores(out + D * kRows), top(scores + kKeys * kRows), sum(top + kRows),
        rescale(sum + kRows) {}
};

/// One step: keys [0, count) at `k` and `v` for the row vectors [first, last).
struct Step {
  const float *k, *v;
  int64_t kStep, vStep, count, D;
  int64_t first, last;
  float cap; ///< of the scores, which come divided by it; 0 = none
};

/// Replaces scores by their exponentials and brings top, sum and rescale of the rows up to date.
template <bool Edge> HWY_INLINE void softmaxStep(const Step &step, const RowBounds &bounds, const Workspace &work) {
  const F32 lowest = set(-std::numeric_limits<float>::infinity());
  for (int64_t row = step.first * kLanes; row < step.last * kLanes; row += kLanes) {
    const F32 before = load(work.top + row);
    F32 top = before;
    for (int64_t key = 0; key < step.count; ++key) {
      float *at = work.scores + key * kRows + row;
      F32 score = load(at);
      if (step.cap != 0)
        score = set(step.cap) * vtanh(score);
      if (Edge)
        score = hn::IfThenElse(bounds.visible(key, row), score, lowest);
      if (Edge || step.cap != 0)
        store(score, at);
      top = hn::Max(top, score);
    }
    // Where every score so far is -infinity, exp(score - 0) is the 0 that is wanted.
    const F32 origin = hn::IfThenElse(top == lowest, zero(), top);
    const F32 factor = vexpNonPositive(before - origin);
    F32 sum = load(work.sum + row) * factor;
    for (int64_t key = 0; key < step.count; ++key) {
      float *at = work.scores + key * kRows + row;
      const F32 weight = vexpNonPositive(load(at) - origin);
      sum = sum + weight;
      store(weight, at);
    }
    store(top, work.top + row);
    store(sum, work.sum + row);
    store(factor, work.rescale + row);
  }
}

/// True if all values that the step would multiply by a weight are finite.
HWY_INLINE bool finiteValues(const Step &step) {
  F32 sum = zero(); // x * 0 is NaN for anything that is not finite
  for (int64_t key = 0; key < step.count; ++key)
    for (int64_t d = 0; d < step.D; d += kLanes)
      sum = fma(loadN(step.v + key * step.vStep + d, std::min(kLanes, step.D - d)), zero(), sum);
  return hn::AllTrue(F32Tag(), sum == zero());
}

template <bool Masked> HWY_INLINE void addValues(const Step &step, const RowBounds &bounds, const Workspace &work) {
  for (int64_t n = step.first; n < step.last; n += kWide)
    withWidth(step.last - n, [&](auto wide) HWY_ATTR {
      overHeight(step.D, [&](int64_t d, auto tall) HWY_ATTR {
        const int64_t row = n * kLanes;
        valueTile<decltype(tall)::value, decltype(wide)::value, Masked>(step.v + d, step.vStep, work.scores + row,
                                                                        step.count, work.rescale + row, bounds, row,
                                                                        work.out + d * kRows + row);
      });
    });
}

/// Takes the keys of one step into account. `edge`: some row does not see them all.
HWY_INLINE void attendStep(const Step &step, bool edge, const RowBounds &bounds, const Workspace &work) {
  for (int64_t n = step.first; n < step.last; n += kWide)
    withWidth(step.last - n, [&](auto wide) HWY_ATTR {
      overHeight(step.count, [&](int64_t key, auto tall) HWY_ATTR {
        scoreTile<decltype(tall)::value, decltype(wide)::value>(
            step.k + key * step.kStep, step.kStep, work.q + n * kLanes, step.D, work.scores + key * kRows + n * kLanes);
      });
    });
  if (!edge) {
    softmaxStep<false>(step, bounds, work);
    addValues<false>(step, bounds, work);
    return;
  }
  softmaxStep<true>(step, bounds, work);
  if (finiteValues(step))
    addValues<false>(step, bounds, work);
  else
    addValues<true>(step, bounds, work);
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_ATTENTION_TILE_H
