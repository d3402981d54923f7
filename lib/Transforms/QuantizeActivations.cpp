//===- QuantizeActivations.cpp - rounding of inputs becomes explicit ------===//
//
// Kernels of quantised weights multiply integers. What rounds their inputs is an op of its own, so that the projections
// of one input share it, and so that the numerics of a model can be read in its IR.
//
//===----------------------------------------------------------------------===//
#include "Entries.h"
#include "ck/Dialect/CK/Names.h"
#include "ck/Transforms/Passes.h"

namespace ck {
#define GEN_PASS_DEF_CKQUANTIZEACTIVATIONS
#include "ck/Transforms/Passes.h.inc"
} // namespace ck

using namespace mlir;
using namespace ck;

static Type elementTypeOf(Value value) { return cast<ShapedType>(value.getType()).getElementType(); }

/// A location for result `index` of `op`, which a kernel would call `name`, when it becomes the result of an op alone.
static Location locOfResult(Operation *op, unsigned index, StringRef name) {
  Location loc = op->getLoc();
  if (!resultName(loc, index).empty())
    return nameResultLists(loc, {resultNames(loc, index)});
  StringRef base = locationName(loc);
  return base.empty() ? loc : NameLoc::get(StringAttr::get(op->getContext(), base + "." + name), loc);
}

static bool mustSplit(QkvLinearOp op) {
  Type q = elementTypeOf(op.getWq()), k = elementTypeOf(op.getWk()), v = elementTypeOf(op.getWv());
  return op.getLayout() == "token_major" && (q != k || q != v || isBlockType(q));
}

static void split(QkvLinearOp op) {
  OpBuilder builder(op);
  const std::tuple<StringRef, Value, Value> parts[] = {
      {"q", op.getWq(), op.getBq()}, {"k", op.getWk(), op.getBk()}, {"v", op.getWv(), op.getBv()}};
  for (auto [index, part] : llvm::enumerate(parts)) {
    auto [name, weight, bias] = part;
    auto linear = LinearOp::create(builder, locOfResult(op, index, name), op->getResult(index).getType(), op.getInput(),
                                   weight, bias);
    linear->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    op->getResult(index).replaceAllUsesWith(linear.getOutput());
  }
  op->erase();
}

namespace {
struct QuantizeActivations : ck::impl::CKQuantizeActivationsBase<QuantizeActivations> {
  void runOnOperation() override {
    bool quantizes = numericsLimit(getOperation()) >= NumericsClass::Q8Activations;
    for (func::FuncOp entry : entriesOf(getOperation())) {
      for (auto op : llvm::make_early_inc_range(entry.getOps<QkvLinearOp>()))
        if (mustSplit(op))
          split(op);
      if (quantizes)
        quantizeInputs(entry);
    }
  }

  void quantizeInputs(func::FuncOp entry) {
    // Made at the first use, in front of all others.
    llvm::DenseMap<std::pair<Value, Type>, Value> quantized;
    for (auto op : entry.getOps<ProjectionOpInterface>()) {
      OpOperand &input = op.getProjectedInput();
      Type format = activationType(elementTypeOf(op.getProjectionWeight().get()));
      if (!format || !op.isProductOfRows() || !elementTypeOf(input.get()).isF32())
        continue;
      Value &value = quantized[{input.get(), format}];
      if (!value)
        value = quantize(op, input.get(), format);
      input.set(value);
    }
  }

  /// `value` in blocks of `format`, made in front of `user` and counted with it to a layer of the model.
  static Value quantize(Operation *user, Value value, Type format) {
    OpBuilder builder(user);
    std::string name = valueName(value);
    Location loc = user->getLoc();
    if (!name.empty())
      loc = NameLoc::get(builder.getStringAttr(name + "." + dtypeName(format)), value.getLoc());
    auto op = QuantizeOp::create(builder, loc, cast<RankedTensorType>(value.getType()).clone(format), value);
    op->setDiscardableAttrs(user->getDiscardableAttrDictionary());
    return op.getOutput();
  }
};
} // namespace
