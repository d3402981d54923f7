//===- BufferizableOpInterfaceImpl.cpp - how ck ops bufferize -------------===//
#include "ck/Transforms/BufferizableOpInterfaceImpl.h"

#include "CallReads.h"
#include "Storage.h"

#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace ck;

namespace {

/// The position of `operand` among the destinations of its call, or -1. Analysis asks this all the time, so it does not
/// go through the mutable ranges of the destination-style interface.
static int64_t initIndex(OpOperand &operand) {
  auto call = cast<CallOp>(operand.getOwner());
  int64_t index = static_cast<int64_t>(operand.getOperandNumber()) - static_cast<int64_t>(call.getInputs().size());
  return index < static_cast<int64_t>(call.getInits().size()) ? index : -1;
}

struct CallModel : public BufferizableOpInterface::ExternalModel<CallModel, CallOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &state) const {
    auto call = cast<CallOp>(op);
    int64_t index = initIndex(operand);
    if (index < 0)
      return true;
    StringRef name = cast<StringAttr>(call.getInitNames()[index]).getValue();
    if (const auto *oneShot = dyn_cast<OneShotAnalysisState>(&state))
      if (const auto *reads = oneShot->getExtension<CallReads>())
        if (const Contract *contract = reads->contracts.find(call.getCalleeAttr()))
          return readsOutput(*contract, name);
    ProviderOp provider = call.getProvider();
    return !provider || readsOutput(provider.getContract(), name);
  }

  bool bufferizesToMemoryWrite(Operation *op, OpOperand &operand, const AnalysisState &state) const {
    return initIndex(operand) >= 0;
  }

  AliasingValueList getAliasingValues(Operation *op, OpOperand &operand, const AnalysisState &state) const {
    int64_t index = initIndex(operand);
    if (index < 0)
      return {};
    return {{op->getResult(index), BufferRelation::Equivalent}};
  }

  AliasingOpOperandList getAliasingOpOperands(Operation *op, Value value, const AnalysisState &state) const {
    unsigned index = cast<CallOp>(op).getInputs().size() + cast<OpResult>(value).getResultNumber();
    return {{&op->getOpOperand(index), BufferRelation::Equivalent}};
  }

  bool mustBufferizeInPlace(Operation *op, OpOperand &operand, const AnalysisState &state) const {
    return stateRoot(operand.get()) != nullptr;
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto call = cast<CallOp>(op);
    SmallVector<Value> inputs, inits;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<TensorType>(operand.get().getType()))
        continue;
      FailureOr<Value> buffer = getBuffer(rewriter, operand.get(), options, state);
      if (failed(buffer))
        return failure();
      auto type = dyn_cast<MemRefType>(buffer->getType());
      if (!type || !type.getLayout().isIdentity())
        return op->emitOpError() << "works on compact buffers, but an operand became " << buffer->getType();
      (initIndex(operand) >= 0 ? inits : inputs).push_back(*buffer);
    }
    rewriter.setInsertionPoint(op);
    auto buffered =
        CallOp::create(rewriter, op->getLoc(), TypeRange(), call.getCalleeAttr(), inputs, inits, call.getScratch(),
                       call.getSizes(), call.getInputNamesAttr(), call.getInitNamesAttr(), call.getSizeNamesAttr(),
                       call.getStaticSizesAttr(), call.getParamsAttr());
    buffered->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    replaceOpWithBufferizedValues(rewriter, op, inits);
    return success();
  }
};

struct ParamModel : public BufferizableOpInterface::ExternalModel<ParamModel, ParamOp> {
  bool isWritable(Operation *op, Value value, const AnalysisState &state) const { return false; }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto param = cast<ParamOp>(op);
    auto tensor = cast<RankedTensorType>(param.getType());
    auto type = MemRefType::get(tensor.getShape(), tensor.getElementType());
    replaceOpWithNewBufferizedOp<ParamOp>(rewriter, op, type, param.getBufferAttr());
    return success();
  }

  FailureOr<BufferLikeType> getBufferType(Operation *op, Value value, const BufferizationOptions &options,
                                          const BufferizationState &state, SmallVector<Value> &) const {
    auto tensor = cast<RankedTensorType>(value.getType());
    return cast<BufferLikeType>(MemRefType::get(tensor.getShape(), tensor.getElementType()));
  }
};

} // namespace

void ck::registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry) {
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(registry);
  registry.addExtension(+[](MLIRContext *context, CKDialect *) {
    CallOp::attachInterface<CallModel>(*context);
    ParamOp::attachInterface<ParamModel>(*context);
  });
}
