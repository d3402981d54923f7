//===- LocalSearch.cpp - better orders for first fit and best fit ---------===//
//
// An order of blocks decides a packing: each goes into a gap between those before it. Blocks that stick out on top were
// placed too late, so the search moves one of them (or a random block) forward and keeps the order if the packing did
// not get worse. Equal packings are kept as well: the search has to cross plateaus.
//
//===----------------------------------------------------------------------===//
#include "Strategies.h"

#include <algorithm>

using namespace ck;

namespace {
/// How good a packing is: its height, then how much sticks out above the bound.
struct Score {
  int64_t height = INT64_MAX;
  __int128 excess = 0;
  bool operator<=(const Score &other) const {
    return height != other.height ? height < other.height : excess <= other.excess;
  }
};

/// A small generator with a fixed sequence on every machine.
class Random {
public:
  size_t below(size_t count) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>((state >> 33) % count);
  }

private:
  uint64_t state = 1;
};
} // namespace

static Score scoreOf(const Blocks &blocks, const std::vector<int64_t> &offsets, int64_t bound) {
  Score score = {0, 0};
  for (size_t i = 0; i < blocks.list.size(); ++i) {
    int64_t end = offsets[i] + blocks.list[i].size;
    score.height = std::max(score.height, end);
    score.excess += std::max<int64_t>(end - bound, 0);
  }
  return score;
}

void ck::searchOrders(Incumbent &best, const Blocks &blocks, int64_t nodes) {
  if (best.done() || !best.neighbours || best.order.size() < 2)
    return;
  const Neighbours &neighbours = *best.neighbours;
  // A node is one block put at one offset; looking at many neighbours costs more.
  int64_t cost = 0;
  for (const std::vector<uint32_t> &list : neighbours)
    cost += 1 + static_cast<int64_t>(list.size() / 64);
  std::vector<size_t> order = best.order;
  Placement placement = placeInGaps(blocks, neighbours, order, best.bestFit);
  if (!placement)
    return;
  Score score = scoreOf(blocks, *placement, best.bound);
  Random random;
  for (nodes -= cost; nodes >= cost && !best.done(); nodes -= cost) {
    std::vector<size_t> late;
    for (size_t position = 1; position < order.size(); ++position)
      if ((*placement)[order[position]] + blocks.list[order[position]].size > best.bound)
        late.push_back(position);
    size_t from =
        !late.empty() && random.below(4) != 0 ? late[random.below(late.size())] : 1 + random.below(order.size() - 1);
    size_t to = random.below(from);
    std::rotate(order.begin() + to, order.begin() + from, order.begin() + from + 1);
    best.nodes += cost;
    Placement changed = placeInGaps(blocks, neighbours, order, best.bestFit);
    Score newScore = changed ? scoreOf(blocks, *changed, best.bound) : Score();
    if (changed && newScore <= score) {
      score = newScore;
      placement = std::move(changed);
      best.offer(blocks, placement, "local search");
    } else {
      std::rotate(order.begin() + to, order.begin() + to + 1, order.begin() + from + 1);
    }
  }
}
