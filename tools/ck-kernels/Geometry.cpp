//===- Geometry.cpp - drawing the cases on which a provider is tried ------===//

#include "Geometry.h"

#include "Blocks.h"

#include <algorithm>
#include <numeric>

namespace ck::check {

using reference::Operation;
using reference::Random;

// A reference spends one multiplication on each point of the iteration space, a checker some memory on each element.
static constexpr int64_t maxWork = 1 << 22;
static constexpr int64_t maxElements = 1 << 17;

static uint64_t hashText(uint64_t seed, const std::string &text) {
  for (char c : text)
    seed = Random(seed ^ static_cast<uint8_t>(c)).bits();
  return seed;
}

/// Every expression of a map, for the names and constants in them.
static std::vector<Expr> expressions(const KernelMap &map) {
  std::vector<Expr> list = map.requirements;
  for (const auto *operands : {&map.contract.signature.inputs, &map.contract.signature.outputs})
    for (const SigOperand &operand : *operands) {
      list.insert(list.end(), operand.dims.begin(), operand.dims.end());
      for (const std::optional<Expr> &stride : operand.strides)
        if (stride)
          list.push_back(*stride);
    }
  for (const WhereClause &clause : map.contract.where)
    if (clause.value)
      list.push_back(*clause.value);
  for (const ScratchDecl &scratch : map.contract.scratch)
    list.push_back(scratch.elements);
  return list;
}

/// How many elements a block of `dtype` has; 1 for plain types.
static int64_t blockElements(const std::string &dtype) {
  const std::string packed = reference::packedStorage(dtype);
  const int elements = reference::blockSize(packed.empty() ? dtype : packed).elements;
  return elements ? elements : 1;
}

static void collectConstants(const Expr &expr, std::set<int64_t> &constants) {
  if (expr.kind() == Expr::Kind::Integer)
    constants.insert(expr.value());
  for (const Expr &arg : expr.args())
    collectConstants(arg, constants);
}

GeometryDrawer::GeometryDrawer(const KernelMap &map, const Implements &implements, const Operation &operation,
                               uint64_t seed)
    : map(map), implements(implements), operation(operation), seed(hashText(seed, map.id() + "/" + implements.op)) {
  const Contract &contract = map.contract;
  for (const std::string &name : contract.signature.dimNames()) {
    bool defined = std::any_of(contract.where.begin(), contract.where.end(),
                               [&](const WhereClause &clause) { return clause.value && clause.name == name; });
    if (!defined)
      freeDims.push_back(name);
  }
  extents = {1,  2,  3,  4,  5,  7,   8,   9,   15,  16,  17,  31,  32,  33,  47,
             48, 63, 64, 65, 96, 100, 127, 128, 129, 172, 255, 257, 513, 1000};
  // Long enough for the team to share the work, where few dims multiply.
  if (freeDims.size() <= 2)
    extents.insert(extents.end(), {4099, 33003});
  std::set<int64_t> constants;
  for (const Expr &requirement : map.requirements)
    collectConstants(requirement, constants);
  for (int64_t constant : constants)
    if (constant > 2 && constant <= 4096)
      extents.insert(extents.end(), {constant - 1, constant, 2 * constant, 3 * constant});
  std::sort(extents.begin(), extents.end());
  extents.erase(std::unique(extents.begin(), extents.end()), extents.end());

  std::vector<std::string> names;
  for (const Expr &expr : expressions(map))
    expr.collectNames(names);
  for (const std::string &name : names)
    if (name[0] == '$')
      attrNames.insert(name.substr(1));
}

const std::string &GeometryDrawer::opName(const std::string &name) const {
  auto renamed = implements.bind.find(name);
  return renamed == implements.bind.end() ? name : renamed->second;
}

int GeometryDrawer::edgeCases() const { return 1 + static_cast<int>(freeDims.size()); }

int64_t GeometryDrawer::cycle(const std::string &what, int64_t count, int index) const {
  if (index >= edgeCases())
    index -= edgeCases();
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  Random random(hashText(seed + static_cast<uint64_t>(index / count), what));
  for (int64_t i = count; i > 1; --i)
    std::swap(order[i - 1], order[random.below(i)]);
  return order[index % count];
}

/// 1 and 1.0 are one value: JSON does not tell them apart.
static bool sameValue(const Param &a, const Param &b) {
  auto number = [](const Param &param) -> std::optional<double> {
    if (const int64_t *integer = std::get_if<int64_t>(&param))
      return static_cast<double>(*integer);
    if (const double *real = std::get_if<double>(&param))
      return *real;
    return std::nullopt;
  };
  return number(a) && number(b) ? *number(a) == *number(b) : a == b;
}

bool GeometryDrawer::isFree(const std::string &attr, const Param &value) const {
  if (auto pinned = implements.attrs.find(attr); pinned != implements.attrs.end())
    return sameValue(pinned->second, value);
  for (const ParamDecl &param : map.contract.params)
    if (opName(param.name) == attr)
      return param.kind != ParamDecl::Kind::Enum ||
             std::any_of(param.values.begin(), param.values.end(),
                         [&](const std::string &name) { return Param(name) == value; });
  if (attrNames.count(attr))
    return true;
  auto standard = operation.defaults.find(attr);
  return standard != operation.defaults.end() && sameValue(standard->second, value);
}

Status GeometryDrawer::drawAttributes(Geometry &geometry, Random &random, int attempt) const {
  geometry.attrs = operation.defaults;
  for (size_t axis = 0; axis < operation.draws.size(); ++axis) {
    std::vector<Params> allowed;
    for (const Params &candidate : operation.draws[axis])
      if (std::all_of(candidate.begin(), candidate.end(),
                      [&](const auto &entry) { return isFree(entry.first, entry.second); }))
        allowed.push_back(candidate);
    if (allowed.empty())
      continue;
    int64_t count = static_cast<int64_t>(allowed.size());
    int64_t pick = attempt < 20 ? cycle("axis" + std::to_string(axis), count, geometry.index) : random.below(count);
    for (const auto &[name, value] : allowed[pick])
      geometry.attrs[name] = value;
  }
  for (const auto &[name, value] : implements.attrs) {
    // Keep the type of the default: the map's JSON may have written 1 for 1.0.
    auto standard = operation.defaults.find(name);
    if (standard != operation.defaults.end() && std::holds_alternative<double>(standard->second) &&
        std::holds_alternative<int64_t>(value))
      geometry.attrs[name] = static_cast<double>(std::get<int64_t>(value));
    else
      geometry.attrs[name] = value;
  }
  for (const ParamDecl &param : map.contract.params) {
    const std::string &attr = opName(param.name);
    if (!implements.attrs.count(attr)) {
      if (param.kind == ParamDecl::Kind::Enum)
        geometry.attrs[attr] =
            param.values[cycle(param.name, static_cast<int64_t>(param.values.size()), geometry.index)];
      else if (param.kind == ParamDecl::Kind::Bool)
        geometry.attrs[attr] = cycle(param.name, 2, geometry.index) == 1;
      else if (!geometry.attrs.count(attr) && param.defaultValue)
        geometry.attrs[attr] = *param.defaultValue;
    }
    auto value = geometry.attrs.find(attr);
    if (value == geometry.attrs.end())
      return Error{"the reference of " + operation.name + " knows no attribute " + attr + " for the parameter " +
                   param.name};
    geometry.params[param.name] = value->second;
  }
  return Status::success();
}

Result<int64_t> Geometry::lookup(const std::string &name) const {
  if (name[0] != '$') {
    auto dim = dims.find(name);
    return dim == dims.end() ? kDynamicDim : dim->second;
  }
  auto value = params.find(name.substr(1));
  if (value == params.end() && (value = attrs.find(name.substr(1))) == attrs.end())
    return Error{"unknown attribute " + name};
  if (const int64_t *integer = std::get_if<int64_t>(&value->second))
    return *integer;
  if (const bool *flag = std::get_if<bool>(&value->second))
    return int64_t(*flag);
  return Error{name + " is no integer"};
}

static Expr::Lookup lookup(const Geometry &geometry) {
  return [&geometry](const std::string &name) { return geometry.lookup(name); };
}

/// Dims that present operands do not name, and that have no definition, are 0.
static std::set<std::string> namedDims(const KernelMap &map, const Geometry &geometry) {
  std::vector<std::string> names;
  for (const auto *operands : {&map.contract.signature.inputs, &map.contract.signature.outputs})
    for (const SigOperand &operand : *operands)
      for (const Expr &dim : operand.dims)
        if (geometry.present.count(operand.name))
          dim.collectNames(names);
  return {names.begin(), names.end()};
}

Status GeometryDrawer::defineDims(Geometry &geometry) const {
  const std::vector<WhereClause> &where = map.contract.where;
  for (size_t round = 0; round <= where.size(); ++round)
    for (const WhereClause &clause : where) {
      if (!clause.value || geometry.dims.count(clause.name))
        continue;
      Result<int64_t> value = clause.value->evaluate(lookup(geometry));
      if (!value)
        return value.error();
      if (*value != kDynamicDim && *value < 0)
        return Error{clause.name + " would be negative"};
      if (*value != kDynamicDim)
        geometry.dims[clause.name] = *value;
    }
  return Status::success();
}

Status GeometryDrawer::drawDims(Geometry &geometry, Random &random, int attempt) const {
  // Dims that attributes alone define come first: expressions over them are then known.
  if (Status status = defineDims(geometry); !status)
    return status;
  std::set<std::string> named = namedDims(map, geometry);
  int64_t count = static_cast<int64_t>(extents.size());
  // When the first draws are refused, one dim keeps its turn and the others shrink around it: first the one with the
  // largest extent, so that long operands are tried as well, then each dim by turns. Later all are free.
  size_t anchor = freeDims.empty() ? 0 : static_cast<size_t>(geometry.index) % freeDims.size();
  const bool longest = attempt < 40;
  for (size_t i = 0; longest && i < freeDims.size(); ++i)
    if (cycle(freeDims[i], count, geometry.index) > cycle(freeDims[anchor], count, geometry.index))
      anchor = i;
  for (size_t i = 0; i < freeDims.size(); ++i) {
    const std::string &name = freeDims[i];
    if (!named.count(name)) // of absent operands only; what follows from it is not defined either
      continue;
    int64_t &extent = geometry.dims[name];
    if (geometry.index == 0)
      extent = attempt == 0 ? 1 : extents[random.below(std::min<int64_t>(count, 4 + attempt))];
    else if (geometry.index < edgeCases())
      extent = geometry.index == static_cast<int>(i) + 1 ? 0 : extents[random.below(std::min<int64_t>(count, 12))];
    else if (attempt < 4 || (attempt < 100 && i == anchor))
      extent = extents[cycle(name, count, geometry.index)];
    else if (longest)
      extent = extents[random.below(std::max<int64_t>(2, count - 3 * attempt))];
    else
      extent = extents[random.below(attempt % 2 ? count : std::max<int64_t>(4, count - attempt / 4))];
  }
  // The last dim of a block-quantised operand counts whole blocks.
  for (const auto *operands : {&map.contract.signature.inputs, &map.contract.signature.outputs})
    for (const SigOperand &operand : *operands) {
      auto type = geometry.dtypes.find(operand.dtype);
      const int64_t block = blockElements(type == geometry.dtypes.end() ? operand.dtype : type->second);
      if (block == 1 || operand.dims.empty())
        continue;
      auto extent = geometry.dims.find(operand.dims.back().str());
      if (extent == geometry.dims.end() || extent->second % block == 0)
        continue;
      const int64_t most = std::max<int64_t>(1, 2048 / block);
      extent->second = std::min(extent->second, 1 + extent->second % most) * block;
    }
  return defineDims(geometry);
}

void GeometryDrawer::drawPresence(Geometry &geometry) const {
  const Signature &signature = map.contract.signature;
  // Operands by number (output0, output1, ...) come as a row without gaps; the others come and go freely.
  std::vector<std::string> optional, numbered;
  for (const auto *operands : {&signature.inputs, &signature.outputs})
    for (const SigOperand &operand : *operands) {
      const std::string &name = opName(operand.name);
      const std::vector<std::string> &known = operands == &signature.inputs ? operation.inputs : operation.outputs;
      if (!operand.optional)
        geometry.present.insert(operand.name);
      else if (reference::namesOperand(known, name))
        (name.find_last_of("0123456789") + 1 == name.size() ? numbered : optional).push_back(operand.name);
    }
  if (int64_t most = static_cast<int64_t>(numbered.size()))
    geometry.present.insert(numbered.begin(), numbered.begin() + cycle("numbered", most + 1, geometry.index));
  int64_t subset = cycle("present", int64_t(1) << std::min<size_t>(optional.size(), 8), geometry.index);
  for (size_t i = 0; i < optional.size(); ++i)
    if (subset >> (i % 8) & 1)
      geometry.present.insert(optional[i]);
  // Operands that belong together follow the first of them.
  for (const std::vector<std::string> &group : operation.together) {
    std::vector<std::string> members;
    for (const std::string &operand : optional)
      if (std::find(group.begin(), group.end(), opName(operand)) != group.end())
        members.push_back(operand);
    for (const std::string &member : members) {
      if (geometry.present.count(members.front()))
        geometry.present.insert(member);
      else
        geometry.present.erase(member);
    }
  }
}

/// Strides of an operand whose `free` axes are passed at run time: rows apart by more than they hold, and sometimes
/// another order of the axes, as a transposed operand has it.
static void drawStrides(const std::vector<bool> &free, Layout &layout, Random &random) {
  std::vector<size_t> order;
  for (size_t axis = layout.shape.size(); axis-- > 0;)
    order.push_back(axis);
  bool allFree = std::all_of(free.begin(), free.end(), [](bool f) { return f; });
  if (allFree && order.size() > 1 && random.below(2))
    std::swap(order[0], order[1 + random.below(static_cast<int64_t>(order.size()) - 1)]);
  int64_t next = 1;
  for (size_t axis : order) {
    if (free[axis])
      layout.strides[axis] = next + (next > 1 || order.size() == 1 ? random.below(3) * random.below(9) : 0);
    next = std::max(next, layout.strides[axis] * std::max<int64_t>(layout.shape[axis], 1));
  }
}

Status GeometryDrawer::makeShapes(Geometry &geometry, bool related) const {
  const Signature &signature = map.contract.signature;
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto *operands : {&signature.inputs, &signature.outputs})
    for (const SigOperand &operand : *operands) {
      if (!geometry.present.count(operand.name))
        continue;
      std::vector<int64_t> &shape = shapes[opName(operand.name)];
      shape.clear();
      for (const Expr &dim : operand.dims) {
        Result<int64_t> extent = dim.evaluate(lookup(geometry));
        if (!extent)
          return extent.error();
        if (*extent == kDynamicDim || *extent < 0)
          return Error{operand.name + ": no extent follows for " + dim.str()};
        shape.push_back(*extent);
      }
    }
  if (operation.relate && related)
    operation.relate(geometry.attrs, shapes);

