//===- Bufferize.cpp - calls on tensors become calls on memrefs -----------===//
//
// Upstream's one-shot bufferization does the analysis. What is ours: outputs as destinations, states that never move,
// and copies as calls.
//
//===----------------------------------------------------------------------===//
#include "CallForm.h"
#include "CallReads.h"
#include "CopyCalls.h"
#include "ck/Transforms/BufferizableOpInterfaceImpl.h"
#include "ck/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ck {
#define GEN_PASS_DEF_CKBUFFERIZE
#include "ck/Transforms/Passes.h.inc"
} // namespace ck

using namespace mlir;
using namespace ck;

//===----------------------------------------------------------------------===//
// Outputs as destinations
//===----------------------------------------------------------------------===//

/// Names the run-time dims of output `name`, whose returned value is `value`.
static FailureOr<ArrayAttr> nameDims(func::FuncOp entry, Value value, Attribute name) {
  Builder builder(entry.getContext());
  Value root = storageRoot(value);
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<Attribute> names;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (!type.isDynamicDim(axis))
      continue;
    unsigned position = type.getDynamicDimIndex(axis);
    StringAttr dim;
    if (auto empty = root.getDefiningOp<tensor::EmptyOp>()) {
      dim = dimName(empty.getDynamicSizes()[position]);
    } else if (auto argument = dyn_cast<BlockArgument>(root)) {
      if (auto dims = entry.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "ck.dims"))
        dim = cast<StringAttr>(dims[position]);
    }
    if (!dim)
      return emitEntryError(entry) << "has output " << name << " with a run-time extent (dim " << axis << " of " << type
                                   << ") that is no named dim of the entry";
    names.push_back(dim);
  }
  return builder.getArrayAttr(names);
}

/// The use of a `tensor.empty` as the destination from which `value` came, if there is one.
static OpOperand *emptyDestination(Value value) {
  OpOperand *destination = nullptr;
  while (auto call = value.getDefiningOp<CallOp>()) {
    unsigned result = cast<OpResult>(value).getResultNumber();
    destination = &call.getInitsMutable()[result];
    value = destination->get();
  }
  return value.getDefiningOp<tensor::EmptyOp>() ? destination : nullptr;
}

/// Adds an argument for result `index` and computes the returned value straight into it where it starts from an empty
/// tensor.
static LogicalResult addDestination(func::FuncOp entry, unsigned index) {
  Value value = entry.getBody().front().getTerminator()->getOperand(index);
  NamedAttrList tags(entry.getResultAttrDict(index));
  Attribute name = tags.get("ck.output") ? tags.get("ck.output") : tags.get("ck.const");
  auto type = cast<RankedTensorType>(value.getType());
  if (!type.hasStaticShape()) {
    FailureOr<ArrayAttr> dims = nameDims(entry, value, name);
    if (failed(dims))
      return failure();
    tags.set("ck.dims", *dims);
  }
  auto symbol = dyn_cast<FlatSymbolRefAttr>(name);
  Location loc = NameLoc::get(symbol ? symbol.getAttr() : cast<StringAttr>(name));
  unsigned position = entry.getNumArguments();
  if (failed(entry.insertArgument(position, type, tags.getDictionary(entry.getContext()), loc)))
    return failure();
  if (OpOperand *operand = emptyDestination(value)) {
    auto empty = operand->get().getDefiningOp<tensor::EmptyOp>();
    operand->set(entry.getArgument(position));
    if (empty->use_empty())
      empty.erase();
  }
  return success();
}

/// Drops the results of a bufferized entry: a state is in its argument; an output is in its destination, or is copied
/// there. `destinations` is the first argument that stands for a result.
static LogicalResult dropResults(func::FuncOp entry, unsigned destinations) {
  auto end = cast<func::ReturnOp>(entry.getBody().front().getTerminator());
  OpBuilder builder(end);
  unsigned position = entry.getNumArguments();
  // A later output may share storage with the destination of an earlier one, so it leaves first.
  for (unsigned i = entry.getNumResults(); i-- > 0;) {
    Value value = end.getOperand(i);
    if (auto state = entry.getResultAttrOfType<FlatSymbolRefAttr>(i, "ck.state")) {
      auto argument = dyn_cast<BlockArgument>(value);
      if (!argument || entry.getArgAttr(argument.getArgNumber(), "ck.state") != state)
        return end.emitOpError() << "returns state '" << state.getValue() << "' in another buffer than its argument";
      continue;
    }
    Value destination = entry.getArgument(--position);
    if (value != destination)
      memref::CopyOp::create(builder, value.getLoc(), value, destination);
  }
  assert(position == destinations && "one destination for each output");
  end->setOperands(ValueRange());
  return entry.eraseResults(llvm::BitVector(entry.getNumResults(), true));
}

