// RUN: %ck_opt %s --verify-roundtrip | FileCheck %s
// RUN: %ck_opt %s --mlir-print-op-generic | %ck_opt | FileCheck %s

// CHECK-LABEL: func.func @patches
func.func @patches(%image: tensor<3x8x12xf32>, %wide: tensor<3x8x16xf32>, %any: tensor<3x?x12xf32>,
                   %w: tensor<32x3x4x4xbf16>, %b: tensor<32xf32>) {
  // CHECK: ck.patchify %{{.*}} {patch = 4 : i64} : (tensor<3x8x12xf32>) -> tensor<6x48xf32>
  %p = ck.patchify %image {patch = 4} : (tensor<3x8x12xf32>) -> tensor<6x48xf32>
  // CHECK: ck.patchify %{{.*}} {patch = 5 : i64} : (tensor<3x?x12xf32>) -> tensor<?x75xf32>
  %q = ck.patchify %any {patch = 5} : (tensor<3x?x12xf32>) -> tensor<?x75xf32>
  // CHECK: ck.patch_projection %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {merge_size = 2 : i64, patch = 4 : i64}
  // CHECK-SAME: -> tensor<8x32xbf16>
  %y = ck.patch_projection %wide, %w, %w, %b {patch = 4, merge_size = 2}
      : (tensor<3x8x16xf32>, tensor<32x3x4x4xbf16>, tensor<32x3x4x4xbf16>, tensor<32xf32>) -> tensor<8x32xbf16>
  return
}

// CHECK-LABEL: func.func @grids
func.func @grids(%x: tensor<24x64xf32>, %odd: tensor<35x64xf32>) {
  // CHECK: ck.spatial_merge %{{.*}} {grid_h = 4 : i64, grid_w = 6 : i64, merge_size = 2 : i64, mode = "concat"} : (tensor<24x64xf32>) -> tensor<6x256xf32>
  %a = ck.spatial_merge %x {grid_h = 4, grid_w = 6, merge_size = 2, mode = "concat"}
      : (tensor<24x64xf32>) -> tensor<6x256xf32>
  // CHECK: mode = "average"} : (tensor<35x64xf32>) -> tensor<6x64xf32>
  %b = ck.spatial_merge %odd {grid_h = 5, grid_w = 7, merge_size = 2, mode = "average"}
      : (tensor<35x64xf32>) -> tensor<6x64xf32>
  // CHECK: mode = "tiles"} : (tensor<24x64xf32>) -> tensor<6x256xf32>
  %c = ck.spatial_merge %x {grid_h = 4, grid_w = 6, merge_size = 2, mode = "tiles"}
      : (tensor<24x64xf32>) -> tensor<6x256xf32>
  // CHECK: ck.add_reorder %{{.*}}, %{{.*}} {grid_h = 4 : i64, grid_w = 6 : i64, merge_size = 2 : i64}
  %y = ck.add_reorder %x, %x {grid_h = 4, grid_w = 6, merge_size = 2}
      : (tensor<24x64xf32>, tensor<24x64xf32>) -> tensor<24x64xf32>
  return
}

// CHECK-LABEL: func.func @features
func.func @features(%main: tensor<4x64xf32>, %branch: tensor<3x4x16xf32>, %src: tensor<4x32xf32>) {
  // CHECK: ck.feature_concat %{{.*}}, %{{.*}} : (tensor<4x64xf32>, tensor<3x4x16xf32>) -> tensor<4x112xf32>
  %y = ck.feature_concat %main, %branch : (tensor<4x64xf32>, tensor<3x4x16xf32>) -> tensor<4x112xf32>
  // CHECK: ck.update_columns %{{.*}}, %{{.*}} {offset = 16 : i64} : (tensor<4x64xf32>, tensor<4x32xf32>) -> tensor<4x64xf32>
  %z = ck.update_columns %main, %src {offset = 16} : (tensor<4x64xf32>, tensor<4x32xf32>) -> tensor<4x64xf32>
  return
}

// CHECK-LABEL: func.func @prefix_insert
func.func @prefix_insert(%source: tensor<6x48xf32>, %start: tensor<1xi32>, %tokens: tensor<16xi32>,
                         %rows: tensor<16x64xf32>) {
  // CHECK: ck.prefix_insert %{{.*}} at %{{.*}}, %{{.*}}, %{{.*}} : (tensor<6x48xf32>, tensor<1xi32>, tensor<16xi32>, tensor<16x64xf32>)
  // CHECK-SAME: -> (tensor<16xi32>, tensor<16x64xf32>, tensor<1xi32>)
  %t1, %r1, %n = ck.prefix_insert %source at %start, %tokens, %rows
      : (tensor<6x48xf32>, tensor<1xi32>, tensor<16xi32>, tensor<16x64xf32>)
      -> (tensor<16xi32>, tensor<16x64xf32>, tensor<1xi32>)
  return
}
