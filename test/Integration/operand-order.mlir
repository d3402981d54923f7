// Ops that differ in the order or the repetition of their operands only are different ops: neither CSE nor the sharing
// of constants may merge them, and each keeps its operands in their places down to PLAN. Equal ops become one.

// RUN: %ck_opt --ck-inference-pipeline %s | FileCheck %s

// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[A:[^:]*]]: memref<4xf32> {ck.input = "a"}, %[[B:[^:]*]]: memref<4xf32> {ck.input = "b"}
// CHECK-SAME: %[[Y0:[^:]*]]: memref<4xf32> {ck.output = "a_minus_b"}, %[[Y1:[^:]*]]: memref<4xf32> {ck.output = "b_minus_a"}
// CHECK-SAME: %[[Y2:[^:]*]]: memref<4xf32> {ck.output = "a_times_b"}, %[[Y3:[^:]*]]: memref<4xf32> {ck.output = "a_times_a"}
// CHECK-SAME: %[[Y4:[^:]*]]: memref<4xf32> {ck.output = "constants"}
// CHECK-DAG: ck.call @add_scaled_f32 ins(a = %[[A]] : memref<4xf32>, b = %[[B]] : memref<4xf32>) outs(output = %[[Y0]] {{.*}}alpha = -1
// CHECK-DAG: ck.call @add_scaled_f32 ins(a = %[[B]] : memref<4xf32>, b = %[[A]] : memref<4xf32>) outs(output = %[[Y1]] {{.*}}alpha = -1
// CHECK-DAG: ck.call @mul_f32 ins(a = %[[A]] : memref<4xf32>, b = %[[B]] : memref<4xf32>) outs(output = %[[Y2]]
// CHECK-DAG: ck.call @mul_f32 ins(a = %[[A]] : memref<4xf32>, b = %[[A]] : memref<4xf32>) outs(output = %[[Y3]]
// CHECK-DAG: %[[C0:.*]] = ck.view const[0] : memref<4xf32>
// CHECK-DAG: %[[C1:.*]] = ck.view const[64] : memref<4xf32>
// CHECK-DAG: ck.call @ck_residual_add_token_major ins(a = %[[A]] : memref<4xf32>, b = %[[C1]] : memref<4xf32>) outs(output = %[[S:.*]] : memref<4xf32>)
// CHECK-DAG: ck.call @mul_f32 ins(a = %[[C0]] : memref<4xf32>, b = %[[S]] : memref<4xf32>) outs(output = %[[Y4]]
// CHECK-LABEL: func.func @init()
// CHECK-DAG: %[[V:.*]] = ck.param @v
// CHECK-DAG: %[[W:.*]] = ck.param @w
// CHECK-DAG: %[[D0:.*]] = ck.view const[0] : memref<4xf32>
// CHECK-DAG: %[[D1:.*]] = ck.view const[64] : memref<4xf32>
// CHECK-DAG: ck.call @add_scaled_f32 ins(a = %[[V]] : memref<4xf32>, b = %[[W]] : memref<4xf32>) outs(output = %[[D0]]
// CHECK-DAG: ck.call @add_scaled_f32 ins(a = %[[W]] : memref<4xf32>, b = %[[V]] : memref<4xf32>) outs(output = %[[T:.*]] : memref<4xf32>)
// CHECK-DAG: ck.call @mul_f32 ins(a = %[[D0]] : memref<4xf32>, b = %[[T]] : memref<4xf32>) outs(output = %[[D1]]
// CHECK-NOT: ck.call

module attributes {ck.model = "order", ck.numerics = "f32"} {
  ck.buffer @v weight : tensor<4xf32>
  ck.buffer @w weight : tensor<4xf32>

  func.func @step(%a: tensor<4xf32> {ck.input = "a"}, %b: tensor<4xf32> {ck.input = "b"})
      -> (tensor<4xf32> {ck.output = "a_minus_b"}, tensor<4xf32> {ck.output = "b_minus_a"},
          tensor<4xf32> {ck.output = "a_times_b"}, tensor<4xf32> {ck.output = "a_times_a"},
          tensor<4xf32> {ck.output = "constants"}) attributes {ck.entry} {
    %v = ck.param @v : tensor<4xf32>
    %w = ck.param @w : tensor<4xf32>
    %0 = ck.add %a, %b {alpha = -1.0 : f64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = ck.add %b, %a {alpha = -1.0 : f64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = ck.mul %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %3 = ck.mul %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %vw = ck.add %v, %w {alpha = -1.0 : f64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %wv = ck.add %w, %v {alpha = -1.0 : f64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %vw1 = ck.add %v, %w {alpha = -1.0 : f64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %c = ck.mul %vw1, %wv : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %d = ck.add %a, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %4 = ck.mul %vw, %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}
