//===- Measure.h - how long kernels take ------------------------*- C++ -*-===//
#ifndef CK_TOOLS_KERNELS_MEASURE_H
#define CK_TOOLS_KERNELS_MEASURE_H

#include "ck/KernelMaps/KernelMap.h"
#include "ck/Runtime/Runtime.h"

namespace ck::check {

struct Measurement {
  std::string geometry;                ///< extents and attributes
  std::map<std::string, int64_t> dims; ///< every dim symbol
  double seconds = 0;                  ///< the median of the calls
  int calls = 0;
  double operations = 0; ///< additions and multiplications, 0 where the operation says nothing of it
  int64_t bytes = 0;     ///< of all operands, once each (twice what is updated)
};

/// Calls a kernel with valid operands of the given extents (see GeometryDrawer::at) for about `budget` seconds, at
/// least three times after one that does not count. Operands that fit stay in the caches. An Error where its operation
/// has no reference, whose generator makes the operands, and where the call fails.
Result<Measurement> measure(const KernelMap &map, const ck_kernel &kernel, const std::map<std::string, int64_t> &sizes,
                            ck_context *ctx, double budget);

/// "T=512,K=768" split at the commas, to sizes: each with one value, or with several, "T=1:16:512". The combinations,
/// the last name varying fastest.
Result<std::vector<std::map<std::string, int64_t>>> parseSizes(const std::vector<std::string> &texts);

/// The model of the processor, as the system names it.
std::string machineName();

} // namespace ck::check

#endif // CK_TOOLS_KERNELS_MEASURE_H
