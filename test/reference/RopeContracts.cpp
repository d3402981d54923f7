//===- RopeContracts.cpp - exact references of the rope family ---===//

#include "Contracts.h"

namespace ck::reference {

std::vector<Contract> ropeContracts() { return {}; }

} // namespace ck::reference
