//===- Adjoints.cpp - the adjoint of every differentiable op --------------===//
//
// Each adjoint is built of gradient ops or of ordinary ops. `prepareAdjoint` first gives an op the form that saves what
// its adjoint reads.
//
//===----------------------------------------------------------------------===//
#include "ck/Dialect/CK/Adjoint.h"
#include "ck/Dialect/CK/CKDialect.h"
#include "ck/Dialect/CK/Names.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace ck;

using Names = SmallVector<StringRef>;

static ArrayAttr wrtOf(Adjoint &adjoint, ArrayRef<StringRef> names) { return adjoint.builder.getStrArrayAttr(names); }

/// The op of the kind of `op` with the attributes of `op` and more results, in its place. Names of results are kept.
template <typename Op>
static Op withResults(OpBuilder &builder, Op op, ArrayRef<Type> extra, ArrayRef<StringRef> extraNames,
                      function_ref<void(Op)> change) {
  SmallVector<Type> types(op->getResultTypes());
  types.append(extra.begin(), extra.end());
  SmallVector<std::string> names;
  for (Value result : op->getResults())
    names.push_back(valueName(result));
  for (StringRef name : extraNames)
    names.push_back(names[0].empty() ? "" : names[0] + "." + name.str());
  OperationState state(nameResults(op->getLoc(), names), op->getName(), op->getOperands(), types);
  state.propertiesAttr = op->getPropertiesAsAttribute();
  state.addAttributes(llvm::to_vector(op->getDiscardableAttrs()));
  builder.setInsertionPoint(op);
  auto changed = cast<Op>(builder.create(state));
  change(changed);
  op->replaceAllUsesWith(changed->getResults().take_front(op->getNumResults()));
  op->erase();
  return changed;
}

static RankedTensorType f32Tensor(Operation *op, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, Float32Type::get(op->getContext()));
}

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

static Type elementTypeOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

/// A cotangent of something that an op computes for its own adjoint cannot be followed.
static LogicalResult refuseCotangent(Operation *op, Adjoint &adjoint, unsigned index, StringRef name) {
  if (!adjoint.cotangent(index))
    return success();
  return op->emitOpError() << "cannot be differentiated through its result '" << name << "'";
}

/// A product with a number, which may be 1.
static Value scaled(Adjoint &adjoint, Location loc, Value value, double factor) {
  if (factor == 1.0)
    return value;
  return ScaleOp::create(adjoint.builder, loc, value.getType(), value, Value(), llvm::APFloat(factor));
}

/// `value` in f32, for a gradient op that takes nothing else. The op that reads it is `op`.
static Value widened(Operation *op, Adjoint &adjoint, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType().isF32())
    return value;
  std::string name = valueName(value);
  return ConvertOp::create(adjoint.builder, nameResults(op->getLoc(), {name.empty() ? "" : name + ".f32"}),
                           type.clone(adjoint.builder.getF32Type()), value);
}

//===----------------------------------------------------------------------===//
// Linear
//===----------------------------------------------------------------------===//

LogicalResult EmbeddingOp::buildAdjoint(Adjoint &adjoint) {
  if (adjoint.needs("pos_emb")) {
    if (!getPosEmb().getType().hasStaticShape() || getPosEmb().getType() != getOutput().getType())
      return emitOpError("cannot be differentiated: pos_emb has other rows than ids");
    adjoint.give("pos_emb", adjoint.cotangent(0));
  }
  if (!adjoint.needs("table"))
    return success();
  Names names = {"table"};
  int64_t rows = shapeOf(getTable())[0];
  if (ShapedType::isDynamic(rows))
    return emitOpError("cannot be differentiated: its table has a run-time number of rows");
  auto gradient = EmbeddingGradOp::create(adjoint.builder, adjoint.loc(names), adjoint.types(names), getIds(),
                                          adjoint.cotangent(0), rows, ValueRange(), "none");
  adjoint.give(names, gradient.getResults());
  return success();
}

LogicalResult LinearOp::buildAdjoint(Adjoint &adjoint) {
  Names names = adjoint.wanted({"input", "weight", "bias"});
  auto gradient = LinearGradOp::create(adjoint.builder, adjoint.loc(names), adjoint.types(names), adjoint.cotangent(0),
                                       getInput(), getWeight(), ValueRange(), "none", wrtOf(adjoint, names));
  adjoint.give(names, gradient.getResults());
  return success();
}

