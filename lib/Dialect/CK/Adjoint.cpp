//===- Adjoint.cpp - what an op is given to build its adjoint -------------===//
#include "ck/Dialect/CK/Adjoint.h"

#include "ck/Dialect/CK/CKDialect.h"
#include "ck/Dialect/CK/Names.h"

using namespace mlir;
using namespace ck;

Adjoint::Adjoint(OpBuilder &builder, SignatureOpInterface op, ArrayRef<Value> cotangents, ArrayRef<bool> needed)
    : builder(builder), op(op), cotangents(cotangents), needed(needed), gradients(op->getNumOperands()) {
  Result<Signature> signature = parseSignature(op.getSignatureText());
  if (!signature)
    return;
  int next = 0; // Operands of the op are the present ones of the signature, in order.
  for (auto [input, value] : llvm::zip(signature->inputs, op.getSignatureOperands()))
    if (value)
      numbers[input.name] = next++;
}

int Adjoint::indexOf(StringRef name) const {
  auto found = numbers.find(name.str());
  return found == numbers.end() ? -1 : found->second;
}

Value Adjoint::cotangentOrZero(unsigned index) {
  if (cotangents[index])
    return cotangents[index];
  Value like = op->getResult(index);
  Type type = cast<RankedTensorType>(like.getType()).clone(builder.getF32Type());
  return FillOp::create(builder, nameResults(op->getLoc(), {"d_" + valueName(like)}), type, like, llvm::APFloat(0.0));
}

bool Adjoint::needs(StringRef name) const {
  int index = indexOf(name);
  return index >= 0 && needed[index];
}

Value Adjoint::operand(StringRef name) const {
  int index = indexOf(name);
  return index < 0 ? Value() : op->getOperand(index);
}

void Adjoint::give(StringRef name, Value gradient) {
  if (needs(name))
    gradients[indexOf(name)] = gradient;
}

void Adjoint::give(ArrayRef<StringRef> names, ValueRange values) {
  for (auto [name, value] : llvm::zip(names, values))
    give(name, value);
}

SmallVector<StringRef> Adjoint::wanted(ArrayRef<StringRef> names) const {
  SmallVector<StringRef> found;
  for (StringRef name : names)
    if (needs(name))
      found.push_back(name);
  return found;
}

SmallVector<Type> Adjoint::types(ArrayRef<StringRef> names) const {
  SmallVector<Type> found;
  for (StringRef name : names)
    found.push_back(cast<RankedTensorType>(operand(name).getType()).clone(builder.getF32Type()));
  return found;
}

Location Adjoint::loc(ArrayRef<StringRef> names) const {
  SmallVector<std::string> list;
  for (StringRef name : names) {
    std::string known = valueName(operand(name));
    list.push_back(known.empty() ? "" : "d_" + known);
  }
  return nameResults(op->getLoc(), list);
}
