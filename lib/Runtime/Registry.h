//===- Registry.h - the generated table of kernels --------------*- C++ -*-===//
//
// ck-kernel-gen writes these two symbols from the kernel maps; tests link a table of their own.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_RUNTIME_REGISTRY_H
#define CK_LIB_RUNTIME_REGISTRY_H

#include "ck/Runtime/Runtime.h"

extern "C" {
/// Every kernel, strictly ascending by id (strcmp order).
extern const ck_kernel *const ck_kernel_table[];
extern const size_t ck_kernel_table_size;
}

#endif // CK_LIB_RUNTIME_REGISTRY_H
