// RUN: %ck_opt --pass-pipeline='builtin.module(ck-quantize-activations)' --split-input-file --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s
// RUN: %ck_opt --pass-pipeline='builtin.module(ck-quantize-activations,ck-verify-graph)' --split-input-file %s -o /dev/null

// Each value is quantised once for each format that its readers want; the projections read the same weights.

// CHECK-LABEL: module @quantised
module @quantised attributes {ck.numerics = "q8_activations"} {
  // CHECK: func.func @step(%[[X:.*]]: tensor<?x256xf32>
  func.func @step(%x: tensor<?x256xf32> {ck.input = "x", ck.dims = ["T"]}, %w1: tensor<512x256x!ck.q4_k> {ck.input = "w1"},
                  %w3: tensor<512x256x!ck.q6_k> {ck.input = "w3"}, %w5: tensor<64x256x!ck.q5_1> {ck.input = "w5"},
                  %w7: tensor<64x256xf16> {ck.input = "w7"}, %b: tensor<512xf32> {ck.input = "b"})
      -> (tensor<?x512xf32> {ck.output = "gate"}, tensor<?x512xf32> {ck.output = "up"},
          tensor<?x64xf32> {ck.output = "other"}, tensor<?x64xf32> {ck.output = "plain"})
      attributes {ck.entry, ck.bounds = {T = 16 : i64}} {
    // CHECK-NEXT: %[[Q:.*]] = ck.quantize %[[X]] {ck.layer = 3 : i64} : (tensor<?x256xf32>) -> tensor<?x256x!ck.q8_k> loc("x.q8_k"
    // CHECK-NEXT: ck.linear %[[Q]], %{{.*}} bias %{{.*}} {ck.layer = 3 : i64} : (tensor<?x256x!ck.q8_k>, tensor<512x256x!ck.q4_k>, tensor<512xf32>) -> tensor<?x512xf32>
    %gate = ck.linear %x, %w1 bias %b {ck.layer = 3 : i64}
        : (tensor<?x256xf32>, tensor<512x256x!ck.q4_k>, tensor<512xf32>) -> tensor<?x512xf32>
    // CHECK-NEXT: ck.linear %[[Q]], %{{.*}} : (tensor<?x256x!ck.q8_k>, tensor<512x256x!ck.q6_k>) -> tensor<?x512xf32>
    %up = ck.linear %x, %w3 : (tensor<?x256xf32>, tensor<512x256x!ck.q6_k>) -> tensor<?x512xf32>
    // CHECK-NEXT: %[[R:.*]] = ck.quantize %[[X]] : (tensor<?x256xf32>) -> tensor<?x256x!ck.q8_1> loc("x.q8_1"
    // CHECK-NEXT: ck.head_linear %[[R]], %{{.*}} {softcap = 3.000000e+01 : f64} : (tensor<?x256x!ck.q8_1>, tensor<64x256x!ck.q5_1>) -> tensor<?x64xf32>
    %other = ck.head_linear %x, %w5 {softcap = 30.0 : f64} : (tensor<?x256xf32>, tensor<64x256x!ck.q5_1>) -> tensor<?x64xf32>
    // CHECK-NEXT: ck.linear %[[X]], %{{.*}} : (tensor<?x256xf32>, tensor<64x256xf16>) -> tensor<?x64xf32>
    %plain = ck.linear %x, %w7 : (tensor<?x256xf32>, tensor<64x256xf16>) -> tensor<?x64xf32>
    return %gate, %up, %other, %plain : tensor<?x512xf32>, tensor<?x512xf32>, tensor<?x64xf32>, tensor<?x64xf32>
  }
}

// -----

// Projections of queries, keys and values are separate where kernels of one weight have to do them.

