//===- GoldenRun.cpp - operations called through their providers ----------===//

#include "GoldenRun.h"

#include "Blocks.h"
#include "Elements.h"
#include "ck/KernelMaps/DType.h"

#include <algorithm>
#include <cstring>

namespace ck::golden {

using reference::Tensor;

/// One side of the operation as matching sees it. Operand names are all that its own signature contributes.
static void describeSide(const std::map<std::string, Value> &values, std::vector<SigOperand> &signature,
                         std::vector<ActualOperand> &actuals) {
  for (const auto &[name, value] : values) {
    SigOperand operand;
    operand.name = name;
    operand.dtype = value.dtype;
    signature.push_back(std::move(operand));
    actuals.push_back({true, value.tensor.shape, value.dtype});
  }
}

namespace {

/// A provider that may stand for the call.
struct Choice {
  const KernelMap *map = nullptr;
  Match match;
  int64_t cost = 0;
};

/// Memory that stays where it is when it is moved.
using Block = std::vector<uint64_t>;

/// The memory of one call, in the order of its slots.
class Memory {
public:
  Memory(const Choice &choice, OpCall &call) : choice(choice), call(call) {}

  /// Fills the slots; operands get their own memory.
  Status make();
  std::vector<uint64_t> &arguments() { return slots; }
  /// Takes the results out of the memory.
  void readResults();

private:
  struct Operand {
    Block bytes;
    const check::Element *element = nullptr;
  };
  Value *find(const std::string &name, bool isInput) {
    auto &side = isInput ? call.inputs : call.outputs;
    auto renamed = choice.match.implements->bind.find(name);
    auto value = side.find(renamed == choice.match.implements->bind.end() ? name : renamed->second);
    return value == side.end() ? nullptr : &value->second;
  }
  Result<uint64_t> operandSlot(const std::string &name);
  Result<uint64_t> scratchSlot(const std::string &name);
  uint64_t paramSlot(const AbiSlot &slot) const;
  Result<int64_t> lookup(const std::string &name) const {
    return choice.match.bindings.lookup(choice.match.names)(name);
  }

