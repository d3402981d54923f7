//===- EmptyTable.cpp - a registry without kernels ------------------------===//

#include "Registry.h"

const ck_kernel *const ck_kernel_table[] = {nullptr};
const size_t ck_kernel_table_size = 0;
