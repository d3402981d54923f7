//===- GemmRun.h - the driver of the GEMM engine ----------------*- C++ -*-===//
//
// Chooses the way by shape and layout, cuts the work into tasks by shape alone, and runs them over the team. A template
// over the storage of B; each group of storages is compiled in a file of its own.
//
//===----------------------------------------------------------------------===//

// This guard is per target, so it flips with the toggle of foreach_target.h.
#if defined(CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMRUN_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMRUN_H
#undef CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMRUN_H
#else
#define CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMRUN_H
#endif

#include "linear/GemmPack.h"
#include "linear/GemmSmall.h"
#include "linear/GemmTile.h"

#include "hwy/cache_control.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

/// Tasks into which a product with few rows falls if it is large enough: some for each thread of a small machine.
inline constexpr int64_t kLeastTasks = 16;
/// So many tasks that one more or less does not matter.
inline constexpr int64_t kManyTasks = 40;

/// All columns of the targets in blocks of at most `block`, one task each.
class ColumnTasks {
public:
  ColumnTasks(const GemmProblem &problem, int64_t block) : problem(problem), block(block) {}

  int64_t count() const {
    int64_t tasks = 0;
    for (int i = 0; i < problem.count; ++i)
      tasks += ceilDiv(problem.targets[i].n, block);
    return tasks;
  }
  /// Calls body(target, begin, end) for the columns of task i.
  template <class Body> HWY_INLINE void visit(int64_t i, Body &&body) const {
    const GemmTarget *target = problem.targets;
    for (int64_t tasks; i >= (tasks = ceilDiv(target->n, block)); ++target)
      i -= tasks;
    body(*target, i * block, std::min(target->n, (i + 1) * block));
  }

private:
  const GemmProblem &problem;
  int64_t block;
};

inline int64_t totalColumns(const GemmProblem &problem) {
  int64_t n = 0;
  for (int i = 0; i < problem.count; ++i)
    n += problem.targets[i].n;
  return n;
}

/// Columns per task such that there are about `tasks` of them, within [least, most] and in units of `unit`.
inline int64_t columnBlock(int64_t columns, int64_t tasks, int64_t least, int64_t most, int64_t unit) {
  most = std::max(most, unit);
  const int64_t block = std::clamp(ceilDiv(columns, tasks), std::min(least, most), most);
  return ceilDiv(block, unit) * unit;
}

/// Rows and columns of the blocks of C that are tasks.
struct Blocks {
  int64_t rows, columns;
};

/// What a block costs beyond its multiplications, as a share of them: byRows over its rows for work that they share,
/// and byColumns over its columns.
struct Shared {
  double byRows, byColumns;
};

/// Chooses blocks of at most `most` whose sides are multiples of `unit`, so that 2, 4 and 8 threads would finish early.
/// A function of shapes alone.
inline Blocks chooseBlocks(int64_t rows, int64_t columns, Blocks most, Blocks unit, Shared shared) {
  constexpr int64_t kTries = 8; // of each side
  const auto side = [](int64_t extent, int64_t parts, int64_t unit) {
    return ceilDiv(ceilDiv(extent, parts), unit) * unit;
  };
  const int64_t rowParts = ceilDiv(rows, most.rows), columnParts = ceilDiv(columns, most.columns);
  Blocks best = {side(rows, rowParts, unit.rows), side(columns, columnParts, unit.columns)};
  if (rowParts * columnParts >= kManyTasks)
    return best;
  double bestTime = std::numeric_limits<double>::infinity();
  for (int64_t i = 0, height = 0; i < kTries && height != unit.rows; ++i) {
    height = side(rows, rowParts + i, unit.rows);
    const int64_t rowTasks = ceilDiv(rows, height);
    for (int64_t j = 0, width = 0; j < kTries && width != unit.columns; ++j) {
      width = side(columns, columnParts + j, unit.columns);
      const int64_t tasks = rowTasks * ceilDiv(columns, width);
      // Blocks that a thread computes, weighted: with 2 threads (of all tasks) as much as with 4 and 8 together.
      const int64_t rounds = 4 * ceilDiv(tasks, 2) + 4 * ceilDiv(tasks, 4) + 8 * ceilDiv(tasks, 8);
      const double area = static_cast<double>(std::min(rows, height) * std::min(columns, width));
      // The last term prefers small blocks among equals: they stay near, and few tasks wait for a thread that lags.
      const double extra = shared.byRows / static_cast<double>(height) + shared.byColumns / static_cast<double>(width) +
                           0.1 / static_cast<double>(tasks);
      const double time = static_cast<double>(rounds) * area * (1 + extra);
      if (time < bestTime) {
        bestTime = time;
        best = {height, width};
      }
      if (tasks >= kManyTasks)
        break;
    }
  }
  return best;
}

