//===- Checkpoint.cpp - compute again instead of keeping ------------------===//
//
// What the backward pass reads of a layer is computed once more in front of it, from the values with which the layer
// begins. Between forward and backward only those live.
//
//===----------------------------------------------------------------------===//
#include "Entries.h"
#include "ck/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"

namespace ck {
#define GEN_PASS_DEF_CKCHECKPOINT
#include "ck/Transforms/Passes.h.inc"
} // namespace ck

using namespace mlir;
using namespace ck;

static std::optional<int64_t> layerOf(Operation *op) {
  auto layer = op->getAttrOfType<IntegerAttr>("ck.layer");
  return layer ? std::optional(layer.getInt()) : std::nullopt;
}

static bool isBackward(Operation *op) { return op->hasAttr("ck.backward"); }

namespace {
/// Recomputes one layer of an entry.
class LayerCheckpoint {
public:
  LayerCheckpoint(Block &block, int64_t layer) : block(block), layer(layer) {}
  void run();

private:
  bool isOfLayer(Operation *op) const { return op && !isBackward(op) && layerOf(op) == layer; }
  /// True if `value` is made by the layer and is needed beyond it anyway, so that it is kept.
  bool isKept(Value value) const;
  /// A value that the backward pass can read instead of `value`.
  Value recompute(Value value, OpBuilder &builder);

  Block &block;
  int64_t layer;
  IRMapping mapping;
};
} // namespace

bool LayerCheckpoint::isKept(Value value) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) { return !isBackward(user) && !isOfLayer(user); });
}

Value LayerCheckpoint::recompute(Value value, OpBuilder &builder) {
  Operation *op = value.getDefiningOp();
  if (!isOfLayer(op) || isKept(value))
    return value;
  if (Value known = mapping.lookupOrNull(value))
    return known;
  IRMapping operands;
  for (Value operand : op->getOperands())
    operands.map(operand, recompute(operand, builder));
  Operation *copy = builder.clone(*op, operands);
  copy->setAttr("ck.remat", builder.getUnitAttr());
  copy->setAttr("ck.backward", builder.getUnitAttr());
  mapping.map(op->getResults(), copy->getResults());
  return mapping.lookup(value);
}

void LayerCheckpoint::run() {
  // Uses in program order: the clones go in front of the first.
  SmallVector<OpOperand *> uses;
  for (Operation &op : block)
    if (isBackward(&op) && !op.hasAttr("ck.remat"))
      for (OpOperand &operand : op.getOpOperands())
        if (isOfLayer(operand.get().getDefiningOp()) && !isKept(operand.get()))
          uses.push_back(&operand);
  if (uses.empty())
    return;
  OpBuilder builder(uses.front()->getOwner());
  for (OpOperand *use : uses)
    use->set(recompute(use->get(), builder));
}

namespace {
struct Checkpoint : ck::impl::CKCheckpointBase<Checkpoint> {
  using CKCheckpointBase::CKCheckpointBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (policy != "none" && policy != "layer") {
      module.emitError() << "policy must be none or layer, got '" << policy << "'";
      return signalPassFailure();
    }
    if (policy == "none")
      return markAllAnalysesPreserved();
    for (func::FuncOp entry : entriesOf(module)) {
      Block &block = entry.getBody().front();
      llvm::SetVector<int64_t> layers;
      for (Operation &op : block)
        if (std::optional<int64_t> layer = layerOf(&op); layer && !isBackward(&op))
          layers.insert(*layer);
      for (int64_t layer : layers)
        LayerCheckpoint(block, layer).run();
    }
  }
};
} // namespace
