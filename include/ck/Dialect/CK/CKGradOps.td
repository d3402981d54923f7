//===- CKGradOps.td - gradients of ops --------------------------*- tablegen -*-===//
//
// `x_grad` computes what the cotangents of `x`'s results, its operands `d_<result>`, say about its operands. `wrt` names
// those whose gradients are wanted, in the order of the signature; the gradient of `input` is the result `d_input`.
// `accumulate` names a group of gradients that are added to operands of the same names, given behind `into`. Gradients are
// f32 whatever their operands are stored in, except where an op says otherwise; a weight of blocks is frozen and has none.
//
//===----------------------------------------------------------------------===//
#ifndef CK_GRADOPS_TD
#define CK_GRADOPS_TD

include "ck/Dialect/CK/CKDialect.td"
include "mlir/IR/BuiltinAttributes.td"

def CK_Wrt : TypedArrayAttrBase<StrAttr, "array of names of differentiated operands">;

/// A gradient op. `tableBody` returns the ::ck::GradientTable of an instance: its operands as a signature, and a line for
/// each gradient that it can give. `operands` are ODS operands and attributes, to which the class adds `into`, `wrt` and
/// `accumulate` as the op has them. `modes` are the values of `accumulate` besides "none".
class CK_GradOp<string mnemonic, dag operands, bit hasWrt, list<string> modes, list<Trait> traits = []>
    : CK_GraphOp<mnemonic, traits # [GradientOpInterface]> {
  code tableBody = "";
  let intoGroup = !not(!empty(modes));
  let arguments = !con(operands,
                       !if(!empty(modes), (ins),
                           (ins Variadic<AnyRankedTensor>:$into, CK_KeywordOr<["none"] # modes, "none">:$accumulate)),
                       !if(hasWrt, (ins CK_Wrt:$wrt), (ins)));
  let results = (outs Variadic<AnyRankedTensor>:$gradients);
  let shapeAttributes = !if(hasWrt, ["wrt"], []<string>);
  defvar wrt = !if(hasWrt, "op.getWrt()", "::mlir::ArrayAttr()");
  defvar accumulate = !if(!empty(modes), "\"none\"", "op.getAccumulate()");
  let declarations = [{
    template <typename OpOrAdaptor> static ::ck::GradientTable gradientTableOf(OpOrAdaptor op) {
  }] # tableBody # [{
    }
    ::ck::GradientTable getGradientTable() { return gradientTableOf(Adaptor(*this)); }
    ::mlir::ArrayAttr getWrtNames() { auto op = *this; (void)op; return }] # wrt # [{; }
    ::llvm::StringRef getAccumulateMode() { auto op = *this; (void)op; return }] # accumulate # [{; }
    unsigned getIntoCount() { auto op = *this; (void)op; return }] #
    !if(!empty(modes), "0", "op.getInto().size()") # [{; }
    ::llvm::SmallVector<::llvm::StringRef> getAccumulateModes() {
      return {}] # !interleave(!foreach(mode, modes, "\"" # mode # "\""), ", ") # [{};
    }
  }];
  let signatureBody = [{ return ::ck::gradientSignature(gradientTableOf(op), }] # wrt # ", " # accumulate # [{); }];
}

//===----------------------------------------------------------------------===//
// Linear
//===----------------------------------------------------------------------===//

def CK_LinearGradOp : CK_GradOp<"linear_grad",
    (ins AnyRankedTensor:$d_output, AnyRankedTensor:$input, AnyRankedTensor:$weight), 1, ["params", "input", "all"]> {
  let summary = "gradient of ck.linear";
  let description = [{
    `d_input[t,k] = sum_n d_output[t,n] * weight[n,k]`, `d_weight[n,k] = sum_t d_output[t,n] * input[t,k]`,
    `d_bias[n] = sum_t d_output[t,n]`.

    Example:

    ```mlir
    %dx, %dw = ck.linear_grad %dy, %x, %w into %dw0 {wrt = ["input", "weight"], accumulate = "params"}
        : (tensor<4x32xf32>, tensor<4x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>)
        -> (tensor<4x64xf32>, tensor<32x64xf32>)
    ```
  }];
  let tableBody = [{
    return {"d_output[...T,N]:f32, input[...T,K]:$A, weight[N,K]:$W",
            {{"input", "[...T,K]"}, {"weight", "[N,K]", true}, {"bias", "[N]", true}}};
  }];
  let assemblyFormat = [{
    $d_output `,` $input `,` $weight (`into` $into^)? attr-dict `:` functional-type(operands, results)
  }];
}

