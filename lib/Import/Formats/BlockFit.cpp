//===- BlockFit.cpp - scales of K-quants by least squares -----------------===//
//
// A block of 256 has a scale for each sub-block, stored as a small integer times a common f16. The fit has two stages:
//
//   1. Each sub-block alone, with real numbers. From several first guesses (the range of the values, a little wider or
//      narrower) it repeats: round to levels, then solve for the scale (and minimum) that fits these levels best.
//   2. All sub-blocks together, as the format stores them. From several common scales it repeats: for each sub-block
//      take the integers near its own answer with the least error, round to levels, then solve for the common scales
//      that fit all levels best.
//
// The best of everything seen, by the sum of squared errors, is the answer. The order of operations is fixed and no
// number leaves f32 and f64, so equal input gives equal blocks.
//
//===----------------------------------------------------------------------===//
#include "BlockFields.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace ck::blocks {

namespace {

/// Values are brought to this magnitude first, so that neither squares nor inverses leave the range of f32. Powers of
/// two: nothing is rounded.
float normalisation(const float *in, int64_t count) {
  float peak = std::fabs(in[largest(in, count)]);
  if (peak == 0)
    return 1;
  int exponent;
  std::frexp(peak, &exponent);
  return std::ldexp(1.0f, std::clamp(-exponent, -126, 126));
}

/// The f16 nearest to a wanted common scale, but no zero: a block of tiny values still gets the smallest scale.
uint16_t commonScale(double wanted) {
  uint16_t half = floatToHalf(static_cast<float>(wanted));
  return (half & 0x7fff) == 0 && wanted != 0 ? half | 1 : half;
}

bool isFinite(uint16_t half) { return (half & 0x7c00) != 0x7c00; }

/// Four lanes: what every 64-bit x86 has, and the same order of sums everywhere.
typedef float Lanes __attribute__((vector_size(16)));
typedef int32_t IntLanes __attribute__((vector_size(16)));

inline Lanes load(const float *from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

inline float sum(Lanes lanes) { return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]); }

/// Rounds values to levels: level i is the integer nearest to (x[i] + offset) / scale within [low, high]. Returns the
/// sum of (scale * level - offset - x)^2.
template <int count>
float roundToLevels(const float *x, float scale, float offset, float low, float high, float *level) {
  float perUnit = scale != 0 ? 1 / scale : 0;
  Lanes error = {}, bottom = Lanes{} + low, top = Lanes{} + high;
  for (int i = 0; i < count; i += 4) {
    Lanes value = load(x + i) + offset, at = value * perUnit;
    at = at > bottom ? at : bottom;
    at = at < top ? at : top;
    // Truncation rounds down here, because at - low is not negative.
    IntLanes steps = __builtin_convertvector(at - low + 0.5f, IntLanes);
    Lanes rounded = __builtin_convertvector(steps, Lanes) + low, miss = scale * rounded - value;
    std::memcpy(level + i, &rounded, sizeof rounded);
    error += miss * miss;
  }
  return sum(error);
}

/// Sums over levels l and values x.
struct Moments {
  double l, ll, xl, x;
};

template <int count> Moments moments(const float *x, const float *level) {
  Lanes ls = {}, lls = {}, xls = {}, xs = {};
  for (int i = 0; i < count; i += 4) {
    Lanes l = load(level + i), value = load(x + i);
    ls += l;
    lls += l * l;
    xls += value * l;
    xs += value;
  }
  return {sum(ls), sum(lls), sum(xls), sum(xs)};
}

/// Two unknowns a, b with  aa * a + ab * b = ya,  ab * a + bb * b = yb.  False if they do not follow.
bool solve(double aa, double ab, double bb, double ya, double yb, double &a, double &b) {
  double determinant = aa * bb - ab * ab;
  if (!(determinant > 1e-12 * aa * bb))
    return false;
  a = (ya * bb - yb * ab) / determinant;
  b = (yb * aa - ya * ab) / determinant;
  return true;
}

//===----------------------------------------------------------------------===//
// Levels 0 to top, with a minimum: q4_k, q5_k
//===----------------------------------------------------------------------===//

constexpr int kSub = 32, kSubs = 8;

/// x is near scale * level - minimum; neither is negative, as the format stores them.
struct Line {
  float scale = 0, minimum = 0;
};

class AffineFit {
public:
  AffineFit(const float *x, int top, double unit) : x(x), top(static_cast<float>(top)), unit(unit) {}

