//===- CKAttentionOps.td - rotary positions, attention, caches *- tablegen -*-===//
//
// What mixes tokens. Dim order is memory order; `layout` chooses a signature.
//
//===----------------------------------------------------------------------===//
#ifndef CK_ATTENTIONOPS_TD
#define CK_ATTENTIONOPS_TD

include "ck/Dialect/CK/CKDialect.td"
include "mlir/IR/BuiltinAttributes.td"

def CK_RopeTableOp : CK_GraphOp<"rope_table"> {
  let summary = "cosines and sines of rotary positions";
  let description = [{
    For row s and pair i: `angle = s * f(i)`, `f(i) = theta^(-2i / rotary_dim)` adjusted by `scaling`:
    `none`; `linear` (f / factor); `llama3` (wavelengths above `original_context / low_freq_factor` are divided by
    `factor`, those below `original_context / high_freq_factor` kept, between them interpolated); `yarn` (pairs that turn
    less than `beta_slow` times in `original_context` are divided by `factor`, those that turn more than `beta_fast` times
    kept, between them interpolated; all are multiplied by the attention factors of `mscale`, `mscale_all_dim`).
    Frequencies and angles are in double precision, the results rounded once. (Su et al., RoFormer, 2021; Llama 3.1 model
    card; Peng et al., YaRN, 2023.)

    Example:

    ```mlir
    %cos, %sin = ck.rope_table {rows = 128, rotary_dim = 8, theta = 1.0e4 : f64}
        : () -> (tensor<128x4xf32>, tensor<128x4xf32>)
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$rows, ConfinedAttr<I64Attr, [IntPositive]>:$rotary_dim,
                   F64Attr:$theta,
                   CK_KeywordOr<["none", "linear", "llama3", "yarn"], "none">:$scaling,
                   DefaultValuedAttr<F64Attr, "1.0">:$factor,
                   DefaultValuedAttr<F64Attr, "1.0">:$low_freq_factor,
                   DefaultValuedAttr<F64Attr, "4.0">:$high_freq_factor,
                   DefaultValuedAttr<I64Attr, "0">:$original_context,
                   CK_Real<"32.0">:$beta_fast,
                   CK_Real<"1.0">:$beta_slow,
                   CK_Real<"1.0">:$mscale,
                   CK_Real<"0.0">:$mscale_all_dim);
  let results = (outs AnyRankedTensor:$cos, AnyRankedTensor:$sin);
  let signatureBody = [{ return " -> cos[$rows,$rotary_dim/2]:f32, sin[$rows,$rotary_dim/2]:f32"; }];
  let assemblyFormat = "attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def CK_RopeOp : CK_GraphOp<"rope", [
    DeclareOpInterfaceMethods<DifferentiableOpInterface, ["getUndifferentiated"]>]> {
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
  let arguments = (ins CK_Floats:$q, Optional<CK_Floats>:$k, AnyRankedTensor:$pos, AnyRankedTensor:$cos,
                   AnyRankedTensor:$sin,
                   CK_Keyword<["half", "adjacent"]>:$pairing,
                   ConfinedAttr<I64Attr, [IntPositive]>:$head_dim,
                   CK_KeywordOr<["token_major", "head_major"], "token_major">:$layout,
                   DefaultValuedAttr<BoolAttr, "false">:$inverse);
  let results = (outs CK_Floats:$q_out, Optional<CK_Floats>:$k_out);
  let rowwise = "true";
  let signatureBody = [{
    return ::ck::rotationSignature(op.getLayout(), "pos[T]:i32, cos[S,P]:f32, sin[S,P]:f32", "$X", "$X",
                                   static_cast<bool>(op.getK()));
  }];
  let assemblyFormat = [{
    $q (`,` $k^)? `pos` $pos `tables` $cos `,` $sin attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def CK_AttentionOp : CK_GraphOp<"attention", [CK_DifferentiableSaving, AttrSizedOperandSegments]> {
  let summary = "scaled dot-product attention with grouped queries";
  let description = [{
    Query head h reads key/value head `g = h / (heads / kv_heads)`:
    `s[h,t,j] = c(scale * q[t,h,:] . k[g,j,:])` over the visible keys j, `c(x) = softcap * tanh(x / softcap)` (identity at
    0), `p = softmax_j(s)`, `output[t,h,:] = sum_j p[h,t,j] v[g,j,:]`. `scale` 0 means `1/sqrt(D)`. `sinks[h]` is one more
    logit in the denominator that has no value.

    `layout` says where keys live. `"cache"`: k and v are caches `[KV, S, D]` and row t stands at `pos[t]`; causal means
    `j <= pos[t]`. `"token_major"` (`[T, heads*D]`) and `"head_major"` (`[heads, T, D]`): the keys are the rows of this
    call, row index is position, and `seqs` (offsets, B+1 of them) keeps packed sequences apart. `mask = "sliding"` also asks `position - j < window`; `"full"` sees every
    key. `save = "lse"` adds the result `lse[H,T] = log(sum_j exp(s) + exp(sink))`; `save = "probs"` (not with a cache) adds
    `probs[H,T,T] = p`, where what is masked is exactly 0; with a sink rows sum to less than 1.

    Example:

    ```mlir
    %o = ck.attention %q, %k, %v pos %pos {heads = 8, kv_heads = 4, layout = "cache"}
        : (tensor<4x64xf32>, tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<4xi32>) -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins CK_Floats:$q, AnyRankedTensor:$k, AnyRankedTensor:$v, Optional<AnyRankedTensor>:$pos,
                   Optional<AnyRankedTensor>:$sinks, Optional<AnyRankedTensor>:$seqs,
                   ConfinedAttr<I64Attr, [IntPositive]>:$heads, ConfinedAttr<I64Attr, [IntPositive]>:$kv_heads,
                   CK_Keyword<["cache", "token_major", "head_major"]>:$layout,
                   CK_KeywordOr<["causal", "sliding", "full"], "causal">:$mask,
                   DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$window,
                   DefaultValuedAttr<F64Attr, "0.0">:$scale,
                   DefaultValuedAttr<F64Attr, "0.0">:$softcap,
                   CK_KeywordOr<["none", "lse", "probs"], "none">:$save);
  let results = (outs AnyRankedTensor:$output, Optional<AnyRankedTensor>:$saved);
  let rowwise = "getLayout() == \"cache\"";
  let signatureBody = [{
    ::llvm::StringRef layout = op.getLayout();
    std::string q = layout == "head_major" ? "[$heads,T,D]" : "[T,$heads*D]";
    std::string kv = layout == "cache" ? "[$kv_heads,S,D]" : layout == "head_major" ? "[$kv_heads,T,D]" : "[T,$kv_heads*D]";
    std::string text = "q" + q + ":$Q, k" + kv + ":$C, v" + kv + ":$C, pos[T]:i32?, sinks[$heads]:f32?, seqs[B]:i32? -> output" + q + ":$Q";
    if (op.getSave() == "probs")
      return text + ", probs[$heads,T,T]:f32";
    return op.getSave() == "lse" ? text + ", lse[$heads,T]:f32" : text;
  }];
  let assemblyFormat = [{
    $q `,` $k `,` $v (`pos` $pos^)? (`sinks` $sinks^)? (`seqs` $seqs^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def CK_CacheUpdateOp : CK_GraphOp<"cache_update", [CK_Differentiable]> {
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

#endif // CK_ATTENTIONOPS_TD
