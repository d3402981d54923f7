//===- SelectProviders.cpp - ops become calls of kernels ------------------===//
//
// First every op is decided, then all are rewritten: a module in which one op has no provider is left as it was.
//
//===----------------------------------------------------------------------===//
#include "ChooseProvider.h"
#include "EquivalentOps.h"
#include "KernelMapLibrary.h"
#include "Storage.h"
#include "ck/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace ck {
#define GEN_PASS_DEF_CKSELECTPROVIDERS
#include "ck/Transforms/Passes.h.inc"
} // namespace ck

using namespace mlir;
using namespace ck;

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static Attribute toAttribute(Builder &builder, const Param &param) {
  if (auto integer = std::get_if<int64_t>(&param))
    return builder.getI64IntegerAttr(*integer);
  if (auto real = std::get_if<double>(&param))
    return builder.getF64FloatAttr(*real);
  if (auto flag = std::get_if<bool>(&param))
    return builder.getBoolAttr(*flag);
  return builder.getStringAttr(std::get<std::string>(param));
}

/// The params of a call: those of the kernel, and the attributes that its expressions name.
static DictionaryAttr callParams(Builder &builder, const Contract &contract, const Match &match) {
  std::map<std::string, Param> params(match.params.begin(), match.params.end());
  for (const std::string &name : attributeNames(contract))
    if (auto value = match.names.find(name); value != match.names.end())
      params.insert(*value);
  SmallVector<NamedAttribute> attributes;
  for (const auto &[name, value] : params)
    attributes.emplace_back(builder.getStringAttr(name), toAttribute(builder, value));
  return builder.getDictionaryAttr(attributes);
}

namespace {
/// Replaces one op by the call that was chosen for it.
class CallBuilder {
public:
  /// `inputs` are the op's operands as its description counts them; null where absent.
  CallBuilder(Operation *op, const Choice &choice, ArrayRef<Value> inputs)
      : op(op), builder(op), contract(choice.map->contract), match(choice.match), inputs(inputs) {}

  LogicalResult build();

private:
  /// The shapes of the op's results. A fused op has no signature of its own: it has that of its kernel.
  LogicalResult reify(ReifiedRankedShapedTypeDims &shapes) {
    if (isa<ReifyRankedShapedTypeOpInterface>(op))
      return reifyResultShapes(builder, op, shapes);
    return reifyOutputs(builder, op->getLoc(), contract.signature, match.bindings, inputs, match.names,
                        op->getResultTypes(), shapes);
  }
  /// The destination of result `result` of the op, which the kernel calls `name`.
  Value destination(unsigned result, StringRef name, ReifiedRankedShapedTypeDims &shapes);
  void nameCall(CallOp call, ArrayRef<Value> results);

  Operation *op;
  OpBuilder builder;
  const Contract &contract;
  const Match &match;
  ArrayRef<Value> inputs;
};
} // namespace

Value CallBuilder::destination(unsigned result, StringRef name, ReifiedRankedShapedTypeDims &shapes) {
  auto type = cast<RankedTensorType>(op->getResult(result).getType());
  SmallVector<Value> sizes;
  for (auto [axis, extent] : llvm::enumerate(shapes[result]))
    if (type.isDynamicDim(axis))
      sizes.push_back(getValueOrCreateConstantIndexOp(builder, op->getLoc(), extent));
  Location loc = op->getLoc();
  StringRef base = locationName(loc);
  if (std::string own = resultName(loc, result); !own.empty())
    loc = NameLoc::get(builder.getStringAttr(own), loc);
  else if (op->getNumResults() > 1 && !base.empty())
    loc = NameLoc::get(builder.getStringAttr(base + "." + name), loc);
  return tensor::EmptyOp::create(builder, loc, type, sizes);
}

/// The call keeps the names of its results, in its own order, and what the op says of its place in the model.
void CallBuilder::nameCall(CallOp call, ArrayRef<Value> results) {
  SmallVector<SmallVector<std::string>> names;
  for (Value result : results)
    names.push_back(resultNames(op->getLoc(), cast<OpResult>(result).getResultNumber()));
  if (!resultName(op->getLoc(), 0).empty())
    call->setLoc(nameResultLists(op->getLoc(), names));
  for (StringRef tag : {"ck.layer", "ck.backward", "ck.remat"})
    if (Attribute value = op->getAttr(tag))
      call->setAttr(tag, value);
}

