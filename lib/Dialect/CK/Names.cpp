//===- Names.cpp - the names of values ------------------------------------===//
#include "ck/Dialect/CK/Names.h"

#include "ck/Dialect/CK/CKDialect.h"

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

StringRef ck::resultName(Location loc, unsigned index) {
  StringRef name;
  loc->walk([&](Location part) {
    auto fused = dyn_cast<FusedLoc>(part);
    auto names = fused ? dyn_cast_or_null<ArrayAttr>(fused.getMetadata()) : ArrayAttr();
    if (!names)
      return WalkResult::advance();
    if (auto text = index < names.size() ? dyn_cast<StringAttr>(names[index]) : StringAttr())
      name = text.getValue();
    return WalkResult::interrupt();
  });
  return name;
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
  if (StringRef name = resultName(loc, result.getResultNumber()); !name.empty())
    return name.str();
  StringRef name = locationName(loc);
  if (name.empty() || value.getDefiningOp()->getNumResults() == 1)
    return name.str();
  return (name + "." + Twine(result.getResultNumber())).str();
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
