//===- SinkToFirstUse.cpp - compute late what is large --------------------===//
//
// Between an op and its first use its results live; without the op, the operands that nothing else needs would live
// there instead. The op sinks if the results are larger.
//
//===----------------------------------------------------------------------===//
#include "Entries.h"
#include "Schedule.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ck;

namespace {
class Sinker {
public:
  Sinker(func::FuncOp entry, const BoundedShapes &shapes);
  void run();

private:
  /// The op before which `op` would run: its first user, or the first op after it that updates one of its operands.
  Operation *target(Operation *op) const;
  /// Bytes of the arena that `value` takes: none for arguments, which live always, weights and updated states.
  int64_t arenaBytes(Value value) const;
  bool paysOff(Operation *op, Operation *target) const;

  Block &block;
  const BoundedShapes &shapes;
  llvm::DenseMap<Value, SmallVector<Operation *, 1>> updates; ///< the ops that change a value in place
  llvm::DenseMap<Value, Value> updated;                       ///< what a result is the new value of
};
} // namespace

Sinker::Sinker(func::FuncOp entry, const BoundedShapes &shapes) : block(entry.getBody().front()), shapes(shapes) {
  for (auto op : block.getOps<SignatureOpInterface>()) {
    Result<Signature> signature = parseSignature(op.getSignatureText());
    if (!signature)
      continue;
    for (auto [input, operand] : llvm::zip(signature->inputs, op.getSignatureOperands()))
      for (auto [output, result] : llvm::zip(signature->outputs, op->getResults()))
        if (operand && input.name == output.name) {
          updates[operand].push_back(op);
          updated[result] = operand;
        }
  }
}

Operation *Sinker::target(Operation *op) const {
  Operation *first = nullptr;
  auto consider = [&](Operation *user) {
    Operation *here = block.findAncestorOpInBlock(*user);
    if (here && here != op && op->isBeforeInBlock(here) && (!first || here->isBeforeInBlock(first)))
      first = here;
  };
  for (Operation *user : op->getUsers())
    consider(user);
  for (Value operand : op->getOperands())
    for (Operation *user : updates.lookup(operand))
      consider(user);
  return first;
}

int64_t Sinker::arenaBytes(Value value) const {
  // An update has the storage of what it updates.
  while (Value before = updated.lookup(value))
    value = before;
  return isa<BlockArgument>(value) || value.getDefiningOp<ParamOp>() ? 0 : shapes.bytes(value);
}

bool Sinker::paysOff(Operation *op, Operation *target) const {
  if (isa<ParamOp>(op))
    return true;
  int64_t freed = 0, kept = 0;
  for (Value result : op->getResults())
    freed = llvm::SaturatingAdd<uint64_t>(freed, arenaBytes(result));
  llvm::SmallPtrSet<Value, 4> seen;
  for (Value operand : op->getOperands()) {
    if (!seen.insert(operand).second)
      continue;
    bool livesAnyway = llvm::any_of(operand.getUsers(), [&](Operation *user) {
      Operation *here = block.findAncestorOpInBlock(*user);
      return here == target || (here && target->isBeforeInBlock(here));
    });
    if (!livesAnyway)
      kept = llvm::SaturatingAdd<uint64_t>(kept, arenaBytes(operand));
  }
  return freed > kept;
}

void Sinker::run() {
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  // Where the next op that sinks to a target goes: before those that sank earlier, so that the order stays; reads of
  // weights stand between them and the target.
  llvm::DenseMap<Operation *, Operation *> placeOf, readPlaceOf;
  for (Operation *op : llvm::reverse(ops)) {
    bool onTensors = llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
    if (!onTensors || !isMemoryEffectFree(op))
      continue;
    Operation *to = target(op);
    if (!to)
      continue;
    Operation *&readPlace = readPlaceOf.try_emplace(to, to).first->second;
    Operation *&place = isa<ParamOp>(op) ? readPlace : placeOf.try_emplace(to, readPlace).first->second;
    if (op->getNextNode() != place) {
      if (!paysOff(op, to))
        continue;
      op->moveBefore(place);
    }
    place = op;
  }
}

LogicalResult ck::sinkToFirstUse(func::FuncOp entry) {
  FailureOr<BoundedShapes> shapes = BoundedShapes::compute(entry);
  if (failed(shapes))
    return failure();
  Sinker(entry, *shapes).run();
  return success();
}
