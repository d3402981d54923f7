//===- StandardDecoder.cpp - the decoder that everything must fit ---------===//
//
// The table declares the buffers, the builder uses them: values get the names of the table by their locations, and
// differentiation derives the names of gradients from those.
//
//===----------------------------------------------------------------------===//
#include "ck/Import/StandardDecoder.h"

#include "ck/Dialect/CK/CKDialect.h"
#include "ck/Dialect/CK/Names.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace ck;

namespace {
/// A buffer: dims are separated by blanks and may have a multiplier or a divisor.
struct Row {
  const char *name, *role, *scope, *dims, *alias, *when;
};

constexpr Row kTable[] = {
    {"token_emb", "weight", "global", "vocab aligned_embed", "", ""},
    {"pos_emb", "weight", "global", "tokens aligned_embed", "", ""},
    {"embedded_input", "activation", "global", "tokens aligned_embed", "", ""},
    {"rope_cos_cache", "activation", "global", "tokens head_dim/2", "", "rope_theta"},
    {"rope_sin_cache", "activation", "global", "tokens head_dim/2", "", "rope_theta"},
    {"final_ln_weight", "weight", "global", "aligned_embed", "", ""},
    {"final_ln_bias", "weight", "global", "aligned_embed", "", ""},
    {"final_ln_mean", "activation", "global", "tokens", "", ""},
    {"final_ln_rstd", "activation", "global", "tokens", "", ""},
    {"final_output", "activation", "global", "tokens aligned_embed", "", ""},
    {"lm_head_weight", "weight", "global", "vocab aligned_embed", "token_emb", ""},
    {"logits", "activation", "global", "tokens vocab", "", ""},
    {"d_token_emb", "grad", "global", "vocab aligned_embed", "", ""},
    {"d_pos_emb", "grad", "global", "tokens aligned_embed", "", ""},
    {"d_final_output", "grad", "global", "tokens aligned_embed", "", ""},
    {"d_final_input", "grad", "global", "tokens aligned_embed", "", ""},
    {"d_final_ln_weight", "grad", "global", "aligned_embed", "", ""},
    {"d_logits", "grad", "global", "tokens vocab", "", ""},
    {"input", "input", "layer", "tokens aligned_embed", "", ""},
    {"ln1_gamma", "weight", "layer", "aligned_embed", "", ""},
    {"ln1_out", "output", "layer", "tokens aligned_embed", "", ""},
    {"ln1_rstd", "activation", "layer", "tokens", "", ""},
    {"wq", "weight", "layer", "num_heads aligned_head aligned_embed", "", ""},
    {"bq", "weight", "layer", "num_heads aligned_head", "", ""},
    {"wk", "weight", "layer", "num_kv_heads aligned_head aligned_embed", "", ""},
    {"bk", "weight", "layer", "num_kv_heads aligned_head", "", ""},
    {"wv", "weight", "layer", "num_kv_heads aligned_head aligned_embed", "", ""},
    {"bv", "weight", "layer", "num_kv_heads aligned_head", "", ""},
    {"q", "output", "layer", "num_heads tokens aligned_head", "", ""},
    {"k", "output", "layer", "num_kv_heads tokens aligned_head", "", ""},
    {"v", "output", "layer", "num_kv_heads tokens aligned_head", "", ""},
    {"scores", "activation", "layer", "num_heads aligned_ctx aligned_ctx", "", "training_enabled"},
    {"attn_out", "output", "layer", "num_heads tokens aligned_head", "", ""},
    {"wo", "weight", "layer", "num_heads aligned_embed aligned_head", "", ""},
    {"bo", "weight", "layer", "aligned_embed", "", ""},
    {"proj_tmp", "output", "layer", "tokens aligned_embed", "", ""},
    {"proj_scratch", "scratch", "layer", "tokens aligned_embed", "", ""},
    {"residual1", "output", "layer", "tokens aligned_embed", "", ""},
    {"ln2_gamma", "weight", "layer", "aligned_embed", "", ""},
    {"ln2_out", "output", "layer", "tokens aligned_embed", "", ""},
    {"ln2_rstd", "activation", "layer", "tokens", "", ""},
    {"w1", "weight", "layer", "aligned_intermediate*2 aligned_embed", "", ""},
    {"b1", "weight", "layer", "aligned_intermediate*2", "", ""},
    {"fc1_out", "output", "layer", "tokens aligned_intermediate*2", "", ""},
    {"swiglu_out", "output", "layer", "tokens aligned_intermediate", "", ""},
    {"w2", "weight", "layer", "aligned_embed aligned_intermediate", "", ""},
    {"b2", "weight", "layer", "aligned_embed", "", ""},
    {"mlp_out", "output", "layer", "tokens aligned_embed", "", ""},
    {"output", "output", "layer", "tokens aligned_embed", "", ""},
    {"d_output", "grad", "layer", "tokens aligned_embed", "", ""},
    {"d_residual1", "grad", "layer", "tokens aligned_embed", "", ""},
    {"d_mlp_out", "grad", "layer", "tokens aligned_embed", "", ""},
    {"d_swiglu_out", "grad", "layer", "tokens aligned_intermediate", "", ""},
    {"d_w2", "grad", "layer", "aligned_embed aligned_intermediate", "", ""},
    {"d_b2", "grad", "layer", "aligned_embed", "", ""},
    {"d_fc1_out", "grad", "layer", "tokens aligned_intermediate*2", "", ""},
    {"d_ln2_out", "grad", "layer", "tokens aligned_embed", "", ""},
    {"d_w1", "grad", "layer", "aligned_intermediate*2 aligned_embed", "", ""},
    {"d_b1", "grad", "layer", "aligned_intermediate*2", "", ""},
    {"d_ln2_gamma", "grad", "layer", "aligned_embed", "", ""},
    {"d_input", "grad", "layer", "tokens aligned_embed", "", ""},
    {"d_proj_tmp", "grad", "layer", "tokens aligned_embed", "", ""},
    {"d_attn_out", "grad", "layer", "num_heads tokens aligned_head", "", ""},
    {"d_wo", "grad", "layer", "num_heads aligned_embed aligned_head", "", ""},
    {"d_bo", "grad", "layer", "aligned_embed", "", ""},
    {"d_q", "grad", "layer", "num_heads tokens aligned_head", "", ""},
    {"d_k", "grad", "layer", "num_kv_heads tokens aligned_head", "", ""},
    {"d_v", "grad", "layer", "num_kv_heads tokens aligned_head", "", ""},
    {"d_scores", "grad", "layer", "num_heads aligned_ctx aligned_ctx", "", ""},
    {"d_ln1_out", "grad", "layer", "tokens aligned_embed", "", ""},
    {"d_wq", "grad", "layer", "num_heads aligned_head aligned_embed", "", ""},
    {"d_bq", "grad", "layer", "num_heads aligned_head", "", ""},
    {"d_wk", "grad", "layer", "num_kv_heads aligned_head aligned_embed", "", ""},
    {"d_bk", "grad", "layer", "num_kv_heads aligned_head", "", ""},
    {"d_wv", "grad", "layer", "num_kv_heads aligned_head aligned_embed", "", ""},
    {"d_bv", "grad", "layer", "num_kv_heads aligned_head", "", ""},
    {"d_ln1_gamma", "grad", "layer", "aligned_embed", "", ""},
};

class DecoderBuilder {
public:
  DecoderBuilder(MLIRContext &context, const StandardDecoder &sizes)
      : sizes(sizes), builder(&context), module(ModuleOp::create(builder.getUnknownLoc())) {}

