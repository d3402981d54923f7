//===- DType.h - the element types of signatures ----------------*- C++ -*-===//
//
// The closed list of element types: builtin numbers and the block-quantised storage types, with their sizes. Packed
// forms are written `packed<q4_k,r8>`; their size is known only to the packer that makes them.
//
//===----------------------------------------------------------------------===//
#ifndef CK_KERNELMAPS_DTYPE_H
#define CK_KERNELMAPS_DTYPE_H

#include "ck/Support/Result.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace ck {

/// One element type: `blockElements` consecutive elements of a row take `blockBytes`. Plain numbers have blocks of 1.
struct DTypeInfo {
  std::string_view name;
  int blockElements;
  int blockBytes;
  std::string_view cType; ///< type of an element in C; "void" for block types
};

/// The entry of `name`, or nullptr when it is no plain or block type.
const DTypeInfo *findDTypeInfo(std::string_view name);
/// Every plain and block type, in a fixed order.
const std::vector<DTypeInfo> &allDTypes();
/// True for plain and block types and well-formed packed forms of them.
bool isKnownDType(std::string_view name);

/// Bytes of a compact tensor. Errors: an unknown or packed type, a dynamic or negative extent, rows that do not fill
/// whole blocks, overflow. A rank of 0 is one element.
Result<int64_t> storageBytes(std::string_view dtype, const std::vector<int64_t> &shape);

} // namespace ck

#endif // CK_KERNELMAPS_DTYPE_H
