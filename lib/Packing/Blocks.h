//===- Blocks.h - items made ready for packing ------------------*- C++ -*-===//
//
// A block is an alias class of items: the unit that strategies place. Its ranges are sorted, disjoint and not empty,
// in times numbered 0, 1, 2, ... where something begins or ends.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_PACKING_BLOCKS_H
#define CK_LIB_PACKING_BLOCKS_H

#include "ck/Packing/Packing.h"

#include <functional>

namespace ck {

struct Block {
  int64_t size = 0, alignment = 1;
  std::vector<LiveRange> ranges;
  std::optional<int64_t> pinned;
  int64_t lifetime = 0; ///< sum of its ranges in the caller's unit, capped at 64 bits
  size_t item = 0;      ///< index of the item that names it

  bool occupies() const { return size > 0 && !ranges.empty(); }
  int64_t begin() const { return ranges.front().lower; }
  int64_t end() const { return ranges.back().upper; }
};

struct Blocks {
  std::vector<Block> list;
  std::vector<size_t> blockOf; ///< by item
  int64_t times = 0;           ///< ranges lie in [0, times)
  std::vector<int64_t> live;   ///< bytes live during [t, t+1), by time
  int64_t bound = 0;           ///< largest live sum, or end of a pinned block
};

/// Validates items and merges alias classes.
Result<Blocks> makeBlocks(const std::vector<PackItem> &items);

/// `value` rounded up to a multiple of `alignment`; false on overflow.
bool alignUp(int64_t value, int64_t alignment, int64_t &result);

/// Offsets of all blocks, or nothing when a strategy cannot handle the problem (overflow, a form it does not know).
using Placement = std::optional<std::vector<int64_t>>;

/// For each block those that it meets in time, ascending; nothing when there are more than `limit` pairs.
using Neighbours = std::vector<std::vector<uint32_t>>;
std::optional<Neighbours> findNeighbours(const Blocks &blocks, int64_t limit);

/// Places blocks one by one in `order`, each into a gap between the placed ones that it meets: the lowest that is large
/// enough, or with `bestFit` the tightest. Pinned blocks come first, wherever they stand in `order`.
Placement placeInGaps(const Blocks &blocks, const Neighbours &neighbours, const std::vector<size_t> &order,
                      bool bestFit);

/// Places blocks in `order`, each on top of everything placed so far during its life: O(n log n).
Placement placeOnSkyline(const Blocks &blocks, const std::vector<size_t> &order);

/// Stacks what is live at the time `from`, then allocates and frees forwards and backwards in time from there, with
/// first fit or best fit. Knows no pins. O(n log n) while free gaps are few.
Placement placeBySweep(const Blocks &blocks, int64_t from, bool bestFit);

/// Fills the skyline from its lowest valley upwards: of the blocks that live within the valley it takes the one that
/// comes first in `before`; a valley that nothing fits into is raised to its lower shore. Knows single live ranges and
/// no pins. Quadratic in the number of blocks.
Placement fillValleys(const Blocks &blocks, const std::function<bool(size_t, size_t)> &before);

} // namespace ck

#endif // CK_LIB_PACKING_BLOCKS_H
