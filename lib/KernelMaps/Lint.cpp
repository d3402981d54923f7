//===- Lint.cpp - are the maps consistent as a set? -----------------------===//
//
// Two maps overlap if nothing separates them. Each may have its own names for operands and dims, so what they require
// and cost is compared under common names.
//
//===----------------------------------------------------------------------===//
#include "Cursor.h"
#include "Twins.h"
#include "ck/KernelMaps/Match.h"

#include <algorithm>
#include <tuple>

namespace ck {

namespace {

/// One entry of `implements` with its map.
struct Offer {
  const KernelMap *map;
  const Implements *entry;

  const std::string &opName(const std::string &kernelName) const {
    auto bound = entry->bind.find(kernelName);
    return bound == entry->bind.end() ? kernelName : bound->second;
  }
  const std::vector<SigOperand> &side(bool outputs) const {
    const Signature &signature = map->contract.signature;
    return outputs ? signature.outputs : signature.inputs;
  }
  const SigOperand *operand(bool outputs, const std::string &name) const {
    for (const SigOperand &o : side(outputs))
      if (opName(o.name) == name)
        return &o;
    return nullptr;
  }
  const ParamDecl *param(const std::string &attribute) const {
    for (const ParamDecl &decl : map->contract.params)
      if (opName(decl.name) == attribute)
        return &decl;
    return nullptr;
  }
  /// True if signature or where use `$attribute`.
  bool uses(const std::string &attribute) const {
    std::vector<std::string> names;
    for (bool outputs : {false, true})
      for (const SigOperand &o : side(outputs))
        for (const Expr &dim : o.dims)
          dim.collectNames(names);
    for (const WhereClause &clause : map->contract.where)
      if (clause.value)
        clause.value->collectNames(names);
    return std::find(names.begin(), names.end(), "$" + attribute) != names.end();
  }
  const std::vector<std::string> *dtypes(const std::string &variable) const {
    for (const WhereClause &clause : map->contract.where)
      if (clause.name == variable)
        return &clause.dtypes;
    return nullptr;
  }
  /// True if operands of type `dtype` fit the type variable `variable`.
  bool allows(const std::string &variable, const std::string &dtype) const {
    const std::vector<std::string> *list = dtypes(variable);
    return !list || std::find(list->begin(), list->end(), dtype) != list->end();
  }
};

/// False if no op can have attributes that fit both.
bool attrsCompatible(const Offer &a, const Offer &b, const Params &defaults) {
  for (const auto &[name, value] : a.entry->attrs) {
    if (auto other = b.entry->attrs.find(name); other != b.entry->attrs.end()) {
      if (!sameParam(value, other->second))
        return false;
    } else if (const ParamDecl *decl = b.param(name)) {
      if (!convertParam(*decl, value))
        return false;
    } else if (!b.uses(name)) {
      if (auto usual = defaults.find(name); usual != defaults.end() && !sameParam(value, usual->second))
        return false;
    }
  }
  for (const ParamDecl &decl : a.map->contract.params) {
    const ParamDecl *other = b.param(a.opName(decl.name));
    if (!other || decl.kind != ParamDecl::Kind::Enum || other->kind != ParamDecl::Kind::Enum)
      continue;
    if (std::find_first_of(decl.values.begin(), decl.values.end(), other->values.begin(), other->values.end()) ==
        decl.values.end())
      return false;
  }
  return true;
}

bool dtypesCompatible(const Offer &a, const SigOperand &x, const Offer &b, const SigOperand &y) {
  bool xOpen = x.dtype[0] == '$', yOpen = y.dtype[0] == '$';
  if (!xOpen && !yOpen)
    return x.dtype == y.dtype;
  if (!xOpen)
    return b.allows(y.dtype, x.dtype);
  const std::vector<std::string> *list = a.dtypes(x.dtype);
  if (!yOpen)
    return a.allows(x.dtype, y.dtype);
  return !list || std::any_of(list->begin(), list->end(), [&](const std::string &d) { return b.allows(y.dtype, d); });
}

/// Ranks agree and no literal stands against another one.
bool shapesCompatible(const SigOperand &x, const SigOperand &y) {
  size_t xFixed = x.dims.size() - x.leadingDims, yFixed = y.dims.size() - y.leadingDims;
  if ((!x.leadingDims && xFixed < yFixed) || (!y.leadingDims && yFixed < xFixed))
    return false;
  if (!x.leadingDims && !y.leadingDims && xFixed != yFixed)
    return false;
  for (size_t i = 1; i <= std::min(xFixed, yFixed); ++i) {
    const Expr &p = x.dims[x.dims.size() - i], &q = y.dims[y.dims.size() - i];
    if (p.kind() == Expr::Kind::Integer && q.kind() == Expr::Kind::Integer && p != q)
      return false;
  }
  return true;
}

/// False if no op can have operands that fit both. (Checked in both directions by the caller.)
bool operandsCompatible(const Offer &a, const Offer &b) {
  for (bool outputs : {false, true})
    for (const SigOperand &x : a.side(outputs)) {
      const SigOperand *y = b.operand(outputs, a.opName(x.name));
      if (!y) {
        // Its presence refuses b, its absence refuses a.
        if (!x.optional)
          return false;
        continue;
      }
      if (x.optional && y->optional) // both fit an op without it
        continue;
      if (!dtypesCompatible(a, x, b, *y) || !shapesCompatible(x, *y))
        return false;
    }
  return true;
}

/// The dims of two offers under common names: dims that stand at one place of an operand that both take are one.
class CommonNames {
public:
  CommonNames(const Offer &a, const Offer &b) : offers{&a, &b} {
    for (bool outputs : {false, true})
      for (const SigOperand &x : a.side(outputs))
        if (const SigOperand *y = b.operand(outputs, a.opName(x.name)))
          for (size_t i = 1; i <= std::min(x.dims.size(), y->dims.size()); ++i) {
            const Expr &p = x.dims[x.dims.size() - i], &q = y->dims[y->dims.size() - i];
            std::string pKey = key(0, p), qKey = key(1, q);
            if (!pKey.empty() && !qKey.empty())
              parents[root(pKey)] = root(qKey);
            else if (!pKey.empty() && q.kind() == Expr::Kind::Integer)
              literals.emplace_back(pKey, q.value());
            else if (!qKey.empty() && p.kind() == Expr::Kind::Integer)
              literals.emplace_back(qKey, p.value());
          }
  }

