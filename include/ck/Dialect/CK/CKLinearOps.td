//===- CKLinearOps.td - projections and tables ----------------*- tablegen -*-===//
//
// Ops whose work is a matrix product, and the embedding, which is one with one-hot rows. Inputs are f32, f16, bf16 or an
// activation block type (q8_0, q8_1, q8_k); weights are floats of at most 32 bits, a block type or packed. What a block
// stands for is multiplied: rounding is nowhere but in `ck.quantize`. Results are f32, of bf16 inputs bf16.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LINEAROPS_TD
#define CK_LINEAROPS_TD

include "ck/Dialect/CK/CKDialect.td"
include "mlir/IR/BuiltinAttributes.td"

def CK_EmbeddingOp : CK_GraphOp<"embedding", [CK_Differentiable]> {
  let summary = "gathers rows of a table";
  let description = [{
    `output[t,:] = table[ids[t],:] + pos_emb[t,:]`, the table widened or de-quantised exactly; without `pos_emb`, the row of
    the table alone. An id outside `[0, V)` fails at run time and names index, id and vocabulary; so do more rows than
    `pos_emb` has.

    Example:

    ```mlir
    %x = ck.embedding %ids, %table : (tensor<4xi32>, tensor<512x64xf32>) -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$ids, AnyRankedTensor:$table, Optional<AnyRankedTensor>:$pos_emb);
  let results = (outs AnyRankedTensor:$output);
  let builders = [OpBuilder<(ins "::mlir::Value":$ids, "::mlir::Value":$table),
                            [{ build($_builder, $_state, ids, table, ::mlir::Value()); }]>];
  // Rows of pos_emb go by the place of a row among all.
  let rowwise = "!getPosEmb()";
  let signatureBody = [{ return "ids[T]:i32, table[V,E]:$W, pos_emb[S,E]:f32? -> output[T,E]:f32"; }];
  let assemblyFormat = "$ids `,` $table (`pos_emb` $pos_emb^)? attr-dict `:` functional-type(operands, results)";
}

def CK_LinearOp : CK_GraphOp<"linear", [CK_Differentiable, ProjectionOpInterface]> {
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
  let declarations = [{
    ::mlir::OpOperand &getProjectedInput() { return getInputMutable(); }
    ::mlir::OpOperand &getProjectionWeight() { return getWeightMutable(); }
    bool isProductOfRows() { return true; }
  }];
  let rowwise = "true";
  let signatureBody = [{
    return "input[...T,K]:$A, weight[N,K]:$W, bias[N]:f32? -> output[...T,N]:" + ::ck::projectedDtype(op.getInput());
  }];
  let assemblyFormat = "$input `,` $weight (`bias` $bias^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def CK_ClippedLinearOp : CK_GraphOp<"clipped_linear", [AttrSizedOperandSegments]> {
  let summary = "a projection between two clamps";
  let description = [{
    `output = clamp(ck.linear(clamp(input, in_min, in_max)), out_min, out_max)`; an absent bound does not bind, a NaN
    passes.

    Example:

    ```mlir
    %y = ck.clipped_linear %x, %w in_min %a in_max %b out_min %c out_max %d
        : (tensor<4x64xf32>, tensor<32x64xf16>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>)
        -> tensor<4x32xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$weight, Optional<AnyRankedTensor>:$bias,
                   Optional<AnyRankedTensor>:$in_min, Optional<AnyRankedTensor>:$in_max,
                   Optional<AnyRankedTensor>:$out_min, Optional<AnyRankedTensor>:$out_max);
  let results = (outs AnyRankedTensor:$output);
  let rowwise = "true";
  let signatureBody = [{
    return "input[...T,K]:f32, weight[N,K]:$W, bias[N]:f32?, in_min[1]:f32?, in_max[1]:f32?, out_min[1]:f32?, "
           "out_max[1]:f32? -> output[...T,N]:f32";
  }];
  let assemblyFormat = [{
    $input `,` $weight (`bias` $bias^)? (`in_min` $in_min^)? (`in_max` $in_max^)? (`out_min` $out_min^)?
    (`out_max` $out_max^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def CK_QkvLinearOp : CK_GraphOp<"qkv_linear", [CK_Differentiable, AttrSizedOperandSegments]> {
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
    std::string O = ::ck::projectedDtype(op.getInput());
    if (op.getLayout() == "token_major")
      return "input[T,E]:$A, wq[NQ,E]:$WQ, wk[NK,E]:$WK, wv[NV,E]:$WV, bq[NQ]:f32?, bk[NK]:f32?, bv[NV]:f32? -> "
             "q[T,NQ]:" + O + ", k[T,NK]:" + O + ", v[T,NV]:" + O;
    return "input[T,E]:$A, wq[$heads*D,E]:$WQ, wk[$kv_heads*D,E]:$WK, wv[$kv_heads*D,E]:$WV, bq[$heads*D]:f32?, "
           "bk[$kv_heads*D]:f32?, bv[$kv_heads*D]:f32? -> "
           "q[$heads,T,D]:" + O + ", k[$kv_heads,T,D]:" + O + ", v[$kv_heads,T,D]:" + O;
  }];
  let assemblyFormat = [{
    $input `,` $wq `,` $wk `,` $wv (`bq` $bq^)? (`bk` $bk^)? (`bv` $bv^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def CK_OutLinearOp : CK_GraphOp<"out_linear", [CK_Differentiable]> {
  let summary = "output projection of head-major attention";
  let description = [{
    `output[t,n] = bias[n] + sum_h sum_d input[h,t,d] * weight[h,n,d]`: what attention gives in head-major layout, projected
    to rows without a transpose. The weight holds one `[N, D]` matrix for each head.

    Example:

    ```mlir
    %y = ck.out_linear %x, %w bias %b : (tensor<8x4x16xf32>, tensor<8x64x16xf32>, tensor<64xf32>) -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$weight, Optional<AnyRankedTensor>:$bias);
  let results = (outs AnyRankedTensor:$output);
  let signatureBody = [{ return "input[H,T,D]:f32, weight[H,N,D]:f32, bias[N]:f32? -> output[T,N]:f32"; }];
  let assemblyFormat = "$input `,` $weight (`bias` $bias^)? attr-dict `:` functional-type(operands, results)";
}

def CK_HeadLinearOp : CK_GraphOp<"head_linear", [CK_DifferentiableSaving, ProjectionOpInterface]> {
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
  let declarations = [{
    ::mlir::OpOperand &getProjectedInput() { return getInputMutable(); }
    ::mlir::OpOperand &getProjectionWeight() { return getWeightMutable(); }
    bool isProductOfRows() { return getWLayout() == "vocab_major"; }
  }];
  let rowwise = "true";
  let signatureBody = [{
    return std::string("input[T,E]:$A, weight") + (op.getWLayout() == "vocab_major" ? "[V,E]" : "[E,V]") +
           ":$W -> logits[T,V]:" + ::ck::projectedDtype(op.getInput());
  }];
  let assemblyFormat = "$input `,` $weight attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // CK_LINEAROPS_TD
