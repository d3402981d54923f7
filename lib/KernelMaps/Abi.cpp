//===- Abi.cpp - the layout of a kernel's arguments -----------------------===//
//
// The one place that fixes the order of slots; the header generator, the lowerings and the executor all ask here. And
// what both sides of a call must agree on.
//
//===----------------------------------------------------------------------===//
#include "ck/KernelMaps/KernelMap.h"
#include "ck/Support/Sha256.h"

#include <algorithm>
#include <set>

namespace ck {

std::vector<AbiSlot> abiSlots(const Contract &contract) {
  const Signature &signature = contract.signature;
  std::vector<AbiSlot> slots;
  auto add = [&](AbiSlot::Kind kind, const std::string &name) -> AbiSlot & {
    AbiSlot slot;
    slot.kind = kind;
    slot.name = name;
    slots.push_back(std::move(slot));
    return slots.back();
  };

  std::vector<const SigOperand *> operands;
  for (const SigOperand &input : signature.inputs) {
    operands.push_back(&input);
    add(AbiSlot::Kind::Operand, input.name).isConst = !signature.isUpdated(input.name);
  }
  for (const SigOperand &output : signature.outputs)
    if (!signature.findInput(output.name)) {
      operands.push_back(&output);
      add(AbiSlot::Kind::Operand, output.name);
    }
  for (const ScratchDecl &scratch : contract.scratch)
    if (!scratch.perThread)
      add(AbiSlot::Kind::Scratch, scratch.name);

  std::vector<std::string> dims = signature.dimNames();
  for (const WhereClause &clause : contract.where)
    if (clause.value && std::find(dims.begin(), dims.end(), clause.name) == dims.end())
      dims.push_back(clause.name);
  for (const std::string &dim : dims)
    add(AbiSlot::Kind::Dim, dim);

  for (const SigOperand *operand : operands)
    for (size_t axis = 0; axis < operand->strides.size(); ++axis)
      if (!operand->strides[axis]) {
        AbiSlot &slot = add(AbiSlot::Kind::Stride, operand->name + "_stride" + std::to_string(axis));
        slot.operand = operand->name;
        slot.axis = static_cast<int>(axis);
      }
  for (const ParamDecl &param : contract.params)
    add(AbiSlot::Kind::Param, param.name).isDouble = param.kind == ParamDecl::Kind::F64;
  return slots;
}

std::vector<std::string> attributeNames(const Contract &contract) {
  std::vector<std::string> names;
  for (const auto *side : {&contract.signature.inputs, &contract.signature.outputs})
    for (const SigOperand &operand : *side) {
      for (const Expr &dim : operand.dims)
        dim.collectNames(names);
      for (const std::optional<Expr> &stride : operand.strides)
        if (stride)
          stride->collectNames(names);
    }
  for (const WhereClause &clause : contract.where)
    if (clause.value)
      clause.value->collectNames(names);
  for (const ScratchDecl &scratch : contract.scratch)
    scratch.elements.collectNames(names);
  std::set<std::string> attributes;
  for (const std::string &name : names)
    if (name[0] == '$')
      attributes.insert(name.substr(1));
  return {attributes.begin(), attributes.end()};
}

std::string callDigest(const Contract &contract, const std::string &mapDigest) {
  std::string text = mapDigest + "\n" + contract.id + "\n" + contract.signature.str() + "\n";
  for (const WhereClause &clause : contract.where)
    text += "where " + clause.str() + "\n";
  for (const ParamDecl &param : contract.params)
    text += "param " + param.str() + "\n";
  for (const ScratchDecl &scratch : contract.scratch)
    text += "scratch " + scratch.str() + "\n";
  for (const auto &[input, output] : contract.inplace)
    text += "inplace " + input + "=" + output + "\n";
  return sha256(text);
}

} // namespace ck
