//===- StorageTypeTest.cpp - element types of containers ------------------===//
#include "ck/Import/Formats/StorageType.h"
#include "ck/KernelMaps/DType.h"

#include <gtest/gtest.h>

using namespace ck;

namespace {

TEST(StorageType, AgreesWithTheTypesOfKernels) {
  int common = 0;
  for (const DTypeInfo &type : allDTypes()) {
    const StorageType *stored = findStorageType(type.name);
    if (!stored)
      continue;
    ++common;
    EXPECT_EQ(stored->blockElements, static_cast<uint32_t>(type.blockElements)) << type.name;
    EXPECT_EQ(stored->blockBytes, static_cast<uint32_t>(type.blockBytes)) << type.name;
  }
  EXPECT_GE(common, 20);
}

TEST(StorageType, CountsWithoutOverflow) {
  const StorageType &f32 = *findStorageType("f32"), &q8 = *findStorageType("q8_0");
  EXPECT_EQ(elementCount({}), 1u);
  EXPECT_EQ(elementCount({3, 0}), 0u);
  EXPECT_FALSE(elementCount({-1}));
  EXPECT_FALSE(elementCount({1ll << 32, 1ll << 31}));
  EXPECT_EQ(tensorBytes(f32, {2, 3}), 24u);
  EXPECT_EQ(tensorBytes(q8, {2, 64}), 136u);
  EXPECT_FALSE(tensorBytes(q8, {64, 2}));
  EXPECT_FALSE(tensorBytes(q8, {}));
  EXPECT_EQ(tensorBytes(f32, {(1ll << 62) - 1}), ~0ull - 3);
  EXPECT_FALSE(tensorBytes(f32, {1ll << 62}));
  EXPECT_EQ(findStorageType("q9"), nullptr);
  EXPECT_EQ(findGgmlType(0xffffffffu), nullptr);
}

} // namespace
