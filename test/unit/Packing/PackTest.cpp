//===- PackTest.cpp - the packer against the judge and the bound ----------===//
#include "../TestData.h"
#include "Items.h"
#include "Programs.h"
#include "ck/Packing/Csv.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>

using namespace ck;
using ck::test::item;

/// Packs, and lets the judge confirm the result; returns the height.
static int64_t packChecked(const std::vector<PackItem> &items, const PackOptions &options = {}) {
  Result<Packing> packing = pack(items, options);
  if (!packing) {
    ADD_FAILURE() << packing.error().message;
    return -1;
  }
  Status status = checkPacking(items, packing->offsets, packing->height);
  EXPECT_TRUE(status) << status.error().message;
  EXPECT_LE(packing->bound, packing->height);
  Result<int64_t> bound = packingLowerBound(items);
  EXPECT_TRUE(bound && *bound == packing->bound);
  return packing->height;
}

static std::string packError(const std::vector<PackItem> &items) {
  Result<Packing> packing = pack(items);
  return packing ? "" : packing.error().message;
}

/// A decoder layer's shape: a residual stream that lives across, q, k, v, attention, gate, up and down.
static std::vector<PackItem> decoder(int layers) {
  std::vector<PackItem> items;
  int64_t t = 0;
  for (int layer = 0; layer < layers; ++layer) {
    std::string prefix = "layers." + std::to_string(layer) + ".";
    auto add = [&](const char *name, int64_t size, int64_t lower, int64_t upper) {
      items.push_back(item(prefix + name, size, {{t + lower, t + upper}}));
    };
    add("norm", 4096, 0, 2);
    add("q", 4096, 1, 3);
    add("k", 1024, 1, 3);
    add("v", 1024, 1, 4);
    add("q_rope", 4096, 2, 6);
    add("k_rope", 1024, 2, 5);
    add("attention", 4096, 5, 7);
    add("o", 4096, 6, 8);
    add("residual", 4096, 7, 13);
    add("norm2", 4096, 8, 10);
    add("gate_up", 28672, 9, 11);
    add("glu", 14336, 10, 12);
    add("down", 4096, 11, 13);
    add("out", 4096, 12, 20);
    t += 13;
  }
  return items;
}

TEST(Pack, EmptyAndZeroSizes) {
  EXPECT_EQ(packChecked({}), 0);
  EXPECT_EQ(packChecked({item("a", 0, {{0, 5}}), item("b", 0, {{0, 5}})}), 0);
  EXPECT_EQ(packChecked({item("a", 0, {{0, 5}}), item("b", 7, {{0, 5}})}), 7);
}

TEST(Pack, SharesBytesOfDisjointTimes) {
  EXPECT_EQ(packChecked({item("a", 8, {{0, 2}}), item("b", 8, {{2, 4}})}), 8);
  EXPECT_EQ(packChecked({item("a", 8, {{0, 2}}), item("b", 8, {{1, 4}})}), 16);
}

TEST(Pack, FillsTheGapBetweenLiveRanges) {
  // `b` fits into the time in which `a` rests.
  EXPECT_EQ(packChecked({item("a", 8, {{0, 2}, {6, 8}}), item("b", 8, {{2, 6}})}), 8);
  EXPECT_EQ(packChecked({item("a", 8, {{0, 2}, {6, 8}}), item("b", 8, {{2, 7}})}), 16);
}

TEST(Pack, KeepsAlignment) {
  std::vector<PackItem> items = {item("a", 3, {{0, 9}}), item("b", 5, {{0, 9}}), item("c", 7, {{0, 9}})};
  for (PackItem &each : items)
    each.alignment = 64;
  EXPECT_LE(packChecked(items), 64 + 64 + 7);
}

TEST(Pack, KeepsPinsAndWorksAroundThem) {
  std::vector<PackItem> items = {item("a", 8, {{0, 9}}), item("pinned", 8, {{0, 9}}), item("b", 16, {{0, 9}})};
  items[1].pinned = 8;
  Result<Packing> packing = pack(items);
  ASSERT_TRUE(packing) << packing.error().message;
  EXPECT_EQ(packing->offsets, (std::vector<int64_t>{0, 8, 16}));
  EXPECT_EQ(packing->height, 32);
  items[0].pinned = 4;
  EXPECT_EQ(packError(items), "'a' at [4, 12) and 'pinned' at [8, 16) overlap, both live at 0");
}

TEST(Pack, AliasClassesAreOneBlock) {
  std::vector<PackItem> items = {item("x", 64, {{0, 2}}), item("y", 64, {{1, 4}}), item("z", 64, {{3, 6}}),
                                 item("w", 64, {{3, 5}})};
  EXPECT_EQ(packChecked(items), 192);
  items[1].alias = 0;
  items[2].alias = 1;
  Result<Packing> packing = pack(items);
  ASSERT_TRUE(packing) << packing.error().message;
  EXPECT_EQ(packing->height, 128);
  EXPECT_EQ(packing->offsets[0], packing->offsets[1]);
  EXPECT_EQ(packing->offsets[0], packing->offsets[2]);
  EXPECT_NE(packing->offsets[0], packing->offsets[3]);
}

