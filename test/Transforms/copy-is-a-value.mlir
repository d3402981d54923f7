// RUN: %ck_opt --pass-pipeline='builtin.module(ck-inference-pipeline{maps=%kernel_maps})' %s | FileCheck %s

// A copy is a value of its own while its source lives: x is read after the copy, so y has other bytes; z may then take x's
// place, because that was x's last use, and w takes y's.

// CHECK:      %[[X:.*]] = ck.view activation[[[PX:[0-9]+]]] : memref<64xf32>
// CHECK:      ck.call @activation_f32 {{.*}} outs(output = %[[X]]
// CHECK-NOT:  activation[[[PX]]]
// CHECK:      %[[Y:.*]] = ck.view activation
// CHECK:      ck.call @copy_b32 ins(input = %[[X]] : memref<64xf32>) outs(output = %[[Y]] : memref<64xf32>)
// CHECK:      %[[Z:.*]] = ck.view activation[[[PX]]] : memref<64xf32>
// CHECK:      ck.call @ck_residual_add_token_major ins(a = %[[X]] : memref<64xf32>, b = %arg1 : memref<64xf32>) outs(output = %[[Z]] : memref<64xf32>)
// CHECK:      ck.call @ck_residual_add_token_major ins(a = %[[Y]] : memref<64xf32>, b = %[[Z]] : memref<64xf32>)
module attributes {ck.model = "copies", ck.numerics = "f32"} {
  func.func @copies(%in: tensor<64xf32> {ck.input = "in"}, %one: tensor<64xf32> {ck.input = "one"})
      -> (tensor<64xf32> {ck.output = "w"}) attributes {ck.entry} {
    %x = ck.activation %in {kind = "exp"} : (tensor<64xf32>) -> tensor<64xf32>
    %y = ck.copy %x : (tensor<64xf32>) -> tensor<64xf32>
    %z = ck.add %x, %one : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %w = ck.add %y, %z : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    return %w : tensor<64xf32>
  }
}
