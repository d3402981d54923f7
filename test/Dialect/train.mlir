// RUN: %ck_opt %s --verify-roundtrip | FileCheck %s
// RUN: %ck_opt %s --mlir-print-op-generic | %ck_opt | FileCheck %s

// CHECK: ck.buffer @w weight : tensor<32x64xf32> from "m.safetensors"["w"] {trainable}
ck.buffer @w weight : tensor<32x64xf32> from "m.safetensors"["w"] {trainable}

// CHECK-LABEL: func.func @cross_entropy
func.func @cross_entropy(%logits: tensor<?x512xf32>, %targets: tensor<?xi32>, %s: tensor<1xf32>) {
  // CHECK: ck.cross_entropy %{{.*}}, %{{.*}} : (tensor<?x512xf32>, tensor<?xi32>) -> tensor<1xf32>
  %l = ck.cross_entropy %logits, %targets : (tensor<?x512xf32>, tensor<?xi32>) -> tensor<1xf32>
  // CHECK: ck.cross_entropy %{{.*}}, %{{.*}} scale %{{.*}} {save = "grad"}
  // CHECK-SAME: -> (tensor<1xf32>, tensor<?x512xf32>)
  %loss, %dl = ck.cross_entropy %logits, %targets scale %s {save = "grad"}
      : (tensor<?x512xf32>, tensor<?xi32>, tensor<1xf32>) -> (tensor<1xf32>, tensor<?x512xf32>)
  return
}

// CHECK-LABEL: func.func @optimizers
func.func @optimizers(%w: tensor<32x64xf32>, %lr: tensor<1xf32>, %n: tensor<1xi32>) {
  // CHECK: ck.adamw %{{.*}}, %{{.*}}, %{{.*}} grad %{{.*}} lr %{{.*}} step %{{.*}} factor %{{.*}} {beta1 =
  %w1, %m1, %v1 = ck.adamw %w, %w, %w grad %w lr %lr step %n factor %lr
      {beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64, weight_decay = 0.1 : f64}
      : (tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<1xf32>, tensor<1xi32>,
         tensor<1xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>)
  // CHECK: ck.sgd %{{.*}} velocity %{{.*}} grad %{{.*}} lr %{{[a-z0-9]+}} {momentum = 9.000000e-01 : f64}
  %w2, %v2 = ck.sgd %w velocity %w grad %w lr %lr {momentum = 0.9 : f64}
      : (tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<1xf32>)
      -> (tensor<32x64xf32>, tensor<32x64xf32>)
  // CHECK: ck.sgd %{{.*}} grad %{{.*}} lr %{{.*}} factor %{{.*}} : (
  %w3 = ck.sgd %w grad %w lr %lr factor %lr
      : (tensor<32x64xf32>, tensor<32x64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<32x64xf32>
  return
}

// CHECK-LABEL: func.func @norms
func.func @norms(%g: tensor<32x64xf32>, %s: tensor<1xf64>) {
  // CHECK: ck.sum_squares %{{[a-z0-9]+}} : (tensor<32x64xf32>) -> tensor<1xf64>
  %s0 = ck.sum_squares %g : (tensor<32x64xf32>) -> tensor<1xf64>
  // CHECK: ck.sum_squares %{{.*}} into %{{.*}} : (tensor<32x64xf32>, tensor<1xf64>) -> tensor<1xf64>
  %s1 = ck.sum_squares %g into %s : (tensor<32x64xf32>, tensor<1xf64>) -> tensor<1xf64>
  // CHECK: ck.clip_factor %{{.*}} {max_norm = 1.000000e+00 : f64}
  %norm, %f = ck.clip_factor %s {max_norm = 1.0 : f64} : (tensor<1xf64>) -> (tensor<1xf32>, tensor<1xf32>)
  // CHECK: ck.grad_clip %{{.*}} {max_norm = 1.000000e+00 : f64}
  %g1, %norm1 = ck.grad_clip %g {max_norm = 1.0 : f64} : (tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<1xf32>)
  return
}

// CHECK-LABEL: func.func @buffers
func.func @buffers(%d: tensor<?x64xf32>, %s: tensor<?x64xf32>, %i: tensor<3xi32>) {
  // CHECK: ck.accumulate %{{.*}}, %{{.*}} : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  %d1 = ck.accumulate %d, %s : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  // CHECK: ck.zero %{{.*}} : (tensor<?x64xf32>) -> tensor<?x64xf32>
  %d2 = ck.zero %d : (tensor<?x64xf32>) -> tensor<?x64xf32>
  // CHECK: ck.fill %{{.*}} {value = 5.000000e-01 : f64} : (tensor<3xi32>) -> tensor<3xf32>
  %z = ck.fill %i {value = 0.5 : f64} : (tensor<3xi32>) -> tensor<3xf32>
  // CHECK: ck.fan_out %{{.*}} : (tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>)
  %a, %b = ck.fan_out %d : (tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>)
  return
}
