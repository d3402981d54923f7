//===- Quant.cpp - changes of storage type --------------------------------===//

#include "Blocks.h"
#include "Pieces.h"

namespace ck::reference {
namespace {

/// The value itself: how far a narrower type may be off is in the map's tolerance.
Status sameValues(Call &call) {
  const Tensor &input = call.in("input");
  Tensor &output = call.out("output");
  if (Status status = call.expectShapes({{"output", input.shape}}); !status)
    return status;
  output.data = input.data;
  return Status::success();
}

/// The same blocks; only their order in memory differs, and the checker knows it.
Status pack(Call &call) {
  call.out("output").bytes = call.in("input").bytes;
  return sameValues(call);
}

Operation unary(const char *name, Status (*evaluate)(Call &)) {
  Operation operation;
  operation.name = name;
  operation.inputs = {"input"};
  operation.outputs = {"output"};
  operation.evaluate = evaluate;
  operation.magnitudes = {1, 1e-3, 100};
  return operation;
}

} // namespace

std::vector<Operation> quantOperations() {
  return {unary("quantize", sameValues), unary("dequantize", sameValues), unary("convert", sameValues),
          unary("pack", pack)};
}

} // namespace ck::reference
