//===- Match.cpp - can this kernel stand for this op? ---------------------===//
//
// The steps of the rule in Match.h, in order; each knows how far it came, so that the reason given is the telling one.
//
//===----------------------------------------------------------------------===//
#include "ck/KernelMaps/Match.h"

#include "Cursor.h"

#include <algorithm>
#include <set>

namespace ck {

bool sameParam(const Param &a, const Param &b) {
  auto number = [](const Param &param) -> std::optional<double> {
    if (const int64_t *integer = std::get_if<int64_t>(&param))
      return static_cast<double>(*integer);
    if (const double *real = std::get_if<double>(&param))
      return *real;
    return std::nullopt;
  };
  std::optional<double> x = number(a), y = number(b);
  return x && y && a.index() != b.index() ? *x == *y : a == b;
}

namespace {

class Matcher {
public:
  Matcher(const KernelMap &map, const Implements &entry, const OpDescription &op)
      : map(map), signature(map.contract.signature), entry(entry), op(op) {}

  /// Number of steps that held.
  int steps = 0;

  Result<Match> run() {
    match.implements = &entry;
    for (auto step : {&Matcher::checkAttrs, &Matcher::bindOperands, &Matcher::bindParams, &Matcher::checkOtherAttrs,
                      &Matcher::bindDims, &Matcher::checkStrides, &Matcher::checkRequirements}) {
      if (Status s = (this->*step)(); !s)
        return s.error();
      ++steps;
    }
    return std::move(match);
  }

private:
  const std::string &opName(const std::string &kernelName) const {
    auto bound = entry.bind.find(kernelName);
    return bound == entry.bind.end() ? kernelName : bound->second;
  }

  const Param *attribute(const std::string &name) const {
    if (auto it = op.attrs.find(name); it != op.attrs.end())
      return &it->second;
    auto it = op.defaults.find(name);
    return it == op.defaults.end() ? nullptr : &it->second;
  }

  Status checkAttrs() {
    for (const auto &[name, wanted] : entry.attrs) {
      const Param *value = attribute(name);
      if (!value)
        return Error{"needs " + name + " = " + toString(wanted) + ", but " + op.name + " has no attribute " + name};
      if (!sameParam(*value, wanted))
        return Error{"needs " + name + " = " + toString(wanted) + ", but it is " + toString(*value)};
    }
    return Status::success();
  }

  Status bindSide(const std::vector<SigOperand> &kernelSide, const std::vector<SigOperand> &opSide,
                  const std::vector<ActualOperand> &actuals, const char *noun, std::vector<int> &indices,
                  std::vector<ActualOperand> &bound) {
    std::vector<bool> used(opSide.size());
    for (const SigOperand &operand : kernelSide) {
      const std::string &name = opName(operand.name);
      auto it = std::find_if(opSide.begin(), opSide.end(), [&](const SigOperand &o) { return o.name == name; });
      size_t index = it - opSide.begin();
      bool present = it != opSide.end() && index < actuals.size() && actuals[index].present;
      if (!present && !operand.optional)
        return Error{std::string(noun) + " " + operand.name + " is required, but " + op.name + " has no " + name +
                     (it != opSide.end() ? " here" : "")};
      indices.push_back(present ? static_cast<int>(index) : -1);
      bound.push_back(present ? actuals[index] : ActualOperand());
      if (present)
        used[index] = true;
    }
    for (size_t i = 0; i < opSide.size() && i < actuals.size(); ++i)
      if (actuals[i].present && !used[i])
        return Error{std::string(noun) + " " + opSide[i].name + " of " + op.name + " is not taken"};
    return Status::success();
  }

  Status bindOperands() {
    if (Status s = bindSide(signature.inputs, op.signature.inputs, op.inputs, "operand", match.inputs, inputs); !s)
      return s;
    return bindSide(signature.outputs, op.signature.outputs, op.outputs, "result", match.outputs, outputs);
  }

  Status bindParams() {
    match.names = op.defaults;
    for (const auto &[name, value] : op.attrs)
      match.names[name] = value;
    for (const ParamDecl &decl : map.contract.params) {
      const std::string &name = opName(decl.name);
      const Param *value = attribute(name);
      handled.insert(name);
      if (!value && !decl.defaultValue)
        return Error{"param " + decl.name + " has no value: " + op.name + " has no attribute " + name};
      Result<Param> converted = convertParam(decl, value ? *value : *decl.defaultValue);
      if (!converted)
        return converted.error();
      match.params[decl.name] = *converted;
      match.names[decl.name] = *converted;
    }
    return Status::success();
  }

  void handleNames(const Expr &expr) {
    std::vector<std::string> names;
    expr.collectNames(names);
    for (const std::string &name : names)
      if (name[0] == '$')
        handled.insert(name.substr(1));
  }

  Status checkOtherAttrs() {
    for (const auto *side : {&signature.inputs, &signature.outputs})
      for (const SigOperand &operand : *side) {
        for (const Expr &dim : operand.dims)
          handleNames(dim);
        for (const std::optional<Expr> &stride : operand.strides)
          if (stride)
            handleNames(*stride);
      }
    for (const WhereClause &clause : map.contract.where)
      if (clause.value)
        handleNames(*clause.value);
    for (const auto &[name, value] : op.attrs) {
      if (entry.attrs.count(name) || handled.count(name))
        continue;
      auto usual = op.defaults.find(name);
      if (usual == op.defaults.end())
        return Error{"attribute " + name + " = " + toString(value) + " is not handled"};
      if (!sameParam(value, usual->second))
        return Error{"attribute " + name + " = " + toString(value) + " is not handled (its default is " +
                     toString(usual->second) + ")"};
    }
    return Status::success();
  }

