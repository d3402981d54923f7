//===- GemmPack.h - panels of one operand, blocks of the other --*- C++ -*-===//
//
// The operand that lanes run along is packed into panels: block of K by block of K, in each the panels one behind the
// other, in each panel the steps of K, each a full set of vectors of lines; lanes behind the last line are zeros. A
// block of the other operand is copied where the tile kernel had better not read it in place: it has another storage
// type, lies in groups, has its lines contiguous instead of its steps, or lines that meet in few sets of a cache.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMPACK_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMPACK_H
#undef CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMPACK_H
#else
#define CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMPACK_H
#endif

#include "KernelSupport.h"
#include "linear/GemmStorage.h"
#include "linear/GemmTile.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

/// A or B: `lines` (rows of A, columns of B) by `steps` of K.
template <class StorageType> struct GemmOperand {
  using Storage = StorageType;
  typename Storage::Pointer data;
  GemmAxis lines, steps;
};

/// The lines of an operand in panels: full ones of kPanelRows, then for a short rest some of a single vector.
struct Panels {
  explicit Panels(int64_t lines) : lines(lines) {
    full = lines / kPanelRows;
    const int64_t rest = lines - full * kPanelRows;
    if (rest > (kTileVectors - 1) * kLanes)
      ++full;
    else
      narrow = ceilDiv(rest, kLanes);
  }
  int64_t count() const { return full + narrow; }
  bool isFull(int64_t panel) const { return panel < full; }
  int64_t width(int64_t panel) const { return isFull(panel) ? kPanelRows : kLanes; }
  /// First line; also the sum of the widths before it.
  int64_t begin(int64_t panel) const {
    return std::min(panel, full) * kPanelRows + std::max<int64_t>(0, panel - full) * kLanes;
  }
  /// Lines of a panel that exist.
  int64_t used(int64_t panel) const { return std::min(width(panel), lines - begin(panel)); }
  int64_t paddedLines() const { return begin(count()); }

  int64_t lines, full = 0, narrow = 0;
};

/// Steps in each block of K but the last: blocks of about one size.
inline int64_t blockDepth(int64_t k) {
  const int64_t blocks = std::max<int64_t>(1, ceilDiv(k, kGemmBlockK));
  return std::min(kGemmBlockK, ceilDiv(ceilDiv(k, blocks), 16) * 16);
}

/// The rows of memory behind lines [first, first + count) and steps [k, k + depth) of an operand, in its own order;
/// none if they lie in groups.
template <class Storage>
Ahead rowsOf(const GemmOperand<Storage> &operand, int64_t first, int64_t count, int64_t k, int64_t depth) {
  Ahead ahead;
  if (operand.lines.run(first, count) != count || operand.steps.run(k, depth) != depth || count <= 0 || depth <= 0)
    return ahead;
  const bool bySteps = operand.steps.stride != 1;
  ahead.row = Storage::address(operand.data + operand.lines.offset(first) + operand.steps.offset(k));
  ahead.stride = Storage::bytes(bySteps ? operand.steps.stride : operand.lines.stride);
  ahead.rows = bySteps ? depth : count;
  ahead.lines = (Storage::bytes(bySteps ? count : depth) + 63) / 64;
  return ahead;
}

/// True if tiles can be read where the operand lies, as far as it does not lie in groups. Lines that are a multiple of
/// 4 KiB apart compete for the same few places in a cache, and are copied.
template <class Storage> bool readsInPlace(const GemmOperand<Storage> &operand) {
  return Storage::kDirect && operand.steps.stride == 1 && operand.lines.stride % 1024 != 0;
}

/// Copies n elements, widened.
template <class Storage> HWY_INLINE void widenRow(typename Storage::Pointer from, int64_t n, float *HWY_RESTRICT to) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    store(Storage::widen(from + i), to + i);
  if (i < n)
    storeN(Storage::widenN(from + i, n - i), to + i, n - i);
}

