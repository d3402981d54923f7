//===- QuantContracts.cpp - exact references of the quant family ----------===//
//
// Each rounding is written out: an assignment to a float is one.
//
//===----------------------------------------------------------------------===//

#include "Contracts.h"
#include "QuantRules.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ck::reference {

static void put(const void *value, size_t bytes, uint8_t *to) { std::memcpy(to, value, bytes); }
static void putHalf(float value, uint8_t *to) {
  uint16_t bits = floatToHalf(value);
  put(&bits, 2, to);
}

/// A product of at most 127 and a bit to an integer.
static int toCode(float product, Ties ties) {
  float half = product + std::copysign(0.5f, product);
  double code = ties == Ties::ToEven     ? std::nearbyint(double(product))
                : ties == Ties::PlusHalf ? std::trunc(double(half))
                                         : std::round(double(product));
  return static_cast<int>(std::clamp(code, -127.0, 127.0));
}

void quantizeBlock(std::string_view dtype, const float *x, uint8_t *to, Ties ties) {
  const BlockSize size = blockSize(dtype);
  const bool isK = dtype == "q8_k", hasSum = dtype == "q8_1";
  std::memset(to, 0, static_cast<size_t>(size.bytes));
  float largest = 0; // with its sign; the first of equals
  bool finite = true;
  for (int i = 0; i < size.elements; ++i) {
    finite &= std::isfinite(x[i]);
    if (std::fabs(x[i]) > std::fabs(largest))
      largest = x[i];
  }
  const float amax = std::fabs(largest);
  float d, factor;
  if (isK) {
    factor = -127.0f / largest;
    d = 1.0f / factor;
  } else {
    d = amax / 127.0f;
    factor = hasSum ? 1.0f / d : 127.0f / amax;
  }
  if (!finite)
    d = NAN;
  const bool usable = finite && largest != 0 && std::isfinite(factor);
  if (isK && finite && !usable)
    d = 0;
  if (isK)
    put(&d, 4, to);
  else
    putHalf(d, to);
  int sum = 0, part = 0;
  uint8_t *codes = to + (isK || hasSum ? 4 : 2);
  for (int i = 0; i < size.elements; ++i) {
    int code = 0;
    if (usable) {
      float product = factor * x[i];
      code = toCode(product, isK ? Ties::ToEven : hasSum ? Ties::AwayFromZero : ties);
    }
    codes[i] = static_cast<uint8_t>(static_cast<int8_t>(code));
    sum += code;
    part += code;
    if (isK && i % 16 == 15) {
      int16_t stored = static_cast<int16_t>(part);
      put(&stored, 2, to + 260 + i / 16 * 2);
      part = 0;
    }
  }
  if (hasSum) {
    float weighted = static_cast<float>(sum) * d;
    putHalf(weighted, to + 2);
  }
}

std::vector<uint8_t> quantizeValues(std::string_view dtype, const std::vector<double> &values, Ties ties) {
  const BlockSize size = blockSize(dtype);
  const size_t blocks = values.size() / static_cast<size_t>(size.elements);
  std::vector<uint8_t> bytes(blocks * static_cast<size_t>(size.bytes));
  std::vector<float> x(static_cast<size_t>(size.elements));
  for (size_t b = 0; b < blocks; ++b) {
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(values[b * x.size() + i]);
    quantizeBlock(dtype, x.data(), bytes.data() + b * static_cast<size_t>(size.bytes), ties);
  }
  return bytes;
}

namespace {

void activations(Call &call) {
  Tensor &output = call.out("output");
  output.bytes = quantizeValues(output.dtype, call.in("input").data);
  output.data = decodeBlocks(output.dtype, output.bytes, output.elements());
}

/// What a block stands for, rounded once.
void blockValues(Call &call) {
  Tensor &output = call.out("output");
  for (int64_t i = 0; i < output.elements(); ++i)
    output.data[i] = static_cast<double>(static_cast<float>(call.in("input").data[i]));
}

/// From f32, one rounding to nearest, ties to even; to f32, none.
void nearestFloat(Call &call) {
  Tensor &output = call.out("output");
  for (int64_t i = 0; i < output.elements(); ++i) {
    float value = static_cast<float>(call.in("input").data[i]);
    output.data[i] = output.dtype == "bf16" ? roundBF16(value) : output.dtype == "f16" ? roundF16(value) : value;
  }
}

} // namespace

std::vector<Contract> quantContracts() {
  return {{"activations_8bit", activations}, {"block_values", blockValues}, {"nearest_float", nearestFloat}};
}

} // namespace ck::reference
