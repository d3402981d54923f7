//===- Elements.h - element types of operands as the checker sees them -*- C++ -*-===//
//
// Between a reference's doubles and the bytes that a kernel reads. Every value that goes to a kernel is first rounded
// to its type, and the reference computes from the rounded value.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TOOLS_KERNELS_ELEMENTS_H
#define CK_TOOLS_KERNELS_ELEMENTS_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ck::check {

/// A plain element type that the checker can make values of.
struct Element {
  std::string_view name;
  int bytes;
  bool isFloat;
};
/// nullptr for types that have no single elements (block-quantised ones) or are unknown.
const Element *findElement(std::string_view dtype);

/// Writes `value`, rounded to the nearest of the type; integers must be in range.
void store(const Element &element, double value, uint8_t *to);
double load(const Element &element, const uint8_t *from);
/// `value` as the kernel will see it.
double rounded(const Element &element, double value);

/// Where the elements of an operand lie: row-major extents and the stride of each axis, in elements.
struct Layout {
  std::vector<int64_t> shape, strides;

  static Layout compact(std::vector<int64_t> shape);
  int64_t elements() const;
  /// Elements from the first to just behind the last one.
  int64_t span() const;
  /// Position of the i-th element in row-major order.
  int64_t position(int64_t i) const;
};

} // namespace ck::check

#endif // CK_TOOLS_KERNELS_ELEMENTS_H
