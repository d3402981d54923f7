//===- MemoryTest.cpp - small and mapped blocks behave alike --------------===//

#include "Memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace {

class MemoryOf : public testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(Bytes, MemoryOf,
                         testing::Values(1, 63, 64, 65, 4096, (4 << 20) - 1, 4 << 20, (4 << 20) + 1, 9000001));

TEST_P(MemoryOf, IsZeroAlignedAndCanBeZeroedAgain) {
  ck::Memory memory;
  ASSERT_TRUE(memory.allocate(GetParam()));
  EXPECT_EQ(memory.size(), GetParam());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.data()) % 64, 0u);
  auto isZero = [&] {
    return std::all_of(memory.data(), memory.data() + memory.size(), [](char c) { return c == 0; });
  };
  EXPECT_TRUE(isZero());
  std::memset(memory.data(), 1, memory.size());
  EXPECT_FALSE(isZero());
  memory.zero();
  EXPECT_TRUE(isZero());
  std::memset(memory.data(), 2, memory.size());
}

TEST(Memory, OfNoBytesIsNull) {
  ck::Memory memory;
  ASSERT_TRUE(memory.allocate(0));
  EXPECT_EQ(memory.data(), nullptr);
  memory.zero();
}

TEST(Memory, KeepsTheOldBlockWhenThereIsNoRoom) {
  ck::Memory memory;
  ASSERT_TRUE(memory.allocate(8));
  memory.data()[7] = 5;
  for (size_t bytes : {size_t(1) << 62, SIZE_MAX, SIZE_MAX / 2 + 1, SIZE_MAX - 63})
    EXPECT_FALSE(memory.allocate(bytes));
  EXPECT_EQ(memory.size(), 8u);
  EXPECT_EQ(memory.data()[7], 5);
}

TEST(Memory, Moves) {
  ck::Memory a, b;
  ASSERT_TRUE(a.allocate(8) && b.allocate(5 << 20));
  char *block = b.data();
  a = std::move(b);
  EXPECT_EQ(a.data(), block);
  EXPECT_EQ(a.size(), size_t(5) << 20);
  ck::Memory c(std::move(a));
  EXPECT_EQ(c.data(), block);
  EXPECT_EQ(a.data(), nullptr);
}

} // namespace
