// RUN: %ck_opt %s --split-input-file --verify-diagnostics

// Rules of ops about positions and images beyond their signatures.

func.func @f(%pos: tensor<4xi32>) {
  // expected-error @+1 {{'ck.rope_table_at' op rotary_dim must be even, got 7}}
  %c, %s = ck.rope_table_at %pos {rotary_dim = 7, theta = 1.0e4 : f64} : (tensor<4xi32>) -> (tensor<4x3xf32>, tensor<4x3xf32>)
  return
}

// -----

func.func @f(%pos: tensor<4xi32>) {
  // expected-error @+1 {{'ck.rope_table_at' op theta must be finite and positive, got 0}}
  %c, %s = ck.rope_table_at %pos {rotary_dim = 8, theta = 0.0 : f64} : (tensor<4xi32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  return
}

// -----

func.func @f(%pos: tensor<4xi32>) {
  // expected-error @+1 {{'ck.rope_table_at' op factor must be finite and positive, got -1}}
  %c, %s = ck.rope_table_at %pos {rotary_dim = 8, theta = 1.0e4 : f64, factor = -1.0 : f64}
      : (tensor<4xi32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'ck.rope_table' op yarn scaling needs 0 < beta_slow <= beta_fast, got 1.000000e+00 and 5.000000e-01}}
  %c, %s = ck.rope_table {rows = 4, rotary_dim = 8, theta = 1.0e4 : f64, scaling = "yarn", original_context = 64,
                          beta_fast = 0.5 : f64} : () -> (tensor<4x4xf32>, tensor<4x4xf32>)
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'ck.rope_table' op yarn scaling needs a positive original_context, got 0}}
  %c, %s = ck.rope_table {rows = 4, rotary_dim = 8, theta = 1.0e4 : f64, scaling = "yarn"}
      : () -> (tensor<4x4xf32>, tensor<4x4xf32>)
  return
}

// -----

