//===- PackWeights.cpp - quantised weights in the layout of kernels -------===//
//
// The first of the decisions about layouts: which readers of a weight take it packed. That packing happens once, at
// load, is left to --ck-hoist-init.
//
//===----------------------------------------------------------------------===//
#include "Entries.h"
#include "ck/Dialect/CK/Names.h"
#include "ck/Transforms/Passes.h"

namespace ck {
#define GEN_PASS_DEF_CKPACKWEIGHTS
#include "ck/Transforms/Passes.h.inc"
} // namespace ck

using namespace mlir;
using namespace ck;

static Type elementTypeOf(Value value) { return cast<ShapedType>(value.getType()).getElementType(); }

namespace {
struct PackWeights : ck::impl::CKPackWeightsBase<PackWeights> {
  using CKPackWeightsBase::CKPackWeightsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (pack != "load" && pack != "never") {
      module.emitError() << "pack must be load or never, got '" << pack << "'";
      return signalPassFailure();
    }
    SymbolTable symbols(module);
    for (func::FuncOp entry : entriesOf(module)) {
      if (pack == "load")
        packIn(entry, symbols);
      for (auto head : llvm::make_early_inc_range(entry.getOps<HeadLinearOp>()))
        if (head.isProductOfRows() && isBlockType(elementTypeOf(head.getWeight())) &&
            isBlockType(elementTypeOf(head.getInput())))
          replaceHead(head);
    }
  }

  /// The head as a linear layer, with its cap behind it.
  static void replaceHead(HeadLinearOp head) {
    OpBuilder builder(head);
    bool caps = !head.getSoftcap().isZero();
    Location loc = head.getLoc();
    if (std::string name = valueName(head.getLogits()); caps && !name.empty())
      loc = nameResults(loc, {name + ".uncapped"});
    Value logits = LinearOp::create(builder, loc, head.getLogits().getType(), head.getInput(), head.getWeight(),
                                    /*bias=*/Value());
    logits.getDefiningOp()->setDiscardableAttrs(head->getDiscardableAttrDictionary());
    if (caps) {
      logits = ActivationOp::create(builder, head.getLoc(), logits.getType(), logits, "softcap", head.getSoftcap());
      logits.getDefiningOp()->setDiscardableAttrs(head->getDiscardableAttrDictionary());
    }
    head.replaceAllUsesWith(logits);
    head->erase();
  }

  void packIn(func::FuncOp entry, SymbolTable &symbols) {
    llvm::DenseMap<Attribute, Value> packed; // by buffer; made at the first use, in front of all others
    for (auto op : entry.getOps<ProjectionOpInterface>()) {
      OpOperand &weight = op.getProjectionWeight();
      auto param = weight.get().getDefiningOp<ParamOp>();
      if (!param || !op.isProductOfRows() || !isBlockType(elementTypeOf(weight.get())) ||
          !isBlockType(elementTypeOf(op.getProjectedInput().get())))
        continue;
      auto buffer = symbols.lookup<BufferOp>(param.getBufferAttr().getAttr());
      if (!buffer || buffer.getRole() != "weight")
        continue;
      Value &value = packed[param.getBufferAttr()];
      if (!value) {
        OpBuilder builder(op);
        Location loc = NameLoc::get(builder.getStringAttr(param.getBuffer() + ".packed"), param.getLoc());
        auto type = cast<RankedTensorType>(weight.get().getType());
        auto storage = PackedType::get(&getContext(), type.getElementType(), kPackedRows);
        value = PackOp::create(builder, loc, type.clone(storage), weight.get());
      }
      weight.set(value);
    }
  }
};
} // namespace
