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

/// Tasks into which a product falls if it is large enough: some for each thread of a small machine.
inline constexpr int64_t kLeastTasks = 16;

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

/// Panels [firstPanel, endPanel) of one operand times lines [begin, end) of the other. The panels are in `packed`, or
/// are packed here if that is null.
template <Lanes kLanesAlong, class PanelStorage, class LineStorage>
void tileTask(const GemmProblem &problem, const GemmTarget &target, const GemmOperand<PanelStorage> &wide,
              const Panels &panels, int64_t firstPanel, int64_t endPanel, const float *packed,
              const GemmOperand<LineStorage> &other, int64_t begin, int64_t end, float *scratch) {
  const int64_t firstLane = panels.begin(firstPanel), lanes = panels.begin(endPanel) - firstLane, lines = end - begin;
  const int64_t blockSteps = blockDepth(problem.k);
  float *const partial = scratch, *const copy = partial + lanes * lines;
  float *const panelsHere = copy + lines * (blockSteps + kGemmPad);
  Tile tile = {};
  tile.problem = &problem;
  tile.target = &target;
  int64_t k = 0;
  do {
    const int64_t depth = std::min(blockSteps, problem.k - k);
    const TileBlock<LineStorage> block(other, begin, lines, k, depth, copy);
    tile.k = depth;
    tile.first = k == 0;
    tile.last = k + depth == problem.k;
    for (int64_t panel = firstPanel; panel < endPanel; ++panel) {
      const int64_t lane = panels.begin(panel), width = panels.width(panel);
      tile.lanes = panels.used(panel);
      if (packed) {
        tile.a = packed + k * panels.paddedLines() + lane * depth;
      } else {
        float *const here = panelsHere + (lane - firstLane) * depth;
        packPanel(wide, lane, tile.lanes, width, k, depth, here);
        tile.a = here;
      }
      for (int64_t j = 0, count; j < lines; j += count) {
        count = tileWidth(lines - j);
        if (panel == firstPanel)
          block.fetch(j, count);
        tile.m = kLanesAlong == Lanes::Rows ? lane : begin + j;
        tile.n = kLanesAlong == Lanes::Rows ? begin + j : lane;
        tile.b = block.tile(j);
        tile.bStrideN = block.strideN();
        tile.bStrideK = block.strideK(count);
        tile.partial = partial + j * lanes + (lane - firstLane) * count;
        // The first panel brings the block into the cache.
        tile.next =
            block.inPlace() && panel == firstPanel && j + 2 * count <= lines ? tile.b + count * tile.bStrideN : nullptr;
        (panels.isFull(panel) ? tileKernelOf<kLanesAlong, kTileVectors>(count)
                              : tileKernelOf<kLanesAlong, 1>(count))(tile);
      }
    }
    k += depth;
  } while (k < problem.k);
}

/// Lanes along the rows of C: panels of A, shared by all tasks if there is room, and columns of B read where they lie.
template <class Storage> void gemmByRows(ck_context *ctx, const GemmProblem &problem) {
  const GemmOperand<StorageF32> a = {problem.a, problem.aM, problem.aK};
  const Panels panels(problem.m);
  if (problem.packed)
    packAll(ctx, a, panels, problem.k, problem.packed);
  constexpr int64_t kMostRows = 256;
  const int64_t perBlock =
      std::min(ceilDiv(panels.count(), ceilDiv(panels.paddedLines(), kMostRows)), kMostRows / kPanelRows);
  const int64_t rowTasks = ceilDiv(panels.count(), perBlock);
  const ColumnTasks columns(problem, columnBlock(totalColumns(problem), ceilDiv(kLeastTasks, rowTasks), 4 * kTileCols,
                                                 kGemmBlockN, kTileCols));
  const int64_t columnTasks = columns.count();
  parallelFor(ctx, columnTasks * rowTasks, [&](int64_t i, int thread) HWY_ATTR {
    const int64_t firstPanel = i / columnTasks * perBlock, endPanel = std::min(panels.count(), firstPanel + perBlock);
    columns.visit(i % columnTasks, [&](const GemmTarget &target, int64_t begin, int64_t end) HWY_ATTR {
      const GemmOperand<Storage> b = {static_cast<const typename Storage::Element *>(target.b), target.bN, target.bK};
      tileTask<Lanes::Rows>(problem, target, a, panels, firstPanel, endPanel, problem.packed, b, begin, end,
                            static_cast<float *>(ck_thread_scratch(ctx, thread)));
    });
  });
}

/// Lanes along the columns of C: panels of B, whose columns are contiguous, packed by each task.
template <class Storage> void gemmByColumns(ck_context *ctx, const GemmProblem &problem) {
  const GemmOperand<StorageF32> a = {problem.a, problem.aM, problem.aK};
  const int64_t perBlock = ceilDiv(ceilDiv(problem.m, ceilDiv(problem.m, kGemmBlockM)), kTileCols) * kTileCols;
  const int64_t rowTasks = ceilDiv(problem.m, perBlock);
  const ColumnTasks columns(problem, columnBlock(totalColumns(problem), ceilDiv(kLeastTasks, rowTasks), 2 * kPanelRows,
                                                 kGemmBlockN, kPanelRows));
  const int64_t columnTasks = columns.count();
  parallelFor(ctx, columnTasks * rowTasks, [&](int64_t i, int thread) HWY_ATTR {
    const int64_t firstRow = i / columnTasks * perBlock, endRow = std::min(problem.m, firstRow + perBlock);
    columns.visit(i % columnTasks, [&](const GemmTarget &target, int64_t begin, int64_t end) HWY_ATTR {
      const GemmOperand<Storage> b = {static_cast<const typename Storage::Element *>(target.b), target.bN, target.bK};
      const Panels panels(target.n);
      // Blocks of columns begin with a full panel; only the last has others.
      const int64_t endPanel = end == target.n ? panels.count() : end / kPanelRows;
      tileTask<Lanes::Columns>(problem, target, b, panels, begin / kPanelRows, endPanel, nullptr, a, firstRow, endRow,
                               static_cast<float *>(ck_thread_scratch(ctx, thread)));
    });
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
