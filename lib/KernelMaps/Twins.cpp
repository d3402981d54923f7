//===- Twins.cpp - maps that share an implementation ----------------------===//
//
// A twin differs from the map it names in threading only: whatever a caller can see must be equal.
//
//===----------------------------------------------------------------------===//
#include "Twins.h"

#include "Cursor.h"

namespace ck::maps {

/// Everything that lowering sees of a contract, as text.
static std::string contractText(const Contract &contract) {
  std::string text = contract.signature.str();
  for (const WhereClause &clause : contract.where)
    text += "; " + clause.str();
  for (const ParamDecl &param : contract.params)
    text += "; " + param.str();
  for (const ScratchDecl &scratch : contract.scratch)
    text += "; " + scratch.str();
  for (const auto &[input, output] : contract.inplace)
    text += "; " + input + " with " + output;
  return text;
}

Result<const KernelMap *> implementer(const std::vector<KernelMap> &maps, const KernelMap &map) {
  if (map.sameAs.empty())
    return &map;
  for (const KernelMap &other : maps) {
    if (other.id() != map.sameAs)
      continue;
    if (!other.sameAs.empty())
      return Error{map.id() + ": same_as names " + other.id() + ", which is itself a twin"};
    if (contractText(other.contract) != contractText(map.contract))
      return Error{map.id() + ": same_as names " + other.id() + ", whose contract is another: " +
                   contractText(other.contract) + " instead of " + contractText(map.contract)};
    return &other;
  }
  return Error{map.id() + ": same_as names " + map.sameAs + ", which does not exist"};
}

} // namespace ck::maps
