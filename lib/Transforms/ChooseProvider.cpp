//===- ChooseProvider.cpp - which kernel stands for an op -----------------===//
#include "ChooseProvider.h"

#include "Storage.h"

#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace mlir;
using namespace ck;

//===----------------------------------------------------------------------===//
// Ops as descriptions
//===----------------------------------------------------------------------===//

static Param toParam(Attribute value) {
  if (!value)
    return false; // An absent unit attribute; other optional attributes have no value to match.
  if (isa<UnitAttr>(value))
    return true;
  if (auto list = dyn_cast<DenseI64ArrayAttr>(value)) {
    std::string text;
    for (int64_t element : list.asArrayRef())
      text += (text.empty() ? "" : ",") + std::to_string(element);
    return text;
  }
  MLIRContext *context = value.getContext();
  Params one = signatureParams(DictionaryAttr::get(context, NamedAttribute(StringAttr::get(context, "x"), value)));
  if (!one.empty())
    return one.begin()->second;
  std::string text; // Of no known form: no map can ask for it, so it refuses every provider.
  llvm::raw_string_ostream(text) << value;
  return text;
}

/// Defaults of the attributes of an op, taken from an op without any.
static DictionaryAttr defaultAttributes(Operation *op) {
  OperationState state(op->getLoc(), op->getName());
  Operation *blank = Operation::create(state);
  DictionaryAttr attributes = blank->getAttrDictionary();
  blank->destroy();
  return attributes;
}

static std::vector<ActualOperand> actualsOf(ArrayRef<Value> values) {
  std::vector<ActualOperand> actuals;
  for (Value value : values)
    actuals.push_back(value ? actualOperand(value.getType()) : ActualOperand());
  return actuals;
}

