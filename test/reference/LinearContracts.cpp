//===- LinearContracts.cpp - exact references of the linear family --------===//
//
// Each rounding is written out: an assignment to a float is one.
//
//===----------------------------------------------------------------------===//

#include "Contracts.h"

namespace ck::reference {
namespace {

float f32At(const Tensor &tensor, int64_t i) { return static_cast<float>(tensor.data[i]); }

/// The stored value, rounded once to f32; then one sum.
void embeddingRows(Call &call) {
  const Tensor &ids = call.in("ids"), &table = call.in("table"), *positions = call.optional("pos_emb");
  Tensor &output = call.out("output");
  for (int64_t t = 0, E = table.extent(1); t < ids.extent(0); ++t)
    for (int64_t e = 0; e < E; ++e) {
      float value = f32At(table, ids.integer(t) * E + e);
      if (positions)
        value += f32At(*positions, t * E + e);
      output.data[t * E + e] = value;
    }
}

} // namespace

std::vector<Contract> linearContracts() { return {{"embedding_rows", embeddingRows}}; }

} // namespace ck::reference
