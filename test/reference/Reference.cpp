//===- Reference.cpp - calls, attributes and the table of references ------===//

#include "Reference.h"

#include <algorithm>
#include <cmath>

namespace ck::reference {

Tensor Tensor::zeros(std::vector<int64_t> shape) {
  Tensor tensor;
  tensor.shape = std::move(shape);
  tensor.data.assign(tensor.elements(), 0.0);
  return tensor;
}

void Tensor::addsUp(double magnitudes) {
  if (std::isfinite(magnitudes))
    terms = std::max(terms, magnitudes);
}

int64_t Tensor::elements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

uint64_t Random::bits() {
  state += 0x9e3779b97f4a7c15ull;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

double Random::uniform(double low, double high) {
  double unit = static_cast<double>(bits() >> 11) * 0x1.0p-53;
  return low + (high - low) * unit;
}

const Tensor *Call::optional(const std::string &name) const {
  auto it = inputs.find(name);
  return it == inputs.end() ? nullptr : &it->second;
}

Tensor *Call::wanted(const std::string &name) {
  auto it = outputs.find(name);
  return it == outputs.end() ? nullptr : &it->second;
}

double Call::number(const std::string &attr) const {
  const Param &param = attrs.at(attr);
  if (const int64_t *integer = std::get_if<int64_t>(&param))
    return static_cast<double>(*integer);
  return std::get<double>(param);
}

int64_t Call::integer(const std::string &attr) const { return std::get<int64_t>(attrs.at(attr)); }
bool Call::flag(const std::string &attr) const { return std::get<bool>(attrs.at(attr)); }
std::string Call::word(const std::string &attr) const { return std::get<std::string>(attrs.at(attr)); }

static std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? "," : "") + std::to_string(shape[i]);
  return text + "]";
}

Status Call::expectShapes(std::initializer_list<std::pair<const char *, std::vector<int64_t>>> expected) const {
  for (const auto &[name, shape] : expected) {
    for (const auto *operands : {&inputs, &outputs}) {
      auto it = operands->find(name);
      if (it != operands->end() && it->second.shape != shape)
        return Error{std::string(name) + " has the shape " + shapeText(it->second.shape) +
                         ", but the operation defines " + shapeText(shape),
                     "BAD_CALL"};
    }
  }
  return Status::success();
}

const std::vector<Operation> &operations() {
  static const std::vector<Operation> all = [] {
    std::vector<Operation> list;
    for (auto make : {linearOperations, normOperations, pointwiseOperations, ropeOperations, attentionOperations,
                      dataOperations, lossOperations, optimizerOperations, quantOperations, visionOperations,
                      textOperations, fusedOperations, chainOperations})
      for (Operation &operation : make())
        list.push_back(std::move(operation));
    std::sort(list.begin(), list.end(), [](const Operation &a, const Operation &b) { return a.name < b.name; });
    return list;
  }();
  return all;
}

const Operation *findOperation(std::string_view op) {
  for (const Operation &operation : operations())
    if (operation.name == op)
      return &operation;
  return nullptr;
}

bool namesOperand(const std::vector<std::string> &entries, const std::string &operand) {
  for (const std::string &entry : entries) {
    std::string name = entry.substr(0, entry.find_first_of("?*"));
    bool isNumber = operand.size() > name.size() && operand.compare(0, name.size(), name) == 0 &&
                    operand.find_first_not_of("0123456789", name.size()) == std::string::npos;
    if (entry.back() == '*' ? isNumber : name == operand)
      return true;
  }
  return false;
}

/// Errors unless `operands` are among `names` and all those without '?' are there.
static Status checkNames(const Operation &operation, const std::vector<std::string> &names,
                         const std::map<std::string, Tensor> &operands) {
  size_t known = 0;
  for (const std::string &entry : names) {
    std::string name = entry;
    bool optional = name.back() == '?', numbered = name.back() == '*';
    if (optional || numbered)
      name.pop_back();
    for (size_t i = 0; numbered && operands.count(name + std::to_string(i)); ++i)
      ++known;
    known += operands.count(name);
    if (!optional && !operands.count(numbered ? name + "0" : name))
      return Error{operation.name + " needs the operand " + name, "BAD_CALL"};
  }
  if (known == operands.size())
    return Status::success();
  std::string given;
  for (const auto &[name, tensor] : operands)
    given += " " + name;
  return Error{operation.name + " has operands that its reference does not know; given:" + given, "BAD_CALL"};
}

/// Evaluates an operation with the attribute `accumulate`: adds what its function gives to the operands that have the
/// name of a result.
static Status evaluateSums(const Operation &operation, Call &call) {
  bool adds = call.word("accumulate") != "none";
  std::map<std::string, Tensor> sums;
  for (auto &[name, output] : call.outputs) {
    auto input = call.inputs.find(name);
    if (input == call.inputs.end())
      continue;
    if (!adds)
      return Error{name + " is an operand of " + operation.name + ", but accumulate = none", "BAD_CALL"};
    if (input->second.shape != output.shape)
      return Error{name + " has two shapes", "BAD_CALL"};
    sums[name] = input->second;
    std::fill(output.data.begin(), output.data.end(), 0.0);
  }
  if (Status status = operation.evaluate(call); !status)
    return status;
  for (const auto &[name, sum] : sums)
    for (size_t i = 0; i < sum.data.size(); ++i)
      call.outputs[name].data[i] += sum.data[i];
  return Status::success();
}

Status evaluate(const Operation &operation, Call &call) {
  if (Status status = checkNames(operation, operation.inputs, call.inputs); !status)
    return status;
  if (Status status = checkNames(operation, operation.outputs, call.outputs); !status)
    return status;
  for (const auto &[name, value] : call.attrs) {
    auto known = operation.defaults.find(name);
    if (known == operation.defaults.end())
      return Error{"the reference of " + operation.name + " does not know the attribute " + name, "BAD_CALL"};
    bool widened = std::holds_alternative<double>(known->second) && std::holds_alternative<int64_t>(value);
    if (known->second.index() != value.index() && !widened)
      return Error{operation.name + ": attribute " + name + " has another type than " + toString(known->second),
                   "BAD_CALL"};
  }
  for (const auto &[name, value] : operation.defaults)
    call.attrs.emplace(name, value);
  return operation.defaults.count("accumulate") ? evaluateSums(operation, call) : operation.evaluate(call);
}

} // namespace ck::reference