  /// `expr` of offer 0 or 1 with common names for dims, the op's names for attributes, and definitions followed.
  Expr renamed(int offer, const Expr &expr, int depth = 0) const {
    if (expr.kind() == Expr::Kind::Attribute) {
      for (const ParamDecl &decl : offers[offer]->map->contract.params)
        if ("$" + decl.name == expr.name())
          return Expr::dim("$" + offers[offer]->opName(decl.name));
      return Expr::dim(expr.name());
    }
    if (expr.kind() == Expr::Kind::Dim) {
      std::string own = key(offer, expr), common = root(own);
      for (const WhereClause &clause : offers[offer]->map->contract.where)
        // The loader has excluded circles; the depth guards against maps made otherwise.
        if (clause.value && clause.name == expr.name() && common == own && depth < 16)
          return renamed(offer, *clause.value, depth + 1);
      return Expr::dim(common);
    }
    if (expr.args().empty())
      return expr;
    std::vector<Expr> args;
    for (const Expr &arg : expr.args())
      args.push_back(renamed(offer, arg, depth));
    return Expr::make(expr.kind(), std::move(args));
  }

  /// The extent that one of the offers fixes for a common name.
  std::optional<int64_t> literal(const std::string &common) const {
    for (const auto &[name, value] : literals)
      if (root(name) == common)
        return value;
    return std::nullopt;
  }

private:
  static std::string key(int offer, const Expr &dim) {
    return dim.kind() == Expr::Kind::Dim ? std::to_string(offer) + "." + dim.name() : "";
  }
  std::string root(std::string name) const {
    for (auto it = parents.find(name); it != parents.end() && it->second != name; it = parents.find(name))
      name = it->second;
    return name;
  }

