//===- Lint.h - are the kernel maps consistent as a set? --------*- C++ -*-===//
#ifndef CK_TOOLS_KERNELS_LINT_H
#define CK_TOOLS_KERNELS_LINT_H

#include "ck/KernelMaps/KernelMap.h"
#include "ck/Runtime/Runtime.h"

#include <functional>

namespace ck::check {

/// Finds a kernel of the registry by id, nullptr if there is none.
using FindKernel = std::function<const ck_kernel *(const std::string &id)>;

/// "" if `kernel` was built from this version of `map`, else what is wrong; nullptr stands for no kernel.
std::string registryMismatch(const KernelMap &map, const ck_kernel *kernel);

/// What is wrong with a set of maps, one sentence each; empty if nothing is:
/// - a map without a kernel in the registry, or with one that was built from another version of the map;
/// - an operand, result or attribute that the implemented operation does not have;
/// - two maps that fit one call at equal cost, so that selection could not decide.
std::vector<std::string> lint(const std::vector<KernelMap> &maps, const FindKernel &findKernel);

} // namespace ck::check

#endif // CK_TOOLS_KERNELS_LINT_H
