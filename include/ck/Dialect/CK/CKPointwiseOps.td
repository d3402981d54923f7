//===- CKPointwiseOps.td - elementwise ops --------------------*- tablegen -*-===//
//
// Results have the shape of their operands; leading dims are free.
//
//===----------------------------------------------------------------------===//
#ifndef CK_POINTWISEOPS_TD
#define CK_POINTWISEOPS_TD

include "ck/Dialect/CK/CKDialect.td"
include "mlir/IR/BuiltinAttributes.td"

def CK_GluOp : CK_GraphOp<"glu", [CK_Differentiable]> {
  let summary = "gated linear unit";
  let description = [{
    `output = act(gate) * up`. Two operands are gate and up; one operand holds both, gate in the first half of each row.
    (Shazeer, GLU Variants Improve Transformer, 2020.)

    Example:

    ```mlir
    %y = ck.glu %g, %u {act = "silu"} : (tensor<4x172xf32>, tensor<4x172xf32>) -> tensor<4x172xf32>
    ```
  }];
  let arguments = (ins CK_Floats:$gate, Optional<CK_Floats>:$up, CK_Keyword<CK_GluKinds>:$act);
  let results = (outs CK_Floats:$output);
  let rowwise = "true";
  let signatureBody = [{
    return op.getUp() ? "gate[...T,F]:$X, up[...T,F]:$X -> output[...T,F]:$X"
                      : "gate[...T,2*F]:$X, up[...T,F]:$X? -> output[...T,F]:$X";
  }];
  let assemblyFormat = "$gate (`,` $up^)? attr-dict `:` functional-type(operands, results)";
}

def CK_ActivationOp : CK_GraphOp<"activation", [CK_Differentiable]> {
  let summary = "elementwise activation";
  let description = [{
    `silu` x/(1+exp(-x)); `gelu_tanh` 0.5x(1+tanh(0.79788456(x+0.044715x^3))); `gelu_erf` 0.5x(1+erf(x/sqrt 2));
    `gelu_quick` x/(1+exp(-1.702x)); `relu` max(x,0); `relu2` max(x,0)^2; `leaky_relu` x or alpha*x below 0; `tanh`;
    `sigmoid`; `exp`; `sin`; `softcap` alpha*tanh(x/alpha). `alpha` belongs to `leaky_relu` and `softcap`. With `checked`,
    an input that is not finite fails at run time and leaves the output as it was.

    Example:

    ```mlir
    %y = ck.activation %x {kind = "gelu_erf"} : (tensor<4x64xf32>) -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins CK_Floats:$input, CK_Keyword<CK_ActivationKinds>:$kind,
                   DefaultValuedAttr<F64Attr, "0.0">:$alpha, CK_Flag:$checked);
  let results = (outs CK_Floats:$output);
  let rowwise = "true";
  let signatureBody = [{ return "input[...N]:$X -> output[...N]:$X"; }];
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def CK_AddOp : CK_GraphOp<"add", [CK_Differentiable]> {
  let summary = "scaled elementwise sum";
  let description = [{
    `output = scale * (a + alpha * b)`.

    Example:

    ```mlir
    %y = ck.add %a, %b : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins CK_Floats:$a, CK_Floats:$b, DefaultValuedAttr<F64Attr, "1.0">:$alpha,
                   DefaultValuedAttr<F64Attr, "1.0">:$scale);
  let results = (outs CK_Floats:$output);
  let rowwise = "true";
  let signatureBody = [{ return "a[...N]:$X, b[...N]:$X -> output[...N]:$X"; }];
  let assemblyFormat = "$a `,` $b attr-dict `:` functional-type(operands, results)";
}

def CK_MulOp : CK_GraphOp<"mul", [CK_Differentiable]> {
  let summary = "elementwise product";
  let description = [{
    `output = a * b`.

    Example:

    ```mlir
    %y = ck.mul %a, %b : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins CK_Floats:$a, CK_Floats:$b);
  let results = (outs CK_Floats:$output);
  let rowwise = "true";
  let signatureBody = [{ return "a[...N]:$X, b[...N]:$X -> output[...N]:$X"; }];
  let assemblyFormat = "$a `,` $b attr-dict `:` functional-type(operands, results)";
}

def CK_ScaleOp : CK_GraphOp<"scale", [
    DeclareOpInterfaceMethods<DifferentiableOpInterface, ["getUndifferentiated"]>]> {
  let summary = "product with a number";
  let description = [{
    `output = factor * input`; with the operand `by`, a number known only at run time, `output = factor * by[0] * input`.

    Example:

    ```mlir
    %y = ck.scale %x {factor = 0.125 : f64} : (tensor<4x64xf32>) -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins CK_Floats:$input, Optional<AnyRankedTensor>:$by,
                   DefaultValuedAttr<F64Attr, "1.0">:$factor);
  let results = (outs CK_Floats:$output);
  let rowwise = "true";
  let signatureBody = [{ return "input[...N]:$X, by[1]:f32? -> output[...N]:$X"; }];
  let assemblyFormat = "$input (`by` $by^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def CK_BiasAddOp : CK_GraphOp<"bias_add", [
    DeclareOpInterfaceMethods<DifferentiableOpInterface, ["getUndifferentiated"]>]> {
  let summary = "adds one row to every row";
  let description = [{
    `output[t,n] = input[t,n] + bias[n]`. The gradient passes to the input. A bias that is trained belongs to the
    projection in front of it, `ck.linear`, whose gradient sums its columns.

    Example:

    ```mlir
    %y = ck.bias_add %x, %b : (tensor<4x64xf32>, tensor<64xf32>) -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$bias);
  let results = (outs AnyRankedTensor:$output);
  let rowwise = "true";
  let signatureBody = [{ return "input[...T,N]:f32, bias[N]:f32 -> output[...T,N]:f32"; }];
  let assemblyFormat = "$input `,` $bias attr-dict `:` functional-type(operands, results)";
}

#endif // CK_POINTWISEOPS_TD