/// A block of C and what it is made of: panels [firstPanel, endPanel) of one operand times lines [begin, end) of the
/// other.
template <class WideStorage, class LineStorage> struct BlockOfC {
  const GemmTarget *target;
  GemmOperand<WideStorage> wide;
  GemmOperand<LineStorage> other;
  Panels panels;
  int64_t firstPanel, endPanel, begin, end;
  int64_t firstStep, endStep, blockSteps; ///< of K, and how many of them at a time
};

/// Sets what to ask for while `chunks` chunks are computed: what a block of C reads for a block of K.
template <Lanes kLanesAlong, class WideStorage, class LineStorage>
void lookAhead(const GemmProblem &problem, const BlockOfC<WideStorage, LineStorage> &block, bool packed, int64_t k,
               int64_t depth, int64_t chunks, Ahead (&ahead)[2]) {
  ahead[0] = rowsOf(block.other, block.begin, block.end - block.begin, k, depth);
  if (!packed) {
    const int64_t first = block.panels.begin(block.firstPanel), end = block.panels.begin(block.endPanel);
    ahead[1] = rowsOf(block.wide, first, std::min(block.panels.lines, end) - first, k, depth);
  }
  for (Ahead &rows : ahead)
    rows.perChunk = ceilDiv(rows.rows * rows.lines, std::max<int64_t>(1, chunks));
  // A small A stays near; asking for it again would only cost.
  constexpr int64_t kSmall = int64_t(1) << 18; // elements
  if (problem.m * problem.k <= kSmall)
    ahead[kLanesAlong == Lanes::Rows] = Ahead();
}

/// True if C is larger than any cache that its reader could hope for, so that it is written past them.
inline bool canStream(const GemmProblem &problem, const GemmTarget &target) {
  constexpr int64_t kLarge = int64_t(1) << 23; // elements
  return !problem.accumulate && problem.m * target.n >= kLarge && target.strideM % kLanes == 0 && !target.cN.group &&
         reinterpret_cast<uintptr_t>(target.c) % (kLanes * sizeof(float)) == 0;
}