  OwningOpRef<ModuleOp> build();

private:
  int64_t extent(StringRef dim) const;
  RankedTensorType typeOf(const Row &row) const;
  void declareBuffers();
  Value param(StringRef name);
  /// A location with the names of an op's results.
  Location namedLists(ArrayRef<SmallVector<std::string>> names) {
    return nameResultLists(builder.getUnknownLoc(), names);
  }
  Location named(StringRef name) { return NameLoc::get(builder.getStringAttr(name)); }
  RankedTensorType tensor(ArrayRef<int64_t> shape) const {
    return RankedTensorType::get(shape, Float32Type::get(builder.getContext()));
  }
  Value add(StringRef name, Value a, Value b);
  Value embed(Value ids, Value positions);
  Value attend(Value input, Value positions);
  Value feedForward(Value residual);

  const StandardDecoder &sizes;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
};
} // namespace

int64_t DecoderBuilder::extent(StringRef dim) const {
  int64_t factor = 1, divisor = 1;
  auto [name, multiplier] = dim.split('*');
  auto [base, divided] = name.split('/');
  if (!multiplier.empty())
    multiplier.getAsInteger(10, factor);
  if (!divided.empty())
    divided.getAsInteger(10, divisor);
  int64_t value = llvm::StringSwitch<int64_t>(base)
                      .Case("tokens", sizes.tokens)
                      .Case("vocab", sizes.vocab)
                      .Case("num_heads", sizes.heads)
                      .Case("num_kv_heads", sizes.kvHeads)
                      .Cases({"head_dim", "aligned_head"}, sizes.head)
                      .Case("aligned_embed", sizes.embed)
                      .Case("aligned_intermediate", sizes.intermediate)
                      .Case("aligned_ctx", sizes.context);
  return value * factor / divisor;
}

