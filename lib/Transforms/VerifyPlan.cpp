//===- VerifyPlan.cpp - judges a memory plan ------------------------------===//
#include "EntryJudge.h"
#include "ck/Transforms/Passes.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

namespace ck {
#define GEN_PASS_DEF_CKVERIFYPLAN
#include "ck/Transforms/Passes.h.inc"
} // namespace ck

using namespace mlir;
using namespace ck;

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

/// Checks the layout of all buffers of `role` in an arena of `limit` bytes.
static LogicalResult judgeArena(ModuleOp module, StringRef role, int64_t limit) {
  std::map<int64_t, std::pair<int64_t, BufferOp>> placed;
  for (auto buffer : module.getOps<BufferOp>()) {
    if (buffer.getRole() != role || buffer.getAlias())
      continue;
    if (!buffer.getOffset())
      return buffer.emitOpError() << "of role " << role << " has no offset; run --ck-plan-memory first";
    int64_t begin = *buffer.getOffset(), end;
    FailureOr<int64_t> size = storageBytes(buffer.getTensorType().getElementType(), buffer.getTensorType().getShape());
    if (failed(size) || begin < 0 || llvm::AddOverflow(begin, *size, end) || end > limit)
      return buffer.emitOpError() << "at offset " << begin << " ends outside the " << role << " arena of " << limit
                                  << " bytes";
    if (begin % 64 != 0)
      return buffer.emitOpError() << "at offset " << begin << " is not aligned to 64 bytes";
    if (*size == 0)
      continue;
    auto next = placed.lower_bound(begin);
    bool hitsNext = next != placed.end() && next->first < end;
    bool hitsPrevious = next != placed.begin() && std::prev(next)->second.first > begin;
    if (hitsNext || hitsPrevious) {
      BufferOp other = (hitsNext ? next : std::prev(next))->second.second;
      InFlightDiagnostic error = buffer.emitOpError()
                                 << "overlaps '" << other.getSymName() << "' in the " << role << " arena";
      error.attachNote(other.getLoc()) << "the other one is declared here";
      return error;
    }
    placed[begin] = {end, buffer};
  }
  return success();
}

static FailureOr<PlanArenas> readArenas(ModuleOp module) {
  auto plan = module->getAttrOfType<DictionaryAttr>("ck.plan");
  if (!plan)
    return emitError(module.getLoc()) << "the module has no 'ck.plan'; run --ck-plan-memory first";
  PlanArenas arenas;
  for (auto [key, value] : {std::pair<StringRef, int64_t *>{"arena_bytes", &arenas.activation},
                            {"const_bytes", &arenas.constant},
                            {"state_bytes", &arenas.state},
                            {"guard", &arenas.guard}}) {
    auto bytes = plan.getAs<IntegerAttr>(key);
    if (!bytes && key == "guard")
      continue;
    if (!bytes || !bytes.getType().isSignlessInteger(64) || bytes.getInt() < 0)
      return emitError(module.getLoc()) << "'ck.plan' has no size '" << key << "'";
    *value = bytes.getInt();
  }
  if (failed(judgeArena(module, "state", arenas.state)) || failed(judgeArena(module, "const", arenas.constant)))
    return failure();
  for (auto buffer : module.getOps<BufferOp>())
    if (buffer.getRole() == "const" && !buffer.getAlias())
      arenas.constants[*buffer.getOffset()] = buffer;
  return arenas;
}

namespace {
class VerifyPlan : public ck::impl::CKVerifyPlanBase<VerifyPlan> {
public:
  using CKVerifyPlanBase::CKVerifyPlanBase;

  void runOnOperation() override {
    if (failed(run(getOperation())))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }

private:
  LogicalResult run(ModuleOp module);
  LogicalResult judgeRatio(func::FuncOp entry, const EntryJudge &judge);
};
} // namespace

LogicalResult VerifyPlan::judgeRatio(func::FuncOp entry, const EntryJudge &judge) {
  int64_t bound = judge.live.most();
  double ratio = bound == 0 ? (judge.arenaBytes == 0 ? 1.0 : HUGE_VAL) : static_cast<double>(judge.arenaBytes) / bound;
  auto text = llvm::formatv("{0} bytes of arena, {1} live at most, ratio {2:f3}", judge.arenaBytes, bound, ratio).str();
  if (remarks)
    emitRemark(entry.getLoc()) << "entry '" << entry.getSymName() << "': " << text;
  if (maxRatio > 0 && ratio > maxRatio)
    return emitEntryError(entry) << "takes " << text << ", which is above "
                                 << llvm::formatv("{0:f3}", maxRatio.getValue()).str();
  return success();
}

LogicalResult VerifyPlan::run(ModuleOp module) {
  FailureOr<PlanArenas> arenas = readArenas(module);
  if (failed(arenas))
    return failure();
  ContractCache contracts(module);
  llvm::DenseSet<int64_t> written;
  SmallVector<Value> read;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function->hasAttr("ck.entry"))
      continue;
    EntryJudge judge(function, *arenas, contracts);
    if (failed(judge.judge()) || failed(judgeRatio(function, judge)))
      return failure();
    written.insert_range(judge.constantsWritten);
    for (auto [view, offset] : judge.constantsRead) {
      if (function.getSymName() == "init")
        return view.getDefiningOp()->emitOpError()
               << "of constant '" << arenas->constants.lookup(offset).getSymName() << "' is read before it is written";
      read.push_back(view);
    }
  }
  for (Value view : read) {
    int64_t offset = view.getDefiningOp<ViewOp>().getOffset();
    if (!written.contains(offset))
      return view.getDefiningOp()->emitOpError()
             << "is of constant '" << arenas->constants.lookup(offset).getSymName() << "', which @init does not write";
  }
  return success();
}
