//===- Names.cpp - the names of values ------------------------------------===//
#include "ck/Dialect/CK/Names.h"

#include "ck/Dialect/CK/CKDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace ck;

StringRef ck::locationName(Location loc) {
  StringRef name;
  loc->walk([&](Location part) {
    if (auto named = dyn_cast<NameLoc>(part)) {
      name = named.getName().getValue();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return name;
}

/// The list of names in a location: for each result a string, or a list of strings. A name in front of it counts alone.
static ArrayAttr namesOf(Location loc) {
  ArrayAttr names;
  loc->walk([&](Location part) {
    if (auto fused = dyn_cast<FusedLoc>(part))
      names = dyn_cast_or_null<ArrayAttr>(fused.getMetadata());
    return names || isa<NameLoc>(part) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return names;
}

/// The names of one result in a list.
static SmallVector<std::string> namesAt(ArrayAttr list, unsigned index) {
  SmallVector<std::string> names;
  if (!list || index >= list.size())
    return names;
  Builder builder(list.getContext());
  auto several = dyn_cast<ArrayAttr>(list[index]);
  for (Attribute name : several ? several : builder.getArrayAttr(list[index]))
    if (auto text = dyn_cast<StringAttr>(name); text && !text.empty())
      names.push_back(text.str());
  return names;
}

std::string ck::resultName(Location loc, unsigned index) {
  SmallVector<std::string> names = namesAt(namesOf(loc), index);
  return names.empty() ? "" : names.front();
}

SmallVector<std::string> ck::resultNames(Location loc, unsigned index) {
  if (ArrayAttr list = namesOf(loc))
    return namesAt(list, index);
  StringRef name = locationName(loc);
  return name.empty() ? SmallVector<std::string>() : SmallVector<std::string>{name.str()};
}

void ck::addName(Value value, StringRef name) {
  auto result = dyn_cast<OpResult>(value);
  if (!result || name.empty())
    return;
  Operation *op = result.getOwner();
  SmallVector<SmallVector<std::string>> names;
  for (OpResult each : op->getResults()) {
    names.push_back(namesAt(namesOf(op->getLoc()), each.getResultNumber()));
    std::string first = valueName(each);
    if (names.back().empty() && !first.empty())
      names.back().push_back(first);
  }
  SmallVector<std::string> &own = names[result.getResultNumber()];
  if (llvm::is_contained(own, name))
    return;
  own.push_back(name.str());
  op->setLoc(nameResultLists(op->getLoc(), names));
}

std::string ck::valueName(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast_or_null<FunctionOpInterface>(argument.getOwner()->getParentOp());
    if (!function)
      return "";
    unsigned index = argument.getArgNumber();
    if (auto input = function.getArgAttrOfType<StringAttr>(index, "ck.input"))
      return input.str();
    auto state = function.getArgAttrOfType<FlatSymbolRefAttr>(index, "ck.state");
    return state ? state.getValue().str() : "";
  }
  if (auto param = value.getDefiningOp<ParamOp>())
    return param.getBuffer().str();
  auto result = cast<OpResult>(value);
  Location loc = value.getDefiningOp()->getLoc();
  if (std::string name = resultName(loc, result.getResultNumber()); !name.empty())
    return name;
  StringRef name = locationName(loc);
  if (name.empty() || value.getDefiningOp()->getNumResults() == 1)
    return name.str();
  return (name + "." + Twine(result.getResultNumber())).str();
}

Location ck::nameResultLists(Location base, ArrayRef<SmallVector<std::string>> names) {
  if (llvm::all_of(names, [](const auto &each) { return each.empty(); }))
    return base;
  Builder builder(base.getContext());
  SmallVector<Attribute> list;
  for (const SmallVector<std::string> &each : names) {
    SmallVector<StringRef> texts(each.begin(), each.end());
    list.push_back(each.size() > 1 ? Attribute(builder.getStrArrayAttr(texts))
                                   : Attribute(builder.getStringAttr(each.empty() ? "" : each.front())));
  }
  return FusedLoc::get(base.getContext(), {base}, builder.getArrayAttr(list));
}

Location ck::nameResults(Location base, ArrayRef<std::string> names) {
  if (llvm::all_of(names, [](const std::string &name) { return name.empty(); }))
    return base;
  MLIRContext *context = base.getContext();
  if (names.size() == 1)
    return NameLoc::get(StringAttr::get(context, names[0]), base);
  SmallVector<Attribute> list;
  for (const std::string &name : names)
    list.push_back(StringAttr::get(context, name));
  return FusedLoc::get(context, {base}, ArrayAttr::get(context, list));
}