// CHECK-LABEL: module @separate
module @separate attributes {ck.numerics = "q8_activations"} {
  // CHECK: func.func @step(%[[X:[a-z0-9]*]]: tensor<4x64xf32>
  func.func @step(%x: tensor<4x64xf32> {ck.input = "x"}, %wq: tensor<64x64x!ck.q8_0> {ck.input = "wq"},
                  %wv: tensor<32x64x!ck.q4_1> {ck.input = "wv"}, %b: tensor<32xf32> {ck.input = "b"})
      -> (tensor<4x64xf32> {ck.output = "q"}, tensor<4x32xf32> {ck.output = "k"}, tensor<4x32xf32> {ck.output = "v"})
      attributes {ck.entry} {
    // CHECK-NEXT: %[[A:.*]] = ck.quantize %[[X]] {{.*}} -> tensor<4x64x!ck.q8_0> loc("x.q8_0"
    // CHECK-NEXT: %[[Q:.*]] = ck.linear %[[A]], %[[WQ:[a-z0-9]*]] {ck.layer = 1 : i64} : (tensor<4x64x!ck.q8_0>, tensor<64x64x!ck.q8_0>) -> tensor<4x64xf32> loc("qkv.q"
    // CHECK-NEXT: %[[B:.*]] = ck.quantize %[[X]] {{.*}} -> tensor<4x64x!ck.q8_1> loc("x.q8_1"
    // CHECK-NEXT: %[[K:.*]] = ck.linear %[[B]], %[[WV:[a-z0-9]*]] bias %[[BIAS:[a-z0-9]*]] {{.*}} loc("qkv.k"
    // CHECK-NEXT: %[[V:.*]] = ck.linear %[[B]], %[[WV]] {{.*}} loc("qkv.v"
    // CHECK-NEXT: return %[[Q]], %[[K]], %[[V]]
    %q, %k, %v = ck.qkv_linear %x, %wq, %wv, %wv bk %b {ck.layer = 1 : i64}
        : (tensor<4x64xf32>, tensor<64x64x!ck.q8_0>, tensor<32x64x!ck.q4_1>, tensor<32x64x!ck.q4_1>, tensor<32xf32>)
        -> (tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>) loc("qkv")
    return %q, %k, %v : tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>
  }
}

// -----

// With stricter numerics inputs stay what they are; weights of several types are separate all the same.

// CHECK-LABEL: module @exact
module @exact {
  func.func @step(%x: tensor<4x64xf32> {ck.input = "x"}, %wq: tensor<64x64x!ck.q8_0> {ck.input = "wq"},
                  %wk: tensor<32x64xf32> {ck.input = "wk"}, %wv: tensor<32x64xf16> {ck.input = "wv"})
      -> (tensor<4x64xf32> {ck.output = "q"}, tensor<4x32xf32> {ck.output = "k"}, tensor<4x32xf32> {ck.output = "v"},
          tensor<4x32xf32> {ck.output = "a"}, tensor<4x32xf32> {ck.output = "b"}, tensor<4x32xf32> {ck.output = "c"},
          tensor<8x4x8xf32> {ck.output = "d"}, tensor<4x4x8xf32> {ck.output = "e"})
      attributes {ck.entry} {
    // CHECK: ck.linear {{.*}} : (tensor<4x64xf32>, tensor<64x64x!ck.q8_0>) -> tensor<4x64xf32> loc(fused<["q"]>
    // CHECK-NEXT: ck.linear {{.*}} : (tensor<4x64xf32>, tensor<32x64xf32>) -> tensor<4x32xf32> loc(fused<["k"]>
    // CHECK-NEXT: ck.linear {{.*}} : (tensor<4x64xf32>, tensor<32x64xf16>) -> tensor<4x32xf32> loc(fused<["v"]>
    %q, %k, %v = ck.qkv_linear %x, %wq, %wk, %wv
        : (tensor<4x64xf32>, tensor<64x64x!ck.q8_0>, tensor<32x64xf32>, tensor<32x64xf16>)
        -> (tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>) loc(fused<["q", "k", "v"]>["qkv"])
    // CHECK-NEXT: ck.qkv_linear
    %a, %b, %c = ck.qkv_linear %x, %wv, %wv, %wv
        : (tensor<4x64xf32>, tensor<32x64xf16>, tensor<32x64xf16>, tensor<32x64xf16>)
        -> (tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>)
    // CHECK-NEXT: ck.qkv_linear {{.*}} layout = "head_major"
    %d, %e, %f = ck.qkv_linear %x, %wq, %wk, %wk {layout = "head_major", heads = 8 : i64, kv_heads = 4 : i64}
        : (tensor<4x64xf32>, tensor<64x64x!ck.q8_0>, tensor<32x64xf32>, tensor<32x64xf32>)
        -> (tensor<8x4x8xf32>, tensor<4x4x8xf32>, tensor<4x4x8xf32>)
    return %q, %k, %v, %a, %b, %c, %d, %e : tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>,
        tensor<4x32xf32>, tensor<4x32xf32>, tensor<8x4x8xf32>, tensor<4x4x8xf32>
  }
}