  Status bindDims() {
    Result<Bindings> bindings = unify(signature, map.contract.where, inputs, outputs, match.names);
    if (!bindings)
      return bindings.error();
    match.bindings = *std::move(bindings);
    return Status::success();
  }

  /// Operands of ops are compact, so a stride that the kernel fixes must be the compact one.
  Status checkStrides() {
    auto check = [&](const std::vector<SigOperand> &operands, const std::vector<ActualOperand> &actuals) -> Status {
      for (size_t i = 0; i < operands.size(); ++i) {
        const SigOperand &operand = operands[i];
        if (!operand.hasStrides || !actuals[i].present)
          continue;
        Expr compact = Expr::integer(1);
        for (size_t axis = operand.dims.size(); axis-- > 0;) {
          if (const std::optional<Expr> &stride = operand.strides[axis]; stride && *stride != compact) {
            Result<int64_t> fixed = match.bindings.evaluate(*stride, match.names);
            Result<int64_t> wanted = match.bindings.evaluate(compact, match.names);
            for (const Result<int64_t> *value : {&fixed, &wanted})
              if (!*value)
                return Error{operand.name + ": stride " + stride->str() + ": " + value->error().message};
            if (*fixed != *wanted || *fixed == kDynamicDim)
              return Error{operand.name + ": stride " + stride->str() + " of dim " + std::to_string(axis) + " is " +
                           extentText(*fixed) + ", but a compact operand has " + extentText(*wanted)};
          }
          const Expr &dim = operand.dims[axis];
          compact = compact == Expr::integer(1) ? dim : Expr::make(Expr::Kind::Mul, {dim, compact});
        }
      }
      return Status::success();
    };
    if (Status s = check(signature.inputs, inputs); !s)
      return s;
    return check(signature.outputs, outputs);
  }

  Status checkRequirements() {
    for (const Expr &requirement : map.requirements) {
      std::vector<std::string> names, values;
      requirement.collectNames(names);
      bool ofAbsent = false;
      for (const std::string &name : names) {
        const DimDef *def = match.bindings.find(name);
        ofAbsent |= def && def->absent;
        Result<int64_t> value = match.bindings.lookup(match.names)(name);
        values.push_back(name + " = " + (value ? extentText(*value) : "?"));
      }
      if (ofAbsent) // nothing is required of what is not there
        continue;
      Result<int64_t> holds = match.bindings.evaluate(requirement, match.names);
      if (!holds)
        return Error{"requires " + requirement.str() + ": " + holds.error().message};
      if (*holds == kDynamicDim)
        return Error{"requires " + requirement.str() + ", which is not known before run time"};
      if (!*holds)
        return Error{"requires " + requirement.str() + (values.empty() ? "" : ", but " + join(values, ", "))};
    }
    return Status::success();
  }

  const KernelMap &map;
  const Signature &signature;
  const Implements &entry;
  const OpDescription &op;
  std::vector<ActualOperand> inputs, outputs; // in the kernel's order
  std::set<std::string> handled;              // attributes that params or expressions take
  Match match;
};

} // namespace

Result<Match> matchProvider(const KernelMap &map, const OpDescription &op, NumericsClass limit) {
  if (!map.sameAs.empty())
    return Error{"is a twin of " + map.sameAs};
  std::optional<Error> reason;
  int furthest = -1;
  for (const Implements &entry : map.implements) {
    if (entry.op != op.name)
      continue;
    if (map.numerics > limit)
      return Error{"its numerics class " + std::string(toString(map.numerics)) + " is not within " +
                   std::string(toString(limit))};
    Matcher matcher(map, entry, op);
    Result<Match> match = matcher.run();
    if (match)
      return match;
    if (matcher.steps > furthest) {
      furthest = matcher.steps;
      reason = match.error();
    }
  }
  return reason ? *reason : Error{"does not implement " + op.name};
}

Result<Bindings> bindingsAtBounds(const KernelMap &map, const OpDescription &op, const Match &match,
                                  const ExtentBound &bound) {
  std::vector<ActualOperand> sides[2];
  for (bool isOutput : {false, true})
    for (int index : isOutput ? match.outputs : match.inputs) {
      ActualOperand actual = index < 0 ? ActualOperand() : (isOutput ? op.outputs : op.inputs)[index];
      for (size_t axis = 0; axis < actual.shape.size(); ++axis)
        if (actual.shape[axis] == kDynamicDim) {
          Result<int64_t> extent = bound(isOutput, index, static_cast<int>(axis));
          if (!extent)
            return extent.error();
          actual.shape[axis] = *extent;
        }
      sides[isOutput].push_back(std::move(actual));
    }
  Result<Bindings> bindings = unify(map.contract.signature, map.contract.where, sides[false], sides[true], match.names);
  if (!bindings)
    return Error{map.id() + " at the bounds: " + bindings.error().message};
  return bindings;
}

Result<int64_t> costAtBounds(const KernelMap &map, const OpDescription &op, const Match &match,
                             const ExtentBound &bound) {
  if (!map.cost)
    return Error{map.id() + " has no cost"};
  Result<Bindings> bindings = bindingsAtBounds(map, op, match, bound);
  if (!bindings)
    return bindings.error();
  Result<int64_t> cost = bindings->evaluate(*map.cost, match.names);
  if (!cost)
    return Error{map.id() + ": cost " + map.cost->str() + ": " + cost.error().message};
  if (*cost == kDynamicDim)
    return Error{map.id() + ": cost " + map.cost->str() + " is not known at the bounds"};
  return cost;
}

} // namespace ck
