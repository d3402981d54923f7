//===- CsvTest.cpp - minimalloc tables ------------------------------------===//
#include "ck/Packing/Csv.h"

#include <gtest/gtest.h>

using namespace ck;

static std::string errorOf(std::string_view text) {
  Result<PackTable> table = parsePackCsv(text);
  return table ? "" : table.error().message;
}

TEST(Csv, ReadsColumnsInAnyOrder) {
  auto table = parsePackCsv("size,id,upper,lower\n4,b1,3,0\n5, b2 ,9, -3\n");
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->items.size(), 2u);
  EXPECT_EQ(table->items[0].name, "b1");
  EXPECT_EQ(table->items[0].size, 4);
  EXPECT_EQ(table->items[0].ranges, (std::vector<LiveRange>{{0, 3}}));
  EXPECT_EQ(table->items[1].name, " b2 ");
  EXPECT_EQ(table->items[1].ranges, (std::vector<LiveRange>{{-3, 9}}));
  EXPECT_FALSE(table->items[0].pinned);
}

TEST(Csv, AddsOffsetsAndKeepsRowsAndOtherColumns) {
  auto table = parsePackCsv("id,note,lower,upper,size\r\nz,\"a, \"\"b\"\"\",0,3,4\r\n\r\na,,3,9,4");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(printPackCsv(*table, {8, 0}), "id,note,lower,upper,size,offset\nz,\"a, \"\"b\"\"\",0,3,4,8\na,,3,9,4,0\n");
}

TEST(Csv, OffsetsArePinsAndAreReplaced) {
  auto table = parsePackCsv("id,\"offset\",lower,upper,size,alignment\na,16,0,3,4,8\nb,,0,3,4,\n");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->items[0].pinned, 16);
  EXPECT_FALSE(table->items[1].pinned);
  EXPECT_EQ(table->items[0].alignment, 8);
  EXPECT_EQ(table->items[1].alignment, 1);
  EXPECT_EQ(printPackCsv(*table, {64, 4}), "id,offset,lower,upper,size,alignment\na,64,0,3,4,8\nb,4,0,3,4,\n");
}

TEST(Csv, GapsCutLifetimes) {
  auto table = parsePackCsv("id,lower,upper,size,gaps\na,5,10,15,\nb,6,12,18,7-8 9-10\nc,-9,3,1,-7--2\nd,0,4,1,0-4\n");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->items[0].ranges, (std::vector<LiveRange>{{5, 10}}));
  EXPECT_EQ(table->items[1].ranges, (std::vector<LiveRange>{{6, 7}, {8, 9}, {10, 12}}));
  EXPECT_EQ(table->items[2].ranges, (std::vector<LiveRange>{{-9, -7}, {-2, 3}}));
  EXPECT_EQ(table->items[3].ranges, (std::vector<LiveRange>{{0, 0}, {4, 4}}));
}

TEST(Csv, AliasesMayNameLaterRows) {
  auto table = parsePackCsv("id,lower,upper,size,alias\na,0,2,4,b\nb,2,4,4,\nc,2,4,4,a\n");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->items[0].alias, 1u);
  EXPECT_FALSE(table->items[1].alias);
  EXPECT_EQ(table->items[2].alias, 0u);
}

TEST(Csv, AHeaderAloneIsAnEmptyProblem) {
  auto table = parsePackCsv("\xEF\xBB\xBFid,lower,upper,size");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_TRUE(table->items.empty());
  EXPECT_EQ(printPackCsv(*table, {}), "id,lower,upper,size,offset\n");
}

TEST(Csv, ErrorsNameLineAndColumn) {
  const std::string header = "id,lower,upper,size\n";
  EXPECT_EQ(errorOf(""), "line 1, column 1: the table is empty; expected the header id,lower,upper,size");
  EXPECT_EQ(errorOf("id,lower,size\na,0,4\n"),
            "line 1, column 1: the header has no column 'upper'; it must name id, lower, upper and size");
  EXPECT_EQ(errorOf("id,lower,upper,size,size\n"), "line 1, column 21: column 'size' appears twice");
  EXPECT_EQ(errorOf(header + "a,0,3,4\nb,0,x3,4\n"), "line 3, column 5: expected an integer for upper, got 'x3'");
  EXPECT_EQ(errorOf(header + "a,0,3,\n"), "line 2, column 7: expected an integer for size, got ''");
  EXPECT_EQ(errorOf(header + "a,0,3,4.5\n"), "line 2, column 7: expected an integer for size, got '4.5'");
  EXPECT_EQ(errorOf(header + "a,0,3,-4\n"), "line 2, column 7: size is -4, expected at least 0");
  EXPECT_EQ(errorOf(header + "a,0,3,9223372036854775808\n"),
            "line 2, column 7: size '9223372036854775808' does not fit in 64 bits");
  EXPECT_EQ(errorOf(header + "a,5,3,4\n"), "line 2, column 5: 'a' ends at 3, before it begins at 5");
  EXPECT_EQ(errorOf(header + "a,0,3\n"), "line 2, column 5: expected 4 cells as in the header, got 3");
  EXPECT_EQ(errorOf(header + "a,0,3,4,5\n"), "line 2, column 9: expected 4 cells as in the header, got 5");
  EXPECT_EQ(errorOf(header + "a,0,3,4\nb,0,3,4\na,1,2,3\n"), "line 4, column 1: id 'a' is already that of line 2");
  EXPECT_EQ(errorOf(header + ",0,3,4\n"), "line 2, column 1: the id is empty");
  EXPECT_EQ(errorOf(header + "\"a,0,3,4\n"), "line 2, column 1: this quoted cell is never closed");
  EXPECT_EQ(errorOf(header + "\"a\"b,0,3,4\n"),
            "line 2, column 4: expected ',' or the end of the line after a quoted cell");
  EXPECT_EQ(errorOf("id,lower,upper,size,alignment\na,0,3,4,0\n"),
            "line 2, column 9: alignment is 0, expected at least 1");
  EXPECT_EQ(errorOf("id,lower,upper,size,offset\na,0,3,4,-1\n"), "line 2, column 9: offset is -1, expected at least 0");
  EXPECT_EQ(errorOf("id,lower,upper,size,alias\na,0,3,4,b\n"), "line 2, column 9: there is no buffer with the id 'b'");
  const std::string gaps = "id,lower,upper,size,gaps\n";
  EXPECT_EQ(errorOf(gaps + "a,0,9,4,2\n"), "line 2, column 9: expected gaps such as '7-8 9-10', got '2'");
  EXPECT_EQ(errorOf(gaps + "a,0,9,4,2-3@1:2\n"), "line 2, column 9: expected gaps such as '7-8 9-10', got '2-3@1:2'");
  EXPECT_EQ(errorOf(gaps + "a,0,9,4,2-5 4-6\n"),
            "line 2, column 9: gap 4-6 does not lie within the rest of the lifetime, 5-9");
  EXPECT_EQ(errorOf(gaps + "a,0,9,4,2-10\n"),
            "line 2, column 9: gap 2-10 does not lie within the rest of the lifetime, 0-9");
}