/// Contiguous lines [first, first + lines) over `depth` steps from `at`, `stride` apart, to a panel of `width` lanes.
template <class Storage>
void copyLanes(typename Storage::Pointer at, int64_t stride, const GemmAxis &axis, int64_t first, int64_t lines,
               int64_t width, int64_t depth, float *to) {
  constexpr int64_t kAhead = 8;
  for (int64_t line = 0, run; line < lines; line += run) {
    run = axis.run(first + line, lines - line);
    auto from = at + axis.offset(first + line);
    if (run == kPanelRows && width == kPanelRows) {
      for (int64_t k = 0; k < depth; ++k, from += stride) {
        __builtin_prefetch(Storage::address(from + kAhead * stride));
        __builtin_prefetch(Storage::address(from + (kAhead * stride + kPanelRows - 1)));
        for (int v = 0; v < kTileVectors; ++v)
          store(Storage::widen(from + v * kLanes), to + k * kPanelRows + v * kLanes);
      }
      return;
    }
    for (int64_t k = 0; k < depth; ++k, from += stride) {
      if (k + kAhead < depth)
        for (int64_t i = 0; i < run; i += Storage::kPerLine)
          __builtin_prefetch(Storage::address(from + (kAhead * stride + i)));
      widenRow<Storage>(from, run, to + k * width + line);
    }
  }
  for (int64_t k = 0; lines < width && k < depth; ++k)
    std::fill(to + k * width + lines, to + (k + 1) * width, 0.0f);
}

/// Lines [first, first + lines), at most kLanes, over `depth` steps side by side in `to`; zeros in the rows behind.
template <class Storage>
void copyRows(typename Storage::Pointer at, int64_t stride, const GemmAxis &axis, int64_t first, int64_t lines,
              int64_t depth, float *to, int64_t toStride) {
  for (int64_t line = 0; line < kLanes; ++line, to += toStride) {
    if (line >= lines) {
      std::fill(to, to + depth, 0.0f);
      continue;
    }
    auto from = at + axis.offset(first + line);
    if (stride == 1)
      widenRow<Storage>(from, depth, to);
    else
      for (int64_t k = 0; k < depth; ++k)
        to[k] = Storage::widenOne(from + k * stride);
  }
}

/// As copyLanes, for lines that are not contiguous.
template <class Storage>
void transposeLanes(typename Storage::Pointer at, int64_t stride, const GemmAxis &axis, int64_t first, int64_t lines,
                    int64_t width, int64_t depth, float *to) {
  constexpr int64_t kSteps = 64;
  HWY_ALIGN float rows[kLanes * kSteps];
  for (int64_t line = 0; line < width; line += kLanes)
    for (int64_t k = 0; k < depth; k += kSteps) {
      const int64_t steps = std::min(kSteps, depth - k);
      const float *from = rows;
      int64_t fromStride = kSteps;
      bool inPlace = false;
      if constexpr (Storage::kDirect)
        if (stride == 1 && lines - line >= kLanes && axis.run(first + line, kLanes) == kLanes) {
          from = at + axis.offset(first + line) + k;
          fromStride = axis.stride;
          inPlace = true;
        }
      if (!inPlace)
        copyRows<Storage>(at + k * stride, stride, axis, first + line, lines - line, steps, rows, kSteps);
      float *column = to + k * width + line;
      int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
      for (; i + 4 <= steps; i += 4, column += 4 * width) {
        F32 v0 = loadQuads(from + i, 4 * fromStride), v1 = loadQuads(from + fromStride + i, 4 * fromStride);
        F32 v2 = loadQuads(from + 2 * fromStride + i, 4 * fromStride);
        F32 v3 = loadQuads(from + 3 * fromStride + i, 4 * fromStride);
        transposeQuads(v0, v1, v2, v3);
        store(v0, column);
        store(v1, column + width);
        store(v2, column + 2 * width);
        store(v3, column + 3 * width);
      }
#endif
      for (; i < steps; ++i, column += width)
        for (int64_t lane = 0; lane < kLanes; ++lane)
          column[lane] = from[lane * fromStride + i];
    }
}

/// Packs `lines` lines from `first` on, steps [k, k + depth), into a panel of `width` lanes.
template <class Storage>
void packPanel(const GemmOperand<Storage> &operand, int64_t first, int64_t lines, int64_t width, int64_t k,
               int64_t depth, float *to) {
  for (int64_t done = 0, run; done < depth; done += run) {
    run = operand.steps.run(k + done, depth - done);
    const auto at = operand.data + operand.steps.offset(k + done);
    const auto pack = operand.lines.stride == 1 ? copyLanes<Storage> : transposeLanes<Storage>;
    pack(at, operand.steps.stride, operand.lines, first, lines, width, run, to + done * width);
  }
}

