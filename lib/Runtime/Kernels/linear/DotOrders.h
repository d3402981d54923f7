//===- DotOrders.h - in which order blocks meet -----------------*- C++ -*-===//
//
// One product over (weight format, activation format, order). Sums within a block are exact integers; the order in
// which blocks meet in f32 is the contract of each provider, and bits are equal on every instruction set. A block of a
// weight is unpacked once for some rows of activations.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_LINEAR_DOTORDERS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_LINEAR_DOTORDERS_H
#undef CK_LIB_RUNTIME_KERNELS_LINEAR_DOTORDERS_H
#else
#define CK_LIB_RUNTIME_KERNELS_LINEAR_DOTORDERS_H
#endif

#include "linear/DotBlocks.h"
#include "quant/ActBlocks.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

// An order has: the format of the activations; a block of a weight, unpacked; the sum of one output, one step of it for
// each block, its value. `pairwise` belongs to DotQ4_K alone.

/// Eight lanes, one fused step for each block.
template <class Raw, class ActFormat = ActQ8_0> struct DotLanes {
  using Act = ActFormat;
  static constexpr int64_t kWeightBytes = Raw::kBytes;
  struct Weight {
    Codes32 codes;
    float d;
    explicit HWY_INLINE Weight(const uint8_t *p) : codes(Raw::codes(p)), d(factorAt(p)) {}
  };
  struct Sum {
    Floats8 lanes;
    HWY_INLINE Sum() {}
    HWY_INLINE void step(const Weight &w, const uint8_t *x, bool) {
      lanes = addScaled8(lanes, w.d * factorAt(x), dot32<Raw::kSigned>(w.codes, x + Act::kCodes));
    }
    HWY_INLINE float value() const { return sum8(lanes); }
  };
};

/// One sum, block after block, each product rounded.
template <class Raw, class ActFormat = ActQ8_0> struct DotAscending : DotLanes<Raw, ActFormat> {
  using Base = DotLanes<Raw, ActFormat>;
  using Weight = typename Base::Weight;
  struct Sum {
    float total = 0;
    HWY_INLINE void step(const Weight &w, const uint8_t *x, bool) {
      const int32_t sum = sum8(dot32<Raw::kSigned>(w.codes, x + Base::Act::kCodes));
      const float product = (w.d * factorAt(x)) * static_cast<float>(sum);
      total += product;
    }
    HWY_INLINE float value() const { return total; }
  };
};

/// With minima: eight lanes for the codes, one fused sum for the minima.
template <class Raw> struct DotMinLanes {
  using Act = ActQ8_1;
  static constexpr int64_t kWeightBytes = Raw::kBytes;
  struct Weight {
    Codes32 codes;
    float d, m;
    explicit HWY_INLINE Weight(const uint8_t *p) : codes(Raw::codes(p)), d(factorAt(p)), m(Raw::minimum(p)) {}
  };
  struct Sum {
    Floats8 lanes;
    float minima = 0;
    HWY_INLINE Sum() {}
    HWY_INLINE void step(const Weight &w, const uint8_t *x, bool) {
      lanes = addScaled8(lanes, w.d * factorAt(x), dot32<false>(w.codes, x + Act::kCodes));
      minima = std::fma(w.m, factorAt(x + 2), minima);
    }
    HWY_INLINE float value() const { return sum8(lanes) + minima; }
  };
};

/// With minima: one sum, block after block, each operation rounded.
template <class Raw> struct DotMinAscending : DotMinLanes<Raw> {
  using Weight = typename DotMinLanes<Raw>::Weight;
  struct Sum {
    float total = 0;
    HWY_INLINE void step(const Weight &w, const uint8_t *x, bool) {
      const int32_t sum = sum8(dot32<false>(w.codes, x + ActQ8_1::kCodes));
      const float codes = (w.d * factorAt(x)) * static_cast<float>(sum), minimum = w.m * factorAt(x + 2);
      total += codes + minimum;
    }
    HWY_INLINE float value() const { return total; }
  };
};

template <class Raw> struct WeightK : RawBlockK {
  explicit HWY_INLINE WeightK(const uint8_t *p) { Raw::unpack(p, *this); }
};
HWY_INLINE float factorOfK(const uint8_t *x) {
  float d;
  std::memcpy(&d, x, sizeof d);
  return d;
}

