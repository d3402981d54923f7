//===- Gradients.cpp - the gradients that an op can give ------------------===//
#include "ck/Dialect/CK/Gradients.h"

#include "OpRules.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace ck;

SmallVector<Gradient> GradientTable::existing(ArrayAttr wrt) const {
  SmallVector<Gradient> found;
  for (const Gradient &gradient : gradients)
    if (!wrt || gradient.always ||
        llvm::any_of(wrt.getAsRange<StringAttr>(), [&](StringAttr name) { return name.getValue() == gradient.name; }))
      found.push_back(gradient);
  return found;
}

bool ck::isAccumulated(StringRef mode, const Gradient &gradient) {
  return mode == "all" || mode == (gradient.parameter ? "params" : "input");
}

std::string ck::gradientSignature(const GradientTable &table, ArrayAttr wrt, StringRef accumulate) {
  std::string inputs = table.operands, outputs;
  for (const Gradient &gradient : table.existing(wrt)) {
    std::string text = "d_" + gradient.name + gradient.dims + ":" + gradient.dtype;
    bool accumulated = isAccumulated(accumulate, gradient);
    if (accumulated)
      inputs += ", " + text;
    outputs += (outputs.empty() ? "" : ", ") + text + (accumulated ? "+=" : "");
  }
  return inputs + " -> " + outputs;
}

std::string ck::headDims(StringRef heads, StringRef layout, StringRef width) {
  return (layout == "token_major" ? "[T," + heads + "*" + width + "]" : "[" + heads + ",T," + width + "]").str();
}

/// A weight of blocks has no gradient: there is nothing between its values.
static LogicalResult refuseFrozen(GradientOpInterface op, const GradientTable &table) {
  Result<Signature> signature = parseSignature(table.operands + " -> none[1]:f32");
  if (!signature)
    return success(); // The op's own signature fails, too.
  auto values = cast<SignatureOpInterface>(op.getOperation()).getSignatureOperands();
  for (const Gradient &gradient : table.existing(op.getWrtNames()))
    for (auto [input, value] : llvm::zip(signature->inputs, values))
      if (gradient.parameter && value && input.name == gradient.name)
        if (Type type = cast<ShapedType>(value.getType()).getElementType(); isa<StorageTypeInterface>(type))
          return op->emitOpError() << "has no gradient for '" << gradient.name << "': weights stored as "
                                   << dtypeName(type) << " are frozen";
  return success();
}

LogicalResult ck::verifyGradient(GradientOpInterface op) {
  GradientTable table = op.getGradientTable();
  StringRef mode = op.getAccumulateMode();
  if (ArrayAttr wrt = op.getWrtNames()) {
    std::string known;
    for (const Gradient &gradient : table.gradients)
      if (!gradient.always)
        known += (known.empty() ? "" : ", ") + gradient.name;
    if (wrt.empty())
      return op->emitOpError() << "has an empty wrt, expected some of " << known;
    auto next = table.gradients.begin();
    for (auto name : wrt.getAsRange<StringAttr>()) {
      auto is = [&](const Gradient &gradient) { return !gradient.always && gradient.name == name.getValue(); };
      auto found = std::find_if(table.gradients.begin(), table.gradients.end(), is);
      if (found == table.gradients.end())
        return op->emitOpError() << "has no gradient for '" << name.getValue() << "' in wrt, expected some of "
                                 << known;
      if (found < next)
        return op->emitOpError() << "names '" << name.getValue() << "' twice or out of order in wrt; the order is "
                                 << known;
      next = found + 1;
    }
  }
  if (failed(refuseFrozen(op, table)))
    return failure();
  unsigned accumulated = 0;
  for (const Gradient &gradient : table.existing(op.getWrtNames()))
    accumulated += isAccumulated(mode, gradient);
  if (mode != "none" && accumulated == 0)
    return op->emitOpError() << "accumulates " << mode << ", but gives no such gradient";
  unsigned given = op.getIntoCount();
  if (given != accumulated)
    return op->emitOpError() << "adds " << accumulated << " gradients to earlier values with accumulate = \"" << mode
                             << "\", but 'into' gives " << given;
  return success();
}
