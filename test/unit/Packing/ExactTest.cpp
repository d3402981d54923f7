//===- ExactTest.cpp - the packer against the optimum ---------------------===//
//
// The optimum of small problems comes from the simplest search there is: try all offsets. It shares nothing with the
// packer but the problem.
//
//===----------------------------------------------------------------------===//
#include "../TestData.h"
#include "Items.h"
#include "ck/Packing/Csv.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>

using namespace ck;
using ck::test::item;

namespace {
/// What a random problem may contain.
struct Features {
  bool gaps = false, alignment = false, pins = false, aliases = false;
};

/// Assigns every block each offset below a height.
class BruteForce {
public:
  explicit BruteForce(const std::vector<PackItem> &items) : items(items), offsets(items.size(), -1) {
    for (size_t i = 0; i < items.size(); ++i) {
      sizes.push_back(sizeOf(i));
      roots.push_back(root(i));
      for (size_t j = 0; j < items.size(); ++j)
        meets[i][j] = meet(items[i], items[j]);
    }
  }
  bool fits(int64_t height) { return mostLive() <= height && assign(0, height); }

private:
  bool meet(const PackItem &a, const PackItem &b) const {
    for (const LiveRange &first : a.ranges)
      for (const LiveRange &second : b.ranges)
        if (std::max(first.lower, second.lower) < std::min(first.upper, second.upper))
          return true;
    return false;
  }
  /// Most bytes live at one time: spares the search what cannot be.
  int64_t mostLive() const {
    int64_t most = 0;
    for (const PackItem &at : items)
      for (const LiveRange &range : at.ranges) {
        int64_t live = 0;
        for (const PackItem &item : items)
          if (!item.alias && meet(item, {"", 0, {{range.lower, range.lower + 1}}, 1, {}, {}}))
            live += item.size;
        most = std::max(most, live);
      }
    return most;
  }
  size_t root(size_t i) const {
    while (items[i].alias)
      i = *items[i].alias;
    return i;
  }
  bool suits(size_t i, int64_t offset, int64_t height) const {
    if (offset % items[i].alignment != 0 || offset + sizes[i] > height)
      return false;
    if (items[i].pinned && offset != *items[i].pinned)
      return false;
    for (size_t j = 0; j < i; ++j) {
      if (roots[j] == roots[i]) {
        if (offsets[j] != offset)
          return false;
      } else if (sizes[i] > 0 && sizes[j] > 0 && meets[i][j] && offset < offsets[j] + sizes[j] &&
                 offsets[j] < offset + sizes[i]) {
        return false;
      }
    }
    return true;
  }
  /// An alias class has the largest size of its members all the time.
  int64_t sizeOf(size_t i) const {
    int64_t size = 0;
    for (size_t j = 0; j < items.size(); ++j)
      if (root(j) == root(i))
        size = std::max(size, items[j].size);
    return size;
  }
  bool assign(size_t i, int64_t height) {
    if (i == items.size())
      return true;
    for (int64_t offset = 0; offset <= height; ++offset) {
      if (!suits(i, offset, height))
        continue;
      offsets[i] = offset;
      if (assign(i + 1, height))
        return true;
    }
    return false;
  }

  const std::vector<PackItem> &items;
  std::vector<int64_t> offsets, sizes;
  std::vector<size_t> roots;
  bool meets[8][8] = {};
};
} // namespace

static std::vector<PackItem> randomProblem(unsigned seed, Features features) {
  std::mt19937 random(seed);
  auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  std::vector<PackItem> items(1 + below(8));
  int64_t span = 3 + below(8), largest = 1 + below(5);
  for (size_t i = 0; i < items.size(); ++i) {
    PackItem &item = items[i];
    item.name = "i" + std::to_string(i);
    item.size = below(16) == 0 ? 0 : 1 + below(largest);
    for (int64_t ranges = features.gaps ? 1 + below(3) : 1; ranges > 0; --ranges) {
      int64_t lower = below(span);
      item.ranges.push_back({lower, lower + 1 + below(span - lower)});
    }
    if (features.alignment)
      item.alignment = int64_t(1) << below(3);
    if (features.pins && below(4) == 0)
      item.pinned = item.alignment * below(5);
    if (features.aliases && i > 0 && below(4) == 0)
      item.alias = below(i);
  }
  return items;
}

/// Packs exactly, lets the judge confirm the result, and expects a proof.
static Packing packExactly(const std::vector<PackItem> &items, int64_t capacity = -1) {
  PackOptions options;
  options.effort = PackEffort::Exact;
  options.capacity = capacity;
  Result<Packing> packing = pack(items, options);
  if (!packing) {
    ADD_FAILURE() << packing.error().message;
    return {};
  }
  Status status = checkPacking(items, packing->offsets, packing->height);
  EXPECT_TRUE(status) << status.error().message;
  EXPECT_LE(packing->bound, packing->provenBound);
  EXPECT_LE(packing->provenBound, packing->height);
  return *packing;
}

static void expectOptimal(unsigned firstSeed, unsigned count, Features features) {
  int beyondBound = 0;
  for (unsigned seed = firstSeed; seed < firstSeed + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<PackItem> items = randomProblem(seed, features);
    if (!pack(items))
      continue; // pins in conflict
    Packing packing = packExactly(items);
    EXPECT_TRUE(packing.isOptimal());
    EXPECT_FALSE(BruteForce(items).fits(packing.height - 1));
    beyondBound += packing.height > packing.bound;
    if (packing.height == 0)
      continue;
    // One byte less is refuted, with the optimum as the proven bound.
    Packing tight = packExactly(items, packing.height - 1);
    EXPECT_GE(tight.height, packing.height);
    EXPECT_EQ(tight.provenBound, packing.height);
    if (testing::Test::HasFailure())
      return;
  }
  testing::Test::RecordProperty("beyond_bound", beyondBound);
}

