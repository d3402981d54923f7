//===- Skyline.cpp - stacking blocks over time ----------------------------===//
//
// The skyline is the height up to which each time is filled. Stacking never looks below it, so it needs no pairs of
// blocks and handles problems of any size; filling valleys finds better packings of small ones.
//
//===----------------------------------------------------------------------===//
#include "Blocks.h"

#include <algorithm>

using namespace ck;

namespace {
/// Heights over time: range maximum and range assignment in logarithmic time. Assigned heights never fall, so a node's
/// pending height is also a lower bound of all below it.
class HeightTree {
public:
  explicit HeightTree(int64_t times) {
    while (width < times)
      width *= 2;
    highest.assign(2 * width, 0);
    raised.assign(2 * width, 0);
  }
  int64_t max(const LiveRange &range) const { return max(1, 0, width, range); }
  void raise(const LiveRange &range, int64_t height) { raise(1, 0, width, range, height); }

private:
  int64_t max(int64_t node, int64_t begin, int64_t end, const LiveRange &range) const {
    if (range.upper <= begin || end <= range.lower)
      return 0;
    if (range.lower <= begin && end <= range.upper)
      return highest[node];
    int64_t middle = (begin + end) / 2;
    return std::max({raised[node], max(2 * node, begin, middle, range), max(2 * node + 1, middle, end, range)});
  }
  void raise(int64_t node, int64_t begin, int64_t end, const LiveRange &range, int64_t height) {
    if (range.upper <= begin || end <= range.lower)
      return;
    highest[node] = std::max(highest[node], height);
    if (range.lower <= begin && end <= range.upper) {
      raised[node] = std::max(raised[node], height);
      return;
    }
    int64_t middle = (begin + end) / 2;
    raise(2 * node, begin, middle, range, height);
    raise(2 * node + 1, middle, end, range, height);
  }

  int64_t width = 1;
  std::vector<int64_t> highest, raised;
};
} // namespace

Placement ck::placeOnSkyline(const Blocks &blocks, const std::vector<size_t> &order) {
  std::vector<int64_t> offsets(blocks.list.size(), 0);
  HeightTree skyline(blocks.times);
  auto place = [&](size_t i) {
    for (const LiveRange &range : blocks.list[i].ranges)
      skyline.raise(range, offsets[i] + blocks.list[i].size);
  };
  for (size_t i = 0; i < blocks.list.size(); ++i)
    if (blocks.list[i].pinned) {
      offsets[i] = *blocks.list[i].pinned;
      if (blocks.list[i].occupies())
        place(i);
    }
  for (size_t i : order) {
    const Block &block = blocks.list[i];
    if (block.pinned || !block.occupies())
      continue;
    int64_t top = 0, end;
    for (const LiveRange &range : block.ranges)
      top = std::max(top, skyline.max(range));
    if (!alignUp(top, block.alignment, offsets[i]) || __builtin_add_overflow(offsets[i], block.size, &end))
      return std::nullopt;
    place(i);
  }
  return offsets;
}

namespace {
/// A stretch of time that is filled to one height.
struct Segment {
  int64_t begin, end, height;
};
} // namespace

/// Joins the segment at `i` with neighbours of its height.
static void joinAround(std::vector<Segment> &skyline, size_t i) {
  if (i + 1 < skyline.size() && skyline[i + 1].height == skyline[i].height) {
    skyline[i].end = skyline[i + 1].end;
    skyline.erase(skyline.begin() + i + 1);
  }
  if (i > 0 && skyline[i - 1].height == skyline[i].height) {
    skyline[i - 1].end = skyline[i].end;
    skyline.erase(skyline.begin() + i);
  }
}

/// Raises [begin, end), which lies inside segment `i`, to `height`.
static void raisePart(std::vector<Segment> &skyline, size_t i, int64_t begin, int64_t end, int64_t height) {
  Segment whole = skyline[i];
  skyline[i] = {begin, end, height};
  if (end < whole.end)
    skyline.insert(skyline.begin() + i + 1, {end, whole.end, whole.height});
  if (whole.begin < begin) {
    skyline.insert(skyline.begin() + i, {whole.begin, begin, whole.height});
    ++i;
  }
  joinAround(skyline, i);
}

Placement ck::fillValleys(const Blocks &blocks, const std::function<bool(size_t, size_t)> &before) {
  std::vector<int64_t> offsets(blocks.list.size(), 0);
  std::vector<size_t> waiting;
  for (size_t i = 0; i < blocks.list.size(); ++i) {
    const Block &block = blocks.list[i];
    if (block.pinned || block.ranges.size() > 1)
      return std::nullopt;
    if (block.occupies())
      waiting.push_back(i);
  }
  std::sort(waiting.begin(), waiting.end(),
            [&](size_t a, size_t b) { return before(a, b) || (!before(b, a) && a < b); });
  std::vector<Segment> skyline = {{0, blocks.times, 0}};
  while (!waiting.empty()) {
    size_t lowest = 0;
    for (size_t i = 1; i < skyline.size(); ++i)
      if (skyline[i].height < skyline[lowest].height)
        lowest = i;
    Segment valley = skyline[lowest];
    auto fits = [&](size_t i) { return valley.begin <= blocks.list[i].begin() && blocks.list[i].end() <= valley.end; };
    auto chosen = std::find_if(waiting.begin(), waiting.end(), fits);
    if (chosen != waiting.end()) {
      const Block &block = blocks.list[*chosen];
      int64_t end;
      if (!alignUp(valley.height, block.alignment, offsets[*chosen]) ||
          __builtin_add_overflow(offsets[*chosen], block.size, &end))
        return std::nullopt;
      waiting.erase(chosen);
      raisePart(skyline, lowest, block.begin(), block.end(), end);
      continue;
    }
    int64_t shore = INT64_MAX;
    if (lowest > 0)
      shore = std::min(shore, skyline[lowest - 1].height);
    if (lowest + 1 < skyline.size())
      shore = std::min(shore, skyline[lowest + 1].height);
    raisePart(skyline, lowest, valley.begin, valley.end, shore);
  }
  return offsets;
}
