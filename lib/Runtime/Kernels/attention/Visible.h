//===- Visible.h - which keys a row may see ---------------------*- C++ -*-===//
//
// Every mask of the attention ops is one half-open range of keys for each row. Kernels compute with ranges and never
// with additive masks, so that a key outside the range has no influence, whatever bits it holds.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_RUNTIME_KERNELS_ATTENTION_VISIBLE_H
#define CK_LIB_RUNTIME_KERNELS_ATTENTION_VISIBLE_H

#include "KernelSupport.h"

namespace ck {

/// The order of the enum in the maps of all attention kernels; each source says so for its own.
enum class AttentionMask : int64_t { Causal, Sliding, Full };
#define CK_SAME_MASKS(KERNEL)                                                                                          \
  static_assert(static_cast<int64_t>(ck::AttentionMask::Causal) == CKK_##KERNEL##_MASK_CAUSAL &&                       \
                static_cast<int64_t>(ck::AttentionMask::Sliding) == CKK_##KERNEL##_MASK_SLIDING &&                     \
                static_cast<int64_t>(ck::AttentionMask::Full) == CKK_##KERNEL##_MASK_FULL)

struct KeyRange {
  int64_t begin, end;
  bool empty() const { return begin >= end; }
};

/// The keys of each row of one call.
struct Visible {
  AttentionMask mask;
  int64_t window;                ///< of a sliding mask, the row's own key included
  int64_t keys;                  ///< rows of the cache, or of the call
  const int32_t *pos = nullptr;  ///< cache: position of each row
  const int32_t *seqs = nullptr; ///< rows: offsets of the packed sequences, ascending
  int64_t sequences = 0;

  KeyRange of(int64_t t) const {
    KeyRange range = {0, keys};
    if (seqs) {
      const int32_t *next = std::upper_bound(seqs, seqs + sequences + 1, t);
      range = {next[-1], next[0]};
    }
    const int64_t position = pos ? pos[t] : t;
    if (mask != AttentionMask::Full)
      range.end = std::min(range.end, position + 1);
    if (mask == AttentionMask::Sliding)
      range.begin = std::max(range.begin, position - window + 1);
    return range;
  }
};

/// Checks mask, window, positions and sequences of a call with T rows.
inline int32_t checkVisible(ck_context *ctx, const Visible &visible, int64_t T) {
  if (visible.mask < AttentionMask::Causal || visible.mask > AttentionMask::Full)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "mask %lld is none", static_cast<long long>(visible.mask));
  if (visible.mask == AttentionMask::Sliding && visible.window < 1)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "window is %lld, expected at least 1",
                   static_cast<long long>(visible.window));
  if (visible.pos)
    if (const int64_t bad = firstOutside(visible.pos, T, visible.keys); bad < T)
      return ck_fail(ctx, CK_INVALID_ARGUMENT, "pos[%lld] is %d, outside the cache of %lld rows",
                     static_cast<long long>(bad), visible.pos[bad], static_cast<long long>(visible.keys));
  if (!visible.seqs)
    return CK_OK;
  const int64_t last = visible.sequences;
  if (last < 0 || visible.seqs[0] != 0 || visible.seqs[last] != T)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "seqs must run from 0 to the %lld rows", static_cast<long long>(T));
  for (int64_t b = 0; b < last; ++b)
    if (visible.seqs[b] > visible.seqs[b + 1])
      return ck_fail(ctx, CK_INVALID_ARGUMENT, "seqs[%lld] is %d, less than the %d before it",
                     static_cast<long long>(b + 1), visible.seqs[b + 1], visible.seqs[b]);
  return CK_OK;
}

/// Rows and keys of a block of the kernels that work on pairs of them.
inline constexpr int64_t kBlock = 64;

/// Keys that the rows of a block see, relative to the first key of a block of keys. Both bounds ascend.
struct BlockBounds {
  int64_t rows = 0, keys = 0;
  int64_t begin[kBlock], end[kBlock];
  bool some = false, edge = false; ///< some row sees a key; some row does not see all

  void setRow(int64_t row, int64_t first, int64_t last) {
    begin[row] = std::clamp<int64_t>(first, 0, keys);
    end[row] = std::clamp<int64_t>(last, 0, keys);
    some |= begin[row] < end[row];
    edge |= begin[row] > 0 || end[row] < keys;
  }

  /// Hull of the rows that see one of the keys [first, first + count).
  KeyRange rowsOf(int64_t first, int64_t count) const {
    KeyRange range = {0, rows};
    while (range.begin < rows && end[range.begin] <= first)
      ++range.begin;
    while (range.end > range.begin && begin[range.end - 1] >= first + count)
      --range.end;
    return range;
  }
  /// Hull of the keys that one of the rows [row, row + count) sees.
  KeyRange keysOf(int64_t row, int64_t count) const { return {begin[row], end[row + count - 1]}; }
};

/// The factor of the scores: 0 stands for 1/sqrt(D).
inline double scoreScale(double scale, int64_t D) {
  return scale != 0 ? scale : 1.0 / std::sqrt(static_cast<double>(std::max<int64_t>(D, 1)));
}

} // namespace ck

#endif // CK_LIB_RUNTIME_KERNELS_ATTENTION_VISIBLE_H
