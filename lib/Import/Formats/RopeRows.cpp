//===- RopeRows.cpp - the order of rows that positions turn ---------------===//
#include "ck/Import/Formats/RopeRows.h"

namespace ck {

bool turnsWithPositions(std::string_view logical) {
  std::string_view kind = logical.substr(logical.rfind('.') + 1);
  return kind == "wq" || kind == "wk" || kind == "bq" || kind == "bk";
}

int64_t rowOfOtherPairing(int64_t row, int64_t headDim, ModelConfig::RopePairing to) {
  int64_t i = row % headDim, head = row - i, half = headDim / 2;
  if (to == ModelConfig::RopePairing::Half)
    return head + (i < half ? 2 * i : 2 * (i - half) + 1);
  return head + (i % 2 == 0 ? i / 2 : half + i / 2);
}

} // namespace ck
