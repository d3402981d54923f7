//===- gemm.cpp - the driver of the GEMM engine ---------------------------===//
//
// Chooses the way by shape and layout, cuts the work into tasks by shape alone, and runs them over the team.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "linear/gemm.cpp"
#include "hwy/foreach_target.h"

#include "linear/GemmPack.h"
#include "linear/GemmSmall.h"
#include "linear/GemmTile.h"

HWY_BEFORE_NAMESPACE();
namespace ck {
namespace HWY_NAMESPACE {

/// Tasks into which a product falls if it is large enough, some for each thread of a small machine, and fewest tasks
/// where more would cost too much.
inline constexpr int64_t kLeastTasks = 16, kFewestTasks = 8;

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

static int64_t totalColumns(const GemmProblem &problem) {
  int64_t n = 0;
  for (int i = 0; i < problem.count; ++i)
    n += problem.targets[i].n;
  return n;
}

/// Columns per task such that there are about `tasks` of them, within [least, most] and in units of `unit`.
static int64_t columnBlock(int64_t columns, int64_t tasks, int64_t least, int64_t most, int64_t unit) {
  most = std::max(most, unit);
  const int64_t block = std::clamp(ceilDiv(columns, tasks), std::min(least, most), most);
  return ceilDiv(block, unit) * unit;
}

/// Rows and columns of the blocks of C that are tasks.
struct Blocks {
  int64_t rows, columns;
};

/// What a block costs beyond its multiplications: work that its rows share, and work that its columns share, per step
/// of K and in cycles by which a row of one vector is multiplied.
struct Shared {
  double byRows, byColumns;
};

/// Cuts the cheaper side of a block until there are kLeastTasks of them. Sides are multiples of their units.
static Blocks chooseBlocks(int64_t rows, int64_t columns, Blocks most, Blocks unit, Shared shared) {
  const auto side = [](int64_t extent, int64_t parts, int64_t unit) {
    return ceilDiv(ceilDiv(extent, parts), unit) * unit;
  };
  const auto cost = [&](Blocks blocks) {
    return shared.byRows / static_cast<double>(blocks.rows) + shared.byColumns / static_cast<double>(blocks.columns);
  };
  int64_t rowParts = ceilDiv(rows, most.rows), columnParts = ceilDiv(columns, most.columns);
  for (;;) {
    const Blocks blocks = {side(rows, rowParts, unit.rows), side(columns, columnParts, unit.columns)};
    const int64_t tasks = ceilDiv(rows, blocks.rows) * ceilDiv(columns, blocks.columns);
    if (tasks >= kLeastTasks || (tasks >= kFewestTasks && cost(blocks) > 0.05))
      return blocks;
    const bool canRows = blocks.rows > unit.rows, canColumns = blocks.columns > unit.columns;
    if (!canRows && !canColumns)
      return blocks;
    const Blocks fewerRows = {side(rows, rowParts + 1, unit.rows), blocks.columns};
    const Blocks fewerColumns = {blocks.rows, side(columns, columnParts + 1, unit.columns)};
    ++(canRows && (!canColumns || cost(fewerRows) < cost(fewerColumns)) ? rowParts : columnParts);
  }
}

/// A block of C and what it is made of: panels [firstPanel, endPanel) of one operand times lines [begin, end) of the
/// other.
template <class WideStorage, class LineStorage> struct BlockOfC {
  const GemmTarget *target;
  GemmOperand<WideStorage> wide;
  GemmOperand<LineStorage> other;
  Panels panels;
  int64_t firstPanel, endPanel, begin, end;
};

/// Sets what to ask for while `chunks` chunks are computed: what a block of C reads for a block of K.
template <Lanes kLanesAlong, class WideStorage, class LineStorage>
void lookAhead(const BlockOfC<WideStorage, LineStorage> &block, bool packed, int64_t k, int64_t depth, int64_t chunks,
               Ahead (&ahead)[2]) {
  ahead[0] = rowsOf(block.other, block.begin, block.end - block.begin, k, depth);
  if (!packed) {
    const int64_t first = block.panels.begin(block.firstPanel), end = block.panels.begin(block.endPanel);
    ahead[1] = rowsOf(block.wide, first, std::min(block.panels.lines, end) - first, k, depth);
  }
  for (Ahead &rows : ahead)
    rows.perChunk = ceilDiv(rows.rows * rows.lines, std::max<int64_t>(1, chunks));
  // Where A has few rows it is small and stays near; asking for much of it would only cost.
  Ahead &ofA = ahead[kLanesAlong == Lanes::Rows];
  if (ofA.perChunk > 2)
    ofA = Ahead();
}

/// Computes a block of C. The panels are in `packed`, or are packed here if that is null. `next` is the block that this
/// thread is likely to compute next, or null.
template <Lanes kLanesAlong, class WideStorage, class LineStorage>
void computeBlock(const GemmProblem &problem, const BlockOfC<WideStorage, LineStorage> &c, const float *packed,
                  const BlockOfC<WideStorage, LineStorage> *next, float *scratch) {
  const Panels &panels = c.panels;
  const int64_t firstLane = panels.begin(c.firstPanel), lanes = panels.begin(c.endPanel) - firstLane;
  const int64_t lines = c.end - c.begin, blockSteps = blockDepth(problem.k);
  float *const partial = scratch, *const copy = partial + lanes * lines;
  float *const panelHere = copy + lines * (blockSteps + kGemmPad);
  const int64_t tiles = (c.endPanel - c.firstPanel) * ceilDiv(lines, kTileCols);
  Tile tile = {};
  tile.problem = &problem;
  tile.target = c.target;
  int64_t k = 0;
  do {
    const int64_t depth = std::min(blockSteps, problem.k - k), after = k + depth;
    const TileBlock<LineStorage> block(c.other, c.begin, lines, k, depth, copy);
    tile.k = depth;
    tile.first = k == 0;
    tile.last = after == problem.k;
    Ahead ahead[2];
    const int64_t chunks = tiles * ceilDiv(depth, kChunk);
    if (!tile.last)
      lookAhead<kLanesAlong>(c, packed, after, std::min(blockSteps, problem.k - after), chunks, ahead);
    else if (next)
      lookAhead<kLanesAlong>(*next, packed, 0, std::min(blockSteps, problem.k), chunks, ahead);
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
  } while (k < problem.k);
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
  return {static_cast<const typename Storage::Element *>(target.b), target.bN, target.bK};
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
                                     {inPlace ? 0.5 : 4, problem.packed ? 0.5 : 5});
  const int64_t perBlock = blocks.rows / kPanelRows;
  const ColumnTasks columns(problem, blocks.columns);
  computeBlocks<Lanes::Rows>(ctx, problem, problem.packed, ceilDiv(panels.count(), perBlock), columns.count(),
                             problem.m > total, [&](int64_t row, int64_t column) HWY_ATTR {
                               BlockOfC<StorageF32, Storage> block = {nullptr, a, {}, panels, row * perBlock, 0, 0, 0};
                               block.endPanel = std::min(panels.count(), block.firstPanel + perBlock);
                               columns.visit(column,
                                             [&](const GemmTarget &target, int64_t begin, int64_t end) HWY_ATTR {
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
  const Blocks blocks = chooseBlocks(problem.m, total, {kGemmBlockM, kGemmBlockN}, {kTileCols, kPanelRows},
                                     {3, readsInPlace(a)       ? 0.5
                                         : a.steps.stride == 1 ? 4
                                                               : 8});
  const ColumnTasks columns(problem, blocks.columns);
  computeBlocks<Lanes::Columns>(
      ctx, problem, nullptr, ceilDiv(problem.m, blocks.rows), columns.count(), problem.m > total,
      [&](int64_t row, int64_t column) HWY_ATTR {
        BlockOfC<Storage, StorageF32> block = {nullptr, {}, a, Panels(0), 0, 0, row * blocks.rows, 0};
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

template <class Storage> int32_t run(ck_context *ctx, const GemmProblem &problem) {
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
        problem, columnBlock(columns, kLeastTasks, kTaskElements / depth, 4 * kTaskElements / depth, kDotCols));
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
    gemmByColumns<Storage>(ctx, problem);
  } else {
    gemmByRows<Storage>(ctx, problem);
  }
  return CK_OK;
}

int32_t gemm(ck_context *ctx, const GemmProblem &problem) {
  switch (problem.type) {
  case GemmType::F32:
    return run<StorageF32>(ctx, problem);
  case GemmType::BF16:
    return run<StorageBF16>(ctx, problem);
  }
  return CK_OK;
}

} // namespace HWY_NAMESPACE
} // namespace ck
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ck {

int32_t gemm(ck_context *ctx, ck_isa isa, const GemmProblem &problem) {
  switch (isa) {
  case CK_ISA_SCALAR:
    return N_SCALAR::gemm(ctx, problem);
  case CK_ISA_AVX2:
    return N_AVX2::gemm(ctx, problem);
  default:
    return N_AVX3::gemm(ctx, problem);
  }
}

} // namespace ck
#endif
