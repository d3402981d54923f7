//===- Sections.h - which positions each pair follows -----------*- C++ -*-===//
//
// M-RoPE (Qwen2-VL) deals the pairs of a head out to streams of positions. Text sections lie one behind the other and
// repeat, interleaved ones alternate; vision gives the first section to y and the second, whose powers start anew, to
// x.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_RUNTIME_KERNELS_ROPE_SECTIONS_H
#define CK_LIB_RUNTIME_KERNELS_ROPE_SECTIONS_H

#include "rope/Angles.h"

namespace ck {

/// The positions of one row in the four streams. One stream alone stands for time, height and width; the fourth is 0.
struct RowPositions {
  float at[4] = {};
  RowPositions(const int32_t *positions, int64_t streams, int64_t T, int64_t t) {
    for (int64_t stream = 0; stream < 4; ++stream)
      if (streams == 4 || stream < 3)
        at[stream] = static_cast<float>(positions[(streams == 4 ? stream * T : 0) + t]);
  }
};

struct Sections {
  int64_t size[4];
  template <typename Args>
  explicit Sections(const Args *args) : size{args->section_0, args->section_1, args->section_2, args->section_3} {}
  int64_t total() const { return size[0] + size[1] + size[2] + size[3]; }

  /// The stream of pair i, by mode.
  static int64_t text(const Sections &s, int64_t i) {
    int64_t sector = i % s.total(), stream = 0;
    while (stream < 3 && sector >= s.size[stream])
      sector -= s.size[stream++];
    return stream;
  }
  static int64_t interleaved(const Sections &s, int64_t i) {
    const int64_t sector = i % s.total(), stream = sector % 3;
    return sector < 3 * s.size[stream] ? stream : 3;
  }
  static int64_t vision(const Sections &s, int64_t i) { return i >= s.size[0] && i < s.size[0] + s.size[1] ? 1 : 0; }
};

/// All four waves advance by one multiplication a pair.
template <typename Args, int64_t (*kStream)(const Sections &, int64_t)> class Recursive {
public:
  static constexpr bool kVision = kStream == &Sections::vision;

  static int32_t check(ck_context *ctx, const Args *args) {
    const Sections s(args);
    const int64_t least = std::min(std::min(s.size[0], s.size[1]), std::min(s.size[2], s.size[3]));
    const bool fits = kVision ? s.size[0] > 0 && s.size[1] > 0 && s.size[0] + s.size[1] <= args->P : s.total() > 0;
    if (least < 0 || !fits)
      return ck_fail(ctx, CK_INVALID_ARGUMENT, "sections of %lld, %lld, %lld and %lld do not fit %lld pairs",
                     static_cast<long long>(s.size[0]), static_cast<long long>(s.size[1]),
                     static_cast<long long>(s.size[2]), static_cast<long long>(s.size[3]),
                     static_cast<long long>(args->P));
    return checkYarn(ctx, args);
  }

  explicit Recursive(const Args *args)
      : sections(args), yarn(args, kVision ? args->P : 2 * args->P),
        step(std::pow(static_cast<float>(args->theta), -2.0f / static_cast<float>(kVision ? args->P : 2 * args->P))) {}

  void fill(const RowPositions &positions, int64_t P, float *cosines, float *sines) const {
    RowPositions waves = positions;
    for (int64_t i = 0; i < P; ++i) {
      if (kVision && i == sections.size[0])
        waves.at[1] = positions.at[1];
      const float angle = yarn.angle(waves.at[kStream(sections, i)], i);
      cosines[i] = std::cos(angle) * yarn.magnitude;
      sines[i] = std::sin(angle) * yarn.magnitude;
      for (float &wave : waves.at)
        wave *= step;
    }
  }

private:
  Sections sections;
  Yarn yarn;
  float step;
};

/// Two blocks of P/2 pairs: the first follows x (stream 1), the second y (stream 0); every power of its own.
class BlockAngles {
public:
  template <typename Args> static int32_t check(ck_context *, const Args *) { return CK_OK; }
  template <typename Args>
  explicit BlockAngles(const Args *args)
      : step(std::pow(static_cast<float>(args->theta), -2.0f / static_cast<float>(args->P))) {}

  void fill(const RowPositions &positions, int64_t P, float *cosines, float *sines) const {
    const int64_t h = P / 2;
    for (int64_t i = 0; i < h; ++i) {
      const float power = std::pow(step, static_cast<float>(i));
      for (int64_t block = 0; block < 2; ++block) {
        const float angle = positions.at[1 - block] * power;
        cosines[block * h + i] = std::cos(angle), sines[block * h + i] = std::sin(angle);
      }
    }
  }

private:
  float step;
};

} // namespace ck

#endif // CK_LIB_RUNTIME_KERNELS_ROPE_SECTIONS_H
