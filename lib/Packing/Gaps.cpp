//===- Gaps.cpp - first fit and best fit into gaps ------------------------===//
//
// A block meets few others in time, so the gaps that it can use are found by sorting those by offset.
//
//===----------------------------------------------------------------------===//
#include "Blocks.h"

#include <algorithm>

using namespace ck;

namespace {
struct Span {
  int64_t begin, end;
  bool operator<(const Span &other) const { return begin != other.begin ? begin < other.begin : end < other.end; }
};
} // namespace

/// The offset of `block` among the bytes `taken`, sorted; nothing on overflow.
static std::optional<int64_t> findGap(const Block &block, const std::vector<Span> &taken, bool bestFit) {
  std::optional<int64_t> best;
  int64_t bestSlack = INT64_MAX, top = 0;
  for (const Span &span : taken) {
    int64_t offset, end;
    if (!alignUp(top, block.alignment, offset) || __builtin_add_overflow(offset, block.size, &end))
      return best;
    if (end <= span.begin && span.begin - end < bestSlack) {
      best = offset;
      bestSlack = span.begin - end;
      if (!bestFit)
        return best;
    }
    top = std::max(top, span.end);
  }
  if (best)
    return best;
  int64_t offset, end;
  if (!alignUp(top, block.alignment, offset) || __builtin_add_overflow(offset, block.size, &end))
    return std::nullopt;
  return offset;
}

Placement ck::placeInGaps(const Blocks &blocks, const Neighbours &neighbours, const std::vector<size_t> &order,
                          bool bestFit) {
  std::vector<int64_t> offsets(blocks.list.size(), -1);
  for (size_t i = 0; i < blocks.list.size(); ++i)
    if (blocks.list[i].pinned)
      offsets[i] = *blocks.list[i].pinned;
    else if (!blocks.list[i].occupies())
      offsets[i] = 0;
  std::vector<Span> taken;
  for (size_t i : order) {
    if (offsets[i] >= 0)
      continue;
    taken.clear();
    for (uint32_t other : neighbours[i])
      if (offsets[other] >= 0)
        taken.push_back({offsets[other], offsets[other] + blocks.list[other].size});
    std::sort(taken.begin(), taken.end());
    std::optional<int64_t> offset = findGap(blocks.list[i], taken, bestFit);
    if (!offset)
      return std::nullopt;
    offsets[i] = *offset;
  }
  return offsets;
}
