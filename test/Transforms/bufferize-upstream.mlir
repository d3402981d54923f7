// RUN: %ck_opt --pass-pipeline='builtin.module(one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map unknown-type-conversion=identity-layout-map})' --split-input-file --verify-diagnostics %s | FileCheck %s

// The interface alone, under upstream's pass. A destination that is overwritten is not read, so nothing is copied into it.

// CHECK-LABEL: func.func @overwritten(
// CHECK-SAME:    %[[X:[^:]*]]: memref<4xf32>)
// CHECK-NOT:     memref.copy
// CHECK:         %[[A:.*]] = memref.alloc()
// CHECK-NEXT:    ck.call @exp ins(input = %[[X]] : memref<4xf32>) outs(output = %[[A]] : memref<4xf32>) sizes(N = 4)
// CHECK-NEXT:    ck.call @exp ins(input = %[[A]] : memref<4xf32>) outs(output = %[[X]] : memref<4xf32>) sizes(N = 4)
module {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  func.func @overwritten(%x: tensor<4xf32>) -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    %a = ck.call @exp ins(input = %x : tensor<4xf32>) outs(output = %e : tensor<4xf32>) sizes(N = 4) -> tensor<4xf32>
    %b = ck.call @exp ins(input = %a : tensor<4xf32>) outs(output = %x : tensor<4xf32>) sizes(N = 4) -> tensor<4xf32>
    return %b : tensor<4xf32>
  }
}

// -----

// One that is accumulated into is read: its old value is copied first because it is returned as well.

// CHECK-LABEL: func.func @accumulated(
// CHECK-SAME:    %[[X:[^:]*]]: memref<4xf32>, %[[Y:[^:]*]]: memref<4xf32>)
// CHECK:         %[[A:.*]] = memref.alloc()
// CHECK:         memref.copy %[[X]], %[[A]]
// CHECK:         ck.call @into ins(x = %[[Y]] : memref<4xf32>) outs(sum = %[[A]] : memref<4xf32>) sizes(N = 4)
// CHECK:         return %[[A]], %[[X]]
module {
  ck.provider @into {digest = "", numerics = "f32", inventory_op = "into", signature = "x[N]:f32 -> sum[N]:f32+="}
  func.func @accumulated(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %a = ck.call @into ins(x = %y : tensor<4xf32>) outs(sum = %x : tensor<4xf32>) sizes(N = 4) -> tensor<4xf32>
    return %a, %x : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// A weight is read-only: what is written into it goes to a copy.

// CHECK-LABEL: func.func @weight(
// CHECK:         %[[W:.*]] = ck.param @w : memref<4xf32>
// CHECK:         memref.copy %[[W]], %[[A:.*]] : memref<4xf32>
// CHECK:         ck.call @into ins(x = %{{.*}} : memref<4xf32>) outs(sum = %[[A]] : memref<4xf32>) sizes(N = 4)
module {
  ck.buffer @w weight : tensor<4xf32>
  ck.provider @into {digest = "", numerics = "f32", inventory_op = "into", signature = "x[N]:f32 -> sum[N]:f32+="}
  func.func @weight(%x: tensor<4xf32>) -> tensor<4xf32> {
    %w = ck.param @w : tensor<4xf32>
    %a = ck.call @into ins(x = %x : tensor<4xf32>) outs(sum = %w : tensor<4xf32>) sizes(N = 4) -> tensor<4xf32>
    return %a : tensor<4xf32>
  }
}

// -----

// A state must be updated in place: what would need a copy of it does not compile.

module {
  ck.buffer @k state : tensor<4xf32>
  ck.provider @into {digest = "", numerics = "f32", inventory_op = "into", signature = "x[N]:f32 -> sum[N]:f32+="}
  func.func @state(%x: tensor<4xf32> {ck.input = "x"}, %k: tensor<4xf32> {ck.state = @k}) -> (tensor<4xf32>, tensor<4xf32>) {
    // expected-error @+1 {{not bufferizable under the given constraints: cannot avoid RaW conflict}}
    %a = ck.call @into ins(x = %x : tensor<4xf32>) outs(sum = %k : tensor<4xf32>) sizes(N = 4) -> tensor<4xf32>
    return %a, %k : tensor<4xf32>, tensor<4xf32>
  }
}
