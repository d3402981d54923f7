//===- CKGraphOps.td - operations of decoder models -------------*- tablegen -*-===//
//
// Ops on tensors with value semantics. Each states its signature, its formula and an example, which is also a test.
// Conventions: T tokens (rows of all sequences), E embedding width, H query heads, KV key/value heads, D head width,
// S cache rows, V vocabulary, F feed-forward width. Dim order is memory order. `pos[t]` is the position of row t.
//
//===----------------------------------------------------------------------===//
#ifndef CK_GRAPHOPS_TD
#define CK_GRAPHOPS_TD

include "ck/Dialect/CK/CKDialect.td"
include "mlir/IR/BuiltinAttributes.td"

//===----------------------------------------------------------------------===//
// Linear
//===----------------------------------------------------------------------===//

def CK_EmbeddingOp : CK_GraphOp<"embedding"> {
  let summary = "gathers rows of a table";
  let description = [{
    `output[t,:] = table[ids[t],:]`. An id outside `[0, V)` fails at run time and names index, id and vocabulary.

    Example:

    ```mlir
    %x = ck.embedding %ids, %table : (tensor<4xi32>, tensor<512x64xf32>) -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$ids, AnyRankedTensor:$table);
  let results = (outs AnyRankedTensor:$output);
  let rowwise = "true";
  let signatureBody = [{ return "ids[T]:i32, table[V,E]:$W -> output[T,E]:f32"; }];
  let assemblyFormat = "$ids `,` $table attr-dict `:` functional-type(operands, results)";
}

def CK_LinearOp : CK_GraphOp<"linear"> {
  let summary = "y = x W^T + b";
  let description = [{
    `output[t,n] = bias[n] + sum_k input[t,k] * weight[n,k]`; weights are stored output-major, as in checkpoints.

    Example:

    ```mlir
    %y = ck.linear %x, %w bias %b : (tensor<4x64xf32>, tensor<32x64xf32>, tensor<32xf32>) -> tensor<4x32xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$weight, Optional<AnyRankedTensor>:$bias);
  let results = (outs AnyRankedTensor:$output);
  let rowwise = "true";
  let signatureBody = [{ return "input[...T,K]:f32, weight[N,K]:$W, bias[N]:f32? -> output[...T,N]:f32"; }];
  let assemblyFormat = "$input `,` $weight (`bias` $bias^)? attr-dict `:` functional-type(operands, results)";
}

def CK_QkvLinearOp : CK_GraphOp<"qkv_linear", [AttrSizedOperandSegments]> {
  let summary = "the three attention projections of one input";
  let description = [{
    `q = x wq^T + bq`, `k = x wk^T + bk`, `v = x wv^T + bv`. With `layout = "token_major"` results are `[T, heads*D]`;
    with `"head_major"` they are `[heads, T, D]` and `heads`, `kv_heads` say how rows group into heads.

    Example:

    ```mlir
    %q, %k, %v = ck.qkv_linear %x, %wq, %wk, %wv
        : (tensor<4x64xf32>, tensor<64x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>)
        -> (tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$wq, AnyRankedTensor:$wk, AnyRankedTensor:$wv,
                   Optional<AnyRankedTensor>:$bq, Optional<AnyRankedTensor>:$bk, Optional<AnyRankedTensor>:$bv,
                   CK_KeywordOr<["token_major", "head_major"], "token_major">:$layout,
                   DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$heads,
                   DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$kv_heads);
  let results = (outs AnyRankedTensor:$q, AnyRankedTensor:$k, AnyRankedTensor:$v);
  let rowwise = "true";
  let signatureBody = [{
    if (op.getLayout() == "token_major")
      return "input[T,E]:f32, wq[NQ,E]:$WQ, wk[NK,E]:$WK, wv[NV,E]:$WV, bq[NQ]:f32?, bk[NK]:f32?, bv[NV]:f32? -> "
             "q[T,NQ]:f32, k[T,NK]:f32, v[T,NV]:f32";
    return "input[T,E]:f32, wq[$heads*D,E]:$WQ, wk[$kv_heads*D,E]:$WK, wv[$kv_heads*D,E]:$WV, bq[$heads*D]:f32?, "
           "bk[$kv_heads*D]:f32?, bv[$kv_heads*D]:f32? -> "
           "q[$heads,T,D]:f32, k[$kv_heads,T,D]:f32, v[$kv_heads,T,D]:f32";
  }];
  let assemblyFormat = [{
    $input `,` $wq `,` $wk `,` $wv (`bq` $bq^)? (`bk` $bk^)? (`bv` $bv^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def CK_HeadLinearOp : CK_GraphOp<"head_linear"> {
  let summary = "logits of the vocabulary";
  let description = [{
    `logits[t,v] = cap(sum_e input[t,e] * weight[v,e])` with `cap(x) = softcap * tanh(x / softcap)`, or the identity when
    `softcap` is 0. `w_layout = "embed_major"` takes the weight as `[E, V]`.

    Example:

    ```mlir
    %l = ck.head_linear %x, %w : (tensor<4x64xf32>, tensor<512x64xf32>) -> tensor<4x512xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$weight,
                   CK_KeywordOr<["vocab_major", "embed_major"], "vocab_major">:$w_layout,
                   DefaultValuedAttr<F64Attr, "0.0">:$softcap);
  let results = (outs AnyRankedTensor:$logits);
  let rowwise = "true";
  let signatureBody = [{
    return op.getWLayout() == "vocab_major" ? "input[T,E]:f32, weight[V,E]:$W -> logits[T,V]:f32"
                                            : "input[T,E]:f32, weight[E,V]:$W -> logits[T,V]:f32";
  }];
  let assemblyFormat = "$input `,` $weight attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Norm
//===----------------------------------------------------------------------===//

def CK_RmsNormOp : CK_GraphOp<"rms_norm"> {
  let summary = "root-mean-square normalisation of rows";
  let description = [{
    `rstd[t] = 1 / sqrt(mean_e(input[t,e]^2) + eps)`, `output[t,e] = input[t,e] * rstd[t] * g[e]` where `g` is 1, `gamma`
    or `1 + gamma` by `gain = "none" | "weight" | "one_plus_weight"`. `save_rstd` adds the result `rstd`.
    (Zhang and Sennrich, Root Mean Square Layer Normalization, 2019.)

    Example:

    ```mlir
    %y = ck.rms_norm %x, %g {eps = 1.0e-5 : f64} : (tensor<4x64xf32>, tensor<64xf32>) -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Optional<AnyRankedTensor>:$gamma, F64Attr:$eps,
                   CK_KeywordOr<["none", "weight", "one_plus_weight"], "weight">:$gain,
                   UnitAttr:$save_rstd);
  let results = (outs AnyRankedTensor:$output, Optional<AnyRankedTensor>:$rstd);
  let rowwise = "true";
  let signatureBody = [{
    std::string text = "input[...T,E]:f32, gamma[E]:f32? -> output[...T,E]:f32";
    return op.getSaveRstd() ? text + ", rstd[...T]:f32" : text;
  }];
  let assemblyFormat = "$input (`,` $gamma^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

def CK_RopeTableOp : CK_GraphOp<"rope_table"> {
  let summary = "cosines and sines of rotary positions";
  let description = [{
    For row s and pair i: `angle = s * f(i)`, `f(i) = theta^(-2i / rotary_dim)` adjusted by `scaling`:
    `none`; `linear` (f / factor); `llama3` (wavelengths above `original_context / low_freq_factor` are divided by
    `factor`, those below `original_context / high_freq_factor` kept, between them interpolated). Frequencies and angles are in double
    precision, the results rounded once. (Su et al., RoFormer, 2021; Llama 3.1 model card.)

    Example:

    ```mlir
    %cos, %sin = ck.rope_table {rows = 128, rotary_dim = 8, theta = 1.0e4 : f64}
        : () -> (tensor<128x4xf32>, tensor<128x4xf32>)
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$rows, ConfinedAttr<I64Attr, [IntPositive]>:$rotary_dim,
                   F64Attr:$theta,
                   CK_KeywordOr<["none", "linear", "llama3"], "none">:$scaling,
                   DefaultValuedAttr<F64Attr, "1.0">:$factor,
                   DefaultValuedAttr<F64Attr, "1.0">:$low_freq_factor,
                   DefaultValuedAttr<F64Attr, "4.0">:$high_freq_factor,
                   DefaultValuedAttr<I64Attr, "0">:$original_context);
  let results = (outs AnyRankedTensor:$cos, AnyRankedTensor:$sin);
  let signatureBody = [{ return " -> cos[$rows,$rotary_dim/2]:f32, sin[$rows,$rotary_dim/2]:f32"; }];
  let assemblyFormat = "attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def CK_RopeOp : CK_GraphOp<"rope"> {
  let summary = "rotates queries and keys by their positions";
  let description = [{
    Rotates the first `R = 2P` columns of each head by the angles of table row `pos[t]`; further columns pass. Pair i is
    columns `(i, i + R/2)` with `pairing = "half"` and `(2i, 2i+1)` with `"adjacent"`:
    `a' = a cos - b sin`, `b' = a sin + b cos`; `inverse` rotates by the negative angle. A position outside the table
    fails at run time.

    Example:

    ```mlir
    %q1, %k1 = ck.rope %q, %k pos %pos tables %cos, %sin {head_dim = 8, pairing = "half"}
        : (tensor<4x64xf32>, tensor<4x32xf32>, tensor<4xi32>, tensor<128x4xf32>, tensor<128x4xf32>)
        -> (tensor<4x64xf32>, tensor<4x32xf32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$q, Optional<AnyRankedTensor>:$k, AnyRankedTensor:$pos, AnyRankedTensor:$cos,
                   AnyRankedTensor:$sin,
                   CK_Keyword<["half", "adjacent"]>:$pairing,
                   ConfinedAttr<I64Attr, [IntPositive]>:$head_dim,
                   CK_KeywordOr<["token_major", "head_major"], "token_major">:$layout,
                   DefaultValuedAttr<BoolAttr, "false">:$inverse);
  let results = (outs AnyRankedTensor:$q_out, Optional<AnyRankedTensor>:$k_out);
  let rowwise = "true";
  let signatureBody = [{
    bool tokenMajor = op.getLayout() == "token_major";
    std::string text = tokenMajor
        ? "q[T,H*$head_dim]:f32, k[T,KV*$head_dim]:f32?, pos[T]:i32, cos[S,P]:f32, sin[S,P]:f32 -> q_out[T,H*$head_dim]:f32"
        : "q[H,T,$head_dim]:f32, k[KV,T,$head_dim]:f32?, pos[T]:i32, cos[S,P]:f32, sin[S,P]:f32 -> q_out[H,T,$head_dim]:f32";
    if (op.getK())
      text += tokenMajor ? ", k_out[T,KV*$head_dim]:f32" : ", k_out[KV,T,$head_dim]:f32";
    return text;
  }];
  let assemblyFormat = [{
    $q (`,` $k^)? `pos` $pos `tables` $cos `,` $sin attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def CK_AttentionOp : CK_GraphOp<"attention", [AttrSizedOperandSegments]> {
  let summary = "scaled dot-product attention with grouped queries";
  let description = [{
    Query head h reads key/value head `g = h / (heads / kv_heads)`:
    `s[h,t,j] = c(scale * q[t,h,:] . k[g,j,:])` over the visible keys j, `c(x) = softcap * tanh(x / softcap)` (identity at
    0), `p = softmax_j(s)`, `output[t,h,:] = sum_j p[h,t,j] v[g,j,:]`. `scale` 0 means `1/sqrt(D)`. `sinks[h]` is one more
    logit in the denominator that has no value.

    `layout` says where keys live. `"cache"`: k and v are caches `[KV, S, D]` and row t stands at `pos[t]`; causal means
    `j <= pos[t]`. `"token_major"` (`[T, heads*D]`) and `"head_major"` (`[heads, T, D]`): the keys are the rows of this
    call, row index is position, and `seqs` (offsets, B+1 of them) keeps packed sequences apart. `mask = "sliding"` also asks `position - j < window`; `"full"` sees every
    key. `save = "lse"` adds the result `lse[H,T] = log(sum_j exp(s) + exp(sink))`.

    Example:

    ```mlir
    %o = ck.attention %q, %k, %v pos %pos {heads = 8, kv_heads = 4, layout = "cache"}
        : (tensor<4x64xf32>, tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<4xi32>) -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$q, AnyRankedTensor:$k, AnyRankedTensor:$v, Optional<AnyRankedTensor>:$pos,
                   Optional<AnyRankedTensor>:$sinks, Optional<AnyRankedTensor>:$seqs,
                   ConfinedAttr<I64Attr, [IntPositive]>:$heads, ConfinedAttr<I64Attr, [IntPositive]>:$kv_heads,
                   CK_Keyword<["cache", "token_major", "head_major"]>:$layout,
                   CK_KeywordOr<["causal", "sliding", "full"], "causal">:$mask,
                   DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$window,
                   DefaultValuedAttr<F64Attr, "0.0">:$scale,
                   DefaultValuedAttr<F64Attr, "0.0">:$softcap,
                   CK_KeywordOr<["none", "lse"], "none">:$save);
  let results = (outs AnyRankedTensor:$output, Optional<AnyRankedTensor>:$lse);
  let rowwise = "getLayout() == \"cache\"";
  let signatureBody = [{
    ::llvm::StringRef layout = op.getLayout();
    std::string q = layout == "head_major" ? "[$heads,T,D]" : "[T,$heads*D]";
    std::string kv = layout == "cache" ? "[$kv_heads,S,D]" : layout == "head_major" ? "[$kv_heads,T,D]" : "[T,$kv_heads*D]";
    std::string text = "q" + q + ":f32, k" + kv + ":$C, v" + kv + ":$C, pos[T]:i32?, sinks[$heads]:f32?, seqs[B]:i32? -> output" + q + ":f32";
    return op.getSave() == "lse" ? text + ", lse[$heads,T]:f32" : text;
  }];
  let assemblyFormat = [{
    $q `,` $k `,` $v (`pos` $pos^)? (`sinks` $sinks^)? (`seqs` $seqs^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def CK_CacheUpdateOp : CK_GraphOp<"cache_update"> {
  let summary = "stores new keys and values in their caches";
  let description = [{
    Row t goes to cache row `pos[t]` (with `ring`: `pos[t] mod S`) of every head; other rows keep their values:
    `k_cache'[g, pos[t], :] = k[t, g*D .. g*D+D-1]`, the same for v. A position outside the cache fails at run time before
    anything is written.

    Example:

    ```mlir
    %kc1, %vc1 = ck.cache_update %kc, %vc, %k, %v pos %pos
        : (tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<2x32xf32>, tensor<2x32xf32>, tensor<2xi32>)
        -> (tensor<4x128x8xf32>, tensor<4x128x8xf32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$k_cache, AnyRankedTensor:$v_cache, AnyRankedTensor:$k, AnyRankedTensor:$v,
                   AnyRankedTensor:$pos, DefaultValuedAttr<BoolAttr, "false">:$ring);
  let results = (outs AnyRankedTensor:$k_result, AnyRankedTensor:$v_result);
  let signatureBody = [{
    return "k_cache[KV,S,D]:$C, v_cache[KV,S,D]:$C, k[T,KV*D]:f32, v[T,KV*D]:f32, pos[T]:i32 -> "
           "k_cache[KV,S,D]:$C|=, v_cache[KV,S,D]:$C|=";
  }];
  let assemblyFormat = [{
    $k_cache `,` $v_cache `,` $k `,` $v `pos` $pos attr-dict `:` functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Pointwise
//===----------------------------------------------------------------------===//

def CK_GluOp : CK_GraphOp<"glu"> {
  let summary = "gated linear unit";
  let description = [{
    `output = act(gate) * up`. Two operands are gate and up; one operand holds both, gate in the first half of each row.
    (Shazeer, GLU Variants Improve Transformer, 2020.)

    Example:

    ```mlir
    %y = ck.glu %g, %u {act = "silu"} : (tensor<4x172xf32>, tensor<4x172xf32>) -> tensor<4x172xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$gate, Optional<AnyRankedTensor>:$up, CK_Keyword<CK_GluKinds>:$act);
  let results = (outs AnyRankedTensor:$output);
  let rowwise = "true";
  let signatureBody = [{
    return op.getUp() ? "gate[...T,F]:f32, up[...T,F]:f32 -> output[...T,F]:f32"
                      : "gate[...T,2*F]:f32, up[...T,F]:f32? -> output[...T,F]:f32";
  }];
  let assemblyFormat = "$gate (`,` $up^)? attr-dict `:` functional-type(operands, results)";
}

def CK_ActivationOp : CK_GraphOp<"activation"> {
  let summary = "elementwise activation";
  let description = [{
    `silu` x/(1+exp(-x)); `gelu_tanh` 0.5x(1+tanh(0.79788456(x+0.044715x^3))); `gelu_erf` 0.5x(1+erf(x/sqrt 2));
    `gelu_quick` x/(1+exp(-1.702x)); `relu` max(x,0); `relu2` max(x,0)^2; `leaky_relu` x or alpha*x below 0; `tanh`;
    `sigmoid`; `exp`; `sin`; `softcap` alpha*tanh(x/alpha). `alpha` belongs to `leaky_relu` and `softcap`.

    Example:

    ```mlir
    %y = ck.activation %x {kind = "gelu_erf"} : (tensor<4x64xf32>) -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, CK_Keyword<CK_ActivationKinds>:$kind,
                   DefaultValuedAttr<F64Attr, "0.0">:$alpha);
  let results = (outs AnyRankedTensor:$output);
  let rowwise = "true";
  let signatureBody = [{ return "input[...N]:f32 -> output[...N]:f32"; }];
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def CK_AddOp : CK_GraphOp<"add"> {
  let summary = "scaled elementwise sum";
  let description = [{
    `output = scale * (a + alpha * b)`.

    Example:

    ```mlir
    %y = ck.add %a, %b : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$a, AnyRankedTensor:$b, DefaultValuedAttr<F64Attr, "1.0">:$alpha,
                   DefaultValuedAttr<F64Attr, "1.0">:$scale);
  let results = (outs AnyRankedTensor:$output);
  let rowwise = "true";
  let signatureBody = [{ return "a[...N]:f32, b[...N]:f32 -> output[...N]:f32"; }];
  let assemblyFormat = "$a `,` $b attr-dict `:` functional-type(operands, results)";
}

def CK_MulOp : CK_GraphOp<"mul"> {
  let summary = "elementwise product";
  let description = [{
    `output = a * b`.

    Example:

    ```mlir
    %y = ck.mul %a, %b : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$a, AnyRankedTensor:$b);
  let results = (outs AnyRankedTensor:$output);
  let rowwise = "true";
  let signatureBody = [{ return "a[...N]:f32, b[...N]:f32 -> output[...N]:f32"; }];
  let assemblyFormat = "$a `,` $b attr-dict `:` functional-type(operands, results)";
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

def CK_CopyOp : CK_GraphOp<"copy"> {
  let summary = "a second copy of a value";
  let description = [{
    `output = input`, in storage of its own.

    Example:

    ```mlir
    %y = ck.copy %x : (tensor<4x64xf32>) -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$output);
  let rowwise = "true";
  let signatureBody = [{ return "input[...N]:$X -> output[...N]:$X"; }];
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

def CK_TransposeOp : CK_GraphOp<"transpose"> {
  let summary = "permutes dims";
  let description = [{
    Dim i of the output is dim `perm[i]` of the input, as in `linalg.transpose`.

    Example:

    ```mlir
    %y = ck.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<4x8x16xf32>) -> tensor<8x4x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input,
                   ConfinedAttr<DenseI64ArrayAttr, [DenseArrayNonNegative<DenseI64ArrayAttr>]>:$perm);
  let results = (outs AnyRankedTensor:$output);
  let rowwise = "!getPerm().empty() && getPerm()[0] == 0";
  let signatureBody = [{ return ::ck::transposeSignature(op.getPerm()); }];
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def CK_NotEmpty : AttrConstraint<CPred<"!::llvm::cast<::mlir::DenseI64ArrayAttr>($_self).empty()">,
                                 "whose value is not empty">;

def CK_SplitOp : CK_GraphOp<"split"> {
  let summary = "cuts a tensor into pieces along one dim";
  let description = [{
    Piece i has extent `sizes[i]` along `axis`; the sizes add up to the input's extent.

    Example:

    ```mlir
    %a, %b = ck.split %x {axis = 1 : i64, sizes = array<i64: 16, 48>}
        : (tensor<4x64xf32>) -> (tensor<4x16xf32>, tensor<4x48xf32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, ConfinedAttr<I64Attr, [IntNonNegative]>:$axis,
                   ConfinedAttr<DenseI64ArrayAttr, [DenseArrayNonNegative<DenseI64ArrayAttr>, CK_NotEmpty]>:$sizes);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let shapeAttributes = ["sizes"];
  let rowwise = "getAxis() != 0";
  let signatureBody = [{ return ::ck::splitSignature(op.getInput(), op.getAxis(), op.getSizes()); }];
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def CK_ConcatOp : CK_GraphOp<"concat"> {
  let summary = "joins tensors along one dim";
  let description = [{
    The inputs agree in every dim but `axis`, where their extents add up.

    Example:

    ```mlir
    %y = ck.concat %a, %b {axis = 1 : i64} : (tensor<4x16xf32>, tensor<4x48xf32>) -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, ConfinedAttr<I64Attr, [IntNonNegative]>:$axis);
  let results = (outs AnyRankedTensor:$output);
  let rowwise = "getAxis() != 0";
  let signatureBody = [{ return ::ck::concatSignature(op.getInputs(), op.getAxis()); }];
  let assemblyFormat = "$inputs attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def CK_LastRowOp : CK_GraphOp<"last_row"> {
  let summary = "the last row";
  let description = [{
    `output[0,:] = input[T-1,:]`; of a vector, its last element. Sampling needs the logits of the last token only;
    `--ck-schedule` moves this op above the head, so that the head sees one row. The last row of one row is the input.

    Example:

    ```mlir
    %y = ck.last_row %x : (tensor<4x64xf32>) -> tensor<1x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$output);
  let signatureBody = [{
    return ::llvm::cast<::mlir::RankedTensorType>(op.getInput().getType()).getRank() == 1
        ? "input[T]:$X -> output[1]:$X" : "input[T,E]:$X -> output[1,E]:$X";
  }];
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def CK_ArgmaxOp : CK_GraphOp<"argmax"> {
  let summary = "index of the largest value of each row";
  let description = [{
    The lowest index wins ties; a NaN never wins unless the row holds nothing else, then the result is 0.

    Example:

    ```mlir
    %i = ck.argmax %x : (tensor<4x512xf32>) -> tensor<4xi32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$output);
  let rowwise = "true";
  let signatureBody = [{ return "input[...T,V]:f32 -> output[...T]:i32"; }];
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

#endif // CK_GRAPHOPS_TD
