//===- Products.h - small matrix products held in registers -----*- C++ -*-===//
//
// The gradients of attention are products of blocks of at most kBlock rows by kBlock keys. All of them are
//
//   out[m][n] = sum_i a(m, i) b[i][n]
//
// where vectors run along n, b and out have rows of whole vectors, and single elements of a are broadcast, so that a
// may lie either way round. Packing gives operands that form.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_ATTENTION_PRODUCTS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_ATTENTION_PRODUCTS_H
#undef CK_LIB_RUNTIME_KERNELS_ATTENTION_PRODUCTS_H
#else
#define CK_LIB_RUNTIME_KERNELS_ATTENTION_PRODUCTS_H
#endif

#include "Quads.h"
#include "attention/Visible.h"
#include "ck/Support/Half.h"
#include "linear/GemmStorage.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

/// Register tile: broadcast elements by vectors. The sums, one row of b and one element of a fit the registers.
inline constexpr int kTall = HWY_TARGET == HWY_SCALAR ? 2 : 6;
inline constexpr int kWide = HWY_TARGET == HWY_AVX2 ? 2 : 4;

/// Element (m, i) of a is a[m * aRow + i * aStep]; i runs over [0, steps). All of b and out lie `bStep` and `outRow`
/// elements apart. With `add` the sums are added to out.
struct Product {
  const float *a;
  int64_t aRow, aStep;
  const float *b;
  int64_t bStep;
  float *out;
  int64_t outRow;
  int64_t steps;
  bool add;
};

template <int Tall, int Wide> HWY_NOINLINE void productTile(const Product &p) {
  F32 sum[Tall][Wide];
#pragma GCC unroll 16
  for (int m = 0; m < Tall; ++m)
#pragma GCC unroll 16
    for (int n = 0; n < Wide; ++n)
      sum[m][n] = zero();
  // Three rows per pointer, and no pointer known to follow from another: compilers would else keep one per row.
  constexpr int kPointers = (Tall + 2) / 3;
  const int64_t aRow = p.aRow, aStep = p.aStep, bStep = p.bStep;
  const float *b = p.b, *a[kPointers];
#pragma GCC unroll 16
  for (int i = 0; i < kPointers; ++i)
    a[i] = p.a + 3 * i * aRow;
#pragma GCC unroll 1
  for (int64_t step = 0; step < p.steps; ++step) {
    F32 row[Wide];
#pragma GCC unroll 16
    for (int n = 0; n < Wide; ++n)
      row[n] = load(b + n * kLanes);
#pragma GCC unroll 16
    for (int m = 0; m < Tall; ++m) {
      const F32 element = set(a[m / 3][m % 3 * aRow]);
#pragma GCC unroll 16
      for (int n = 0; n < Wide; ++n)
        sum[m][n] = fma(element, row[n], sum[m][n]);
    }
    b += bStep;
#pragma GCC unroll 16
    for (int i = 0; i < kPointers; ++i) {
      a[i] += aStep;
      asm("" : "+r"(a[i]));
    }
  }
#pragma GCC unroll 16
  for (int m = 0; m < Tall; ++m)
#pragma GCC unroll 16
    for (int n = 0; n < Wide; ++n) {
      float *at = p.out + m * p.outRow + n * kLanes;
      store(p.add ? load(at) + sum[m][n] : sum[m][n], at);
    }
}

template <int Tall> HWY_INLINE void productRow(Product p, int64_t vectors) {
  for (; vectors >= kWide; vectors -= kWide, p.b += kWide * kLanes, p.out += kWide * kLanes)
    productTile<Tall, kWide>(p);
  if (vectors == 1)
    productTile<Tall, 1>(p);
  else if (vectors == 2)
    productTile<Tall, 2>(p);
  else if (vectors == 3)
    productTile<Tall, 3>(p);
}

/// The product for m in [0, rows), rows <= kTall, and n in [0, vectors * kLanes).
HWY_INLINE void multiply(const Product &p, int64_t rows, int64_t vectors) {
  if (rows == kTall)
    return productRow<kTall>(p, vectors);
#if HWY_TARGET != HWY_SCALAR
  if (rows == 5)
    return productRow<5>(p, vectors);
  if (rows == 4)
    return productRow<4>(p, vectors);
  if (rows == 3)
    return productRow<3>(p, vectors);
  if (rows == 2)
    return productRow<2>(p, vectors);
#endif
  if (rows == 1)
    productRow<1>(p, vectors);
}

/// Calls body(first, count) for groups of at most kTall that cover [0, n).
template <typename Body> HWY_INLINE void overGroups(int64_t n, Body body) {
  for (int64_t first = 0; first < n; first += kTall)
    body(first, std::min<int64_t>(kTall, n - first));
}

