//===- MemoryPlan.cpp - lifetimes and places of an entry's buffers --------===//
#include "MemoryPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ck;

namespace {
class Planner {
public:
  Planner(func::FuncOp entry, const ContractCache &contracts, int64_t guard, const PackOptions &packOptions)
      : contracts(contracts), guard(guard), packOptions(packOptions) {
    plan.entry = entry;
  }
  FailureOr<EntryPlan> run();

private:
  LogicalResult collect();
  LogicalResult collectCall(CallOp call);
  LogicalResult collectAlloc(memref::AllocOp alloc);
  void nameBuffers();
  void shareInPlace();
  void shareInPlace(CallOp call, int64_t step, const std::string &input, const std::string &output);
  LogicalResult place();
  std::vector<PackItem> packItems(bool inPlace) const;
  /// The planned buffer that `value` is; null for arguments, parameters and views.
  PlannedBuffer *find(Value value) {
    auto index = indexOf.find(value);
    return index == indexOf.end() ? nullptr : &plan.buffers[index->second];
  }
  /// What a buffer of `bytes` takes up: padded, with its red zone.
  static bool footprint(int64_t bytes, int64_t guard, int64_t &result);

  EntryPlan plan;
  const ContractCache &contracts;
  int64_t guard;
  const PackOptions &packOptions;
  llvm::DenseMap<Value, size_t> indexOf;
};
} // namespace

bool Planner::footprint(int64_t bytes, int64_t guard, int64_t &result) {
  if (bytes == 0) {
    result = 0;
    return true;
  }
  if (llvm::AddOverflow(bytes, guard, result) || llvm::AddOverflow(result, kBufferAlignment - 1, result))
    return false;
  result -= result % kBufferAlignment;
  return true;
}

//===----------------------------------------------------------------------===//
// Buffers and lifetimes
//===----------------------------------------------------------------------===//

LogicalResult Planner::collectAlloc(memref::AllocOp alloc) {
  FailureOr<int64_t> bytes = boundedBytes(alloc, alloc.getResult());
  if (failed(bytes))
    return failure();
  if (!alloc.getType().getLayout().isIdentity())
    return alloc.emitOpError() << "is not compact: " << alloc.getType();
  indexOf[alloc.getResult()] = plan.buffers.size();
  PlannedBuffer &buffer = plan.buffers.emplace_back();
  buffer.alloc = alloc;
  buffer.bytes = *bytes;
  return success();
}

LogicalResult Planner::collectCall(CallOp call) {
  int64_t step = plan.steps.size();
  plan.steps.push_back(call);
  const Contract *contract = contracts.find(call.getCalleeAttr());
  if (!contract)
    return call.emitOpError() << "calls '" << call.getCallee() << "', which is no ck.provider of this module";
  if (!call.getResults().empty())
    return call.emitOpError("works on tensors; run --ck-bufferize before --ck-plan-memory");
  if (!call.getScratch().empty())
    return call.emitOpError("already has scratch: the entry has been planned before");
  for (Value operand : call->getOperands())
    if (PlannedBuffer *buffer = find(operand)) {
      if (buffer->first < 0) {
        buffer->first = step;
        buffer->call = call;
      }
      buffer->last = step;
    }
  FailureOr<ScratchNeed> need = scratchNeed(call, *contract);
  if (failed(need))
    return failure();
  plan.threadScratchBytes = std::max(plan.threadScratchBytes, need->perThread);
  for (auto [bytes, name] : llvm::zip(need->arena, need->names)) {
    PlannedBuffer &buffer = plan.buffers.emplace_back();
    buffer.name = name.str();
    buffer.call = call;
    buffer.bytes = bytes;
    buffer.first = buffer.last = step;
  }
  return success();
}

