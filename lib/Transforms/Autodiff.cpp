//===- Autodiff.cpp - reverse mode over an entry --------------------------===//
//
// Forward: which values depend on what is trained. Backward, from the outputs: each op that something flows through
// builds its adjoint, and cotangents that meet are added. The ops know their adjoints; this file knows the order.
//
//===----------------------------------------------------------------------===//
#include "AutodiffTags.h"
#include "ck/Dialect/CK/Names.h"
#include "ck/Transforms/Passes.h"

#include "mlir/IR/PatternMatch.h"

namespace ck {
#define GEN_PASS_DEF_CKAUTODIFF
#include "ck/Transforms/Passes.h.inc"
} // namespace ck

using namespace mlir;
using namespace ck;

namespace {
/// Differentiates one entry in place.
class EntryDifferentiator {
public:
  EntryDifferentiator(func::FuncOp entry, ArrayRef<BufferOp> trainable, const AdjointOptions &options)
      : entry(entry), block(entry.getBody().front()), trainable(trainable), options(options),
        builder(block.getTerminator()) {}

  LogicalResult run();

private:
  void inlineFused();
  void findVarying();
  LogicalResult seed();
  LogicalResult visit(Operation *&op);
  LogicalResult buildAdjoint(Operation *op, ArrayRef<Value> cotangents);
  LogicalResult appendGradients();
  Value createFill(Value like, double value, const Twine &name);
  /// Adds to the cotangent of `value`; weights count by their root buffer.
  void addCotangent(Value value, Value cotangent);
  Value *findCotangent(Value value);
  Value findCotangentOf(BufferOp root) { return ofBuffers.lookup(root.getSymNameAttr()); }

  func::FuncOp entry;
  Block &block;
  ArrayRef<BufferOp> trainable; ///< roots, in order
  const AdjointOptions &options;
  OpBuilder builder;
  SymbolTableCollection symbols;
  llvm::DenseSet<Value> varying;
  llvm::DenseMap<Value, Value> cotangentOf;
  llvm::DenseMap<Attribute, Value> ofBuffers; ///< by name of the root
};
} // namespace

void EntryDifferentiator::inlineFused() {
  for (auto fused : llvm::make_early_inc_range(block.getOps<FusedOp>())) {
    Operation *yield = fused.getBody().front().getTerminator();
    IRRewriter rewriter(fused);
    rewriter.inlineBlockBefore(&fused.getBody().front(), fused, fused.getInputs());
    rewriter.replaceOp(fused, yield->getOperands());
    rewriter.eraseOp(yield);
  }
}

/// The root of the buffer that `value` reads, null for what is no weight.
static BufferOp rootOf(Value value, SymbolTableCollection &symbols) {
  auto param = value.getDefiningOp<ParamOp>();
  auto buffer = param ? symbols.lookupNearestSymbolFrom<BufferOp>(param, param.getBufferAttr()) : BufferOp();
  return buffer ? buffer.getRoot() : BufferOp();
}

