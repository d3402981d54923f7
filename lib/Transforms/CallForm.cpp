//===- CallForm.cpp - what bufferization asks of CALL ---------------------===//
#include "CallForm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace ck;

//===----------------------------------------------------------------------===//
// Ops and tags
//===----------------------------------------------------------------------===//

static LogicalResult checkOp(Operation &op) {
  if (isa<CallOp, ParamOp, BoundOp, tensor::EmptyOp, tensor::DimOp, func::ReturnOp>(op))
    return success();
  if (isa<SignatureOpInterface, FusedOp>(op))
    return op.emitOpError("is an op of GRAPH and has no buffer form; run --ck-select-providers before --ck-bufferize");
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  bool onTensors = llvm::any_of(op.getOperandTypes(), isTensor) || llvm::any_of(op.getResultTypes(), isTensor);
  if (op.getNumRegions() == 0 && isa_and_nonnull<arith::ArithDialect>(op.getDialect()) && !onTensors)
    return success();
  return op.emitOpError() << "does not belong in an entry of CALL form: only ck.call, ck.param, tensor.empty, "
                             "tensor.dim and index arithmetic have a buffer form";
}

/// The buffer that a tag names, if it has the role and the type that the tag asks for.
static LogicalResult checkBuffer(func::FuncOp entry, FlatSymbolRefAttr symbol, StringRef role, Type type) {
  auto buffer = SymbolTable::lookupNearestSymbolFrom<BufferOp>(entry, symbol);
  if (!buffer)
    return emitEntryError(entry) << "tags a value with '" << symbol.getValue() << "', which is no ck.buffer";
  if (buffer.getRole() != role)
    return emitEntryError(entry) << "tags a value as " << role << " '" << symbol.getValue()
                                 << "', but that buffer is a " << buffer.getRole();
  auto shaped = cast<ShapedType>(type);
  RankedTensorType declared = buffer.getTensorType();
  if (shaped.getShape() != declared.getShape() || shaped.getElementType() != declared.getElementType())
    return emitEntryError(entry) << "has " << type << " for '" << symbol.getValue() << "', which is declared "
                                 << declared;
  return success();
}

static LogicalResult checkArguments(func::FuncOp entry) {
  llvm::DenseSet<Attribute> states;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    auto state = entry.getArgAttrOfType<FlatSymbolRefAttr>(i, "ck.state");
    if (!state && !entry.getArgAttr(i, "ck.input"))
      return emitEntryError(entry) << "has argument " << i << ", which is tagged neither 'ck.input' nor 'ck.state'";
    if (!state)
      continue;
    if (!states.insert(state).second)
      return emitEntryError(entry) << "takes the state '" << state.getValue() << "' twice";
    if (failed(checkBuffer(entry, state, "state", entry.getArgumentTypes()[i])))
      return failure();
  }
  return success();
}

static LogicalResult checkResults(func::FuncOp entry) {
  llvm::DenseSet<Attribute> seen;
  for (unsigned i = 0; i < entry.getNumResults(); ++i) {
    auto state = entry.getResultAttrOfType<FlatSymbolRefAttr>(i, "ck.state");
    auto constant = entry.getResultAttrOfType<FlatSymbolRefAttr>(i, "ck.const");
    auto output = entry.getResultAttrOfType<StringAttr>(i, "ck.output");
    if (!state + !constant + !output != 2)
      return emitEntryError(entry) << "has result " << i
                                   << ", which must be tagged with one of 'ck.output', 'ck.const' and "
                                   << "'ck.state'";
    Attribute tag = state ? Attribute(state) : constant ? Attribute(constant) : Attribute(output);
    if (!seen.insert(tag).second)
      return emitEntryError(entry) << "has two results tagged " << tag;
    if (constant && failed(checkBuffer(entry, constant, "const", entry.getResultTypes()[i])))
      return failure();
    if (state && failed(checkBuffer(entry, state, "state", entry.getResultTypes()[i])))
      return failure();
  }
  return success();
}

