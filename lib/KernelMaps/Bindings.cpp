//===- Bindings.cpp - reading the result of unification -------------------===//
//
// Extents, expressions over them, and the shapes of outputs.
//
//===----------------------------------------------------------------------===//
#include "Cursor.h"
#include "ck/KernelMaps/Signature.h"

namespace ck {

const DimDef *Bindings::find(std::string_view name) const {
  for (const DimDef &def : dims)
    if (def.name == name)
      return &def;
  return nullptr;
}

Result<int64_t> Bindings::extent(std::string_view name) const {
  if (const DimDef *def = find(name))
    return def->extent;
  return Error{"dim " + std::string(name) + " is not bound"};
}

Expr::Lookup Bindings::lookup(const Params &params) const {
  return [this, &params](const std::string &name) -> Result<int64_t> {
    if (name[0] != '$')
      return extent(name);
    auto param = params.find(name.substr(1));
    if (param == params.end())
      return Error{"attribute " + name + " is missing"};
    if (const int64_t *integer = std::get_if<int64_t>(&param->second))
      return *integer;
    if (const bool *flag = std::get_if<bool>(&param->second))
      return int64_t(*flag);
    return Error{"attribute " + name + " = " + toString(param->second) + " is no integer"};
  };
}

Result<int64_t> Bindings::evaluate(const Expr &expr, const Params &params) const {
  return expr.evaluate(lookup(params));
}

static Result<ActualOperand> inferOutput(const SigOperand &output, const Bindings &bindings, const Params &params) {
  ActualOperand actual;
  actual.present = true;
  actual.dtype = output.dtype;
  if (output.dtype[0] == '$') {
    auto dtype = bindings.dtypes.find(output.dtype);
    if (dtype == bindings.dtypes.end())
      return Error{output.name + ": dtype " + output.dtype + " is not bound by an input"};
    actual.dtype = dtype->second;
  }
  for (size_t i = 0; i < output.dims.size(); ++i) {
    const Expr &dim = output.dims[i];
    if (i == 0 && output.leadingDims) {
      auto leading = bindings.leading.find(dim.name());
      if (leading != bindings.leading.end()) {
        actual.shape = leading->second;
        continue;
      }
    }
    if (dim.kind() == Expr::Kind::Dim && !bindings.find(dim.name()))
      return Error{output.name + ": dim " + dim.name() + " is not bound by an input"};
    std::vector<std::string> names;
    dim.collectNames(names);
    for (const std::string &name : names)
      if (const DimDef *def = bindings.find(name); def && def->absent)
        return Error{output.name + ": dim " + name + " is named by absent operands only"};
    Result<int64_t> extent = bindings.evaluate(dim, params);
    if (!extent)
      return Error{output.name + ": dim " + dim.str() + ": " + extent.error().message};
    if (*extent < 0 && *extent != kDynamicDim)
      return Error{output.name + ": dim " + dim.str() + " = " + std::to_string(*extent) + " is negative"};
    actual.shape.push_back(*extent);
  }
  return actual;
}

Result<std::vector<ActualOperand>> inferOutputs(const Signature &signature, const Bindings &bindings,
                                                const std::vector<bool> &wanted, const Params &params) {
  std::vector<ActualOperand> outputs;
  for (size_t i = 0; i < signature.outputs.size(); ++i) {
    const SigOperand &output = signature.outputs[i];
    if (output.optional && (i >= wanted.size() || !wanted[i])) {
      outputs.emplace_back();
      continue;
    }
    Result<ActualOperand> actual = inferOutput(output, bindings, params);
    if (!actual)
      return actual.error();
    outputs.push_back(*std::move(actual));
  }
  return outputs;
}

} // namespace ck
