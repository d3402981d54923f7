// RUN: %ck_opt %s --verify-roundtrip | FileCheck %s
// RUN: %ck_opt %s --mlir-print-op-generic | %ck_opt | FileCheck %s

// CHECK-LABEL: func.func @rope_tables
func.func @rope_tables(%pos: tensor<4xi32>, %d: tensor<?xi32>) {
  // CHECK: ck.rope_table {beta_fast = 2.400000e+01 : f64, factor = 4.000000e+01 : f64, mscale_all_dim = 7.500000e-01 : f64, original_context = 4096 : i64, rotary_dim = 64 : i64, rows = 128 : i64, scaling = "yarn", theta = 1.000000e+04 : f64}
  %c0, %s0 = ck.rope_table {rows = 128, rotary_dim = 64, theta = 1.0e4 : f64, scaling = "yarn", factor = 4.0e1 : f64,
                            original_context = 4096, beta_fast = 24.0 : f64, mscale_all_dim = 0.75 : f64}
      : () -> (tensor<128x32xf32>, tensor<128x32xf32>)
  // CHECK: ck.rope_table_at %{{.*}} {factor = 4.000000e+01 : f64, original_context = 4096 : i64, rotary_dim = 64 : i64, scaling = "yarn", theta = 8.000000e+06 : f64} : (tensor<4xi32>) -> (tensor<4x32xbf16>, tensor<4x32xbf16>)
  %c1, %s1 = ck.rope_table_at %pos {rotary_dim = 64, theta = 8.0e6 : f64, scaling = "yarn", factor = 4.0e1 : f64,
                                    original_context = 4096} : (tensor<4xi32>) -> (tensor<4x32xbf16>, tensor<4x32xbf16>)
  // CHECK: ck.rope_table_at %{{.*}} {rotary_dim = 8 : i64, theta = 1.000000e+04 : f64} : (tensor<?xi32>) -> (tensor<?x4xf32>, tensor<?x4xf32>)
  %c2, %s2 = ck.rope_table_at %d {rotary_dim = 8, theta = 1.0e4 : f64} : (tensor<?xi32>) -> (tensor<?x4xf32>, tensor<?x4xf32>)
  return
}

// CHECK-LABEL: func.func @rope_direct
func.func @rope_direct(%q: tensor<8x4x8xf32>, %k: tensor<4x4x8xf32>, %pos: tensor<4xi32>, %f: tensor<4xf32>,
                       %b: tensor<?x64xbf16>, %d: tensor<?xi32>) {
  // CHECK: ck.rope_direct %{{.*}}, %{{.*}} pos %{{[a-z0-9]+}} {head_dim = 8 : i64, layout = "head_major", pairing = "half", rotary_dim = 8 : i64, theta = 1.000000e+04 : f64}
  %q1, %k1 = ck.rope_direct %q, %k pos %pos {head_dim = 8, rotary_dim = 8, theta = 1.0e4 : f64, pairing = "half",
                                             layout = "head_major"}
      : (tensor<8x4x8xf32>, tensor<4x4x8xf32>, tensor<4xi32>) -> (tensor<8x4x8xf32>, tensor<4x4x8xf32>)
  // CHECK: ck.rope_direct %{{[a-z0-9]+}} pos %{{.*}} factors %{{[a-z0-9]+}} {{.*}}inverse = true{{.*}} : (tensor<8x4x8xf32>, tensor<4xi32>, tensor<4xf32>) -> tensor<8x4x8xf32>
  %q2 = ck.rope_direct %q pos %pos factors %f {head_dim = 8, rotary_dim = 8, theta = 1.0e4 : f64, pairing = "half",
                                               layout = "head_major", inverse = true}
      : (tensor<8x4x8xf32>, tensor<4xi32>, tensor<4xf32>) -> tensor<8x4x8xf32>
  // CHECK: ck.rope_direct {{.*}} : (tensor<?x64xbf16>, tensor<?xi32>) -> tensor<?x64xbf16>
  %q3 = ck.rope_direct %b pos %d {head_dim = 16, rotary_dim = 8, theta = 1.0e4 : f64, pairing = "adjacent"}
      : (tensor<?x64xbf16>, tensor<?xi32>) -> tensor<?x64xbf16>
  return
}