/// Rows of `stride` elements that hold D each; elements of 16 bits are bfloat16.
template <typename Element> struct RowsOf {
  const Element *data;
  int64_t stride;
};
using Rows = RowsOf<float>;
using RowsBF16 = RowsOf<uint16_t>;

template <typename Element>
using StorageOf = std::conditional_t<std::is_same_v<Element, float>, StorageF32, StorageBF16>;

HWY_INLINE float valueAt(const float *p) { return *p; }
HWY_INLINE float valueAt(const uint16_t *p) { return bf16ToFloat(*p); }

#if HWY_TARGET != HWY_SCALAR
/// As loadQuads, widened.
HWY_INLINE F32 loadQuads(const uint16_t *p, int64_t stride) {
  HWY_ALIGN float lanes[kLanes];
  for (int64_t i = 0; i < kLanes; i += 4, p += stride)
    for (int64_t j = 0; j < 4; ++j)
      lanes[i + j] = bf16ToFloat(p[j]);
  return load(lanes);
}
#endif

/// D up to whole vectors of the widest instruction set, so that scratch has one size for all.
inline int64_t paddedWidth(int64_t D) { return ceilDiv(D, 16) * 16; }

/// to[row * padded + d] = from[row][d], 0 behind D. True if everything is finite.
template <typename Element> HWY_INLINE bool packRowsOf(RowsOf<Element> from, int64_t rows, int64_t D, float *to) {
  using Storage = StorageOf<Element>;
  const int64_t padded = paddedWidth(D);
  F32 sum = zero(); // x * 0 is NaN for anything that is not finite
  for (int64_t row = 0; row < rows; ++row, from.data += from.stride, to += padded) {
    int64_t d = 0;
    for (; d + kLanes <= D; d += kLanes) {
      const F32 v = Storage::widen(from.data + d);
      sum = fma(v, zero(), sum);
      store(v, to + d);
    }
    for (; d < padded; d += kLanes) {
      const F32 v = Storage::widenN(from.data + d, std::max<int64_t>(0, D - d));
      sum = fma(v, zero(), sum);
      store(v, to + d);
    }
  }
  return hn::AllTrue(F32Tag(), sum == zero());
}

HWY_INLINE bool packRows(Rows from, int64_t rows, int64_t D, float *to) { return packRowsOf(from, rows, D, to); }
HWY_INLINE bool packRows(RowsBF16 from, int64_t rows, int64_t D, float *to) { return packRowsOf(from, rows, D, to); }

/// to[d * kBlock + row] = from[row][d] * factor for rows in [0, rows), 0 behind them.
template <typename Element>
HWY_INLINE void packTransposedOf(RowsOf<Element> from, int64_t rows, int64_t D, float factor, float *to) {
  int64_t row = 0;
#if HWY_TARGET != HWY_SCALAR
  const F32 scale = set(factor);
  for (; row + kLanes <= rows; row += kLanes) {
    const Element *at = from.data + row * from.stride;
    int64_t d = 0;
    for (; d + 4 <= D; d += 4) {
      // Vector i holds d..d+3 of the rows i, i + 4, ...; transposed, vector i holds column d + i of all rows.
      F32 v[4];
#pragma GCC unroll 4
      for (int64_t i = 0; i < 4; ++i)
        v[i] = loadQuads(at + i * from.stride + d, 4 * from.stride) * scale;
      transposeQuads(v[0], v[1], v[2], v[3]);
#pragma GCC unroll 4
      for (int64_t i = 0; i < 4; ++i)
        store(v[i], to + (d + i) * kBlock + row);
    }
    for (; d < D; ++d)
      for (int64_t i = 0; i < kLanes; ++i)
        to[d * kBlock + row + i] = valueAt(at + i * from.stride + d) * factor;
  }
#endif
  if (row == kBlock)
    return;
  for (int64_t d = 0; d < D; ++d) {
    for (int64_t i = row; i < rows; ++i)
      to[d * kBlock + i] = valueAt(from.data + i * from.stride + d) * factor;
    for (int64_t i = std::max(row, rows); i < kBlock; ++i)
      to[d * kBlock + i] = 0;
  }
}
HWY_INLINE void packTransposed(Rows from, int64_t rows, int64_t D, float factor, float *to) {
  packTransposedOf(from, rows, D, factor, to);
}
HWY_INLINE void packTransposed(RowsBF16 from, int64_t rows, int64_t D, float factor, float *to) {
  packTransposedOf(from, rows, D, factor, to);
}