func.func @f(%pos: tensor<4xi32>) {
  // expected-error @+1 {{'ck.rope_table_at' op llama3 scaling needs 0 < low_freq_factor < high_freq_factor, got 4}}
  %c, %s = ck.rope_table_at %pos {rotary_dim = 8, theta = 1.0e4 : f64, scaling = "llama3", original_context = 64,
                                  low_freq_factor = 4.0 : f64} : (tensor<4xi32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  return
}

// -----

func.func @f(%pos: tensor<4xi32>) {
  // expected-error @+1 {{'ck.rope_table_at' op result #0 must be ranked tensor of 32-bit float or bfloat16 type values, but got 'tensor<4x4xf16>'}}
  %c, %s = ck.rope_table_at %pos {rotary_dim = 8, theta = 1.0e4 : f64} : (tensor<4xi32>) -> (tensor<4x4xf16>, tensor<4x4xf16>)
  return
}

// -----

func.func @f(%q: tensor<8x4x8xf32>, %pos: tensor<4xi32>) {
  // expected-error @+1 {{'ck.rope_direct' op rotary_dim must be even and at most head_dim = 8, got 10}}
  %r = ck.rope_direct %q pos %pos {head_dim = 8, rotary_dim = 10, theta = 1.0e4 : f64, pairing = "half",
                                   layout = "head_major"} : (tensor<8x4x8xf32>, tensor<4xi32>) -> tensor<8x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<8x4x8xf32>, %pos: tensor<4xi32>) {
  // expected-error @+1 {{'ck.rope_direct' op theta must be finite and positive, got -1}}
  %r = ck.rope_direct %q pos %pos {head_dim = 8, rotary_dim = 8, theta = -1.0 : f64, pairing = "half",
                                   layout = "head_major"} : (tensor<8x4x8xf32>, tensor<4xi32>) -> tensor<8x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<8x4x8xf32>, %pos: tensor<4xi32>, %f: tensor<3xf32>) {
  // expected-error @+1 {{'ck.rope_direct' op freq_factors}}
  %r = ck.rope_direct %q pos %pos factors %f {head_dim = 8, rotary_dim = 8, theta = 1.0e4 : f64, pairing = "half",
                                              layout = "head_major"}
      : (tensor<8x4x8xf32>, tensor<4xi32>, tensor<3xf32>) -> tensor<8x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<8x4x8xf32>, %pos: tensor<3x4xi32>) {
  // expected-error @+1 {{'ck.mrope' op positions must have one row or four, got 3}}
  %r = ck.mrope %q positions %pos {head_dim = 8, rotary_dim = 8, theta = 1.0e4 : f64, mode = "text", section_0 = 4,
                                   layout = "head_major"} : (tensor<8x4x8xf32>, tensor<3x4xi32>) -> tensor<8x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<8x4x8xf32>, %pos: tensor<4x4xi32>) {
  // expected-error @+1 {{'ck.mrope' op section_2 must not be negative, got -1}}
  %r = ck.mrope %q positions %pos {head_dim = 8, rotary_dim = 8, theta = 1.0e4 : f64, mode = "text", section_0 = 4,
                                   section_2 = -1, layout = "head_major"}
      : (tensor<8x4x8xf32>, tensor<4x4xi32>) -> tensor<8x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<8x4x8xf32>, %pos: tensor<4x4xi32>) {
  // expected-error @+1 {{'ck.mrope' op freq_scale must be finite and positive, got 0}}
  %r = ck.mrope %q positions %pos {head_dim = 8, rotary_dim = 8, theta = 1.0e4 : f64, mode = "text", section_0 = 4,
                                   freq_scale = 0.0 : f64, layout = "head_major"}
      : (tensor<8x4x8xf32>, tensor<4x4xi32>) -> tensor<8x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<8x4x8xf32>, %pos: tensor<4x4xi32>) {
  // expected-error @+1 {{'ck.mrope' op rotary_dim must be even and at most head_dim = 8, got 3}}
  %r = ck.mrope %q positions %pos {head_dim = 8, rotary_dim = 3, theta = 1.0e4 : f64, mode = "vision",
                                   layout = "head_major"} : (tensor<8x4x8xf32>, tensor<4x4xi32>) -> tensor<8x4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<24x64xf32>, %t: tensor<2x6x64xf32>) {
  // expected-error @+1 {{'ck.position_embedding_2d' op takes no merge_size and no source_grid with mode = "xy"}}
  %y = ck.position_embedding_2d %x, %t {grid_h = 4, grid_w = 6, merge_size = 2, mode = "xy"}
      : (tensor<24x64xf32>, tensor<2x6x64xf32>) -> tensor<24x64xf32>
  return
}

// -----

func.func @f(%x: tensor<24x64xf32>, %t: tensor<0x64xf32>) {
  // expected-error @+1 {{'ck.position_embedding_2d' op needs source_grid with mode = "antialias"}}
  %y = ck.position_embedding_2d %x, %t {grid_h = 4, grid_w = 6, mode = "antialias"}
      : (tensor<24x64xf32>, tensor<0x64xf32>) -> tensor<24x64xf32>
  return
}

// -----

func.func @f(%x: tensor<23x64xf32>, %t: tensor<9x64xf32>) {
  // expected-error @+1 {{'ck.position_embedding_2d' op x: dim $grid_h*$grid_w is 23, but $grid_h*$grid_w = 24}}
  %y = ck.position_embedding_2d %x, %t {grid_h = 4, grid_w = 6, source_grid = 3, mode = "antialias"}
      : (tensor<23x64xf32>, tensor<9x64xf32>) -> tensor<23x64xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'ck.position_ids' op attribute 'grid_h' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %p = ck.position_ids {grid_h = 0, grid_w = 6} : () -> tensor<4x0xi32>
  return
}

// -----

func.func @f(%dst: tensor<4x64xf32>, %src: tensor<4x32xf32>) {
  // expected-error @+1 {{'ck.update_columns' op columns 40 to 72 are not within the 64 of the destination}}
  %y = ck.update_columns %dst, %src {offset = 40} : (tensor<4x64xf32>, tensor<4x32xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%image: tensor<3x8x12xf32>) {
  // expected-error @+1 {{'ck.patchify' op patches}}
  %p = ck.patchify %image {patch = 4} : (tensor<3x8x12xf32>) -> tensor<5x48xf32>
  return
}