  /// Returns false if no scale of f16 will do.
  bool run(AffineBlock &best) {
    std::array<Line, kSubs> lines;
    float widest = 0, deepest = 0;
    for (int j = 0; j < kSubs; ++j) {
      lines[j] = fitLine(x + kSub * j);
      widest = std::max(widest, lines[j].scale);
      deepest = std::max(deepest, lines[j].minimum);
    }
    for (int start : {63, 61, 59})
      improve(lines, commonScale(widest / start * unit), commonScale(deepest / start * unit), best);
    return bestError < std::numeric_limits<double>::infinity();
  }

private:
  /// Levels of one sub-block for a line, as floats; returns the sum of squared errors.
  float levels(const float *x, Line line, float *level) const {
    return roundToLevels<kSub>(x, line.scale, line.minimum, 0, top, level);
  }

  /// The line that fits given levels best; false if they are all equal.
  bool lineThrough(const float *x, const float *level, Line &line) const {
    Moments of = moments<kSub>(x, level);
    double scale, offset;
    if (!solve(of.ll, of.l, kSub, of.xl, of.x, scale, offset) || scale <= 0)
      return false;
    if (offset > 0) { // a minimum above 0 has no form
      offset = 0;
      scale = of.xl / of.ll;
    }
    line = {static_cast<float>(scale), static_cast<float>(-offset)};
    return line.scale > 0;
  }

  Line fitLine(const float *x) const {
    float low = std::min(0.0f, *std::min_element(x, x + kSub)), high = *std::max_element(x, x + kSub);
    if (high <= low)
      return {0, -low};
    Line best;
    float least = std::numeric_limits<float>::infinity(), level[kSub];
    // From a quarter of the range cut off to a twentieth added.
    for (int step = 0; step <= 12; ++step) {
      Line line = {(high - low) / top * (0.75f + 0.025f * step), -low};
      for (int round = 0; round < 3; ++round) {
        float error = levels(x, line, level);
        if (error < least) {
          least = error;
          best = line;
        } else if (round > 1) {
          break;
        }
        if (!lineThrough(x, level, line))
          break;
      }
    }
    return best;
  }

  /// Stage 2 from one pair of common scales.
  void improve(std::array<Line, kSubs> lines, uint16_t d, uint16_t dmin, AffineBlock &best) {
    double last = std::numeric_limits<double>::infinity();
    for (int round = 0; round < 9 && isFinite(d) && isFinite(dmin); ++round) {
      AffineBlock block;
      block.d = d;
      block.dmin = dmin;
      float level[kSub * kSubs];
      double error = 0;
      for (int j = 0; j < kSubs; ++j)
        error += chooseIntegers(j, lines[j], block, level + kSub * j);
      if (error < bestError) {
        bestError = error;
        best = block;
        std::copy(level, level + kSub * kSubs, best.level);
      }
      if (error >= last || !commonScales(block, level, d, dmin))
        return;
      last = error;
    }
  }

  /// The integers of sub-block j near those of its line, and its levels; returns the error. The line becomes the one
  /// that fits these levels best.
  float chooseIntegers(int j, Line &line, AffineBlock &block, float *bestLevel) const {
    float d = static_cast<float>(halfToFloat(block.d) / unit),
          dmin = static_cast<float>(halfToFloat(block.dmin) / unit);
    auto near = [](double value, float step) {
      return step > 0 ? static_cast<int>(std::clamp(value / step, 0.0, 63.0) + 0.5) : 0;
    };
    constexpr int kReach = 2;
    int middle = near(line.scale, d), depth = near(line.minimum, dmin);
    float level[kSub], least = std::numeric_limits<float>::infinity();
    for (int scale = std::max(0, middle - kReach); scale <= std::min(63, middle + kReach); ++scale)
      for (int minimum = std::max(0, depth - kReach); minimum <= std::min(63, depth + kReach); ++minimum) {
        float error = levels(x + kSub * j, {d * scale, dmin * minimum}, level);
        if (error >= least)
          continue;
        least = error;
        block.scale[j] = static_cast<uint8_t>(scale);
        block.minimum[j] = static_cast<uint8_t>(minimum);
        std::copy_n(level, kSub, bestLevel);
      }
    lineThrough(x + kSub * j, bestLevel, line);
    return least;
  }

  /// The common scales that fit all levels best; false if they are those of the block already.
  bool commonScales(const AffineBlock &block, const float *level, uint16_t &d, uint16_t &dmin) const {
    double aa = 0, ab = 0, bb = 0, xa = 0, xb = 0;
    for (int j = 0; j < kSubs; ++j) {
      Moments of = moments<kSub>(x + kSub * j, level + kSub * j);
      double scale = block.scale[j], minimum = block.minimum[j];
      aa += scale * scale * of.ll;
      ab -= scale * minimum * of.l;
      bb += minimum * minimum * kSub;
      xa += scale * of.xl;
      xb -= minimum * of.x;
    }
    double newD, newMin = 0;
    if (bb == 0 && aa > 0)
      newD = xa / aa;
    else if (!solve(aa, ab, bb, xa, xb, newD, newMin))
      return false;
    d = commonScale(std::max(0.0, newD) * unit);
    dmin = commonScale(std::max(0.0, newMin) * unit);
    return d != block.d || dmin != block.dmin;
  }

