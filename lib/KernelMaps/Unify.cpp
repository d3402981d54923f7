//===- Unify.cpp - binding the dims of a signature ------------------------===//
//
// The one unification behind the ops' verifiers, shape inference, reification and the legality of providers. See
// Signature.h for the order in which dims are bound.
//
//===----------------------------------------------------------------------===//
#include "Cursor.h"
#include "Linear.h"
#include "ck/KernelMaps/Signature.h"

#include <algorithm>
#include <set>

namespace ck {

namespace {

/// One dim of one present operand: `expr` must equal the product of `axes`.
struct Constraint {
  const SigOperand *operand;
  int index; ///< into inputs, then outputs
  const Expr *expr;
  bool leading;
  std::vector<int> axes;
  std::vector<int64_t> extents; ///< of the axes
  int64_t extent;               ///< their product
  bool done = false;
};

class Unifier {
public:
  Unifier(const Signature &signature, const std::vector<WhereClause> &where, const Params &params)
      : signature(signature), where(where), params(params), whereDone(where.size()) {}

  Result<Bindings> run(const std::vector<ActualOperand> &inputs, const std::vector<ActualOperand> &outputs);

private:
  Status addOperands(const std::vector<SigOperand> &operands, const std::vector<ActualOperand> &actuals, int base,
                     const char *side);
  Status addOperand(const SigOperand &operand, const ActualOperand &actual, int index);
  Status bindType(const SigOperand &operand, const std::string &dtype);
  Status checkTypeVariables() const;
  Status bindPlain(Constraint &constraint);
  Status mergeLeading(const Constraint &constraint);
  Status runWhere(bool attributesOnly, bool &progress);
  Status runConstraints(bool &progress);
  Status check(Constraint &constraint);
  Status solve(Constraint &constraint, const std::string &unknown, const LinearForm &form);
  Status finish();

  DimDef *find(const std::string &name);
  void define(DimDef def, std::string source);
  std::vector<std::string> unbound(const Expr &expr) const;
  Result<int64_t> evaluate(const Expr &expr) const { return bindings.evaluate(expr, params); }
  /// "H = 4 (where H = $heads), D = 16 (k)" for the names in `expr`, save `skip`.
  std::string explain(const Expr &expr, const std::string &skip = "") const;
  std::string clauseText(size_t i) const { return "where " + where[i].str(); }

