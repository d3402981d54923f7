//===- HoistInit.cpp - constants are computed once, at load ---------------===//
//
// Ops are copied into @init in order, each looked up there by structure first, so that equal chains meet; then the
// values that an entry still needs become constants of the model.
//
//===----------------------------------------------------------------------===//
#include "Entries.h"
#include "EquivalentOps.h"
#include "Storage.h"
#include "ck/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace ck {
#define GEN_PASS_DEF_CKHOISTINIT
#include "ck/Transforms/Passes.h.inc"
} // namespace ck

using namespace mlir;
using namespace ck;

namespace {
/// @init while it grows.
class InitEntry {
public:
  explicit InitEntry(ModuleOp module) : module(module), symbols(module) {}

  /// Finds @init and what it computes; emits an error and fails if the name is taken by something else.
  LogicalResult find();
  bool isWeight(FlatSymbolRefAttr buffer) {
    auto op = symbols.lookup<BufferOp>(buffer.getAttr());
    return op && op.getRole() == "weight";
  }
  /// The value in @init that equals `constant`, null if @init does not compute it.
  Value valueOf(FlatSymbolRefAttr constant) { return constants.lookup(constant); }
  /// The op of @init that computes what `op` does from the values that `mapping` gives its operands, made if needed.
  Operation *getOrClone(Operation *op, IRMapping &mapping);
  /// The constant that holds `value` of @init, declared if needed.
  FlatSymbolRefAttr getOrDeclare(Value value);

private:
  void create();

  ModuleOp module;
  SymbolTable symbols;
  func::FuncOp entry;
  Operation *lastBuffer = nullptr; ///< after which new ones are declared
  EquivalentOps ops;
  llvm::DenseMap<Attribute, Value> constants;
  llvm::DenseMap<Value, FlatSymbolRefAttr> names;
};
} // namespace

LogicalResult InitEntry::find() {
  for (auto buffer : module.getOps<BufferOp>())
    lastBuffer = buffer;
  Operation *op = symbols.lookup(kInitEntry);
  if (!op)
    return success();
  entry = dyn_cast<func::FuncOp>(op);
  if (!entry || !entry->hasAttr("ck.entry") || !isStraightLine(entry))
    return op->emitOpError() << "takes the symbol '" << kInitEntry
                             << "', which is the name of the entry that runs at load";
  for (Operation &inner : entry.getBody().front().without_terminator())
    ops.findOrAdd(&inner);
  for (auto [i, value] : llvm::enumerate(entry.getBody().front().getTerminator()->getOperands()))
    if (auto constant = entry.getResultAttrOfType<FlatSymbolRefAttr>(i, "ck.const")) {
      constants[constant] = value;
      names.try_emplace(value, constant);
    }
  return success();
}

void InitEntry::create() {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  entry = func::FuncOp::create(builder, module.getLoc(), kInitEntry, builder.getFunctionType({}, {}));
  entry->setAttr("ck.entry", builder.getUnitAttr());
  builder.setInsertionPointToStart(entry.addEntryBlock());
  func::ReturnOp::create(builder, module.getLoc());
  symbols.insert(entry);
}

Operation *InitEntry::getOrClone(Operation *op, IRMapping &mapping) {
  if (!entry)
    create();
  OpBuilder builder(entry.getBody().front().getTerminator());
  Operation *copy = builder.clone(*op, mapping);
  Operation *known = ops.findOrAdd(copy);
  if (known == copy)
    return copy;
  mapping.map(op->getResults(), known->getResults());
  copy->erase();
  return known;
}

/// "rope" + "cos" for the result `cos` of an op at the location "rope"; "copy" for the result of an unnamed copy.
static std::string constantName(OpResult value) {
  Operation *op = value.getOwner();
  if (std::string own = resultName(op->getLoc(), value.getResultNumber()); !own.empty())
    return own;
  std::string name = locationName(op->getLoc()).str();
  if (name.empty())
    name = op->getName().stripDialect().str();
  if (op->getNumResults() == 1)
    return name;
  name += "_";
  if (auto signatureOp = dyn_cast<SignatureOpInterface>(op))
    if (auto signature = parseSignature(signatureOp.getSignatureText()))
      return name + signature->outputs[value.getResultNumber()].name;
  return name + std::to_string(value.getResultNumber());
}

