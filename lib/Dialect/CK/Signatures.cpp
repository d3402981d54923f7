//===- Signatures.cpp - ops meet the signature library --------------------===//
//
// Verification, inference and reification of GRAPH ops are one unification of their signature with actual types.
//
//===----------------------------------------------------------------------===//
#include "OpRules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ck;

static_assert(kDynamicDim == ShapedType::kDynamic, "shapes pass between MLIR and the signature library unchanged");

ActualOperand ck::actualOperand(Type type) {
  auto shaped = dyn_cast_or_null<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return {};
  std::string dtype = dtypeName(shaped.getElementType());
  if (dtype.empty()) // No signature names it, but errors shall.
    llvm::raw_string_ostream(dtype) << shaped.getElementType();
  return {true, std::vector<int64_t>(shaped.getShape().begin(), shaped.getShape().end()), dtype};
}

Params ck::signatureParams(DictionaryAttr attributes) {
  Params params;
  for (NamedAttribute attribute : attributes) {
    Attribute value = attribute.getValue();
    std::string name = attribute.getName().str();
    if (auto flag = dyn_cast<BoolAttr>(value))
      params[name] = flag.getValue();
    else if (auto integer = dyn_cast<IntegerAttr>(value); integer && integer.getValue().getSignificantBits() <= 64)
      params[name] = integer.getValue().getSExtValue();
    else if (auto real = dyn_cast<FloatAttr>(value))
      params[name] = real.getValueAsDouble();
    else if (auto text = dyn_cast<StringAttr>(value))
      params[name] = text.str();
  }
  return params;
}

static std::vector<ActualOperand> actualOperands(ArrayRef<Value> values) {
  std::vector<ActualOperand> actual;
  for (Value value : values)
    actual.push_back(value ? actualOperand(value.getType()) : ActualOperand());
  return actual;
}

FailureOr<Bindings> ck::bindSignature(SignatureOpInterface op, Signature &signature) {
  Result<Signature> parsed = parseSignature(op.getSignatureText());
  if (!parsed)
    return op->emitOpError() << "has a malformed signature: " << parsed.error().message;
  signature = *parsed;
  if (signature.outputs.size() != op->getNumResults())
    return op->emitOpError() << "needs " << signature.outputs.size() << " results by its signature '" << signature.str()
                             << "', got " << op->getNumResults();
  SmallVector<Value> results(op->getResults());
  Result<Bindings> bindings = unify(signature, {}, actualOperands(op.getSignatureOperands()), actualOperands(results),
                                    signatureParams(op->getAttrDictionary()));
  if (!bindings)
    return op->emitOpError() << bindings.error().message;
  return *bindings;
}

/// Rows of a block type are whole blocks, for which their extent has to be known.
static LogicalResult verifyWholeBlocks(Operation *op, StringRef name, Value value) {
  auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  auto storage = type ? dyn_cast<StorageTypeInterface>(type.getElementType()) : StorageTypeInterface();
  if (!storage)
    return success();
  int64_t columns = type.getRank() == 0 ? 1 : type.getShape().back(), block = storage.getBlockElements();
  if (ShapedType::isDynamic(columns))
    return op->emitOpError() << name << ": rows of " << dtypeName(storage) << " need a static extent, got " << type;
  if (columns % block != 0)
    return op->emitOpError() << name << ": rows of " << columns << " elements do not fill blocks of " << block << " ("
                             << dtypeName(storage) << ")";
  return success();
}

LogicalResult ck::verifySignature(Operation *op) {
  // Operand segments are checked by another trait, but traits do not wait for each other.
  if (auto segments = op->getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes")) {
    int64_t total = 0;
    for (int32_t size : segments.asArrayRef())
      total += size;
    if (total != static_cast<int64_t>(op->getNumOperands()))
      return failure();
  }
  // The signature of a gradient op depends on lists that must be right first.
  if (auto gradient = dyn_cast<GradientOpInterface>(op))
    if (failed(verifyGradient(gradient)))
      return failure();
  Signature signature;
  auto signatureOp = cast<SignatureOpInterface>(op);
  if (failed(bindSignature(signatureOp, signature)))
    return failure();
  for (auto [input, value] : llvm::zip(signature.inputs, signatureOp.getSignatureOperands()))
    if (failed(verifyWholeBlocks(op, input.name, value)))
      return failure();
  for (auto [output, value] : llvm::zip(signature.outputs, op->getResults()))
    if (failed(verifyWholeBlocks(op, output.name, value)))
      return failure();
  return success();
}