  std::vector<ActualOperand> inputs, outputs;
  for (auto [operands, actuals] : {std::pair{&signature.inputs, &inputs}, std::pair{&signature.outputs, &outputs}})
    for (const SigOperand &operand : *operands) {
      ActualOperand actual;
      actual.present = geometry.present.count(operand.name) != 0;
      if (actual.present) {
        actual.shape = shapes[opName(operand.name)];
        actual.dtype = operand.dtype[0] == '$' ? geometry.dtypes[operand.dtype] : operand.dtype;
        geometry.layouts[operand.name] = Layout::compact(actual.shape);
        // Of blocks there may be more: they are of many elements each, and small.
        const int64_t most = blockElements(actual.dtype) > 1 ? 2 * maxElements : maxElements;
        if (limited && geometry.layouts[operand.name].elements() > most)
          return Error{operand.name + " would be too large to try"};
      }
      actuals->push_back(std::move(actual));
    }
  Params names = geometry.attrs;
  for (const auto &[name, value] : geometry.params)
    names[name] = value;
  Result<Bindings> bindings = unify(signature, map.contract.where, inputs, outputs, names);
  if (!bindings)
    return bindings.error();
  geometry.dims.clear();
  for (const DimDef &dim : bindings->dims) {
    geometry.dims[dim.name] = dim.extent;
    geometry.hasZero |= dim.extent == 0;
  }
  return Status::success();
}