/// Computes a block of C. The panels are in `packed`, or are packed here if that is null. `next` is the block that this
/// thread is likely to compute next, or null.
template <Lanes kLanesAlong, class WideStorage, class LineStorage>
void computeBlock(const GemmProblem &problem, const BlockOfC<WideStorage, LineStorage> &c, const float *packed,
                  const BlockOfC<WideStorage, LineStorage> *next, float *scratch) {
  const Panels &panels = c.panels;
  const int64_t firstLane = panels.begin(c.firstPanel), lanes = panels.begin(c.endPanel) - firstLane;
  const int64_t lines = c.end - c.begin, blockSteps = c.blockSteps;
  float *const partial = scratch, *const copy = partial + lanes * lines;
  float *const panelHere = copy + lines * (blockSteps + kGemmPad);
  const int64_t tiles = (c.endPanel - c.firstPanel) * ceilDiv(lines, kTileCols);
  Tile tile = {};
  tile.problem = &problem;
  tile.target = c.target;
  tile.stream = kLanesAlong == Lanes::Columns && canStream(problem, *c.target);
  int64_t k = c.firstStep;
  do {
    const int64_t depth = std::min(blockSteps, c.endStep - k), after = k + depth;
    const TileBlock<LineStorage> block(c.other, c.begin, lines, k, depth, copy);
    tile.k = depth;
    tile.first = k == c.firstStep;
    tile.last = after == c.endStep;
    Ahead ahead[2];
    const int64_t chunks = tiles * ceilDiv(depth, kChunk);
    if (!tile.last)
      lookAhead<kLanesAlong>(problem, c, packed, after, std::min(blockSteps, c.endStep - after), chunks, ahead);
    else if (next)
      lookAhead<kLanesAlong>(problem, *next, packed, next->firstStep,
                             std::min(blockSteps, next->endStep - next->firstStep), chunks, ahead);
    tile.ahead = ahead;
    for (int64_t panel = c.firstPanel; panel < c.endPanel; ++panel) {
      const int64_t lane = panels.begin(panel), width = panels.width(panel);
      tile.lanes = panels.used(panel);
      if (packed) {
        tile.a = packed + k * panels.paddedLines() + lane * depth;
      } else {
        packPanel(c.wide, lane, tile.lanes, width, k, depth, panelHere);
        tile.a = panelHere;
      }
      for (int64_t j = 0, count; j < lines; j += count) {
        count = tileWidth(lines - j);
        if (panel == c.firstPanel)
          block.fetch(j, count);
        tile.m = kLanesAlong == Lanes::Rows ? lane : c.begin + j;
        tile.n = kLanesAlong == Lanes::Rows ? c.begin + j : lane;
        tile.b = block.tile(j);
        tile.bStrideN = block.strideN();
        tile.partial = partial + j * lanes + (lane - firstLane) * count;
        tileKernelOf<kLanesAlong>(panels.isFull(panel), block.order(), count)(tile);
      }
    }
    k = after;
  } while (k < c.endStep);
  if (tile.stream)
    hwy::FlushStream();
}

/// Runs a grid of blocks of C over the team; blockOf(row, column) describes one. Neighbours in time share the part of
/// the larger operand.
template <Lanes kLanesAlong, class BlockOf>
void computeBlocks(ck_context *ctx, const GemmProblem &problem, const float *packed, int64_t rowTasks,
                   int64_t columnTasks, bool sharesRows, BlockOf blockOf) {
  const int64_t tasks = rowTasks * columnTasks, threads = ck_context_threads(ctx);
  const auto blockAt = [&](int64_t i) HWY_ATTR {
    return sharesRows ? blockOf(i / columnTasks, i % columnTasks) : blockOf(i % rowTasks, i / rowTasks);
  };
  parallelFor(ctx, tasks, [&](int64_t i, int thread) HWY_ATTR {
    const auto block = blockAt(i), next = blockAt(std::min(tasks - 1, i + threads));
    computeBlock<kLanesAlong>(problem, block, packed, i + threads < tasks ? &next : nullptr,
                              static_cast<float *>(ck_thread_scratch(ctx, thread)));
  });
}

template <class Storage> GemmOperand<Storage> operandOf(const GemmTarget &target) {
  return {Storage::at(target.b), target.bN, target.bK};
}