  const Offer *offers[2];
  std::map<std::string, std::string> parents;
  std::vector<std::pair<std::string, int64_t>> literals;
};

void splitConjunction(const Expr &expr, std::vector<Expr> &parts) {
  if (expr.kind() != Expr::Kind::And)
    return parts.push_back(expr);
  for (const Expr &arg : expr.args())
    splitConjunction(arg, parts);
}

/// True if two predicates cannot both hold: one negates the other, or both fix a value, and not the same.
bool exclude(const Expr &p, const Expr &q) {
  using Kind = Expr::Kind;
  static constexpr std::pair<Kind, Kind> opposites[] = {{Kind::Eq, Kind::Ne}, {Kind::Lt, Kind::Ge},
                                                        {Kind::Gt, Kind::Le}, {Kind::Lt, Kind::Gt},
                                                        {Kind::Eq, Kind::Lt}, {Kind::Eq, Kind::Gt}};
  for (const Expr *expr : {&p, &q})
    if (expr->kind() < Kind::Eq || expr->kind() > Kind::Ge)
      return false;
  if (p.args()[0] != q.args()[0])
    return false;
  const Expr &x = p.args()[1], &y = q.args()[1];
  if (x == y)
    return std::any_of(std::begin(opposites), std::end(opposites), [&](auto pair) {
      return pair == std::make_pair(p.kind(), q.kind()) || pair == std::make_pair(q.kind(), p.kind());
    });
  return p.kind() == Kind::Eq && q.kind() == Kind::Eq && x.kind() == Kind::Integer && y.kind() == Kind::Integer;
}

bool requirementsCompatible(const Offer &a, const Offer &b, const CommonNames &names) {
  std::vector<Expr> ofA, ofB;
  for (const Expr &requirement : a.map->requirements)
    splitConjunction(names.renamed(0, requirement), ofA);
  for (const Expr &requirement : b.map->requirements)
    splitConjunction(names.renamed(1, requirement), ofB);
  for (const Expr &p : ofA)
    for (const Expr &q : ofB)
      if (exclude(p, q))
        return false;
  return true;
}

/// True if the costs agree wherever both maps fit, as far as a few points with unrelated extents can tell.
bool sameCost(const Offer &a, const Offer &b, const CommonNames &names) {
  if (!a.map->cost || !b.map->cost)
    return true;
  Expr x = names.renamed(0, *a.map->cost), y = names.renamed(1, *b.map->cost);
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    auto lookup = [&](const std::string &name) -> Result<int64_t> {
      if (std::optional<int64_t> literal = names.literal(name))
        return *literal;
      uint64_t hash = 1469598103934665603u * seed; // FNV-1a
      for (unsigned char c : name)
        hash = (hash ^ c) * 1099511628211u;
      return static_cast<int64_t>(64 + (hash >> 33) % 400);
    };
    Result<int64_t> costX = x.evaluate(lookup), costY = y.evaluate(lookup);
    if (bool(costX) != bool(costY) || (costX && *costX != *costY))
      return false;
  }
  return true;
}

bool overlap(const Offer &a, const Offer &b, const Params &defaults) {
  if (!attrsCompatible(a, b, defaults) || !attrsCompatible(b, a, defaults) || !operandsCompatible(a, b) ||
      !operandsCompatible(b, a))
    return false;
  CommonNames names(a, b);
  return requirementsCompatible(a, b, names) && sameCost(a, b, names);
}

} // namespace

std::vector<std::string> lint(const std::vector<KernelMap> &maps, const OpDefaults &defaults) {
  std::vector<const KernelMap *> sorted;
  for (const KernelMap &map : maps)
    sorted.push_back(&map);
  std::sort(sorted.begin(), sorted.end(), [](const KernelMap *a, const KernelMap *b) {
    return std::tie(a->id(), a->path) < std::tie(b->id(), b->path);
  });
  auto exists = [&](const std::string &id) {
    return std::any_of(maps.begin(), maps.end(), [&](const KernelMap &map) { return map.id() == id; });
  };

  std::vector<std::string> findings;
  std::vector<Offer> offers;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const KernelMap &map = *sorted[i];
    if (i && sorted[i - 1]->id() == map.id()) {
      findings.push_back(map.id() + ": the id of two maps");
      continue;
    }
    if (Result<const KernelMap *> owner = implementer(maps, map); !owner)
      findings.push_back(owner.error().message);
    if (!map.backwardOf.empty() && !exists(map.backwardOf))
      findings.push_back(map.id() + ": backward_of names " + map.backwardOf + ", which does not exist");
    if (!map.pack.empty() && !exists(map.pack))
      findings.push_back(map.id() + ": pack names " + map.pack + ", which does not exist");
    if (!map.sameAs.empty())
      continue;
    if (std::none_of(map.implementations.begin(), map.implementations.end(),
                     [](const KernelMap::Implementation &impl) { return impl.isa == "scalar"; }))
      findings.push_back(map.id() + ": has no scalar implementation");
    for (const Implements &entry : map.implements)
      offers.push_back({&map, &entry});
  }
  for (size_t i = 0; i < offers.size(); ++i)
    for (size_t j = i + 1; j < offers.size(); ++j) {
      const Offer &a = offers[i], &b = offers[j];
      if (a.map == b.map || a.entry->op != b.entry->op)
        continue;
      auto usual = defaults.find(a.entry->op);
      if (overlap(a, b, usual == defaults.end() ? Params() : usual->second))
        findings.push_back(a.map->id() + " and " + b.map->id() + " both fit " + a.entry->op + " at equal cost (" +
                           (a.map->cost ? a.map->cost->str() : "none") + " and " +
                           (b.map->cost ? b.map->cost->str() : "none") + ")");
    }
  findings.erase(std::unique(findings.begin(), findings.end()), findings.end());
  return findings;
}

} // namespace ck
