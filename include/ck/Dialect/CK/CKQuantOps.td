//===- CKQuantOps.td - changes of storage ---------------------*- tablegen -*-===//
//
// Ops between the forms in which one tensor is stored: floats, blocks of small integers, and weights regrouped for a
// kernel. The result type says the form; nothing else in the IR ever narrows a value.
//
//===----------------------------------------------------------------------===//
#ifndef CK_QUANTOPS_TD
#define CK_QUANTOPS_TD

include "ck/Dialect/CK/CKDialect.td"
include "mlir/IR/BuiltinAttributes.td"

def CK_QuantizeOp : CK_TypedGraphOp<"quantize", [CK_Differentiable]> {
  let summary = "floats to blocks of small integers";
  let description = [{
    Rounds each block of a row to the block type of the result, by the rule of that format. Only
    `--ck-quantize-activations` and people write it: no pass inserts it on its own. The gradient passes as if nothing had
    been rounded (Bengio et al., 2013, straight-through).

    Example:

    ```mlir
    %q = ck.quantize %x : (tensor<4x256xf32>) -> tensor<4x256x!ck.q8_k>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$output);
  let rowwise = "true";
  let signatureBody = [{ return "input[...T,K]:f32 -> output[...T,K]:$Q"; }];
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def CK_DequantizeOp : CK_GraphOp<"dequantize", [CK_Differentiable]> {
  let summary = "the values that blocks stand for";
  let description = [{
    The value of each element of a tensor of a block type, as the format defines it, rounded once to f32.

    Example:

    ```mlir
    %x = ck.dequantize %w : (tensor<32x256x!ck.q4_k>) -> tensor<32x256xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$output);
  let rowwise = "true";
  let signatureBody = [{ return "input[...T,K]:$Q -> output[...T,K]:f32"; }];
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def CK_ConvertOp : CK_TypedGraphOp<"convert", [CK_Differentiable]> {
  let summary = "one float type to another";
  let description = [{
    Each value in the float type of the result (f64, f32, f16 or bf16), rounded to nearest, ties to even; what is too large
    becomes an infinity. Widening is exact.

    Example:

    ```mlir
    %y = ck.convert %x : (tensor<64xf16>) -> tensor<64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$output);
  let rowwise = "true";
  let signatureBody = [{ return "input[...N]:$X -> output[...N]:$Y"; }];
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def CK_PackOp : CK_TypedGraphOp<"pack"> {
  let summary = "a weight regrouped for a kernel";
  let description = [{
    The same bits with groups of 16 rows interleaved; the last group is padded with rows of zeros. What the order within
    a group is, only kernels know. `--ck-pack-weights` writes it, `--ck-hoist-init` moves it to load time.

    Example:

    ```mlir
    %p = ck.pack %w : (tensor<40x256x!ck.q4_k>) -> tensor<40x256x!ck.packed<q4_k, r16>>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$output);
  let signatureBody = [{ return ::ck::packSignature(op.getInput()); }];
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // CK_QUANTOPS_TD
