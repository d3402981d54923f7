//===- CheckKernelMap.h - what a schema cannot say --------------*- C++ -*-===//
//
// Names that are declared nowhere, in-place pairs that cannot share storage, slots that collide.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_KERNELMAPS_CHECKKERNELMAP_H
#define CK_LIB_KERNELMAPS_CHECKKERNELMAP_H

#include "ck/KernelMaps/KernelMap.h"

namespace ck::maps {

/// Checks a map whose parts were parsed; the error is "<JSON pointer>: <what is wrong>".
Status checkKernelMap(const KernelMap &map);

} // namespace ck::maps

namespace ck {
using namespace maps;
} // namespace ck

#endif // CK_LIB_KERNELMAPS_CHECKKERNELMAP_H
