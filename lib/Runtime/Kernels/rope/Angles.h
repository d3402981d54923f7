//===- Angles.h - cosines and sines of the pairs of one row -----*- C++ -*-===//
//
// For rotations without tables. Angles are in single precision, by the C library, in the order that each contract
// names; every instruction set calls the same functions.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_RUNTIME_KERNELS_ROPE_ANGLES_H
#define CK_LIB_RUNTIME_KERNELS_ROPE_ANGLES_H

#include "KernelSupport.h"

namespace ck {

inline constexpr float kPiF = 3.14159265358979323846f;

/// Elements of cheap work that the angle of one pair stands for.
inline constexpr int64_t kAngleCost = 64;

/// Refuses negative positions and a base that has no powers.
inline int32_t checkAngles(ck_context *ctx, const char *name, const int32_t *positions, int64_t n, double theta) {
  if (!(theta > 0))
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "theta is %g, expected a positive number", theta);
  if (const int64_t bad = firstOutside(positions, n, int64_t(1) << 31); bad < n)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "%s[%lld] is %d, expected a position of at least 0", name,
                   static_cast<long long>(bad), positions[bad]);
  return CK_OK;
}

/// The stretching of long waves: the angle of a pair becomes a mixture of its own and of that of the longer context.
struct Yarn {
  float scale, extFactor, magnitude;
  float low = 0, high = 0; ///< pairs between which waves go over from kept to stretched

  /// `width` columns are what the powers of theta run over.
  template <typename Args>
  Yarn(const Args *args, int64_t width)
      : scale(static_cast<float>(args->freq_scale)), extFactor(static_cast<float>(args->ext_factor)),
        magnitude(static_cast<float>(args->attn_factor)) {
    if (extFactor == 0)
      return;
    const float n = static_cast<float>(width), context = static_cast<float>(args->original_context);
    const float theta = static_cast<float>(args->theta);
    const auto pairOfTurns = [=](double turns) {
      return n * std::log(context / (static_cast<float>(turns) * 2 * kPiF)) / (2 * std::log(theta));
    };
    low = std::max(0.0f, std::floor(pairOfTurns(args->beta_fast)));
    high = std::min(n - 1, std::ceil(pairOfTurns(args->beta_slow)));
    magnitude *= 1.0f + 0.1f * std::log(1.0f / scale);
  }

  /// The angle of pair i whose wave has come to `wave`.
  float angle(float wave, int64_t i) const {
    const float stretched = scale * wave;
    if (extFactor == 0)
      return stretched;
    const float up = (static_cast<float>(i) - low) / std::max(0.001f, high - low);
    const float mix = (1.0f - std::min(1.0f, std::max(0.0f, up))) * extFactor;
    return std::fma(stretched, 1.0f - mix, wave * mix);
  }
};

/// Refuses factors for which the mixture is not defined.
template <typename Args> int32_t checkYarn(ck_context *ctx, const Args *args) {
  if (args->ext_factor == 0)
    return CK_OK;
  if (!(args->freq_scale > 0) || !(args->beta_fast > 0) || !(args->beta_slow > 0))
    return ck_fail(ctx, CK_INVALID_ARGUMENT,
                   "freq_scale, beta_fast and beta_slow are %g, %g and %g, expected positive numbers", args->freq_scale,
                   args->beta_fast, args->beta_slow);
  if (args->original_context < 1)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "original_context is %lld, expected at least 1",
                   static_cast<long long>(args->original_context));
  return CK_OK;
}

} // namespace ck

#endif // CK_LIB_RUNTIME_KERNELS_ROPE_ANGLES_H
