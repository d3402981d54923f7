//===- Packing.h - buffers that live at times, put at offsets ---*- C++ -*-===//
//
// Dynamic storage allocation: every item needs `size` contiguous bytes during its live ranges; two items that live at
// the same time must not share a byte. `pack` finds offsets, `packingLowerBound` says what no packing can beat and
// `checkPacking` judges offsets wherever they came from. Everything is deterministic and exact in 64 bits.
//
//===----------------------------------------------------------------------===//
#ifndef CK_PACKING_PACKING_H
#define CK_PACKING_PACKING_H

#include "ck/Support/Result.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ck {

/// A half-open span of time, [lower, upper). The unit is the caller's: steps of a program, ticks of a trace.
struct LiveRange {
  int64_t lower = 0, upper = 0;
  bool operator==(const LiveRange &other) const { return lower == other.lower && upper == other.upper; }
};

/// One buffer to place.
struct PackItem {
  std::string name;              ///< for messages
  int64_t size = 0;              ///< bytes, >= 0; an item of 0 bytes conflicts with nothing
  std::vector<LiveRange> ranges; ///< in any order, may touch or overlap; empty = never live
  int64_t alignment = 1;         ///< the offset is a multiple of it, >= 1
  std::optional<int64_t> pinned; ///< the offset that it must have
  /// Index of the item whose offset it shares, because both name one storage (a result computed in place of an
  /// operand). An alias class is one block: of the largest size, live whenever one of its items is.
  std::optional<size_t> alias;
};

/// The default budget of search: seconds for hard problems of a few hundred buffers.
inline constexpr int64_t kDefaultPackNodes = 250000;

/// How hard to try; each effort includes those before it.
enum class PackEffort {
  Greedy, ///< a portfolio of greedy strategies
  Search, ///< then local search over the orders in which blocks are placed
  Exact   ///< then branch and bound, which can prove that a packing is the lowest
};

/// What to try, and for how long. Limits count work, not seconds, so that the result does not depend on the machine.
struct PackOptions {
  PackEffort effort = PackEffort::Greedy;
  /// A height that is low enough: packing stops at the first that is not higher. Negative: the lower the better.
  int64_t capacity = -1;
  /// Most nodes of local search and branch and bound together. A node is one block put at one offset;
  /// it counts more than once in problems in which blocks meet many others.
  int64_t nodes = kDefaultPackNodes;
  /// Most pairs of items with common live time that one strategy may look at; above it only strategies that need no
  /// pairs are tried.
  int64_t pairLimit = int64_t(1) << 22;
};

/// A solution.
struct Packing {
  std::vector<int64_t> offsets; ///< bytes, one for each item
  int64_t height = 0;           ///< largest offset + size: the bytes of the arena
  int64_t bound = 0;            ///< packingLowerBound of the items
  int64_t provenBound = 0;      ///< no packing is lower: `bound` or what branch and bound proved
  int64_t nodes = 0;            ///< spent on local search and branch and bound
  std::string strategy;         ///< which strategy won, for reports

  bool isOptimal() const { return height == provenBound; }
};

/// Reads `greedy`, `search` or `exact`.
std::optional<PackEffort> parsePackEffort(const std::string &name);

/// Packs with more and more effort and keeps the lowest result; stops at the first that meets the bound or the
/// capacity. A capacity that is not met is no error: compare `height`. Errors: malformed items (named), pinned items in
/// conflict, offsets beyond 64 bits.
Result<Packing> pack(const std::vector<PackItem> &items, const PackOptions &options = {});

/// The largest sum of bytes live at one time: no packing is lower. Takes alias classes as single blocks and ignores
/// alignment. Errors as `pack`.
Result<int64_t> packingLowerBound(const std::vector<PackItem> &items);

/// Judges a packing with code of its own. The error names the two items, their byte ranges and a time at which both are
/// live; or the item that is misaligned, off its pin or alias, or beyond `limit` bytes (negative: no limit).
Status checkPacking(const std::vector<PackItem> &items, const std::vector<int64_t> &offsets, int64_t limit = -1);

} // namespace ck

#endif // CK_PACKING_PACKING_H
