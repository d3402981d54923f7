// RUN: %ck_opt --pass-pipeline='builtin.module(ck-autodiff)' %s | FileCheck %s

// Gradients pass rounding as if it were none, and weights of blocks get none.

ck.buffer @g weight : tensor<256xf32> {trainable}
ck.buffer @w weight : tensor<8x256x!ck.q4_k>

// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<4x256xf32> {ck.input = "x", ck.wrt}, %h: tensor<256xf16> {ck.input = "h", ck.wrt})
    -> (tensor<4x8xf32> {ck.output = "y"}, tensor<256xf32> {ck.output = "z"}) attributes {ck.entry} {
  %g = ck.param @g : tensor<256xf32>
  %w = ck.param @w : tensor<8x256x!ck.q4_k>
  %n = ck.rms_norm %x, %g {eps = 1.0e-5 : f64} : (tensor<4x256xf32>, tensor<256xf32>) -> tensor<4x256xf32>
  // CHECK: %[[Q:.*]] = ck.quantize
  %q = ck.quantize %n : (tensor<4x256xf32>) -> tensor<4x256x!ck.q8_k>
  %y = ck.linear %q, %w : (tensor<4x256x!ck.q8_k>, tensor<8x256x!ck.q4_k>) -> tensor<4x8xf32>
  %c = ck.convert %h : (tensor<256xf16>) -> tensor<256xf32>
  // CHECK: %[[D:.*]] = ck.linear_grad %{{.*}}, %[[Q]], %{{.*}} {{.*}}wrt = ["input"]{{.*}} -> tensor<4x256xf32>
  // CHECK-NEXT: %[[N:.*]]:2 = ck.rms_norm_grad %[[D]]
  // CHECK: return %{{.*}}, %{{.*}}, %[[N]]#1, %[[N]]#0, %{{.*}} : tensor<4x8xf32>, tensor<256xf32>, tensor<256xf32>, tensor<4x256xf32>, tensor<256xf32>
  return %y, %c : tensor<4x8xf32>, tensor<256xf32>
}
