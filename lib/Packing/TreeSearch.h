//===- TreeSearch.h - does a problem fit into a capacity? -------*- C++ -*-===//
//
// The decision problem behind exact packing: offsets within a capacity, or the proof that there are none. A node of the
// tree is a partial packing that grows from low offsets to high ones, and its branches are the blocks that can lie next
// at one time. TreeSearch.cpp says what prunes it.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_PACKING_TREESEARCH_H
#define CK_LIB_PACKING_TREESEARCH_H

#include "Blocks.h"

#include <memory>

namespace ck {

/// A packing problem in its smallest form. Bytes are counted in units that divide every size, alignment and pin; times
/// at which a subset of a neighbouring time's blocks is live have been dropped; blocks that occupy nothing as well.
struct TreeProblem {
  struct Item {
    int64_t size = 0, alignment = 1;
    std::vector<LiveRange> ranges; ///< in times of this problem
    std::optional<int64_t> pinned;
    size_t block = 0; ///< index in Blocks::list
    int64_t begin() const { return ranges.front().lower; }
    int64_t end() const { return ranges.back().upper; }
  };
  std::vector<Item> items; ///< by begin
  int64_t times = 0;
  int64_t unit = 1; ///< bytes
};
TreeProblem makeTreeProblem(const Blocks &blocks);

/// What a search has found out about a capacity.
enum class Fit { Yes, No, Unknown };

/// Which time a search branches at, among those where it may.
enum class BranchAt {
  Fewest,   ///< where fewest blocks can lie next
  Failures, ///< the same, divided by how often no packing was possible there
  Lowest    ///< at the lowest level, there as Fewest
};

/// How branches are chosen. Every choice is complete; a search that is lost with one may be short with another.
struct Branching {
  std::vector<double> priority; ///< of items: larger ones are tried first
  BranchAt time = BranchAt::Fewest;
};

/// Searches one problem any number of times and remembers what it refuted.
class TreeSearch {
public:
  explicit TreeSearch(const TreeProblem &problem);
  ~TreeSearch();

  /// Looks for a packing below `capacity` units with at most `nodes` nodes.
  Fit run(int64_t capacity, const Branching &branching, int64_t nodes);
  /// Offsets of items in units, after a run that answered Yes.
  const std::vector<int64_t> &offsets() const;
  /// Nodes of the last run.
  int64_t nodes() const;

private:
  class Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace ck

#endif // CK_LIB_PACKING_TREESEARCH_H
