//===- Blocks.cpp - validation, alias classes, live bytes -----------------===//
#include "Blocks.h"

#include <algorithm>
#include <numeric>

using namespace ck;

bool ck::alignUp(int64_t value, int64_t alignment, int64_t &result) {
  int64_t rest = value % alignment;
  return !__builtin_add_overflow(value, rest == 0 ? 0 : alignment - rest, &result);
}

static std::string quoted(const PackItem &item) { return "'" + item.name + "'"; }

static Status validate(const std::vector<PackItem> &items) {
  for (const PackItem &item : items) {
    if (item.size < 0)
      return Error{quoted(item) + " has a negative size, " + std::to_string(item.size)};
    if (item.alignment < 1)
      return Error{quoted(item) + " has alignment " + std::to_string(item.alignment) + ", expected at least 1"};
    if (item.alias && *item.alias >= items.size())
      return Error{quoted(item) + " is an alias of item " + std::to_string(*item.alias) + ", but there are only " +
                   std::to_string(items.size())};
    if (item.pinned && *item.pinned < 0)
      return Error{quoted(item) + " is pinned to a negative offset, " + std::to_string(*item.pinned)};
    for (const LiveRange &range : item.ranges)
      if (range.lower > range.upper)
        return Error{quoted(item) + " ends at " + std::to_string(range.upper) + " before it begins at " +
                     std::to_string(range.lower)};
  }
  return Status::success();
}

/// The last item of the alias chain that starts at `item`, remembered in `roots`.
static Result<size_t> findRoot(const std::vector<PackItem> &items, size_t item, std::vector<size_t> &roots) {
  constexpr size_t open = SIZE_MAX - 1;
  std::vector<size_t> chain;
  while (roots[item] == SIZE_MAX && items[item].alias) {
    roots[item] = open;
    chain.push_back(item);
    item = *items[item].alias;
  }
  if (roots[item] == open)
    return Error{quoted(items[item]) + " is an alias of itself"};
  size_t root = roots[item] == SIZE_MAX ? item : roots[item];
  roots[item] = root;
  for (size_t link : chain)
    roots[link] = root;
  return root;
}

static Status addToBlock(Block &block, const PackItem &item) {
  int64_t common = std::gcd(block.alignment, item.alignment);
  if (__builtin_mul_overflow(block.alignment, item.alignment / common, &block.alignment))
    return Error{"alignments around " + quoted(item) + " have no common multiple within 64 bits"};
  if (item.pinned && block.pinned && *item.pinned != *block.pinned)
    return Error{quoted(item) + " is pinned to " + std::to_string(*item.pinned) + ", but its alias to " +
                 std::to_string(*block.pinned)};
  if (item.pinned)
    block.pinned = item.pinned;
  block.size = std::max(block.size, item.size);
  for (const LiveRange &range : item.ranges)
    if (range.lower < range.upper)
      block.ranges.push_back(range);
  return Status::success();
}

/// Sorts ranges and joins those that touch.
static void normalize(std::vector<LiveRange> &ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const LiveRange &a, const LiveRange &b) {
    return a.lower != b.lower ? a.lower < b.lower : a.upper < b.upper;
  });
  std::vector<LiveRange> joined;
  for (const LiveRange &range : ranges) {
    if (!joined.empty() && range.lower <= joined.back().upper)
      joined.back().upper = std::max(joined.back().upper, range.upper);
    else
      joined.push_back(range);
  }
  ranges = std::move(joined);
}

/// Renumbers times and computes lifetimes before that.
static void compressTimes(Blocks &blocks) {
  std::vector<int64_t> points;
  for (Block &block : blocks.list)
    for (const LiveRange &range : block.ranges) {
      points.push_back(range.lower);
      points.push_back(range.upper);
      int64_t length;
      if (__builtin_sub_overflow(range.upper, range.lower, &length) ||
          __builtin_add_overflow(block.lifetime, length, &block.lifetime))
        block.lifetime = INT64_MAX;
    }
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  auto number = [&](int64_t time) {
    return static_cast<int64_t>(std::lower_bound(points.begin(), points.end(), time) - points.begin());
  };
  for (Block &block : blocks.list)
    for (LiveRange &range : block.ranges)
      range = {number(range.lower), number(range.upper)};
  blocks.times = points.empty() ? 0 : static_cast<int64_t>(points.size()) - 1;
}

