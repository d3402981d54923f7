//===- ReportTest.cpp - pictures and the peak -----------------------------===//
#include "Items.h"
#include "ck/Packing/Drawing.h"
#include "ck/Packing/Peak.h"

#include <gtest/gtest.h>

using namespace ck;
using ck::test::item;

static size_t count(const std::string &text, const std::string &part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(Peak, NamesWhatIsLiveAtTheFullestTime) {
  std::vector<PackItem> items = {item("a", 8, {{0, 30}}), item("b", 16, {{10, 20}}), item("c", 4, {{20, 40}}),
                                 item("d", 2, {{12, 18}})};
  Result<PackPeak> peak = findPeak(items);
  ASSERT_TRUE(peak) << peak.error().message;
  EXPECT_EQ(peak->time, (LiveRange{12, 18}));
  EXPECT_EQ(peak->bytes, 26);
  ASSERT_EQ(peak->live.size(), 3u);
  EXPECT_EQ(peak->live[0].item, 1u);
  EXPECT_EQ(peak->live[1].item, 0u);
  EXPECT_EQ(peak->live[2].item, 3u);
}

TEST(Peak, CountsAnAliasClassOnce) {
  std::vector<PackItem> items = {item("a", 8, {{0, 3}}), item("b", 6, {{2, 5}}), item("c", 1, {{2, 3}})};
  items[1].alias = 0;
  Result<PackPeak> peak = findPeak(items);
  ASSERT_TRUE(peak);
  EXPECT_EQ(peak->bytes, 9);
  ASSERT_EQ(peak->live.size(), 2u);
  EXPECT_EQ(peak->live[0].item, 0u);
}

TEST(Peak, NothingLiveIsNoPeak) {
  for (const auto &items : {std::vector<PackItem>(), {item("a", 8, {})}, {item("a", 0, {{0, 2}})}}) {
    Result<PackPeak> peak = findPeak(items);
    ASSERT_TRUE(peak);
    EXPECT_EQ(peak->bytes, 0);
    EXPECT_TRUE(peak->live.empty());
  }
}

TEST(Drawing, EveryLiveRangeIsARectangleWithATooltip) {
  std::vector<PackItem> items = {item("a<b>&\"c\"", 8, {{0, 3}, {5, 6}}), item("empty", 0, {{0, 3}}),
                                 item("never", 8, {})};
  std::string svg = drawSvg({items, {0, 0, 0}, "t", 8, 16, "call"});
  EXPECT_EQ(count(svg, "<rect x="), 2u);
  EXPECT_EQ(count(svg, "a&lt;b&gt;&amp;&quot;c&quot;\n8 bytes at [0, 8)\ncall [5, 6)"), 1u);
  EXPECT_EQ(count(svg, "<title>bound, 8 bytes</title>"), 1u);
  EXPECT_EQ(count(svg, "<title>capacity, 16 bytes</title>"), 1u);
}

TEST(Drawing, NothingIsAnEmptySheet) { EXPECT_EQ(count(drawSvg({{}, {}, "nothing", 0, -1, ""}), "<rect"), 1u); }

TEST(Drawing, ExtremeNumbersStayOnTheSheet) {
  std::vector<PackItem> items = {item("a", INT64_MAX, {{INT64_MIN, INT64_MAX}})};
  std::string svg = drawSvg({items, {0}, "t", INT64_MAX, INT64_MAX, ""});
  EXPECT_NE(svg.find("<rect x=\"0.00\" y=\"0.00\" width=\"1600.00\" height=\"900.00\""), std::string::npos) << svg;
}

TEST(Drawing, ThePageRefersToNothingElse) {
  std::vector<PackItem> items = {item("a", 8, {{0, 3}})};
  std::string page = drawHtml({items, {0}, "plan", 8, -1, "call"});
  EXPECT_EQ(count(page, "<svg"), 1u);
  EXPECT_EQ(count(page, "src="), 0u);
  EXPECT_EQ(count(page, "href="), 0u);
  // The name space of SVG is the only address in it, and is not loaded.
  EXPECT_EQ(count(page, "http"), 1u);
}
