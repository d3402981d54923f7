//===- BuildDecoder.cpp - the GRAPH of a Llama-family decoder -------------===//
//
// Pre-norm blocks: RMSNorm, grouped-query attention with rotary positions, RMSNorm, gated MLP; a final norm and the
// head. For inference attention reads a KV cache; for training, the keys and values of its own call. Hugging Face and
// GGUF give the same graph, but for the pairing of rope and the weights' file.
//
//===----------------------------------------------------------------------===//
#include "ck/Dialect/CK/CKDialect.h"
#include "ck/Import/Formats/WeightTable.h"
#include "ck/Import/Import.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace ck;

static constexpr int64_t kDefaultContext = 4096;

Result<int64_t> ck::chosenContext(const ModelConfig &config, const ImportOptions &options) {
  int64_t context = options.context ? options.context : std::min(config.maxContext, kDefaultContext);
  if (context < 1 || context > INT32_MAX)
    return Error{"context must be between 1 and 2147483647, got " + std::to_string(context)};
  return context;
}

namespace {
class DecoderBuilder {
public:
  /// `rows` positions have rotary angles, and in a model for inference a row of each cache.
  DecoderBuilder(MLIRContext &context, const ModelConfig &config, const std::string &weightsFile, int64_t rows)
      : config(config), weightsFile(weightsFile), rows(rows), builder(&context), unknown(builder.getUnknownLoc()) {}

  OwningOpRef<ModuleOp> buildInference(const ImportOptions &options);
  OwningOpRef<ModuleOp> buildTraining(const TrainingShape &shape);

private:
  /// Attention of layer `index` on rotated queries and keys.
  using Attend = llvm::function_ref<Value(int64_t index, Value q, Value k, Value v)>;

  void createModule(StringRef numerics);
  void declareWeights(bool trainable, const std::map<std::string, std::string> &storage);
  void declareCaches();
  void buildCachedEntry(StringRef name, int64_t tokens, const ImportOptions &options);
  void buildLossEntry(StringRef name, const TrainingShape &shape, bool differentiate);
  BufferOp declare(const std::string &name, StringRef role, RankedTensorType type);
  void buildRopeTable();
  /// From token ids to logits of every row.
  Value buildForward(Value tokens, Attend attend);
  Value layer(int64_t index, Value stream, Attend attend);
  AttentionOp attention(Location loc, Value q, Value k, Value v, Value pos, Value seqs, StringRef layout);
  Location named(const Twine &name) { return NameLoc::get(builder.getStringAttr(name), unknown); }
  RankedTensorType f32(ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, builder.getF32Type()); }
  RankedTensorType cacheType() { return f32({config.kvHeads, rows, config.headDim}); }
  std::string cacheName(int64_t layer, bool keys) {
    return "layers." + std::to_string(layer) + (keys ? ".k_cache" : ".v_cache");
  }
  /// Reads a weight; each entry reads it once. Vectors are f32 from here on.
  Value weight(const Twine &name);
  Value optionalWeight(bool present, const Twine &name) { return present ? weight(name) : Value(); }
  Value norm(Location loc, Value input, const Twine &gamma) {
    return RmsNormOp::create(builder, loc, input, weight(gamma), builder.getF64FloatAttr(config.rmsEps),
                             keyword("weight"), /*save_rstd=*/nullptr)
        .getOutput();
  }
  Value add(Location loc, Value a, Value b) {
    return AddOp::create(builder, loc, a, b, builder.getF64FloatAttr(1), builder.getF64FloatAttr(1));
  }
  StringAttr keyword(StringRef value) { return builder.getStringAttr(value); }

  const ModelConfig &config;
  const std::string &weightsFile;
  int64_t rows;
  bool markLayers = false; ///< for --ck-checkpoint
  OpBuilder builder;
  Location unknown;
  ModuleOp module;
  llvm::StringMap<RankedTensorType> weightTypes;
  Value pos, cos, sin;
};
} // namespace

BufferOp DecoderBuilder::declare(const std::string &name, StringRef role, RankedTensorType type) {
  bool isLayer = StringRef(name).starts_with("layers.");
  return BufferOp::create(builder, named(name), builder.getStringAttr(name), builder.getStringAttr(role),
                          TypeAttr::get(type), /*alias=*/nullptr, /*file=*/nullptr, /*tensor=*/nullptr,
                          builder.getStringAttr(isLayer ? "layer" : "global"), /*dims=*/nullptr, /*when=*/nullptr,
                          /*offset=*/nullptr);
}