unsigned ck::countUpdated(const Signature &signature) {
  return llvm::count_if(signature.inputs, [&](const SigOperand &input) { return signature.isUpdated(input.name); });
}

LogicalResult ck::inferFromSignature(MLIRContext *context, std::optional<Location> loc, StringRef text,
                                     ArrayRef<Value> operands, DictionaryAttr attributes,
                                     SmallVectorImpl<Type> &types) {
  Params params = signatureParams(attributes);
  Result<Signature> signature = parseSignature(text.str());
  if (!signature)
    return emitOptionalError(loc, signature.error().message);
  Result<Bindings> bindings = unify(*signature, {}, actualOperands(operands), {}, params);
  if (!bindings)
    return emitOptionalError(loc, bindings.error().message);
  auto outputs = inferOutputs(*signature, *bindings, std::vector<bool>(signature->outputs.size(), true), params);
  if (!outputs)
    return emitOptionalError(loc, outputs.error().message);
  for (const ActualOperand &output : *outputs) {
    Type element = parseDtype(context, output.dtype);
    if (!element)
      return emitOptionalError(loc, "cannot infer a result of type '" + output.dtype + "'");
    types.push_back(RankedTensorType::get(output.shape, element));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Dims as IR
//===----------------------------------------------------------------------===//

static OpFoldResult axisExtent(OpBuilder &builder, Location loc, Value operand, int64_t axis) {
  auto type = cast<ShapedType>(operand.getType());
  if (!type.isDynamicDim(axis))
    return builder.getIndexAttr(type.getDimSize(axis));
  if (isa<MemRefType>(type))
    return memref::DimOp::create(builder, loc, operand, axis).getResult();
  return tensor::DimOp::create(builder, loc, operand, axis).getResult();
}

/// Folds constants, so that static models stay free of arithmetic.
template <typename Op, typename Fold>
static OpFoldResult combine(OpBuilder &builder, Location loc, OpFoldResult lhs, OpFoldResult rhs, Fold fold) {
  std::optional<int64_t> a = getConstantIntValue(lhs), b = getConstantIntValue(rhs);
  if (a && b)
    return builder.getIndexAttr(fold(*a, *b));
  return Op::create(builder, loc, getValueOrCreateConstantIndexOp(builder, loc, lhs),
                    getValueOrCreateConstantIndexOp(builder, loc, rhs))
      .getResult();
}

FailureOr<OpFoldResult> ck::materializeDim(OpBuilder &builder, Location loc, const Bindings &bindings, StringRef name,
                                           ValueRange operands, const Params &params) {
  const DimDef *dim = bindings.find(name.str());
  if (!dim)
    return failure();
  if (dim->extent != kDynamicDim)
    return OpFoldResult(builder.getIndexAttr(dim->extent));
  if (dim->expr)
    return materializeExpr(builder, loc, bindings, *dim->expr, operands, params);
  if (dim->operand < 0 || dim->operand >= static_cast<int>(operands.size()) || !operands[dim->operand])
    return failure();
  OpFoldResult extent;
  for (int axis : dim->axes) {
    OpFoldResult next = axisExtent(builder, loc, operands[dim->operand], axis);
    extent = extent ? combine<arith::MulIOp>(builder, loc, extent, next, std::multiplies<int64_t>()) : next;
  }
  if (!extent)
    extent = builder.getIndexAttr(1);
  if (dim->add != 0)
    extent = combine<arith::SubIOp>(builder, loc, extent, builder.getIndexAttr(dim->add), std::minus<int64_t>());
  if (dim->mul != 1)
    extent = combine<arith::DivUIOp>(builder, loc, extent, builder.getIndexAttr(dim->mul), std::divides<int64_t>());
  return extent;
}

FailureOr<OpFoldResult> ck::materializeExpr(OpBuilder &builder, Location loc, const Bindings &bindings,
                                            const Expr &expr, ValueRange operands, const Params &params) {
  Result<int64_t> value = bindings.evaluate(expr, params);
  if (value && *value != kDynamicDim)
    return OpFoldResult(builder.getIndexAttr(*value));
  if (expr.kind() == Expr::Kind::Dim)
    return materializeDim(builder, loc, bindings, expr.name(), operands, params);
  // min and max take any number of arguments: all but the last are one expression.
  if (expr.args().size() > 2) {
    std::vector<Expr> head(expr.args().begin(), expr.args().end() - 1);
    return materializeExpr(builder, loc, bindings,
                           Expr::make(expr.kind(), {Expr::make(expr.kind(), head), expr.args().back()}), operands,
                           params);
  }
  if (expr.args().size() != 2)
    return failure();
  FailureOr<OpFoldResult> lhs = materializeExpr(builder, loc, bindings, expr.args()[0], operands, params);
  FailureOr<OpFoldResult> rhs = materializeExpr(builder, loc, bindings, expr.args()[1], operands, params);
  if (failed(lhs) || failed(rhs))
    return failure();
  auto binary = [&](auto tag) -> OpFoldResult {
    return decltype(tag)::create(builder, loc, getValueOrCreateConstantIndexOp(builder, loc, *lhs),
                                 getValueOrCreateConstantIndexOp(builder, loc, *rhs))
        .getResult();
  };
  switch (expr.kind()) {
  case Expr::Kind::Add:
    return binary(arith::AddIOp());
  case Expr::Kind::Sub:
    return binary(arith::SubIOp());
  case Expr::Kind::Mul:
    return binary(arith::MulIOp());
  case Expr::Kind::Div:
    return binary(arith::DivUIOp());
  case Expr::Kind::Mod:
    return binary(arith::RemUIOp());
  case Expr::Kind::CeilDiv:
    return binary(arith::CeilDivUIOp());
  case Expr::Kind::Min:
    return binary(arith::MinUIOp());
  case Expr::Kind::Max:
    return binary(arith::MaxUIOp());
  case Expr::Kind::Align: {
    OpFoldResult units = binary(arith::CeilDivUIOp());
    return combine<arith::MulIOp>(builder, loc, units, *rhs, std::multiplies<int64_t>());
  }
  default:
    return failure();
  }
}

LogicalResult ck::reifyOutputs(OpBuilder &builder, Location loc, const Signature &signature, const Bindings &bindings,
                               ValueRange operands, const Params &params, TypeRange types,
                               ReifiedRankedShapedTypeDims &shapes) {
  for (auto [resultType, spec] : llvm::zip(types, signature.outputs)) {
    SmallVector<OpFoldResult> shape;
    auto type = cast<RankedTensorType>(resultType);
    int64_t leading = spec.leadingDims ? type.getRank() - (static_cast<int64_t>(spec.dims.size()) - 1) : 0;
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      if (!type.isDynamicDim(axis)) {
        shape.push_back(builder.getIndexAttr(type.getDimSize(axis)));
        continue;
      }
      if (axis < leading) {
        // Leading dims are those of the operand that bound the symbol, one by one.
        const DimDef *dim = bindings.find(spec.dims[0].name());
        if (!dim || dim->operand < 0 || dim->operand >= static_cast<int>(operands.size()) || !operands[dim->operand] ||
            axis >= static_cast<int64_t>(dim->axes.size()))
          return failure();
        shape.push_back(axisExtent(builder, loc, operands[dim->operand], dim->axes[axis]));
        continue;
      }
      FailureOr<OpFoldResult> extent = materializeExpr(
          builder, loc, bindings, spec.dims[axis - leading + (spec.leadingDims ? 1 : 0)], operands, params);
      if (failed(extent))
        return failure();
      shape.push_back(*extent);
    }
    shapes.push_back(std::move(shape));
  }
  return success();
}

LogicalResult ck::reifyFromSignature(Operation *op, OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  Signature signature;
  auto signatureOp = cast<SignatureOpInterface>(op);
  FailureOr<Bindings> bindings = bindSignature(signatureOp, signature);
  if (failed(bindings))
    return failure();
  return reifyOutputs(builder, op->getLoc(), signature, *bindings, signatureOp.getSignatureOperands(),
                      signatureParams(op->getAttrDictionary()), op->getResultTypes(), shapes);
}

//===----------------------------------------------------------------------===//
// Signatures that depend on an instance
//===----------------------------------------------------------------------===//

std::string ck::transposeSignature(ArrayRef<int64_t> perm) {
  std::string input, output;
  for (auto [i, axis] : llvm::enumerate(perm)) {
    input += (i ? ",D" : "D") + std::to_string(i);
    output += (i ? ",D" : "D") + std::to_string(axis);
  }
  return "input[" + input + "]:$X -> output[" + output + "]:$X";
}

/// `name[D0,..,<extent>,..]:$X` with rank dims.
static std::string pieceOperand(const std::string &name, int64_t rank, int64_t axis, const std::string &extent) {
  std::string dims;
  for (int64_t i = 0; i < rank; ++i)
    dims += (i ? "," : "") + (i == axis ? extent : "D" + std::to_string(i));
  return name + "[" + dims + "]:$X";
}

std::string ck::splitSignature(Value input, int64_t axis, ArrayRef<int64_t> sizes) {
  int64_t rank = cast<RankedTensorType>(input.getType()).getRank(), total = 0;
  std::string outputs;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    if (llvm::AddOverflow(total, size, total))
      total = std::numeric_limits<int64_t>::max(); // The input cannot have this extent: unification says so.
    outputs += (i ? ", " : "") + pieceOperand("output" + std::to_string(i), rank, axis, std::to_string(size));
  }
  return pieceOperand("input", rank, axis, std::to_string(total)) + " -> " + outputs;
}