  const Choice &choice;
  OpCall &call;
  std::map<std::string, Operand> operands;
  std::vector<Block> scratch;
  std::vector<uint64_t> slots;
};

} // namespace

/// Kernels may count on 64 bytes for scratch.
static Block allocate(int64_t bytes) { return Block(static_cast<size_t>(bytes) / sizeof(uint64_t) + 9); }

static uint64_t aligned(const Block &block) { return (reinterpret_cast<uint64_t>(block.data()) + 63) / 64 * 64; }

Result<uint64_t> Memory::operandSlot(const std::string &name) {
  Value *input = find(name, true), *output = find(name, false), *any = input ? input : output;
  if (!any)
    return uint64_t(0);
  Operand &operand = operands[name];
  operand.element = check::findElement(any->dtype);
  int64_t count = any->tensor.elements();
  if (!operand.element) {
    Result<int64_t> bytes = storageBytes(any->dtype, any->tensor.shape);
    if (!bytes)
      return Error{name + ": " + bytes.error().message};
    operand.bytes = allocate(*bytes);
    if (input)
      std::memcpy(reinterpret_cast<void *>(aligned(operand.bytes)), input->tensor.bytes.data(),
                  std::min(input->tensor.bytes.size(), static_cast<size_t>(*bytes)));
    return aligned(operand.bytes);
  }
  operand.bytes = allocate(count * operand.element->bytes);
  uint8_t *data = reinterpret_cast<uint8_t *>(aligned(operand.bytes));
  for (int64_t i = 0; input && i < count; ++i)
    check::store(*operand.element, input->tensor.data[static_cast<size_t>(i)], data + i * operand.element->bytes);
  return aligned(operand.bytes);
}

Result<uint64_t> Memory::scratchSlot(const std::string &name) {
  for (const ScratchDecl &decl : choice.map->contract.scratch)
    if (decl.name == name) {
      Result<int64_t> bytes = decl.bytes([&](const std::string &symbol) { return lookup(symbol); });
      if (!bytes)
        return bytes.error();
      if (*bytes < 0)
        return Error{"scratch " + name + " has no size"};
      scratch.push_back(allocate(*bytes));
      return aligned(scratch.back());
    }
  return Error{"there is no scratch " + name};
}

uint64_t Memory::paramSlot(const AbiSlot &slot) const {
  const Param &value = choice.match.params.at(slot.name);
  uint64_t word = 0;
  if (slot.isDouble) {
    double number = std::get<double>(value);
    std::memcpy(&word, &number, sizeof(word));
  } else if (const std::string *name = std::get_if<std::string>(&value)) {
    for (const ParamDecl &param : choice.map->contract.params)
      if (param.name == slot.name)
        word = static_cast<uint64_t>(std::find(param.values.begin(), param.values.end(), *name) - param.values.begin());
  } else if (const bool *flag = std::get_if<bool>(&value)) {
    word = *flag;
  } else {
    word = static_cast<uint64_t>(std::get<int64_t>(value));
  }
  return word;
}

Status Memory::make() {
  for (const AbiSlot &slot : abiSlots(choice.map->contract)) {
    Result<uint64_t> word = uint64_t(0);
    switch (slot.kind) {
    case AbiSlot::Kind::Operand:
      word = operandSlot(slot.name);
      break;
    case AbiSlot::Kind::Scratch:
      word = scratchSlot(slot.name);
      break;
    case AbiSlot::Kind::Dim: {
      Result<int64_t> extent = choice.match.bindings.extent(slot.name);
      word = extent ? Result<uint64_t>(static_cast<uint64_t>(*extent)) : Result<uint64_t>(extent.error());
      break;
    }
    case AbiSlot::Kind::Stride: {
      Value *value = find(slot.operand, true);
      if (!value)
        value = find(slot.operand, false);
      int64_t stride = 1;
      for (size_t axis = static_cast<size_t>(slot.axis) + 1; value && axis < value->tensor.shape.size(); ++axis)
        stride *= value->tensor.shape[axis];
      word = static_cast<uint64_t>(stride);
      break;
    }
    case AbiSlot::Kind::Param:
      word = paramSlot(slot);
      break;
    }
    if (!word)
      return word.error();
    slots.push_back(*word);
  }
  return Status::success();
}

void Memory::readResults() {
  for (auto &[name, operand] : operands)
    if (Value *output = find(name, false)) {
      const uint8_t *data = reinterpret_cast<const uint8_t *>(aligned(operand.bytes));
      if (!operand.element) {
        reference::Tensor &tensor = output->tensor;
        const reference::BlockSize size = reference::blockSize(output->dtype);
        tensor.bytes.assign(data, data + tensor.elements() / size.elements * size.bytes);
        tensor.data = reference::decodeBlocks(output->dtype, tensor.bytes, tensor.elements());
        continue;
      }
      for (size_t i = 0; i < output->tensor.data.size(); ++i)
        output->tensor.data[i] = check::load(*operand.element, data + i * static_cast<size_t>(operand.element->bytes));
    }
}

/// The cheapest provider that fits, or the one that is asked for.
static Result<Choice> choose(const std::vector<KernelMap> &maps, const OpDescription &op, const std::string &asked) {
  Choice best;
  std::string reasons, tie;
  for (const KernelMap &map : maps) {
    if (std::none_of(map.implements.begin(), map.implements.end(),
                     [&](const Implements &implements) { return implements.op == op.name; }))
      continue;
    if (!asked.empty() && map.id() != asked)
      continue;
    Result<Match> match = map.sameAs.empty() ? matchProvider(map, op) : Result<Match>(Error{"it is a twin"});
    if (!match) {
      reasons += "\n  " + map.id() + ": " + match.error().message;
      continue;
    }
    Result<int64_t> cost =
        costAtBounds(map, op, *match, [](bool, int, int) -> Result<int64_t> { return Error{"every extent is known"}; });
    if (!cost)
      return cost.error();
    if (best.map && best.cost == *cost)
      tie = map.id();
    if (best.map && best.cost <= *cost)
      continue;
    tie.clear();
    best = {&map, std::move(*match), *cost};
  }
  if (!best.map)
    return Error{"no provider of " + op.name + " fits" + (reasons.empty() ? "" : ":") + reasons};
  if (!tie.empty())
    return Error{op.name + ": " + best.map->id() + " and " + tie + " cost the same"};
  return best;
}

Result<std::string> callProvider(const std::vector<KernelMap> &maps, ck_context *ctx, OpCall &call) {
  const reference::Operation *operation = reference::findOperation(call.op);
  if (!operation)
    return Error{"there is no reference of " + call.op};
  OpDescription op;
  op.name = call.op;
  op.attrs = call.attrs;
  op.defaults = operation->defaults;
  describeSide(call.inputs, op.signature.inputs, op.inputs);
  describeSide(call.outputs, op.signature.outputs, op.outputs);
  Result<Choice> choice = choose(maps, op, call.provider);
  if (!choice)
    return choice.error();
  const std::string &id = choice->map->id();
  const ck_kernel *kernel = ck_find_kernel(id.c_str());
  if (!kernel)
    return Error{"the registry has no kernel " + id};
  Memory memory(*choice, call);
  if (Status status = memory.make(); !status)
    return Error{id + ": " + status.error().message};
  int64_t scratch = kernel->thread_scratch ? kernel->thread_scratch(memory.arguments().data()) : 0;
  if (scratch > 0 && ck_context_reserve_thread_scratch(ctx, static_cast<size_t>(scratch)) != CK_OK)
    return Error{ck_context_error(ctx)};
  if (kernel->call(ctx, memory.arguments().data()) != CK_OK)
    return Error{ck_context_error(ctx)};
  memory.readResults();
  return id;
}

} // namespace ck::golden