def CK_QkvLinearGradOp : CK_GradOp<"qkv_linear_grad",
    (ins AnyRankedTensor:$d_q, AnyRankedTensor:$d_k, AnyRankedTensor:$d_v, AnyRankedTensor:$input,
         AnyRankedTensor:$wq, AnyRankedTensor:$wk, AnyRankedTensor:$wv,
         CK_KeywordOr<["token_major", "head_major"], "token_major">:$layout,
         DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$heads,
         DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$kv_heads), 1, ["params"]> {
  let summary = "gradient of ck.qkv_linear";
  let description = [{
    The gradients of the three projections; `d_input` is the sum of theirs:
    `d_input = d_q wq + d_k wk + d_v wv`, `d_wq = d_q^T input`, `d_bq = sum_t d_q[t,:]`, and so on. `layout`, `heads` and
    `kv_heads` are those of the op.

    Example:

    ```mlir
    %dx, %dwq, %dwk, %dwv = ck.qkv_linear_grad %dq, %dk, %dv, %x, %wq, %wk, %wv {wrt = ["input", "wq", "wk", "wv"]}
        : (tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x64xf32>, tensor<64x64xf32>,
           tensor<32x64xf32>, tensor<32x64xf32>)
        -> (tensor<4x64xf32>, tensor<64x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>)
    ```
  }];
  let tableBody = [{
    bool tokens = op.getLayout() == "token_major";
    std::string nq = tokens ? "NQ" : "$heads*D", nk = tokens ? "NK" : "$kv_heads*D", nv = tokens ? "NV" : "$kv_heads*D";
    std::string outputs = tokens ? "d_q[T,NQ]:f32, d_k[T,NK]:f32, d_v[T,NV]:f32"
                                 : "d_q[$heads,T,D]:f32, d_k[$kv_heads,T,D]:f32, d_v[$kv_heads,T,D]:f32";
    return {outputs + ", input[T,E]:$A, wq[" + nq + ",E]:$WQ, wk[" + nk + ",E]:$WK, wv[" + nv + ",E]:$WV",
            {{"input", "[T,E]"}, {"wq", "[" + nq + ",E]", true}, {"wk", "[" + nk + ",E]", true},
             {"wv", "[" + nv + ",E]", true}, {"bq", "[" + nq + "]", true}, {"bk", "[" + nk + "]", true},
             {"bv", "[" + nv + "]", true}}};
  }];
  let assemblyFormat = [{
    $d_q `,` $d_k `,` $d_v `,` $input `,` $wq `,` $wk `,` $wv (`into` $into^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def CK_OutLinearGradOp : CK_GradOp<"out_linear_grad",
    (ins AnyRankedTensor:$d_output, AnyRankedTensor:$input, AnyRankedTensor:$weight), 1, ["params"]> {
  let summary = "gradient of ck.out_linear";
  let description = [{
    `d_input[h,t,d] = sum_n d_output[t,n] * weight[h,n,d]`, `d_weight[h,n,d] = sum_t d_output[t,n] * input[h,t,d]`,
    `d_bias[n] = sum_t d_output[t,n]`.

    Example:

    ```mlir
    %dx, %dw, %db = ck.out_linear_grad %dy, %x, %w {wrt = ["input", "weight", "bias"]}
        : (tensor<4x64xf32>, tensor<8x4x16xf32>, tensor<8x64x16xf32>)
        -> (tensor<8x4x16xf32>, tensor<8x64x16xf32>, tensor<64xf32>)
    ```
  }];
  let tableBody = [{
    return {"d_output[T,N]:f32, input[H,T,D]:f32, weight[H,N,D]:f32",
            {{"input", "[H,T,D]"}, {"weight", "[H,N,D]", true}, {"bias", "[N]", true}}};
  }];
  let assemblyFormat = [{
    $d_output `,` $input `,` $weight (`into` $into^)? attr-dict `:` functional-type(operands, results)
  }];
}

def CK_HeadLinearGradOp : CK_GradOp<"head_linear_grad",
    (ins AnyRankedTensor:$d_logits, AnyRankedTensor:$input, AnyRankedTensor:$weight,
         CK_KeywordOr<["vocab_major", "embed_major"], "vocab_major">:$w_layout), 1, ["params"]> {
  let summary = "gradient of ck.head_linear without softcap";
  let description = [{
    `d_input[t,e] = sum_v d_logits[t,v] * weight[v,e]`, `d_weight[v,e] = sum_t d_logits[t,v] * input[t,e]`; with
    `w_layout = "embed_major"` weight and gradient are `[E, V]`. A head with a softcap is differentiated as the head
    followed by `ck.activation`.

    Example:

    ```mlir
    %dx, %dw = ck.head_linear_grad %dl, %x, %w {wrt = ["input", "weight"]}
        : (tensor<4x512xf32>, tensor<4x64xf32>, tensor<512x64xf32>) -> (tensor<4x64xf32>, tensor<512x64xf32>)
    ```
  }];
  let tableBody = [{
    std::string weight = op.getWLayout() == "vocab_major" ? "[V,E]" : "[E,V]";
    return {"d_logits[T,V]:f32, input[T,E]:$A, weight" + weight + ":$W",
            {{"input", "[T,E]"}, {"weight", weight, true}}};
  }];
  let assemblyFormat = [{
    $d_logits `,` $input `,` $weight (`into` $into^)? attr-dict `:` functional-type(operands, results)
  }];
}

def CK_EmbeddingGradOp : CK_GradOp<"embedding_grad",
    (ins AnyRankedTensor:$ids, AnyRankedTensor:$d_output, ConfinedAttr<I64Attr, [IntPositive]>:$rows), 0, ["params"]> {
  let summary = "gradient of ck.embedding";
  let description = [{
    `d_table[v,:] = sum_{t: ids[t] = v} d_output[t,:]` with `rows` rows, summed in ascending t, so that the bits do not
    depend on threads. Rows without a token are 0. An id outside `[0, rows)` fails as in `ck.embedding`.

    Example:

    ```mlir
    %dt = ck.embedding_grad %ids, %dy {rows = 512 : i64} : (tensor<4xi32>, tensor<4x64xf32>) -> tensor<512x64xf32>
    ```
  }];
  let tableBody = [{ return {"ids[T]:i32, d_output[T,E]:f32", {{"table", "[$rows,E]", true, true}}}; }];
  let assemblyFormat = [{
    $ids `,` $d_output (`into` $into^)? attr-dict `:` functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Norm
//===----------------------------------------------------------------------===//

def CK_RmsNormGradOp : CK_GradOp<"rms_norm_grad",
    (ins AnyRankedTensor:$d_output, AnyRankedTensor:$input, Optional<CK_Floats>:$gamma, AnyRankedTensor:$rstd,
         Optional<AnyRankedTensor>:$input_scale, DefaultValuedStrAttr<CK_NormGain, "weight">:$gain,
         CK_KeywordOr<["none", "int8", "int4"], "none">:$codes), 1, ["params", "input", "all"],
    [AttrSizedOperandSegments]> {
  let summary = "gradient of ck.rms_norm";
  let description = [{
    With `x = input`, `r = rstd` and the gain g of the op:
    `d_input[t,e] = r[t] * (g[e] d_output[t,e] - x[t,e] r[t]^2 mean_e'(g[e'] d_output[t,e'] x[t,e']))`,
    `d_gamma[e] = sum_t d_output[t,e] * x[t,e] * r[t]`. The input may be codes with `input_scale`, as in `ck.rms_norm`; then
    x is what they stand for. The factor `scale` of that op has no part here.

    Example:

    ```mlir
    %dx, %dg = ck.rms_norm_grad %dy, %x gamma %g rstd %r {wrt = ["input", "gamma"]}
        : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<64xf32>, tensor<4xf32>) -> (tensor<4x64xf32>, tensor<64xf32>)
    ```
  }];
  let tableBody = [{
    std::string E = op.getCodes() == "int4" ? "2*B" : "E";
    std::string input = op.getCodes() == "none" ? "E]:$X" : op.getCodes() == "int8" ? "E]:i8" : "B]:u8";
    return {"d_output[...T," + E + "]:f32, input[...T," + input + ", gamma[" + E + "]:$G?, rstd[...T]:f32, " +
                "input_scale[...T]:f32" + (op.getCodes() == "none" ? "?" : ""),
            {{"input", "[...T," + E + "]"}, {"gamma", "[" + E + "]", true}}};
  }];
  let assemblyFormat = [{
    $d_output `,` $input (`gamma` $gamma^)? `rstd` $rstd (`scales` $input_scale^)? (`into` $into^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def CK_LayerNormGradOp : CK_GradOp<"layer_norm_grad",
    (ins AnyRankedTensor:$d_output, AnyRankedTensor:$input, AnyRankedTensor:$gamma, AnyRankedTensor:$mean,
         AnyRankedTensor:$rstd), 1, ["params", "input", "all"]> {
  let summary = "gradient of ck.layer_norm";
  let description = [{
    With `x = (input - mean) * rstd` and `h = gamma * d_output`:
    `d_input[t,e] = rstd[t] * (h[t,e] - mean_e'(h[t,e']) - x[t,e] mean_e'(h[t,e'] x[t,e']))`,
    `d_gamma[e] = sum_t d_output[t,e] * x[t,e]`, `d_beta[e] = sum_t d_output[t,e]`.

    Example:

    ```mlir
    %dx, %dg, %db = ck.layer_norm_grad %dy, %x, %g stats %m, %r {wrt = ["input", "gamma", "beta"]}
        : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<64xf32>, tensor<4xf32>, tensor<4xf32>)
        -> (tensor<4x64xf32>, tensor<64xf32>, tensor<64xf32>)
    ```
  }];
  let tableBody = [{
    return {"d_output[...T,E]:f32, input[...T,E]:f32, gamma[E]:f32, mean[...T]:f32, rstd[...T]:f32",
            {{"input", "[...T,E]"}, {"gamma", "[E]", true}, {"beta", "[E]", true}}};
  }];
  let assemblyFormat = [{
    $d_output `,` $input `,` $gamma `stats` $mean `,` $rstd (`into` $into^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def CK_QkNormGradOp : CK_GradOp<"qk_norm_grad",
    (ins AnyRankedTensor:$d_q_out, AnyRankedTensor:$d_k_out, AnyRankedTensor:$q, AnyRankedTensor:$k,
         AnyRankedTensor:$q_gamma, AnyRankedTensor:$k_gamma, F64Attr:$eps,
         ConfinedAttr<I64Attr, [IntPositive]>:$head_dim,
         CK_KeywordOr<["weight", "one_plus_weight"], "weight">:$gain,
         CK_KeywordOr<["token_major", "head_major"], "token_major">:$layout), 1, ["params"]> {
  let summary = "gradient of ck.qk_norm";
  let description = [{
    The gradient of `ck.rms_norm` for every head of every row; the scales of rows are computed again. The gradients of the
    gains are sums over heads and rows.

    Example:

    ```mlir
    %dq, %dk, %dgq, %dgk = ck.qk_norm_grad %dq1, %dk1, %q, %k gains %gq, %gk
        {eps = 1.0e-6 : f64, head_dim = 8 : i64, wrt = ["q", "k", "q_gamma", "k_gamma"]}
        : (tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x64xf32>, tensor<4x32xf32>, tensor<8xf32>, tensor<8xf32>)
        -> (tensor<4x64xf32>, tensor<4x32xf32>, tensor<8xf32>, tensor<8xf32>)
    ```
  }];
  let tableBody = [{
    std::string q = ::ck::headDims("H", op.getLayout()), k = ::ck::headDims("KV", op.getLayout()), g = "[$head_dim]";
    return {"d_q_out" + q + ":f32, d_k_out" + k + ":f32, q" + q + ":f32, k" + k + ":f32, q_gamma" + g +
                ":f32, k_gamma" + g + ":f32",
            {{"q", q}, {"k", k}, {"q_gamma", g, true}, {"k_gamma", g, true}}};
  }];
  let assemblyFormat = [{
    $d_q_out `,` $d_k_out `,` $q `,` $k `gains` $q_gamma `,` $k_gamma (`into` $into^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

def CK_AttentionGradOp : CK_GradOp<"attention_grad",
    (ins AnyRankedTensor:$d_output, AnyRankedTensor:$q, AnyRankedTensor:$k, AnyRankedTensor:$v, AnyRankedTensor:$output,
         AnyRankedTensor:$lse, Optional<AnyRankedTensor>:$sinks, Optional<AnyRankedTensor>:$seqs,
         ConfinedAttr<I64Attr, [IntPositive]>:$heads, ConfinedAttr<I64Attr, [IntPositive]>:$kv_heads,
         CK_Keyword<["token_major", "head_major"]>:$layout,
         CK_KeywordOr<["causal", "sliding", "full"], "causal">:$mask,
         DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$window,
         DefaultValuedAttr<F64Attr, "0.0">:$scale, DefaultValuedAttr<F64Attr, "0.0">:$softcap), 1, [],
    [AttrSizedOperandSegments]> {
  let summary = "gradient of ck.attention from its log-sum-exp";
  let description = [{
    With `p[h,t,j] = exp(s[h,t,j] - lse[h,t])` computed again (s as in `ck.attention`), `g = h / (heads / kv_heads)` and
    `b[h,t] = d_output[t,h,:] . output[t,h,:]`:
    `d_v[g,j,:] = sum_h,t p d_output[t,h,:]`, `d_s = p * (d_output[t,h,:] . v[g,j,:] - b)`, through the softcap
    `d_x = d_s * (1 - (s/softcap)^2)`, `d_q[t,h,:] = scale sum_j d_x k[g,j,:]`, `d_k[g,j,:] = scale sum_h,t d_x q[t,h,:]`,
    `d_sinks[h] = -sum_t exp(sinks[h] - lse[h,t]) b[h,t]`. Nothing quadratic is stored. (Dao et al., FlashAttention, 2022.)

    Example:

    ```mlir
    %dq, %dk, %dv = ck.attention_grad %do, %q, %k, %v, %o, %lse
        {heads = 8 : i64, kv_heads = 4 : i64, layout = "token_major", wrt = ["q", "k", "v"]}
        : (tensor<6x64xf32>, tensor<6x64xf32>, tensor<6x32xf32>, tensor<6x32xf32>, tensor<6x64xf32>, tensor<8x6xf32>)
        -> (tensor<6x64xf32>, tensor<6x32xf32>, tensor<6x32xf32>)
    ```
  }];
  let tableBody = [{
    std::string q = ::ck::headDims("$heads", op.getLayout(), "D"), k = ::ck::headDims("$kv_heads", op.getLayout(), "D");
    return {"d_output" + q + ":f32, q" + q + ":f32, k" + k + ":f32, v" + k + ":f32, output" + q +
                ":f32, lse[$heads,T]:f32, sinks[$heads]:f32?, seqs[B]:i32?",
            {{"q", q}, {"k", k}, {"v", k}, {"sinks", "[$heads]", true}}};
  }];
  let assemblyFormat = [{
    $d_output `,` $q `,` $k `,` $v `,` $output `,` $lse (`sinks` $sinks^)? (`seqs` $seqs^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def CK_AttentionProbsGradOp : CK_GradOp<"attention_probs_grad",
    (ins CK_Floats:$d_output, CK_Floats:$q, CK_Floats:$k, CK_Floats:$v, AnyRankedTensor:$probs,
         ConfinedAttr<I64Attr, [IntPositive]>:$heads, ConfinedAttr<I64Attr, [IntPositive]>:$kv_heads,
         CK_Keyword<["token_major", "head_major"]>:$layout, DefaultValuedAttr<F64Attr, "0.0">:$scale), 1, []> {
  let summary = "gradient of ck.attention from its stored probabilities";
  let description = [{
    As `ck.attention_grad`, with `p = probs` from `save = "probs"`: the mask is where p is 0. Softcap and sinks have no part
    in it. Operands and gradients, but for the probabilities and their scores, are f32 or all bf16. `d_scores[h,t,j] = p * (d_output[t,h,:] . v[g,j,:] - sum_j' p (d_output[t,h,:] . v[g,j',:]))` is always a
    result, the last one.

    Example:

    ```mlir
    %dq, %dk, %dv, %ds = ck.attention_probs_grad %do, %q, %k, %v, %p
        {heads = 8 : i64, kv_heads = 4 : i64, layout = "head_major", wrt = ["q", "k", "v"]}
        : (tensor<8x6x16xf32>, tensor<8x6x16xf32>, tensor<4x6x16xf32>, tensor<4x6x16xf32>, tensor<8x6x6xf32>)
        -> (tensor<8x6x16xf32>, tensor<4x6x16xf32>, tensor<4x6x16xf32>, tensor<8x6x6xf32>)
    ```
  }];
  let tableBody = [{
    std::string q = ::ck::headDims("$heads", op.getLayout(), "D"), k = ::ck::headDims("$kv_heads", op.getLayout(), "D");
    return {"d_output" + q + ":$G, q" + q + ":$G, k" + k + ":$G, v" + k + ":$G, probs[$heads,T,T]:f32",
            {{"q", q, false, false, "$G"},
             {"k", k, false, false, "$G"},
             {"v", k, false, false, "$G"},
             {"scores", "[$heads,T,T]", false, true}}};
  }];
  let assemblyFormat = [{
    $d_output `,` $q `,` $k `,` $v `,` $probs attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Pointwise
//===----------------------------------------------------------------------===//

def CK_GluGradOp : CK_GraphOp<"glu_grad"> {
  let summary = "gradient of ck.glu";
  let description = [{
    `d_gate = d_output * up * act'(gate)`, `d_up = d_output * act(gate)`. As in `ck.glu`, one operand may hold both: then
    the one result holds both gradients, that of the gate in the first half of each row.

    Example:

    ```mlir
    %dg, %du = ck.glu_grad %dy, %g, %u {act = "silu"}
        : (tensor<4x172xf32>, tensor<4x172xf32>, tensor<4x172xf32>) -> (tensor<4x172xf32>, tensor<4x172xf32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$d_output, CK_Floats:$gate, Optional<CK_Floats>:$up,
                   CK_Keyword<CK_GluKinds>:$act);
  let results = (outs AnyRankedTensor:$d_gate, Optional<AnyRankedTensor>:$d_up);
  let rowwise = "true";
  let signatureBody = [{
    return op.getUp() ? "d_output[...T,F]:f32, gate[...T,F]:$X, up[...T,F]:$X -> d_gate[...T,F]:f32, d_up[...T,F]:f32"
                      : "d_output[...T,F]:f32, gate[...T,2*F]:$X, up[...T,F]:$X? -> d_gate[...T,2*F]:f32";
  }];
  let assemblyFormat = "$d_output `,` $gate (`,` $up^)? attr-dict `:` functional-type(operands, results)";
}

def CK_ActivationGradOp : CK_GraphOp<"activation_grad"> {
  let summary = "gradient of ck.activation";
  let description = [{
    `d_input = d_output * f'(input)` for the function f that `kind` and `alpha` name; at a kink the derivative from below
    (`relu`, `relu2` and `leaky_relu` at 0).

    Example:

    ```mlir
    %dx = ck.activation_grad %dy, %x {kind = "gelu_tanh"} : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$d_output, CK_Floats:$input, CK_Keyword<CK_ActivationKinds>:$kind,
                   DefaultValuedAttr<F64Attr, "0.0">:$alpha);
  let results = (outs AnyRankedTensor:$d_input);
  let rowwise = "true";
  let signatureBody = [{ return "d_output[...N]:f32, input[...N]:$X -> d_input[...N]:f32"; }];
  let assemblyFormat = "$d_output `,` $input attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

def CK_LastRowGradOp : CK_GraphOp<"last_row_grad"> {
  let summary = "gradient of ck.last_row";
  let description = [{
    `d_input[T-1,:] = d_output[0,:]`, every other row is 0. The content of `input` is not read.

    Example:

    ```mlir
    %dx = ck.last_row_grad %dy, %x : (tensor<1x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$d_output, AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$d_input);
  let signatureBody = [{
    return ::llvm::cast<::mlir::RankedTensorType>(op.getInput().getType()).getRank() == 1
        ? "d_output[1]:f32, input[T]:f32 -> d_input[T]:f32" : "d_output[1,E]:f32, input[T,E]:f32 -> d_input[T,E]:f32";
  }];
  let assemblyFormat = "$d_output `,` $input attr-dict `:` functional-type(operands, results)";
}

#endif // CK_GRADOPS_TD
