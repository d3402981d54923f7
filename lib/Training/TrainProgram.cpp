//===- TrainProgram.cpp - what a training run calls -----------------------===//
#include "ck/Training/TrainProgram.h"

#include "Messages.h"

#include <cmath>

namespace ck {

std::string findNonFinite(const std::vector<StateBuffer> &buffers) {
  for (const StateBuffer &buffer : buffers) {
    int64_t count = buffer.size();
    // Finite values times zero sum to zero: one branch for each block instead of one for each value.
    constexpr int64_t kBlock = 4096;
    for (int64_t begin = 0; begin < count; begin += kBlock) {
      int64_t end = std::min(begin + kBlock, count);
      float sum = 0;
      for (int64_t i = begin; i < end; ++i)
        sum += buffer.data[i] * 0.0f;
      if (sum == 0)
        continue;
      for (int64_t i = begin; i < end; ++i)
        if (!std::isfinite(buffer.data[i]))
          return "'" + buffer.name + "' holds " + numberText(buffer.data[i]) + " at element " + std::to_string(i);
    }
  }
  return "";
}

} // namespace ck
