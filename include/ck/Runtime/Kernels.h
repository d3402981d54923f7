/*===- Kernels.h - typed prototypes of every native kernel ----------------===//
 *
 * Args structs and prototypes generated from the kernel maps at build time: for each provider `ckk_<id>_args` and
 * `int32_t ckk_<id>(ck_context *, const ckk_<id>_args *)`.
 *
 *===----------------------------------------------------------------------===*/
#ifndef CK_RUNTIME_KERNELS_H
#define CK_RUNTIME_KERNELS_H

#include "ck/Runtime/Runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "ck/Runtime/Kernels.h.inc"

#ifdef __cplusplus
}
#endif

#endif /* CK_RUNTIME_KERNELS_H */
