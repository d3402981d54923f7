// RUN: %ck_translate --ck-to-table %s | FileCheck %s

// The table has one row for each call; a size that is computed at run time is an expression over the dims of the entry.
module attributes {ck.model = "m", ck.numerics = "f32",
                   ck.plan = {const_bytes = 64 : i64, state_bytes = 128 : i64, arena_bytes = 1024 : i64}} {
  ck.buffer @w weight : tensor<8xf32> from "m.gguf"["w"]
  ck.buffer @cache state : tensor<4x8xf32> {offset = 0 : i64}
  ck.buffer @table const : tensor<8xf32> {offset = 0 : i64}
  ck.provider @kernel {digest = "d", inventory_op = "op", numerics = "f32",
      signature = "a[...N]:f32, b[K]:f32, t[K]:f32, o[K]:f32? -> y[...N]:f32", params = ["eps:f64", "act:{none,silu}"]}
  ck.provider @fill {digest = "d", inventory_op = "op", numerics = "f32", signature = " -> t[K]:f32"}

  // CHECK: "format": "ckplan"
  // CHECK: "name": "w",
  // CHECK-NEXT: "role": "weight"
  // CHECK: "file": "m.gguf",
  // CHECK-NEXT: "tensor": "w"
  // CHECK: "name": "cache",
  // CHECK-NEXT: "role": "state"
  // CHECK: "kernels": [
  // CHECK: "id": "kernel",
  // CHECK-NEXT: "digest": "sha256:{{[0-9a-f]+}}",
  // CHECK-NEXT: "slots": 9
  // CHECK: "dims": [
  // CHECK: "name": "T",
  // CHECK-NEXT: "bound": 16
  // CHECK: "check": "T",
  // CHECK-NEXT: "bound": 12
  // CHECK: "slots": [
  // CHECK: "i": 0
  // CHECK: "w": 0
  // CHECK: "c": 0
  // CHECK: null,
  // CHECK: "o": 0
  // CHECK: "n": [
  // CHECK-NEXT: "*",
  // CHECK-NEXT: "T",
  // CHECK-NEXT: 8
  // CHECK: 8,
  // CHECK: "f": 0.5
  // CHECK: 1
  func.func @step(%x: memref<?x8xf32> {ck.input = "x", ck.dims = ["T"]},
                  %y: memref<?x8xf32> {ck.output = "y", ck.dims = ["T"]})
      attributes {ck.entry, ck.bounds = {T = 16 : i64}, ck.arena_bytes = 0 : i64, ck.thread_scratch_bytes = 0 : i64} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %t = memref.dim %x, %c0 : memref<?x8xf32>
    %u = ck.bound %t <= 12
    %n = arith.muli %u, %c8 : index
    %w = ck.param @w : memref<8xf32>
    %table = ck.view const[0] : memref<8xf32>
    ck.call @kernel ins(a = %x : memref<?x8xf32>, b = %w : memref<8xf32>, t = %table : memref<8xf32>)
        outs(y = %y : memref<?x8xf32>) sizes(N = %n, K = 8) params({eps = 0.5 : f64, act = "silu"})
    return
  }

  // A plan is judged before it is written: each constant that is read needs its writer.
  func.func @init() attributes {ck.entry, ck.arena_bytes = 0 : i64, ck.thread_scratch_bytes = 0 : i64} {
    %table = ck.view const[0] : memref<8xf32>
    ck.call @fill outs(t = %table : memref<8xf32>) sizes(K = 8)
    return
  }
}