LogicalResult Planner::collect() {
  func::FuncOp entry = plan.entry;
  if (entry.isExternal() || !entry.getBody().hasOneBlock())
    return emitEntryError(entry) << "must be one straight line of ops";
  if (entry.getNumResults() != 0)
    return emitEntryError(entry) << "still has results; run --ck-bufferize before --ck-plan-memory";
  // The order of buffers is that of their allocations and calls, so the plan is a function of the program alone.
  for (Operation &op : entry.getBody().front()) {
    if (auto call = dyn_cast<CallOp>(op)) {
      if (failed(collectCall(call)))
        return failure();
    } else if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
      if (failed(collectAlloc(alloc)))
        return failure();
    } else if (!isa<ParamOp, BoundOp, memref::DimOp, func::ReturnOp>(op) &&
               !(op.getNumRegions() == 0 && isa_and_nonnull<arith::ArithDialect>(op.getDialect()))) {
      return op.emitOpError(
          "does not belong in a bufferized entry: only ck.call, ck.param, memref.alloc, memref.dim and "
          "index arithmetic can be planned");
    }
  }
  return success();
}

/// The name of `operand` in the contract of `call`; "" if it is none.
static StringRef operandName(CallOp call, Value operand) {
  for (auto [init, name] : llvm::zip(call.getInits(), call.getInitNames().getAsRange<StringAttr>()))
    if (init == operand)
      return name.getValue();
  for (auto [input, name] : llvm::zip(call.getInputs(), call.getInputNames().getAsRange<StringAttr>()))
    if (input == operand)
      return name.getValue();
  return "";
}

void Planner::nameBuffers() {
  for (PlannedBuffer &buffer : plan.buffers) {
    StringRef own = buffer.alloc ? locationName(buffer.alloc.getLoc()) : "";
    std::string call = locationName(buffer.call.getLoc()).str();
    if (call.empty())
      call = buffer.call.getCallee().str() + "@" + std::to_string(buffer.first);
    if (!buffer.alloc)
      buffer.name = call + "." + buffer.name;
    else if (!own.empty() && own != call)
      buffer.name = own.str();
    else if (buffer.call.getInits().size() == 1)
      buffer.name = call;
    else
      buffer.name = call + "." + operandName(buffer.call, buffer.alloc.getResult()).str();
  }
}

//===----------------------------------------------------------------------===//
// Results in place of operands
//===----------------------------------------------------------------------===//

void Planner::shareInPlace(CallOp call, int64_t step, const std::string &input, const std::string &output) {
  Value from = call.getBound(input), to = call.getBound(output);
  PlannedBuffer *source = from ? find(from) : nullptr, *target = to ? find(to) : nullptr;
  if (!source || !target || source == target || target->storageOf)
    return;
  // The operand dies here, the result is born here, and the call sees each of them once.
  if (source->last != step || target->first != step || llvm::count(call->getOperands(), from) != 1 ||
      llvm::count(call->getOperands(), to) != 1)
    return;
  if (source->bytes != target->bytes || source->bytes == 0 ||
      !llvm::equal(source->alloc.getDynamicSizes(), target->alloc.getDynamicSizes()))
    return;
  size_t sourceIndex = indexOf[from];
  for (const PlannedBuffer &other : plan.buffers)
    if (other.storageOf == sourceIndex)
      return; // another result of this call took it
  target->storageOf = sourceIndex;
}