static bool isFloat(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

/// Values that depend smoothly on others, or as if they did: rounding to blocks passes gradients on.
static bool carriesGradient(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return isFloat(value) || (type && isBlockType(type.getElementType()));
}

void EntryDifferentiator::findVarying() {
  for (BlockArgument argument : entry.getArguments())
    if (entry.getArgAttr(argument.getArgNumber(), "ck.wrt"))
      varying.insert(argument);
  for (Operation &op : block)
    for (Value result : op.getResults()) {
      BufferOp root = rootOf(result, symbols);
      bool source = root && llvm::is_contained(trainable, root);
      bool flows = llvm::any_of(op.getOperands(), [&](Value operand) { return varying.contains(operand); });
      if (carriesGradient(result) && (source || flows))
        varying.insert(result);
    }
}

Value EntryDifferentiator::createFill(Value like, double value, const Twine &name) {
  auto type = cast<RankedTensorType>(like.getType()).clone(builder.getF32Type());
  auto fill = FillOp::create(builder, nameResults(like.getLoc(), {name.str()}), type, like, llvm::APFloat(value));
  fill->setAttr("ck.backward", builder.getUnitAttr());
  return fill;
}

Value *EntryDifferentiator::findCotangent(Value value) {
  if (BufferOp root = rootOf(value, symbols)) {
    auto found = ofBuffers.find(root.getSymNameAttr());
    return found == ofBuffers.end() ? nullptr : &found->second;
  }
  auto found = cotangentOf.find(value);
  return found == cotangentOf.end() ? nullptr : &found->second;
}

void EntryDifferentiator::addCotangent(Value value, Value cotangent) {
  BufferOp root = rootOf(value, symbols);
  Value &sum = root ? ofBuffers[root.getSymNameAttr()] : cotangentOf[value];
  if (!sum) {
    sum = cotangent;
    return;
  }
  std::string name = root ? root.getSymName().str() : valueName(value);
  Location loc = nameResults(cotangent.getLoc(), {name.empty() ? "" : "d_" + name});
  sum = AddOp::create(builder, loc, sum.getType(), sum, cotangent, llvm::APFloat(1.0), llvm::APFloat(1.0));
}

LogicalResult EntryDifferentiator::seed() {
  SmallVector<Value> returned(block.getTerminator()->getOperands());
  bool hasLoss = llvm::any_of(llvm::seq(entry.getNumResults()),
                              [&](unsigned i) { return entry.getResultAttr(i, "ck.loss") != nullptr; });
  for (auto [i, value] : llvm::enumerate(returned)) {
    auto output = entry.getResultAttrOfType<StringAttr>(i, "ck.output");
    Value cotangent;
    if (entry.getResultAttr(i, "ck.loss")) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type || !type.getElementType().isF32() || !type.hasStaticShape() || type.getNumElements() != 1)
        return entry.emitOpError() << "has a result tagged 'ck.loss' of type " << value.getType()
                                   << ", expected a tensor of one f32";
      cotangent = createFill(value, 1.0, "d_" + valueName(value));
    } else if (!hasLoss && output && isFloat(value)) {
      FailureOr<Value> input = addInput(entry, "d_" + output.getValue().str(), value);
      if (failed(input))
        return failure();
      cotangent = *input;
    }
    if (cotangent && varying.contains(value))
      addCotangent(value, cotangent);
  }
  return success();
}

/// Builds the adjoint of `op`, which may take another form for it: then `op` is the last op of that form.
LogicalResult EntryDifferentiator::visit(Operation *&op) {
  SmallVector<Value> cotangents;
  for (Value result : op->getResults()) {
    Value *found = findCotangent(result);
    cotangents.push_back(found && !rootOf(result, symbols) ? *found : Value());
  }
  if (llvm::none_of(cotangents, [](Value value) { return value != nullptr; }))
    return success();
  // They are complete now: whatever else they are named, each is the gradient of this result too.
  for (auto [result, cotangent] : llvm::zip(op->getResults(), cotangents))
    if (cotangent)
      for (const std::string &name : resultNames(op->getLoc(), cast<OpResult>(result).getResultNumber()))
        addName(cotangent, "d_" + name);
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  if (!differentiable)
    return op->emitOpError("has no adjoint, but the entry's outputs depend on what is differentiated through it");
  // What the op is replaced by may get its memory.
  for (Value result : op->getResults()) {
    cotangentOf.erase(result);
    varying.erase(result);
  }
  Operation *before = op->getPrevNode();
  OpBuilder inPlace(op);
  op = differentiable.prepareAdjoint(inPlace, options);
  for (Operation *made = op; made != before; made = made->getPrevNode())
    varying.insert(made->result_begin(), made->result_end());
  cotangents.resize(op->getNumResults());

  Operation *last = block.getTerminator()->getPrevNode();
  if (failed(buildAdjoint(op, cotangents)))
    return failure();
  for (Operation *made = block.getTerminator()->getPrevNode(); made != last; made = made->getPrevNode()) {
    made->setAttr("ck.backward", builder.getUnitAttr());
    if (Attribute layer = op->getAttr("ck.layer"))
      made->setAttr("ck.layer", layer);
  }
  return success();
}