void DecoderBuilder::declareWeights(bool trainable, const std::map<std::string, std::string> &storage) {
  for (const WeightSpec &spec : weightTable(config)) {
    RankedTensorType type = f32(spec.shape);
    if (auto stored = storage.find(spec.logical); stored != storage.end())
      type = type.clone(parseDtype(builder.getContext(), stored->second));
    weightTypes[spec.logical] = type;
    BufferOp buffer = declare(spec.logical, "weight", type);
    buffer.setTrainable(trainable);
    if (!weightsFile.empty()) {
      buffer.setFile(weightsFile);
      buffer.setTensor(spec.tensor);
    }
  }
  if (config.tied) {
    weightTypes["lm_head"] = weightTypes["tok_emb"];
    declare("lm_head", "weight", weightTypes["tok_emb"]).setAlias("tok_emb");
  }
}

void DecoderBuilder::declareCaches() {
  for (int64_t i = 0; i < config.layers; ++i)
    for (bool keys : {true, false})
      declare(cacheName(i, keys), "state", cacheType());
}

Value DecoderBuilder::weight(const Twine &name) {
  std::string symbol = name.str();
  RankedTensorType type = weightTypes.lookup(symbol);
  Value value = ParamOp::create(builder, named(symbol), type, FlatSymbolRefAttr::get(builder.getContext(), symbol));
  if (type.getRank() == 1 && !type.getElementType().isF32())
    return ConvertOp::create(builder, named(symbol + ".f32"), f32(type.getShape()), value);
  return value;
}

AttentionOp DecoderBuilder::attention(Location loc, Value q, Value k, Value v, Value pos, Value seqs,
                                      StringRef layout) {
  return AttentionOp::create(builder, loc, q, k, v, pos, /*sinks=*/Value(), seqs,
                             builder.getI64IntegerAttr(config.heads), builder.getI64IntegerAttr(config.kvHeads),
                             keyword(layout), keyword("causal"), builder.getI64IntegerAttr(0),
                             builder.getF64FloatAttr(0), builder.getF64FloatAttr(0), keyword("none"));
}

Value DecoderBuilder::layer(int64_t index, Value stream, Attend attend) {
  std::string prefix = "layers." + std::to_string(index) + ".";
  auto loc = [&](const char *name) { return named(prefix + name); };

  Value normed = norm(loc("attn_norm_out"), stream, prefix + "attn_norm");
  auto qkv = QkvLinearOp::create(builder, loc("qkv"), normed, weight(prefix + "wq"), weight(prefix + "wk"),
                                 weight(prefix + "wv"), optionalWeight(config.qkvBias, prefix + "bq"),
                                 optionalWeight(config.qkvBias, prefix + "bk"),
                                 optionalWeight(config.qkvBias, prefix + "bv"), keyword("token_major"));
  auto rope =
      RopeOp::create(builder, loc("rope"), qkv.getQ(), qkv.getK(), pos, cos, sin, keyword(pairingName(config.pairing)),
                     builder.getI64IntegerAttr(config.headDim), keyword("token_major"), builder.getBoolAttr(false));
  Value attended = attend(index, rope.getQOut(), rope.getKOut(), qkv.getV());
  Value projected = LinearOp::create(builder, loc("attn_proj"), attended, weight(prefix + "wo"),
                                     optionalWeight(config.outBias, prefix + "bo"));
  Value residual = add(loc("attn_residual"), stream, projected);

  normed = norm(loc("ffn_norm_out"), residual, prefix + "ffn_norm");
  Value gate = LinearOp::create(builder, loc("gate"), normed, weight(prefix + "w_gate"),
                                optionalWeight(config.mlpBias, prefix + "b_gate"));
  Value up = LinearOp::create(builder, loc("up"), normed, weight(prefix + "w_up"),
                              optionalWeight(config.mlpBias, prefix + "b_up"));
  Value hidden = GluOp::create(builder, loc("glu"), gate, up, keyword(config.activation));
  Value down = LinearOp::create(builder, loc("down"), hidden, weight(prefix + "w_down"),
                                optionalWeight(config.mlpBias, prefix + "b_down"));
  return add(loc("ffn_residual"), residual, down);
}

void DecoderBuilder::buildRopeTable() {
  const RopeScaling &scaling = config.ropeScaling;
  // Attributes that the scaling does not use keep their defaults.
  bool llama3 = scaling.kind == RopeScaling::Llama3;
  auto onlyLlama3 = [&](double value) { return llama3 ? builder.getF64FloatAttr(value) : FloatAttr(); };
  auto table = RopeTableOp::create(builder, named("rope"), builder.getI64IntegerAttr(rows),
                                   builder.getI64IntegerAttr(config.headDim), builder.getF64FloatAttr(config.ropeTheta),
                                   keyword(ropeScalingName(scaling.kind)), builder.getF64FloatAttr(scaling.factor),
                                   onlyLlama3(scaling.lowFreqFactor), onlyLlama3(scaling.highFreqFactor),
                                   llama3 ? builder.getI64IntegerAttr(scaling.originalContext) : IntegerAttr());
  cos = table.getCos();
  sin = table.getSin();
}

