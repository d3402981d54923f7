// RUN: %ck_opt %s --verify-roundtrip | FileCheck %s
// RUN: %ck_opt %s --mlir-print-op-generic | %ck_opt | FileCheck %s

// CHECK-LABEL: func.func @quantize
func.func @quantize(%x: tensor<4x256xf32>, %d: tensor<2x?x64xf32>) {
  // CHECK: ck.quantize %{{.*}} : (tensor<4x256xf32>) -> tensor<4x256x!ck.q8_k>
  %q = ck.quantize %x : (tensor<4x256xf32>) -> tensor<4x256x!ck.q8_k>
  // CHECK: ck.quantize %{{.*}} : (tensor<2x?x64xf32>) -> tensor<2x?x64x!ck.q8_0>
  %r = ck.quantize %d : (tensor<2x?x64xf32>) -> tensor<2x?x64x!ck.q8_0>
  return
}

// CHECK-LABEL: func.func @dequantize
func.func @dequantize(%w: tensor<32x256x!ck.q4_k>, %d: tensor<?x32x!ck.q5_1>) {
  // CHECK: ck.dequantize %{{.*}} : (tensor<32x256x!ck.q4_k>) -> tensor<32x256xf32>
  %x = ck.dequantize %w : (tensor<32x256x!ck.q4_k>) -> tensor<32x256xf32>
  // CHECK: ck.dequantize %{{.*}} : (tensor<?x32x!ck.q5_1>) -> tensor<?x32xf32>
  %y = ck.dequantize %d : (tensor<?x32x!ck.q5_1>) -> tensor<?x32xf32>
  return
}

// CHECK-LABEL: func.func @convert
func.func @convert(%x: tensor<64xf16>, %d: tensor<?x8xf32>) {
  // CHECK: ck.convert %{{.*}} : (tensor<64xf16>) -> tensor<64xf32>
  %y = ck.convert %x : (tensor<64xf16>) -> tensor<64xf32>
  // CHECK: ck.convert %{{.*}} : (tensor<?x8xf32>) -> tensor<?x8xbf16>
  %z = ck.convert %d : (tensor<?x8xf32>) -> tensor<?x8xbf16>
  return
}

// CHECK-LABEL: func.func @pack
func.func @pack(%w: tensor<40x256x!ck.q4_k>, %f: tensor<40x7xbf16>) {
  // CHECK: ck.pack %{{.*}} : (tensor<40x256x!ck.q4_k>) -> tensor<40x256x!ck.packed<q4_k, r16>>
  %p = ck.pack %w : (tensor<40x256x!ck.q4_k>) -> tensor<40x256x!ck.packed<q4_k, r16>>
  // CHECK: ck.pack %{{.*}} : (tensor<40x7xbf16>) -> tensor<40x7x!ck.packed<bf16, r16>>
  %q = ck.pack %f : (tensor<40x7xbf16>) -> tensor<40x7x!ck.packed<bf16, r16>>
  return
}

// CHECK-LABEL: func.func @projections
func.func @projections(%x: tensor<4x256xf32>, %h: tensor<4x256xbf16>, %q: tensor<4x256x!ck.q8_k>,
                       %w: tensor<32x256x!ck.q4_k>, %p: tensor<32x256x!ck.packed<q6_k, r16>>, %v: tensor<32x256xf16>,
                       %b: tensor<32xf32>) {
  // CHECK: ck.linear %{{.*}}, %{{.*}} : (tensor<4x256xf32>, tensor<32x256x!ck.q4_k>) -> tensor<4x32xf32>
  %0 = ck.linear %x, %w : (tensor<4x256xf32>, tensor<32x256x!ck.q4_k>) -> tensor<4x32xf32>
  // CHECK: ck.linear %{{.*}}, %{{.*}} bias %{{.*}} : (tensor<4x256x!ck.q8_k>, tensor<32x256x!ck.packed<q6_k, r16>>, tensor<32xf32>) -> tensor<4x32xf32>
  %1 = ck.linear %q, %p bias %b
      : (tensor<4x256x!ck.q8_k>, tensor<32x256x!ck.packed<q6_k, r16>>, tensor<32xf32>) -> tensor<4x32xf32>
  // CHECK: ck.linear %{{.*}}, %{{.*}} : (tensor<4x256xbf16>, tensor<32x256xf16>) -> tensor<4x32xbf16>
  %2 = ck.linear %h, %v : (tensor<4x256xbf16>, tensor<32x256xf16>) -> tensor<4x32xbf16>
  // CHECK: ck.qkv_linear {{.*}} -> (tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>)
  %3, %4, %5 = ck.qkv_linear %x, %w, %p, %v
      : (tensor<4x256xf32>, tensor<32x256x!ck.q4_k>, tensor<32x256x!ck.packed<q6_k, r16>>, tensor<32x256xf16>)
      -> (tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>)
  // CHECK: ck.head_linear %{{.*}}, %{{.*}} : (tensor<4x256x!ck.q8_k>, tensor<32x256x!ck.q4_k>) -> tensor<4x32xf32>
  %6 = ck.head_linear %q, %w : (tensor<4x256x!ck.q8_k>, tensor<32x256x!ck.q4_k>) -> tensor<4x32xf32>
  // CHECK: ck.linear_grad %{{.*}}, %{{.*}}, %{{.*}} {wrt = ["input"]} : (tensor<4x32xf32>, tensor<4x256xf32>, tensor<32x256x!ck.q4_k>) -> tensor<4x256xf32>
  %7 = ck.linear_grad %0, %x, %w {wrt = ["input"]}
      : (tensor<4x32xf32>, tensor<4x256xf32>, tensor<32x256x!ck.q4_k>) -> tensor<4x256xf32>
  return
}
