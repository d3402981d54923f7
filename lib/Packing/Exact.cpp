//===- Exact.cpp - the lowest packing by searches for capacities ----------===//
//
// A capacity is decided by searches that restart with other orders of branches and growing limits of nodes: most of
// them either find a packing within few nodes or are lost in a part of the tree that has none. What one refuted the
// next ones know. The lowest capacity is found by trying the bound first, which real programs usually meet, then by
// bisection; an undecided capacity counts as too low until the capacities above it are decided, then it gets more.
//
//===----------------------------------------------------------------------===//
#include "Strategies.h"
#include "TreeSearch.h"

#include <algorithm>
#include <cmath>

using namespace ck;

namespace {
class ExactPacker {
public:
  ExactPacker(Incumbent &best, const Blocks &blocks, int64_t nodes)
      : best(best), blocks(blocks), problem(makeTreeProblem(blocks)), tree(problem), left(nodes) {
    int64_t pairs = 0;
    for (const std::vector<uint32_t> &list : *best.neighbours)
      pairs += static_cast<int64_t>(list.size());
    cost = 1 + pairs / static_cast<int64_t>(blocks.list.size()) / 32;
  }
  void run();

private:
  Fit decide(int64_t capacity, int64_t nodes);
  Branching branchingOf(int64_t attempt) const;
  void minimize();
  void keep();
  /// The highest capacity that would improve on what was found, and the lowest that is not refuted; in units. The
  /// largest number of all stands for "refuted", so a height of that many bytes is given up.
  int64_t highest() const {
    return best.found ? (best.height - 1) / problem.unit : std::min(INT64_MAX / problem.unit, INT64_MAX - 1);
  }
  int64_t lowest() const { return best.bound / problem.unit + (best.bound % problem.unit != 0); }

  Incumbent &best;
  const Blocks &blocks;
  TreeProblem problem;
  TreeSearch tree;
  int64_t left;
  int64_t cost; ///< what a node of the tree counts: more where placing a block changes many others
};
} // namespace

/// Six orders, each for the three choices of branch times; from the second round on with noise.
Branching ExactPacker::branchingOf(int64_t attempt) const {
  constexpr int64_t orders = 6;
  Branching branching;
  constexpr BranchAt times[] = {BranchAt::Fewest, BranchAt::Failures, BranchAt::Lowest};
  branching.time = times[attempt / orders % 3];
  uint64_t random = 0x9e3779b97f4a7c15u * static_cast<uint64_t>(attempt + 1);
  double noise = attempt < 3 * orders ? 0.0 : 0.3;
  for (const TreeProblem::Item &item : problem.items) {
    double size = static_cast<double>(item.size), length = 0;
    for (const LiveRange &range : item.ranges)
      length += static_cast<double>(range.upper - range.lower);
    double lifetime = static_cast<double>(blocks.list[item.block].lifetime), priority = 0;
    switch (attempt % orders) {
    case 0: // area
      priority = length * size;
      break;
    case 1: // length
      priority = length * length * length * std::sqrt(size);
      break;
    case 2: // size
      priority = size * size * size * std::sqrt(length);
      break;
    case 3: // area in the caller's time
      priority = lifetime * size;
      break;
    case 4:
      priority = std::sqrt(length) * size;
      break;
    case 5:
      priority = length * length * size;
      break;
    }
    random = random * 6364136223846793005u + 1442695040888963407u;
    branching.priority.push_back(priority * (1.0 + noise * static_cast<double>(random >> 40) / (1 << 24)));
  }
  return branching;
}

void ExactPacker::keep() {
  std::vector<int64_t> offsets;
  for (const Block &block : blocks.list)
    offsets.push_back(block.pinned.value_or(0));
  for (size_t i = 0; i < problem.items.size(); ++i)
    offsets[problem.items[i].block] = tree.offsets()[i] * problem.unit;
  best.offer(blocks, offsets, "exact");
}

/// Decides whether `capacity` units suffice, for at most `nodes` nodes.
Fit ExactPacker::decide(int64_t capacity, int64_t nodes) {
  constexpr int64_t attemptsPerRound = 18;
  nodes = std::min(nodes, left);
  int64_t refuted;
  int64_t round = 400 + static_cast<int64_t>(problem.items.size());
  for (int64_t attempt = 0; nodes >= cost; ++attempt) {
    if (attempt != 0 && attempt % attemptsPerRound == 0)
      round *= 2;
    Fit fit = tree.run(capacity, branchingOf(attempt), std::min(round, nodes / cost));
    int64_t spent = tree.nodes() * cost;
    nodes -= spent;
    left -= spent;
    best.nodes += spent;
    if (fit == Fit::Yes)
      keep();
    else if (fit == Fit::No && __builtin_mul_overflow(capacity + 1, problem.unit, &refuted))
      best.bound = INT64_MAX;
    else if (fit == Fit::No)
      best.bound = std::max(best.bound, refuted);
    if (fit != Fit::Unknown)
      return fit;
    // A search that gave up without a node would do so for ever.
    if (tree.nodes() == 0)
      break;
  }
  return Fit::Unknown;
}

void ExactPacker::minimize() {
  if (lowest() <= highest())
    decide(lowest(), left / 2);
  while (!best.done() && left >= cost && lowest() <= highest()) {
    // Capacities below `low` are refuted or, in this pass, too hard.
    int64_t low = lowest();
    while (!best.done() && left >= cost && low <= highest()) {
      int64_t capacity = low + (highest() - low) / 2;
      if (decide(capacity, std::max<int64_t>(left / 8, 1000)) != Fit::Yes)
        low = capacity + 1;
    }
  }
}

void ExactPacker::run() {
  if (best.goal >= 0)
    decide(std::min(best.goal / problem.unit, highest()), left);
  else
    minimize();
}

void ck::packExactly(Incumbent &best, const Blocks &blocks, int64_t nodes) {
  // Without neighbours the problem is too large for the tree as well.
  if (!best.done() && best.neighbours && nodes > 0)
    ExactPacker(best, blocks, nodes).run();
}