/// Projections of the input take heads and their width as one dim.
static bool joinsHeads(StringRef name) {
  name.consume_front("d_");
  return llvm::is_contained({"wq", "wk", "wv", "bq", "bk", "bv"}, name);
}

RankedTensorType DecoderBuilder::typeOf(const Row &row) const {
  SmallVector<StringRef> dims;
  StringRef(row.dims).split(dims, ' ');
  SmallVector<int64_t> shape;
  for (StringRef dim : dims)
    shape.push_back(extent(dim));
  if (joinsHeads(row.name)) {
    shape[1] *= shape[0];
    shape.erase(shape.begin());
  }
  return tensor(shape);
}

void DecoderBuilder::declareBuffers() {
  builder.setInsertionPointToStart(module->getBody());
  for (const Row &row : kTable) {
    SmallVector<StringRef> dims;
    StringRef(row.dims).split(dims, ' ');
    OperationState state(named(row.name), BufferOp::getOperationName());
    state.addAttribute("sym_name", builder.getStringAttr(row.name));
    state.addAttribute("role", builder.getStringAttr(row.role));
    state.addAttribute("scope", builder.getStringAttr(row.scope));
    state.addAttribute("type", TypeAttr::get(typeOf(row)));
    state.addAttribute("dims", builder.getStrArrayAttr(dims));
    if (*row.alias)
      state.addAttribute("alias", FlatSymbolRefAttr::get(builder.getContext(), row.alias));
    if (*row.when)
      state.addAttribute("when", builder.getStringAttr(row.when));
    // What the table has a gradient for is trained.
    auto isGradient = [&](const Row &other) { return StringRef(other.name) == ("d_" + Twine(row.name)).str(); };
    if (StringRef(row.role) == "weight" && llvm::any_of(kTable, isGradient))
      state.addAttribute("trainable", builder.getUnitAttr());
    builder.create(state);
  }
}

Value DecoderBuilder::param(StringRef name) {
  const Row *row = llvm::find_if(kTable, [&](const Row &row) { return row.name == name; });
  return ParamOp::create(builder, named(name), typeOf(*row), name);
}

Value DecoderBuilder::add(StringRef name, Value a, Value b) {
  return AddOp::create(builder, named(name), a.getType(), a, b, llvm::APFloat(1.0), llvm::APFloat(1.0));
}

Value DecoderBuilder::embed(Value ids, Value positions) {
  Type rows = tensor({sizes.tokens, sizes.embed});
  Value words = EmbeddingOp::create(builder, named("token_rows"), rows, ids, param("token_emb"), Value());
  Value places = EmbeddingOp::create(builder, named("pos_rows"), rows, positions, param("pos_emb"), Value());
  Value sum = add("embedded_input", words, places);
  sum.getDefiningOp()->setLoc(namedLists({{"input", "embedded_input"}}));
  return sum;
}

Value DecoderBuilder::attend(Value input, Value positions) {
  Type rows = tensor({sizes.tokens, sizes.embed}), stats = tensor({sizes.tokens});
  Type queries = tensor({sizes.heads, sizes.tokens, sizes.head}),
       keys = tensor({sizes.kvHeads, sizes.tokens, sizes.head});
  auto norm = RmsNormOp::create(builder, namedLists({{"ln1_out"}, {"ln1_rstd"}}), rows, stats, input,
                                param("ln1_gamma"), llvm::APFloat(sizes.eps), "weight", /*save_rstd=*/true);
  auto qkv = QkvLinearOp::create(builder, namedLists({{"q"}, {"k"}, {"v"}}), queries, keys, keys, norm.getOutput(),
                                 param("wq"), param("wk"), param("wv"), param("bq"), param("bk"), param("bv"),
                                 "head_major", sizes.heads, sizes.kvHeads);
  Type table = tensor({sizes.tokens, sizes.head / 2});
  auto tables = RopeTableOp::create(builder, namedLists({{"rope_cos_cache"}, {"rope_sin_cache"}}), table, table,
                                    sizes.tokens, sizes.head, llvm::APFloat(sizes.theta), "none", llvm::APFloat(1.0),
                                    llvm::APFloat(1.0), llvm::APFloat(4.0), 0);
  auto rope = RopeOp::create(builder, namedLists({{"q"}, {"k"}}), queries, keys, qkv.getQ(), qkv.getK(), positions,
                             tables.getCos(), tables.getSin(), "half", sizes.head, "head_major");
  auto attention =
      AttentionOp::create(builder, namedLists({{"attn_out"}, {"scores"}}), queries, Type(), rope.getQOut(),
                          rope.getKOut(), qkv.getV(), Value(), Value(), Value(), sizes.heads, sizes.kvHeads,
                          "head_major", "causal", 0, llvm::APFloat(0.0), llvm::APFloat(0.0), "none");
  Value projected =
      OutLinearOp::create(builder, named("proj_tmp"), rows, attention.getOutput(), param("wo"), param("bo"));
  return add("residual1", input, projected);
}

