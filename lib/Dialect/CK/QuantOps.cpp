//===- QuantOps.cpp - rules and adjoints of changes of storage ------------===//
//
// Which types are blocks, which floats, and what they may become; and the types that projections multiply.
//
//===----------------------------------------------------------------------===//
#include "OpRules.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ck;

static Type elementTypeOf(Value value) { return cast<ShapedType>(value.getType()).getElementType(); }

static bool isPlainFloat(Type type) { return isa<FloatType>(type) && !dtypeName(type).empty(); }

/// A float that a projection takes.
static bool isOperandFloat(Type type) { return type.isF32() || type.isF16() || type.isBF16(); }

Type ck::activationType(Type elementType) {
  MLIRContext *context = elementType.getContext();
  return llvm::TypeSwitch<Type, Type>(elementType)
      .Case<Q4_0Type, Q5_0Type, Q8_0Type>([&](auto) { return Q8_0Type::get(context); })
      .Case<Q4_1Type, Q5_1Type>([&](auto) { return Q8_1Type::get(context); })
      .Case<Q4_KType, Q5_KType, Q6_KType>([&](auto) { return Q8_KType::get(context); })
      .Default([](Type) { return Type(); });
}

LogicalResult ck::verifyProjection(Operation *op, Value input, ArrayRef<std::pair<StringRef, Value>> weights) {
  Type inputType = elementTypeOf(input);
  if (!isOperandFloat(inputType) && !isa<Q8_0Type, Q8_1Type, Q8_KType>(inputType))
    return op->emitOpError() << "input: must be f32, f16, bf16 or a block type of activations (q8_0, q8_1, q8_k), got "
                             << input.getType();
  for (auto [name, weight] : weights)
    if (Type type = elementTypeOf(weight); !isOperandFloat(type) && !isa<StorageTypeInterface>(type))
      return op->emitOpError() << name << ": must be f32, f16, bf16, a block type or packed, got " << weight.getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult QuantizeOp::verify() {
  if (!isBlockType(elementTypeOf(getOutput())))
    return emitOpError() << "output: must be of a block type, got " << getOutput().getType();
  return success();
}

LogicalResult DequantizeOp::verify() {
  if (!isBlockType(elementTypeOf(getInput())))
    return emitOpError() << "input: must be of a block type, got " << getInput().getType();
  return success();
}

LogicalResult ConvertOp::verify() {
  for (auto [name, value] : {std::pair("input", Value(getInput())), std::pair("output", Value(getOutput()))})
    if (!isPlainFloat(elementTypeOf(value)))
      return emitOpError() << name << ": must be f64, f32, f16 or bf16, got " << value.getType();
  return success();
}

LogicalResult PackOp::verify() {
  if (Type type = elementTypeOf(getInput()); !isPlainFloat(type) && !isBlockType(type))
    return emitOpError() << "input: must be of floats or of a block type, got " << getInput().getType();
  return success();
}

OpFoldResult ConvertOp::fold(FoldAdaptor) { return getType() == getInput().getType() ? getInput() : Value(); }

//===----------------------------------------------------------------------===//
// Adjoints
//===----------------------------------------------------------------------===//

LogicalResult QuantizeOp::buildAdjoint(Adjoint &adjoint) {
  adjoint.give("input", adjoint.cotangent(0));
  return success();
}

LogicalResult DequantizeOp::buildAdjoint(Adjoint &adjoint) {
  adjoint.give("input", adjoint.cotangent(0));
  return success();
}

/// Cotangents are f32 whatever values are stored in.
LogicalResult ConvertOp::buildAdjoint(Adjoint &adjoint) {
  adjoint.give("input", adjoint.cotangent(0));
  return success();
}
