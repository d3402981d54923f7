// RUN: %ck_opt --pass-pipeline='builtin.module(ck-fold-accumulate,ck-select-providers{maps=%kernel_maps},ck-verify-call)' %s | FileCheck %s --check-prefix=CALL
// RUN: %ck_opt --pass-pipeline='builtin.module(ck-fold-accumulate,ck-inference-pipeline{maps=%kernel_maps})' %s | FileCheck %s --check-prefix=PLAN
// RUN: %ck_opt --pass-pipeline='builtin.module(ck-fold-accumulate,ck-inference-pipeline{maps=%kernel_maps},ck-lower-to-llvm)' %s -o /dev/null
// RUN: %ck_opt --pass-pipeline='builtin.module(ck-fold-accumulate,ck-inference-pipeline{maps=%kernel_maps})' %s | %ck_translate --ck-to-table - -o /dev/null

// Updates of states happen in the state: its argument is the destination, nothing is copied, and the arena holds only the
// norm that nobody returns and the sum of squares.

module attributes {ck.model = "updates"} {
ck.buffer @w state : tensor<8x16xf32>
ck.buffer @m state : tensor<8x16xf32>
ck.buffer @v state : tensor<8x16xf32>
ck.buffer @dw state : tensor<8x16xf32>

// CALL-LABEL: func.func @accumulate
// CALL-SAME:    %[[DW:[a-z0-9]+]]: tensor<8x16xf32> {ck.state = @dw}
// CALL:         %[[A:.*]] = ck.call @{{.*}} ins(d_output = {{.*}}) outs(d_weight = %[[DW]] : tensor<8x16xf32>)
// CALL:         %[[B:.*]] = ck.call @gradient_accumulate_f32 ins(src = {{.*}}) outs(dst = %[[A]] : tensor<8x16xf32>)
// CALL:         return %[[B]]
// PLAN-LABEL: func.func @accumulate
// PLAN-SAME:    %[[DW:[a-z0-9]+]]: memref<8x16xf32> {ck.state = @dw}
// PLAN-NOT:     copy
// PLAN:         ck.call @{{.*}} ins(d_output = {{.*}}) outs(d_weight = %[[DW]] : memref<8x16xf32>)
// PLAN:         ck.call @gradient_accumulate_f32 ins(src = {{.*}}) outs(dst = %[[DW]] : memref<8x16xf32>)
// PLAN:         return
func.func @accumulate(%dy: tensor<4x8xf32> {ck.input = "dy"}, %x: tensor<4x16xf32> {ck.input = "x"},
                      %y: tensor<8x16xf32> {ck.input = "y"}, %dw: tensor<8x16xf32> {ck.state = @dw})
    -> (tensor<8x16xf32> {ck.state = @dw}) attributes {ck.entry} {
  %g = ck.linear_grad %dy, %x, %y {wrt = ["weight"]}
      : (tensor<4x8xf32>, tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %a = ck.accumulate %dw, %g : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %b = ck.accumulate %a, %y : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %b : tensor<8x16xf32>
}

// PLAN-LABEL: func.func @update
// PLAN-SAME:    %[[W:[a-z0-9]+]]: memref<8x16xf32> {ck.state = @w}, %[[M:[a-z0-9]+]]: memref<8x16xf32> {ck.state = @m}, %[[V:[a-z0-9]+]]: memref<8x16xf32> {ck.state = @v}, %[[G:[a-z0-9]+]]: memref<8x16xf32> {ck.state = @dw}
// PLAN-NOT:     copy
// PLAN:         ck.call @{{.*}} ins(input = %[[G]] : memref<8x16xf32>) outs(sum = %[[S:[a-z0-9]+]] : memref<1xf64>)
// PLAN:         ck.call @{{.*}} outs(sum = %[[S]] : memref<1xf64>)
// PLAN:         ck.call @{{.*}} ins(sum = %[[S]] : memref<1xf64>)
// PLAN:         ck.call @adamw_update_f32 ins({{.*}}) outs(w = %[[W]] : memref<8x16xf32>, m = %[[M]] : memref<8x16xf32>, v = %[[V]] : memref<8x16xf32>)
// PLAN:         ck.call @{{.*}} outs(dst = %[[G]] : memref<8x16xf32>)
// PLAN:         return
func.func @update(%w: tensor<8x16xf32> {ck.state = @w}, %m: tensor<8x16xf32> {ck.state = @m},
                  %v: tensor<8x16xf32> {ck.state = @v}, %g: tensor<8x16xf32> {ck.state = @dw},
                  %lr: tensor<1xf32> {ck.input = "lr"}, %n: tensor<1xi32> {ck.input = "step"})
    -> (tensor<8x16xf32> {ck.state = @w}, tensor<8x16xf32> {ck.state = @m}, tensor<8x16xf32> {ck.state = @v},
        tensor<8x16xf32> {ck.state = @dw}) attributes {ck.entry} {
  %s0 = ck.sum_squares %g : (tensor<8x16xf32>) -> tensor<1xf64>
  %s1 = ck.sum_squares %g into %s0 : (tensor<8x16xf32>, tensor<1xf64>) -> tensor<1xf64>
  %norm, %f = ck.clip_factor %s1 {max_norm = 1.0 : f64} : (tensor<1xf64>) -> (tensor<1xf32>, tensor<1xf32>)
  %w1, %m1, %v1 = ck.adamw %w, %m, %v grad %g lr %lr step %n factor %f
      {beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64, weight_decay = 0.1 : f64}
      : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xf32>, tensor<1xi32>,
         tensor<1xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>)
  %z = ck.zero %g : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %w1, %m1, %v1, %z : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
}
}