/// The argument of `entry` that is state `symbol`; null if there is none.
static BlockArgument stateArgument(func::FuncOp entry, FlatSymbolRefAttr symbol) {
  for (BlockArgument argument : entry.getArguments())
    if (entry.getArgAttr(argument.getArgNumber(), "ck.state") == symbol)
      return argument;
  return {};
}

/// A new value of a state whose old one nobody looks at is computed in the state's place: no clearing, no copy.
static void computeInState(func::FuncOp entry) {
  Operation *end = entry.getBody().front().getTerminator();
  for (unsigned i = 0; i < entry.getNumResults(); ++i) {
    auto symbol = entry.getResultAttrOfType<FlatSymbolRefAttr>(i, "ck.state");
    BlockArgument state = symbol ? stateArgument(entry, symbol) : BlockArgument();
    if (!state || !state.use_empty())
      continue;
    Value value = end->getOperand(i);
    while (auto call = value.getDefiningOp<CallOp>()) {
      value = call.getInits()[cast<OpResult>(value).getResultNumber()];
      if (!value.hasOneUse()) // Another reader of an earlier version may need a copy of it.
        break;
    }
    auto empty = value.getDefiningOp<tensor::EmptyOp>();
    if (empty && empty->hasOneUse() && empty.getType() == state.getType()) {
      empty.getResult().replaceAllUsesWith(state);
      empty.erase();
    }
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static bufferization::OneShotBufferizationOptions compactOptions() {
  bufferization::OneShotBufferizationOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.setFunctionBoundaryTypeConversion(bufferization::LayoutMapOption::IdentityLayoutMap);
  options.unknownTypeConverterFn = [](TensorType tensor, Attribute space, const bufferization::BufferizationOptions &) {
    return bufferization::getMemRefTypeWithStaticIdentityLayout(tensor, space);
  };
  return options;
}

static LogicalResult bufferizeModule(ModuleOp module, const ContractCache &contracts) {
  bufferization::OneShotBufferizationOptions options = compactOptions();
  bufferization::BufferizationState state;
  {
    bufferization::OneShotAnalysisState analysis(module, options);
    analysis.addExtension<CallReads>(contracts);
    if (failed(bufferization::analyzeModuleOp(module, analysis)) ||
        failed(bufferization::insertTensorCopies(module, analysis, state)))
      return failure();
  }
  return bufferization::bufferizeModuleOp(module, options, state);
}

namespace {
class Bufferize : public ck::impl::CKBufferizeBase<Bufferize> {
public:
  using CKBufferizeBase::CKBufferizeBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    CKBufferizeBase::getDependentDialects(registry);
    registerBufferizableOpInterfaceExternalModels(registry);
  }

  void runOnOperation() override {
    if (failed(run(getOperation())))
      signalPassFailure();
  }

private:
  LogicalResult run(ModuleOp module);
};
} // namespace

LogicalResult Bufferize::run(ModuleOp module) {
  SmallVector<std::pair<func::FuncOp, unsigned>> entries; // and its number of arguments before
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr("ck.entry"))
      entries.emplace_back(function, function.getNumArguments());
  for (auto [entry, arguments] : entries) {
    if (failed(checkCallForm(entry)))
      return failure();
    computeInState(entry);
    if (failed(checkStates(entry)))
      return failure();
    resolveDims(entry);
    for (unsigned i = 0; i < arguments; ++i)
      if (entry.getArgAttr(i, "ck.input"))
        entry.setArgAttr(i, bufferization::BufferizationDialect::kWritableAttrName,
                         BoolAttr::get(module.getContext(), false));
    for (unsigned i = 0; i < entry.getNumResults(); ++i)
      if (!entry.getResultAttr(i, "ck.state") && failed(addDestination(entry, i)))
        return failure();
  }
  if (failed(bufferizeModule(module, ContractCache(module))))
    return failure();
  bufferization::removeBufferizationAttributesInModule(module);
  for (auto [entry, arguments] : entries)
    if (failed(dropResults(entry, arguments)))
      return failure();
  if (failed(replaceCopies(module, getAnalysis<KernelMapLibrary>(), maps)))
    return failure();
  for (auto [entry, arguments] : entries)
    resolveDims(entry);
  return success();
}
