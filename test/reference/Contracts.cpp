//===- Contracts.cpp - the list of exact references -----------------------===//

#include "Contracts.h"

#include "Blocks.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ck::reference {

const std::vector<Contract> &contracts() {
  static const std::vector<Contract> all = [] {
    std::vector<Contract> list;
    for (auto make :
         {linearContracts, normContracts, pointwiseContracts, ropeContracts, quantContracts, visionContracts})
      for (Contract &contract : make())
        list.push_back(std::move(contract));
    std::sort(list.begin(), list.end(), [](const Contract &a, const Contract &b) { return a.name < b.name; });
    return list;
  }();
  return all;
}

const Contract *findContract(std::string_view name) {
  for (const Contract &contract : contracts())
    if (contract.name == name)
      return &contract;
  return nullptr;
}

float roundBF16(float value) {
  if (!std::isfinite(value))
    return value;
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
  std::memcpy(&value, &bits, 4);
  return value;
}

float roundF16(float value) { return halfToFloat(floatToHalf(value)); }

} // namespace ck::reference
