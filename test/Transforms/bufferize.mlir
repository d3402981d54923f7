// RUN: %ck_opt --pass-pipeline='builtin.module(ck-bufferize{maps=%kernel_maps})' --split-input-file %s | FileCheck %s

// Outputs are computed straight in their destinations, states in their arguments; run-time extents come from arguments.

// CHECK-LABEL: func.func @step(
// CHECK-SAME:    %[[X:.*]]: memref<?x8xf32> {ck.dims = ["T"], ck.input = "x"}, %[[K:.*]]: memref<4x8xf32> {ck.state = @cache},
// CHECK-SAME:    %[[Y:.*]]: memref<?x8xf32> {ck.dims = ["T"], ck.output = "y"})
// CHECK-SAME:    attributes {ck.bounds = {T = 16 : i64}, ck.entry}
// CHECK-NEXT:    %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %[[T:.*]] = memref.dim %[[X]], %[[C0]] : memref<?x8xf32>
// CHECK-NEXT:    ck.call @store ins(x = %[[X]] : memref<?x8xf32>) outs(cache = %[[K]] : memref<4x8xf32>) sizes(T = %[[T]], S = 4, E = 8)
// CHECK-NEXT:    %[[A:.*]] = memref.alloc(%[[T]]) {{.*}} : memref<?x8xf32>
// CHECK-NEXT:    %[[W:.*]] = ck.param @gamma : memref<8xf32>
// CHECK-NEXT:    ck.call @norm ins(input = %[[X]] : memref<?x8xf32>, gamma = %[[W]] : memref<8xf32>) outs(output = %[[A]] : memref<?x8xf32>) sizes(T = %[[T]], E = 8)
// CHECK-NEXT:    ck.call @read ins(x = %[[A]] : memref<?x8xf32>, cache = %[[K]] : memref<4x8xf32>) outs(y = %[[Y]] : memref<?x8xf32>) sizes(T = %[[T]], S = 4, E = 8)
// CHECK-NEXT:    return
module {
  ck.buffer @cache state : tensor<4x8xf32>
  ck.buffer @gamma weight : tensor<8xf32>
  ck.provider @store {digest = "", numerics = "f32", inventory_op = "store",
      signature = "cache[S,E]:f32, x[T,E]:f32 -> cache[S,E]:f32|="}
  ck.provider @norm {digest = "", numerics = "f32", inventory_op = "norm",
      signature = "input[...T,E]:f32, gamma[E]:f32 -> output[...T,E]:f32", inplace = ["input=output"]}
  ck.provider @read {digest = "", numerics = "f32", inventory_op = "read",
      signature = "x[T,E]:f32, cache[S,E]:f32 -> y[T,E]:f32"}
  func.func @step(%x: tensor<?x8xf32> {ck.input = "x", ck.dims = ["T"]}, %k: tensor<4x8xf32> {ck.state = @cache})
      -> (tensor<?x8xf32> {ck.output = "y"}, tensor<4x8xf32> {ck.state = @cache})
      attributes {ck.entry, ck.bounds = {T = 16 : i64}} {
    %c0 = arith.constant 0 : index
    %t = tensor.dim %x, %c0 : tensor<?x8xf32>
    %k1 = ck.call @store ins(x = %x : tensor<?x8xf32>) outs(cache = %k : tensor<4x8xf32>) sizes(T = %t, S = 4, E = 8)
        -> tensor<4x8xf32>
    %e0 = tensor.empty(%t) : tensor<?x8xf32>
    %w = ck.param @gamma : tensor<8xf32>
    %n = ck.call @norm ins(input = %x : tensor<?x8xf32>, gamma = %w : tensor<8xf32>) outs(output = %e0 : tensor<?x8xf32>)
        sizes(T = %t, E = 8) -> tensor<?x8xf32>
    %t1 = tensor.dim %n, %c0 : tensor<?x8xf32>
    %e1 = tensor.empty(%t1) : tensor<?x8xf32>
    %y = ck.call @read ins(x = %n : tensor<?x8xf32>, cache = %k1 : tensor<4x8xf32>) outs(y = %e1 : tensor<?x8xf32>)
        sizes(T = %t1, S = 4, E = 8) -> tensor<?x8xf32>
    return %y, %k1 : tensor<?x8xf32>, tensor<4x8xf32>
  }
}

