//===- rope_table.cpp - cosines and sines of rotary positions -------------===//
//
// Runs once, when a model is loaded. Everything is computed in double precision and rounded once, so that one scalar
// implementation gives the same table on every machine.
//
//===----------------------------------------------------------------------===//
#include "KernelSupport.h"

namespace {

constexpr double kPi = 3.14159265358979323846;

/// The pair whose wave makes `turns` turns within the original context.
double pairOfTurns(const ckk_rope_table_f64_args *args, double turns) {
  return static_cast<double>(args->P) * std::log(static_cast<double>(args->original_context) / (2 * kPi * turns)) /
         std::log(args->theta);
}

/// YaRN (Peng et al., 2023): the share by which the wave of pair i is stretched, from whole pairs.
double stretchedShare(const ckk_rope_table_f64_args *args, int64_t i) {
  const double last = static_cast<double>(2 * args->P - 1);
  const double low = std::max(std::floor(pairOfTurns(args, args->beta_fast)), 0.0);
  const double high = std::min(std::ceil(pairOfTurns(args, args->beta_slow)), last);
  return std::clamp((static_cast<double>(i) - low) / std::max(high - low, 0.001), 0.0, 1.0);
}

/// What cosines and sines are multiplied by.
double magnitude(const ckk_rope_table_f64_args *args) {
  if (args->scaling != CKK_ROPE_TABLE_F64_SCALING_YARN || args->factor <= 1)
    return 1;
  const double growth = 0.1 * std::log(args->factor);
  return (args->mscale * growth + 1) / (args->mscale_all_dim * growth + 1);
}

/// Radians per position of pair i.
double frequency(const ckk_rope_table_f64_args *args, int64_t i) {
  const double base = std::pow(args->theta, -static_cast<double>(i) / static_cast<double>(args->P));
  if (args->scaling == CKK_ROPE_TABLE_F64_SCALING_NONE)
    return base;
  const double slow = base / args->factor;
  if (args->scaling == CKK_ROPE_TABLE_F64_SCALING_LINEAR)
    return slow;
  if (args->scaling == CKK_ROPE_TABLE_F64_SCALING_YARN) {
    const double share = stretchedShare(args, i);
    return share * slow + (1 - share) * base;
  }
  // Long waves are stretched, short ones kept, those between are mixed.
  const double turns = static_cast<double>(args->original_context) * base / (2 * kPi);
  if (turns > args->high_freq_factor)
    return base;
  if (turns < args->low_freq_factor)
    return slow;
  const double keep = (turns - args->low_freq_factor) / (args->high_freq_factor - args->low_freq_factor);
  return keep * base + (1 - keep) * slow;
}

int32_t check(ck_context *ctx, const ckk_rope_table_f64_args *args) {
  if (!(args->theta > 0))
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "theta is %g, expected a positive number", args->theta);
  if (args->scaling != CKK_ROPE_TABLE_F64_SCALING_NONE && !(args->factor > 0))
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "factor is %g, expected a positive number", args->factor);
  if (args->scaling == CKK_ROPE_TABLE_F64_SCALING_LLAMA3 && !(args->high_freq_factor > args->low_freq_factor))
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "high_freq_factor is %g, expected more than low_freq_factor, which is %g",
                   args->high_freq_factor, args->low_freq_factor);
  const bool yarn = args->scaling == CKK_ROPE_TABLE_F64_SCALING_YARN;
  if (yarn && (!(args->beta_fast > 0) || !(args->beta_slow > 0)))
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "beta_fast and beta_slow are %g and %g, expected positive numbers",
                   args->beta_fast, args->beta_slow);
  if ((yarn || args->scaling == CKK_ROPE_TABLE_F64_SCALING_LLAMA3) && args->original_context < 1)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "original_context is %lld, expected at least 1",
                   static_cast<long long>(args->original_context));
  return CK_OK;
}

} // namespace

CK_PORTABLE_KERNEL(rope_table_f64) {
  if (const int32_t status = check(ctx, args))
    return status;
  const int64_t S = args->S, P = args->P;
  const double scale = magnitude(args);
  constexpr int64_t kCost = 32; // a pair of trigonometric functions against one cheap element
  ck::parallelRange(ctx, S, ck::rowsPerTask(P * kCost), [=](int64_t begin, int64_t end, int) {
    for (int64_t i = 0; i < P; ++i) {
      const double f = frequency(args, i);
      for (int64_t s = begin; s < end; ++s) {
        const double angle = static_cast<double>(s) * f;
        args->cos[s * P + i] = static_cast<float>(std::cos(angle) * scale);
        args->sin[s * P + i] = static_cast<float>(std::sin(angle) * scale);
      }
    }
  });
  return CK_OK;
}