Status GeometryDrawer::drawLayouts(Geometry &geometry, Random &random) const {
  const Signature &signature = map.contract.signature;
  for (const auto *operands : {&signature.inputs, &signature.outputs})
    for (const SigOperand &operand : *operands) {
      // Of an updated operand both sides say the same.
      if (!operand.hasStrides || !geometry.present.count(operand.name) ||
          (operands == &signature.outputs && signature.isUpdated(operand.name)))
        continue;
      Layout &layout = geometry.layouts[operand.name];
      std::vector<bool> free(layout.shape.size(), false);
      for (size_t axis = 0; axis < operand.strides.size(); ++axis) {
        free[axis] = !operand.strides[axis];
        if (free[axis])
          continue;
        Result<int64_t> stride = operand.strides[axis]->evaluate(lookup(geometry));
        if (!stride)
          return stride.error();
        layout.strides[axis] = *stride;
      }
      if (std::find(free.begin(), free.end(), true) != free.end() && random.below(3))
        drawStrides(free, layout, random);
    }
  return Status::success();
}

Status GeometryDrawer::checkRequirements(const Geometry &geometry) const {
  for (const Expr &requirement : map.requirements) {
    Result<int64_t> value = requirement.evaluate(lookup(geometry));
    if (!value)
      return value.error();
    if (*value != 1)
      return Error{"requires " + requirement.str()};
  }
  int64_t work = 1;
  Result<int64_t> cost = map.cost ? map.cost->evaluate(lookup(geometry)) : Result<int64_t>(kDynamicDim);
  if (cost && *cost != kDynamicDim)
    work = *cost;
  else
    for (const auto &[name, extent] : geometry.dims)
      if (__builtin_mul_overflow(work, std::max<int64_t>(extent, 1), &work) || work > maxWork)
        break;
  if (limited && work > maxWork)
    return Error{"would take too long to try"};
  return Status::success();
}