/// products[row][key] = rows[row] . columns[:][key] for the vectors of keys that a group of rows sees; rows are packed,
/// columns transposed, products lie in a block.
HWY_INLINE void multiplyPairs(const BlockBounds &bounds, const float *rows, const float *columns, int64_t D,
                              float *products) {
  const int64_t padded = paddedWidth(D);
  overGroups(bounds.rows, [&](int64_t row, int64_t count) HWY_ATTR {
    const KeyRange keys = bounds.keysOf(row, count);
    const int64_t first = keys.begin / kLanes, last = ceilDiv(keys.end, kLanes);
    if (first < last)
      multiply({rows + row * padded, padded, 1, columns + first * kLanes, kBlock,
                products + row * kBlock + first * kLanes, kBlock, D, false},
               count, last - first);
  });
}

/// sums[row] = sum_key weights[row][key] values[key] over the keys that a group of rows sees, or += with `add`.
HWY_INLINE void sumOverKeys(const BlockBounds &bounds, const float *weights, const float *values, int64_t padded,
                            bool add, float *sums) {
  overGroups(bounds.rows, [&](int64_t row, int64_t count) HWY_ATTR {
    const KeyRange keys = bounds.keysOf(row, count);
    if (!keys.empty() || !add)
      multiply({weights + row * kBlock + keys.begin, kBlock, 1, values + keys.begin * padded, padded,
                sums + row * padded, padded, std::max<int64_t>(keys.end - keys.begin, 0), add},
               count, padded / kLanes);
  });
}

/// sums[key] += sum_row weights[row][key] values[row] over the rows that see one of a group of keys.
HWY_INLINE void sumOverRows(const BlockBounds &bounds, const float *weights, const float *values, int64_t padded,
                            float *sums) {
  overGroups(bounds.keys, [&](int64_t key, int64_t count) HWY_ATTR {
    const KeyRange rows = bounds.rowsOf(key, count);
    if (!rows.empty())
      multiply({weights + rows.begin * kBlock + key, 1, kBlock, values + rows.begin * padded, padded,
                sums + key * padded, padded, rows.end - rows.begin, true},
               count, padded / kLanes);
  });
}

/// to += factor * from over `padded` elements.
HWY_INLINE void addScaled(float factor, const float *from, int64_t padded, float *to) {
  for (int64_t d = 0; d < padded; d += kLanes)
    store(fma(set(factor), load(from + d), load(to + d)), to + d);
}

/// to[row] = a[row] . b[row], summed in the order of multiply(): where all of a's weight falls on one key, d_output.v -
/// delta is an exact 0.
HWY_INLINE void dotRows(Rows a, Rows b, int64_t rows, int64_t D, float *to) {
  int64_t row = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; row + kLanes <= rows; row += kLanes) {
    const float *atA = a.data + row * a.stride, *atB = b.data + row * b.stride;
    F32 sum = zero();
    int64_t d = 0;
    for (; d + 4 <= D; d += 4) {
      F32 u[4], v[4];
#pragma GCC unroll 4
      for (int64_t i = 0; i < 4; ++i) {
        u[i] = loadQuads(atA + i * a.stride + d, 4 * a.stride);
        v[i] = loadQuads(atB + i * b.stride + d, 4 * b.stride);
      }
      transposeQuads(u[0], u[1], u[2], u[3]);
      transposeQuads(v[0], v[1], v[2], v[3]);
#pragma GCC unroll 4
      for (int64_t i = 0; i < 4; ++i)
        sum = fma(u[i], v[i], sum);
    }
    for (; d < D; ++d) {
      HWY_ALIGN float u[kLanes], v[kLanes];
      for (int64_t i = 0; i < kLanes; ++i)
        u[i] = atA[i * a.stride + d], v[i] = atB[i * b.stride + d];
      sum = fma(load(u), load(v), sum);
    }
    store(sum, to + row);
  }
#endif
  for (; row < rows; ++row) {
    F32 sum = zero();
    for (int64_t d = 0; d < D; ++d)
      sum = fma(set(a.data[row * a.stride + d]), set(b.data[row * b.stride + d]), sum);
    to[row] = hn::GetLane(sum);
  }
}

/// to[row][d] += from[row * padded + d].
HWY_INLINE void addRows(const float *from, int64_t rows, int64_t D, float *to, int64_t stride) {
  const int64_t padded = paddedWidth(D);
  for (int64_t row = 0; row < rows; ++row, from += padded, to += stride) {
    int64_t d = 0;
    for (; d + kLanes <= D; d += kLanes)
      store(load(to + d) + load(from + d), to + d);
    if (d < D)
      storeN(loadN(to + d, D - d) + load(from + d), to + d, D - d);
  }
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_ATTENTION_PRODUCTS_H
