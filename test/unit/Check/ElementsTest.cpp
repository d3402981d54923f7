//===- ElementsTest.cpp - rounding to element types -----------------------===//

#include "Elements.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace ck::check;

namespace {

uint64_t bitsOf(const char *type, double value) {
  uint64_t bits = 0;
  store(*findElement(type), value, reinterpret_cast<uint8_t *>(&bits));
  return bits;
}

TEST(Elements, Bf16RoundsToNearestEven) {
  EXPECT_EQ(bitsOf("bf16", 1.0), 0x3f80u);
  EXPECT_EQ(bitsOf("bf16", 1 + 0x1p-8), 0x3f80u);           // tie: the even one
  EXPECT_EQ(bitsOf("bf16", 1 + 3 * 0x1p-8), 0x3f82u);       // tie: up to the even one
  EXPECT_EQ(bitsOf("bf16", 1 + 0x1p-8 + 0x1p-40), 0x3f81u); // a double just above the tie is no tie
  EXPECT_EQ(bitsOf("bf16", -3.3895314e38), 0xff7fu);
  EXPECT_EQ(bitsOf("bf16", 3.4e38), 0x7f80u);
  EXPECT_TRUE(std::isnan(rounded(*findElement("bf16"), NAN)));
}

TEST(Elements, F16HasSubnormalsAndInfinity) {
  EXPECT_EQ(bitsOf("f16", 1.0), 0x3c00u);
  EXPECT_EQ(bitsOf("f16", -2.0), 0xc000u);
  EXPECT_EQ(bitsOf("f16", 65504.0), 0x7bffu);
  EXPECT_EQ(bitsOf("f16", 65520.0), 0x7c00u);
  EXPECT_EQ(bitsOf("f16", 0x1p-24), 0x0001u);
  EXPECT_EQ(bitsOf("f16", 0x1p-26), 0x0000u);
  EXPECT_EQ(bitsOf("f16", 0x1p-14), 0x0400u);
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    uint16_t half = static_cast<uint16_t>(bits);
    double value = load(*findElement("f16"), reinterpret_cast<const uint8_t *>(&half));
    ASSERT_EQ(bitsOf("f16", value), bits);
  }
}

TEST(Elements, IntegersKeepTheirSign) {
  EXPECT_EQ(rounded(*findElement("i32"), -2147483648.0), -2147483648.0);
  EXPECT_EQ(rounded(*findElement("i8"), -5.0), -5.0);
  EXPECT_EQ(rounded(*findElement("i16"), -300.0), -300.0);
  EXPECT_EQ(rounded(*findElement("u8"), 200.0), 200.0);
  EXPECT_EQ(rounded(*findElement("u32"), 4e9), 4e9);
  EXPECT_EQ(rounded(*findElement("i64"), -1e15), -1e15);
  EXPECT_EQ(rounded(*findElement("i1"), 7.0), 1.0);
}

TEST(Elements, UnknownTypesAreNone) {
  EXPECT_EQ(findElement("q4_k"), nullptr);
  EXPECT_EQ(findElement(""), nullptr);
}

TEST(Elements, LayoutsOfStridedOperands) {
  Layout layout{{2, 3}, {10, 2}};
  EXPECT_EQ(layout.elements(), 6);
  EXPECT_EQ(layout.span(), 15);
  EXPECT_EQ(layout.position(5), 14);
  EXPECT_EQ(Layout::compact({2, 0, 3}).span(), 0);
}

} // namespace