  const float *x;
  float top;
  double unit; ///< what 1 of x is in the input
  double bestError = std::numeric_limits<double>::infinity();
};

//===----------------------------------------------------------------------===//
// Levels -32 to 31: q6_k
//===----------------------------------------------------------------------===//

constexpr int kSmall = 16, kSmalls = 16;

class SignedFit {
public:
  SignedFit(const float *x, double unit) : x(x), unit(unit) {}

  bool run(SignedBlock &best) {
    float widest = 0;
    for (int j = 0; j < kSmalls; ++j) {
      scales[j] = fitScale(x + kSmall * j);
      if (std::fabs(scales[j]) > std::fabs(widest))
        widest = scales[j];
    }
    for (int start : {-128, 127, -124})
      improve(commonScale(widest / start * unit), best);
    return bestError < std::numeric_limits<double>::infinity();
  }

private:
  float levels(const float *x, float scale, float *level) const {
    return roundToLevels<kSmall>(x, scale, 0, -32, 31, level);
  }

  float fitScale(const float *x) const {
    float peak = x[largest(x, kSmall)], best = 0, least = std::numeric_limits<float>::infinity(), level[kSmall];
    if (peak == 0)
      return 0;
    // The peak as the lowest level (one farther from 0 than the highest), as the highest, and near these.
    for (int side : {-1, 1})
      for (int step : {0, -1, 1, -2, 2, -3, 3, -4, 4}) {
        float scale = side * peak / ((side < 0 ? 32.0f : 31.0f) + 0.25f * step);
        for (int round = 0; round < 2; ++round) {
          float error = levels(x, scale, level);
          if (error < least) {
            least = error;
            best = scale;
          }
          Moments of = moments<kSmall>(x, level);
          if (of.xl == 0)
            break;
          scale = static_cast<float>(of.xl / of.ll);
        }
      }
    return best;
  }

  void improve(uint16_t d, SignedBlock &best) {
    double last = std::numeric_limits<double>::infinity();
    for (int round = 0; round < 5 && isFinite(d); ++round) {
      SignedBlock block;
      block.d = d;
      float level[kSmall * kSmalls];
      double error = 0, aa = 0, xa = 0;
      for (int j = 0; j < kSmalls; ++j) {
        error += chooseInteger(j, block, level + kSmall * j);
        Moments of = moments<kSmall>(x + kSmall * j, level + kSmall * j);
        double scale = block.scale[j];
        aa += scale * scale * of.ll;
        xa += scale * of.xl;
      }
      if (error < bestError) {
        bestError = error;
        best = block;
        std::copy(level, level + kSmall * kSmalls, best.level);
      }
      if (error >= last || aa == 0)
        return;
      last = error;
      d = commonScale(xa / aa * unit);
      if (d == block.d)
        return;
    }
  }

  /// The integer of sub-block j, and its levels; returns the error.
  float chooseInteger(int j, SignedBlock &block, float *bestLevel) const {
    float d = static_cast<float>(halfToFloat(block.d) / unit);
    float wanted = d != 0 ? std::min(std::max(scales[j] / d, -128.0f), 127.0f) : 0;
    int middle = static_cast<int>(std::floor(wanted + 0.5f));
    float level[kSmall], least = std::numeric_limits<float>::infinity();
    for (int scale = std::max(-128, middle - 1); scale <= std::min(127, middle + 1); ++scale) {
      float error = levels(x + kSmall * j, d * scale, level);
      if (error >= least)
        continue;
      least = error;
      block.scale[j] = static_cast<int8_t>(scale);
      std::copy_n(level, kSmall, bestLevel);
    }
    return least;
  }

  const float *x;
  double unit;
  float scales[kSmalls];
  double bestError = std::numeric_limits<double>::infinity();
};

} // namespace

bool fitAffine(const float *in, int top, AffineBlock &block) {
  float x[256], factor = normalisation(in, 256);
  std::transform(in, in + 256, x, [&](float value) { return value * factor; });
  return AffineFit(x, top, 1.0 / factor).run(block);
}

bool fitSigned(const float *in, SignedBlock &block) {
  float x[256], factor = normalisation(in, 256);
  std::transform(in, in + 256, x, [&](float value) { return value * factor; });
  return SignedFit(x, 1.0 / factor).run(block);
}

} // namespace ck::blocks