OpDescription ck::describeOp(SignatureOpInterface op, const Signature &signature) {
  OpDescription description;
  description.name = op->getName().stripDialect().str();
  description.signature = signature;
  description.inputs = actualsOf(op.getSignatureOperands());
  description.outputs = actualsOf(SmallVector<Value>(op->getResults()));
  DictionaryAttr attributes = op->getAttrDictionary(), defaults = defaultAttributes(op);
  SmallVector<StringRef> leftOut = op.getShapeAttributes();
  leftOut.push_back("operandSegmentSizes");
  std::set<StringRef> names;
  for (StringAttr name : op->getName().getAttributeNames()) {
    names.insert(name);
    if (Attribute value = defaults.get(name); value || !attributes.get(name))
      description.defaults[name.str()] = toParam(value);
    else if (isa<UnitAttr>(attributes.get(name)))
      description.defaults[name.str()] = false;
  }
  // Attributes that the op does not know are not silently dropped; those of other dialects are none of ours.
  for (NamedAttribute attribute : attributes)
    if (!attribute.getName().getValue().contains('.'))
      names.insert(attribute.getName());
  for (StringRef name : leftOut) {
    names.erase(name);
    description.defaults.erase(name.str());
  }
  for (StringRef name : names)
    description.attrs[name.str()] = toParam(attributes.get(name));
  return description;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

bool SelectionPolicy::setIsa(StringRef widest) {
  isas.clear();
  for (const char *name : {"scalar", "avx2", "avx512", "avx512_vnni"}) {
    isas.push_back(name);
    if (widest == name)
      return true;
  }
  return false;
}

ProviderChooser::ProviderChooser(const std::vector<KernelMap> &maps, SelectionPolicy policy)
    : policy(std::move(policy)) {
  for (const KernelMap &map : maps) {
    if (!map.sameAs.empty())
      continue;
    std::set<std::string> ops;
    for (const Implements &entry : map.implements)
      if (ops.insert(entry.op).second)
        byOp[entry.op].push_back(&map);
  }
}

std::string ProviderChooser::isaReason(const KernelMap &map) const {
  std::string has;
  for (const KernelMap::Implementation &implementation : map.implementations) {
    if (llvm::is_contained(policy.isas, implementation.isa))
      return "";
    has += (has.empty() ? "" : ", ") + implementation.isa;
  }
  return "has implementations for " + (has.empty() ? "nothing" : has) + " only, and the target promises " +
         policy.isas.back();
}

/// A pure op has no earlier value for an output that a kernel adds to or leaves in part.
static std::string untouchedReason(const KernelMap &map, const OpDescription &op, const Match &match) {
  const Signature &kernel = map.contract.signature;
  for (auto [output, index] : llvm::zip(kernel.outputs, match.outputs))
    if (index >= 0 && (output.accumulates || output.partial) && !kernel.isUpdated(output.name))
      return "result " + output.name + ": " + (output.accumulates ? "is added to" : "is written in part") + ", but " +
             op.name + " gives no earlier value";
  return "";
}

ProviderChooser::Candidate ProviderChooser::consider(const KernelMap &map, const OpDescription &description,
                                                     ArrayRef<Value> inputs, ArrayRef<Value> outputs,
                                                     const BoundedShapes &shapes) const {
  Candidate candidate{&map, {}, isaReason(map)};
  if (!candidate.legal())
    return candidate;
  Result<Match> match = matchProvider(map, description, policy.limit);
  if (!match) {
    candidate.reason = match.error().message;
    return candidate;
  }
  candidate.reason = untouchedReason(map, description, *match);
  if (!candidate.legal())
    return candidate;
  auto bound = [&](bool isOutput, int operand, int axis) -> Result<int64_t> {
    return shapes.shape((isOutput ? outputs : inputs)[operand])[axis];
  };
  Result<int64_t> cost = costAtBounds(map, description, *match, bound);
  std::optional<int64_t> time;
  if (cost && policy.times && policy.times->measured(map)) {
    Result<Bindings> bindings = bindingsAtBounds(map, description, *match, bound);
    Result<int64_t> measured = bindings ? policy.times->cost(map, bindings->lookup(match->names)) : bindings.error();
    if (measured)
      time = *measured;
    else
      cost = measured.error();
  }
  if (!cost)
    candidate.reason = cost.error().message;
  else
    candidate.choice = {&map, *std::move(match), *cost, time};
  return candidate;
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

const std::vector<std::string> *ProviderChooser::pinsFor(Operation *op) const {
  if (auto pins = policy.pinsByName.find(locationName(op->getLoc()).str()); pins != policy.pinsByName.end())
    return &pins->second;
  auto pins = policy.pinsByOp.find(op->getName().stripDialect().str());
  return pins == policy.pinsByOp.end() ? nullptr : &pins->second;
}

static std::string costText(const Choice &choice) {
  std::string text = "cost " + std::to_string(choice.cost);
  return choice.time ? text + ", " + std::to_string(*choice.time) + " ps" : text;
}

const ProviderChooser::Candidate *ProviderChooser::best(Operation *op, ArrayRef<Candidate> candidates) const {
  auto list = [&](InFlightDiagnostic &error) {
    for (const Candidate &candidate : candidates)
      error << "\n  " << candidate.map->id() << ": "
            << (candidate.legal() ? "fits, " + costText(candidate.choice) : candidate.reason);
  };
  auto fail = [&](const Twine &text) -> const Candidate * {
    InFlightDiagnostic error = op->emitOpError(text);
    list(error);
    return nullptr;
  };
  const std::vector<std::string> *pins = pinsFor(op);
  for (const std::string &pin : pins ? *pins : std::vector<std::string>()) {
    const Candidate *pinned = llvm::find_if(candidates, [&](const Candidate &c) { return c.map->id() == pin; });
    if (pinned != candidates.end() && pinned->legal())
      return pinned;
  }
  if (pins)
    return fail("cannot take the provider that it is pinned to, " + llvm::join(*pins, " or ") + "; candidates:");
  if (policy.kind == SelectionPolicy::Kind::Pin)
    return fail("has no pin, and the policy is to take pinned providers only; candidates:");

  // Times are compared with times only.
  bool byTime = llvm::all_of(candidates, [](const Candidate &c) { return !c.legal() || c.choice.time; });
  auto rank = [&](const Candidate &candidate) {
    return std::pair(policy.kind == SelectionPolicy::Kind::Reference ? candidate.map->numerics : NumericsClass::F64,
                     byTime ? *candidate.choice.time : candidate.choice.cost);
  };
  const Candidate *least = nullptr, *equal = nullptr;
  for (const Candidate &candidate : candidates) {
    if (!candidate.legal())
      continue;
    if (!least || rank(candidate) < rank(*least)) {
      least = &candidate;
      equal = nullptr;
    } else if (rank(candidate) == rank(*least)) {
      equal = &candidate;
    }
  }
  if (!least && candidates.empty())
    return fail("has no provider: no kernel map implements it");
  if (!least)
    return fail("has no provider; every candidate is refused:");
  if (equal)
    return fail("has two providers of equal rank, '" + least->map->id() + "' and '" + equal->map->id() +
                "'; pin one of them. Candidates:");
  return least;
}

template <typename Candidates>
static void emitChoice(Operation *op, const Choice &choice, const Candidates &candidates) {
  InFlightDiagnostic diagnostic = op->emitRemark() << "provider " << choice.map->id() << ", " << costText(choice);
  for (const auto &candidate : candidates)
    if (candidate.map != choice.map)
      diagnostic << "\n  not " << candidate.map->id() << ": "
                 << (candidate.legal() ? costText(candidate.choice) : candidate.reason);
}

FailureOr<Choice> ProviderChooser::settle(Operation *op, ArrayRef<Candidate> candidates, bool remarks) const {
  const Candidate *chosen = best(op, candidates);
  if (!chosen)
    return failure();
  if (remarks)
    emitChoice(op, chosen->choice, candidates);
  return chosen->choice;
}

FailureOr<SmallVector<ProviderChooser::Candidate, 0>> ProviderChooser::candidatesOf(SignatureOpInterface op,
                                                                                    const BoundedShapes &shapes) const {
  Result<Signature> signature = parseSignature(op.getSignatureText());
  if (!signature)
    return op->emitOpError() << "has a malformed signature: " << signature.error().message;
  OpDescription description = describeOp(op, *signature);
  SmallVector<Value> inputs = op.getSignatureOperands(), outputs(op->getResults());
  SmallVector<Candidate, 0> candidates;
  if (auto maps = byOp.find(description.name); maps != byOp.end())
    for (const KernelMap *map : maps->second)
      candidates.push_back(consider(*map, description, inputs, outputs, shapes));
  return candidates;
}

SmallVector<ProviderChooser::Candidate, 0> ProviderChooser::candidatesOf(const FusedCall &call,
                                                                         const BoundedShapes &shapes) const {
  SmallVector<Candidate, 0> candidates;
  auto maps = byOp.find(call.contract.str());
  for (const KernelMap *map : maps == byOp.end() ? std::vector<const KernelMap *>() : maps->second) {
    // The operands of a contract have no names of their own: they stand in the order of the kernel's.
    const Signature &kernel = map->contract.signature;
    OpDescription description;
    description.name = call.contract.str();
    description.signature = kernel;
    SmallVector<Value> inputs(call.inputs), outputs(call.outputs);
    inputs.resize(std::max(inputs.size(), kernel.inputs.size()));
    outputs.resize(std::max(outputs.size(), kernel.outputs.size()));
    description.inputs = actualsOf(inputs);
    description.outputs = actualsOf(outputs);
    for (NamedAttribute attribute : call.params)
      if (!attribute.getName().getValue().contains('.'))
        description.attrs[attribute.getName().str()] = toParam(attribute.getValue());
    if (inputs.size() > kernel.inputs.size() || outputs.size() > kernel.outputs.size())
      candidates.push_back({map, {}, "has fewer operands than the fused region: " + kernel.str()});
    else
      candidates.push_back(consider(*map, description, inputs, outputs, shapes));
  }
  return candidates;
}

std::optional<int64_t> ProviderChooser::leastCost(ArrayRef<Candidate> candidates) {
  std::optional<int64_t> least;
  for (const Candidate &candidate : candidates)
    if (candidate.legal() && (!least || candidate.choice.cost < *least))
      least = candidate.choice.cost;
  return least;
}

std::optional<int64_t> ProviderChooser::costOf(SignatureOpInterface op, const BoundedShapes &shapes) const {
  FailureOr<SmallVector<Candidate, 0>> candidates = candidatesOf(op, shapes);
  return failed(candidates) ? std::nullopt : leastCost(*candidates);
}

std::optional<int64_t> ProviderChooser::costOf(const FusedCall &call, const BoundedShapes &shapes) const {
  return leastCost(candidatesOf(call, shapes));
}

FailureOr<Choice> ProviderChooser::choose(SignatureOpInterface op, const BoundedShapes &shapes, bool remarks) const {
  FailureOr<SmallVector<Candidate, 0>> candidates = candidatesOf(op, shapes);
  if (failed(candidates))
    return failure();
  return settle(op, *candidates, remarks);
}

FailureOr<Choice> ProviderChooser::chooseFused(FusedOp op, const BoundedShapes &shapes, bool remarks) const {
  SmallVector<NamedAttribute> params(op->getDiscardableAttrs());
  SmallVector<Value> inputs(op.getInputs()), outputs(op.getResults());
  SmallVector<Candidate, 0> candidates = candidatesOf({op.getContract(), params, inputs, outputs}, shapes);
  if (llvm::none_of(candidates, [](const Candidate &candidate) { return candidate.legal(); })) {
    if (remarks) {
      InFlightDiagnostic diagnostic = op->emitRemark() << "no provider of '" << op.getContract() << "', inlined";
      for (const Candidate &candidate : candidates)
        diagnostic << "\n  not " << candidate.map->id() << ": " << candidate.reason;
    }
    return Choice();
  }
  return settle(op, candidates, remarks);
}