FlatSymbolRefAttr InitEntry::getOrDeclare(Value value) {
  FlatSymbolRefAttr &name = names[value];
  if (name)
    return name;
  auto type = cast<RankedTensorType>(value.getType());
  OpBuilder builder(module.getContext());
  std::string base = constantName(cast<OpResult>(value)), symbol = base;
  for (unsigned i = 1; symbols.lookup(symbol); ++i)
    symbol = base + "_" + std::to_string(i);
  OperationState state(NameLoc::get(builder.getStringAttr(base), value.getLoc()), BufferOp::getOperationName());
  state.addAttribute("sym_name", builder.getStringAttr(symbol));
  state.addAttribute("role", builder.getStringAttr("const"));
  state.addAttribute("type", TypeAttr::get(type));
  Operation *buffer = Operation::create(state);
  Block::iterator place = lastBuffer ? std::next(Block::iterator(lastBuffer)) : module.getBody()->begin();
  symbols.insert(buffer, place);
  lastBuffer = buffer;
  name = FlatSymbolRefAttr::get(cast<BufferOp>(buffer).getSymNameAttr());
  constants[name] = value;

  Operation *end = entry.getBody().front().getTerminator();
  NamedAttribute tag(builder.getStringAttr("ck.const"), name);
  (void)entry.insertResult(entry.getNumResults(), type, builder.getDictionaryAttr(tag));
  end->insertOperands(end->getNumOperands(), value);
  return name;
}

/// True if `op` may run at load, given that its operands are known there.
static bool isHoistable(Operation &op) {
  auto hasPlainStorage = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() && !dtypeName(tensor.getElementType()).empty();
  };
  // A constant tensor costs as much to read as to write; kept for good, it would only take memory.
  return isa<SignatureOpInterface, FusedOp>(op) && !isa<FillOp>(op) && isMemoryEffectFree(&op) &&
         op.getNumResults() != 0 && llvm::all_of(op.getResultTypes(), hasPlainStorage);
}

namespace {
struct HoistInit : ck::impl::CKHoistInitBase<HoistInit> {
  void runOnOperation() override {
    InitEntry init(getOperation());
    if (failed(init.find()))
      return signalPassFailure();
    for (func::FuncOp entry : entriesOf(getOperation()))
      if (entry.getSymName() != kInitEntry)
        hoistFrom(entry, init);
  }

  void hoistFrom(func::FuncOp entry, InitEntry &init) {
    IRMapping mapping;             // from values of the entry to those of @init
    llvm::DenseSet<Value> sources; // reads of weights: known at load, copied when an op needs them
    SmallVector<Operation *> hoisted;
    for (Operation &op : entry.getBody().front()) {
      if (auto param = dyn_cast<ParamOp>(op)) {
        if (init.isWeight(param.getBufferAttr()))
          sources.insert(param.getResult());
        else if (Value value = init.valueOf(param.getBufferAttr()))
          mapping.map(param.getResult(), value);
        continue;
      }
      auto isKnown = [&](Value value) { return sources.contains(value) || mapping.contains(value); };
      if (!isHoistable(op) || !llvm::all_of(op.getOperands(), isKnown) || op.use_empty())
        continue;
      for (Value operand : op.getOperands())
        if (!mapping.contains(operand))
          mapping.map(operand, init.getOrClone(operand.getDefiningOp(), mapping)->getResult(0));
      init.getOrClone(&op, mapping);
      hoisted.push_back(&op);
    }
    llvm::SmallPtrSet<Operation *, 16> isHoisted(hoisted.begin(), hoisted.end());
    llvm::DenseMap<Attribute, Value> reads;
    llvm::SmallSetVector<Operation *, 16> sourceOps;
    for (Operation *op : hoisted) {
      for (Value operand : op->getOperands())
        if (operand.getDefiningOp<ParamOp>())
          sourceOps.insert(operand.getDefiningOp());
      for (OpResult result : op->getResults()) {
        auto stays = [&](OpOperand &use) { return !isHoisted.contains(use.getOwner()); };
        if (!llvm::any_of(result.getUses(), stays))
          continue;
        FlatSymbolRefAttr constant = init.getOrDeclare(mapping.lookup(result));
        Value &read = reads[constant];
        if (!read) {
          OpBuilder builder(op);
          read = ParamOp::create(builder, result.getLoc(), result.getType(), constant);
        }
        result.replaceUsesWithIf(read, stays);
      }
    }
    for (Operation *op : llvm::reverse(hoisted))
      op->erase();
    for (Operation *op : sourceOps)
      if (op->use_empty())
        op->erase();
  }
};
} // namespace
