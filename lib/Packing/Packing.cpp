//===- Packing.cpp - from items to offsets --------------------------------===//
#include "ck/Packing/Packing.h"

#include "Strategies.h"

using namespace ck;

/// Pinned blocks that meet in time must be apart in space.
static Status checkPins(const std::vector<PackItem> &items, const Blocks &blocks) {
  std::vector<PackItem> pinned;
  std::vector<int64_t> offsets;
  std::vector<size_t> position(blocks.list.size(), SIZE_MAX);
  for (size_t i = 0; i < items.size(); ++i) {
    size_t number = blocks.blockOf[i];
    const Block &block = blocks.list[number];
    if (!block.pinned)
      continue;
    if (position[number] == SIZE_MAX) {
      position[number] = pinned.size();
      PackItem &whole = pinned.emplace_back();
      whole.name = items[block.item].name;
      whole.size = block.size;
      offsets.push_back(*block.pinned);
    }
    // A block counts time in numbers; messages need the caller's time.
    std::vector<LiveRange> &ranges = pinned[position[number]].ranges;
    ranges.insert(ranges.end(), items[i].ranges.begin(), items[i].ranges.end());
  }
  return checkPacking(pinned, offsets);
}

Result<Packing> ck::pack(const std::vector<PackItem> &items, const PackOptions &options) {
  Result<Blocks> made = makeBlocks(items);
  if (!made)
    return made.error();
  const Blocks &blocks = *made;
  if (Status status = checkPins(items, blocks); !status)
    return status.error();
  Incumbent best;
  best.bound = blocks.bound;
  best.goal = options.capacity;
  packGreedily(best, blocks, options.pairLimit);
  if (options.effort == PackEffort::Search)
    searchOrders(best, blocks, options.nodes);
  if (options.effort == PackEffort::Exact) {
    // Orders are good at loose problems and cheap; what they leave over is for the tree.
    searchOrders(best, blocks, options.nodes / 16);
    packExactly(best, blocks, options.nodes - best.nodes);
  }
  if (!best.found)
    return Error{"no packing has offsets within 64 bits"};
  Packing packing;
  packing.height = best.height;
  packing.bound = blocks.bound;
  packing.provenBound = best.bound;
  packing.strategy = best.strategy;
  packing.nodes = best.nodes;
  for (size_t block : blocks.blockOf)
    packing.offsets.push_back(best.offsets[block]);
  return packing;
}

std::optional<PackEffort> ck::parsePackEffort(const std::string &name) {
  if (name == "greedy")
    return PackEffort::Greedy;
  if (name == "search")
    return PackEffort::Search;
  if (name == "exact")
    return PackEffort::Exact;
  return std::nullopt;
}

Result<int64_t> ck::packingLowerBound(const std::vector<PackItem> &items) {
  Result<Blocks> blocks = makeBlocks(items);
  if (!blocks)
    return blocks.error();
  return blocks->bound;
}