static Status countLive(Blocks &blocks, const std::vector<PackItem> &items) {
  // Sums of differences can pass 64 bits in between even if no live sum does.
  std::vector<__int128> change(blocks.times + 1, 0);
  for (const Block &block : blocks.list)
    for (const LiveRange &range : block.ranges) {
      change[range.lower] += block.size;
      change[range.upper] -= block.size;
    }
  __int128 sum = 0;
  for (int64_t time = 0; time < blocks.times; ++time) {
    sum += change[time];
    if (sum > INT64_MAX)
      return Error{"the bytes that are live at one time exceed 64 bits"};
    blocks.live.push_back(static_cast<int64_t>(sum));
    blocks.bound = std::max(blocks.bound, blocks.live.back());
  }
  for (const Block &block : blocks.list) {
    int64_t end;
    if (__builtin_add_overflow(block.pinned.value_or(0), block.size, &end))
      return Error{quoted(items[block.item]) + " is pinned to " + std::to_string(*block.pinned) +
                   ", from where its end exceeds 64 bits"};
    if (block.pinned && *block.pinned % block.alignment != 0)
      return Error{quoted(items[block.item]) + " is pinned to " + std::to_string(*block.pinned) +
                   ", which is no multiple of its alignment " + std::to_string(block.alignment)};
    // Storage that is never live still has to lie inside the arena.
    blocks.bound = std::max(blocks.bound, end);
  }
  return Status::success();
}

Result<Blocks> ck::makeBlocks(const std::vector<PackItem> &items) {
  if (Status status = validate(items); !status)
    return status.error();
  Blocks blocks;
  std::vector<size_t> roots(items.size(), SIZE_MAX), blockOfRoot(items.size(), SIZE_MAX);
  for (size_t i = 0; i < items.size(); ++i) {
    Result<size_t> root = findRoot(items, i, roots);
    if (!root)
      return root.error();
    if (blockOfRoot[*root] == SIZE_MAX) {
      blockOfRoot[*root] = blocks.list.size();
      blocks.list.emplace_back().item = *root;
    }
    blocks.blockOf.push_back(blockOfRoot[*root]);
    if (Status status = addToBlock(blocks.list[blockOfRoot[*root]], items[i]); !status)
      return status.error();
  }
  for (Block &block : blocks.list)
    normalize(block.ranges);
  compressTimes(blocks);
  if (Status status = countLive(blocks, items); !status)
    return status.error();
  return blocks;
}

std::optional<Neighbours> ck::findNeighbours(const Blocks &blocks, int64_t limit) {
  struct Event {
    LiveRange range;
    uint32_t block;
  };
  std::vector<Event> events;
  for (size_t i = 0; i < blocks.list.size(); ++i)
    if (blocks.list[i].occupies())
      for (const LiveRange &range : blocks.list[i].ranges)
        events.push_back({range, static_cast<uint32_t>(i)});
  std::sort(events.begin(), events.end(), [](const Event &a, const Event &b) {
    return std::pair(a.range.lower, a.block) < std::pair(b.range.lower, b.block);
  });
  Neighbours neighbours(blocks.list.size());
  std::vector<Event> active;
  int64_t pairs = 0;
  for (const Event &event : events) {
    active.erase(std::remove_if(active.begin(), active.end(),
                                [&](const Event &other) { return other.range.upper <= event.range.lower; }),
                 active.end());
    pairs += static_cast<int64_t>(active.size());
    if (pairs > limit)
      return std::nullopt;
    for (const Event &other : active) {
      neighbours[event.block].push_back(other.block);
      neighbours[other.block].push_back(event.block);
    }
    active.push_back(event);
  }
  for (std::vector<uint32_t> &list : neighbours) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return neighbours;
}
