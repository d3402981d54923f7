//===- Interpreter.cpp - runs entries of GRAPH on the references ----------===//
#include "Interpreter.h"

#include "ChooseProvider.h"

using namespace mlir;
using namespace ck;
using reference::Tensor;

static std::string rootName(ParamOp param) {
  auto buffer = SymbolTable::lookupNearestSymbolFrom<BufferOp>(param, param.getBufferAttr());
  return buffer.getRoot().getSymName().str();
}

std::map<std::string, RankedTensorType> ck::operandTypes(func::FuncOp entry) {
  std::map<std::string, RankedTensorType> types;
  for (BlockArgument argument : entry.getArguments())
    types[entry.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "ck.input").str()] =
        cast<RankedTensorType>(argument.getType());
  for (auto buffer : entry->getParentOfType<ModuleOp>().getOps<BufferOp>())
    if (!buffer.getAlias())
      types[buffer.getSymName().str()] = buffer.getTensorType();
  return types;
}

/// The shape that a reference sees: the leading dims of a `...` operand are one.
static std::vector<int64_t> referenceShape(const SigOperand &operand, Type type) {
  auto shape = cast<RankedTensorType>(type).getShape();
  if (!operand.leadingDims)
    return shape.vec();
  size_t leading = shape.size() - (operand.dims.size() - 1);
  std::vector<int64_t> flat = {1};
  for (int64_t extent : shape.take_front(leading))
    flat[0] *= extent;
  flat.insert(flat.end(), shape.begin() + leading, shape.end());
  return flat;
}

static Status run(SignatureOpInterface op, llvm::DenseMap<Value, Tensor> &values) {
  auto signature = parseSignature(op.getSignatureText());
  std::string name = op->getName().stripDialect().str();
  const reference::Operation *operation = reference::findOperation(name);
  if (!operation)
    return Error{"no reference of " + name};
  reference::Call call;
  for (const auto &[attr, value] : describeOp(op, *signature).attrs)
    if (attr.rfind("save", 0) != 0) // What is saved, the results say.
      call.attrs[attr] = value;
  for (auto [operand, value] : llvm::zip(signature->inputs, op.getSignatureOperands()))
    if (value) {
      Tensor tensor = values[value];
      tensor.shape = referenceShape(operand, value.getType());
      call.inputs[operand.name] = tensor;
    }
  for (auto [operand, value] : llvm::zip(signature->outputs, op->getResults())) {
    Tensor tensor = Tensor::zeros(referenceShape(operand, value.getType()));
    if (auto updated = call.inputs.find(operand.name); updated != call.inputs.end())
      tensor = updated->second;
    call.outputs[operand.name] = tensor;
  }
  if (Status status = reference::evaluate(*operation, call); !status)
    return status;
  for (auto [operand, value] : llvm::zip(signature->outputs, op->getResults()))
    values[value] = call.outputs[operand.name];
  return Status::success();
}

/// Runs all ops of a block; the operands of the last one are what it gives.
static Status runBlock(Block &block, const NamedTensors &inputs, llvm::DenseMap<Value, Tensor> &values) {
  for (Operation &op : block.without_terminator()) {
    Status status = Status::success();
    if (auto param = dyn_cast<ParamOp>(op)) {
      values[param.getResult()] = inputs.at(rootName(param));
    } else if (auto fused = dyn_cast<FusedOp>(op)) {
      Block &body = fused.getBody().front();
      for (auto [argument, input] : llvm::zip(body.getArguments(), fused.getInputs()))
        values[argument] = Tensor(values[input]);
      status = runBlock(body, inputs, values);
      for (auto [result, value] : llvm::zip(fused.getResults(), body.getTerminator()->getOperands()))
        values[result] = Tensor(values[value]);
    } else {
      status = run(cast<SignatureOpInterface>(op), values);
    }
    if (!status)
      return Error{op.getName().getStringRef().str() + ": " + status.error().message};
  }
  return Status::success();
}

Result<NamedTensors> ck::interpret(func::FuncOp entry, const NamedTensors &inputs) {
  llvm::DenseMap<Value, Tensor> values;
  for (BlockArgument argument : entry.getArguments()) {
    auto name = entry.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "ck.input");
    auto found = inputs.find(name.str());
    if (found == inputs.end())
      return Error{"no value for input " + name.str()};
    values[argument] = found->second;
  }
  Block &block = entry.getBody().front();
  if (Status status = runBlock(block, inputs, values); !status)
    return status.error();
  NamedTensors outputs;
  for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands()))
    outputs[entry.getResultAttrOfType<StringAttr>(i, "ck.output").str()] = values[value];
  return outputs;
}
