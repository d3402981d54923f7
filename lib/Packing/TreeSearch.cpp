//===- TreeSearch.cpp - branch and bound over canonical packings ----------===//
//
// Any packing can be pushed down until every block lies on the ground or on another one; only such canonical packings
// are searched, and they are built from below. A node knows for each open block (one not yet placed) its `floor`, the
// lowest offset that it can still have, and for each time its `level`, the lowest floor of the open blocks that are
// live then: all that is placed later lies there or higher. A node is refuted when
//
//   - at some time the open blocks do not fit between their floors and the capacity: for every floor f of them,
//     f + the sizes of those whose floor is at least f <= capacity;
//   - an open block would fit below the level of all its times: pushed down, it makes a packing found elsewhere;
//   - the same open blocks with the same floors have been refuted before (remembered by 128-bit hashes).
//
// It branches at one time t: some open block that is live at t starts at level(t), or none does. If none does, each
// candidate rests on a block that is open now and not live at t; that gives its new floor. Times that no open block
// connects are independent of each other and searched one after the other.
//
// The branch time must be one where a block put at the level leaves no hole below itself: a time of the lowest level of
// all. If blocks live in one range each and nothing is pinned or aligned, any valley between higher levels will do, and
// the time with the fewest branches is best.
//
//===----------------------------------------------------------------------===//
#include "TreeSearch.h"

#include <algorithm>

using namespace ck;

namespace {
/// Refuted states, newest kept: a table of hashes.
class Refuted {
public:
  struct Key {
    uint64_t low = 0, high = 0;
    bool operator==(const Key &other) const { return low == other.low && high == other.high; }
  };
  void clear() { std::fill(table.begin(), table.end(), Key()); }
  bool contains(const Key &key) const { return !table.empty() && table[key.low % table.size()] == key; }
  void insert(const Key &key) {
    if (table.empty())
      table.resize(size_t(1) << 18);
    table[key.low % table.size()] = key;
  }

private:
  std::vector<Key> table;
};

/// Scatters the bits of a number.
uint64_t scatter(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Deeper recursion than this gives up: it must not exhaust the stack.
constexpr int depthLimit = 4096;
} // namespace

class TreeSearch::Impl {
public:
  explicit Impl(const TreeProblem &problem);
  Fit run(int64_t newCapacity, const Branching &newBranching, int64_t nodes);

  std::vector<int64_t> offsets;
  int64_t nodeCount = 0;

private:
  using Item = TreeProblem::Item;
  struct Span {
    int64_t begin, end;
  };
  /// What one assignment replaced.
  struct Change {
    enum Kind { Floor, Level, Placed } kind;
    uint32_t index;
    int64_t floor, resting;
  };

  void reset();
  void openOrClose(uint32_t item, int64_t sign);
  void undoTo(size_t mark);
  bool fits(uint32_t item) const { return floor[item] <= capacity - items[item].size; }
  /// The lowest offset from `offset` on that suits the alignment of `item` and open pins. False: beyond the capacity.
  bool settle(uint32_t item, int64_t &offset) const;
  void setFloor(uint32_t item, int64_t value, int64_t resting);
  bool place(uint32_t item);
  bool refresh(Span span);
  bool overfull(int64_t time);
  bool dominated(uint32_t item) const;
  bool examine(Span span, Refuted::Key &key) const;
  int64_t chooseTime(Span span) const;
  /// Branches at `time`, weighted as the branching says: fewest is best.
  double countBranches(int64_t time) const;
  std::vector<uint32_t> candidatesAt(int64_t time) const;
  bool isTwin(uint32_t a, uint32_t b) const;
  bool isLiveAt(uint32_t item, int64_t time) const;
  bool leaveEmpty(Span span, int64_t time);
  Fit search(Span span, int depth);
  Fit branch(Span span, int depth);

