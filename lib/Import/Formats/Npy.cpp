//===- Npy.cpp - matrices for numpy ---------------------------------------===//
#include "ck/Import/Formats/Npy.h"

#include "ck/Import/Formats/AtomicFile.h"

namespace ck {

Status writeNpy(const std::string &path, const float *data, uint64_t rows, uint64_t columns) {
  std::string fields = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " +
                       std::to_string(columns) + "), }";
  // Magic, version and length take 10 bytes; spaces bring the data to a multiple of 64.
  size_t padded = (10 + fields.size() + 1 + 63) / 64 * 64 - 10;
  fields.resize(padded - 1, ' ');
  fields += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(padded & 0xff);
  header += static_cast<char>(padded >> 8);
  header += fields;
  return writeFileAtomically(
      path, {header, {reinterpret_cast<const char *>(data), static_cast<size_t>(rows * columns * sizeof(float))}});
}

} // namespace ck
