//===- Check.cpp - an independent judge of packings -----------------------===//
//
// A sweep over time keeps the live byte ranges sorted by address. While they are disjoint, a new one can only run into
// its neighbours. Shares no code with the packer.
//
//===----------------------------------------------------------------------===//
#include "ck/Packing/Packing.h"

#include <algorithm>
#include <set>
#include <tuple>

using namespace ck;

namespace {
struct Event {
  int64_t time;
  bool begins;
  size_t item;
};

/// A live byte range; `root` names its alias class.
struct Live {
  int64_t begin, end;
  size_t root, item;
  bool operator<(const Live &other) const {
    return begin != other.begin ? begin < other.begin : end != other.end ? end < other.end : item < other.item;
  }
};
} // namespace

static std::string describe(const PackItem &item, int64_t offset) {
  return "'" + item.name + "' at [" + std::to_string(offset) + ", " + std::to_string(offset + item.size) + ")";
}

/// Follows alias links at most as often as there are items.
static std::optional<size_t> rootOf(const std::vector<PackItem> &items, size_t item) {
  for (size_t links = 0; links <= items.size(); ++links) {
    if (!items[item].alias)
      return item;
    if (*items[item].alias >= items.size())
      return std::nullopt;
    item = *items[item].alias;
  }
  return std::nullopt;
}

static Status checkItem(const std::vector<PackItem> &items, size_t i, size_t root, const std::vector<int64_t> &offsets,
                        int64_t limit) {
  const PackItem &item = items[i];
  int64_t offset = offsets[i], end;
  std::string name = "'" + item.name + "'";
  if (item.size < 0 || item.alignment < 1)
    return Error{name + " has size " + std::to_string(item.size) + " and alignment " + std::to_string(item.alignment)};
  if (offset < 0)
    return Error{name + " has a negative offset, " + std::to_string(offset)};
  if (__builtin_add_overflow(offset, item.size, &end))
    return Error{name + " at offset " + std::to_string(offset) + " ends beyond 64 bits"};
  if (offset % item.alignment != 0)
    return Error{name + " has offset " + std::to_string(offset) + ", which is no multiple of its alignment " +
                 std::to_string(item.alignment)};
  if (item.pinned && offset != *item.pinned)
    return Error{name + " has offset " + std::to_string(offset) + ", but is pinned to " + std::to_string(*item.pinned)};
  if (offset != offsets[root])
    return Error{name + " has offset " + std::to_string(offset) + ", but its alias '" + items[root].name + "' has " +
                 std::to_string(offsets[root])};
  if (limit >= 0 && end > limit)
    return Error{describe(item, offset) + " ends beyond the limit of " + std::to_string(limit) + " bytes"};
  return Status::success();
}

/// Inserts `live`; fails if it overlaps a byte of another alias class.
static Status insert(std::set<Live> &active, const Live &live, int64_t time, const std::vector<PackItem> &items) {
  auto position = active.insert(live).first;
  const Live *other = nullptr;
  for (auto next = std::next(position); next != active.end() && !other; ++next)
    if (next->root != live.root) {
      if (next->begin >= live.end)
        break;
      other = &*next;
    }
  for (auto previous = position; previous != active.begin() && !other;) {
    --previous;
    if (previous->root == live.root)
      continue;
    if (previous->end <= live.begin)
      break;
    other = &*previous;
  }
  if (!other)
    return Status::success();
  return Error{describe(items[other->item], other->begin) + " and " + describe(items[live.item], live.begin) +
               " overlap, both live at " + std::to_string(time)};
}

Status ck::checkPacking(const std::vector<PackItem> &items, const std::vector<int64_t> &offsets, int64_t limit) {
  if (items.size() != offsets.size())
    return Error{std::to_string(offsets.size()) + " offsets for " + std::to_string(items.size()) + " items"};
  std::vector<size_t> roots;
  std::vector<Event> events;
  for (size_t i = 0; i < items.size(); ++i) {
    std::optional<size_t> root = rootOf(items, i);
    if (!root)
      return Error{"'" + items[i].name + "' is an alias that leads to no item"};
    roots.push_back(*root);
    if (Status status = checkItem(items, i, *root, offsets, limit); !status)
      return status;
    // An item may name one span twice; joined spans keep begins and ends in pairs.
    std::vector<LiveRange> ranges = items[i].ranges;
    std::sort(ranges.begin(), ranges.end(), [](const LiveRange &a, const LiveRange &b) { return a.lower < b.lower; });
    std::optional<LiveRange> open;
    for (const LiveRange &range : ranges) {
      if (range.lower > range.upper)
        return Error{"'" + items[i].name + "' ends before it begins"};
      if (items[i].size == 0 || range.lower == range.upper)
        continue;
      if (open && range.lower <= open->upper) {
        open->upper = std::max(open->upper, range.upper);
        continue;
      }
      if (open)
        events.push_back({open->lower, true, i}), events.push_back({open->upper, false, i});
      open = range;
    }
    if (open)
      events.push_back({open->lower, true, i}), events.push_back({open->upper, false, i});
  }
  // At one time, what ends goes before what begins: ranges are half-open.
  std::sort(events.begin(), events.end(), [](const Event &a, const Event &b) {
    return std::tuple(a.time, a.begins, a.item) < std::tuple(b.time, b.begins, b.item);
  });
  std::set<Live> active;
  for (const Event &event : events) {
    Live live = {offsets[event.item], offsets[event.item] + items[event.item].size, roots[event.item], event.item};
    if (!event.begins)
      active.erase(live);
    else if (Status status = insert(active, live, event.time, items); !status)
      return status;
  }
  return Status::success();
}
