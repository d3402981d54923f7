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

template <class Storage>
void tileTask(const GemmProblem &problem, const GemmTarget &target, const Panels &panels, int64_t firstPanel,
              int64_t endPanel, int64_t begin, int64_t end, float *scratch) {
  const int64_t blockRows = panels.begin(endPanel) - panels.begin(firstPanel), cols = end - begin;
  float *const partial = scratch, *const unpacked = scratch + blockRows * cols;
  Tile tile = {};
  tile.problem = &problem;
  tile.target = &target;
  int64_t k = 0;
  do {
    const int64_t depth = std::min(kGemmBlockK, problem.k - k);
    const BlockB block = unpackB<Storage>(target, k, depth, begin, cols, unpacked);
    tile.k = depth;
    tile.first = k == 0;
    tile.last = k + depth == problem.k;
    for (int64_t panel = firstPanel; panel < endPanel; ++panel) {
      const int64_t row = panels.begin(panel);
      tile.m = row;
      tile.rows = std::min(panels.width(panel), problem.m - row);
      tile.a = problem.packed + packedOffset(panels, panel, k, depth);
      for (int64_t j = 0, width; j < cols; j += width) {
        width = tileWidth(cols - j);
        tile.n = begin + j;
        tile.b = block.data + j * block.tileStride;
        tile.bStrideN = block.strideN;
        tile.bStrideK = block.strideK ? block.strideK : width;
        tile.partial = partial + j * blockRows + (row - panels.begin(firstPanel)) * width;
        // The first panel brings the block of B into the cache.
        tile.next =
            block.inPlace && panel == firstPanel && j + 2 * width <= cols ? tile.b + width * tile.bStrideN : nullptr;
        (panels.isFull(panel) ? tileKernelOf<kTileVectors>(width) : tileKernelOf<1>(width))(tile);
      }
    }
    k += depth;
  } while (k < problem.k);
}

template <class Storage> void tiledGemm(ck_context *ctx, const GemmProblem &problem) {
  const Panels panels(problem.m);
  packA(ctx, problem, panels);
  const int64_t perBlock =
      std::min(ceilDiv(panels.count(), ceilDiv(panels.paddedRows(), kGemmBlockM)), kGemmBlockM / kPanelRows);
  const int64_t rowTasks = ceilDiv(panels.count(), perBlock);
  const ColumnTasks columns(problem, columnBlock(totalColumns(problem), ceilDiv(kLeastTasks, rowTasks), 4 * kTileCols,
                                                 kGemmBlockN, kTileCols));
  const int64_t columnTasks = columns.count();
  parallelFor(ctx, columnTasks * rowTasks, [&](int64_t i, int thread) HWY_ATTR {
    const int64_t firstPanel = i / columnTasks * perBlock, endPanel = std::min(panels.count(), firstPanel + perBlock);
    columns.visit(i % columnTasks, [&](const GemmTarget &target, int64_t begin, int64_t end) HWY_ATTR {
      tileTask<Storage>(problem, target, panels, firstPanel, endPanel, begin, end,
                        static_cast<float *>(ck_thread_scratch(ctx, thread)));
    });
  });
}

template <class Storage> int32_t run(ck_context *ctx, const GemmProblem &problem) {
  const int64_t columns = totalColumns(problem);
  if (problem.m == 0 || columns == 0)
    return CK_OK;
  bool contiguousK = problem.aStrideK == 1, contiguousN = true;
  for (int i = 0; i < problem.count; ++i) {
    contiguousK &= problem.targets[i].strideK == 1;
    contiguousN &= problem.targets[i].strideN == 1;
  }
  const int64_t depth = std::max<int64_t>(1, problem.k);
  if (contiguousK && problem.m <= kDotMaxM) {
    const ColumnTasks tasks(
        problem, columnBlock(columns, kLeastTasks, kTaskElements / depth, 4 * kTaskElements / depth, kDotCols));
    parallelFor(ctx, tasks.count(), [&](int64_t i, int) HWY_ATTR {
      tasks.visit(i, [&](const GemmTarget &target, int64_t begin, int64_t end)
                         HWY_ATTR { dotColumns<Storage>(problem, target, begin, end); });
    });
  } else if (contiguousN && problem.m <= kStripMaxM) {
    const ColumnTasks tasks(
        problem, columnBlock(columns, kLeastTasks, std::min(kTaskElements / depth, kStripCols), kStripCols, 16));
    parallelFor(ctx, tasks.count(), [&](int64_t i, int) HWY_ATTR {
      tasks.visit(i, [&](const GemmTarget &target, int64_t begin, int64_t end)
                         HWY_ATTR { stripColumns<Storage>(problem, target, begin, end); });
    });
  } else {
    tiledGemm<Storage>(ctx, problem);
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