Value DecoderBuilder::buildForward(Value tokens, Attend attend) {
  buildRopeTable();
  Value stream = EmbeddingOp::create(builder, named("embedded"), tokens, weight("tok_emb"));
  for (int64_t i = 0; i < config.layers; ++i) {
    Operation *before = stream.getDefiningOp();
    stream = layer(i, stream, attend);
    for (Operation *op = before->getNextNode(); markLayers && op; op = op->getNextNode())
      op->setAttr("ck.layer", builder.getI64IntegerAttr(i));
  }
  Value normed = norm(named("final_norm_out"), stream, "final_norm");
  return HeadLinearOp::create(builder, named("logits"), normed, weight("lm_head"), keyword("vocab_major"),
                              builder.getF64FloatAttr(0));
}

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

void DecoderBuilder::buildCachedEntry(StringRef name, int64_t tokens, const ImportOptions &options) {
  OpBuilder::InsertionGuard guard(builder);
  auto ids = RankedTensorType::get({tokens}, builder.getI32Type());
  SmallVector<Type> inputs = {ids, ids};
  SmallVector<Type> caches(2 * config.layers, cacheType());
  inputs.append(caches);
  bool lastOnly = !options.allLogits || tokens == 1;
  SmallVector<Type> results = {f32({lastOnly ? 1 : tokens, config.vocab})};
  results.append(caches);
  auto function = func::FuncOp::create(builder, named(name), name, builder.getFunctionType(inputs, results));
  function->setAttr("ck.entry", builder.getUnitAttr());
  function.setArgAttr(0, "ck.input", builder.getStringAttr("tokens"));
  function.setArgAttr(1, "ck.input", builder.getStringAttr("pos"));
  function.setResultAttr(0, "ck.output", builder.getStringAttr("logits"));
  if (ShapedType::isDynamic(tokens)) {
    function->setAttr("ck.bounds", builder.getDictionaryAttr(builder.getNamedAttr(
                                       "T", builder.getI64IntegerAttr(std::min(options.chunk, rows)))));
    for (unsigned i : {0, 1})
      function.setArgAttr(i, "ck.dims", builder.getStrArrayAttr({"T"}));
  }
  for (int64_t i = 0; i < 2 * config.layers; ++i) {
    auto state = FlatSymbolRefAttr::get(builder.getContext(), cacheName(i / 2, i % 2 == 0));
    function.setArgAttr(2 + i, "ck.state", state);
    function.setResultAttr(1 + i, "ck.state", state);
  }

  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  pos = body->getArgument(1);
  SmallVector<Value> states(body->getArguments().drop_front(2));
  Value logits = buildForward(body->getArgument(0), [&](int64_t i, Value q, Value k, Value v) {
    std::string prefix = "layers." + std::to_string(i) + ".";
    auto cache = CacheUpdateOp::create(builder, named(prefix + "cache"), states[2 * i], states[2 * i + 1], k, v, pos,
                                       builder.getBoolAttr(false));
    states[2 * i] = cache.getKResult();
    states[2 * i + 1] = cache.getVResult();
    return attention(named(prefix + "attn"), q, cache.getKResult(), cache.getVResult(), pos, /*seqs=*/Value(), "cache")
        .getOutput();
  });
  if (lastOnly && tokens != 1)
    logits = LastRowOp::create(builder, named("last_logits"), logits);
  SmallVector<Value> returned = {logits};
  returned.append(states);
  func::ReturnOp::create(builder, unknown, returned);
}

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

