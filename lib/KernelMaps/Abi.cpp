//===- Abi.cpp - the layout of a kernel's arguments -----------------------===//
//
// The one place that fixes the order of slots; the header generator, the lowerings and the executor all ask here.
//
//===----------------------------------------------------------------------===//
#include "ck/KernelMaps/KernelMap.h"

#include <algorithm>

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

} // namespace ck
