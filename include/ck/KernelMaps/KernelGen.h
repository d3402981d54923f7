//===- KernelGen.h - C sources made from kernel maps ------------*- C++ -*-===//
//
// The args structs and prototypes that kernels are compiled against, and the table that the runtime finds them in. A
// kernel that disagrees with its map does not compile; a map without a kernel does not link.
//
//===----------------------------------------------------------------------===//
#ifndef CK_KERNELMAPS_KERNELGEN_H
#define CK_KERNELMAPS_KERNELGEN_H

#include "ck/KernelMaps/KernelMap.h"

namespace ck {

/// The text of ck/Runtime/Kernels.h.inc, valid in C and C++. For every map: `ckk_<id>_args`, the prototype of
/// `ckk_<id>`, constants `CKK_<ID>_<PARAM>_<VALUE>` of its enum params, prototypes of its implementations
/// `ckk_<id>__<isa>`, and for each piece of scratch `ckk_<id>__<name>_bytes`. A twin shares the struct of the map it
/// names. Errors: a twin whose map is missing, is itself a twin, or has another contract.
Result<std::string> generateKernelHeader(const std::vector<KernelMap> &maps);

/// The same for one source file: what the maps without `same_as` whose implementations name `source` need. Such a
/// header changes with these maps alone, so that a new map does not rebuild every kernel.
Result<std::string> generateSourceHeader(const std::vector<KernelMap> &maps, const std::string &source);
/// The source files that implementations name, sorted.
std::vector<std::string> kernelSources(const std::vector<KernelMap> &maps);

/// The text of a C++ source that defines `ck_kernel_table` (ascending by id) and `ck_kernel_table_size`, every
/// `ckk_<id>`, and the scratch sizes: the bytes of ScratchDecl::bytes, or INT64_MAX where that is an error.
Result<std::string> generateKernelRegistry(const std::vector<KernelMap> &maps);

} // namespace ck

#endif // CK_KERNELMAPS_KERNELGEN_H
