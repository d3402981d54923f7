//===- Npy.h - matrices for numpy -------------------------------*- C++ -*-===//
#ifndef CK_IMPORT_FORMATS_NPY_H
#define CK_IMPORT_FORMATS_NPY_H

#include "ck/Support/Result.h"

#include <cstdint>
#include <string>

namespace ck {

/// Writes the row-major matrix `data[rows, columns]` as a .npy file (format 1.0, little-endian f32), whole or not at
/// all. Errors as writeFileAtomically.
Status writeNpy(const std::string &path, const float *data, uint64_t rows, uint64_t columns);

} // namespace ck

#endif // CK_IMPORT_FORMATS_NPY_H
