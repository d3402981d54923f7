//===- Strategies.h - the three efforts of the packer -----------*- C++ -*-===//
//
// Each effort improves on what was found before: the greedy portfolio, local search over orders, exact search.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_PACKING_STRATEGIES_H
#define CK_LIB_PACKING_STRATEGIES_H

#include "Blocks.h"

namespace ck {

/// The lowest packing so far, and what is known about the lowest possible one.
struct Incumbent {
  bool found = false;
  std::vector<int64_t> offsets; ///< of blocks
  int64_t height = 0;
  std::string strategy;
  int64_t bound = 0;                    ///< no packing is lower
  int64_t goal = -1;                    ///< a height that is low enough; -1: only the lowest is
  int64_t nodes = 0;                    ///< spent so far
  std::optional<Neighbours> neighbours; ///< nothing when there are too many pairs
  /// The order, and the kind of fit, that local search starts from: those of the best placement into gaps.
  std::vector<size_t> order;
  bool bestFit = false;

  /// Nothing is left to do: the packing is good enough or the lowest, or the goal is out of reach.
  bool done() const { return found && (height <= goal || height <= bound || (goal >= 0 && bound > goal)); }
  /// Keeps `placement` if it is lower than what was found; says so.
  bool offer(const Blocks &blocks, const Placement &placement, const std::string &name);
};

/// Tries the greedy strategies. Those that need pairs of blocks look at no more than a few times `pairLimit` pairs.
void packGreedily(Incumbent &best, const Blocks &blocks, int64_t pairLimit);

/// Changes the order in which blocks are put into gaps, for `nodes` nodes. Needs neighbours.
void searchOrders(Incumbent &best, const Blocks &blocks, int64_t nodes);

/// Searches for lower packings, or the proof that there are none, for `nodes` nodes.
void packExactly(Incumbent &best, const Blocks &blocks, int64_t nodes);

} // namespace ck

#endif // CK_LIB_PACKING_STRATEGIES_H
