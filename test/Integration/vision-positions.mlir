// From an image to rows among those of text: operations on images and positions compile like any other, for LLVM and as a
// table. What their kernels compute is tried by `ck-kernels check`.

// RUN: %ck_opt --ck-inference-pipeline %s | FileCheck %s
// RUN: %ck_opt --ck-inference-pipeline --ck-lower-to-llvm %s | FileCheck %s --check-prefix=LLVM
// RUN: %ck_translate --ck-to-table %s -o %t.ckplan
// RUN: %ck_translate --ck-to-object %s -o %t.o

// CHECK-LABEL: func.func @encode(
// CHECK-DAG: ck.call @im2patch {{.*}}params({patch = 4 : i64})
// CHECK-DAG: ck.call @position_embeddings_add_tiled_2d_align_corners {{.*}}source_grid = 3 : i64
// CHECK-DAG: ck.call @mrope_qk_vision ins({{.*}}section_0 = 2 : i64, section_1 = 2 : i64
// CHECK-DAG: ck.call @attention_head_major_f32 {{.*}}mask = "full"
// CHECK-DAG: ck.call @spatial_merge_contiguous_tiled
// CHECK-DAG: ck.call @multimodal_prefix_insert_f32 {{.*}}outs(tokens = %[[T:.*]] : memref<12xi32>, rows = %[[R:.*]] : memref<12x128xf32>, count
// CHECK-DAG: ck.call @multimodal_mrope_positions_2d

// What depends on no input is computed once.
// CHECK-LABEL: func.func @init(
// CHECK: ck.call @vision_position_ids_2d_merge

// LLVM: llvm.call @ckk_im2patch
// LLVM: llvm.call @ckk_multimodal_prefix_insert_f32

module attributes {ck.model = "vision", ck.numerics = "f32"} {
  ck.buffer @w weight : tensor<32x48xf32>
  ck.buffer @cells weight : tensor<9x32xf32>
  ck.buffer @words weight : tensor<64x128xf32>

  func.func @encode(%image: tensor<3x16x24xf32> {ck.input = "image"}, %ids: tensor<12xi32> {ck.input = "tokens"},
                    %start: tensor<1xi32> {ck.input = "start"}, %base: tensor<1xi32> {ck.input = "base"},
                    %text: tensor<1xi32> {ck.input = "text"}, %pos: tensor<12xi32> {ck.input = "pos"})
      -> (tensor<12x128xf32> {ck.output = "rows"}, tensor<12xi32> {ck.output = "ids"}, tensor<4x12xi32> {ck.output = "positions"},
          tensor<1xi32> {ck.output = "next"}, tensor<4x24x8xf32> {ck.output = "seen"}) attributes {ck.entry} {
    %w = ck.param @w : tensor<32x48xf32>
    %cells = ck.param @cells : tensor<9x32xf32>
    %words = ck.param @words : tensor<64x128xf32>
    %patches = ck.patchify %image {patch = 4} : (tensor<3x16x24xf32>) -> tensor<24x48xf32>
    %p = ck.linear %patches, %w : (tensor<24x48xf32>, tensor<32x48xf32>) -> tensor<24x32xf32>
    %x = ck.position_embedding_2d %p, %cells {grid_h = 4, grid_w = 6, merge_size = 2, source_grid = 3,
                                              mode = "align_corners"}
        : (tensor<24x32xf32>, tensor<9x32xf32>) -> tensor<24x32xf32>
    %places = ck.position_ids {grid_h = 4, grid_w = 6, merge_size = 2} : () -> tensor<4x24xi32>
    %q, %k, %v = ck.qkv_linear %patches, %w, %w, %w {layout = "head_major", heads = 4, kv_heads = 4}
        : (tensor<24x48xf32>, tensor<32x48xf32>, tensor<32x48xf32>, tensor<32x48xf32>)
        -> (tensor<4x24x8xf32>, tensor<4x24x8xf32>, tensor<4x24x8xf32>)
    %q1, %k1 = ck.mrope %q, %k positions %places {head_dim = 8, rotary_dim = 8, theta = 1.0e4 : f64, mode = "vision",
                                                  section_0 = 2, section_1 = 2, layout = "head_major"}
        : (tensor<4x24x8xf32>, tensor<4x24x8xf32>, tensor<4x24xi32>) -> (tensor<4x24x8xf32>, tensor<4x24x8xf32>)
    %a = ck.attention %q1, %k1, %v {heads = 4, kv_heads = 4, layout = "head_major", mask = "full"}
        : (tensor<4x24x8xf32>, tensor<4x24x8xf32>, tensor<4x24x8xf32>) -> tensor<4x24x8xf32>
    %merged = ck.spatial_merge %x {grid_h = 4, grid_w = 6, merge_size = 2, mode = "tiles"}
        : (tensor<24x32xf32>) -> tensor<6x128xf32>
    %rows = ck.embedding %ids, %words : (tensor<12xi32>, tensor<64x128xf32>) -> tensor<12x128xf32>
    %own = ck.copy %ids : (tensor<12xi32>) -> tensor<12xi32>
    %t1, %r1, %n = ck.prefix_insert %merged at %start, %own, %rows
        : (tensor<6x128xf32>, tensor<1xi32>, tensor<12xi32>, tensor<12x128xf32>)
        -> (tensor<12xi32>, tensor<12x128xf32>, tensor<1xi32>)
    %streams, %next = ck.multimodal_positions %start, %base, %text {rows = 12, grid_x = 3, grid_y = 2}
        : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<4x12xi32>, tensor<1xi32>)
    return %r1, %t1, %streams, %next, %a
        : tensor<12x128xf32>, tensor<12xi32>, tensor<4x12xi32>, tensor<1xi32>, tensor<4x24x8xf32>
  }
}