void DecoderBuilder::buildLossEntry(StringRef name, const TrainingShape &shape, bool differentiate) {
  OpBuilder::InsertionGuard guard(builder);
  auto ints = RankedTensorType::get({ShapedType::kDynamic}, builder.getI32Type());
  SmallVector<Type> inputs = {ints, ints, ints, ints, f32({1})};
  auto function = func::FuncOp::create(builder, named(name), name, builder.getFunctionType(inputs, {f32({1})}));
  function->setAttr("ck.entry", builder.getUnitAttr());
  function->setAttr("ck.bounds", builder.getDictionaryAttr(
                                     {builder.getNamedAttr("T", builder.getI64IntegerAttr(shape.rows)),
                                      builder.getNamedAttr("S", builder.getI64IntegerAttr(shape.sequences + 1))}));
  const char *const names[] = {"tokens", "targets", "pos", "seqs", "scale"};
  for (auto [i, input] : llvm::enumerate(names)) {
    function.setArgAttr(i, "ck.input", builder.getStringAttr(input));
    if (i < 4)
      function.setArgAttr(i, "ck.dims", builder.getStrArrayAttr({i == 3 ? "S" : "T"}));
  }
  function.setResultAttr(0, "ck.output", builder.getStringAttr("loss"));
  if (differentiate)
    function.setResultAttr(0, "ck.loss", builder.getUnitAttr());

  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  Value tokens = body->getArgument(0), targets = body->getArgument(1), seqs = body->getArgument(3);
  pos = body->getArgument(2);
  Value logits = buildForward(tokens, [&](int64_t i, Value q, Value k, Value v) {
    return attention(named("layers." + Twine(i) + ".attn"), q, k, v, /*pos=*/Value(), seqs, "token_major").getOutput();
  });
  auto loss =
      CrossEntropyOp::create(builder, named("loss"), logits, targets, /*scale=*/body->getArgument(4), keyword("none"));
  func::ReturnOp::create(builder, unknown, loss.getLoss());
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

void DecoderBuilder::createModule(StringRef numerics) {
  module = ModuleOp::create(unknown);
  module->setAttr("ck.model", builder.getStringAttr(config.name));
  module->setAttr("ck.numerics", builder.getStringAttr(numerics));
  builder.setInsertionPointToEnd(module.getBody());
}

/// The numerics of a model that the user says nothing about.
static StringRef defaultNumerics(MLIRContext *context, const ImportOptions &options) {
  bool quantised = llvm::any_of(options.storage,
                                [&](const auto &weight) { return isBlockType(parseDtype(context, weight.second)); });
  return quantised ? "q8_activations" : "f32";
}

OwningOpRef<ModuleOp> DecoderBuilder::buildInference(const ImportOptions &options) {
  createModule(options.numerics.empty() ? defaultNumerics(builder.getContext(), options) : options.numerics);
  declareWeights(/*trainable=*/false, options.storage);
  declareCaches();
  buildCachedEntry("decode", 1, options);
  buildCachedEntry("prefill", ShapedType::kDynamic, options);
  return module;
}

OwningOpRef<ModuleOp> DecoderBuilder::buildTraining(const TrainingShape &shape) {
  createModule("f32");
  markLayers = true;
  declareWeights(/*trainable=*/true, /*storage=*/{});
  if (shape.trainStep)
    buildLossEntry("train_step", shape, /*differentiate=*/true);
  if (shape.eval)
    buildLossEntry("eval", shape, /*differentiate=*/false);
  return module;
}

static Result<OwningOpRef<ModuleOp>> verified(OwningOpRef<ModuleOp> module, const ModelConfig &config) {
  if (failed(verify(*module)))
    return Error{config.name + ": the imported graph does not verify; the diagnostics above say where"};
  return module;
}

Result<OwningOpRef<ModuleOp>> ck::buildDecoder(MLIRContext &context, const ModelConfig &config,
                                               const ImportOptions &options) {
  Result<int64_t> rows = chosenContext(config, options);
  if (!rows)
    return rows.error();
  if (options.chunk < 1)
    return Error{"chunk must be at least 1, got " + std::to_string(options.chunk)};
  if (!options.numerics.empty() &&
      !llvm::is_contained({"f32", "f16_operands", "bf16_operands", "q8_activations"}, options.numerics))
    return Error{"numerics must be f32, f16_operands, bf16_operands or q8_activations, got '" + options.numerics + "'"};
  context.loadDialect<CKDialect, func::FuncDialect, tensor::TensorDialect>();
  return verified(DecoderBuilder(context, config, options.weightsFile, *rows).buildInference(options), config);
}

Result<OwningOpRef<ModuleOp>> ck::buildTrainingDecoder(MLIRContext &context, const ModelConfig &config,
                                                       const TrainingShape &shape, const std::string &weightsFile) {
  for (auto [value, what] : {std::pair(shape.rows, "rows"), std::pair(shape.sequences, "sequences"),
                             std::pair(shape.positions, "positions")})
    if (value < 1 || value >= INT32_MAX)
      return Error{"a training program needs 1 to 2147483646 " + std::string(what) + ", got " + std::to_string(value)};
  context.loadDialect<CKDialect, func::FuncDialect, tensor::TensorDialect>();
  return verified(DecoderBuilder(context, config, weightsFile, shape.positions).buildTraining(shape), config);
}
