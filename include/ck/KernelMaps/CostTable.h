//===- CostTable.h - measured costs of kernels ------------------*- C++ -*-===//
//
// What `ck-kernels tune` measured on one machine, for the selection of kernels there: instead of comparing the `cost`
// of maps, which counts operations, it can compare times. A table is a JSON file:
//
//   {"format": "ck-cost-table-1", "machine": "<model of the processor>", "isa": "avx2", "threads": 2,
//    "kernels": [{"id": "gemv_f32", "digest": "sha256:...",
//                 "points": [{"dims": {"K": 768, "N": 768}, "picoseconds": 41000000}]}]}
//
// The digest is that of the map: a measurement of another version does not count.
//
//===----------------------------------------------------------------------===//
#ifndef CK_KERNELMAPS_COSTTABLE_H
#define CK_KERNELMAPS_COSTTABLE_H

#include "ck/KernelMaps/KernelMap.h"

namespace ck {

struct CostTable {
  struct Point {
    std::map<std::string, int64_t> dims;
    int64_t picoseconds = 0; ///< at least 1
  };
  struct Kernel {
    std::string digest;
    std::vector<Point> points; ///< at least one
  };
  std::string machine, isa;
  int threads = 0;
  std::map<std::string, Kernel> kernels;

  bool measured(const KernelMap &map) const { return kernels.count(map.id()) != 0; }

  /// Estimated picoseconds of a call whose dims (and `$attributes`) `names` knows: those of the nearest point, in
  /// ratios of extents, times the ratio of the map's cost here to its cost there. Times are to be compared with times
  /// only: where a candidate was not measured, compare the maps' costs of all. An Error if this one was not, or where
  /// its cost has no value.
  Result<int64_t> cost(const KernelMap &map, const Expr::Lookup &names) const;

  /// An Error that names the first kernel of the table that `maps` do not have, or have in another version.
  Status checkAgainst(const std::vector<KernelMap> &maps) const;

  std::string str() const;
};

/// Errors name `path`, JSON pointer and rule, as those of kernel maps do.
Result<CostTable> parseCostTable(std::string_view text, const std::string &path);
Result<CostTable> loadCostTable(const std::string &path);

} // namespace ck

#endif // CK_KERNELMAPS_COSTTABLE_H
