//===- Greedy.cpp - the portfolio of greedy strategies --------------------===//
//
// No greedy order is best for all programs, and each is cheap: try them in a fixed sequence and keep the lowest result.
//
//===----------------------------------------------------------------------===//
#include "Strategies.h"

#include <algorithm>
#include <numeric>

using namespace ck;

namespace {
/// An order of blocks: a larger key comes first, ties by position.
struct Order {
  const char *name;
  std::vector<size_t> blocks;
};
} // namespace

template <typename Key> static std::vector<size_t> orderBy(const Blocks &blocks, Key key) {
  std::vector<size_t> order(blocks.list.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    auto first = key(a), second = key(b);
    return first != second ? first > second : a < b;
  });
  return order;
}

/// Times in order of falling live bytes; of each, the blocks not yet taken that are live then, large ones first.
static std::vector<size_t> orderByPeak(const Blocks &blocks) {
  // The fullest time of each block decides when it is taken.
  std::vector<size_t> times(blocks.times), rank(blocks.times);
  std::iota(times.begin(), times.end(), size_t(0));
  std::sort(times.begin(), times.end(), [&](size_t a, size_t b) {
    return blocks.live[a] != blocks.live[b] ? blocks.live[a] > blocks.live[b] : a < b;
  });
  for (size_t i = 0; i < times.size(); ++i)
    rank[times[i]] = i;
  // A sparse table answers "lowest rank in a range" in constant time.
  std::vector<std::vector<size_t>> table = {rank};
  for (size_t step = 1; 2 * step <= rank.size(); step *= 2) {
    std::vector<size_t> level(rank.size() - 2 * step + 1);
    for (size_t i = 0; i < level.size(); ++i)
      level[i] = std::min(table.back()[i], table.back()[i + step]);
    table.push_back(std::move(level));
  }
  auto lowestRank = [&](const LiveRange &range) {
    size_t level = 0;
    while ((int64_t(2) << level) <= range.upper - range.lower)
      ++level;
    return std::min(table[level][range.lower], table[level][range.upper - (int64_t(1) << level)]);
  };
  std::vector<size_t> first(blocks.list.size(), SIZE_MAX);
  for (size_t i = 0; i < blocks.list.size(); ++i)
    for (const LiveRange &range : blocks.list[i].ranges)
      first[i] = std::min(first[i], lowestRank(range));
  return orderBy(blocks,
                 [&](size_t i) { return std::pair<size_t, int64_t>(SIZE_MAX - first[i], blocks.list[i].size); });
}

static std::vector<Order> makeOrders(const Blocks &blocks, const Neighbours *neighbours) {
  const std::vector<Block> &list = blocks.list;
  std::vector<Order> orders;
  orders.push_back({"peak", orderByPeak(blocks)});
  orders.push_back({"size", orderBy(blocks, [&](size_t i) { return std::pair(list[i].size, list[i].lifetime); })});
  orders.push_back({"area", orderBy(blocks, [&](size_t i) {
                      return static_cast<__int128>(list[i].size) * static_cast<__int128>(list[i].lifetime);
                    })});
  orders.push_back({"lifetime", orderBy(blocks, [&](size_t i) { return std::pair(list[i].lifetime, list[i].size); })});
  orders.push_back({"program", orderBy(blocks, [&](size_t i) {
                      return std::pair(list[i].ranges.empty() ? 0 : -list[i].begin(), list[i].size);
                    })});
  if (neighbours)
    orders.push_back({"conflict", orderBy(blocks, [&](size_t i) {
                        __int128 weight = 0;
                        for (uint32_t other : (*neighbours)[i])
                          weight += list[other].size;
                        return std::pair(weight, list[i].size);
                      })});
  return orders;
}

