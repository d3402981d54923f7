//===- rope_rounded.cpp - rotations as models in bfloat16 compute them ----===//
//
// Every frequency is 1 / theta^(2i/R), the cosine and the sine are rounded to bfloat16; text forms also round every
// product and every sum, the vision form multiplies and adds in f32 and rounds the result.
//
//===----------------------------------------------------------------------===//
#include "ck/Support/Half.h"
#include "rope/Sections.h"

namespace {

using namespace ck;

float rounded(float x) { return bf16ToFloat(floatToBF16(x)); }

/// Element (t, h, 0) of an operand and its result lies at (h * T + t) * D.
template <typename From> struct Heads {
  const From *from;
  uint16_t *to;
  int64_t count;
};

/// Rotates one row with rounded products.
void rotate(const uint16_t *from, uint16_t *to, int64_t D, int64_t P, const float *cosines, const float *sines) {
  for (int64_t i = 0; i < P; ++i) {
    const float a = bf16ToFloat(from[i]), b = bf16ToFloat(from[i + P]), c = cosines[i], s = sines[i];
    to[i] = floatToBF16(rounded(a * c) + rounded(-b * s));
    to[i + P] = floatToBF16(rounded(b * c) + rounded(a * s));
  }
  copyElements(to + 2 * P, from + 2 * P, D - 2 * P);
}

/// Rotates one row of f32 and rounds at the end.
void rotate(const float *from, uint16_t *to, int64_t D, int64_t P, const float *cosines, const float *sines) {
  for (int64_t i = 0; i < P; ++i) {
    const float a = from[i], b = from[i + P], c = cosines[i], s = sines[i];
    to[i] = floatToBF16(a * c - b * s);
    to[i + P] = floatToBF16(b * c + a * s);
  }
  for (int64_t d = 2 * P; d < D; ++d)
    to[d] = floatToBF16(from[d]);
}

/// fill(t, i, cosine, sine) gives the turn of each pair.
template <typename From, typename Fill>
void overRows(ck_context *ctx, int64_t T, int64_t D, int64_t P, Heads<From> q, Heads<From> k, Fill fill) {
  const int64_t work = 4 * (q.count + k.count) * D + P * kAngleCost;
  parallelRange(ctx, T, rowsPerTask(work), [&](int64_t begin, int64_t end, int thread) {
    float *cosines = static_cast<float *>(ck_thread_scratch(ctx, thread)), *sines = cosines + P;
    for (int64_t t = begin; t < end; ++t) {
      for (int64_t i = 0; i < P; ++i)
        fill(t, i, cosines[i], sines[i]);
      for (const Heads<From> &heads : {q, k})
        for (int64_t h = 0; heads.from && h < heads.count; ++h) {
          const int64_t at = (h * T + t) * D;
          rotate(heads.from + at, heads.to + at, D, P, cosines, sines);
        }
    }
  });
}

/// 1 / theta^(2i/width).
float frequency(double theta, int64_t i, int64_t width) {
  return 1.0f / std::pow(static_cast<float>(theta), static_cast<float>(2 * i) / static_cast<float>(width));
}

/// Three interleaved axes; pairs that the sections of the second and third leave follow the first.
template <typename Args>
int32_t interleaved(ck_context *ctx, const Args *args, int64_t streams, int64_t second, int64_t third) {
  const int64_t T = args->T, P = args->P, sections[3] = {P, second, third};
  if (const int32_t status = checkAngles(ctx, "positions", args->positions, streams * T, args->theta))
    return status;
  const float scale = static_cast<float>(args->freq_scale), sign = args->inverse ? -1.0f : 1.0f;
  overRows<uint16_t>(ctx, T, args->D, P, {args->q, args->q_out, args->H}, {args->k, args->k_out, args->KV},
                     [&](int64_t t, int64_t i, float &c, float &s) {
                       const int64_t axis = streams == 4 && i < 3 * sections[i % 3] ? i % 3 : 0;
                       const float position = static_cast<float>(args->positions[axis * T + t]);
                       const float angle = position * frequency(args->theta, i, 2 * P) * scale;
                       c = rounded(std::cos(angle)), s = sign * rounded(std::sin(angle));
                     });
  return CK_OK;
}

} // namespace

CK_PORTABLE_KERNEL(rope_forward_qk_split_direct_muse_pytorch_bf16_storage) {
  const int64_t T = args->T, P = args->P;
  if (const int32_t status = checkAngles(ctx, "pos", args->pos, T, args->theta))
    return status;
  const float sign = args->inverse ? -1.0f : 1.0f, *factors = args->freq_factors;
  overRows<uint16_t>(ctx, T, args->D, P, {args->q, args->q_out, args->H}, {args->k, args->k_out, args->KV},
                     [&](int64_t t, int64_t i, float &c, float &s) {
                       const float angle = static_cast<float>(args->pos[t]) * frequency(args->theta, i, 2 * P) /
                                           (factors ? factors[i] : 1.0f);
                       c = rounded(std::cos(angle)), s = sign * rounded(std::sin(angle));
                     });
  return CK_OK;
}

CK_PORTABLE_KERNEL(mrope_qk_text_imrope_bf16_pytorch_storage) { return interleaved(ctx, args, 1, 0, 0); }
CK_PORTABLE_KERNEL(mrope_qk_text_imrope_positions_bf16_pytorch_storage) {
  return interleaved(ctx, args, 4, args->section_1, args->section_2);
}

CK_PORTABLE_KERNEL(mrope_qk_vision_bf16_pytorch_storage) {
  const int64_t T = args->T, P = args->P, half = args->section_0;
  if (const int32_t status = checkAngles(ctx, "positions", args->positions, 4 * T, args->theta))
    return status;
  if (half < 1 || 2 * half != P)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "sections of %lld do not fill %lld pairs", static_cast<long long>(half),
                   static_cast<long long>(P));
  const float scale = static_cast<float>(args->freq_scale), sign = args->inverse ? -1.0f : 1.0f;
  overRows<float>(ctx, T, args->D, P, {args->q, args->q_out, args->H}, {args->k, args->k_out, args->KV},
                  [&](int64_t t, int64_t i, float &c, float &s) {
                    const int64_t axis = i / half, power = i % half;
                    const float position = static_cast<float>(args->positions[axis * T + t]);
                    const float angle = position * frequency(args->theta, power, P) * scale;
                    c = std::cos(angle), s = sign * std::sin(angle);
                  });
  return CK_OK;
}
