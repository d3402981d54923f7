// RUN: %ck_opt %s --verify-roundtrip | FileCheck %s
// RUN: %ck_opt %s --mlir-print-op-generic | %ck_opt | FileCheck %s

// CHECK-LABEL: func.func @rope_table
func.func @rope_table() {
  // CHECK: ck.rope_table {rotary_dim = 8 : i64, rows = 128 : i64, theta = 1.000000e+04 : f64} : () -> (tensor<128x4xf32>, tensor<128x4xf32>)
  %cos, %sin = ck.rope_table {rows = 128, rotary_dim = 8, theta = 1.0e4 : f64}
      : () -> (tensor<128x4xf32>, tensor<128x4xf32>)
  // CHECK: ck.rope_table
  // CHECK-SAME: factor = 2.000000e+00 : f64
  // CHECK-SAME: scaling = "linear"
  %lc, %ls = ck.rope_table {rows = 128, rotary_dim = 8, theta = 1.0e4 : f64, scaling = "linear", factor = 2.0 : f64}
      : () -> (tensor<128x4xf32>, tensor<128x4xf32>)
  // CHECK: ck.rope_table
  // CHECK-SAME: original_context = 8192 : i64
  // CHECK-SAME: scaling = "llama3"
  %c3, %s3 = ck.rope_table {rows = 16, rotary_dim = 64, theta = 5.0e5 : f64, scaling = "llama3", factor = 8.0 : f64,
                            low_freq_factor = 1.0 : f64, high_freq_factor = 4.0 : f64, original_context = 8192 : i64}
      : () -> (tensor<16x32xf32>, tensor<16x32xf32>)
  return
}

// CHECK-LABEL: func.func @rope
func.func @rope(%q: tensor<4x64xf32>, %k: tensor<4x32xf32>, %qh: tensor<8x?x8xf32>, %pos: tensor<4xi32>,
                %posd: tensor<?xi32>, %cos: tensor<128x4xf32>, %sin: tensor<128x4xf32>, %half: tensor<128x2xf32>) {
  // CHECK: ck.rope %{{.*}}, %{{.*}} pos %{{.*}} tables %{{.*}}, %{{.*}} {head_dim = 8 : i64, pairing = "half"}
  %q1, %k1 = ck.rope %q, %k pos %pos tables %cos, %sin {head_dim = 8, pairing = "half"}
      : (tensor<4x64xf32>, tensor<4x32xf32>, tensor<4xi32>, tensor<128x4xf32>, tensor<128x4xf32>)
      -> (tensor<4x64xf32>, tensor<4x32xf32>)
  // CHECK: ck.rope %{{[a-z0-9]+}} pos %{{.*}} tables %{{.*}}, %{{.*}} {head_dim = 8 : i64, inverse = true, layout = "head_major", pairing = "adjacent"}
  // CHECK-SAME: -> tensor<8x?x8xf32>
  %q2 = ck.rope %qh pos %posd tables %cos, %sin
      {head_dim = 8, pairing = "adjacent", layout = "head_major", inverse = true}
      : (tensor<8x?x8xf32>, tensor<?xi32>, tensor<128x4xf32>, tensor<128x4xf32>) -> tensor<8x?x8xf32>
  // Partial rotary: 2 pairs of 8 columns.
  // CHECK: ck.rope {{.*}} tensor<128x2xf32>
  %q3 = ck.rope %q pos %pos tables %half, %half {head_dim = 8, pairing = "half"}
      : (tensor<4x64xf32>, tensor<4xi32>, tensor<128x2xf32>, tensor<128x2xf32>) -> tensor<4x64xf32>
  return
}

// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<4x64xf32>, %kc: tensor<4x128x8xf32>, %vc: tensor<4x128x8xf32>, %pos: tensor<4xi32>,
                     %k: tensor<4x32xf32>, %v: tensor<4x32xf32>, %sinks: tensor<8xf32>, %seqs: tensor<3xi32>,
                     %qh: tensor<8x?x8xf32>, %kh: tensor<4x?x8xf32>, %vh: tensor<4x?x8xf32>) {
  // CHECK: ck.attention %{{.*}}, %{{.*}}, %{{.*}} pos %{{.*}} {heads = 8 : i64, kv_heads = 4 : i64, layout = "cache"}
  %o = ck.attention %q, %kc, %vc pos %pos {heads = 8, kv_heads = 4, layout = "cache"}
      : (tensor<4x64xf32>, tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<4xi32>) -> tensor<4x64xf32>
  // CHECK: ck.attention {{.*}} pos %{{.*}} sinks %{{.*}} {
  // CHECK-SAME: mask = "sliding"
  // CHECK-SAME: softcap = 5.000000e+01 : f64, window = 16 : i64
  %s = ck.attention %q, %kc, %vc pos %pos sinks %sinks
      {heads = 8, kv_heads = 4, layout = "cache", mask = "sliding", window = 16 : i64, scale = 0.5 : f64, softcap = 50.0 : f64}
      : (tensor<4x64xf32>, tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<4xi32>, tensor<8xf32>) -> tensor<4x64xf32>
  // CHECK: ck.attention {{.*}} seqs %{{.*}} {heads = 8 : i64, kv_heads = 4 : i64, layout = "token_major", save = "lse"}
  // CHECK-SAME: -> (tensor<4x64xf32>, tensor<8x4xf32>)
  %t, %lse = ck.attention %q, %k, %v seqs %seqs {heads = 8, kv_heads = 4, layout = "token_major", save = "lse"}
      : (tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<3xi32>) -> (tensor<4x64xf32>, tensor<8x4xf32>)
  // CHECK: ck.attention {{.*}} {heads = 8 : i64, kv_heads = 4 : i64, layout = "head_major", mask = "full"}
  %h = ck.attention %qh, %kh, %vh {heads = 8, kv_heads = 4, layout = "head_major", mask = "full"}
      : (tensor<8x?x8xf32>, tensor<4x?x8xf32>, tensor<4x?x8xf32>) -> tensor<8x?x8xf32>
  return
}

// CHECK-LABEL: func.func @cache_update
func.func @cache_update(%kc: tensor<4x128x8xf32>, %vc: tensor<4x128x8xf32>, %k: tensor<2x32xf32>, %v: tensor<2x32xf32>,
                        %pos: tensor<2xi32>) {
  // CHECK: ck.cache_update %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} pos %{{.*}} : (
  %kc1, %vc1 = ck.cache_update %kc, %vc, %k, %v pos %pos
      : (tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<2x32xf32>, tensor<2x32xf32>, tensor<2xi32>)
      -> (tensor<4x128x8xf32>, tensor<4x128x8xf32>)
  // CHECK: ck.cache_update {{.*}} {ring = true}
  %kc2, %vc2 = ck.cache_update %kc1, %vc1, %k, %v pos %pos {ring = true}
      : (tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<2x32xf32>, tensor<2x32xf32>, tensor<2xi32>)
      -> (tensor<4x128x8xf32>, tensor<4x128x8xf32>)
  return
}

// CHECK-LABEL: func.func @attention_probs
func.func @attention_probs(%q: tensor<8x6x16xf32>, %k: tensor<4x6x16xf32>) {
  // CHECK: ck.attention {{.*}} save = "probs"
  // CHECK-SAME: -> (tensor<8x6x16xf32>, tensor<8x6x6xf32>)
  %o, %p = ck.attention %q, %k, %k {heads = 8, kv_heads = 4, layout = "head_major", save = "probs"}
      : (tensor<8x6x16xf32>, tensor<4x6x16xf32>, tensor<4x6x16xf32>) -> (tensor<8x6x16xf32>, tensor<8x6x6xf32>)
  return
}

// CHECK-LABEL: func.func @bf16
func.func @bf16(%q: tensor<8x6x16xbf16>, %k: tensor<4x6x16xbf16>, %pos: tensor<6xi32>, %cos: tensor<32x8xf32>) {
  // CHECK: ck.rope {{.*}} -> (tensor<8x6x16xbf16>, tensor<4x6x16xbf16>)
  %q1, %k1 = ck.rope %q, %k pos %pos tables %cos, %cos {head_dim = 16, pairing = "half", layout = "head_major"}
      : (tensor<8x6x16xbf16>, tensor<4x6x16xbf16>, tensor<6xi32>, tensor<32x8xf32>, tensor<32x8xf32>)
      -> (tensor<8x6x16xbf16>, tensor<4x6x16xbf16>)
  // CHECK: ck.attention {{.*}}save = "probs"} {{.*}} -> (tensor<8x6x16xbf16>, tensor<8x6x6xf32>)
  %o, %p = ck.attention %q1, %k1, %k {heads = 8, kv_heads = 4, layout = "head_major", save = "probs"}
      : (tensor<8x6x16xbf16>, tensor<4x6x16xbf16>, tensor<4x6x16xbf16>) -> (tensor<8x6x16xbf16>, tensor<8x6x6xf32>)
  return
}
