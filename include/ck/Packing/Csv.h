//===- Csv.h - packing problems as minimalloc CSV ---------------*- C++ -*-===//
//
// The table that allocation tools exchange: a header `id,lower,upper,size` in any order, one buffer per line, live in
// [lower, upper). Optional columns, each cell of which may be empty:
//
//   alignment   the offset is a multiple of it; empty = 1
//   gaps        spans within [lower, upper) in which the buffer is not live, `7-8 9-10`: half-open, separated by spaces
//   offset      the offset that the buffer must have; empty = free
//   alias       id of the buffer whose offset it shares, because both are one storage
//
// Other columns are carried along untouched.
//
//===----------------------------------------------------------------------===//
#ifndef CK_PACKING_CSV_H
#define CK_PACKING_CSV_H

#include "ck/Packing/Packing.h"

#include <string_view>

namespace ck {

/// A parsed table: its cells as they were written, and what they mean.
struct PackTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::vector<PackItem> items; ///< one for each row, in order; pinned where the row has an offset
};

/// Parses a table. Cells may be quoted as usual in CSV ("" is a quote). Errors begin with `line L, column C: `, both
/// counted from 1, columns in bytes.
Result<PackTable> parsePackCsv(std::string_view text);

/// The table with the column `offset` set, or added as the last one; rows and other columns as they were.
std::string printPackCsv(const PackTable &table, const std::vector<int64_t> &offsets);

} // namespace ck

#endif // CK_PACKING_CSV_H
