//===- VerifyGraph.cpp - is this module a model in GRAPH? -----------------===//
//
// The rules that passes on GRAPH rely on, beyond what each op checks for itself.
//
//===----------------------------------------------------------------------===//
#include "Entries.h"
#include "ck/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringMap.h"

namespace ck {
#define GEN_PASS_DEF_CKVERIFYGRAPH
#include "ck/Transforms/Passes.h.inc"
} // namespace ck

using namespace mlir;
using namespace ck;

namespace {
/// Checks one entry. Each member emits one error and fails.
class EntryVerifier {
public:
  EntryVerifier(func::FuncOp entry, llvm::DenseSet<Attribute> &constants, SymbolTableCollection &symbols)
      : entry(entry), constants(constants), symbols(symbols), isInit(entry.getSymName() == kInitEntry) {}

  LogicalResult verify() {
    if (failed(verifyArguments()) || failed(verifyResults()))
      return failure();
    for (Operation &op : entry.getBody().front())
      if (failed(verifyOp(op)))
        return failure();
    return failure(failed(BoundedShapes::compute(entry)));
  }

private:
  LogicalResult verifyArguments();
  LogicalResult verifyResults();
  LogicalResult verifyOp(Operation &op);
  LogicalResult verifyName(StringAttr name, llvm::StringMap<unsigned> &names, StringRef what, unsigned index);
  /// The root of the buffer that `tag` names, if it has the role and the type wanted; null after an error.
  BufferOp findBuffer(FlatSymbolRefAttr tag, StringRef role, Type type, const Twine &where);

  func::FuncOp entry;
  llvm::DenseSet<Attribute> &constants; ///< that @init computes
  SymbolTableCollection &symbols;
  bool isInit;
  llvm::MapVector<Attribute, unsigned> states; ///< root -> argument, taken out by its result
};
} // namespace

BufferOp EntryVerifier::findBuffer(FlatSymbolRefAttr tag, StringRef role, Type type, const Twine &where) {
  auto buffer = symbols.lookupNearestSymbolFrom<BufferOp>(entry, tag);
  BufferOp root = buffer ? buffer.getRoot() : BufferOp();
  if (!root) {
    entry.emitOpError() << where << " is tagged " << tag << ", which is no ck.buffer of this module";
    return {};
  }
  if (root.getRole() != role) {
    entry.emitOpError() << where << " is tagged " << tag << " and needs a ck.buffer of role " << role
                        << ", but that one has role " << root.getRole();
    return {};
  }
  if (root.getTensorType() != type) {
    entry.emitOpError() << where << " has type " << type << ", but " << tag << " is declared " << root.getTensorType();
    return {};
  }
  return root;
}

LogicalResult EntryVerifier::verifyName(StringAttr name, llvm::StringMap<unsigned> &names, StringRef what,
                                        unsigned index) {
  auto [known, isNew] = names.try_emplace(name.getValue(), index);
  if (isNew)
    return success();
  return entry.emitOpError() << what << "s " << known->second << " and " << index << " have the same name '"
                             << name.getValue() << "'";
}

LogicalResult EntryVerifier::verifyArguments() {
  if (isInit && entry.getNumArguments() != 0)
    return entry.emitOpError() << "runs at load and takes no arguments, but has " << entry.getNumArguments();
  llvm::StringMap<unsigned> inputs;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    Type type = entry.getArgumentTypes()[i];
    auto input = entry.getArgAttrOfType<StringAttr>(i, "ck.input");
    auto state = entry.getArgAttrOfType<FlatSymbolRefAttr>(i, "ck.state");
    if (!isa<RankedTensorType>(type))
      return entry.emitOpError() << "argument " << i << " must be a ranked tensor in GRAPH, got " << type;
    if (!input == !state)
      return entry.emitOpError() << "argument " << i << " must be tagged either 'ck.input' or 'ck.state'"
                                 << (input ? ", not both" : "");
    if (input && failed(verifyName(input, inputs, "argument", i)))
      return failure();
    if (!state)
      continue;
    BufferOp root = findBuffer(state, "state", type, "argument " + Twine(i));
    if (!root)
      return failure();
    auto [known, isNew] = states.try_emplace(root.getSymNameAttr(), i);
    if (!isNew)
      return entry.emitOpError() << "arguments " << known->second << " and " << i << " are the same state '"
                                 << root.getSymName() << "'";
  }
  return success();
}

