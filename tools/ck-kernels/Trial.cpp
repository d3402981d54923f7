//===- Trial.cpp - the numbers and the memory of one trial ----------------===//
//
// What happens before the call; TrialRun.cpp has the call and what is checked after it.
//
//===----------------------------------------------------------------------===//
#include "Trial.h"

#include "Blocks.h"
#include "Contracts.h"
#include "ck/KernelMaps/DType.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ck::check {

using reference::Call;
using reference::Random;
using reference::Tensor;

std::string_view toString(Variant variant) {
  switch (variant) {
  case Variant::Plain:
    return "plain";
  case Variant::NonFinite:
    return "with NaN and infinities";
  case Variant::InPlace:
    return "in place";
  case Variant::Spoiled:
    return "with a value that breaks the contract";
  case Variant::Misfit:
    return "with extents that break the contract";
  }
  return "";
}

Trial::Trial(const Subject &subject, const GeometryDrawer &drawer, const Geometry &geometry)
    : subject(subject), drawer(drawer), geometry(geometry) {}

static std::string elementType(const SigOperand &operand, const Geometry &geometry) {
  return operand.dtype[0] == '$' ? geometry.dtypes.at(operand.dtype) : operand.dtype;
}

Status Trial::makeOperands(Variant variant) {
  operands.clear();
  const Signature &signature = subject.map.contract.signature;
  auto find = [&](const std::string &name) {
    for (size_t i = 0; i < operands.size(); ++i)
      if (operands[i].name == name)
        return static_cast<int>(i);
    return -1;
  };
  for (const auto *list : {&signature.inputs, &signature.outputs})
    for (const SigOperand &spec : *list) {
      if (!geometry.present.count(spec.name))
        continue;
      int known = find(spec.name);
      if (known < 0) {
        Operand operand;
        operand.name = spec.name;
        operand.opName = drawer.opName(spec.name);
        operand.dtype = elementType(spec, geometry);
        operand.element = findElement(operand.dtype);
        const std::string packed = reference::packedStorage(operand.dtype);
        operand.blocks = packed.empty() ? operand.dtype : packed;
        if (operand.element)
          operand.blocks.clear();
        else if (reference::blockSize(operand.blocks).bytes == 0)
          return Error{"the checker makes no values of type " + operand.dtype};
        operand.layout = geometry.layouts.at(spec.name);
        operands.push_back(std::move(operand));
        known = static_cast<int>(operands.size()) - 1;
      }
      operands[known].spec = &spec; // of an updated operand, the output's: it has the flags
      (list == &signature.inputs ? operands[known].isInput : operands[known].isOutput) = true;
    }
  if (variant != Variant::InPlace)
    return Status::success();
  for (const auto &[input, output] : subject.map.contract.inplace) {
    int from = find(input), to = find(output);
    if (from >= 0 && to >= 0 && operands[from].layout.strides == operands[to].layout.strides &&
        operands[from].layout.shape == operands[to].layout.shape)
      operands[to].home = from;
  }
  return Status::success();
}

namespace {

/// Random numbers in [-2, 2]: of all bits, or, in half of the geometries, such that rounding is a close call, as random
/// bits almost never make it. Those are odd and even multiples of half a unit: of 8-bit codes whose largest is in each
/// 32 numbers, or of the last place of bf16 or f16. Equal numbers come up in them as well.
class Numbers {
public:
  Numbers(int index, Random &random) : form(static_cast<Form>(index % 4)) {
    if (form == Form::Codes)
      unit = static_cast<double>(static_cast<float>(random.uniform(1, 2))) / 127;
  }
  double next(int64_t i, Random &random) const {
    if (form == Form::Codes)
      return (i % 32 == 7 ? 254 : static_cast<double>(random.below(2 * 254 + 1) - 254)) * unit / 2;
    if (form == Form::Halves && i % 2)
      return static_cast<double>(random.below(2 * 511 + 1) - 511) * 0x1p-8;
    if (form == Form::Halves)
      return static_cast<double>(random.below(2 * 4095 + 1) - 4095) * 0x1p-11;
    return random.uniform(-2, 2);
  }

private:
  enum class Form { All, Codes, AllAgain, Halves };
  Form form;
  double unit = 0;
};

} // namespace