LogicalResult CallBuilder::build() {
  const Signature &kernel = contract.signature;
  ReifiedRankedShapedTypeDims shapes;
  if (failed(reify(shapes)))
    return op->emitOpError("has run-time extents that cannot be computed from its operands");
  // By kernel operand, inputs then outputs, for the sizes.
  SmallVector<Value> bound;
  SmallVector<Value> ins, outs, results;
  SmallVector<StringRef> inNames, outNames;
  for (auto [operand, index] : llvm::zip(kernel.inputs, match.inputs)) {
    bound.push_back(index < 0 ? Value() : inputs[index]);
    if (index < 0 || kernel.isUpdated(operand.name))
      continue;
    ins.push_back(inputs[index]);
    inNames.push_back(operand.name);
  }
  for (auto [operand, index] : llvm::zip(kernel.outputs, match.outputs)) {
    Value init;
    for (auto [input, value] : llvm::zip(kernel.inputs, bound))
      if (input.name == operand.name)
        init = value;
    if (index >= 0) {
      if (!init)
        init = destination(index, operand.name, shapes);
      outs.push_back(init);
      outNames.push_back(operand.name);
      results.push_back(op->getResult(index));
    }
    bound.push_back(init);
  }
  SmallVector<StringRef> sizeNames;
  SmallVector<OpFoldResult> sizes;
  std::vector<AbiSlot> slots = abiSlots(contract);
  for (const AbiSlot &slot : slots) {
    if (slot.kind != AbiSlot::Kind::Dim)
      continue;
    FailureOr<OpFoldResult> size = materializeDim(builder, op->getLoc(), match.bindings, slot.name, bound, match.names);
    if (failed(size))
      return op->emitOpError() << "gives no way to compute dim " << slot.name << " of '" << contract.id << "'";
    sizeNames.push_back(slot.name);
    sizes.push_back(*size);
  }
  auto call = CallOp::create(builder, op->getLoc(), FlatSymbolRefAttr::get(builder.getContext(), contract.id), ins,
                             inNames, outs, outNames, sizeNames, sizes, callParams(builder, contract, match));
  nameCall(call, results);
  for (auto [old, result] : llvm::zip(results, call.getResults()))
    old.replaceAllUsesWith(result);
  op->erase();
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Merges index arithmetic that is repeated for every call.
static void mergeIndexOps(Block &block) {
  EquivalentOps known;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    bool ofIndex = isa<tensor::DimOp>(op) || isa_and_nonnull<arith::ArithDialect>(op.getDialect());
    if (!ofIndex || op.getNumRegions() != 0)
      continue;
    Operation *equal = known.findOrAdd(&op);
    if (equal == &op)
      continue;
    op.replaceAllUsesWith(equal);
    op.erase();
  }
}

namespace {
struct SelectProviders : ck::impl::CKSelectProvidersBase<SelectProviders> {
  using CKSelectProvidersBase::CKSelectProvidersBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    Result<const std::vector<KernelMap> *> loaded = getAnalysis<KernelMapLibrary>().maps(maps);
    if (!loaded) {
      module.emitError() << "cannot load kernel maps: " << loaded.error().message;
      return signalPassFailure();
    }
    SelectionPolicy selection;
    if (failed(readOptions(**loaded, KernelMapLibrary::folder(maps), selection)))
      return signalPassFailure();
    selection.limit = numericsLimit(module);
    ProviderChooser chooser(**loaded, std::move(selection));
    SmallVector<func::FuncOp> entries = entriesOf(module);
    for (func::FuncOp entry : entries) {
      FailureOr<BoundedShapes> shapes = BoundedShapes::compute(entry);
      if (failed(shapes) || failed(decide(entry.getBody().front(), chooser, *shapes)))
        return signalPassFailure();
    }
    if (failed(embedProviders(module)))
      return signalPassFailure();
    if (failed(rewrite()))
      return signalPassFailure();
    for (func::FuncOp entry : entries) {
      resolveDims(entry);
      mergeIndexOps(entry.getBody().front());
    }
  }

  LogicalResult readOptions(const std::vector<KernelMap> &known, StringRef dir, SelectionPolicy &selection);
  LogicalResult decide(Block &block, const ProviderChooser &chooser, const BoundedShapes &shapes);
  LogicalResult embedProviders(ModuleOp module);
  LogicalResult rewrite();

  /// In order, with the ops of inlined regions before the region's op.
  llvm::MapVector<Operation *, Choice> choices;
};
} // namespace