LogicalResult EntryVerifier::verifyResults() {
  llvm::StringMap<unsigned> outputs;
  for (unsigned i = 0; i < entry.getNumResults(); ++i) {
    Type type = entry.getResultTypes()[i];
    auto output = entry.getResultAttrOfType<StringAttr>(i, "ck.output");
    auto state = entry.getResultAttrOfType<FlatSymbolRefAttr>(i, "ck.state");
    auto constant = entry.getResultAttrOfType<FlatSymbolRefAttr>(i, "ck.const");
    std::string where = "result " + std::to_string(i);
    if (!isa<RankedTensorType>(type))
      return entry.emitOpError() << where << " must be a ranked tensor in GRAPH, got " << type;
    if (!!output + !!state + !!constant != 1)
      return entry.emitOpError() << where << " must be tagged with one of 'ck.output', 'ck.state' and 'ck.const'";
    if (isInit != !!constant)
      return entry.emitOpError() << where
                                 << (isInit ? " must be tagged 'ck.const': @init computes constants only"
                                            : " is tagged 'ck.const', but only @init computes constants");
    if (output && failed(verifyName(output, outputs, "result", i)))
      return failure();
    if (constant) {
      BufferOp root = findBuffer(constant, "const", type, where);
      if (!root)
        return failure();
      if (!constants.insert(root.getSymNameAttr()).second)
        return entry.emitOpError() << "computes constant '" << root.getSymName() << "' twice";
    }
    if (state) {
      BufferOp root = findBuffer(state, "state", type, where);
      if (!root)
        return failure();
      if (!states.erase(root.getSymNameAttr()))
        return entry.emitOpError() << where << " is the new value of state '" << root.getSymName()
                                   << "', which is no argument or has another new value";
    }
  }
  if (!states.empty())
    return entry.emitOpError() << "argument " << states.front().second << " is the state '"
                               << cast<StringAttr>(states.front().first).getValue()
                               << "', but no result is its new value";
  return success();
}

LogicalResult EntryVerifier::verifyOp(Operation &op) {
  if (auto param = dyn_cast<ParamOp>(op)) {
    auto buffer = symbols.lookupNearestSymbolFrom<BufferOp>(entry, param.getBufferAttr());
    BufferOp root = buffer ? buffer.getRoot() : BufferOp();
    if (!isa<RankedTensorType>(param.getType()))
      return param.emitOpError() << "must be a tensor in GRAPH, got " << param.getType();
    bool computed = !root || root.getRole() != "const" || constants.contains(root.getSymNameAttr());
    if (!computed || (isInit && root && root.getRole() == "const"))
      return param.emitOpError() << "reads constant '" << root.getSymName()
                                 << (isInit ? "' in @init, which computes the constants"
                                            : "', which no result of @init computes");
    return success();
  }
  if (auto fused = dyn_cast<FusedOp>(op)) {
    for (Operation &inner : fused.getBody().front())
      if (failed(isa<YieldOp>(inner) ? success() : verifyOp(inner)))
        return failure();
    return success();
  }
  if (isa<SignatureOpInterface, BoundOp, tensor::DimOp, func::ReturnOp>(op))
    return success();
  bool onScalars = llvm::none_of(
      llvm::concat<const Type>(SmallVector<Type>(op.getOperandTypes()), SmallVector<Type>(op.getResultTypes())),
      [](Type type) { return isa<ShapedType>(type); });
  if (isa_and_nonnull<arith::ArithDialect>(op.getDialect()) && op.getNumRegions() == 0 && onScalars)
    return success();
  if (isa<CallOp, ViewOp>(op))
    return op.emitOpError() << "belongs to a later phase than GRAPH: providers are selected once, from ck ops";
  return op.emitOpError() << "does not belong in GRAPH: an entry consists of ck ops, tensor.dim and index arithmetic";
}

namespace {
struct VerifyGraph : ck::impl::CKVerifyGraphBase<VerifyGraph> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(verifyModule(getOperation())))
      signalPassFailure();
  }

  LogicalResult verifyModule(ModuleOp module) {
    SmallVector<func::FuncOp> entries;
    for (Operation &op : *module.getBody()) {
      auto function = dyn_cast<func::FuncOp>(op);
      if (function && function->hasAttr("ck.entry")) {
        if (!isStraightLine(function))
          return function.emitOpError("is an entry and must have a body of one block that returns");
        // @init comes first: the others may read what it computes.
        entries.insert(function.getSymName() == kInitEntry ? entries.begin() : entries.end(), function);
        continue;
      }
      WalkResult walk = op.walk([](SignatureOpInterface inner) {
        inner->emitOpError("stands outside of an entry: mark its function with 'ck.entry'");
        return WalkResult::interrupt();
      });
      if (walk.wasInterrupted())
        return failure();
    }
    if (entries.empty())
      return module.emitError("module has no entry: no function is marked with 'ck.entry'");
    llvm::DenseSet<Attribute> constants;
    SymbolTableCollection symbols;
    for (func::FuncOp entry : entries)
      if (failed(EntryVerifier(entry, constants, symbols).verify()))
        return failure();
    return success();
  }
};
} // namespace
