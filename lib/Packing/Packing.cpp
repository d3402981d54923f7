//===- Packing.cpp - from items to offsets --------------------------------===//
#include "ck/Packing/Packing.h"

#include "Strategies.h"

using namespace ck;

/// Pinned blocks that meet in time must be apart in space.
static Status checkPins(const std::vector<PackItem> &items, const Blocks &blocks) {
  std::vector<PackItem> pinned;
  std::vector<int64_t> offsets;
  for (const Block &block : blocks.list)
    if (block.pinned) {
      PackItem item = items[block.item];
      item.size = block.size;
      item.ranges = block.ranges;
      item.alias = std::nullopt;
      pinned.push_back(std::move(item));
      offsets.push_back(*block.pinned);
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