// -----

// Constants of @init are destinations too; entries read them as parameters.

// CHECK-LABEL: func.func @init(%{{.*}}: memref<16x4xf32> {ck.const = @cos}, %{{.*}}: memref<16x4xf32> {ck.const = @sin})
// CHECK-NEXT:    ck.call @rope_table outs(cos = %{{.*}} : memref<16x4xf32>, sin = %{{.*}} : memref<16x4xf32>)
// CHECK-NEXT:    return
module {
  ck.buffer @cos const : tensor<16x4xf32>
  ck.buffer @sin const : tensor<16x4xf32>
  ck.provider @rope_table {digest = "", numerics = "f32", inventory_op = "rope_table", params = ["theta:f64"],
      signature = "-> cos[S,P]:f32, sin[S,P]:f32"}
  func.func @init() -> (tensor<16x4xf32> {ck.const = @cos}, tensor<16x4xf32> {ck.const = @sin}) attributes {ck.entry} {
    %e = tensor.empty() : tensor<16x4xf32>
    %t:2 = ck.call @rope_table outs(cos = %e : tensor<16x4xf32>, sin = %e : tensor<16x4xf32>) sizes(S = 16, P = 4)
        params({theta = 1.0e+04 : f64}) -> (tensor<16x4xf32>, tensor<16x4xf32>)
    return %t#0, %t#1 : tensor<16x4xf32>, tensor<16x4xf32>
  }
}

// -----

// An output that is an input, and a value returned twice, are copied by a provider from the kernel maps.

// CHECK: ck.provider @copy_b32
// CHECK-LABEL: func.func @copies(
// CHECK-SAME:    %[[X:.*]]: memref<?x8xf32> {{{.*}}ck.input = "x"}, %[[SAME:.*]]: memref<?x8xf32> {{{.*}}ck.output = "same"},
// CHECK-SAME:    %[[A:.*]]: memref<?x8xf32> {{{.*}}ck.output = "a"}, %[[B:.*]]: memref<?x8xf32> {{{.*}}ck.output = "b"})
// CHECK:         ck.call @exp ins(input = %[[X]] : memref<?x8xf32>) outs(output = %[[A]] : memref<?x8xf32>)
// CHECK:         ck.call @copy_b32 ins(input = %[[A]] : memref<?x8xf32>) outs(output = %[[B]] : memref<?x8xf32>) sizes(N = %{{.*}})
// CHECK:         ck.call @copy_b32 ins(input = %[[X]] : memref<?x8xf32>) outs(output = %[[SAME]] : memref<?x8xf32>) sizes(N = %{{.*}})
// CHECK-NOT:     memref.copy
module {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[...N]:f32 -> output[...N]:f32"}
  func.func @copies(%x: tensor<?x8xf32> {ck.input = "x", ck.dims = ["T"]})
      -> (tensor<?x8xf32> {ck.output = "same"}, tensor<?x8xf32> {ck.output = "a"}, tensor<?x8xf32> {ck.output = "b"})
      attributes {ck.entry, ck.bounds = {T = 16 : i64}} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %t = tensor.dim %x, %c0 : tensor<?x8xf32>
    %n = arith.muli %t, %c8 : index
    %e = tensor.empty(%t) : tensor<?x8xf32>
    %y = ck.call @exp ins(input = %x : tensor<?x8xf32>) outs(output = %e : tensor<?x8xf32>) sizes(N = %n) -> tensor<?x8xf32>
    return %x, %y, %y : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  }
}

// -----

// A provider of the module goes before the maps. An input is never written: accumulating into it takes a copy first.

