//===- CheckTest.cpp - the judge of packings ------------------------------===//
#include "Items.h"
#include "ck/Packing/Packing.h"

#include <gtest/gtest.h>

using namespace ck;
using ck::test::item;

static std::string check(const std::vector<PackItem> &items, const std::vector<int64_t> &offsets, int64_t limit = -1) {
  Status status = checkPacking(items, offsets, limit);
  return status ? "" : status.error().message;
}

TEST(Check, AcceptsDisjointBytesAndDisjointTimes) {
  std::vector<PackItem> items = {item("a", 8, {{0, 3}}), item("b", 8, {{2, 5}}), item("c", 8, {{3, 6}})};
  EXPECT_EQ(check(items, {0, 8, 0}), "");
}

TEST(Check, NamesBothItemsTheirBytesAndATime) {
  std::vector<PackItem> items = {item("a", 8, {{0, 3}}), item("b", 8, {{2, 5}})};
  EXPECT_EQ(check(items, {0, 7}), "'a' at [0, 8) and 'b' at [7, 15) overlap, both live at 2");
  EXPECT_EQ(check(items, {4, 0}), "'a' at [4, 12) and 'b' at [0, 8) overlap, both live at 2");
}

TEST(Check, SeesOverlapInTheSecondLiveRangeOnly) {
  std::vector<PackItem> items = {item("a", 8, {{0, 1}, {9, 10}}), item("b", 8, {{1, 9}}), item("c", 8, {{9, 12}})};
  EXPECT_EQ(check(items, {0, 0, 8}), "");
  EXPECT_EQ(check(items, {0, 0, 4}), "'a' at [0, 8) and 'c' at [4, 12) overlap, both live at 9");
}

TEST(Check, JoinsSpansThatAnItemNamesTwice) {
  std::vector<PackItem> items = {item("a", 8, {{0, 5}, {0, 2}, {4, 6}}), item("b", 8, {{5, 6}})};
  EXPECT_EQ(check(items, {0, 0}), "'a' at [0, 8) and 'b' at [0, 8) overlap, both live at 5");
  EXPECT_EQ(check(items, {0, 8}), "");
}

TEST(Check, LooksPastAliasesOfTheSameBlock) {
  std::vector<PackItem> items = {item("a", 8, {{0, 9}}), item("b", 16, {{0, 9}}), item("c", 8, {{0, 9}}),
                                 item("d", 8, {{1, 2}})};
  items[1].alias = 0;
  items[2].alias = 1;
  EXPECT_EQ(check(items, {0, 0, 0, 16}), "");
  EXPECT_EQ(check(items, {0, 0, 0, 8}), "'b' at [0, 16) and 'd' at [8, 16) overlap, both live at 1");
  EXPECT_EQ(check(items, {0, 0, 8, 16}), "'c' has offset 8, but its alias 'a' has 0");
}

TEST(Check, EmptyItemsMeetNothing) {
  std::vector<PackItem> items = {item("a", 8, {{0, 3}}), item("b", 0, {{0, 3}}), item("c", 8, {}),
                                 item("d", 8, {{1, 1}})};
  EXPECT_EQ(check(items, {0, 4, 0, 0}), "");
}

TEST(Check, AlignmentPinsAndLimits) {
  std::vector<PackItem> items = {item("a", 8, {{0, 3}})};
  items[0].alignment = 16;
  EXPECT_EQ(check(items, {8}), "'a' has offset 8, which is no multiple of its alignment 16");
  EXPECT_EQ(check(items, {-16}), "'a' has a negative offset, -16");
  EXPECT_EQ(check(items, {16}, 23), "'a' at [16, 24) ends beyond the limit of 23 bytes");
  EXPECT_EQ(check(items, {16}, 24), "");
  items[0].pinned = 32;
  EXPECT_EQ(check(items, {16}), "'a' has offset 16, but is pinned to 32");
  EXPECT_EQ(check(items, {}), "0 offsets for 1 items");
}

TEST(Check, DoesNotOverflow) {
  std::vector<PackItem> items = {item("a", INT64_MAX, {{INT64_MIN, INT64_MAX}})};
  EXPECT_EQ(check(items, {0}), "");
  EXPECT_EQ(check(items, {1}), "'a' at offset 1 ends beyond 64 bits");
  items[0].alias = 0;
  EXPECT_EQ(check(items, {0}), "'a' is an alias that leads to no item");
}
