//===- VerifyCall.cpp - is this module complete for lowering? -------------===//
#include "Entries.h"
#include "Storage.h"
#include "ck/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ck {
#define GEN_PASS_DEF_CKVERIFYCALL
#include "ck/Transforms/Passes.h.inc"
} // namespace ck

using namespace mlir;
using namespace ck;

static LogicalResult verifyForm(Operation &op) {
  if (isa<SignatureOpInterface, FusedOp>(op))
    return op.emitOpError("is an op of GRAPH and has no provider yet; run --ck-select-providers");
  if (isa<CallOp, ParamOp, BoundOp, tensor::EmptyOp, tensor::DimOp, func::ReturnOp>(op)) {
    for (Type type :
         llvm::concat<const Type>(SmallVector<Type>(op.getOperandTypes()), SmallVector<Type>(op.getResultTypes())))
      if (isa<BaseMemRefType>(type))
        return op.emitOpError() << "is on " << type << ", but CALL is on tensors: this module is bufferized already";
    return success();
  }
  bool onScalars = llvm::none_of(op.getOperandTypes(), llvm::IsaPred<ShapedType>) &&
                   llvm::none_of(op.getResultTypes(), llvm::IsaPred<ShapedType>);
  if (isa_and_nonnull<arith::ArithDialect>(op.getDialect()) && op.getNumRegions() == 0 && onScalars)
    return success();
  return op.emitOpError() << "does not belong in CALL: an entry consists of ck.call, ck.param, tensor.empty, "
                             "tensor.dim and index arithmetic";
}

/// True if `value` can be passed as `param`.
static bool fitsParam(Attribute value, const ParamDecl &param) {
  switch (param.kind) {
  case ParamDecl::Kind::I64:
    return isa<IntegerAttr>(value) && !isa<BoolAttr>(value);
  case ParamDecl::Kind::F64:
    return isa<FloatAttr>(value);
  case ParamDecl::Kind::Bool:
    return isa<BoolAttr>(value);
  case ParamDecl::Kind::Enum:
    auto text = dyn_cast<StringAttr>(value);
    return text && llvm::is_contained(param.values, text.getValue());
  }
  llvm_unreachable("all kinds are handled");
}

static LogicalResult verifyCall(CallOp call, const Contract &contract, const BoundedShapes &shapes) {
  std::vector<AbiSlot> slots = abiSlots(contract);
  auto given = call.getSizeNames().getAsRange<StringAttr>();
  for (const AbiSlot &slot : slots)
    if (slot.kind == AbiSlot::Kind::Dim &&
        llvm::none_of(given, [&](StringAttr name) { return name.getValue() == slot.name; }))
      return call.emitOpError() << "gives no size for dim " << slot.name << " of '" << contract.id << "'";
  for (const ParamDecl &param : contract.params) {
    Attribute value = call.getParams().get(param.name);
    if (!value)
      return call.emitOpError() << "gives no value for param '" << param.name << "' of '" << contract.id << "'";
    if (!fitsParam(value, param))
      return call.emitOpError() << "gives " << value << " for param '" << param.str() << "' of '" << contract.id << "'";
  }
  auto actual = [&](const SigOperand &operand) {
    Value value = call.getBound(operand.name);
    ActualOperand result = value ? actualOperand(value.getType()) : ActualOperand();
    if (value)
      result.shape.assign(shapes.shape(value).begin(), shapes.shape(value).end());
    return result;
  };
  std::vector<ActualOperand> inputs, outputs;
  for (const SigOperand &operand : contract.signature.inputs)
    inputs.push_back(actual(operand));
  for (const SigOperand &operand : contract.signature.outputs)
    outputs.push_back(actual(operand));
  Result<Bindings> bindings =
      unify(contract.signature, contract.where, inputs, outputs, signatureParams(call.getParams()));
  if (!bindings)
    return call.emitOpError() << "of '" << contract.id << "' does not fit when run-time extents are at their bounds: "
                              << bindings.error().message;
  return success();
}

namespace {
struct VerifyCall : ck::impl::CKVerifyCallBase<VerifyCall> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(verifyModule(getOperation())))
      signalPassFailure();
  }

  LogicalResult verifyModule(ModuleOp module) {
    NumericsClass limit = numericsLimit(module);
    for (auto provider : module.getOps<ProviderOp>()) {
      if (provider.getDigest().empty())
        return provider.emitOpError("has no digest of its kernel map");
      if (*parseNumericsClass(provider.getNumerics().str()) > limit)
        return provider.emitOpError() << "has numerics class " << provider.getNumerics()
                                      << ", which is not within the module's " << StringRef(toString(limit));
    }
    ContractCache contracts(module);
    for (func::FuncOp entry : entriesOf(module)) {
      for (Operation &op : entry.getBody().front())
        if (failed(verifyForm(op)))
          return failure();
      FailureOr<BoundedShapes> shapes = BoundedShapes::compute(entry);
      if (failed(shapes))
        return failure();
      for (auto call : entry.getOps<CallOp>())
        if (failed(verifyCall(call, *contracts.find(call.getCalleeAttr()), *shapes)))
          return failure();
    }
    return success();
  }
};
} // namespace
