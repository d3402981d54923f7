//===- BuildDecoder.cpp - the GRAPH of a Llama-family decoder -------------===//
//
// Pre-norm blocks: RMSNorm, grouped-query attention with rotary positions over a KV cache, RMSNorm, gated MLP; a final
// norm and the head. Hugging Face and GGUF give the same graph, but for the pairing of rope and the weights' file.
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
  DecoderBuilder(MLIRContext &context, const ModelConfig &config, const ImportOptions &options, int64_t rows)
      : config(config), options(options), cacheRows(rows), builder(&context), unknown(builder.getUnknownLoc()) {}

  OwningOpRef<ModuleOp> build();

private:
  void declareBuffers();
  void buildEntry(StringRef name, int64_t tokens);
  Value layer(int64_t index, Value stream, Value &keys, Value &values);
  Location named(const Twine &name) { return NameLoc::get(builder.getStringAttr(name), unknown); }
  RankedTensorType f32(ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, builder.getF32Type()); }
  RankedTensorType cacheType() { return f32({config.kvHeads, cacheRows, config.headDim}); }
  std::string cacheName(int64_t layer, bool keys) {
    return "layers." + std::to_string(layer) + (keys ? ".k_cache" : ".v_cache");
  }
  /// Reads a weight; each entry reads it once.
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
  const ImportOptions &options;
  int64_t cacheRows;
  OpBuilder builder;
  Location unknown;
  ModuleOp module;
  llvm::StringMap<RankedTensorType> weightTypes;
  Value pos, cos, sin;
};
} // namespace

void DecoderBuilder::declareBuffers() {
  auto declare = [&](const std::string &name, StringRef role, RankedTensorType type, bool isLayer) {
    auto buffer = BufferOp::create(builder, named(name), builder.getStringAttr(name), builder.getStringAttr(role),
                                   TypeAttr::get(type), /*alias=*/nullptr, /*file=*/nullptr, /*tensor=*/nullptr,
                                   builder.getStringAttr(isLayer ? "layer" : "global"), /*dims=*/nullptr,
                                   /*when=*/nullptr, /*offset=*/nullptr);
    return buffer;
  };
  for (const WeightSpec &spec : weightTable(config)) {
    RankedTensorType type = f32(spec.shape);
    weightTypes[spec.logical] = type;
    BufferOp buffer = declare(spec.logical, "weight", type, StringRef(spec.logical).starts_with("layers."));
    if (!options.weightsFile.empty()) {
      buffer.setFile(options.weightsFile);
      buffer.setTensor(spec.tensor);
    }
  }
  if (config.tied) {
    weightTypes["lm_head"] = weightTypes["tok_emb"];
    declare("lm_head", "weight", weightTypes["tok_emb"], false).setAlias("tok_emb");
  }
  for (int64_t i = 0; i < config.layers; ++i)
    for (bool keys : {true, false})
      declare(cacheName(i, keys), "state", cacheType(), true);
}

Value DecoderBuilder::weight(const Twine &name) {
  std::string symbol = name.str();
  return ParamOp::create(builder, named(symbol), weightTypes.lookup(symbol),
                         FlatSymbolRefAttr::get(builder.getContext(), symbol));
}

