//===- GeometryAt.cpp - the geometry of extents that somebody names -------===//

#include "Geometry.h"

#include <algorithm>

namespace ck::check {

using reference::Random;

/// Extents and counts of a small model, by the names that maps use.
static int64_t usual(const std::string &name) {
  static const std::map<std::string, int64_t> sizes = {
      {"A", 4},         {"B", 1},           {"C", 768},       {"D", 64},
      {"E", 768},       {"F", 2048},        {"H", 12},        {"K", 768},
      {"KV", 4},        {"L", 1 << 20},     {"N", 768},       {"NK", 256},
      {"NQ", 768},      {"NV", 256},        {"P", 32},        {"S", 512},
      {"T", 512},       {"V", 32000},       {"heads", 12},    {"kv_heads", 4},
      {"head_dim", 64}, {"rotary_dim", 64}, {"rows", 512},    {"section_0", 8},
      {"section_1", 8}, {"section_2", 8},   {"section_3", 8}, {"original_context", 4096}};
  auto known = sizes.find(name);
  return known == sizes.end() ? 0 : known->second;
}

Result<Geometry> GeometryDrawer::at(const std::map<std::string, int64_t> &sizes) const {
  GeometryDrawer whole = *this;
  whole.limited = false;
  Geometry geometry;
  geometry.aligned = true;
  geometry.seed = seed;

  geometry.attrs = operation.defaults;
  for (auto &[name, value] : geometry.attrs)
    if (const int64_t *count = std::get_if<int64_t>(&value); count && *count <= 2 && usual(name))
      value = usual(name);
  for (const auto &[name, value] : implements.attrs) {
    Param &attr = geometry.attrs[name];
    if (std::holds_alternative<double>(attr) && std::holds_alternative<int64_t>(value))
      attr = static_cast<double>(std::get<int64_t>(value));
    else
      attr = value;
  }
  const std::vector<std::string> dims = map.contract.signature.dimNames();
  for (const auto &[name, value] : sizes) {
    const bool isFree = std::find(freeDims.begin(), freeDims.end(), name) != freeDims.end();
    auto attr = operation.defaults.find(name);
    if (attr != operation.defaults.end() && !implements.attrs.count(name) &&
        std::holds_alternative<int64_t>(attr->second))
      geometry.attrs[name] = value;
    else if (!isFree && std::find(dims.begin(), dims.end(), name) != dims.end())
      return Error{map.id() + ": dim " + name + " follows from others: it cannot be chosen"};
    else if (!isFree)
      return Error{map.id() + ": has no dim and no integer attribute '" + name + "'"};
  }
  for (const ParamDecl &param : map.contract.params) {
    const std::string &attr = opName(param.name);
    const bool known = geometry.attrs.count(attr) != 0;
    if (param.kind == ParamDecl::Kind::Enum &&
        (!known || std::none_of(param.values.begin(), param.values.end(),
                                [&](const std::string &value) { return geometry.attrs[attr] == Param(value); })))
      geometry.attrs[attr] = param.values.front();
    else if (!known && param.defaultValue)
      geometry.attrs[attr] = *param.defaultValue;
    else if (!known)
      return Error{map.id() + ": the reference of " + operation.name + " knows no attribute " + attr};
    geometry.params[param.name] = geometry.attrs[attr];
  }
  drawTypes(geometry);

  const Signature &signature = map.contract.signature;
  const bool bare = std::all_of(signature.outputs.begin(), signature.outputs.end(),
                                [](const SigOperand &output) { return output.optional; });
  auto isAbsent = [&](const std::string &gradient) {
    const SigOperand *input = gradient.rfind("d_", 0) == 0 ? signature.findInput(gradient.substr(2)) : nullptr;
    return input && input->optional;
  };
  for (const auto *operands : {&signature.inputs, &signature.outputs})
    for (const SigOperand &operand : *operands)
      // Of a row of numbered operands, two; no gradient of what is not there.
      if (!operand.optional || (bare && signature.findOutput(operand.name) && !isAbsent(operand.name)) ||
          operand.name.back() == '0' || operand.name.back() == '1')
        geometry.present.insert(operand.name);

  if (Status status = defineDims(geometry); !status)
    return status.error();
  std::vector<std::string> named;
  for (const auto *operands : {&signature.inputs, &signature.outputs})
    for (const SigOperand &operand : *operands)
      for (const Expr &dim : operand.dims)
        if (geometry.present.count(operand.name))
          dim.collectNames(named);
  for (const std::string &name : freeDims)
    if (std::find(named.begin(), named.end(), name) != named.end()) {
      auto chosen = sizes.find(name);
      // A lone dim is a whole tensor.
      const int64_t other = freeDims.size() == 1 ? int64_t(1) << 20 : usual(name) ? usual(name) : 64;
      geometry.dims[name] = chosen != sizes.end() ? chosen->second : other;
    }
  if (Status status = defineDims(geometry); !status)
    return status.error();
  if (Status status = whole.makeShapes(geometry); !status)
    return Error{map.id() + ": " + status.error().message};
  if (Status status = whole.checkRequirements(geometry); !status)
    return Error{map.id() + ": " + geometry.str() + ": " + status.error().message};
  for (const auto *operands : {&signature.inputs, &signature.outputs})
    for (const SigOperand &operand : *operands)
      for (size_t axis = 0; geometry.present.count(operand.name) && axis < operand.strides.size(); ++axis)
        if (operand.strides[axis]) {
          Result<int64_t> stride =
              operand.strides[axis]->evaluate([&](const std::string &name) { return geometry.lookup(name); });
          if (!stride)
            return stride.error();
          geometry.layouts[operand.name].strides[axis] = *stride;
        }
  return geometry;
}

} // namespace ck::check
