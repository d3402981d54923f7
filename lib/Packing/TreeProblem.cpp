//===- TreeProblem.cpp - a packing problem in its smallest form -----------===//
#include "TreeSearch.h"

#include <algorithm>
#include <numeric>

using namespace ck;

/// For each time the number of the kept time that stands for it. A time is kept if something begins at it (or since the
/// last kept one) and something ends behind it: what is live at any other is live at a kept neighbour too.
static std::vector<int64_t> keepTimes(const Blocks &blocks, int64_t &kept) {
  std::vector<char> begins(blocks.times + 1, 0), ends(blocks.times + 1, 0);
  for (const Block &block : blocks.list)
    if (block.occupies())
      for (const LiveRange &range : block.ranges)
        begins[range.lower] = ends[range.upper] = 1;
  // Boundary `t` maps to the number of kept times before it: of a range, that counts the kept times within.
  std::vector<int64_t> numberOf(blocks.times + 1, 0);
  bool begun = false;
  kept = 0;
  for (int64_t time = 0; time < blocks.times; ++time) {
    numberOf[time] = kept;
    begun |= begins[time] != 0;
    if (begun && ends[time + 1]) {
      ++kept;
      begun = false;
    }
  }
  numberOf[blocks.times] = kept;
  return numberOf;
}

/// The largest number of bytes that every offset of a canonical packing is a multiple of.
static int64_t findUnit(const Blocks &blocks) {
  int64_t unit = 0;
  for (const Block &block : blocks.list)
    if (block.occupies()) {
      unit = std::gcd(unit, block.size);
      unit = std::gcd(unit, block.pinned.value_or(0));
      if (block.alignment > 1)
        unit = std::gcd(unit, block.alignment);
    }
  return std::max<int64_t>(unit, 1);
}

TreeProblem ck::makeTreeProblem(const Blocks &blocks) {
  TreeProblem problem;
  problem.unit = findUnit(blocks);
  std::vector<int64_t> numberOf = keepTimes(blocks, problem.times);
  for (size_t i = 0; i < blocks.list.size(); ++i) {
    const Block &block = blocks.list[i];
    if (!block.occupies())
      continue;
    TreeProblem::Item item;
    item.block = i;
    item.size = block.size / problem.unit;
    item.alignment = std::max<int64_t>(block.alignment / problem.unit, 1);
    if (block.pinned)
      item.pinned = *block.pinned / problem.unit;
    for (const LiveRange &range : block.ranges) {
      LiveRange mapped = {numberOf[range.lower], numberOf[range.upper]};
      if (!item.ranges.empty() && item.ranges.back().upper == mapped.lower)
        item.ranges.back().upper = mapped.upper;
      else
        item.ranges.push_back(mapped);
    }
    problem.items.push_back(std::move(item));
  }
  std::sort(problem.items.begin(), problem.items.end(), [](const auto &a, const auto &b) {
    return a.begin() != b.begin() ? a.begin() < b.begin() : a.block < b.block;
  });
  return problem;
}
