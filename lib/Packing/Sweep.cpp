//===- Sweep.cpp - allocation in the order of time ------------------------===//
//
// The blocks that are live at one time, usually the fullest, are stacked. Then time is walked from there, forwards and
// backwards, as a memory allocator would see the program: a block gets a free gap when it is born and gives it back
// when it dies. All that a block meets is live at its birth, so no pairs of blocks are needed: O(n log n) while gaps
// are few. Blocks that rest between live ranges keep their place meanwhile.
//
//===----------------------------------------------------------------------===//
#include "Blocks.h"

#include <algorithm>
#include <map>
#include <queue>

using namespace ck;

namespace {
/// The free bytes at one time, as disjoint gaps.
class FreeBytes {
public:
  /// Takes `block` out of the lowest gap that holds it, or of the tightest. Nothing on overflow.
  std::optional<int64_t> take(const Block &block, bool bestFit) {
    std::optional<int64_t> chosen;
    int64_t least = INT64_MAX;
    for (auto [begin, end] : gaps) {
      int64_t offset;
      if (!alignUp(begin, block.alignment, offset) || offset > end || end - offset < block.size)
        continue;
      if (!chosen || end - begin < least) {
        chosen = offset;
        least = end - begin;
      }
      if (!bestFit)
        break;
    }
    if (chosen)
      take(*chosen, *chosen + block.size);
    return chosen;
  }
  /// Takes bytes that are free.
  void take(int64_t begin, int64_t end) {
    auto gap = std::prev(gaps.upper_bound(begin));
    int64_t gapEnd = gap->second;
    if (gap->first == begin)
      gaps.erase(gap);
    else
      gap->second = begin;
    if (end < gapEnd)
      gaps[end] = gapEnd;
  }
  void give(int64_t begin, int64_t end) {
    auto next = gaps.lower_bound(begin);
    if (next != gaps.end() && next->first == end) {
      end = next->second;
      next = gaps.erase(next);
    }
    if (next != gaps.begin() && std::prev(next)->second == begin)
      std::prev(next)->second = end;
    else
      gaps[begin] = end;
  }

private:
  std::map<int64_t, int64_t> gaps = {{0, INT64_MAX}};
};
} // namespace

/// Walks time in one direction from where `free` and `offsets` hold what `live` blocks took; `sign` is -1 backwards.
static bool walk(const Blocks &blocks, FreeBytes free, const std::vector<size_t> &live, std::vector<size_t> rest,
                 int sign, bool bestFit, std::vector<int64_t> &offsets) {
  auto birth = [&](size_t i) { return sign > 0 ? blocks.list[i].begin() : -blocks.list[i].end(); };
  auto death = [&](size_t i) { return sign > 0 ? blocks.list[i].end() : -blocks.list[i].begin(); };
  std::sort(rest.begin(), rest.end(), [&](size_t a, size_t b) {
    if (birth(a) != birth(b))
      return birth(a) < birth(b);
    const Block &first = blocks.list[a], &second = blocks.list[b];
    if (first.lifetime != second.lifetime)
      return first.lifetime > second.lifetime;
    return first.size != second.size ? first.size > second.size : a < b;
  });
  auto later = [&](size_t a, size_t b) { return death(a) != death(b) ? death(a) > death(b) : a > b; };
  std::priority_queue<size_t, std::vector<size_t>, decltype(later)> dying(later, live);
  for (size_t i : rest) {
    for (; !dying.empty() && death(dying.top()) <= birth(i); dying.pop())
      free.give(offsets[dying.top()], offsets[dying.top()] + blocks.list[dying.top()].size);
    std::optional<int64_t> offset = free.take(blocks.list[i], bestFit);
    if (!offset)
      return false;
    offsets[i] = *offset;
    dying.push(i);
  }
  return true;
}

Placement ck::placeBySweep(const Blocks &blocks, int64_t from, bool bestFit) {
  std::vector<int64_t> offsets(blocks.list.size(), 0);
  std::vector<size_t> live, before, after;
  for (size_t i = 0; i < blocks.list.size(); ++i) {
    const Block &block = blocks.list[i];
    if (block.pinned)
      return std::nullopt;
    if (block.occupies())
      (block.end() <= from ? before : block.begin() > from ? after : live).push_back(i);
  }
  // The longest lie at the bottom: as the others die on either side, what they leave is one gap.
  std::sort(live.begin(), live.end(), [&](size_t a, size_t b) {
    const Block &first = blocks.list[a], &second = blocks.list[b];
    return first.lifetime != second.lifetime ? first.lifetime > second.lifetime : a < b;
  });
  FreeBytes free;
  for (size_t i : live) {
    std::optional<int64_t> offset = free.take(blocks.list[i], /*bestFit=*/false);
    if (!offset)
      return std::nullopt;
    offsets[i] = *offset;
  }
  if (!walk(blocks, free, live, std::move(after), 1, bestFit, offsets) ||
      !walk(blocks, free, live, std::move(before), -1, bestFit, offsets))
    return std::nullopt;
  return offsets;
}
