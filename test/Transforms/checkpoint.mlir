// RUN: %ck_opt --pass-pipeline='builtin.module(ck-autodiff,ck-checkpoint{policy=layer},cse,canonicalize)' %s | FileCheck %s
// RUN: %ck_opt --pass-pipeline='builtin.module(ck-autodiff,ck-checkpoint{policy=none},cse,canonicalize)' %s | FileCheck %s --check-prefix=NONE
// RUN: not %ck_opt --pass-pipeline='builtin.module(ck-checkpoint{policy=some})' %s 2>&1 | FileCheck %s --check-prefix=ERR

// ERR: error: policy must be none or layer, got 'some'
// NONE-NOT: ck.remat

// Two layers x + W silu(norm(x)): between forward and backward live the inputs of the layers only. The backward of the last
// layer comes first; its clones stand in front of it, those of the first layer in front of that one's.

// CHECK-LABEL: func.func @step
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x8xf32> {ck.input = "x"
// CHECK:         %[[N0:.*]], %{{.*}} = ck.rms_norm %[[X]] {ck.layer = 0 : i64
// CHECK-NEXT:    %[[H0:.*]] = ck.activation %[[N0]] {ck.layer = 0 : i64
// CHECK:         %[[L0:.*]] = ck.linear %[[H0]]
// CHECK-NEXT:    %[[Y0:.*]] = ck.add %[[X]], %[[L0]] {ck.layer = 0 : i64}
// CHECK:         ck.rms_norm %[[Y0]] {ck.layer = 1 : i64
// CHECK:         %[[Y1:.*]] = ck.add %[[Y0]], %{{.*}} {ck.layer = 1 : i64}
// CHECK:         ck.cross_entropy %[[Y1]]
// CHECK:         %[[N1:.*]], %[[R1:.*]] = ck.rms_norm %[[Y0]] {ck.backward, ck.layer = 1 : i64, ck.remat
// CHECK-NEXT:    %[[H1:.*]] = ck.activation %[[N1]] {ck.backward, ck.layer = 1 : i64, ck.remat
// CHECK-NEXT:    ck.linear_grad %{{.*}}, %[[H1]], %{{.*}} {ck.backward, ck.layer = 1 : i64, wrt = ["input", "weight"]}
// CHECK-NEXT:    ck.activation_grad %{{.*}}, %[[N1]]
// CHECK-NEXT:    ck.rms_norm_grad %{{.*}}, %[[Y0]] rstd %[[R1]]
// CHECK:         %[[M0:.*]], %[[R0:.*]] = ck.rms_norm %[[X]] {ck.backward, ck.layer = 0 : i64, ck.remat
// CHECK-NEXT:    %[[G0:.*]] = ck.activation %[[M0]] {ck.backward, ck.layer = 0 : i64, ck.remat
// CHECK-NEXT:    ck.linear_grad %{{.*}}, %[[G0]]
// CHECK-NEXT:    ck.activation_grad %{{.*}}, %[[M0]]
// CHECK-NEXT:    ck.rms_norm_grad %{{.*}}, %[[X]] rstd %[[R0]]
ck.buffer @w0 weight : tensor<8x8xf32> {trainable}
ck.buffer @w1 weight : tensor<8x8xf32> {trainable}
func.func @step(%x: tensor<4x8xf32> {ck.input = "x", ck.wrt}, %t: tensor<4xi32> {ck.input = "t"})
    -> (tensor<1xf32> {ck.output = "loss", ck.loss}) attributes {ck.entry} {
  %w0 = ck.param @w0 : tensor<8x8xf32>
  %n0 = ck.rms_norm %x {eps = 0.1 : f64, gain = "none", ck.layer = 0 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %h0 = ck.activation %n0 {kind = "silu", ck.layer = 0 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %l0 = ck.linear %h0, %w0 {ck.layer = 0 : i64} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %y0 = ck.add %x, %l0 {ck.layer = 0 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %w1 = ck.param @w1 : tensor<8x8xf32>
  %n1 = ck.rms_norm %y0 {eps = 0.1 : f64, gain = "none", ck.layer = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %h1 = ck.activation %n1 {kind = "silu", ck.layer = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %l1 = ck.linear %h1, %w1 {ck.layer = 1 : i64} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %y1 = ck.add %y0, %l1 {ck.layer = 1 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %loss = ck.cross_entropy %y1, %t : (tensor<4x8xf32>, tensor<4xi32>) -> tensor<1xf32>
  return %loss : tensor<1xf32>
}