TEST(Exact, EqualsBruteForce) { expectOptimal(0, 3000, {}); }
TEST(Exact, EqualsBruteForceWithGaps) { expectOptimal(10000, 1500, {true, false, false, false}); }
TEST(Exact, EqualsBruteForceWithAlignment) { expectOptimal(20000, 1500, {false, true, false, false}); }
TEST(Exact, EqualsBruteForceWithPins) { expectOptimal(30000, 1500, {false, false, true, false}); }
TEST(Exact, EqualsBruteForceWithAliases) { expectOptimal(40000, 1500, {false, false, false, true}); }
TEST(Exact, EqualsBruteForceWithEverything) { expectOptimal(50000, 3000, {true, true, true, true}); }

TEST(Exact, NothingAndAlmostNothing) {
  EXPECT_EQ(packExactly({}).height, 0);
  EXPECT_EQ(packExactly({item("a", 0, {{0, 9}})}).height, 0);
  EXPECT_EQ(packExactly({item("a", 7, {})}).height, 7);
  EXPECT_EQ(packExactly({item("a", 7, {{0, 9}}), item("b", 3, {})}).height, 7);
}

TEST(Exact, IsExactInSixtyFourBits) {
  int64_t third = INT64_MAX / 3;
  std::vector<PackItem> items = {item("a", third, {{0, 2}}), item("b", third, {{0, 4}}), item("c", third, {{1, 4}})};
  EXPECT_EQ(packExactly(items).height, 3 * third);
  items.push_back(item("d", INT64_MAX - third, {{INT64_MIN, 0}, {2, 3}}));
  items[1].ranges = {{0, 2}};
  items[2].ranges = {{1, 2}};
  EXPECT_TRUE(packExactly(items).isOptimal());
  // Bytes that fit, but not with padding between them: an error, not an overflow.
  int64_t half = INT64_MAX / 2;
  std::vector<PackItem> padded = {item("a", half, {{0, 2}}), item("b", half, {{0, 2}}), item("c", 1, {{0, 2}})};
  for (PackItem &each : padded)
    each.alignment = 64;
  PackOptions options;
  options.effort = PackEffort::Exact;
  Result<Packing> packing = pack(padded, options);
  ASSERT_FALSE(packing);
  EXPECT_EQ(packing.error().message, "no packing has offsets within 64 bits");
}

TEST(Exact, StopsAtTheCapacity) {
  std::vector<PackItem> items = {item("a", 4, {{0, 3}}), item("b", 2, {{0, 1}}), item("c", 2, {{2, 3}}),
                                 item("d", 4, {{3, 6}})};
  Packing packing = packExactly(items, 100);
  EXPECT_EQ(packing.nodes, 0);
  EXPECT_LE(packing.height, 100);
  // Below the bound nothing needs to be searched.
  packing = packExactly(items, 5);
  EXPECT_EQ(packing.nodes, 0);
  EXPECT_EQ(packing.provenBound, 6);
}

static std::vector<PackItem> randomIntervals(unsigned seed, int count) {
  std::mt19937 random(seed);
  std::vector<PackItem> items;
  for (int i = 0; i < count; ++i) {
    int64_t size = 1 + random() % 97, lower = random() % 60, length = 1 + random() % 20;
    items.push_back(item("i" + std::to_string(i), size, {{lower, lower + length}}));
  }
  return items;
}

TEST(Exact, SpendsNoMoreThanItsNodes) {
  std::vector<PackItem> items = randomIntervals(7, 120);
  for (PackEffort effort : {PackEffort::Search, PackEffort::Exact})
    for (int64_t nodes : {0, 1, 500, 5000}) {
      PackOptions options;
      options.effort = effort;
      options.nodes = nodes;
      Result<Packing> first = pack(items, options), second = pack(items, options);
      ASSERT_TRUE(first && second);
      EXPECT_LE(first->nodes, nodes);
      EXPECT_EQ(first->offsets, second->offsets);
      EXPECT_TRUE(checkPacking(items, first->offsets, first->height));
    }
}

TEST(Exact, MoreEffortIsNeverWorse) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::vector<PackItem> items = randomIntervals(seed, 60);
    int64_t last = INT64_MAX;
    for (PackEffort effort : {PackEffort::Greedy, PackEffort::Search, PackEffort::Exact}) {
      PackOptions options;
      options.effort = effort;
      options.nodes = 20000;
      Result<Packing> packing = pack(items, options);
      ASSERT_TRUE(packing);
      EXPECT_TRUE(checkPacking(items, packing->offsets, packing->height));
      if (effort != PackEffort::Search) {
        EXPECT_LE(packing->height, last) << "seed " << seed;
      }
      if (effort == PackEffort::Greedy)
        last = packing->height;
    }
  }
}

/// Public benchmark instances, each of which can be packed into the capacity in its name.
TEST(Exact, MinimallocInstancesFit) {
  CK_NEEDS_DATA("minimalloc");
  for (char name = 'A'; name <= 'K'; ++name) {
    SCOPED_TRACE(name);
    std::ifstream file(test::dataPath("minimalloc/challenging/") + name + ".1048576.csv", std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    auto table = parsePackCsv(text.str());
    ASSERT_TRUE(table) << table.error().message;
    int64_t capacity = name == 'C' ? 1039360 : 1048576;
    EXPECT_LE(packExactly(table->items, capacity).height, capacity);
  }
}