LogicalResult EntryDifferentiator::buildAdjoint(Operation *op, ArrayRef<Value> cotangents) {
  SmallVector<bool> needed;
  for (Value operand : op->getOperands())
    needed.push_back(varying.contains(operand));
  Adjoint adjoint(builder, cast<SignatureOpInterface>(op), cotangents, needed);
  for (StringRef name : cast<DifferentiableOpInterface>(op).getUndifferentiated())
    if (adjoint.needs(name))
      return op->emitOpError() << "cannot be differentiated with respect to its operand '" << name << "'";
  if (failed(cast<DifferentiableOpInterface>(op).buildAdjoint(adjoint)))
    return failure();
  for (auto [operand, gradient] : llvm::zip(op->getOperands(), adjoint.getGradients()))
    if (gradient)
      addCotangent(operand, gradient);
  return success();
}

LogicalResult EntryDifferentiator::appendGradients() {
  for (BufferOp root : trainable) {
    Value gradient = findCotangentOf(root);
    if (!gradient) { // Nothing depends on it.
      auto param = ParamOp::create(builder, root.getLoc(), root.getTensorType(), root.getSymName());
      gradient = createFill(param, 0.0, "d_" + root.getSymName());
    }
    if (failed(
            addOutput(entry, gradient, "d_" + root.getSymName().str(), FlatSymbolRefAttr::get(root.getSymNameAttr()))))
      return failure();
  }
  for (BlockArgument argument : entry.getArguments()) {
    if (!entry.getArgAttr(argument.getArgNumber(), "ck.wrt"))
      continue;
    std::string name = "d_" + valueName(argument);
    Value gradient = cotangentOf.lookup(argument);
    if (!gradient)
      gradient = createFill(argument, 0.0, name);
    if (failed(addOutput(entry, gradient, name, {})))
      return failure();
  }
  return success();
}

LogicalResult EntryDifferentiator::run() {
  inlineFused();
  findVarying();
  Operation *op = block.getTerminator()->getPrevNode();
  if (failed(seed()))
    return failure();
  for (; op; op = op->getPrevNode())
    if (failed(visit(op)))
      return failure();
  return appendGradients();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct Autodiff : ck::impl::CKAutodiffBase<Autodiff> {
  using CKAutodiffBase::CKAutodiffBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<SmallVector<func::FuncOp>> entries = chosenEntries(module);
    if (failed(entries))
      return signalPassFailure();
    if (save != "lse" && save != "probs") {
      module.emitError() << "save must be lse or probs, got '" << save << "'";
      return signalPassFailure();
    }
    AdjointOptions options;
    options.saveProbs = save == "probs";
    SmallVector<BufferOp> trainable;
    for (auto buffer : module.getOps<BufferOp>())
      if (buffer.getTrainable())
        trainable.push_back(buffer);
    for (func::FuncOp entry : *entries)
      if (failed(EntryDifferentiator(entry, trainable, options).run()))
        return signalPassFailure();
  }

  FailureOr<SmallVector<func::FuncOp>> chosenEntries(ModuleOp module);
};
} // namespace

FailureOr<SmallVector<func::FuncOp>> Autodiff::chosenEntries(ModuleOp module) {
  SmallVector<func::FuncOp> chosen;
  for (func::FuncOp function : entriesOf(module)) {
    bool tagged = false;
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      tagged |= function.getResultAttr(i, "ck.loss") != nullptr;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      tagged |= function.getArgAttr(i, "ck.wrt") != nullptr;
    if (entry.empty() ? tagged : function.getSymName() == entry)
      chosen.push_back(function);
  }
  if (chosen.empty() && entry.empty())
    return module.emitError("no entry has a result tagged 'ck.loss' or an argument tagged 'ck.wrt'; name the entry to "
                            "differentiate with the option 'entry'");
  if (chosen.empty())
    return module.emitError() << "there is no entry '" << entry << "' to differentiate";
  return chosen;
}
