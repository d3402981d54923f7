//===- Drawing.h - pictures of packings -------------------------*- C++ -*-===//
//
// Address against time: time runs to the right, addresses grow upwards, every live range is a rectangle.
//
//===----------------------------------------------------------------------===//
#ifndef CK_PACKING_DRAWING_H
#define CK_PACKING_DRAWING_H

#include "ck/Packing/Packing.h"

namespace ck {

/// What is to be drawn. `offsets` are those of `items`, as checkPacking accepts them.
struct PackPicture {
  const std::vector<PackItem> &items;
  const std::vector<int64_t> &offsets;
  std::string title;
  int64_t bound = 0;     ///< drawn as a line where it is positive
  int64_t capacity = -1; ///< drawn as a line where it is not negative
  std::string timeUnit;  ///< what times count, for labels: "call"; may be empty
};

/// A stand-alone SVG file. A rectangle's tooltip names its buffer, bytes, addresses and times.
std::string drawSvg(const PackPicture &picture);

/// One HTML page without references to others: the drawing with details under the pointer, zoom by the wheel, panning
/// by dragging, and a search for names.
std::string drawHtml(const PackPicture &picture);

} // namespace ck

#endif // CK_PACKING_DRAWING_H