Status Trial::makeCall(Call &call, Random &random, double magnitude) const {
  call = Call();
  for (const auto &[name, value] : geometry.attrs)
    call.attrs[name] = value;
  for (const Operand &operand : operands) {
    Tensor tensor = Tensor::zeros(operand.layout.shape);
    tensor.dtype = operand.dtype;
    if (operand.isInput && !operand.element) {
      const reference::BlockSize size = reference::blockSize(operand.blocks);
      tensor.bytes.resize(static_cast<size_t>(tensor.elements() / size.elements * size.bytes));
      for (size_t at = 0; at < tensor.bytes.size(); at += static_cast<size_t>(size.bytes))
        reference::makeBlock(operand.blocks, random, magnitude, tensor.bytes.data() + at);
      tensor.data = reference::decodeBlocks(operand.blocks, tensor.bytes, tensor.elements());
      call.inputs[operand.opName] = tensor;
    } else if (operand.isInput) {
      // Numbers of few bits may cancel in one precision and not in another, which infinity would turn into NaN.
      const Numbers numbers(notFinite ? 0 : geometry.index, random);
      for (int64_t i = 0; i < tensor.elements(); ++i) {
        if (!operand.element->isFloat)
          tensor.data[i] = rounded(*operand.element, static_cast<double>(random.below(100)));
        else if (random.below(16) != 0) // some exact zeros, of both signs
          tensor.data[i] = rounded(*operand.element, numbers.next(i, random) * magnitude);
        else if (i % 2)
          tensor.data[i] = -0.0;
      }
      call.inputs[operand.opName] = tensor;
    }
    if (operand.isOutput)
      call.outputs[operand.opName] = std::move(tensor);
  }
  if (subject.operation.prepare && !subject.operation.prepare(call, random))
    return Error{"the operation has no valid inputs at these extents", "REJECTED"};
  for (const Operand &operand : operands)
    if (operand.isInput && operand.isOutput)
      call.outputs[operand.opName] = call.inputs[operand.opName];
  return Status::success();
}

bool Trial::plantNonFinite(Random &random) {
  std::vector<Tensor *> candidates;
  for (const Operand &operand : operands)
    if (operand.isInput && (!operand.element || operand.element->isFloat) && operand.layout.elements() > 0)
      candidates.push_back(&call.inputs[operand.opName]);
  if (candidates.empty())
    return false;
  const double values[] = {std::nan("0x5a5a5a5a5a5a5"), INFINITY, -INFINITY}; // a NaN that tells copies from others
  for (int64_t i = 0, count = 1 + random.below(4); i < count; ++i) {
    Tensor &tensor = *candidates[random.below(static_cast<int64_t>(candidates.size()))];
    const double value = values[random.below(3)];
    const int64_t at = random.below(tensor.elements());
    if (tensor.bytes.empty()) {
      tensor.data[at] = value;
      continue;
    }
    const std::string packed = reference::packedStorage(tensor.dtype);
    const std::string &blocks = packed.empty() ? tensor.dtype : packed;
    const reference::BlockSize size = reference::blockSize(blocks);
    // An infinite factor is worth what a sum of codes makes of it, which is no sum of elements.
    reference::spoilBlock(blocks, NAN, tensor.bytes.data() + at / size.elements * size.bytes);
    tensor.data = reference::decodeBlocks(blocks, tensor.bytes, tensor.elements());
  }
  for (const Operand &operand : operands)
    if (operand.isInput && operand.isOutput)
      call.outputs[operand.opName] = call.inputs[operand.opName];
  return true;
}

Status Trial::evaluate() {
  Status status = reference::evaluate(subject.operation, call);
  mustFail = !status && status.error().code == "INVALID_ARGUMENT";
  if (!status && !mustFail)
    return Error{status.error().message, "REJECTED"};
  exact.reset();
  if (!mustFail && !subject.map.bits.empty()) {
    const reference::Contract *contract = reference::findContract(subject.map.bits);
    if (!contract)
      return Error{"numerics.bits names '" + subject.map.bits + "', which is no exact reference"};
    // What is added to is an operand of the exact sum as well.
    Call copy = call;
    for (const auto &[name, start] : initial)
      copy.inputs[drawer.opName(name)] = start;
    contract->evaluate(copy);
    exact = std::move(copy);
  }
  for (const auto &[name, start] : initial)
    for (int64_t i = 0; i < start.elements(); ++i)
      call.outputs[drawer.opName(name)].data[i] += start.data[i];
  return Status::success();
}