bool Incumbent::offer(const Blocks &blocks, const Placement &placement, const std::string &name) {
  if (!placement)
    return false;
  int64_t newHeight = 0;
  for (size_t i = 0; i < blocks.list.size(); ++i)
    newHeight = std::max(newHeight, (*placement)[i] + blocks.list[i].size);
  if (found && newHeight >= height)
    return false;
  found = true;
  height = newHeight;
  offsets = *placement;
  strategy = name;
  return true;
}

/// Sweeps from the fullest time, the first and the last one.
static void trySweeps(Incumbent &best, const Blocks &blocks) {
  if (blocks.times == 0)
    return;
  int64_t peak = std::max_element(blocks.live.begin(), blocks.live.end()) - blocks.live.begin();
  const std::pair<const char *, int64_t> starts[] = {{"peak", peak}, {"first", 0}, {"last", blocks.times - 1}};
  for (bool bestFit : {false, true})
    for (auto [name, from] : starts)
      if (!best.done())
        best.offer(blocks, placeBySweep(blocks, from, bestFit),
                   std::string("sweep from ") + name + (bestFit ? ", best fit" : ", first fit"));
}

static void tryGaps(Incumbent &best, const Blocks &blocks, const std::vector<Order> &orders, int64_t pairLimit) {
  const Neighbours &neighbours = *best.neighbours;
  // An order costs a look at every pair from both sides.
  int64_t cost = 1;
  for (const std::vector<uint32_t> &list : neighbours)
    cost += static_cast<int64_t>(list.size());
  int64_t left = std::max<int64_t>(8 * (pairLimit / cost), 1);
  for (bool bestFit : {false, true})
    for (const Order &order : orders) {
      if (best.order.empty()) {
        best.order = order.blocks;
        best.bestFit = bestFit;
      }
      if (best.done() || left-- == 0)
        return;
      bool better = best.offer(blocks, placeInGaps(blocks, neighbours, order.blocks, bestFit),
                               std::string(order.name) + (bestFit ? ", best fit" : ", first fit"));
      if (better) {
        best.order = order.blocks;
        best.bestFit = bestFit;
      }
    }
}

static void tryValleys(Incumbent &best, const Blocks &blocks, int64_t pairLimit) {
  int64_t count = static_cast<int64_t>(blocks.list.size());
  if (count != 0 && count > pairLimit / count)
    return;
  const std::vector<Block> &list = blocks.list;
  if (best.done())
    return;
  best.offer(blocks,
             fillValleys(blocks,
                         [&](size_t a, size_t b) {
                           return std::pair(list[a].lifetime, list[a].size) > std::pair(list[b].lifetime, list[b].size);
                         }),
             "valleys, longest first");
  if (best.done())
    return;
  best.offer(blocks,
             fillValleys(blocks,
                         [&](size_t a, size_t b) {
                           return std::pair(list[a].size, list[a].lifetime) > std::pair(list[b].size, list[b].lifetime);
                         }),
             "valleys, largest first");
}

void ck::packGreedily(Incumbent &best, const Blocks &blocks, int64_t pairLimit) {
  // Few pairs are cheaper to look at than a sweep is to make; with many it is the other way round.
  constexpr int64_t fewPairs = int64_t(1) << 17;
  best.neighbours = findNeighbours(blocks, std::min(pairLimit, fewPairs));
  bool few = best.neighbours.has_value();
  if (few)
    tryGaps(best, blocks, makeOrders(blocks, &*best.neighbours), pairLimit);
  trySweeps(best, blocks);
  if (best.done())
    return;
  if (!few)
    best.neighbours = findNeighbours(blocks, pairLimit);
  std::vector<Order> orders = makeOrders(blocks, best.neighbours ? &*best.neighbours : nullptr);
  if (!few && best.neighbours)
    tryGaps(best, blocks, orders, pairLimit);
  tryValleys(best, blocks, pairLimit);
  for (const Order &order : orders)
    if (!best.done())
      best.offer(blocks, placeOnSkyline(blocks, order.blocks), std::string(order.name) + ", skyline");
}
