//===- CKDataOps.td - ops that move values --------------------*- tablegen -*-===//
//
// Copies, permutations, cuts and choices: the values themselves do not change.
//
//===----------------------------------------------------------------------===//
#ifndef CK_DATAOPS_TD
#define CK_DATAOPS_TD

include "ck/Dialect/CK/CKDialect.td"
include "mlir/IR/BuiltinAttributes.td"

def CK_CopyOp : CK_GraphOp<"copy", [CK_Differentiable]> {
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

def CK_TransposeOp : CK_GraphOp<"transpose", [CK_Differentiable]> {
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

def CK_SplitOp : CK_GraphOp<"split", [CK_Differentiable]> {
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

def CK_ConcatOp : CK_GraphOp<"concat", [CK_Differentiable]> {
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

def CK_LastRowOp : CK_GraphOp<"last_row", [CK_Differentiable]> {
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

def CK_UpdateRowsOp : CK_GraphOp<"update_rows"> {
  let summary = "writes rows at given places";
  let description = [{
    Row `pos[t]` of the result is `src[t,:]`, row after row; the others are those of `dst`. A position outside `dst` fails at
    run time before anything is written.

    Example:

    ```mlir
    %y = ck.update_rows %dst, %src at %pos : (tensor<16x512xf32>, tensor<1x512xf32>, tensor<1xi32>) -> tensor<16x512xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dst, AnyRankedTensor:$src, AnyRankedTensor:$pos);
  let results = (outs AnyRankedTensor:$result);
  let signatureBody = [{ return "dst[S,V]:$X, src[T,V]:$X, pos[T]:i32 -> dst[S,V]:$X|="; }];
  let assemblyFormat = "$dst `,` $src `at` $pos attr-dict `:` functional-type(operands, results)";
}

#endif // CK_DATAOPS_TD