LogicalResult OutLinearOp::buildAdjoint(Adjoint &adjoint) {
  Names names = adjoint.wanted({"input", "weight", "bias"});
  auto gradient =
      OutLinearGradOp::create(adjoint.builder, adjoint.loc(names), adjoint.types(names), adjoint.cotangent(0),
                              getInput(), getWeight(), ValueRange(), "none", wrtOf(adjoint, names));
  adjoint.give(names, gradient.getResults());
  return success();
}

LogicalResult QkvLinearOp::buildAdjoint(Adjoint &adjoint) {
  Names names = adjoint.wanted({"input", "wq", "wk", "wv", "bq", "bk", "bv"});
  Value dq = adjoint.cotangentOrZero(0), dk = adjoint.cotangentOrZero(1), dv = adjoint.cotangentOrZero(2);
  auto gradient = QkvLinearGradOp::create(adjoint.builder, adjoint.loc(names), adjoint.types(names), dq, dk, dv,
                                          getInput(), getWq(), getWk(), getWv(), getLayout(), getHeads(), getKvHeads(),
                                          ValueRange(), "none", wrtOf(adjoint, names));
  adjoint.give(names, gradient.getResults());
  return success();
}

Operation *HeadLinearOp::prepareAdjoint(OpBuilder &builder, const AdjointOptions &) {
  llvm::APFloat cap = getSoftcap();
  if (cap.isZero())
    return *this;
  builder.setInsertionPoint(*this);
  std::string name = valueName(getLogits());
  auto head = HeadLinearOp::create(builder, nameResults(getLoc(), {name.empty() ? "" : name + ".uncapped"}),
                                   getLogits().getType(), getInput(), getWeight(), getWLayout(), llvm::APFloat(0.0));
  auto capped = ActivationOp::create(builder, getLoc(), getLogits().getType(), head.getLogits(), "softcap", cap);
  head->setDiscardableAttrs((*this)->getDiscardableAttrDictionary());
  capped->setDiscardableAttrs((*this)->getDiscardableAttrDictionary());
  (*this)->replaceAllUsesWith(capped);
  (*this)->erase();
  return capped;
}

LogicalResult HeadLinearOp::buildAdjoint(Adjoint &adjoint) {
  Names names = adjoint.wanted({"input", "weight"});
  auto gradient =
      HeadLinearGradOp::create(adjoint.builder, adjoint.loc(names), adjoint.types(names), adjoint.cotangent(0),
                               getInput(), getWeight(), getWLayout(), ValueRange(), "none", wrtOf(adjoint, names));
  adjoint.give(names, gradient.getResults());
  return success();
}

//===----------------------------------------------------------------------===//
// Norm
//===----------------------------------------------------------------------===//

Operation *RmsNormOp::prepareAdjoint(OpBuilder &builder, const AdjointOptions &) {
  if (getSaveRstd())
    return *this;
  return withResults<RmsNormOp>(builder, *this, f32Tensor(*this, shapeOf(getInput()).drop_back()), {"rstd"},
                                [](RmsNormOp op) { op.setSaveRstd(true); });
}

SmallVector<StringRef> RmsNormOp::getUndifferentiated() { return {"input_scale"}; }

LogicalResult RmsNormOp::buildAdjoint(Adjoint &adjoint) {
  if (failed(refuseCotangent(*this, adjoint, 1, "rstd")))
    return failure();
  Names names = adjoint.wanted({"input", "gamma"});
  Value input = getInput(), gamma = getGamma(), scales = getInputScale();
  const bool isScaled = getScale() != 1.0;
  const bool isCodes = getCodes() != "none";
  // Gradient ops take both in one type.
  if (gamma && (isScaled || isCodes || elementTypeOf(gamma) != elementTypeOf(input)))
    gamma = widened(*this, adjoint, gamma);
  if (!isCodes && (isScaled || (gamma && elementTypeOf(gamma) != elementTypeOf(input))))
    input = widened(*this, adjoint, input);
  // The norm is one of x = scale * input: the gradient of the input is scale times that of x. Of codes it is their
  // scales that are multiplied.
  if (isScaled) {
    Value &factor = isCodes ? scales : input;
    std::string name = valueName(factor);
    factor = ScaleOp::create(adjoint.builder, nameResults(getLoc(), {name.empty() ? "" : name + ".scaled"}),
                             factor.getType(), factor, Value(), llvm::APFloat(getScale()));
  }
  auto gradient = RmsNormGradOp::create(adjoint.builder, adjoint.loc(names), adjoint.types(names), adjoint.cotangent(0),
                                        input, gamma, getRstd(), scales, getGain(), getCodes(), ValueRange(), "none",
                                        wrtOf(adjoint, names));
  for (auto [name, value] : llvm::zip(names, gradient.getResults()))
    adjoint.give(name, name == "input" ? scaled(adjoint, adjoint.loc({"input"}), value, getScale()) : value);
  return success();
}