Value DecoderBuilder::layer(int64_t index, Value stream, Value &keys, Value &values) {
  std::string prefix = "layers." + std::to_string(index) + ".";
  auto loc = [&](const char *name) { return named(prefix + name); };
  auto headDim = builder.getI64IntegerAttr(config.headDim);

  Value normed = norm(loc("attn_norm_out"), stream, prefix + "attn_norm");
  auto qkv = QkvLinearOp::create(builder, loc("qkv"), normed, weight(prefix + "wq"), weight(prefix + "wk"),
                                 weight(prefix + "wv"), optionalWeight(config.qkvBias, prefix + "bq"),
                                 optionalWeight(config.qkvBias, prefix + "bk"),
                                 optionalWeight(config.qkvBias, prefix + "bv"), keyword("token_major"));
  auto rope =
      RopeOp::create(builder, loc("rope"), qkv.getQ(), qkv.getK(), pos, cos, sin, keyword(pairingName(config.pairing)),
                     headDim, keyword("token_major"), builder.getBoolAttr(false));
  auto cache = CacheUpdateOp::create(builder, loc("cache"), keys, values, rope.getKOut(), qkv.getV(), pos,
                                     builder.getBoolAttr(false));
  keys = cache.getKResult();
  values = cache.getVResult();
  auto attention = AttentionOp::create(builder, loc("attn"), rope.getQOut(), keys, values, pos, /*sinks=*/Value(),
                                       /*seqs=*/Value(), builder.getI64IntegerAttr(config.heads),
                                       builder.getI64IntegerAttr(config.kvHeads), keyword("cache"), keyword("causal"),
                                       builder.getI64IntegerAttr(0), builder.getF64FloatAttr(0),
                                       builder.getF64FloatAttr(0), keyword("none"));
  Value projected = LinearOp::create(builder, loc("attn_proj"), attention.getOutput(), weight(prefix + "wo"),
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

void DecoderBuilder::buildEntry(StringRef name, int64_t tokens) {
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
                                       "T", builder.getI64IntegerAttr(std::min(options.chunk, cacheRows)))));
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
  const RopeScaling &scaling = config.ropeScaling;
  // Attributes that the scaling does not use keep their defaults.
  bool llama3 = scaling.kind == RopeScaling::Llama3;
  auto onlyLlama3 = [&](double value) { return llama3 ? builder.getF64FloatAttr(value) : FloatAttr(); };
  auto table = RopeTableOp::create(builder, named("rope"), builder.getI64IntegerAttr(cacheRows),
                                   builder.getI64IntegerAttr(config.headDim), builder.getF64FloatAttr(config.ropeTheta),
                                   keyword(ropeScalingName(scaling.kind)), builder.getF64FloatAttr(scaling.factor),
                                   onlyLlama3(scaling.lowFreqFactor), onlyLlama3(scaling.highFreqFactor),
                                   llama3 ? builder.getI64IntegerAttr(scaling.originalContext) : IntegerAttr());
  cos = table.getCos();
  sin = table.getSin();
  Value stream = EmbeddingOp::create(builder, named("embedded"), body->getArgument(0), weight("tok_emb"));
  SmallVector<Value> states(body->getArguments().drop_front(2));
  for (int64_t i = 0; i < config.layers; ++i)
    stream = layer(i, stream, states[2 * i], states[2 * i + 1]);
  Value normed = norm(named("final_norm_out"), stream, "final_norm");
  Value logits = HeadLinearOp::create(builder, named("logits"), normed, weight("lm_head"), keyword("vocab_major"),
                                      builder.getF64FloatAttr(0));
  if (lastOnly && tokens != 1)
    logits = LastRowOp::create(builder, named("last_logits"), logits);
  SmallVector<Value> returned = {logits};
  returned.append(states);
  func::ReturnOp::create(builder, unknown, returned);
}

OwningOpRef<ModuleOp> DecoderBuilder::build() {
  module = ModuleOp::create(unknown);
  module->setAttr("ck.model", builder.getStringAttr(config.name));
  module->setAttr("ck.numerics", builder.getStringAttr("f32"));
  builder.setInsertionPointToEnd(module.getBody());
  declareBuffers();
  buildEntry("decode", 1);
  buildEntry("prefill", ShapedType::kDynamic);
  return module;
}

Result<OwningOpRef<ModuleOp>> ck::buildDecoder(MLIRContext &context, const ModelConfig &config,
                                               const ImportOptions &options) {
  Result<int64_t> rows = chosenContext(config, options);
  if (!rows)
    return rows.error();
  if (options.chunk < 1)
    return Error{"chunk must be at least 1, got " + std::to_string(options.chunk)};
  context.loadDialect<CKDialect, func::FuncDialect, tensor::TensorDialect>();
  OwningOpRef<ModuleOp> module = DecoderBuilder(context, config, options, *rows).build();
  if (failed(verify(*module)))
    return Error{config.name + ": the imported graph does not verify; the diagnostics above say where"};
  return module;
}