LogicalResult SelectProviders::readOptions(const std::vector<KernelMap> &known, StringRef dir,
                                           SelectionPolicy &selection) {
  ModuleOp module = getOperation();
  auto kind = llvm::StringSwitch<std::optional<SelectionPolicy::Kind>>(policy)
                  .Case("fastest", SelectionPolicy::Kind::Fastest)
                  .Case("reference", SelectionPolicy::Kind::Reference)
                  .Case("pin", SelectionPolicy::Kind::Pin)
                  .Default(std::nullopt);
  if (!kind)
    return module.emitError() << "policy must be fastest, reference or pin, got '" << policy << "'";
  selection.kind = *kind;
  if (!selection.setIsa(isa))
    return module.emitError() << "isa must be scalar, avx2, avx512 or avx512_vnni, got '" << isa << "'";
  if (!costs.empty()) {
    Result<CostTable> table = loadCostTable(costs);
    if (!table)
      return module.emitError() << "cannot load the cost table: " << table.error().message;
    if (Status status = table->checkAgainst(known); !status)
      return module.emitError() << costs << ": " << status.error().message;
    selection.times = *std::move(table);
  }
  for (const std::string &pin : pins) {
    auto [what, id] = StringRef(pin).rsplit(':');
    StringRef name = what;
    bool byName = name.consume_front("@");
    if (name.empty() || id.empty())
      return module.emitError() << "pin '" << pin << "' must have the form op:provider or @name:provider";
    if (!byName && !RegisteredOperationName::lookup(("ck." + name).str(), &getContext()))
      return module.emitError() << "pin '" << pin << "': there is no op ck." << name;
    if (llvm::none_of(known, [&, id = id](const KernelMap &map) { return map.id() == id; }))
      return module.emitError() << "pin '" << pin << "': there is no kernel map '" << id << "' in " << dir;
    (byName ? selection.pinsByName : selection.pinsByOp)[name.str()].push_back(id.str());
  }
  return success();
}

LogicalResult SelectProviders::decide(Block &block, const ProviderChooser &chooser, const BoundedShapes &shapes) {
  for (Operation &op : block) {
    FailureOr<Choice> choice = Choice();
    if (auto fused = dyn_cast<FusedOp>(op)) {
      choice = chooser.chooseFused(fused, shapes, remarks);
      if (succeeded(choice) && !choice->map && failed(decide(fused.getBody().front(), chooser, shapes)))
        return failure();
    } else if (auto signatureOp = dyn_cast<SignatureOpInterface>(op)) {
      choice = chooser.choose(signatureOp, shapes, remarks);
    } else {
      continue;
    }
    if (failed(choice))
      return failure();
    choices.insert({&op, *std::move(choice)});
  }
  return success();
}

LogicalResult SelectProviders::embedProviders(ModuleOp module) {
  std::map<std::string, std::pair<const KernelMap *, Operation *>> used; // with the first op that uses it
  for (auto &[op, choice] : choices)
    if (choice.map)
      used.try_emplace(choice.map->id(), choice.map, op);
  SymbolTable symbols(module);
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  for (Operation &op : *module.getBody())
    if (llvm::isa<BufferOp, ProviderOp>(op))
      builder.setInsertionPointAfter(&op);
  for (auto &[id, use] : used)
    if (Operation *taken = symbols.lookup(id)) {
      auto provider = dyn_cast<ProviderOp>(taken);
      if (provider && provider.getDigest() == use.first->digest)
        continue;
      InFlightDiagnostic error = use.second->emitOpError()
                                 << "needs the symbol '" << id << "' for its provider, but it is taken";
      error.attachNote(taken->getLoc()) << (provider ? "by a provider with another digest" : "here");
      return failure();
    }
  for (auto &[id, use] : used)
    if (!symbols.lookup(id))
      ProviderOp::create(builder, module.getLoc(), *use.first);
  return success();
}

LogicalResult SelectProviders::rewrite() {
  for (auto &[op, choice] : choices) {
    auto fused = dyn_cast<FusedOp>(op);
    if (!fused || choice.map) {
      SmallVector<Value> inputs =
          fused ? SmallVector<Value>(fused.getInputs()) : cast<SignatureOpInterface>(op).getSignatureOperands();
      if (fused)
        inputs.resize(std::max(inputs.size(), choice.map->contract.signature.inputs.size()));
      if (failed(CallBuilder(op, choice, inputs).build()))
        return failure();
      continue;
    }
    Operation *yield = fused.getBody().front().getTerminator();
    IRRewriter rewriter(op);
    rewriter.inlineBlockBefore(&fused.getBody().front(), op, fused.getInputs());
    op->replaceAllUsesWith(yield->getOperands());
    yield->erase();
    op->erase();
  }
  return success();
}