  const std::vector<Item> &items;
  int64_t times, capacity = 0, limit = 0, refutedCapacity = INT64_MAX;
  const Branching *branching = nullptr;
  bool valleys = true;
  // Fixed: open blocks are those of `liveAt` that are not placed.
  std::vector<std::vector<uint32_t>> liveAt, neighbours, pinnedNeighbours;
  std::vector<size_t> firstFrom; ///< by time, the first item that begins at it or later
  // The state of the node.
  std::vector<char> placed;
  std::vector<int64_t> floor;   ///< lowest offset of an open item
  std::vector<int64_t> resting; ///< the same by placed items alone, not by what branches ruled out
  std::vector<int64_t> level;   ///< by time
  std::vector<int64_t> openSize, openCount;
  std::vector<int64_t> bridges; ///< open items that are live (or rest) across the end of a time
  std::vector<double> failures; ///< by time, how often something did not fit, old ones counting less
  std::vector<Change> trail;
  std::vector<std::pair<int64_t, int64_t>> jobs; ///< scratch of `overfull`
  Refuted refuted;
};

TreeSearch::Impl::Impl(const TreeProblem &problem) : items(problem.items), times(problem.times) {
  liveAt.resize(times);
  neighbours.resize(items.size());
  pinnedNeighbours.resize(items.size());
  firstFrom.assign(times + 1, items.size());
  for (uint32_t i = items.size(); i-- > 0;)
    firstFrom[items[i].begin()] = i;
  for (int64_t time = times; time-- > 0;)
    firstFrom[time] = std::min(firstFrom[time], firstFrom[time + 1]);
  for (uint32_t i = 0; i < items.size(); ++i) {
    valleys &= items[i].ranges.size() == 1 && items[i].alignment == 1 && !items[i].pinned;
    for (const LiveRange &range : items[i].ranges)
      for (int64_t time = range.lower; time < range.upper; ++time)
        liveAt[time].push_back(i);
  }
  for (const std::vector<uint32_t> &live : liveAt)
    for (uint32_t i : live)
      for (uint32_t j : live)
        if (i != j)
          neighbours[i].push_back(j);
  for (std::vector<uint32_t> &list : neighbours) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  for (uint32_t i = 0; i < items.size(); ++i) {
    for (uint32_t j : neighbours[i])
      if (items[j].pinned)
        pinnedNeighbours[i].push_back(j);
    std::sort(pinnedNeighbours[i].begin(), pinnedNeighbours[i].end(),
              [&](uint32_t a, uint32_t b) { return *items[a].pinned < *items[b].pinned; });
  }
}

//===----------------------------------------------------------------------===//
// The state
//===----------------------------------------------------------------------===//

void TreeSearch::Impl::openOrClose(uint32_t item, int64_t sign) {
  placed[item] = sign < 0;
  for (const LiveRange &range : items[item].ranges)
    for (int64_t time = range.lower; time < range.upper; ++time) {
      openSize[time] += sign * items[item].size;
      openCount[time] += sign;
    }
  for (int64_t time = items[item].begin(); time + 1 < items[item].end(); ++time)
    bridges[time] += sign;
}

void TreeSearch::Impl::reset() {
  trail.clear();
  placed.assign(items.size(), 0);
  offsets.assign(items.size(), 0);
  floor.assign(items.size(), 0);
  resting.assign(items.size(), 0);
  for (std::vector<int64_t> *numbers : {&level, &openSize, &openCount, &bridges})
    numbers->assign(times, 0);
  for (uint32_t i = 0; i < items.size(); ++i)
    openOrClose(i, 1);
}

void TreeSearch::Impl::undoTo(size_t mark) {
  while (trail.size() > mark) {
    const Change &change = trail.back();
    switch (change.kind) {
    case Change::Floor:
      floor[change.index] = change.floor;
      resting[change.index] = change.resting;
      break;
    case Change::Level:
      level[change.index] = change.floor;
      break;
    case Change::Placed:
      openOrClose(change.index, 1);
      break;
    }
    trail.pop_back();
  }
}

bool TreeSearch::Impl::settle(uint32_t item, int64_t &offset) const {
  if (items[item].pinned) {
    if (offset > *items[item].pinned)
      return false;
    offset = *items[item].pinned;
    return true;
  }
  int64_t size = items[item].size, last = capacity - size;
  if (offset > last || !alignUp(offset, items[item].alignment, offset) || offset > last)
    return false;
  for (uint32_t pin : pinnedNeighbours[item]) {
    int64_t begin = *items[pin].pinned, end = begin + items[pin].size;
    if (placed[pin] || end <= offset || offset + size <= begin)
      continue;
    offset = end;
    if (offset > last || !alignUp(offset, items[item].alignment, offset) || offset > last)
      return false;
  }
  return true;
}

void TreeSearch::Impl::setFloor(uint32_t item, int64_t value, int64_t restingValue) {
  trail.push_back({Change::Floor, item, floor[item], resting[item]});
  floor[item] = value;
  resting[item] = restingValue;
}

/// At `time`, do the open blocks exceed the capacity, each starting at its floor or higher?
bool TreeSearch::Impl::overfull(int64_t time) {
  jobs.clear();
  for (uint32_t item : liveAt[time])
    if (!placed[item])
      jobs.push_back({floor[item], items[item].size});
  std::sort(jobs.begin(), jobs.end());
  int64_t above = 0;
  for (size_t i = jobs.size(); i-- > 0;) {
    above += jobs[i].second;
    if (jobs[i].first > capacity - above)
      return true;
  }
  return false;
}

/// Computes the levels of a span anew. False: something does not fit.
bool TreeSearch::Impl::refresh(Span span) {
  for (int64_t time = span.begin; time < span.end; ++time) {
    if (openCount[time] == 0)
      continue;
    int64_t lowest = INT64_MAX, highest = 0;
    for (uint32_t item : liveAt[time])
      if (!placed[item]) {
        lowest = std::min(lowest, floor[item]);
        highest = std::max(highest, floor[item]);
      }
    if (lowest != level[time]) {
      trail.push_back({Change::Level, static_cast<uint32_t>(time), level[time], 0});
      level[time] = lowest;
    }
    int64_t room = capacity - openSize[time];
    if (lowest > room || (highest > room && overfull(time))) {
      failures[time] += 1;
      return false;
    }
  }
  return true;
}

/// Puts an open item on its floor. False: then something does not fit.
bool TreeSearch::Impl::place(uint32_t item) {
  offsets[item] = floor[item];
  trail.push_back({Change::Placed, item, 0, 0});
  openOrClose(item, -1);
  int64_t top = floor[item] + items[item].size;
  Span changed = {items[item].begin(), items[item].end()};
  for (uint32_t other : neighbours[item]) {
    if (placed[other] || resting[other] >= top)
      continue;
    int64_t rest = top;
    if (!settle(other, rest))
      return false;
    int64_t low = std::max(floor[other], rest);
    if (low != floor[other]) {
      changed.begin = std::min(changed.begin, items[other].begin());
      changed.end = std::max(changed.end, items[other].end());
    }
    setFloor(other, low, rest);
    if (!fits(other))
      return false;
  }
  return refresh(changed);
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// Would `item` fit below all that is placed from now on?
bool TreeSearch::Impl::dominated(uint32_t item) const {
  if (resting[item] == floor[item])
    return false;
  int64_t end = resting[item] + items[item].size;
  for (const LiveRange &range : items[item].ranges)
    for (int64_t time = range.lower; time < range.upper; ++time)
      if (level[time] < end)
        return false;
  return true;
}

/// Hashes the open items of a span. False: one of them is dominated.
bool TreeSearch::Impl::examine(Span span, Refuted::Key &key) const {
  for (size_t i = firstFrom[span.begin]; i < firstFrom[span.end]; ++i) {
    if (placed[i])
      continue;
    if (dominated(i))
      return false;
    uint64_t hash = scatter(i + 1) ^ static_cast<uint64_t>(floor[i]);
    hash = scatter(hash) ^ static_cast<uint64_t>(resting[i]);
    key.low += scatter(hash + 0x9e3779b97f4a7c15u);
    key.high += scatter(hash + 0x3c6ef372fe94f82au);
  }
  return true;
}

double TreeSearch::Impl::countBranches(int64_t time) const {
  int64_t count = 0;
  for (uint32_t item : liveAt[time])
    count += !placed[item] && floor[item] == level[time];
  // Leaving it empty is a branch that dies the sooner the less room there is.
  int64_t slack = capacity - openSize[time] - level[time];
  double branches = static_cast<double>(count);
  if (slack > 0)
    branches += 0.5 + 0.25 * static_cast<double>(slack) / static_cast<double>(capacity);
  return branching->time == BranchAt::Failures ? branches / (1 + failures[time]) : branches;
}

int64_t TreeSearch::Impl::chooseTime(Span span) const {
  int64_t lowest = INT64_MAX, best = -1;
  double fewest = 0;
  for (int64_t time = span.begin; time < span.end; ++time)
    if (openCount[time] != 0)
      lowest = std::min(lowest, level[time]);
  bool anyValley = valleys && branching->time != BranchAt::Lowest;
  for (int64_t begin = span.begin; begin < span.end;) {
    int64_t end = begin + 1;
    while (end < span.end && level[end] == level[begin])
      ++end;
    bool left = begin == span.begin || level[begin - 1] > level[begin];
    bool right = end == span.end || level[end] > level[begin];
    if (anyValley ? left && right : level[begin] == lowest)
      for (int64_t time = begin; time < end; ++time) {
        if (openCount[time] == 0)
          continue;
        double count = countBranches(time);
        if (best < 0 || count < fewest) {
          best = time;
          fewest = count;
        }
      }
    begin = end;
  }
  return best;
}

bool TreeSearch::Impl::isTwin(uint32_t a, uint32_t b) const {
  return items[a].size == items[b].size && items[a].alignment == items[b].alignment && resting[a] == resting[b] &&
         items[a].ranges == items[b].ranges && items[a].pinned == items[b].pinned;
}

bool TreeSearch::Impl::isLiveAt(uint32_t item, int64_t time) const {
  return std::any_of(items[item].ranges.begin(), items[item].ranges.end(),
                     [&](const LiveRange &range) { return range.lower <= time && time < range.upper; });
}

/// The open items that can start at the level of `time`, those of high priority first, one of each set of twins.
std::vector<uint32_t> TreeSearch::Impl::candidatesAt(int64_t time) const {
  std::vector<uint32_t> candidates;
  for (uint32_t item : liveAt[time])
    if (!placed[item] && floor[item] == level[time] &&
        std::none_of(candidates.begin(), candidates.end(), [&](uint32_t other) { return isTwin(item, other); }))
      candidates.push_back(item);
  const std::vector<double> &priority = branching->priority;
  std::sort(candidates.begin(), candidates.end(),
            [&](uint32_t a, uint32_t b) { return priority[a] != priority[b] ? priority[a] > priority[b] : a < b; });
  return candidates;
}

/// Rules out that an item starts at the level of `time`. False: that cannot be.
bool TreeSearch::Impl::leaveEmpty(Span span, int64_t time) {
  // The lowest item at `time` will rest on a block that is not live then (where nothing lies below it), or on a pin.
  int64_t low = level[time], next = INT64_MAX;
  std::vector<std::pair<uint32_t, int64_t>> raised;
  for (uint32_t item : liveAt[time]) {
    if (placed[item])
      continue;
    if (floor[item] != low) {
      next = std::min(next, floor[item]);
      continue;
    }
    if (items[item].pinned)
      return false;
    int64_t rest = INT64_MAX;
    for (uint32_t other : neighbours[item])
      if (!placed[other] && (items[other].pinned || !isLiveAt(other, time)))
        rest = std::min(rest, floor[other] + items[other].size);
    if (rest != INT64_MAX && !settle(item, rest))
      rest = INT64_MAX;
    raised.push_back({item, rest});
    next = std::min(next, rest);
  }
  if (next > capacity - openSize[time])
    return false;
  // The others lie on top of that one.
  for (auto [item, rest] : raised) {
    int64_t above = INT64_MAX;
    for (uint32_t other : liveAt[time])
      if (!placed[other] && other != item)
        above = std::min(above, next + items[other].size);
    int64_t lowest = std::min(rest, above);
    if (lowest == INT64_MAX || !settle(item, lowest))
      return false;
    setFloor(item, lowest, resting[item]);
  }
  return refresh(span);
}

Fit TreeSearch::Impl::branch(Span span, int depth) {
  if (nodeCount >= limit || depth >= depthLimit)
    return Fit::Unknown;
  ++nodeCount;
  Refuted::Key key;
  if (!examine(span, key) || refuted.contains(key))
    return Fit::No;
  int64_t time = chooseTime(span);
  size_t mark = trail.size();
  for (uint32_t item : candidatesAt(time)) {
    Fit fit = place(item) ? search(span, depth + 1) : Fit::No;
    if (fit == Fit::Yes)
      return fit;
    undoTo(mark);
    if (fit == Fit::Unknown)
      return fit;
  }
  Fit fit = leaveEmpty(span, time) ? branch(span, depth + 1) : Fit::No;
  if (fit == Fit::Yes)
    return fit;
  undoTo(mark);
  if (fit == Fit::No)
    refuted.insert(key);
  return fit;
}

/// Searches the parts of a span that no open item connects, short ones first: they fail sooner.
Fit TreeSearch::Impl::search(Span span, int depth) {
  std::vector<Span> parts;
  for (int64_t time = span.begin; time < span.end; ++time) {
    if (openCount[time] == 0)
      continue;
    int64_t begin = time;
    while (time + 1 < span.end && bridges[time] > 0)
      ++time;
    parts.push_back({begin, time + 1});
  }
  std::sort(parts.begin(), parts.end(), [](const Span &a, const Span &b) {
    return std::pair(a.end - a.begin, a.begin) < std::pair(b.end - b.begin, b.begin);
  });
  for (const Span &part : parts)
    if (Fit fit = branch(part, depth); fit != Fit::Yes)
      return fit;
  return Fit::Yes;
}

Fit TreeSearch::Impl::run(int64_t newCapacity, const Branching &newBranching, int64_t nodes) {
  // What was refuted for a capacity is refuted for every smaller one.
  if (newCapacity > refutedCapacity)
    refuted.clear();
  refutedCapacity = capacity = newCapacity;
  branching = &newBranching;
  limit = nodes;
  nodeCount = 0;
  reset();
  failures.resize(times, 0);
  for (double &count : failures)
    count /= 2;
  for (uint32_t i = 0; i < items.size(); ++i) {
    int64_t rest = 0;
    if (items[i].size > capacity || !settle(i, rest))
      return Fit::No;
    floor[i] = resting[i] = rest;
    if (!fits(i))
      return Fit::No;
  }
  for (int64_t time = 0; time < times; ++time)
    if (openSize[time] > capacity)
      return Fit::No;
  return refresh({0, times}) ? search({0, times}, 0) : Fit::No;
}

TreeSearch::TreeSearch(const TreeProblem &problem) : impl(std::make_unique<Impl>(problem)) {}
TreeSearch::~TreeSearch() = default;
Fit TreeSearch::run(int64_t capacity, const Branching &branching, int64_t nodes) {
  return impl->run(capacity, branching, nodes);
}
const std::vector<int64_t> &TreeSearch::offsets() const { return impl->offsets; }
int64_t TreeSearch::nodes() const { return impl->nodeCount; }
