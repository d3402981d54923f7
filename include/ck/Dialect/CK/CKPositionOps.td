//===- CKPositionOps.td - where a token is --------------------*- tablegen -*-===//
//
// Rotations that compute their own angles, rotations by several axes, learned tables of positions, and the streams of
// position numbers that images and text need. Rotations by a table of cosines are in CKAttentionOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef CK_POSITIONOPS_TD
#define CK_POSITIONOPS_TD

include "ck/Dialect/CK/CKDialect.td"
include "mlir/IR/BuiltinAttributes.td"

/// Cells of an image grid; `merge_size` is the side of the tiles that tokens are ordered by.
defvar CK_Grid = (ins CK_Positive:$grid_h, CK_Positive:$grid_w,
                  DefaultValuedAttr<CK_Positive, "1">:$merge_size);

def CK_RopeTableAtOp : CK_TypedGraphOp<"rope_table_at"> {
  let summary = "cosines and sines of given rotary positions";
  let description = [{
    Row t of what `ck.rope_table` computes for row `pos[t]`, with the same attributes; results are f32 or bf16 as their
    types say. A negative position fails at run time.

    Example:

    ```mlir
    %cos, %sin = ck.rope_table_at %pos {rotary_dim = 64, theta = 8.0e6 : f64, scaling = "yarn", factor = 4.0e1 : f64,
                                        original_context = 4096} : (tensor<4xi32>) -> (tensor<4x32xbf16>, tensor<4x32xbf16>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$pos, CK_Positive:$rotary_dim, CK_Double:$theta,
                   CK_KeywordOr<["none", "linear", "llama3", "yarn"], "none">:$scaling, CK_Real<"1.0">:$factor,
                   CK_Real<"1.0">:$low_freq_factor, CK_Real<"4.0">:$high_freq_factor,
                   DefaultValuedAttr<I64Attr, "0">:$original_context, CK_Real<"32.0">:$beta_fast,
                   CK_Real<"1.0">:$beta_slow, CK_Real<"1.0">:$mscale, CK_Real<"0.0">:$mscale_all_dim);
  let results = (outs CK_Floats:$cos, CK_Floats:$sin);
  let rowwise = "true";
  let signatureBody = [{ return "pos[T]:i32 -> cos[T,$rotary_dim/2]:$X, sin[T,$rotary_dim/2]:$X"; }];
  let assemblyFormat = "$pos attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def CK_RopeDirectOp : CK_GraphOp<"rope_direct", [AttrSizedOperandSegments]> {
  let summary = "rotates queries and keys by angles computed on the way";
  let description = [{
    As `ck.rope`, without tables: pair i of row t turns by `pos[t] * theta^(-2i / rotary_dim) / freq_factors[i]`; absent
    factors are 1. Columns behind `rotary_dim` pass.

    Example:

    ```mlir
    %q1, %k1 = ck.rope_direct %q, %k pos %pos {head_dim = 8, rotary_dim = 8, theta = 1.0e4 : f64, pairing = "half",
                                               layout = "head_major"}
        : (tensor<8x4x8xf32>, tensor<4x4x8xf32>, tensor<4xi32>) -> (tensor<8x4x8xf32>, tensor<4x4x8xf32>)
    ```
  }];
  let arguments = (ins CK_Floats:$q, Optional<CK_Floats>:$k, AnyRankedTensor:$pos,
                   Optional<AnyRankedTensor>:$freq_factors, CK_Keyword<["half", "adjacent"]>:$pairing,
                   CK_Positive:$head_dim, CK_Positive:$rotary_dim, CK_Double:$theta,
                   CK_KeywordOr<["token_major", "head_major"], "token_major">:$layout,
                   CK_Flag:$inverse);
  let results = (outs CK_Floats:$q_out, Optional<CK_Floats>:$k_out);
  let rowwise = "true";
  let signatureBody = [{
    return ::ck::rotationSignature(op.getLayout(), "pos[T]:i32, freq_factors[$rotary_dim/2]:f32?", "$X", "$X",
                                   static_cast<bool>(op.getK()));
  }];
  let assemblyFormat = [{
    $q (`,` $k^)? `pos` $pos (`factors` $freq_factors^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

/// What is only stored for others to read may be f16, too.
def CK_StoredFloats : RankedTensorOf<[F32, BF16, F16]>;

def CK_MRopeOp : CK_TypedGraphOp<"mrope"> {
  let summary = "rotates queries and keys by positions on several axes";
  let description = [{
    Pairs are `(i, i + rotary_dim/2)`. Each pair turns by the position of one axis; `mode` and the sections say which:
    `text` takes the axes one after the other, `interleaved` and `interleaved3` in turns (with and without a fourth axis
    for pairs that are left over), `vision` two axes whose powers start anew, `blocks` two separate rotations, one for
    each half of the width. `positions` has a row for each axis, or one row for all. `freq_scale`, `ext_factor`,
    `attn_factor`, `beta_fast`, `beta_slow` and `original_context` stretch the context as YaRN does (Peng et al., 2023).
    Results are f32, bf16 or f16 as their types say. (Wang et al., Qwen2-VL, 2024.)

    Example:

    ```mlir
    %q1, %k1 = ck.mrope %q, %k positions %pos {head_dim = 8, rotary_dim = 8, theta = 1.0e6 : f64, mode = "text",
                                               section_0 = 2, section_1 = 1, section_2 = 1, layout = "head_major"}
        : (tensor<8x4x8xf32>, tensor<4x4x8xf32>, tensor<4x4xi32>) -> (tensor<8x4x8xf32>, tensor<4x4x8xf32>)
    ```
  }];
  let arguments = (ins CK_Floats:$q, Optional<CK_Floats>:$k, AnyRankedTensor:$positions,
                   CK_Keyword<["text", "interleaved", "interleaved3", "vision", "blocks"]>:$mode, CK_Positive:$head_dim,
                   CK_Positive:$rotary_dim, CK_Double:$theta, DefaultValuedAttr<I64Attr, "0">:$section_0,
                   DefaultValuedAttr<I64Attr, "0">:$section_1, DefaultValuedAttr<I64Attr, "0">:$section_2,
                   DefaultValuedAttr<I64Attr, "0">:$section_3, CK_Real<"1.0">:$freq_scale, CK_Real<"0.0">:$ext_factor,
                   CK_Real<"1.0">:$attn_factor, CK_Real<"32.0">:$beta_fast, CK_Real<"1.0">:$beta_slow,
                   DefaultValuedAttr<I64Attr, "0">:$original_context,
                   CK_KeywordOr<["token_major", "head_major"], "token_major">:$layout,
                   CK_Flag:$inverse);
  let results = (outs CK_StoredFloats:$q_out, Optional<CK_StoredFloats>:$k_out);
  let signatureBody = [{
    return ::ck::rotationSignature(op.getLayout(), "positions[A,T]:i32", "$X", "$Y", static_cast<bool>(op.getK()));
  }];
  let assemblyFormat = "$q (`,` $k^)? `positions` $positions attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def CK_PositionEmbeddingOp : CK_GraphOp<"position_embedding"> {
  let summary = "adds a learned vector for the position of each row";
  let description = [{
    `y[t,:] = x[t,:] + table[pos[t],:]`; without `pos`, row t of the table. A position outside the table fails at run time.

    Example:

    ```mlir
    %y = ck.position_embedding %x, %table : (tensor<4x64xf32>, tensor<128x64xf32>) -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$table, Optional<AnyRankedTensor>:$pos);
  let results = (outs AnyRankedTensor:$y);
  let signatureBody = [{ return "x[T,E]:f32, table[P,E]:f32, pos[T]:i32? -> y[T,E]:f32"; }];
  let assemblyFormat = "$x `,` $table (`pos` $pos^)? attr-dict `:` functional-type(operands, results)";
}

def CK_PositionEmbedding2DOp : CK_GraphOp<"position_embedding_2d"> {
  let summary = "adds learned vectors for the cells of an image grid";
  let description = [{
    Rows are the cells of a `grid_h` by `grid_w` grid, tile by tile of side `merge_size`. `mode` says what the table is:
    `xy` one row for each column and each row of the grid, `[2,G,E]`, their sum is added; else `source_grid` by
    `source_grid` cells, resized to the grid: `align_corners` bilinearly between the corner cells, `antialias` by triangles
    about the centres of cells.

    Example:

    ```mlir
    %y = ck.position_embedding_2d %x, %table {grid_h = 4, grid_w = 6, merge_size = 2, source_grid = 3,
                                              mode = "align_corners"}
        : (tensor<24x64xf32>, tensor<9x64xf32>) -> tensor<24x64xf32>
    ```
  }];
  let arguments = !con((ins CK_Floats:$x, CK_Floats:$table), CK_Grid,
                       (ins CK_Keyword<["xy", "align_corners", "antialias"]>:$mode,
                        DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$source_grid));
  let results = (outs CK_Floats:$y);
  let signatureBody = [{
    return op.getMode() == "xy"
        ? "x[$grid_h*$grid_w,E]:f32, table[2,G,E]:f32 -> y[$grid_h*$grid_w,E]:f32"
        : "x[$grid_h*$grid_w,E]:$X, table[$source_grid*$source_grid,E]:$X -> y[$grid_h*$grid_w,E]:$X";
  }];
  let assemblyFormat = "$x `,` $table attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def CK_PositionIdsOp : CK_GraphOp<"position_ids"> {
  let summary = "row and column of each cell of an image grid";
  let description = [{
    Streams y, x, y, x of the cells in the order of tiles of side `merge_size`.

    Example:

    ```mlir
    %p = ck.position_ids {grid_h = 4, grid_w = 6, merge_size = 2} : () -> tensor<4x24xi32>
    ```
  }];
  let arguments = CK_Grid;
  let results = (outs AnyRankedTensor:$positions);
  let signatureBody = [{ return " -> positions[4,$grid_h*$grid_w]:i32"; }];
  let assemblyFormat = "attr-dict `:` functional-type(operands, results)";
}

def CK_MultimodalPositionsOp : CK_GraphOp<"multimodal_positions"> {
  let summary = "position streams of text around an image";
  let description = [{
    Text before row `prefix_start` counts up to `position_base`; the image's cells have the base in stream 0 and base plus
    row or column in streams 1 and 2; text behind it goes on at `text_pos`, or where the image's larger side ends if that
    is 0. Stream 3 is 0. `next_position` is the position of the first token behind the image.

    Example:

    ```mlir
    %p, %n = ck.multimodal_positions %start, %base, %text {rows = 10, grid_x = 3, grid_y = 2}
        : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<4x10xi32>, tensor<1xi32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$prefix_start, AnyRankedTensor:$position_base, AnyRankedTensor:$text_pos,
                   CK_Positive:$rows, CK_Positive:$grid_x, CK_Positive:$grid_y);
  let results = (outs AnyRankedTensor:$positions, AnyRankedTensor:$next_position);
  let signatureBody = [{
    return "prefix_start[1]:i32, position_base[1]:i32, text_pos[1]:i32 -> positions[4,$rows]:i32, next_position[1]:i32";
  }];
  let assemblyFormat = "$prefix_start `,` $position_base `,` $text_pos attr-dict `:` functional-type(operands, results)";
}

#endif // CK_POSITIONOPS_TD
