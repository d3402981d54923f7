//===- PlanMemory.cpp - gives every buffer its place in an arena ----------===//
//
// Plans all entries first and changes the module only when all of them fit.
//
//===----------------------------------------------------------------------===//
#include "MemoryPlan.h"
#include "ck/Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/Error.h"

namespace ck {
#define GEN_PASS_DEF_CKPLANMEMORY
#include "ck/Transforms/Passes.h.inc"
} // namespace ck

using namespace mlir;
using namespace ck;

/// Sets the offsets of a layout on its buffers.
static void applyLayout(const ArenaLayout &layout) {
  for (ArenaLayout::Place place : layout.places)
    place.buffer.setOffset(place.offset);
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// A view named `name`; `origin` says where it comes from.
static ViewOp createView(OpBuilder &builder, StringRef name, Location origin, MemRefType type, StringRef arena,
                         int64_t offset, ValueRange sizes = {}) {
  if (auto named = dyn_cast<NameLoc>(origin))
    origin = named.getChildLoc();
  Location loc = NameLoc::get(builder.getStringAttr(name), origin);
  return ViewOp::create(builder, loc, type, arena, offset, sizes);
}

static void placeActivations(const EntryPlan &plan) {
  func::FuncOp entry = plan.entry;
  OpBuilder builder(entry.getContext());
  llvm::MapVector<Operation *, SmallVector<Value>> scratch;
  for (const PlannedBuffer &buffer : plan.buffers) {
    if (memref::AllocOp alloc = buffer.alloc) {
      builder.setInsertionPoint(alloc);
      auto view = createView(builder, buffer.name, alloc.getLoc(), alloc.getType(), "activation", buffer.offset,
                             alloc.getDynamicSizes());
      alloc.replaceAllUsesWith(view.getResult());
      alloc.erase();
      continue;
    }
    CallOp call = buffer.call;
    builder.setInsertionPoint(call);
    auto type = MemRefType::get({buffer.bytes}, builder.getI8Type());
    scratch[call].push_back(createView(builder, buffer.name, call.getLoc(), type, "activation", buffer.offset));
  }
  for (auto &[call, views] : scratch)
    cast<CallOp>(call).getScratchMutable().assign(views);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// Replaces a value by a view of constant `symbol`.
static LogicalResult placeConstant(OpBuilder &builder, Operation *user, FlatSymbolRefAttr symbol, Value value) {
  auto buffer = SymbolTable::lookupNearestSymbolFrom<BufferOp>(user, symbol);
  BufferOp root = buffer ? buffer.getRoot() : BufferOp();
  if (!root || root.getRole() != "const")
    return user->emitOpError() << "uses constant '" << symbol.getValue() << "', which is no ck.buffer of role const";
  auto type = cast<MemRefType>(value.getType());
  auto view = createView(builder, symbol.getValue(), value.getLoc(), type, "const", *root.getOffset());
  value.replaceAllUsesWith(view.getResult());
  return success();
}

static LogicalResult placeConstants(func::FuncOp entry) {
  OpBuilder builder = OpBuilder::atBlockBegin(&entry.getBody().front());
  llvm::BitVector placed(entry.getNumArguments());
  for (BlockArgument argument : entry.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto symbol = entry.getArgAttrOfType<FlatSymbolRefAttr>(number, "ck.const");
    if (!symbol)
      continue;
    if (failed(placeConstant(builder, entry, symbol, argument)))
      return failure();
    placed.set(number);
  }
  if (failed(entry.eraseArguments(placed)))
    return failure();
  SmallVector<ParamOp> params;
  for (auto param : entry.getBody().front().getOps<ParamOp>()) {
    auto buffer = SymbolTable::lookupNearestSymbolFrom<BufferOp>(param, param.getBufferAttr());
    if (buffer && buffer.getRole() == "const")
      params.push_back(param);
  }
  for (ParamOp param : params) {
    builder.setInsertionPoint(param);
    if (failed(placeConstant(builder, param, param.getBufferAttr(), param.getResult())))
      return failure();
    param.erase();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
class PlanMemory : public ck::impl::CKPlanMemoryBase<PlanMemory> {
public:
  using CKPlanMemoryBase::CKPlanMemoryBase;

  void runOnOperation() override {
    if (failed(run(getOperation())))
      signalPassFailure();
  }

private:
  LogicalResult run(ModuleOp module);
  LogicalResult writeReport(ModuleOp module, ArrayRef<EntryPlan> plans, const ArenaLayout &states,
                            const ArenaLayout &constants);
};
} // namespace

LogicalResult PlanMemory::writeReport(ModuleOp module, ArrayRef<EntryPlan> plans, const ArenaLayout &states,
                                      const ArenaLayout &constants) {
  if (report.empty())
    return success();
  llvm::Error error = llvm::writeToOutput(report, [&](raw_ostream &stream) {
    writePlanReport(stream, module, plans, states, constants, guard);
    return llvm::Error::success();
  });
  if (error)
    return emitError(module.getLoc()) << "cannot write the report '" << report
                                      << "': " << llvm::toString(std::move(error));
  return success();
}

LogicalResult PlanMemory::run(ModuleOp module) {
  std::optional<PackEffort> effort = parsePackEffort(packing);
  if (!effort)
    return emitError(module.getLoc()) << "unknown packing '" << packing << "', expected greedy, search or exact";
  if (nodes < 0)
    return emitError(module.getLoc()) << "nodes must not be negative, got " << nodes.getValue();
  PackOptions packOptions;
  packOptions.effort = *effort;
  packOptions.nodes = nodes;
  if (guard < 0)
    return emitError(module.getLoc()) << "guard must not be negative, got " << guard.getValue();
  ContractCache contracts(module);
  std::vector<EntryPlan> plans;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function->hasAttr("ck.entry"))
      continue;
    dropUnusedBuffers(function);
    FailureOr<EntryPlan> plan = planEntry(function, contracts, guard, packOptions);
    if (failed(plan))
      return failure();
    plans.push_back(std::move(*plan));
  }
  FailureOr<ArenaLayout> states = layOutArena(module, "state", guard);
  if (failed(states))
    return failure();
  FailureOr<ArenaLayout> constants = layOutArena(module, "const", guard);
  if (failed(constants) || failed(writeReport(module, plans, *states, *constants)))
    return failure();

  Builder builder(module.getContext());
  applyLayout(*states);
  applyLayout(*constants);
  int64_t arenaBytes = 0;
  for (const EntryPlan &plan : plans) {
    func::FuncOp entry = plan.entry;
    placeActivations(plan);
    if (failed(placeConstants(entry)))
      return failure();
    entry->setAttr("ck.arena_bytes", builder.getI64IntegerAttr(plan.arenaBytes));
    entry->setAttr("ck.thread_scratch_bytes", builder.getI64IntegerAttr(plan.threadScratchBytes));
    arenaBytes = std::max(arenaBytes, plan.arenaBytes);
  }
  SmallVector<NamedAttribute> sizes = {builder.getNamedAttr("arena_bytes", builder.getI64IntegerAttr(arenaBytes)),
                                       builder.getNamedAttr("const_bytes", builder.getI64IntegerAttr(constants->bytes)),
                                       builder.getNamedAttr("state_bytes", builder.getI64IntegerAttr(states->bytes))};
  if (guard != 0)
    sizes.push_back(builder.getNamedAttr("guard", builder.getI64IntegerAttr(guard)));
  module->setAttr("ck.plan", builder.getDictionaryAttr(sizes));
  return success();
}
