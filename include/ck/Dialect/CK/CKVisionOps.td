//===- CKVisionOps.td - from images to rows -------------------*- tablegen -*-===//
//
// Cutting images into patches, merging patches, and putting their rows among those of text.
//
//===----------------------------------------------------------------------===//
#ifndef CK_VISIONOPS_TD
#define CK_VISIONOPS_TD

include "ck/Dialect/CK/CKPositionOps.td"

def CK_PatchifyOp : CK_GraphOp<"patchify"> {
  let summary = "an image as rows of patches";
  let description = [{
    Row `py * (B / patch) + px` holds channel by channel the pixels of that patch, row by row. Pixels behind the last whole
    patch are dropped.

    Example:

    ```mlir
    %p = ck.patchify %image {patch = 4} : (tensor<3x8x12xf32>) -> tensor<6x48xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$image, CK_Positive:$patch);
  let results = (outs AnyRankedTensor:$patches);
  let signatureBody = [{ return "image[C,A,B]:f32 -> patches[(A/$patch)*(B/$patch),C*$patch*$patch]:f32"; }];
  let assemblyFormat = "$image attr-dict `:` functional-type(operands, results)";
}

def CK_PatchProjectionOp : CK_GraphOp<"patch_projection"> {
  let summary = "patches of a still image, taken as two equal frames, projected";
  let description = [{
    `output[k,n] = bias[n] + sum pixel * (w0[n] + w1[n])` over the channels and pixels of patch k, in bfloat16; tokens lie
    tile by tile of side `merge_size`. Sides that are no multiple of a patch, or grids of a tile, fail at run time.

    Example:

    ```mlir
    %y = ck.patch_projection %image, %w0, %w1, %b {patch = 4, merge_size = 2}
        : (tensor<3x8x16xf32>, tensor<32x3x4x4xbf16>, tensor<32x3x4x4xbf16>, tensor<32xf32>) -> tensor<8x32xbf16>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$image, AnyRankedTensor:$w0, AnyRankedTensor:$w1, AnyRankedTensor:$bias,
                   CK_Positive:$patch, DefaultValuedAttr<CK_Positive, "1">:$merge_size);
  let results = (outs AnyRankedTensor:$output);
  let signatureBody = [{
    return "image[C,A,B]:f32, w0[N,C,$patch,$patch]:bf16, w1[N,C,$patch,$patch]:bf16, bias[N]:f32 -> "
           "output[(A/$patch)*(B/$patch),N]:bf16";
  }];
  let assemblyFormat = "$image `,` $w0 `,` $w1 `,` $bias attr-dict `:` functional-type(operands, results)";
}

def CK_SpatialMergeOp : CK_GraphOp<"spatial_merge"> {
  let summary = "one row for each tile of a grid";
  let description = [{
    `average`: the mean of the cells of a tile of side `merge_size`, cells row by row. `concat`: its cells side by side.
    `tiles`: side by side, where rows lie tile by tile already. Cells behind the last whole tile are dropped.

    Example:

    ```mlir
    %y = ck.spatial_merge %x {grid_h = 4, grid_w = 6, merge_size = 2, mode = "concat"}
        : (tensor<24x64xf32>) -> tensor<6x256xf32>
    ```
  }];
  let arguments = !con((ins AnyRankedTensor:$x), CK_Grid, (ins CK_Keyword<["average", "concat", "tiles"]>:$mode));
  let results = (outs AnyRankedTensor:$output);
  let signatureBody = [{
    std::string rows = op.getMode() == "tiles" ? "($grid_h*$grid_w)/($merge_size*$merge_size)"
                                               : "($grid_h/$merge_size)*($grid_w/$merge_size)";
    return "x[$grid_h*$grid_w,E]:f32 -> output[" + rows +
           (op.getMode() == "average" ? ",E]:f32" : ",E*$merge_size*$merge_size]:f32");
  }];
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def CK_AddReorderOp : CK_GraphOp<"add_reorder"> {
  let summary = "sums two streams of cells and orders them tile by tile";
  let description = [{
    `output[k,:] = a[c,:] + b[c,:]`, c the row-major cell at position k of the order of tiles of side `merge_size`.

    Example:

    ```mlir
    %y = ck.add_reorder %a, %b {grid_h = 4, grid_w = 6, merge_size = 2}
        : (tensor<24x64xf32>, tensor<24x64xf32>) -> tensor<24x64xf32>
    ```
  }];
  let arguments = !con((ins AnyRankedTensor:$a, AnyRankedTensor:$b), CK_Grid);
  let results = (outs AnyRankedTensor:$output);
  let signatureBody = [{
    return "a[$grid_h*$grid_w,E]:f32, b[$grid_h*$grid_w,E]:f32 -> output[$grid_h*$grid_w,E]:f32";
  }];
  let assemblyFormat = "$a `,` $b attr-dict `:` functional-type(operands, results)";
}

def CK_FeatureConcatOp : CK_GraphOp<"feature_concat"> {
  let summary = "further features beside the main ones";
  let description = [{
    `output[t] = main[t] | branch[0,t] | ... | branch[N-1,t]`: branches collected one after the other join the rows that
    they belong to.

    Example:

    ```mlir
    %y = ck.feature_concat %main, %branch : (tensor<4x64xf32>, tensor<3x4x16xf32>) -> tensor<4x112xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$main, AnyRankedTensor:$branch);
  let results = (outs AnyRankedTensor:$output);
  let signatureBody = [{ return "main[T,C]:f32, branch[N,T,J]:f32 -> output[T,C+N*J]:f32"; }];
  let assemblyFormat = "$main `,` $branch attr-dict `:` functional-type(operands, results)";
}

def CK_UpdateColumnsOp : CK_GraphOp<"update_columns"> {
  let summary = "writes a window of columns";
  let description = [{
    Columns `offset` to `offset + C` of the result are `src`, the others those of `dst`.

    Example:

    ```mlir
    %y = ck.update_columns %dst, %src {offset = 16} : (tensor<4x64xf32>, tensor<4x32xf32>) -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dst, AnyRankedTensor:$src,
                   DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$offset);
  let results = (outs AnyRankedTensor:$result);
  let rowwise = "true";
  let signatureBody = [{ return "dst[T,J]:f32, src[T,C]:f32 -> dst[T,J]:f32|="; }];
  let assemblyFormat = "$dst `,` $src attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def CK_PrefixInsertOp : CK_GraphOp<"prefix_insert"> {
  let summary = "puts the rows of an image among those of text";
  let description = [{
    Rows `start` and following of `rows` get the rows of `source` in their first columns, and token id 0; rows behind the
    end of the sequence are dropped. `count` is how many were copied. A start outside the sequence fails at run time.

    Example:

    ```mlir
    %t1, %r1, %n = ck.prefix_insert %source at %start, %tokens, %rows
        : (tensor<6x48xf32>, tensor<1xi32>, tensor<16xi32>, tensor<16x64xf32>)
        -> (tensor<16xi32>, tensor<16x64xf32>, tensor<1xi32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source, AnyRankedTensor:$start, AnyRankedTensor:$tokens, AnyRankedTensor:$rows);
  let results = (outs AnyRankedTensor:$tokens_result, AnyRankedTensor:$rows_result, AnyRankedTensor:$count);
  let signatureBody = [{
    return "source[N,C]:f32, start[1]:i32, tokens[S]:i32, rows[S,E]:f32 -> "
           "tokens[S]:i32|=, rows[S,E]:f32|=, count[1]:i32";
  }];
  let assemblyFormat = "$source `at` $start `,` $tokens `,` $rows attr-dict `:` functional-type(operands, results)";
}

#endif // CK_VISIONOPS_TD