/// Packs an operand over the team, for all tasks: the part of a panel that belongs to the block of K at k is at
/// to + k * paddedLines + begin(panel) * depth of the block.
template <class Storage>
void packAll(ck_context *ctx, const GemmOperand<Storage> &operand, const Panels &panels, int64_t steps, float *to) {
  const int64_t block = blockDepth(steps);
  parallelFor(ctx, panels.count(), [&](int64_t panel, int) HWY_ATTR {
    for (int64_t k = 0; k < steps; k += block) {
      const int64_t depth = std::min(block, steps - k);
      packPanel(operand, panels.begin(panel), panels.used(panel), panels.width(panel), k, depth,
                to + k * panels.paddedLines() + panels.begin(panel) * depth);
    }
  });
}

/// A block of the operand whose elements are broadcast, as the tile kernel reads it: lines [first, first + count) by
/// steps [k, k + depth). Tiles are those of tileWidth().
template <class Storage> class TileBlock {
public:
  TileBlock(const GemmOperand<Storage> &operand, int64_t first, int64_t count, int64_t k, int64_t depth, float *scratch)
      : operand(operand), first(first), count(count), k(k), depth(depth), copy(scratch),
        rowStride(ceilDiv(depth, 16) * 16 + kGemmPad), bySteps(operand.steps.stride != 1) {
    if constexpr (Storage::kDirect)
      if (readsInPlace(operand) && operand.steps.run(k, depth) == depth && operand.lines.run(first, count) == count) {
        direct = operand.data + operand.lines.offset(first) + operand.steps.offset(k);
        rowStride = operand.lines.stride;
      }
  }

  /// Copies the tile of lines [line, line + width) of the block unless it is read in place. Tiles come in order.
  HWY_INLINE void fetch(int64_t line, int64_t width) const {
    if (direct)
      return;
    if (bySteps) {
      if (line % kGroup == 0)
        copySteps(line, std::min(count, line + kGroup));
      return;
    }
    for (int64_t i = line; i < line + width; ++i)
      for (int64_t done = 0, run; done < depth; done += run) {
        run = operand.steps.run(k + done, depth - done);
        widenRow<Storage>(operand.data + operand.lines.offset(first + i) + operand.steps.offset(k + done), run,
                          copy + i * rowStride + done);
      }
  }

  const float *tile(int64_t line) const { return (direct ? direct : copy) + line * rowStride; }
  Order order() const { return bySteps ? Order::Lines : Order::Steps; }
  int64_t strideN() const { return rowStride; }

private:
  /// Lines that are copied at once, so that whole cache lines of each step are read.
  static constexpr int64_t kGroup = 4 * kTileCols;

  /// Step after step, the elements of each tile side by side.
  HWY_NOINLINE void copySteps(int64_t begin, int64_t end) const {
    constexpr int64_t kAhead = 8;
    const GemmAxis &lines = operand.lines;
    const int64_t stride = operand.steps.stride;
    const bool whole = end - begin == kGroup && lines.stride == 1 && lines.run(first + begin, kGroup) == kGroup;
    for (int64_t done = 0, run; done < depth; done += run) {
      run = operand.steps.run(k + done, depth - done);
      auto step = operand.data + operand.steps.offset(k + done);
      if (whole) {
        step += lines.offset(first + begin);
        float *to = copy + begin * rowStride + done * kTileCols;
        for (int64_t i = 0; i < run; ++i, step += stride, to += kTileCols) {
          for (int64_t j = 0; j < kGroup; j += Storage::kPerLine)
            __builtin_prefetch(Storage::address(step + (kAhead * stride + j)));
          for (int64_t j = 0; j < kGroup; j += kTileCols)
            widenRow<Storage>(step + j, kTileCols, to + j * rowStride);
        }
        continue;
      }
      for (int64_t i = done; i < done + run; ++i, step += stride)
        for (int64_t j = begin, width; j < end; j += width) {
          width = tileWidth(end - j);
          float *to = copy + j * rowStride + i * width;
          for (int64_t c = 0; c < width; ++c)
            to[c] = Storage::widenOne(step + lines.offset(first + j + c));
        }
    }
  }

  const GemmOperand<Storage> &operand;
  const int64_t first, count, k, depth;
  float *const copy;
  const float *direct = nullptr;
  int64_t rowStride;
  const bool bySteps;
};

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMPACK_H
