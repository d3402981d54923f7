//===- Lint.cpp - are the kernel maps consistent as a set? ----------------===//

#include "Lint.h"
#include "Geometry.h"

#include <algorithm>

namespace ck::check {

// Enough for each value of a dim to meet each kind of call once.
static constexpr int overlapGeometries = 64;

namespace {

/// One way in which a map can stand for an operation.
struct Offer {
  const KernelMap *map;
  const Implements *implements;
};

/// A call of an operation: attributes, and the shapes of what is present by the operation's names.
struct OpCall {
  Params attrs;
  std::map<std::string, ActualOperand> inputs, outputs; ///< an updated operand is in both
};

} // namespace

static void checkNames(const Offer &offer, const reference::Operation &operation, std::vector<std::string> &findings) {
  const KernelMap &map = *offer.map;
  GeometryDrawer names(map, *offer.implements, operation, 0);
  for (const auto &[attr, value] : offer.implements->attrs)
    if (!operation.defaults.count(attr))
      findings.push_back(map.id() + ": " + operation.name + " has no attribute " + attr);
  for (const ParamDecl &param : map.contract.params)
    if (!operation.defaults.count(names.opName(param.name)) && !param.defaultValue)
      findings.push_back(map.id() + ": " + operation.name + " has no attribute for the parameter " + param.name);
  for (const SigOperand &operand : map.contract.signature.inputs)
    if (!reference::namesOperand(operation.inputs, names.opName(operand.name)) && !operand.optional)
      findings.push_back(map.id() + ": " + operation.name + " has no operand for " + operand.name);
  for (const SigOperand &operand : map.contract.signature.outputs)
    if (!reference::namesOperand(operation.outputs, names.opName(operand.name)) && !operand.optional)
      findings.push_back(map.id() + ": " + operation.name + " has no result for " + operand.name);
}

/// Describes `geometry` as a call of the operation.
static OpCall describe(const Offer &offer, const GeometryDrawer &drawer, const Geometry &geometry) {
  OpCall call;
  call.attrs = geometry.attrs;
  const Signature &signature = offer.map->contract.signature;
  for (auto [operands, actuals] :
       {std::pair{&signature.inputs, &call.inputs}, std::pair{&signature.outputs, &call.outputs}})
    for (const SigOperand &operand : *operands)
      if (geometry.present.count(operand.name)) {
        ActualOperand &actual = (*actuals)[drawer.opName(operand.name)];
        actual.present = true;
        actual.shape = geometry.layouts.at(operand.name).shape;
        actual.dtype = operand.dtype[0] == '$' ? geometry.dtypes.at(operand.dtype) : operand.dtype;
      }
  return call;
}

/// The cost of `offer` for `call`, or nothing if it does not fit.
static std::optional<int64_t> costOf(const Offer &offer, const reference::Operation &operation, const OpCall &call) {
  const KernelMap &map = *offer.map;
  GeometryDrawer names(map, *offer.implements, operation, 0);
  for (const auto &[attr, value] : call.attrs)
    if (!names.isFree(attr, value))
      return std::nullopt;
  size_t bound = 0;
  std::vector<ActualOperand> inputs, outputs;
  const Signature &signature = map.contract.signature;
  for (bool isInput : {true, false})
    for (const SigOperand &operand : isInput ? signature.inputs : signature.outputs) {
      const auto &givens = isInput ? call.inputs : call.outputs;
      auto given = givens.find(names.opName(operand.name));
      (isInput ? inputs : outputs).push_back(given == givens.end() ? ActualOperand() : given->second);
      bound += given != givens.end();
    }
  if (bound != call.inputs.size() + call.outputs.size())
    return std::nullopt;
  Params params = call.attrs;
  for (const ParamDecl &param : map.contract.params)
    if (auto attr = call.attrs.find(names.opName(param.name)); attr != call.attrs.end())
      params[param.name] = attr->second;
  Result<Bindings> bindings = unify(signature, map.contract.where, inputs, outputs, params);
  if (!bindings)
    return std::nullopt;
  for (const Expr &requirement : map.requirements)
    if (Result<int64_t> holds = bindings->evaluate(requirement, params); !holds || *holds != 1)
      return std::nullopt;
  Result<int64_t> cost = map.cost ? bindings->evaluate(*map.cost, params) : Result<int64_t>(0);
  return cost ? std::optional(*cost) : std::nullopt;
}

/// Offers geometries of `a` to `b`; "" or a call that both would take at one cost.
static std::string findTie(const Offer &a, const Offer &b, const reference::Operation &operation) {
  for (const auto &[attr, value] : a.implements->attrs)
    if (!GeometryDrawer(*b.map, *b.implements, operation, 0).isFree(attr, value))
      return "";
  GeometryDrawer drawer(*a.map, *a.implements, operation, 1);
  for (int index = 0; index < drawer.edgeCases() + overlapGeometries; ++index)
    for (int attempt = 0; attempt < 40; ++attempt) {
      Result<Geometry> geometry = drawer.draw(index, attempt);
      if (!geometry)
        continue;
      OpCall call = describe(a, drawer, *geometry);
      std::optional<int64_t> costA = costOf(a, operation, call), costB = costOf(b, operation, call);
      // A call without work is decided by nothing and needs no decision.
      if (costA && costB && *costA == *costB && !geometry->hasZero)
        return "cost " + std::to_string(*costA) + " at " + geometry->str();
      break;
    }
  return "";
}

std::string registryMismatch(const KernelMap &map, const ck_kernel *kernel) {
  if (!kernel)
    return "the registry has no such kernel";
  return callDigest(map.contract, map.digest) == kernel->digest
             ? ""
             : "the kernel was built from another version of " + map.path;
}

std::vector<std::string> lint(const std::vector<KernelMap> &maps, const FindKernel &findKernel) {
  std::vector<std::string> findings;
  std::map<std::string, std::vector<Offer>> offers;
  for (const KernelMap &map : maps) {
    if (std::string mismatch = registryMismatch(map, findKernel(map.id())); !mismatch.empty())
      findings.push_back(map.id() + ": " + mismatch);
    for (const Implements &implements : map.implements) {
      const reference::Operation *operation = reference::findOperation(implements.op);
      if (operation)
        checkNames({&map, &implements}, *operation, findings);
      if (operation && map.sameAs.empty()) // a twin is never a second candidate
        offers[implements.op].push_back({&map, &implements});
    }
  }
  for (const auto &[op, list] : offers)
    for (const Offer &a : list)
      for (const Offer &b : list) {
        if (a.map->id() >= b.map->id())
          continue;
        const reference::Operation &operation = *reference::findOperation(op);
        std::string tie = findTie(a, b, operation);
        if (tie.empty())
          tie = findTie(b, a, operation);
        if (!tie.empty())
          findings.push_back(a.map->id() + " and " + b.map->id() + " both fit " + op + ": " + tie);
      }
  return findings;
}

} // namespace ck::check