/// Lanes along the rows of C: panels of A, shared by all tasks if there is room, and columns of B read where they lie.
template <class Storage> void gemmByRows(ck_context *ctx, const GemmProblem &problem) {
  const GemmOperand<StorageF32> a = {problem.a, problem.aM, problem.aK};
  const Panels panels(problem.m);
  if (problem.packed)
    packAll(ctx, a, panels, problem.k, problem.packed);
  const int64_t total = totalColumns(problem);
  bool inPlace = true;
  for (int i = 0; i < problem.count; ++i)
    inPlace &= readsInPlace(operandOf<Storage>(problem.targets[i]));
  const Blocks blocks = chooseBlocks(problem.m, total, {kGemmLanesM, kGemmBlockN}, {kPanelRows, kTileCols},
                                     {inPlace ? 0.5 : 7, problem.packed ? 0.5 : 5});
  const int64_t perBlock = blocks.rows / kPanelRows;
  const ColumnTasks columns(problem, blocks.columns);
  computeBlocks<Lanes::Rows>(
      ctx, problem, problem.packed, ceilDiv(panels.count(), perBlock), columns.count(), problem.m > total,
      [&](int64_t row, int64_t column) HWY_ATTR {
        BlockOfC<StorageF32, Storage> block = {nullptr, a, {}, panels,    row * perBlock,       0,
                                               0,       0, 0,  problem.k, blockDepth(problem.k)};
        block.endPanel = std::min(panels.count(), block.firstPanel + perBlock);
        columns.visit(column, [&](const GemmTarget &target, int64_t begin, int64_t end) HWY_ATTR {
          block.target = &target;
          block.other = operandOf<Storage>(target);
          block.begin = begin;
          block.end = end;
        });
        return block;
      });
}

/// Lanes along the columns of C: panels of B, whose columns are contiguous, packed by each task.
template <class Storage> void gemmByColumns(ck_context *ctx, const GemmProblem &problem) {
  const GemmOperand<StorageF32> a = {problem.a, problem.aM, problem.aK};
  const int64_t total = totalColumns(problem);
  // Where A is copied element by element, wide blocks share the work.
  const bool bySteps = a.steps.stride != 1;
  const Blocks most = bySteps ? Blocks{kGemmBlockM, kGemmBlockN * 2} : Blocks{kGemmBlockM, kGemmBlockN};
  const Blocks blocks = chooseBlocks(problem.m, total, most, {kTileCols, kPanelRows},
                                     {3, readsInPlace(a) ? 0.5
                                         : bySteps       ? 25
                                                         : 7});
  const ColumnTasks columns(problem, blocks.columns);
  computeBlocks<Lanes::Columns>(
      ctx, problem, nullptr, ceilDiv(problem.m, blocks.rows), columns.count(), problem.m > total,
      [&](int64_t row, int64_t column) HWY_ATTR {
        BlockOfC<Storage, StorageF32> block = {
            nullptr, {}, a, Panels(0), 0, 0, row * blocks.rows, 0, 0, problem.k, blockDepth(problem.k)};
        block.end = std::min(problem.m, block.begin + blocks.rows);
        columns.visit(column, [&](const GemmTarget &target, int64_t begin, int64_t end) HWY_ATTR {
          block.target = &target;
          block.wide = operandOf<Storage>(target);
          // Blocks of columns begin with a full panel; only the last has others.
          block.panels = Panels(target.n);
          block.firstPanel = begin / kPanelRows;
          block.endPanel = end == target.n ? block.panels.count() : end / kPanelRows;
        });
        return block;
      });
}