void Planner::shareInPlace() {
  for (auto [step, call] : llvm::enumerate(plan.steps)) {
    const Contract &contract = *contracts.find(call.getCalleeAttr());
    for (const auto &[input, output] : contract.inplace)
      if (!readsOutput(contract, output))
        shareInPlace(call, step, input, output);
  }
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

std::vector<PackItem> Planner::packItems(bool inPlace) const {
  std::vector<PackItem> items;
  for (const PlannedBuffer &buffer : plan.buffers) {
    PackItem item;
    item.name = buffer.name;
    item.alignment = kBufferAlignment;
    footprint(buffer.bytes, guard, item.size);
    item.ranges.push_back({buffer.first, buffer.last + 1});
    if (inPlace)
      item.alias = buffer.storageOf;
    items.push_back(std::move(item));
  }
  return items;
}

LogicalResult Planner::place() {
  func::FuncOp entry = plan.entry;
  for (PlannedBuffer &buffer : plan.buffers) {
    int64_t size;
    if (!footprint(buffer.bytes, guard, size))
      return emitEntryError(entry) << "cannot be planned: '" << buffer.name << "' needs more than 64 bits of memory";
  }
  auto fail = [&](const Error &error) { return emitEntryError(entry) << "cannot be planned: " << error.message; };
  Result<int64_t> before = packingLowerBound(packItems(/*inPlace=*/false));
  if (!before)
    return fail(before.error());
  std::vector<PackItem> items = packItems(/*inPlace=*/true);
  Result<Packing> packing = pack(items, packOptions);
  if (!packing)
    return fail(packing.error());
  if (Status status = checkPacking(items, packing->offsets, packing->height); !status)
    return fail(status.error());
  // Red zones follow buffers; the first buffer has one before it as well.
  int64_t start = 0;
  if (packing->height != 0 &&
      (!footprint(guard, 0, start) || llvm::AddOverflow(packing->height, start, plan.arenaBytes)))
    return fail({"its arena needs more than 64 bits"});
  for (auto [buffer, offset] : llvm::zip(plan.buffers, packing->offsets))
    buffer.offset = buffer.bytes == 0 ? 0 : offset + start;
  plan.bound = packing->bound;
  plan.boundBeforeInPlace = *before;
  plan.strategy = packing->strategy;
  return success();
}

/// The call at which most bytes are live.
static int64_t findPeak(const EntryPlan &plan) {
  std::vector<int64_t> change(plan.steps.size() + 1, 0);
  for (const PlannedBuffer &buffer : plan.buffers) {
    change[buffer.first] += buffer.bytes;
    change[buffer.last + 1] -= buffer.bytes;
    // One storage counts once where an operand hands it over.
    if (buffer.storageOf) {
      change[buffer.first] -= buffer.bytes;
      change[buffer.first + 1] += buffer.bytes;
    }
  }
  int64_t live = 0, most = 0, peak = -1;
  for (size_t step = 0; step < plan.steps.size(); ++step) {
    live += change[step];
    if (live > most) {
      most = live;
      peak = step;
    }
  }
  return peak;
}

FailureOr<EntryPlan> Planner::run() {
  if (failed(collect()))
    return failure();
  nameBuffers();
  shareInPlace();
  if (failed(place()))
    return failure();
  plan.peak = findPeak(plan);
  return std::move(plan);
}

void ck::dropUnusedBuffers(func::FuncOp entry) {
  resolveDims(entry);
  SmallVector<memref::DeallocOp> deallocs;
  entry.walk([&](memref::DeallocOp op) { deallocs.push_back(op); });
  for (memref::DeallocOp op : deallocs)
    op.erase();
  SmallVector<memref::AllocOp> unused;
  entry.walk([&](memref::AllocOp op) {
    if (op->use_empty())
      unused.push_back(op);
  });
  for (memref::AllocOp op : unused)
    op.erase();
}

FailureOr<EntryPlan> ck::planEntry(func::FuncOp entry, const ContractCache &contracts, int64_t guard,
                                   const PackOptions &packOptions) {
  return Planner(entry, contracts, guard, packOptions).run();
}

FailureOr<ArenaLayout> ck::layOutArena(ModuleOp module, StringRef role, int64_t guard) {
  ArenaLayout layout;
  auto align = [](int64_t &value) {
    if (llvm::AddOverflow(value, kBufferAlignment - 1, value))
      return false;
    value -= value % kBufferAlignment;
    return true;
  };
  for (auto buffer : module.getOps<BufferOp>()) {
    if (buffer.getRole() != role || buffer.getAlias())
      continue;
    RankedTensorType type = buffer.getTensorType();
    FailureOr<int64_t> bytes = storageBytes(type.getElementType(), type.getShape());
    if (layout.places.empty())
      layout.bytes = guard;
    if (failed(bytes) || !align(layout.bytes))
      return buffer.emitOpError() << "does not fit into the " << role << " arena: it exceeds 64 bits";
    layout.places.push_back({buffer, layout.bytes, *bytes});
    // An empty buffer takes a byte, so that offsets tell buffers apart.
    if (llvm::AddOverflow(layout.bytes, std::max<int64_t>(*bytes, 1), layout.bytes) ||
        llvm::AddOverflow(layout.bytes, guard, layout.bytes) || !align(layout.bytes))
      return buffer.emitOpError() << "does not fit into the " << role << " arena: it exceeds 64 bits";
  }
  return layout;
}