// CHECK-LABEL: func.func @mrope
func.func @mrope(%q: tensor<8x4x8xf32>, %k: tensor<4x4x8xf32>, %pos: tensor<4x4xi32>, %one: tensor<1x4xi32>) {
  // CHECK: ck.mrope %{{.*}}, %{{.*}} positions %{{[a-z0-9]+}} {head_dim = 8 : i64, layout = "head_major", mode = "text", rotary_dim = 8 : i64, section_0 = 2 : i64, section_1 = 1 : i64, section_2 = 1 : i64, theta = 1.000000e+06 : f64}
  %q1, %k1 = ck.mrope %q, %k positions %pos {head_dim = 8, rotary_dim = 8, theta = 1.0e6 : f64, mode = "text",
                                             section_0 = 2, section_1 = 1, section_2 = 1, layout = "head_major"}
      : (tensor<8x4x8xf32>, tensor<4x4x8xf32>, tensor<4x4xi32>) -> (tensor<8x4x8xf32>, tensor<4x4x8xf32>)
  // CHECK: ck.mrope {{.*}}ext_factor = 1.000000e+00 : f64, freq_scale = 2.500000e-01 : f64{{.*}}original_context = 4096 : i64{{.*}} : (tensor<8x4x8xf32>, tensor<1x4xi32>) -> tensor<8x4x8xf16>
  %q2 = ck.mrope %q positions %one {head_dim = 8, rotary_dim = 8, theta = 1.0e6 : f64, mode = "interleaved",
                                    section_0 = 4, layout = "head_major", freq_scale = 0.25 : f64, ext_factor = 1.0 : f64,
                                    original_context = 4096}
      : (tensor<8x4x8xf32>, tensor<1x4xi32>) -> tensor<8x4x8xf16>
  return
}

// CHECK-LABEL: func.func @position_embeddings
func.func @position_embeddings(%x: tensor<4x64xf32>, %table: tensor<128x64xf32>, %pos: tensor<4xi32>,
                               %cells: tensor<24x64xf32>, %square: tensor<9x64xf32>, %axes: tensor<2x6x64xf32>) {
  // CHECK: ck.position_embedding %{{.*}}, %{{[a-z0-9]+}} : (tensor<4x64xf32>, tensor<128x64xf32>) -> tensor<4x64xf32>
  %y0 = ck.position_embedding %x, %table : (tensor<4x64xf32>, tensor<128x64xf32>) -> tensor<4x64xf32>
  // CHECK: ck.position_embedding %{{.*}}, %{{.*}} pos %{{.*}} : (tensor<4x64xf32>, tensor<128x64xf32>, tensor<4xi32>)
  %y1 = ck.position_embedding %x, %table pos %pos
      : (tensor<4x64xf32>, tensor<128x64xf32>, tensor<4xi32>) -> tensor<4x64xf32>
  // CHECK: ck.position_embedding_2d %{{.*}}, %{{.*}} {grid_h = 4 : i64, grid_w = 6 : i64, merge_size = 2 : i64, mode = "align_corners", source_grid = 3 : i64}
  %y2 = ck.position_embedding_2d %cells, %square {grid_h = 4, grid_w = 6, merge_size = 2, source_grid = 3,
                                                  mode = "align_corners"}
      : (tensor<24x64xf32>, tensor<9x64xf32>) -> tensor<24x64xf32>
  // CHECK: ck.position_embedding_2d %{{.*}}, %{{.*}} {grid_h = 4 : i64, grid_w = 6 : i64, mode = "xy"}
  %y3 = ck.position_embedding_2d %cells, %axes {grid_h = 4, grid_w = 6, mode = "xy"}
      : (tensor<24x64xf32>, tensor<2x6x64xf32>) -> tensor<24x64xf32>
  return
}

// CHECK-LABEL: func.func @position_streams
func.func @position_streams(%start: tensor<1xi32>, %base: tensor<1xi32>, %text: tensor<1xi32>) {
  // CHECK: ck.position_ids {grid_h = 4 : i64, grid_w = 6 : i64, merge_size = 2 : i64} : () -> tensor<4x24xi32>
  %p = ck.position_ids {grid_h = 4, grid_w = 6, merge_size = 2} : () -> tensor<4x24xi32>
  // CHECK: ck.multimodal_positions %{{.*}}, %{{.*}}, %{{.*}} {grid_x = 3 : i64, grid_y = 2 : i64, rows = 10 : i64}
  // CHECK-SAME: -> (tensor<4x10xi32>, tensor<1xi32>)
  %m, %n = ck.multimodal_positions %start, %base, %text {rows = 10, grid_x = 3, grid_y = 2}
      : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<4x10xi32>, tensor<1xi32>)
  return
}
