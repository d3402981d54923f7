//===- Peak.h - what fills the fullest time ---------------------*- C++ -*-===//
#ifndef CK_PACKING_PEAK_H
#define CK_PACKING_PEAK_H

#include "ck/Packing/Packing.h"

namespace ck {

/// The first time at which most bytes are live. No packing is lower than `bytes`; to lower it, something in `live` has
/// to shrink, die earlier, be born later or be recomputed.
struct PackPeak {
  struct Live {
    size_t item;   ///< that stands for its alias class: a live member, the largest
    int64_t bytes; ///< of the class
  };
  LiveRange time;         ///< the span over which the same items are live
  int64_t bytes = 0;      ///< the sum of `live`
  std::vector<Live> live; ///< the largest first
};

/// Finds the peak. Nothing is live in it if nothing ever is. Errors as `pack`.
Result<PackPeak> findPeak(const std::vector<PackItem> &items);

} // namespace ck

#endif // CK_PACKING_PEAK_H