void GeometryDrawer::drawTypes(Geometry &geometry) const {
  std::set<std::string> names;
  for (const auto *operands : {&map.contract.signature.inputs, &map.contract.signature.outputs})
    for (const SigOperand &operand : *operands)
      if (operand.dtype[0] == '$')
        names.insert(operand.dtype);
  for (const std::string &name : names) {
    std::vector<std::string> choices = {"f32", "i32"};
    for (const WhereClause &clause : map.contract.where)
      if (!clause.dtypes.empty() && clause.name == name)
        choices = clause.dtypes;
    geometry.dtypes[name] = choices[cycle(name, static_cast<int64_t>(choices.size()), geometry.index)];
  }
}

Result<Geometry> GeometryDrawer::draw(int index, int attempt, bool related) const {
  Geometry geometry;
  geometry.index = index;
  Random random(hashText(seed, std::to_string(index) + "." + std::to_string(attempt)));
  geometry.seed = random.bits();
  if (Status status = drawAttributes(geometry, random, attempt); !status)
    return status.error();
  drawTypes(geometry);
  drawPresence(geometry);
  if (Status status = drawDims(geometry, random, attempt); !status)
    return status.error();
  if (Status status = makeShapes(geometry, related); !status)
    return status.error();
  if (Status status = checkRequirements(geometry); !status)
    return status.error();
  if (Status status = drawLayouts(geometry, random); !status)
    return status.error();
  geometry.magnitude =
      operation.magnitudes[cycle("magnitude", static_cast<int64_t>(operation.magnitudes.size()), index)];
  return geometry;
}

std::string Geometry::str() const {
  std::string text, separator;
  for (const auto &[name, extent] : dims)
    text += (text.empty() ? "" : " ") + name + "=" + std::to_string(extent);
  for (const auto &[name, value] : attrs)
    text += (text.empty() ? "" : " ") + name + "=" + ck::toString(value);
  for (const auto &[name, dtype] : dtypes)
    text += " " + name + "=" + dtype;
  text += ", operands";
  for (const std::string &name : present) {
    text += " " + name;
    const Layout &layout = layouts.at(name);
    if (layout.strides == Layout::compact(layout.shape).strides)
      continue;
    text += "{";
    for (size_t axis = 0; axis < layout.strides.size(); ++axis)
      text += (axis ? "," : "") + std::to_string(layout.strides[axis]);
    text += "}";
  }
  return text + ", magnitude " + ck::toString(Param(magnitude));
}

} // namespace ck::check
