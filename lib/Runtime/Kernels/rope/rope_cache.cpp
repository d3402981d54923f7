//===- rope_cache.cpp - cosines and sines as other programs compute them --===//
//
// In single precision by the C library. The error of an angle grows with the position; rope_table_f64 has none, and is
// what a model gets unless it is to match another program.
//
//===----------------------------------------------------------------------===//
#include "ck/Support/Half.h"
#include "rope/Angles.h"

namespace {

using namespace ck;

/// Calls row(s) for the rows of a table of P pairs.
template <typename Row> void overRows(ck_context *ctx, int64_t rows, int64_t P, Row row) {
  parallelRange(ctx, rows, rowsPerTask(P * kAngleCost), [&](int64_t begin, int64_t end, int) {
    for (int64_t s = begin; s < end; ++s)
      row(s);
  });
}

int32_t checkScaling(ck_context *ctx, double theta, bool scaled, double factor) {
  if (!(theta > 0))
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "theta is %g, expected a positive number", theta);
  if (scaled && !(factor > 0))
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "factor is %g, expected a positive number", factor);
  return CK_OK;
}

/// YaRN (Peng et al., 2023): waves that turn less than beta_slow times in the original context are stretched, those
/// that turn more than beta_fast times are kept, those between are mixed.
class YarnTable {
public:
  template <typename Args>
  explicit YarnTable(const Args *args)
      : theta(static_cast<float>(args->theta)), factor(static_cast<float>(args->factor)), R(2 * args->P) {
    const double columns = static_cast<double>(R), context = static_cast<double>(args->original_context);
    const auto pairOfTurns = [&](double turns) {
      return columns * std::log(context / (turns * 2 * 3.14159265358979323846)) / (2 * std::log(args->theta));
    };
    const double first = std::max(std::floor(pairOfTurns(args->beta_fast)), 0.0);
    const double last = std::min(std::ceil(pairOfTurns(args->beta_slow)), columns - 1);
    low = static_cast<float>(first);
    span = static_cast<float>(std::max(last, first + 0.001) - first);
    const auto magnitudeOf = [&](double weight) {
      return args->factor <= 1 ? 1.0 : 0.1 * weight * std::log(args->factor) + 1.0;
    };
    magnitude = static_cast<float>(magnitudeOf(args->mscale) / magnitudeOf(args->mscale_all_dim));
  }

  /// Radians per position of pair i.
  float frequency(int64_t i) const {
    const float fast = 1.0f / std::pow(theta, static_cast<float>(2 * i) / static_cast<float>(R));
    const float up = std::min(1.0f, std::max(0.0f, (static_cast<float>(i) - low) / span));
    return fast / factor * up + fast * (1.0f - up);
  }

  float theta, factor, low, span, magnitude;
  int64_t R;
};

template <typename Args> int32_t checkYarnTable(ck_context *ctx, const Args *args) {
  if (const int32_t status = checkScaling(ctx, args->theta, true, args->factor))
    return status;
  if (!(args->beta_fast > 0) || !(args->beta_slow > 0))
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "beta_fast and beta_slow are %g and %g, expected positive numbers",
                   args->beta_fast, args->beta_slow);
  if (args->original_context < 1)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "original_context is %lld, expected at least 1",
                   static_cast<long long>(args->original_context));
  return CK_OK;
}

/// `positions` of the rows, or 0, 1, 2, ... where it is null.
template <typename Element, typename Args>
int32_t yarnTable(ck_context *ctx, const Args *args, int64_t rows, const int32_t *positions, Element (*narrow)(float)) {
  if (const int32_t status = checkYarnTable(ctx, args))
    return status;
  if (positions)
    if (const int32_t status = checkAngles(ctx, "pos", positions, rows, args->theta))
      return status;
  const YarnTable table(args);
  const int64_t P = args->P;
  overRows(ctx, rows, P, [&](int64_t s) {
    const float position = static_cast<float>(positions ? positions[s] : s);
    for (int64_t i = 0; i < P; ++i) {
      const float angle = position * table.frequency(i);
      args->cos[s * P + i] = narrow(std::cos(angle) * table.magnitude);
      args->sin[s * P + i] = narrow(std::sin(angle) * table.magnitude);
    }
  });
  return CK_OK;
}

float same(float x) { return x; }

} // namespace

CK_PORTABLE_KERNEL(rope_precompute_cache) {
  const bool linear = args->scaling == CKK_ROPE_PRECOMPUTE_CACHE_SCALING_LINEAR;
  if (const int32_t status = checkScaling(ctx, args->theta, linear, args->factor))
    return status;
  const int64_t P = args->P;
  const float theta = static_cast<float>(args->theta), factor = linear ? static_cast<float>(args->factor) : 1.0f;
  overRows(ctx, args->S, P, [&](int64_t s) {
    const float position = static_cast<float>(s) / factor;
    for (int64_t i = 0; i < P; ++i) {
      const float angle = position * (1.0f / std::pow(theta, static_cast<float>(2 * i) / static_cast<float>(2 * P)));
      args->cos[s * P + i] = std::cos(angle), args->sin[s * P + i] = std::sin(angle);
    }
  });
  return CK_OK;
}

CK_PORTABLE_KERNEL(rope_precompute_cache_llama_cpu) {
  const bool linear = args->scaling == CKK_ROPE_PRECOMPUTE_CACHE_LLAMA_CPU_SCALING_LINEAR;
  if (const int32_t status = checkScaling(ctx, args->theta, linear, args->factor))
    return status;
  const int64_t P = args->P;
  const float step = std::pow(static_cast<float>(args->theta), -2.0f / static_cast<float>(2 * P));
  const float factor = linear ? static_cast<float>(args->factor) : 1.0f;
  overRows(ctx, args->S, P, [&](int64_t s) {
    float angle = static_cast<float>(s) / factor;
    for (int64_t i = 0; i < P; ++i, angle *= step)
      args->cos[s * P + i] = std::cos(angle), args->sin[s * P + i] = std::sin(angle);
  });
  return CK_OK;
}

CK_PORTABLE_KERNEL(yarn_rope_cache_contiguous_positions_f32) {
  return yarnTable<float>(ctx, args, args->S, nullptr, same);
}
CK_PORTABLE_KERNEL(yarn_rope_cache_explicit_positions_f32) {
  return yarnTable<float>(ctx, args, args->T, args->pos, same);
}
CK_PORTABLE_KERNEL(yarn_rope_cache_explicit_positions_bf16) {
  return yarnTable<uint16_t>(ctx, args, args->T, args->pos, floatToBF16);
}
