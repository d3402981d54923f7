//===- Linear.h - expressions that depend linearly on one dim ---*- C++ -*-===//
//
// The unifier solves `2*F` or `H*D` for one unknown. This is the algebra for it.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_KERNELMAPS_LINEAR_H
#define CK_LIB_KERNELMAPS_LINEAR_H

#include "ck/KernelMaps/Expr.h"

namespace ck::maps {

/// mul * unknown + add.
struct LinearForm {
  int64_t mul = 0, add = 0;
};

/// The form of `expr` in `unknown`; nullopt when it is not linear, needs a value that is not known yet, or overflows.
/// `lookup` supplies every other name.
std::optional<LinearForm> linearForm(const Expr &expr, const std::string &unknown, const Expr::Lookup &lookup);

} // namespace ck::maps

namespace ck {
using namespace maps;
} // namespace ck

#endif // CK_LIB_KERNELMAPS_LINEAR_H