LogicalResult ck::checkCallForm(func::FuncOp entry) {
  if (entry.isExternal() || !entry.getBody().hasOneBlock())
    return emitEntryError(entry) << "must be one straight line of ops";
  if (failed(checkArguments(entry)) || failed(checkResults(entry)))
    return failure();
  for (Operation &op : entry.getBody().front())
    if (failed(checkOp(op)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

namespace {
/// The current version of every state while the entry is walked.
class StateChains {
public:
  explicit StateChains(func::FuncOp entry) : entry(entry) {}
  LogicalResult check();

private:
  struct Chain {
    Value latest;
    CallOp update; ///< that made it; null at first
  };

  LogicalResult checkCall(CallOp call);
  LogicalResult checkReturn(func::ReturnOp op);
  /// Fails if `value` is a version of a state that has been overwritten.
  LogicalResult checkRead(Operation *op, Value value, const Twine &use);
  StringRef nameOf(BlockArgument state) {
    return entry.getArgAttrOfType<FlatSymbolRefAttr>(state.getArgNumber(), "ck.state").getValue();
  }

  func::FuncOp entry;
  llvm::MapVector<Value, Chain> chains; ///< by argument
};
} // namespace

LogicalResult StateChains::checkRead(Operation *op, Value value, const Twine &use) {
  BlockArgument state = stateRoot(value);
  if (!state || chains[state].latest == value)
    return success();
  InFlightDiagnostic error = op->emitOpError() << use << " an old version of state '" << nameOf(state)
                                               << "', which would have to be copied";
  error.attachNote(chains[state].update.getLoc()) << "it has been updated here";
  return error;
}

LogicalResult StateChains::checkCall(CallOp call) {
  for (Value input : call.getInputs())
    if (failed(checkRead(call, input, "reads")))
      return failure();
  for (auto [init, result] : llvm::zip(call.getInits(), call.getResults())) {
    BlockArgument state = stateRoot(init);
    if (!state)
      continue;
    if (failed(checkRead(call, init, "writes into")))
      return failure();
    if (llvm::is_contained(call.getInputs(), init))
      return call.emitOpError() << "reads and writes state '" << nameOf(state)
                                << "' in one call, which would need a copy of it";
    chains[state] = {result, call};
  }
  return success();
}

LogicalResult StateChains::checkReturn(func::ReturnOp op) {
  llvm::DenseMap<Attribute, Value> returned;
  for (auto [i, value] : llvm::enumerate(op.getOperands())) {
    if (auto symbol = entry.getResultAttrOfType<FlatSymbolRefAttr>(i, "ck.state"))
      returned[symbol] = value;
    else if (failed(checkRead(op, value, "returns")))
      return failure();
  }
  for (auto &[argument, chain] : chains) {
    StringRef name = nameOf(cast<BlockArgument>(argument));
    auto symbol = FlatSymbolRefAttr::get(op.getContext(), name);
    auto value = returned.find(symbol);
    if (value == returned.end()) {
      if (chain.update)
        return chain.update.emitOpError() << "updates state '" << name << "', but the entry does not return it";
      continue;
    }
    Value result = value->second;
    returned.erase(value);
    if (result == chain.latest)
      continue;
    if (storageRoot(result) == argument)
      return checkRead(op, result, "returns");
    InFlightDiagnostic error = op.emitOpError()
                               << "returns as state '" << name
                               << "' a value that is no update of its argument: the state would have to be copied";
    error.attachNote(result.getLoc()) << "the value is made here";
    return error;
  }
  if (!returned.empty())
    return op.emitOpError() << "returns state '" << cast<FlatSymbolRefAttr>(returned.begin()->first).getValue()
                            << "', which is no argument of the entry";
  return success();
}

LogicalResult StateChains::check() {
  for (BlockArgument argument : entry.getArguments())
    if (entry.getArgAttr(argument.getArgNumber(), "ck.state"))
      chains[argument] = {argument, CallOp()};
  for (Operation &op : entry.getBody().front()) {
    if (auto call = dyn_cast<CallOp>(op)) {
      if (failed(checkCall(call)))
        return failure();
    } else if (auto end = dyn_cast<func::ReturnOp>(op)) {
      if (failed(checkReturn(end)))
        return failure();
    }
  }
  return success();
}

LogicalResult ck::checkStates(func::FuncOp entry) { return StateChains(entry).check(); }