// CHECK-LABEL: func.func @accumulate(
// CHECK-SAME:    %[[X:[^:]*]]: memref<4xf32> {ck.input = "x"}, %[[Y:[^:]*]]: memref<4xf32> {ck.output = "y"})
// CHECK-NEXT:    %[[A:.*]] = memref.alloc()
// CHECK-NEXT:    ck.call @my_copy ins(from = %[[X]] : memref<4xf32>) outs(to = %[[A]] : memref<4xf32>) sizes(N = 4)
// CHECK-NEXT:    ck.call @add_into ins(a = %[[X]] : memref<4xf32>) outs(sum = %[[A]] : memref<4xf32>) sizes(N = 4)
// CHECK-NEXT:    ck.call @my_copy ins(from = %[[A]] : memref<4xf32>) outs(to = %[[Y]] : memref<4xf32>) sizes(N = 4)
module {
  ck.provider @my_copy {digest = "", numerics = "f32", inventory_op = "copy", signature = "from[...N]:$X -> to[...N]:$X"}
  ck.provider @add_into {digest = "", numerics = "f32", inventory_op = "add", signature = "a[...N]:f32 -> sum[...N]:f32+="}
  func.func @accumulate(%x: tensor<4xf32> {ck.input = "x"}) -> (tensor<4xf32> {ck.output = "y"}) attributes {ck.entry} {
    %y = ck.call @add_into ins(a = %x : tensor<4xf32>) outs(sum = %x : tensor<4xf32>) sizes(N = 4) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

// One empty tensor may serve many calls: its contents do not matter, so each gets a buffer and nothing is copied.

// CHECK-LABEL: func.func @shared_empty(
// CHECK:         %[[A:.*]] = memref.alloc()
// CHECK:         %[[B:.*]] = memref.alloc()
// CHECK-NOT:     copy
// CHECK-DAG:     ck.call @exp ins(input = %arg0 : memref<4xf32>) outs(output = %[[A]] : memref<4xf32>)
// CHECK-DAG:     ck.call @exp ins(input = %arg0 : memref<4xf32>) outs(output = %[[B]] : memref<4xf32>)
// CHECK:         ck.call @add ins(a = %{{.*}} : memref<4xf32>, b = %{{.*}} : memref<4xf32>) outs(output = %arg1 : memref<4xf32>)
module {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[...N]:f32 -> output[...N]:f32"}
  ck.provider @add {digest = "", numerics = "f32", inventory_op = "add", signature = "a[...N]:f32, b[...N]:f32 -> output[...N]:f32"}
  func.func @shared_empty(%x: tensor<4xf32> {ck.input = "x"}) -> (tensor<4xf32> {ck.output = "y"}) attributes {ck.entry} {
    %e = tensor.empty() : tensor<4xf32>
    %a = ck.call @exp ins(input = %x : tensor<4xf32>) outs(output = %e : tensor<4xf32>) sizes(N = 4) -> tensor<4xf32>
    %b = ck.call @exp ins(input = %x : tensor<4xf32>) outs(output = %e : tensor<4xf32>) sizes(N = 4) -> tensor<4xf32>
    %y = ck.call @add ins(a = %a : tensor<4xf32>, b = %b : tensor<4xf32>) outs(output = %e : tensor<4xf32>) sizes(N = 4) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

// `before` is read after `after` has been accumulated into it, so the second needs a copy of the first.

// CHECK-LABEL: func.func @both_versions(
// CHECK-SAME:    %[[X:[^:]*]]: memref<4xf32> {ck.input = "x"}, %[[AFTER:.*]]: memref<4xf32> {ck.output = "after"},
// CHECK-SAME:    %[[BEFORE:.*]]: memref<4xf32> {ck.output = "before"})
// CHECK-NEXT:    ck.call @exp ins(input = %[[X]] : memref<4xf32>) outs(output = %[[AFTER]] : memref<4xf32>) sizes(N = 4)
// CHECK-NEXT:    %[[A:.*]] = memref.alloc()
// CHECK-NEXT:    ck.call @my_copy ins(from = %[[AFTER]] : memref<4xf32>) outs(to = %[[A]] : memref<4xf32>) sizes(N = 4)
// CHECK-NEXT:    ck.call @add_into ins(a = %[[X]] : memref<4xf32>) outs(sum = %[[A]] : memref<4xf32>) sizes(N = 4)
// CHECK-NEXT:    ck.call @my_copy ins(from = %[[AFTER]] : memref<4xf32>) outs(to = %[[BEFORE]] : memref<4xf32>) sizes(N = 4)
// CHECK-NEXT:    ck.call @my_copy ins(from = %[[A]] : memref<4xf32>) outs(to = %[[AFTER]] : memref<4xf32>) sizes(N = 4)
// CHECK-NEXT:    return
module {
  ck.provider @my_copy {digest = "", numerics = "f32", inventory_op = "copy", signature = "from[...N]:$X -> to[...N]:$X"}
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[...N]:f32 -> output[...N]:f32"}
  ck.provider @add_into {digest = "", numerics = "f32", inventory_op = "add", signature = "a[...N]:f32 -> sum[...N]:f32+="}
  func.func @both_versions(%x: tensor<4xf32> {ck.input = "x"})
      -> (tensor<4xf32> {ck.output = "after"}, tensor<4xf32> {ck.output = "before"}) attributes {ck.entry} {
    %e = tensor.empty() : tensor<4xf32>
    %a = ck.call @exp ins(input = %x : tensor<4xf32>) outs(output = %e : tensor<4xf32>) sizes(N = 4) -> tensor<4xf32>
    %b = ck.call @add_into ins(a = %x : tensor<4xf32>) outs(sum = %a : tensor<4xf32>) sizes(N = 4) -> tensor<4xf32>
    return %b, %a : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// Zero-sized tensors are tensors.

// CHECK-LABEL: func.func @nothing(%arg0: memref<0x64xf32> {ck.input = "x"}, %arg1: memref<0x64xf32> {ck.output = "y"})
// CHECK:         ck.call @exp ins(input = %arg0 : memref<0x64xf32>) outs(output = %arg1 : memref<0x64xf32>) sizes(N = 0)
module {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[...N]:f32 -> output[...N]:f32"}
  func.func @nothing(%x: tensor<0x64xf32> {ck.input = "x"}) -> (tensor<0x64xf32> {ck.output = "y"}) attributes {ck.entry} {
    %e = tensor.empty() : tensor<0x64xf32>
    %y = ck.call @exp ins(input = %x : tensor<0x64xf32>) outs(output = %e : tensor<0x64xf32>) sizes(N = 0) -> tensor<0x64xf32>
    return %y : tensor<0x64xf32>
  }
}

// -----

// A new value of a state is computed in the state's place when nobody reads the old one, through updates of it too.

// CHECK-LABEL: func.func @overwritten(
// CHECK-SAME:    %[[X:.*]]: memref<4xf32> {ck.input = "x"}, %[[S:.*]]: memref<4xf32> {ck.state = @s})
// CHECK-NEXT:    ck.call @exp ins(input = %[[X]] : memref<4xf32>) outs(output = %[[S]] : memref<4xf32>) sizes(N = 4)
// CHECK-NEXT:    ck.call @add_into ins(a = %[[X]] : memref<4xf32>) outs(sum = %[[S]] : memref<4xf32>) sizes(N = 4)
// CHECK-NEXT:    return
module {
  ck.buffer @s state : tensor<4xf32>
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[...N]:f32 -> output[...N]:f32"}
  ck.provider @add_into {digest = "", numerics = "f32", inventory_op = "add", signature = "a[...N]:f32 -> sum[...N]:f32+="}
  func.func @overwritten(%x: tensor<4xf32> {ck.input = "x"}, %s: tensor<4xf32> {ck.state = @s})
      -> (tensor<4xf32> {ck.state = @s}) attributes {ck.entry} {
    %e = tensor.empty() : tensor<4xf32>
    %a = ck.call @exp ins(input = %x : tensor<4xf32>) outs(output = %e : tensor<4xf32>) sizes(N = 4) -> tensor<4xf32>
    %b = ck.call @add_into ins(a = %x : tensor<4xf32>) outs(sum = %a : tensor<4xf32>) sizes(N = 4) -> tensor<4xf32>
    return %b : tensor<4xf32>
  }
}