TEST(Pack, RefusesMalformedItems) {
  std::vector<PackItem> items = {item("a", 8, {{0, 2}}), item("b", 8, {{0, 2}})};
  auto with = [&](auto change) {
    std::vector<PackItem> changed = items;
    change(changed);
    return packError(changed);
  };
  EXPECT_EQ(with([](auto &i) { i[0].size = -1; }), "'a' has a negative size, -1");
  EXPECT_EQ(with([](auto &i) { i[0].alignment = 0; }), "'a' has alignment 0, expected at least 1");
  EXPECT_EQ(with([](auto &i) { i[1].ranges = {{3, 2}}; }), "'b' ends at 2 before it begins at 3");
  EXPECT_EQ(with([](auto &i) { i[1].alias = 2; }), "'b' is an alias of item 2, but there are only 2");
  EXPECT_EQ(with([](auto &i) { i[0].alias = 1, i[1].alias = 0; }), "'a' is an alias of itself");
  EXPECT_EQ(with([](auto &i) { i[0].pinned = -8; }), "'a' is pinned to a negative offset, -8");
  EXPECT_EQ(with([](auto &i) { i[0].pinned = 4, i[0].alignment = 8; }),
            "'a' is pinned to 4, which is no multiple of its alignment 8");
  EXPECT_EQ(with([](auto &i) { i[0].pinned = 0, i[1].pinned = 8, i[1].alias = 0; }),
            "'b' is pinned to 8, but its alias to 0");
}

TEST(Pack, IsExactInSixtyFourBits) {
  int64_t half = INT64_MAX / 2;
  EXPECT_EQ(packChecked({item("a", half, {{0, 2}}), item("b", half, {{0, 2}})}), 2 * half);
  EXPECT_EQ(packError({item("a", half, {{0, 2}}), item("b", half, {{0, 2}}), item("c", half, {{1, 2}})}),
            "the bytes that are live at one time exceed 64 bits");
  // Fits by its bytes, but not with two gaps of padding.
  std::vector<PackItem> padded = {item("a", half, {{0, 2}}), item("b", half, {{0, 2}}), item("c", 1, {{0, 2}})};
  for (PackItem &each : padded)
    each.alignment = 64;
  EXPECT_EQ(packError(padded), "no packing has offsets within 64 bits");
  std::vector<PackItem> pinned = {item("a", 64, {{0, 2}})};
  pinned[0].pinned = INT64_MAX - 63;
  EXPECT_EQ(packError(pinned), "'a' is pinned to 9223372036854775744, from where its end exceeds 64 bits");
  // Times at both ends of the type.
  EXPECT_EQ(packChecked({item("a", 8, {{INT64_MIN, INT64_MAX}}), item("b", 8, {{INT64_MIN, 0}})}), 16);
}

TEST(Pack, RandomProblemsPassTheJudge) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
    std::vector<PackItem> items;
    for (int64_t i = 0, count = 1 + below(80); i < count; ++i) {
      PackItem next = item("i" + std::to_string(i), below(5) == 0 ? 0 : below(1000), {});
      for (int64_t ranges = below(4); ranges > 0; --ranges) {
        int64_t lower = below(100) - 50;
        next.ranges.push_back({lower, lower + below(30)});
      }
      next.alignment = int64_t(1) << below(7);
      if (i > 0 && below(6) == 0)
        next.alias = below(i);
      items.push_back(std::move(next));
    }
    SCOPED_TRACE("seed " + std::to_string(seed));
    packChecked(items);
    PackOptions noPairs;
    noPairs.pairLimit = 0;
    packChecked(items, noPairs);
  }
}

TEST(Pack, DecodersMeetTheBoundWithinFivePercent) {
  for (int layers : {1, 2, 12, 96}) {
    std::vector<PackItem> items = decoder(layers);
    int64_t height = packChecked(items);
    EXPECT_LE(height * 100, *packingLowerBound(items) * 105) << layers << " layers";
  }
}

TEST(Pack, DeepTrainingStepsMeetTheBound) {
  // 9,312 and 18,624 buffers, of which 1,200 and 2,500 are live at once.
  for (int layers : {96, 192})
    for (PackEffort effort : {PackEffort::Greedy, PackEffort::Search}) {
      std::vector<PackItem> items = test::trainingStep(layers);
      PackOptions options;
      options.effort = effort;
      EXPECT_LE(packChecked(items, options) * 100, *packingLowerBound(items) * 102) << layers << " layers";
    }
}

TEST(Pack, DoesNotDependOnTheRun) {
  std::vector<PackItem> items = decoder(5);
  Result<Packing> first = pack(items), second = pack(items);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->offsets, second->offsets);
  EXPECT_EQ(first->strategy, second->strategy);
}

TEST(Pack, LargeProblemsAreLinearithmic) {
  // Forty thousand long-lived buffers meet in 6e8 pairs; only strategies without pairs can handle them.
  std::vector<PackItem> items;
  for (int64_t i = 0; i < 40000; ++i)
    items.push_back(item("i" + std::to_string(i), 64 + i % 7, {{i, i + 20000}}));
  packChecked(items);
}

static std::string slurp(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Public benchmark instances, each of which can be packed into the capacity in its name.
TEST(Pack, MinimallocInstances) {
  CK_NEEDS_DATA("minimalloc");
  const std::string root = test::dataPath("minimalloc/");
  auto example = parsePackCsv(slurp(root + "examples/input.12.csv"));
  ASSERT_TRUE(example) << example.error().message;
  EXPECT_EQ(packChecked(example->items), 12);
  for (char name = 'A'; name <= 'K'; ++name) {
    SCOPED_TRACE(name);
    auto table = parsePackCsv(slurp(root + "challenging/" + name + ".1048576.csv"));
    ASSERT_TRUE(table) << table.error().message;
    EXPECT_LE(*packingLowerBound(table->items), 1048576);
    int64_t height = packChecked(table->items);
    EXPECT_LE(height, 1048576 * 7 / 5);
    RecordProperty(std::string(1, name), std::to_string(height));
  }
}