Result<bool> Trial::prepare(Variant variant) {
  if (Status status = makeOperands(variant); !status)
    return status.error();
  notFinite = variant == Variant::NonFinite;
  Random random(geometry.seed);
  // Away from 1 a product may be 0 in one precision and not in another, which infinity would turn into NaN.
  magnitude = variant == Variant::NonFinite ? 1 : geometry.magnitude;
  scales.clear();
  const bool misfit = variant == Variant::Misfit;
  if (Status status = makeCall(call, random, magnitude); !status)
    return status.error();
  initial.clear();
  for (const Operand &operand : operands)
    // What is an operand as well is there already, and its reference adds to it.
    if (operand.isOutput && !operand.isInput && operand.spec->accumulates) {
      Tensor &start = initial[operand.name] = Tensor::zeros(operand.layout.shape);
      for (double &value : start.data)
        value = rounded(*operand.element, random.uniform(-2, 2));
    }
  bool applies = true;
  if (variant == Variant::NonFinite)
    applies = plantNonFinite(random);
  else if (variant == Variant::InPlace) {
    applies = false;
    for (const Operand &operand : operands)
      applies |= operand.home >= 0;
  } else if (variant == Variant::Spoiled)
    applies = subject.operation.spoil && subject.operation.spoil(call, random);
  if (!applies)
    return false;
  if (Status status = evaluate(); !status)
    return status.error();
  // Over no rows at all, or of numbers that are not finite, an operation may be undefined: the kernel has to say so.
  bool undefined = mustFail && (geometry.hasZero || variant == Variant::NonFinite);
  if (misfit && !mustFail)
    return false;
  if (mustFail != (variant == Variant::Spoiled || misfit) && !undefined)
    return mustFail ? Error{"the reference refuses inputs that should be valid"}
                    : Error{"the reference accepts inputs that should break the contract"};
  if (Status status = makeMemory(); !status)
    return status.error();
  if (Status status = makeSlots(); !status)
    return status.error();
  firstOutputs.clear();
  return true;
}

Status Trial::prepareCall() {
  if (Status status = makeOperands(Variant::Plain); !status)
    return status;
  Random random(geometry.seed);
  magnitude = 1;
  initial.clear();
  if (Status status = makeCall(call, random, magnitude); !status)
    return status;
  if (Status status = makeMemory(); !status)
    return status;
  if (Status status = makeSlots(); !status)
    return status;
  for (Operand &operand : operands)
    std::copy(operand.image.begin(), operand.image.end(), operand.buffer->data());
  return Status::success();
}

Result<int64_t> Trial::evaluateSize(const Expr &expr) const {
  Result<int64_t> value = expr.evaluate([&](const std::string &name) { return geometry.lookup(name); });
  if (value && (*value < 0 || *value > (int64_t(1) << 30)))
    return Error{expr.str() + " = " + std::to_string(*value) + " is no size"};
  return value;
}

