//===- Schedule.cpp - the learning rate of a step -------------------------===//
#include "ck/Training/Schedule.h"

#include <cmath>

namespace ck {

double Schedule::at(int64_t step) const {
  if (step <= warmup)
    return peak * static_cast<double>(step) / static_cast<double>(warmup);
  if (kind == Constant)
    return peak;
  if (step >= steps)
    return last;
  constexpr double pi = 0x1.921fb54442d18p+1;
  double progress = static_cast<double>(step - warmup) / static_cast<double>(steps - warmup);
  return last + (peak - last) * (1 + std::cos(pi * progress)) / 2;
}

} // namespace ck