  const Signature &signature;
  const std::vector<WhereClause> &where;
  const Params &params;
  Bindings bindings;
  std::vector<Constraint> constraints;
  std::vector<bool> whereDone;
  std::map<std::string, std::string> sources;     ///< dim -> operand or clause that bound it
  std::map<std::string, std::string> typeSources; ///< type variable or leading dims -> operand
  std::set<std::string> absentNames;              ///< named by absent operands
  bool haveOutputs = false;
};

DimDef *Unifier::find(const std::string &name) {
  for (DimDef &def : bindings.dims)
    if (def.name == name)
      return &def;
  return nullptr;
}

void Unifier::define(DimDef def, std::string source) {
  sources[def.name] = std::move(source);
  bindings.dims.push_back(std::move(def));
}

std::vector<std::string> Unifier::unbound(const Expr &expr) const {
  std::vector<std::string> names, missing;
  expr.collectNames(names);
  for (const std::string &name : names)
    if (name[0] != '$' && !bindings.find(name))
      missing.push_back(name);
  return missing;
}

std::string Unifier::explain(const Expr &expr, const std::string &skip) const {
  std::vector<std::string> names, parts;
  expr.collectNames(names);
  for (const std::string &name : names) {
    if (name == skip)
      continue;
    if (name[0] == '$') {
      auto param = params.find(name.substr(1));
      parts.push_back(name + " = " + (param == params.end() ? "?" : toString(param->second)));
    } else if (const DimDef *def = bindings.find(name)) {
      parts.push_back(name + " = " + extentText(def->extent) + " (" + sources.at(name) + ")");
    }
  }
  return join(parts, ", ");
}

Status Unifier::bindType(const SigOperand &operand, const std::string &dtype) {
  if (operand.dtype[0] != '$') {
    if (operand.dtype != dtype)
      return Error{operand.name + ": dtype must be " + operand.dtype + ", but is " + dtype};
    return Status::success();
  }
  auto [known, isNew] = bindings.dtypes.try_emplace(operand.dtype, dtype);
  if (isNew)
    typeSources[operand.dtype] = operand.name;
  else if (known->second != dtype)
    return Error{operand.name + ": dtype " + operand.dtype + " is " + dtype + ", but " + typeSources[operand.dtype] +
                 " has " + operand.dtype + " = " + known->second};
  return Status::success();
}

Status Unifier::checkTypeVariables() const {
  for (const WhereClause &clause : where) {
    auto bound = bindings.dtypes.find(clause.name);
    if (clause.value || bound == bindings.dtypes.end())
      continue;
    if (std::find(clause.dtypes.begin(), clause.dtypes.end(), bound->second) == clause.dtypes.end())
      return Error{typeSources.at(clause.name) + ": dtype " + clause.name + " is " + bound->second +
                   ", expected one of " + join(clause.dtypes, ", ")};
  }
  return Status::success();
}

Status Unifier::addOperand(const SigOperand &operand, const ActualOperand &actual, int index) {
  int fixed = static_cast<int>(operand.dims.size()) - operand.leadingDims;
  int rank = static_cast<int>(actual.shape.size());
  if (operand.leadingDims ? rank < fixed : rank != fixed) {
    std::vector<std::string> dims;
    for (const Expr &dim : operand.dims)
      dims.push_back((dims.empty() && operand.leadingDims ? "..." : "") + dim.str());
    return Error{operand.name + ": expected " + (operand.leadingDims ? "at least " : "") + std::to_string(fixed) +
                 (fixed == 1 ? " dim" : " dims") + " [" + join(dims, ",") + "], but has " + std::to_string(rank) +
                 ": " + shapeText(actual.shape)};
  }
  for (int64_t extent : actual.shape)
    if (extent < 0 && extent != kDynamicDim)
      return Error{operand.name + ": extent " + std::to_string(extent) + " is negative"};
  if (Status s = bindType(operand, actual.dtype); !s)
    return s;

  int axis = 0;
  for (size_t i = 0; i < operand.dims.size(); ++i) {
    Constraint constraint{&operand, index, &operand.dims[i], operand.leadingDims && i == 0, {}, {}, 1};
    int axes = constraint.leading ? rank - fixed : 1;
    bool dynamic = false;
    for (; axes > 0; --axes, ++axis) {
      int64_t extent = actual.shape[axis];
      constraint.axes.push_back(axis);
      constraint.extents.push_back(extent);
      if (extent == kDynamicDim)
        dynamic = true;
      else if (__builtin_mul_overflow(constraint.extent, extent, &constraint.extent))
        return Error{operand.name + ": the product of leading dims " + shapeText(constraint.extents) +
                     " overflows 64 bits"};
    }
    if (dynamic)
      constraint.extent = kDynamicDim;
    constraints.push_back(std::move(constraint));
  }
  return Status::success();
}

Status Unifier::addOperands(const std::vector<SigOperand> &operands, const std::vector<ActualOperand> &actuals,
                            int base, const char *side) {
  if (operands.size() != actuals.size())
    return Error{"expected " + std::to_string(operands.size()) + " " + side + ", but there are " +
                 std::to_string(actuals.size())};
  for (size_t i = 0; i < operands.size(); ++i) {
    if (actuals[i].present) {
      if (Status s = addOperand(operands[i], actuals[i], base + static_cast<int>(i)); !s)
        return s;
      continue;
    }
    if (!operands[i].optional)
      return Error{operands[i].name + ": required operand is missing"};
    std::vector<std::string> names;
    for (const Expr &dim : operands[i].dims)
      dim.collectNames(names);
    absentNames.insert(names.begin(), names.end());
  }
  return Status::success();
}

Status Unifier::mergeLeading(const Constraint &constraint) {
  const std::string &name = constraint.expr->name();
  auto [known, isNew] = bindings.leading.try_emplace(name, constraint.extents);
  if (isNew) {
    typeSources["..." + name] = constraint.operand->name;
    return Status::success();
  }
  std::vector<int64_t> &extents = known->second;
  bool same = extents.size() == constraint.extents.size();
  for (size_t i = 0; same && i < extents.size(); ++i) {
    int64_t other = constraint.extents[i];
    same = extents[i] == kDynamicDim || other == kDynamicDim || extents[i] == other;
  }
  if (!same)
    return Error{constraint.operand->name + ": leading dims ..." + name + " are " + shapeText(constraint.extents) +
                 ", but " + typeSources["..." + name] + " has " + shapeText(extents)};
  for (size_t i = 0; i < extents.size(); ++i)
    if (extents[i] == kDynamicDim)
      extents[i] = constraint.extents[i];
  return Status::success();
}

Status Unifier::bindPlain(Constraint &constraint) {
  constraint.done = true;
  if (constraint.leading)
    if (Status s = mergeLeading(constraint); !s)
      return s;
  const std::string &name = constraint.expr->name();
  DimDef *known = find(name);
  if (!known) {
    DimDef def;
    def.name = name;
    def.extent = constraint.extent;
    def.operand = constraint.index;
    def.axes = constraint.axes;
    define(std::move(def), constraint.operand->name);
    return Status::success();
  }
  if (constraint.extent == kDynamicDim)
    return Status::success();
  if (known->extent == kDynamicDim) {
    known->extent = constraint.extent;
    sources[name] = constraint.operand->name;
    return Status::success();
  }
  if (known->extent != constraint.extent)
    return Error{constraint.operand->name + ": dim " + name + " is " + std::to_string(constraint.extent) + ", but " +
                 sources[name] + (known->expr ? " gives " : " has ") + name + " = " + std::to_string(known->extent)};
  return Status::success();
}

Status Unifier::runWhere(bool attributesOnly, bool &progress) {
  for (size_t i = 0; i < where.size(); ++i) {
    if (whereDone[i] || !where[i].value)
      continue;
    const Expr &expr = *where[i].value;
    std::vector<std::string> names;
    expr.collectNames(names);
    bool onlyAttributes = std::all_of(names.begin(), names.end(), [](const std::string &n) { return n[0] == '$'; });
    if ((attributesOnly && !onlyAttributes) || !unbound(expr).empty())
      continue;
    whereDone[i] = progress = true;
    Result<int64_t> value = evaluate(expr);
    if (!value)
      return Error{clauseText(i) + ": " + value.error().message};
    if (*value < 0 && *value != kDynamicDim)
      return Error{clauseText(i) + ": " + where[i].name + " = " + std::to_string(*value) + " is negative, with " +
                   explain(expr)};
    DimDef *known = find(where[i].name);
    if (!known) {
      DimDef def;
      def.name = where[i].name;
      def.extent = *value;
      def.expr = expr;
      define(std::move(def), clauseText(i));
    } else if (known->extent != kDynamicDim && *value != kDynamicDim && known->extent != *value) {
      return Error{clauseText(i) + ": gives " + where[i].name + " = " + std::to_string(*value) + ", but " +
                   sources[where[i].name] + " has " + where[i].name + " = " + std::to_string(known->extent)};
    }
  }
  return Status::success();
}

Status Unifier::check(Constraint &constraint) {
  constraint.done = true;
  const Expr &expr = *constraint.expr;
  Result<int64_t> value = evaluate(expr);
  if (!value)
    return Error{constraint.operand->name + ": dim " + expr.str() + ": " + value.error().message};
  if (expr.kind() == Expr::Kind::Integer) {
    if (constraint.extent != *value)
      return Error{constraint.operand->name + ": dim " + std::to_string(constraint.axes[0]) + " must be " +
                   std::to_string(*value) + ", but is " +
                   (constraint.extent == kDynamicDim ? "not known before run time" : extentText(constraint.extent))};
    return Status::success();
  }
  if (*value != kDynamicDim && constraint.extent != kDynamicDim && *value != constraint.extent)
    return Error{constraint.operand->name + ": dim " + expr.str() + " is " + std::to_string(constraint.extent) +
                 ", but " + expr.str() + " = " + std::to_string(*value) + " with " + explain(expr)};
  return Status::success();
}

Status Unifier::solve(Constraint &constraint, const std::string &unknown, const LinearForm &form) {
  constraint.done = true;
  DimDef def;
  def.name = unknown;
  def.operand = constraint.index;
  def.axes = constraint.axes;
  def.mul = form.mul;
  def.add = form.add;
  if (constraint.extent != kDynamicDim) {
    int64_t rest = 0;
    bool bad = __builtin_sub_overflow(constraint.extent, form.add, &rest) || (rest == INT64_MIN && form.mul == -1);
    if (bad || rest % form.mul != 0 || rest / form.mul < 0) {
      std::string others = explain(*constraint.expr, unknown);
      return Error{constraint.operand->name + ": dim " + constraint.expr->str() + " is " +
                   std::to_string(constraint.extent) + ", which no " + unknown + " gives" +
                   (others.empty() ? "" : " with " + others)};
    }
    def.extent = rest / form.mul;
  }
  define(std::move(def), constraint.operand->name);
  return Status::success();
}

Status Unifier::runConstraints(bool &progress) {
  for (Constraint &constraint : constraints) {
    if (constraint.done)
      continue;
    std::vector<std::string> unknown = unbound(*constraint.expr);
    if (unknown.empty()) {
      progress = true;
      if (Status s = check(constraint); !s)
        return s;
    } else if (unknown.size() == 1) {
      std::optional<LinearForm> form = linearForm(*constraint.expr, unknown[0], bindings.lookup(params));
      if (!form || form->mul == 0)
        continue;
      progress = true;
      if (Status s = solve(constraint, unknown[0], *form); !s)
        return s;
    }
  }
  return Status::success();
}

Status Unifier::finish() {
  for (const Constraint &constraint : constraints) {
    if (constraint.done)
      continue;
    std::vector<std::string> unknown = unbound(*constraint.expr);
    std::string others = explain(*constraint.expr);
    return Error{constraint.operand->name + ": dim " + constraint.expr->str() + " is " + extentText(constraint.extent) +
                 ", from which " + join(unknown, " and ") + " cannot be computed, and no other operand binds " +
                 (unknown.size() > 1 ? "them" : "it") + (others.empty() ? "" : "; " + others)};
  }
  // What only absent operands name is 0, and so is what follows from it.
  for (const std::string &name : absentNames)
    if (name[0] != '$' && !bindings.find(name)) {
      DimDef def;
      def.name = name;
      def.extent = 0;
      def.absent = true;
      define(std::move(def), "absent");
    }
  std::vector<std::string> names = signature.dimNames();
  for (bool progress = true; progress;) {
    progress = false;
    for (size_t i = 0; i < where.size(); ++i) {
      if (whereDone[i] || !where[i].value || !unbound(*where[i].value).empty())
        continue;
      whereDone[i] = progress = true;
      if (!find(where[i].name)) {
        DimDef def;
        def.name = where[i].name;
        def.extent = 0;
        def.absent = true;
        define(std::move(def), "absent");
      }
    }
  }
  for (size_t i = 0; i < where.size(); ++i)
    if (!whereDone[i] && where[i].value)
      for (const std::string &name : unbound(*where[i].value))
        if (haveOutputs || std::find(names.begin(), names.end(), name) == names.end())
          return Error{clauseText(i) + ": dim " + name + " is not bound"};
  return Status::success();
}

Result<Bindings> Unifier::run(const std::vector<ActualOperand> &inputs, const std::vector<ActualOperand> &outputs) {
  haveOutputs = !outputs.empty();
  if (Status s = addOperands(signature.inputs, inputs, 0, "inputs"); !s)
    return s.error();
  if (haveOutputs)
    if (Status s = addOperands(signature.outputs, outputs, static_cast<int>(inputs.size()), "outputs"); !s)
      return s.error();
  if (Status s = checkTypeVariables(); !s)
    return s.error();

  bool progress = true;
  if (Status s = runWhere(/*attributesOnly=*/true, progress); !s)
    return s.error();
  for (Constraint &constraint : constraints)
    if (constraint.expr->kind() == Expr::Kind::Dim)
      if (Status s = bindPlain(constraint); !s)
        return s.error();
  while (progress) {
    progress = false;
    if (Status s = runWhere(/*attributesOnly=*/false, progress); !s)
      return s.error();
    if (Status s = runConstraints(progress); !s)
      return s.error();
  }
  if (Status s = finish(); !s)
    return s.error();
  return std::move(bindings);
}

} // namespace

Result<Bindings> unify(const Signature &signature, const std::vector<WhereClause> &where,
                       const std::vector<ActualOperand> &inputs, const std::vector<ActualOperand> &outputs,
                       const Params &params) {
  return Unifier(signature, where, params).run(inputs, outputs);
}

} // namespace ck
