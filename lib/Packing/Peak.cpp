//===- Peak.cpp - what fills the fullest time -----------------------------===//
#include "ck/Packing/Peak.h"

#include "Blocks.h"

#include <algorithm>

using namespace ck;

Result<PackPeak> ck::findPeak(const std::vector<PackItem> &items) {
  Result<Blocks> blocks = makeBlocks(items);
  if (!blocks)
    return blocks.error();
  PackPeak peak;
  auto fullest = std::max_element(blocks->live.begin(), blocks->live.end());
  if (fullest == blocks->live.end() || *fullest == 0)
    return peak;
  int64_t time = fullest - blocks->live.begin();
  // Blocks count in numbers of times; the caller's time lies between the ends of items around it.
  std::vector<int64_t> points;
  for (const PackItem &item : items)
    for (const LiveRange &range : item.ranges)
      if (range.lower < range.upper)
        points.insert(points.end(), {range.lower, range.upper});
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  peak.time = {points[time], points[time + 1]};
  std::vector<std::optional<size_t>> member(blocks->list.size());
  for (size_t i = 0; i < items.size(); ++i) {
    bool live = std::any_of(items[i].ranges.begin(), items[i].ranges.end(), [&](const LiveRange &range) {
      return range.lower <= peak.time.lower && peak.time.lower < range.upper;
    });
    std::optional<size_t> &known = member[blocks->blockOf[i]];
    if (live && (!known || items[i].size > items[*known].size))
      known = i;
  }
  for (size_t i = 0; i < member.size(); ++i)
    if (member[i] && blocks->list[i].size > 0) {
      peak.live.push_back({*member[i], blocks->list[i].size});
      peak.bytes += blocks->list[i].size;
    }
  std::sort(peak.live.begin(), peak.live.end(), [](const PackPeak::Live &a, const PackPeak::Live &b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.item < b.item;
  });
  return peak;
}