/// Codes and minima in sums of their own; one step for each 64 elements of rows that come in fours, else for each 256.
struct DotQ4_K {
  using Act = ActQ8_K;
  static constexpr int64_t kWeightBytes = RawQ45_K<false>::kBytes;
  using Weight = WeightK<RawQ45_K<false>>;
  struct Sum {
    float codes = 0, minima = 0;
    HWY_INLINE void step(const Weight &w, const uint8_t *x, bool pairwise) {
      const float d = w.d * factorOfK(x), dmin = w.dmin * factorOfK(x);
      const Ints8 lanes = dotPairs(w.weights, x + Act::kSums);
      if (!pairwise) {
        codes = std::fma(static_cast<float>(sum8(dotGroups(w, x + Act::kCodes, 0, 8))), d, codes);
        minima = std::fma(static_cast<float>(sum8(lanes)), dmin, minima);
        return;
      }
      int32_t part[8];
      store8(lanes, part);
      for (int pair = 0; pair < 4; ++pair) {
        const int32_t sum = sum8(dotGroups(w, x + Act::kCodes, 2 * pair, 2 * pair + 2));
        codes = std::fma(static_cast<float>(sum), d, codes);
        minima = std::fma(static_cast<float>(part[2 * pair] + part[2 * pair + 1]), dmin, minima);
      }
    }
    HWY_INLINE float value() const { return codes - minima; }
  };
};

/// Eight lanes for the codes, one fused sum for the minima.
struct DotQ5_K {
  using Act = ActQ8_K;
  static constexpr int64_t kWeightBytes = RawQ45_K<true>::kBytes;
  using Weight = WeightK<RawQ45_K<true>>;
  struct Sum {
    Floats8 lanes;
    float minima = 0;
    HWY_INLINE Sum() {}
    HWY_INLINE void step(const Weight &w, const uint8_t *x, bool) {
      const float d = w.d * factorOfK(x), dmin = w.dmin * factorOfK(x);
      const int32_t minimum = sum8(dotPairs(w.weights, x + Act::kSums));
      lanes = addScaled8(lanes, d, dotGroups(w, x + Act::kCodes, 0, 8));
      minima = std::fma(-dmin, static_cast<float>(minimum), minima);
    }
    HWY_INLINE float value() const { return sum8(lanes) + minima; }
  };
};

/// Eight lanes; the offset of the codes is taken from lane j by the sums of 16-groups 2j and 2j+1.
struct DotQ6_K {
  using Act = ActQ8_K;
  static constexpr int64_t kWeightBytes = RawQ6_K::kBytes;
  using Weight = WeightK<RawQ6_K>;
  struct Sum {
    Floats8 lanes;
    HWY_INLINE Sum() {}
    HWY_INLINE void step(const Weight &w, const uint8_t *x, bool) {
      const Ints8 offset = dotPairs(w.weights, x + Act::kSums);
      const Ints8 codes = subtract32Times(dotGroups(w, x + Act::kCodes, 0, 8), offset);
      lanes = addScaled8(lanes, w.d * factorOfK(x), codes);
    }
    HWY_INLINE float value() const { return sum8(lanes); }
  };
};

/// Rows of quantised activations and of a weight, whole blocks; a row of a weight may be the part of a longer one.
struct DotProblem {
  int64_t m, n, k;
  const uint8_t *a, *w;
  int64_t weightStride = 0; ///< bytes between rows of w, 0 where they are compact
};

/// Calls store(row, n, sum) for each element of A W^T; tasks take rows of W.
template <class Dot, class Store> void multiplyBlocks(ck_context *ctx, const DotProblem &p, const Store &store) {
  constexpr int64_t kRows = 8; // of A, for which a block is unpacked once
  const int64_t blocks = p.k / Dot::Act::kElements;
  const int64_t rowOfA = blocks * Dot::Act::kBytes,
                rowOfW = p.weightStride ? p.weightStride : blocks * Dot::kWeightBytes;
  const int64_t fours = p.m / 4 * 4;
  const int64_t grain = std::min<int64_t>(16, ceilDiv(4 * kTaskElements, std::max<int64_t>(1, p.k)));
  parallelRange(ctx, p.m ? p.n : 0, grain, [&](int64_t begin, int64_t end, int) HWY_ATTR {
    for (int64_t t = 0; t < p.m; t += kRows) {
      const int64_t rows = std::min(kRows, p.m - t);
      for (int64_t n = begin; n < end; ++n) {
        typename Dot::Sum sums[kRows];
        const uint8_t *w = p.w + n * rowOfW, *a = p.a + t * rowOfA;
        for (int64_t b = 0; b < blocks; ++b, w += Dot::kWeightBytes, a += Dot::Act::kBytes) {
          const typename Dot::Weight weight(w);
          for (int64_t row = 0; row < rows; ++row)
            sums[row].step(weight, a + row * rowOfA, t + row < fours);
        }
        for (int64_t row = 0; row < rows; ++row)
          store(t + row, n, sums[row].value());
      }
    }
  });
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_LINEAR_DOTORDERS_H