std::string ck::concatSignature(ValueRange inputs, int64_t axis) {
  std::string text, total;
  int64_t rank = inputs.empty() ? 1 : cast<RankedTensorType>(inputs.front().getType()).getRank();
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string extent = "C" + std::to_string(i);
    text += (i ? ", " : "") + pieceOperand("input" + std::to_string(i), rank, axis, extent);
    total += (i ? "+" : "") + extent;
  }
  return text + " -> " + pieceOperand("output", rank, axis, total);
}

std::string ck::rotationSignature(StringRef layout, StringRef positions, StringRef from, StringRef to, bool hasK) {
  const bool tokenMajor = layout == "token_major";
  const std::string q = tokenMajor ? "[T,H*$head_dim]:" : "[H,T,$head_dim]:";
  const std::string k = tokenMajor ? "[T,KV*$head_dim]:" : "[KV,T,$head_dim]:";
  std::string text =
      "q" + q + from.str() + ", k" + k + from.str() + "?, " + positions.str() + " -> q_out" + q + to.str();
  return hasK ? text + ", k_out" + k + to.str() : text;
}

static Type elementTypeOf(Value value) { return cast<ShapedType>(value.getType()).getElementType(); }

std::string ck::packSignature(Value input) {
  Type element = elementTypeOf(input);
  // What cannot be packed is refused by the op's verifier, with its reason.
  if (!isa<FloatType>(element) && !isBlockType(element))
    return "input[N,K]:$W -> output[N,K]:$P";
  return "input[N,K]:$W -> output[N,K]:packed<" + dtypeName(element) + ",r" + std::to_string(kPackedRows) + ">";
}

std::string ck::projectedDtype(Value input) { return elementTypeOf(input).isBF16() ? "bf16" : "f32"; }