Status Trial::makeMemory() {
  bool fence = geometry.index % 2 == 1 && !geometry.aligned;
  size_t shift = 1 + static_cast<size_t>(geometry.index) % 13;
  for (Operand &operand : operands) {
    if (operand.home >= 0)
      continue;
    if (!operand.element) {
      const reference::BlockSize size = reference::blockSize(operand.blocks);
      const Tensor *values = operand.isInput ? &call.inputs[operand.opName] : nullptr;
      const std::vector<int64_t> &shape = operand.layout.shape;
      const bool packed = operand.blocks != operand.dtype;
      const int64_t k = shape.back(), rows = k ? operand.layout.elements() / k : 0;
      operand.image.resize(
          static_cast<size_t>((packed ? (rows + 15) / 16 * 16 : rows) * (k / size.elements) * size.bytes));
      fillPattern(operand.image.data(), operand.image.size());
      if (values)
        operand.image = packed ? reference::packRows(operand.blocks, rows, k, values->bytes) : values->bytes;
      // Blocks may lie at any even address; packed weights are buffers of their own, which start at a cache line.
      operand.buffer =
          std::make_unique<GuardedBuffer>(operand.image.size(), packed || geometry.aligned ? 0 : 2 * (2 * shift - 1),
                                          fence && (!packed || operand.image.size() % 64 == 0));
      shift = shift % 13 + 1;
      if (!operand.buffer->data())
        return Error{"out of memory"};
      continue;
    }
    const size_t width = static_cast<size_t>(operand.element->bytes);
    size_t bytes = static_cast<size_t>(operand.layout.span()) * width;
    // Aligned to the element, but never to more.
    operand.buffer = std::make_unique<GuardedBuffer>(bytes, geometry.aligned ? 0 : width * (2 * shift - 1), fence);
    if (!operand.buffer->data())
      return Error{"out of memory"};
    shift = shift % 13 + 1;
    operand.image.resize(bytes);
    fillPattern(operand.image.data(), bytes);
    const Tensor *values = operand.isInput ? &call.inputs[operand.opName] : nullptr;
    if (auto start = initial.find(operand.name); start != initial.end())
      values = &start->second;
    for (int64_t i = 0; values && i < values->elements(); ++i)
      store(*operand.element, values->data[i], operand.image.data() + operand.layout.position(i) * width);
    operand.gaps.clear();
    if (operand.layout.span() == operand.layout.elements())
      continue;
    std::vector<bool> used(bytes, false);
    for (int64_t i = 0; i < operand.layout.elements(); ++i)
      std::fill_n(used.begin() + operand.layout.position(i) * static_cast<int64_t>(width), width, true);
    for (size_t i = 0; i < bytes; ++i)
      if (!used[i])
        operand.gaps.push_back(i);
  }
  scratch.clear();
  threadScratch = 0;
  for (const ScratchDecl &decl : subject.map.contract.scratch) {
    Result<int64_t> elements = evaluateSize(decl.elements);
    if (!elements)
      return elements.error();
    Result<int64_t> bytes = storageBytes(decl.dtype, {*elements});
    if (!bytes)
      return bytes.error();
    if (!decl.perThread)
      scratch.push_back(std::make_unique<GuardedBuffer>(static_cast<size_t>(*bytes), 0, false));
  }
  return Status::success();
}

Status Trial::makeSlots() {
  slots.clear();
  size_t nextScratch = 0;
  for (const AbiSlot &slot : abiSlots(subject.map.contract)) {
    uint64_t word = 0;
    auto find = [&](const std::string &name) -> Operand * {
      for (Operand &operand : operands)
        if (operand.name == name)
          return &operand;
      return nullptr;
    };
    switch (slot.kind) {
    case AbiSlot::Kind::Operand:
      if (Operand *operand = find(slot.name))
        word = reinterpret_cast<uint64_t>(home(*operand).buffer->data());
      break;
    case AbiSlot::Kind::Scratch:
      if (nextScratch == scratch.size() || !scratch[nextScratch]->data())
        return Error{"no memory for the scratch " + slot.name};
      word = reinterpret_cast<uint64_t>(scratch[nextScratch++]->data());
      break;
    case AbiSlot::Kind::Dim: {
      auto dim = geometry.dims.find(slot.name);
      if (dim == geometry.dims.end())
        return Error{"dim " + slot.name + " has no value"};
      word = static_cast<uint64_t>(dim->second);
      break;
    }
    case AbiSlot::Kind::Stride:
      if (Operand *operand = find(slot.operand))
        word = static_cast<uint64_t>(operand->layout.strides[static_cast<size_t>(slot.axis)]);
      break;
    case AbiSlot::Kind::Param: {
      const Param &value = geometry.params.at(slot.name);
      if (slot.isDouble) {
        double number = std::holds_alternative<int64_t>(value) ? static_cast<double>(std::get<int64_t>(value))
                                                               : std::get<double>(value);
        std::memcpy(&word, &number, sizeof(word));
      } else if (const std::string *choice = std::get_if<std::string>(&value)) {
        for (const ParamDecl &param : subject.map.contract.params)
          for (size_t i = 0; param.name == slot.name && i < param.values.size(); ++i)
            if (param.values[i] == *choice)
              word = i;
      } else {
        word = std::holds_alternative<bool>(value) ? std::get<bool>(value)
                                                   : static_cast<uint64_t>(std::get<int64_t>(value));
      }
      break;
    }
    }
    slots.push_back(word);
  }
  return Status::success();
}

} // namespace ck::check