Operation *LayerNormOp::prepareAdjoint(OpBuilder &builder, const AdjointOptions &) {
  if (getSaveStats())
    return *this;
  Type stats = f32Tensor(*this, shapeOf(getInput()).drop_back());
  return withResults<LayerNormOp>(builder, *this, {stats, stats}, {"mean", "rstd"},
                                  [](LayerNormOp op) { op.setSaveStats(true); });
}

LogicalResult LayerNormOp::buildAdjoint(Adjoint &adjoint) {
  if (failed(refuseCotangent(*this, adjoint, 1, "mean")) || failed(refuseCotangent(*this, adjoint, 2, "rstd")))
    return failure();
  if (!getGamma())
    return emitOpError("cannot be differentiated without gamma");
  Names names = adjoint.wanted({"input", "gamma", "beta"});
  Value input = widened(*this, adjoint, getInput()), gamma = widened(*this, adjoint, getGamma());
  auto gradient =
      LayerNormGradOp::create(adjoint.builder, adjoint.loc(names), adjoint.types(names), adjoint.cotangent(0), input,
                              gamma, getStats()[0], getStats()[1], ValueRange(), "none", wrtOf(adjoint, names));
  adjoint.give(names, gradient.getResults());
  return success();
}

LogicalResult QkNormOp::buildAdjoint(Adjoint &adjoint) {
  Names names = adjoint.wanted({"q", "k", "q_gamma", "k_gamma"});
  Value dq = adjoint.cotangentOrZero(0), dk = adjoint.cotangentOrZero(1);
  auto gradient = QkNormGradOp::create(adjoint.builder, adjoint.loc(names), adjoint.types(names), dq, dk, getQ(),
                                       getK(), getQGamma(), getKGamma(), getEps(), getHeadDim(), getGain(), getLayout(),
                                       ValueRange(), "none", wrtOf(adjoint, names));
  adjoint.give(names, gradient.getResults());
  return success();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

SmallVector<StringRef> RopeOp::getUndifferentiated() { return {"cos", "sin"}; }

LogicalResult RopeOp::buildAdjoint(Adjoint &adjoint) {
  // The one that has a cotangent, as a call of one tensor; or both.
  Names names;
  SmallVector<Value> cotangents;
  const StringRef operands[] = {"q", "k"};
  for (auto [index, name] : llvm::enumerate(operands))
    if (adjoint.needs(name) && adjoint.cotangent(index)) {
      names.push_back(name);
      cotangents.push_back(adjoint.cotangent(index));
    }
  if (names.empty())
    return success();
  auto inverse = RopeOp::create(adjoint.builder, adjoint.loc(names), adjoint.types(names), cotangents[0],
                                cotangents.size() > 1 ? cotangents[1] : Value(), getPos(), getCos(), getSin(),
                                getPairing(), getHeadDim(), getLayout(), !getInverse());
  adjoint.give(names, inverse->getResults());
  return success();
}

Operation *AttentionOp::prepareAdjoint(OpBuilder &builder, const AdjointOptions &options) {
  if (getLayout() == "cache" || getSave() != "none")
    return *this;
  bool probs = options.saveProbs && getSoftcap().isZero() && !getSinks();
  int64_t rows = shapeOf(getQ())[getLayout() == "token_major" ? 0 : 1], heads = getHeads();
  Type saved = f32Tensor(*this, probs ? ArrayRef<int64_t>{heads, rows, rows} : ArrayRef<int64_t>{heads, rows});
  StringRef name = probs ? "probs" : "lse";
  std::string known = resultName(getLoc(), 1); // A name in store for the probabilities.
  auto saving = withResults<AttentionOp>(builder, *this, saved, name, [&](AttentionOp op) { op.setSave(name); });
  if (probs && !known.empty())
    saving->setLoc(nameResults(saving->getLoc(), ArrayRef<std::string>{valueName(saving.getOutput()), known}));
  return saving;
}

LogicalResult AttentionOp::buildAdjoint(Adjoint &adjoint) {
  if (getLayout() == "cache")
    return emitOpError("cannot be differentiated with layout = \"cache\": a cache has no cotangent; use layout = "
                       "\"token_major\" or \"head_major\", where the keys are the rows of the call");
  if (failed(refuseCotangent(*this, adjoint, 1, getSave())))
    return failure();
  Value q = widened(*this, adjoint, getQ()), k = widened(*this, adjoint, getK()), v = widened(*this, adjoint, getV());
  if (getSave() == "probs") {
    if (!getSoftcap().isZero() || getSinks())
      return emitOpError("cannot be differentiated from its probabilities with a softcap or sinks; use save = \"lse\"");
    Names names = adjoint.wanted({"q", "k", "v"});
    SmallVector<Type> types = adjoint.types(names);
    types.push_back(getSaved().getType());
    SmallVector<std::string> results;
    for (StringRef name : names) {
      std::string known = valueName(adjoint.operand(name));
      results.push_back(known.empty() ? "" : "d_" + known);
    }
    std::string saved = valueName(getSaved());
    results.push_back(saved.empty() ? "" : "d_" + saved);
    auto gradient = AttentionProbsGradOp::create(adjoint.builder, nameResults(getLoc(), results), types,
                                                 adjoint.cotangent(0), q, k, v, getSaved(), getHeads(), getKvHeads(),
                                                 getLayout(), getScale(), wrtOf(adjoint, names));
    adjoint.give(names, gradient.getResults().take_front(names.size()));
    return success();
  }
  Names names = adjoint.wanted({"q", "k", "v", "sinks"});
  auto gradient = AttentionGradOp::create(adjoint.builder, adjoint.loc(names), adjoint.types(names),
                                          adjoint.cotangent(0), q, k, v, widened(*this, adjoint, getOutput()),
                                          getSaved(), getSinks(), getSeqs(), getHeads(), getKvHeads(), getLayout(),
                                          getMask(), getWindow(), getScale(), getSoftcap(), wrtOf(adjoint, names));
  adjoint.give(names, gradient.getResults());
  return success();
}

LogicalResult CacheUpdateOp::buildAdjoint(Adjoint &) {
  return emitOpError("cannot be differentiated: a graph for training has no caches; use ck.attention with layout = "
                     "\"token_major\" or \"head_major\" on the keys and values themselves");
}

//===----------------------------------------------------------------------===//
// Pointwise
//===----------------------------------------------------------------------===//

LogicalResult GluOp::buildAdjoint(Adjoint &adjoint) {
  Names names = getUp() ? Names{"gate", "up"} : Names{"gate"};
  auto gradient = GluGradOp::create(adjoint.builder, adjoint.loc(names), adjoint.types(names), adjoint.cotangent(0),
                                    getGate(), getUp(), getAct());
  adjoint.give(names, gradient->getResults());
  return success();
}

LogicalResult ActivationOp::buildAdjoint(Adjoint &adjoint) {
  auto gradient = ActivationGradOp::create(adjoint.builder, adjoint.loc({"input"}), adjoint.types({"input"})[0],
                                           adjoint.cotangent(0), getInput(), getKind(), getAlpha());
  adjoint.give("input", gradient);
  return success();
}

LogicalResult AddOp::buildAdjoint(Adjoint &adjoint) {
  double scale = getScale().convertToDouble(), alpha = getAlpha().convertToDouble();
  if (adjoint.needs("a"))
    adjoint.give("a", scaled(adjoint, adjoint.loc({"a"}), adjoint.cotangent(0), scale));
  if (adjoint.needs("b"))
    adjoint.give("b", scaled(adjoint, adjoint.loc({"b"}), adjoint.cotangent(0), scale * alpha));
  return success();
}

LogicalResult MulOp::buildAdjoint(Adjoint &adjoint) {
  if (adjoint.needs("a"))
    adjoint.give("a", MulOp::create(adjoint.builder, adjoint.loc({"a"}), adjoint.types({"a"})[0], adjoint.cotangent(0),
                                    widened(*this, adjoint, getB())));
  if (adjoint.needs("b"))
    adjoint.give("b", MulOp::create(adjoint.builder, adjoint.loc({"b"}), adjoint.types({"b"})[0], adjoint.cotangent(0),
                                    widened(*this, adjoint, getA())));
  return success();
}

SmallVector<StringRef> ScaleOp::getUndifferentiated() { return {"by"}; }

LogicalResult ScaleOp::buildAdjoint(Adjoint &adjoint) {
  auto gradient = ScaleOp::create(adjoint.builder, adjoint.loc({"input"}), adjoint.types({"input"})[0],
                                  adjoint.cotangent(0), getBy(), getFactor());
  adjoint.give("input", gradient);
  return success();
}

SmallVector<StringRef> BiasAddOp::getUndifferentiated() { return {"bias"}; }

LogicalResult BiasAddOp::buildAdjoint(Adjoint &adjoint) {
  adjoint.give("input", adjoint.cotangent(0));
  return success();
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

LogicalResult CopyOp::buildAdjoint(Adjoint &adjoint) {
  adjoint.give("input", adjoint.cotangent(0));
  return success();
}

LogicalResult TransposeOp::buildAdjoint(Adjoint &adjoint) {
  SmallVector<int64_t> inverse(getPerm().size());
  for (auto [i, axis] : llvm::enumerate(getPerm()))
    inverse[axis] = i;
  auto gradient =
      TransposeOp::create(adjoint.builder, adjoint.loc({"input"}), getInput().getType(), adjoint.cotangent(0), inverse);
  adjoint.give("input", gradient);
  return success();
}

LogicalResult SplitOp::buildAdjoint(Adjoint &adjoint) {
  SmallVector<Value> pieces;
  for (unsigned i = 0; i < getNumResults(); ++i)
    pieces.push_back(adjoint.cotangentOrZero(i));
  auto gradient = ConcatOp::create(adjoint.builder, adjoint.loc({"input"}), getInput().getType(), pieces, getAxis());
  adjoint.give("input", gradient);
  return success();
}

LogicalResult ConcatOp::buildAdjoint(Adjoint &adjoint) {
  SmallVector<std::string> texts;
  SmallVector<int64_t> sizes;
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    texts.push_back("input" + std::to_string(i));
    sizes.push_back(shapeOf(input)[getAxis()]);
    if (ShapedType::isDynamic(sizes.back()))
      return emitOpError() << "cannot be differentiated: " << texts.back() << " has a run-time extent along axis "
                           << getAxis();
  }
  Names names(texts.begin(), texts.end());
  auto gradient = SplitOp::create(adjoint.builder, adjoint.loc(names), adjoint.types(names), adjoint.cotangent(0),
                                  getAxis(), sizes);
  adjoint.give(names, gradient.getResults());
  return success();
}

LogicalResult LastRowOp::buildAdjoint(Adjoint &adjoint) {
  auto gradient = LastRowGradOp::create(adjoint.builder, adjoint.loc({"input"}), getInput().getType(),
                                        adjoint.cotangent(0), getInput());
  adjoint.give("input", gradient);
  return success();
}

LogicalResult FillOp::buildAdjoint(Adjoint &) { return success(); } // It depends on nothing.

LogicalResult FanOutOp::buildAdjoint(Adjoint &adjoint) {
  Value a = adjoint.cotangent(0), b = adjoint.cotangent(1);
  adjoint.give("input", a && b ? AddOp::create(adjoint.builder, adjoint.loc({"input"}), a.getType(), a, b,
                                               llvm::APFloat(1.0), llvm::APFloat(1.0))
                                     .getResult()
                               : (a ? a : b));
  return success();
}

//===----------------------------------------------------------------------===//
// Loss
//===----------------------------------------------------------------------===//

SmallVector<StringRef> CrossEntropyOp::getUndifferentiated() { return {"scale"}; }

Operation *CrossEntropyOp::prepareAdjoint(OpBuilder &builder, const AdjointOptions &) {
  if (getSave() == "grad")
    return *this;
  std::string name = valueName(getLogits());
  auto saving = withResults<CrossEntropyOp>(builder, *this, getLogits().getType(), {"d_logits"},
                                            [](CrossEntropyOp op) { op.setSave("grad"); });
  // What is saved is the gradient itself.
  if (!name.empty())
    saving->setLoc(nameResults(saving->getLoc(), {valueName(saving.getLoss()), "d_" + name}));
  return saving;
}

LogicalResult CrossEntropyOp::buildAdjoint(Adjoint &adjoint) {
  if (failed(refuseCotangent(*this, adjoint, 1, "d_logits")))
    return failure();
  auto constant = adjoint.cotangent(0).getDefiningOp<FillOp>();
  if (constant && constant.getValue().isExactlyValue(1.0))
    adjoint.give("logits", getDLogits());
  else
    adjoint.give("logits", ScaleOp::create(adjoint.builder, adjoint.loc({"logits"}), getLogits().getType(),
                                           getDLogits(), adjoint.cotangent(0), llvm::APFloat(1.0)));
  return success();
}
