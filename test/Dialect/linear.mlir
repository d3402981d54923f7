// RUN: %ck_opt %s --verify-roundtrip | FileCheck %s
// RUN: %ck_opt %s --mlir-print-op-generic | %ck_opt | FileCheck %s

// CHECK-LABEL: func.func @embedding
func.func @embedding(%ids: tensor<4xi32>, %table: tensor<512x64xf32>, %q: tensor<512x256x!ck.q4_k>) {
  // CHECK: ck.embedding %{{.*}}, %{{.*}} : (tensor<4xi32>, tensor<512x64xf32>) -> tensor<4x64xf32>
  %x = ck.embedding %ids, %table : (tensor<4xi32>, tensor<512x64xf32>) -> tensor<4x64xf32>
  // CHECK: ck.embedding %{{.*}}, %{{.*}} : (tensor<4xi32>, tensor<512x256x!ck.q4_k>) -> tensor<4x256xf32>
  %y = ck.embedding %ids, %q : (tensor<4xi32>, tensor<512x256x!ck.q4_k>) -> tensor<4x256xf32>
  return
}

// CHECK-LABEL: func.func @linear
func.func @linear(%x: tensor<4x64xf32>, %xb: tensor<2x?x64xf32>, %w: tensor<32x64xf32>, %b: tensor<32xf32>) {
  // CHECK: ck.linear %{{.*}}, %{{.*}} bias %{{.*}} : (tensor<4x64xf32>, tensor<32x64xf32>, tensor<32xf32>) -> tensor<4x32xf32>
  %y = ck.linear %x, %w bias %b : (tensor<4x64xf32>, tensor<32x64xf32>, tensor<32xf32>) -> tensor<4x32xf32>
  // CHECK: ck.linear %{{.*}}, %{{.*}} : (tensor<2x?x64xf32>, tensor<32x64xf32>) -> tensor<2x?x32xf32>
  %z = ck.linear %xb, %w : (tensor<2x?x64xf32>, tensor<32x64xf32>) -> tensor<2x?x32xf32>
  return
}

// CHECK-LABEL: func.func @qkv_linear
func.func @qkv_linear(%x: tensor<4x64xf32>, %wq: tensor<64x64xf32>, %wk: tensor<32x64xf32>, %wv: tensor<32x64xf32>,
                      %bq: tensor<64xf32>, %bk: tensor<32xf32>, %bv: tensor<32xf32>) {
  // CHECK: ck.qkv_linear %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (
  %q, %k, %v = ck.qkv_linear %x, %wq, %wk, %wv
      : (tensor<4x64xf32>, tensor<64x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>)
      -> (tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>)
  // CHECK: ck.qkv_linear {{.*}} bq %{{.*}} bk %{{.*}} bv %{{.*}} {heads = 8 : i64, kv_heads = 4 : i64, layout = "head_major"}
  // CHECK-SAME: -> (tensor<8x4x8xf32>, tensor<4x4x8xf32>, tensor<4x4x8xf32>)
  %q1, %k1, %v1 = ck.qkv_linear %x, %wq, %wk, %wv bq %bq bk %bk bv %bv
      {layout = "head_major", heads = 8 : i64, kv_heads = 4 : i64}
      : (tensor<4x64xf32>, tensor<64x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<64xf32>, tensor<32xf32>,
         tensor<32xf32>) -> (tensor<8x4x8xf32>, tensor<4x4x8xf32>, tensor<4x4x8xf32>)
  return
}

// CHECK-LABEL: func.func @head_linear
func.func @head_linear(%x: tensor<4x64xf32>, %w: tensor<512x64xf32>, %wt: tensor<64x512xf32>) {
  // CHECK: ck.head_linear %{{.*}}, %{{.*}} : (tensor<4x64xf32>, tensor<512x64xf32>) -> tensor<4x512xf32>
  %l = ck.head_linear %x, %w : (tensor<4x64xf32>, tensor<512x64xf32>) -> tensor<4x512xf32>
  // CHECK: ck.head_linear %{{.*}}, %{{.*}} {softcap = 3.000000e+01 : f64, w_layout = "embed_major"}
  %m = ck.head_linear %x, %wt {w_layout = "embed_major", softcap = 30.0 : f64}
      : (tensor<4x64xf32>, tensor<64x512xf32>) -> tensor<4x512xf32>
  return
}

// CHECK-LABEL: func.func @out_linear
func.func @out_linear(%x: tensor<8x4x16xf32>, %w: tensor<8x64x16xf32>, %b: tensor<64xf32>) {
  // CHECK: ck.out_linear %{{.*}}, %{{.*}} bias %{{.*}} : (tensor<8x4x16xf32>, tensor<8x64x16xf32>, tensor<64xf32>) -> tensor<4x64xf32>
  %y = ck.out_linear %x, %w bias %b : (tensor<8x4x16xf32>, tensor<8x64x16xf32>, tensor<64xf32>) -> tensor<4x64xf32>
  return
}

// CHECK-LABEL: func.func @embedding_at_places
func.func @embedding_at_places(%ids: tensor<4xi32>, %table: tensor<512x64x!ck.q8_0>, %places: tensor<8x64xf32>) {
  // CHECK: ck.embedding %{{.*}}, %{{.*}} pos_emb %{{.*}} : (tensor<4xi32>, tensor<512x64x!ck.q8_0>, tensor<8x64xf32>) -> tensor<4x64xf32>
  %x = ck.embedding %ids, %table pos_emb %places : (tensor<4xi32>, tensor<512x64x!ck.q8_0>, tensor<8x64xf32>) -> tensor<4x64xf32>
  return
}

// CHECK-LABEL: func.func @clipped_linear
func.func @clipped_linear(%x: tensor<4x64xf32>, %w: tensor<32x64xf16>, %bias: tensor<32xf32>, %a: tensor<1xf32>,
                          %b: tensor<1xf32>, %c: tensor<1xf32>, %d: tensor<1xf32>) {
  // CHECK: ck.clipped_linear %{{.*}}, %{{.*}} in_min %{{.*}} in_max %{{.*}} out_min %{{.*}} out_max %{{.*}} : (
  %y = ck.clipped_linear %x, %w in_min %a in_max %b out_min %c out_max %d
      : (tensor<4x64xf32>, tensor<32x64xf16>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>)
      -> tensor<4x32xf32>
  // CHECK: ck.clipped_linear %{{.*}}, %{{.*}} bias %{{.*}} out_max %{{[a-z0-9]+}} : (
  %z = ck.clipped_linear %x, %w bias %bias out_max %d
      : (tensor<4x64xf32>, tensor<32x64xf16>, tensor<32xf32>, tensor<1xf32>) -> tensor<4x32xf32>
  return
}
