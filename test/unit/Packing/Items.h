//===- Items.h - buffers for tests, in one line -----------------*- C++ -*-===//
#ifndef CK_TEST_UNIT_PACKING_ITEMS_H
#define CK_TEST_UNIT_PACKING_ITEMS_H

#include "ck/Packing/Packing.h"

namespace ck::test {

inline PackItem item(std::string name, int64_t size, std::vector<LiveRange> ranges) {
  PackItem item;
  item.name = std::move(name);
  item.size = size;
  item.ranges = std::move(ranges);
  return item;
}

} // namespace ck::test

#endif // CK_TEST_UNIT_PACKING_ITEMS_H
