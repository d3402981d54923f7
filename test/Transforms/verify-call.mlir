// RUN: %ck_opt --pass-pipeline='builtin.module(ck-verify-call)' %s | FileCheck %s
// RUN: %ck_opt --pass-pipeline='builtin.module(ck-select-providers{maps=%S/Inputs/maps},ck-verify-call)' \
// RUN:   %S/select-providers-policies.mlir | FileCheck %s --check-prefix=SELECTED

// What selection makes passes, and so does what is written by hand.

// SELECTED: ck.call @linear_rows

ck.provider @norm {digest = "d", numerics = "f32", inventory_op = "norm", params = ["eps:f64", "n:i64", "b:bool", "m:{x,y}"],
                   signature = "x[T,E]:f32 -> y[T,E]:f32"}
ck.buffer @w weight : tensor<8xf32>

// CHECK-LABEL: func.func @step
// CHECK: ck.call @norm
func.func @step(%x: tensor<?x8xf32> {ck.input = "x", ck.dims = ["T"]}) -> (tensor<?x8xf32> {ck.output = "y"})
    attributes {ck.entry, ck.bounds = {T = 4 : i64}} {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x8xf32>
  %w = ck.param @w : tensor<8xf32>
  %e = tensor.empty(%t) : tensor<?x8xf32>
  %y = ck.call @norm ins(x = %x : tensor<?x8xf32>) outs(y = %e : tensor<?x8xf32>) sizes(T = %t, E = 8)
      params({eps = 0.5 : f64, n = 3 : i64, b = true, m = "y"}) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