Value DecoderBuilder::feedForward(Value residual) {
  Type rows = tensor({sizes.tokens, sizes.embed}), stats = tensor({sizes.tokens});
  auto norm = RmsNormOp::create(builder, namedLists({{"ln2_out"}, {"ln2_rstd"}}), rows, stats, residual,
                                param("ln2_gamma"), llvm::APFloat(sizes.eps), "weight", /*save_rstd=*/true);
  Value up = LinearOp::create(builder, named("fc1_out"), tensor({sizes.tokens, 2 * sizes.intermediate}),
                              norm.getOutput(), param("w1"), param("b1"));
  Value gated =
      GluOp::create(builder, named("swiglu_out"), tensor({sizes.tokens, sizes.intermediate}), up, Value(), "silu");
  Value down = LinearOp::create(builder, named("mlp_out"), rows, gated, param("w2"), param("b2"));
  Value output = add("output", residual, down);
  output.getDefiningOp()->setLoc(namedLists({{"output", "final_input"}}));
  return output;
}

OwningOpRef<ModuleOp> DecoderBuilder::build() {
  module.get()->setAttr("ck.model", builder.getStringAttr("standard_decoder"));
  declareBuffers();
  Type index = RankedTensorType::get({sizes.tokens}, builder.getI32Type()), loss = tensor({1});
  auto entry =
      func::FuncOp::create(builder, named("step"), "step", builder.getFunctionType({index, index, index}, {loss}));
  entry->setAttr("ck.entry", builder.getUnitAttr());
  Block *block = entry.addEntryBlock();
  const StringRef inputNames[] = {"tokens", "positions", "targets"};
  for (auto [i, name] : llvm::enumerate(inputNames))
    entry.setArgAttr(i, "ck.input", builder.getStringAttr(name));
  entry.setResultAttr(0, "ck.output", builder.getStringAttr("loss"));
  entry.setResultAttr(0, "ck.loss", builder.getUnitAttr());

  builder.setInsertionPointToStart(block);
  Value input = embed(block->getArgument(0), block->getArgument(1));
  Operation *before = &block->back();
  Value output = feedForward(attend(input, block->getArgument(1)));
  for (Operation *op = before->getNextNode(); op; op = op->getNextNode())
    if (!isa<ParamOp, RopeTableOp>(op))
      op->setAttr("ck.layer", builder.getI64IntegerAttr(0));

  Type rows = tensor({sizes.tokens, sizes.embed}), stats = tensor({sizes.tokens});
  auto norm = LayerNormOp::create(builder, namedLists({{"final_output"}, {"final_ln_mean"}, {"final_ln_rstd"}}), rows,
                                  SmallVector<Type>{stats, stats}, output, param("final_ln_weight"),
                                  param("final_ln_bias"), llvm::APFloat(sizes.eps), /*save_stats=*/true);
  Value logits = HeadLinearOp::create(builder, named("logits"), tensor({sizes.tokens, sizes.vocab}), norm.getOutput(),
                                      param("lm_head_weight"), "vocab_major", llvm::APFloat(0.0));
  auto entropy = CrossEntropyOp::create(builder, named("loss"), loss, Type(), logits, block->getArgument(2), Value());
  func::ReturnOp::create(builder, builder.getUnknownLoc(), entropy.getLoss());
  return std::move(module);
}

OwningOpRef<ModuleOp> ck::buildStandardDecoder(MLIRContext &context, const StandardDecoder &sizes) {
  context.loadDialect<CKDialect, func::FuncDialect>();
  return DecoderBuilder(context, sizes).build();
}
