//===- CKNormOps.td - normalisation of rows -------------------*- tablegen -*-===//
//
// Each norm can give the statistics of its rows, which its gradient takes.
//
//===----------------------------------------------------------------------===//
#ifndef CK_NORMOPS_TD
#define CK_NORMOPS_TD

include "ck/Dialect/CK/CKDialect.td"
include "mlir/IR/BuiltinAttributes.td"

def CK_NormGain : CK_Keyword<["none", "weight", "one_plus_weight"]>;

def CK_RmsNormOp : CK_GraphOp<"rms_norm", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<DifferentiableOpInterface, ["prepareAdjoint", "getUndifferentiated"]>]> {
  let summary = "root-mean-square normalisation of rows";
  let description = [{
    With `x = scale * input`: `rstd[t] = 1 / sqrt(mean_e(x[t,e]^2) + eps)`, `output[t,e] = x[t,e] * rstd[t] * g[e]` where
    `g` is 1, `gamma` or `1 + gamma` by `gain = "none" | "weight" | "one_plus_weight"`. `save_rstd` adds the result `rstd`.
    (Zhang and Sennrich, Root Mean Square Layer Normalization, 2019.)

    The input may be codes, which `input_scale[t]` gives their size in row t: with `codes = "int8"` of i8, with
    `codes = "int4"` of ui8 with two in each byte, the first in the low half, 8 more than they mean. The output is f32 then;
    without codes it has the type of the input.

    Example:

    ```mlir
    %y = ck.rms_norm %x, %g {eps = 1.0e-5 : f64} : (tensor<4x64xf32>, tensor<64xf32>) -> tensor<4x64xf32>
    %z = ck.rms_norm %codes, %g scales %s {eps = 1.0e-5 : f64, codes = "int4"}
        : (tensor<4x32xui8>, tensor<64xf32>, tensor<4xf32>) -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Optional<CK_Floats>:$gamma, Optional<AnyRankedTensor>:$input_scale,
                   F64Attr:$eps, DefaultValuedStrAttr<CK_NormGain, "weight">:$gain, UnitAttr:$save_rstd,
                   CK_KeywordOr<["none", "int8", "int4"], "none">:$codes, CK_Real<"1.0">:$scale);
  let results = (outs CK_Floats:$output, Optional<AnyRankedTensor>:$rstd);
  // Of an input that needs no scales.
  let builders = [
    OpBuilder<(ins "::mlir::Type":$output, "::mlir::Type":$rstd, "::mlir::Value":$input, "::mlir::Value":$gamma,
               "::llvm::APFloat":$eps, CArg<"::llvm::StringRef", "\"weight\"">:$gain, CArg<"bool", "false">:$save_rstd), [{
      build($_builder, $_state, output, rstd, input, gamma, ::mlir::Value(), eps, gain, save_rstd);
    }]>,
    OpBuilder<(ins "::mlir::Value":$input, "::mlir::Value":$gamma, "::mlir::FloatAttr":$eps, "::mlir::StringAttr":$gain,
               CArg<"::mlir::UnitAttr", "{}">:$save_rstd), [{
      build($_builder, $_state, input, gamma, ::mlir::Value(), eps, gain, save_rstd, $_builder.getStringAttr("none"),
            $_builder.getF64FloatAttr(1.0));
    }]>
  ];
  let rowwise = "true";
  let signatureBody = [{
    std::string text = op.getCodes() == "none"
        ? "input[...T,E]:$X, gamma[E]:$G?, input_scale[...T]:f32? -> output[...T,E]:$X"
        : op.getCodes() == "int8" ? "input[...T,E]:i8, gamma[E]:$G?, input_scale[...T]:f32 -> output[...T,E]:f32"
                                  : "input[...T,B]:u8, gamma[2*B]:$G?, input_scale[...T]:f32 -> output[...T,2*B]:f32";
    return op.getSaveRstd() ? text + ", rstd[...T]:f32" : text;
  }];
  let assemblyFormat = [{
    $input (`,` $gamma^)? (`scales` $input_scale^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def CK_LayerNormOp : CK_GraphOp<"layer_norm", [CK_DifferentiableSaving, AttrSizedOperandSegments]> {
  let summary = "normalisation of rows to mean 0 and variance 1";
  let description = [{
    `mean[t] = mean_e(input[t,e])`, `rstd[t] = 1 / sqrt(mean_e((input[t,e] - mean[t])^2) + eps)`,
    `output[t,e] = (input[t,e] - mean[t]) * rstd[t] * gamma[e] + beta[e]`. The variance is that of the population; absent
    gamma are 1, absent beta 0. `save_stats` adds the results `mean` and `rstd`. With `checked`, an input that is not finite
    fails at run time and leaves the output as it was. (Ba, Kiros and Hinton, Layer Normalization, 2016.)

    Example:

    ```mlir
    %y, %m, %r = ck.layer_norm %x, %g, %b {eps = 1.0e-5 : f64, save_stats}
        : (tensor<4x64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<4x64xf32>, tensor<4xf32>, tensor<4xf32>)
    ```
  }];
  let arguments = (ins CK_Floats:$input, Optional<CK_Floats>:$gamma, Optional<CK_Floats>:$beta, F64Attr:$eps,
                   UnitAttr:$save_stats, CK_Flag:$checked);
  let results = (outs CK_Floats:$output, Variadic<AnyRankedTensor>:$stats);
  let rowwise = "true";
  let signatureBody = [{
    std::string text = "input[...T,E]:$X, gamma[E]:$X?, beta[E]:$X? -> output[...T,E]:$X";
    return op.getSaveStats() ? text + ", mean[...T]:f32, rstd[...T]:f32" : text;
  }];
  let assemblyFormat = "$input (`,` $gamma^)? (`,` $beta^)? attr-dict `:` functional-type(operands, results)";
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
