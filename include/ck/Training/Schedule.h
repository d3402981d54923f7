//===- Schedule.h - the learning rate of a step -----------------*- C++ -*-===//
#ifndef CK_TRAINING_SCHEDULE_H
#define CK_TRAINING_SCHEDULE_H

#include <cstdint>

namespace ck {

/// The rate of step s = 1, 2, .. of N with W steps of warm-up, peak rate L and final rate M:
///
///   s <= W            L * s / W
///   constant          L
///   cosine, s < N     M + (L - M) * (1 + cos(pi * (s - W) / (N - W))) / 2
///   cosine, s >= N    M
struct Schedule {
  enum Kind { Constant, Cosine } kind = Constant;
  double peak = 1e-3; ///< L
  double last = 0;    ///< M; only of cosine
  int64_t warmup = 0; ///< W
  int64_t steps = 0;  ///< N

  double at(int64_t step) const;
};

} // namespace ck

#endif // CK_TRAINING_SCHEDULE_H