/// Lanes along the columns of C, and K cut into parts that are summed in the end, in order: each task reads whole rows
/// of B. For few elements of C and many steps, where reading B is the work.
template <class Storage> void gemmByParts(ck_context *ctx, const GemmProblem &problem) {
  const GemmTarget &target = *problem.targets;
  const int64_t m = problem.m, n = target.n, threads = ck_context_threads(ctx);
  const int64_t perPart = ceilDiv(ceilDiv(problem.k, kGemmParts), kChunk) * kChunk;
  const int64_t parts = ceilDiv(problem.k, perPart);
  GemmTarget partTargets[kGemmParts];
  for (int64_t part = 0; part < parts; ++part) {
    GemmTarget &to = partTargets[part] = target;
    to.bias = nullptr;
    to.c = problem.parts + part * m * n;
    to.strideM = n;
    to.cN = 1;
  }
  GemmProblem plain = problem;
  plain.activation = GemmActivation::None;
  plain.accumulate = false;
  const Panels panels(n);
  parallelFor(ctx, parts, [&](int64_t part, int thread) HWY_ATTR {
    const auto blockOf = [&](int64_t i) HWY_ATTR {
      constexpr int64_t kSteps = 128; // two blocks of B stay near
      return BlockOfC<Storage, StorageF32>{&partTargets[i],
                                           operandOf<Storage>(target),
                                           {problem.a, problem.aM, problem.aK},
                                           panels,
                                           0,
                                           panels.count(),
                                           0,
                                           m,
                                           i * perPart,
                                           std::min(problem.k, (i + 1) * perPart),
                                           std::min(perPart, kSteps)};
    };
    const auto next = blockOf(std::min(parts - 1, part + threads));
    computeBlock<Lanes::Columns>(plain, blockOf(part), nullptr, part + threads < parts ? &next : nullptr,
                                 static_cast<float *>(ck_thread_scratch(ctx, thread)));
  });
  parallelRange(ctx, m, rowsPerTask(n * parts), [&](int64_t begin, int64_t end, int) HWY_ATTR {
    HWY_ALIGN float sums[kGemmPartsN];
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t j = 0; j < n; j += kLanes) {
        const int64_t count = std::min(kLanes, n - j);
        F32 sum = loadN(problem.parts + i * n + j, count);
        for (int64_t part = 1; part < parts; ++part)
          sum = sum + loadN(problem.parts + (part * m + i) * n + j, count);
        storeN(sum, sums + j, count);
      }
      finish(problem, target, {sums, kGemmPartsN, i, 0, 1, n});
    }
  });
}

/// Runs a product whose B is stored so.
template <class Storage> int32_t runGemm(ck_context *ctx, const GemmProblem &problem) {
  const int64_t columns = totalColumns(problem);
  if (problem.m == 0 || columns == 0)
    return CK_OK;
  bool plain = !problem.aM.group && !problem.aK.group, contiguousK = true, contiguousN = true;
  for (int i = 0; i < problem.count; ++i) {
    const GemmTarget &target = problem.targets[i];
    plain &= !target.bK.group && !target.bN.group;
    contiguousK &= target.bK.stride == 1;
    contiguousN &= target.bN.stride == 1;
  }
  const int64_t depth = std::max<int64_t>(1, problem.k);
  if (plain && contiguousK && problem.aK.stride == 1 && problem.m <= kDotMaxM) {
    const ColumnTasks tasks(
        problem, columnBlock(columns, kLeastTasks, 4 * kTaskElements / depth, 16 * kTaskElements / depth, kDotCols));
    parallelFor(ctx, tasks.count(), [&](int64_t i, int) HWY_ATTR {
      tasks.visit(i, [&](const GemmTarget &target, int64_t begin, int64_t end)
                         HWY_ATTR { dotColumns<Storage>(problem, target, begin, end); });
    });
  } else if (plain && contiguousN && problem.m <= kStripMaxM) {
    const ColumnTasks tasks(
        problem, columnBlock(columns, kLeastTasks, std::min(kTaskElements / depth, kStripCols), kStripCols, 16));
    parallelFor(ctx, tasks.count(), [&](int64_t i, int) HWY_ATTR {
      tasks.visit(i, [&](const GemmTarget &target, int64_t begin, int64_t end)
                         HWY_ATTR { stripColumns<Storage>(problem, target, begin, end); });
    });
  } else if (contiguousN && !contiguousK) {
    if (problem.parts && problem.count == 1 && problem.m <= kGemmPartsM && columns <= kGemmPartsN &&
        problem.k >= 128 * kGemmParts)
      gemmByParts<Storage>(ctx, problem);
    else
      gemmByColumns<Storage>(ctx, problem);
  } else {
    gemmByRows<Storage>(ctx, problem);
  }
  return CK_OK;
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#endif // CK_LIB_RUNTIME_KERNELS_LINEAR_GEMMRUN_H
