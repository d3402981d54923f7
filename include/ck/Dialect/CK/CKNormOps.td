//===- CKNormOps.td - normalisation of rows -------------------*- tablegen -*-===//
//
// Each norm can give the statistics of its rows, which its gradient takes.
//
//===----------------------------------------------------------------------===//
#ifndef CK_NORMOPS_TD
#define CK_NORMOPS_TD

include "ck/Dialect/CK/CKDialect.td"
include "mlir/IR/BuiltinAttributes.td"

def CK_RmsNormOp : CK_GraphOp<"rms_norm", [CK_DifferentiableSaving]> {
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

def CK_LayerNormOp : CK_GraphOp<"layer_norm", [CK_DifferentiableSaving]> {
  let summary = "normalisation of rows to mean 0 and variance 1";
  let description = [{
    `mean[t] = mean_e(input[t,e])`, `rstd[t] = 1 / sqrt(mean_e((input[t,e] - mean[t])^2) + eps)`,
    `output[t,e] = (input[t,e] - mean[t]) * rstd[t] * gamma[e] + beta[e]`. The variance is that of the population.
    `save_stats` adds the results `mean` and `rstd`. (Ba, Kiros and Hinton, Layer Normalization, 2016.)

    Example:

    ```mlir
    %y, %m, %r = ck.layer_norm %x, %g, %b {eps = 1.0e-5 : f64, save_stats}
        : (tensor<4x64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<4x64xf32>, tensor<4xf32>, tensor<4xf32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$gamma, Optional<AnyRankedTensor>:$beta, F64Attr:$eps,
                   UnitAttr:$save_stats);
  let results = (outs AnyRankedTensor:$output, Variadic<AnyRankedTensor>:$stats);
  let rowwise = "true";
  let signatureBody = [{
    std::string text = "input[...T,E]:f32, gamma[E]:f32, beta[E]:f32? -> output[...T,E]:f32";
    return op.getSaveStats() ? text + ", mean[...T]:f32, rstd[...T]:f32" : text;
  }];
  let assemblyFormat = "$input `,` $gamma (`,` $beta^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def CK_QkNormOp : CK_GraphOp<"qk_norm", [CK_Differentiable]> {
  let summary = "root-mean-square normalisation of every head of queries and keys";
  let description = [{
    Each head of each row is normalised on its own: `q_out[h,t,:] = q[h,t,:] * g(q_gamma) / sqrt(mean(q[h,t,:]^2) + eps)`
    with `g(x)` = x or `1 + x` by `gain = "weight" | "one_plus_weight"`; the same for k with `k_gamma`. `layout` says where
    heads are: `token_major` `[T, heads*D]`, `head_major` `[heads, T, D]`, D = `head_dim`.
    (Henry et al., Query-Key Normalization for Transformers, 2020, in the RMS form of current models.)

    Example:

    ```mlir
    %q1, %k1 = ck.qk_norm %q, %k gains %gq, %gk {eps = 1.0e-6 : f64, head_dim = 8 : i64}
        : (tensor<4x64xf32>, tensor<4x32xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x64xf32>, tensor<4x32xf32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$q, AnyRankedTensor:$k, AnyRankedTensor:$q_gamma, AnyRankedTensor:$k_gamma,
                   F64Attr:$eps, ConfinedAttr<I64Attr, [IntPositive]>:$head_dim,
                   CK_KeywordOr<["weight", "one_plus_weight"], "weight">:$gain,
                   CK_KeywordOr<["token_major", "head_major"], "token_major">:$layout);
  let results = (outs AnyRankedTensor:$q_out, AnyRankedTensor:$k_out);
  let rowwise = "true";
  let signatureBody = [{
    std::string q = ::ck::headDims("H", op.getLayout()), k = ::ck::headDims("KV", op.getLayout());
    return "q" + q + ":f32, k" + k + ":f32, q_gamma[$head_dim]:f32, k_gamma[$head_dim]:f32 -> q_out" + q + ":f32, k_out" +
           k + ":f32";
  }];
  let assemblyFormat = [{
    $q `,` $k `gains` $q_gamma `,` $k_gamma attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // CK_NORMOPS_TD
