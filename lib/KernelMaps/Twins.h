//===- Twins.h - maps that share an implementation --------------*- C++ -*-===//
#ifndef CK_LIB_KERNELMAPS_TWINS_H
#define CK_LIB_KERNELMAPS_TWINS_H

#include "ck/KernelMaps/KernelMap.h"

namespace ck::maps {

/// The map that implements `map`: itself, or the one that its same_as names. Errors: that one is missing, is itself a
/// twin, or has another contract.
Result<const KernelMap *> implementer(const std::vector<KernelMap> &maps, const KernelMap &map);

} // namespace ck::maps

namespace ck {
using namespace maps;
} // namespace ck

#endif // CK_LIB_KERNELMAPS_TWINS_H
