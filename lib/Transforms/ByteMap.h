//===- ByteMap.h - who wrote each byte last ---------------------*- C++ -*-===//
//
// A map from addresses to the buffer that was written there last, in maximal runs. Walking a program with it finds
// every read that does not see what its buffer was given, whatever the planner believed about lifetimes.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_TRANSFORMS_BYTEMAP_H
#define CK_LIB_TRANSFORMS_BYTEMAP_H

#include "ck/Dialect/CK/CKDialect.h"

#include <map>

namespace ck {

/// Bytes [begin, end) of an arena.
struct ByteRange {
  int64_t begin = 0, end = 0;
  bool empty() const { return begin >= end; }
  bool overlaps(const ByteRange &other) const {
    return begin < other.end && other.begin < end && !empty() && !other.empty();
  }
  bool operator==(const ByteRange &other) const { return begin == other.begin && end == other.end; }
};

class ByteMap {
public:
  /// What stands in a run of bytes.
  struct Run {
    int64_t end;
    mlir::Value owner; ///< null where nothing has been written
    CallOp writer;
  };
  struct Found {
    ByteRange range;
    Run run;
  };

  void write(ByteRange range, mlir::Value owner, CallOp writer) {
    if (range.empty())
      return;
    split(range.begin);
    split(range.end);
    runs.erase(runs.lower_bound(range.begin), runs.lower_bound(range.end));
    runs.emplace(range.begin, Run{range.end, owner, writer});
  }

  /// The first run within `range` that does not belong to `owner`.
  std::optional<Found> findForeign(ByteRange range, mlir::Value owner) const {
    int64_t at = range.begin;
    auto run = runs.upper_bound(at);
    if (run != runs.begin() && std::prev(run)->second.end > at)
      --run;
    for (; at < range.end; ++run) {
      if (run == runs.end() || run->first > at) {
        int64_t end = run == runs.end() ? range.end : std::min(range.end, run->first);
        return Found{{at, end}, Run{end, {}, {}}};
      }
      int64_t end = std::min(range.end, run->second.end);
      if (run->second.owner != owner)
        return Found{{at, end}, run->second};
      at = end;
    }
    return std::nullopt;
  }

private:
  /// Makes `at` a boundary between runs.
  void split(int64_t at) {
    auto run = runs.lower_bound(at);
    if (run == runs.begin())
      return;
    --run;
    if (run->second.end <= at)
      return;
    Run tail = run->second;
    run->second.end = at;
    runs.emplace(at, tail);
  }

  std::map<int64_t, Run> runs; ///< by first byte; disjoint
};

} // namespace ck

#endif // CK_LIB_TRANSFORMS_BYTEMAP_H
