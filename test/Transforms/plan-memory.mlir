// RUN: %ck_opt --pass-pipeline='builtin.module(ck-plan-memory{report=%t.json},ck-verify-plan)' --split-input-file --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s

// One step of everything: names, bounds, scratch, an in-place pair, constants and states.

// CHECK-LABEL: module attributes {ck.model = "all", ck.plan = {arena_bytes = 1536 : i64, const_bytes = 320 : i64, state_bytes = 192 : i64}}
// CHECK:         ck.buffer @cache state : tensor<4x8xf32> {offset = 0 : i64}
// CHECK:         ck.buffer @counter state : tensor<3xi32> {offset = 128 : i64}
// CHECK:         ck.buffer @cos const : tensor<16x4xf32> {offset = 0 : i64}
// CHECK:         ck.buffer @one const : tensor<1xf32> {offset = 256 : i64}
// CHECK:         func.func @init() attributes {ck.arena_bytes = 0 : i64, ck.entry, ck.thread_scratch_bytes = 0 : i64}
// CHECK-NEXT:      %[[COS:.*]] = ck.view const[0] : memref<16x4xf32> loc("cos"
// CHECK-NEXT:      %[[ONE:.*]] = ck.view const[256] : memref<1xf32> loc("one"
// CHECK-NEXT:      ck.call @table outs(cos = %[[COS]] : memref<16x4xf32>)
// CHECK:           ck.call @exp ins(input = %{{.*}} : memref<1xf32>) outs(output = %[[ONE]] : memref<1xf32>)
// CHECK:         func.func @step(%[[X:[^:]*]]: memref<?x8xf32> {ck.dims = ["T"], ck.input = "x"}
// CHECK-SAME:      attributes {ck.arena_bytes = 1536 : i64, ck.bounds = {T = 16 : i64}, ck.entry, ck.thread_scratch_bytes = 192 : i64}
// CHECK:           %[[T:.*]] = memref.dim %[[X]]
// CHECK:           %[[N:.*]] = ck.view activation[0] sizes(%[[T]]) : memref<?x8xf32> loc("norm")
// CHECK:           %[[E:.*]] = ck.view activation[0] sizes(%[[T]]) : memref<?x8xf32> loc("exp"
// CHECK:           %[[A:.*]] = ck.view activation[512] sizes(%[[T]]) : memref<?x8xf32> loc("gemm")
// CHECK:           %[[B:.*]] = ck.view activation[1024] : memref<8x8xf32> loc("table@1"
// CHECK:           %[[C:.*]] = ck.view const[0] : memref<16x4xf32> loc("cos"
// CHECK:           ck.call @exp ins(input = %[[N]] : memref<?x8xf32>) outs(output = %[[E]] : memref<?x8xf32>)
// CHECK:           %[[S:.*]] = ck.view activation[1280] : memref<256xi8> loc("gemm.packed"
// CHECK:           ck.call @gemm ins(a = %[[E]] : memref<?x8xf32>, b = %[[B]] : memref<8x8xf32>) outs(c = %[[A]] : memref<?x8xf32>) scratch(%[[S]] : memref<256xi8>)
// CHECK:           ck.call @read ins(x = %[[A]] : memref<?x8xf32>, cache = %{{.*}} : memref<4x8xf32>, cos = %[[C]] : memref<16x4xf32>)
module attributes {ck.model = "all"} {
  ck.buffer @cache state : tensor<4x8xf32>
  ck.buffer @counter state : tensor<3xi32>
  ck.buffer @cos const : tensor<16x4xf32>
  ck.buffer @one const : tensor<1xf32>
  ck.buffer @w weight : tensor<1xf32>
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[...N]:f32 -> output[...N]:f32", inplace = ["input=output"]}
  ck.provider @table {digest = "", numerics = "f32", inventory_op = "table", signature = "-> cos[S,P]:f32"}
  ck.provider @gemm {digest = "", numerics = "f32", inventory_op = "gemm", params = ["tiles:i64 = 3"],
      signature = "a[M,K]:f32, b[N,K]:f32 -> c[M,N]:f32", scratch = ["packed[N*K]:f32", "tile[$tiles*M]:f32 @thread"]}
  ck.provider @read {digest = "", numerics = "f32", inventory_op = "read",
      signature = "x[T,E]:f32, cache[S,E]:f32, cos[R,P]:f32 -> y[T,E]:f32"}
  func.func @init(%cos: memref<16x4xf32> {ck.const = @cos}, %one: memref<1xf32> {ck.const = @one}) attributes {ck.entry} {
    ck.call @table outs(cos = %cos : memref<16x4xf32>) sizes(S = 16, P = 4)
    %w = ck.param @w : memref<1xf32>
    ck.call @exp ins(input = %w : memref<1xf32>) outs(output = %one : memref<1xf32>) sizes(N = 1)
    return
  }
  func.func @step(%x: memref<?x8xf32> {ck.input = "x", ck.dims = ["T"]}, %k: memref<4x8xf32> {ck.state = @cache},
                  %y: memref<?x8xf32> {ck.output = "y", ck.dims = ["T"]}) attributes {ck.entry, ck.bounds = {T = 16 : i64}} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %t = memref.dim %x, %c0 : memref<?x8xf32>
    %n = arith.muli %t, %c8 : index
    %unused = memref.alloc(%t) : memref<?x8xf32>
    %dim = memref.dim %unused, %c0 : memref<?x8xf32>
    %norm = memref.alloc(%dim) : memref<?x8xf32> loc("norm")
    %e = memref.alloc(%t) : memref<?x8xf32>
    %a = memref.alloc(%t) : memref<?x8xf32> loc("gemm")
    %b = memref.alloc() : memref<8x8xf32>
    %cos = ck.param @cos : memref<16x4xf32>
    ck.call @exp ins(input = %x : memref<?x8xf32>) outs(output = %norm : memref<?x8xf32>) sizes(N = %n) loc("norm")
    ck.call @table outs(cos = %b : memref<8x8xf32>) sizes(S = 8, P = 8)
    ck.call @exp ins(input = %norm : memref<?x8xf32>) outs(output = %e : memref<?x8xf32>) sizes(N = %n) loc("exp")
    memref.dealloc %norm : memref<?x8xf32>
    ck.call @gemm ins(a = %e : memref<?x8xf32>, b = %b : memref<8x8xf32>) outs(c = %a : memref<?x8xf32>) sizes(M = %t, K = 8, N = 8) loc("gemm")
    ck.call @read ins(x = %a : memref<?x8xf32>, cache = %k : memref<4x8xf32>, cos = %cos : memref<16x4xf32>)
        outs(y = %y : memref<?x8xf32>) sizes(T = %t, S = 4, E = 8, R = 16, P = 4)
    return
  }
}

// -----

// Two results that are both used at the end keep both of their places, whatever happens in between.

// CHECK-LABEL: func.func @siblings
// CHECK:         ck.view activation[0] : memref<16xf32> loc("first")
// CHECK:         ck.view activation[64] : memref<16xf32> loc("second")
// CHECK:         ck.view activation[128] : memref<16xf32> loc("between")
module {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[...N]:f32 -> output[...N]:f32"}
  ck.provider @add {digest = "", numerics = "f32", inventory_op = "add", signature = "a[...N]:f32, b[...N]:f32 -> output[...N]:f32"}
  func.func @siblings(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"}, %z: memref<16xf32> {ck.output = "z"}) attributes {ck.entry} {
    %a = memref.alloc() : memref<16xf32> loc("first")
    %b = memref.alloc() : memref<16xf32> loc("second")
    %c = memref.alloc() : memref<16xf32> loc("between")
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %a : memref<16xf32>) sizes(N = 16)
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %b : memref<16xf32>) sizes(N = 16)
    ck.call @exp ins(input = %b : memref<16xf32>) outs(output = %c : memref<16xf32>) sizes(N = 16)
    ck.call @exp ins(input = %c : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    ck.call @add ins(a = %a : memref<16xf32>, b = %b : memref<16xf32>) outs(output = %z : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

// A copy is in place where its operand dies, and a copy where it does not. An alias class is one live range: `copied`
// keeps the bytes of `source` as long as it lives.

// CHECK-LABEL: func.func @aliases
// CHECK:         ck.view activation[0] : memref<16xf32> loc("source")
// CHECK:         ck.view activation[0] : memref<16xf32> loc("copied")
// CHECK:         ck.view activation[64] : memref<16xf32> loc("kept")
// CHECK:         ck.view activation[128] : memref<16xf32> loc("late")
module {
  ck.provider @copy {digest = "", numerics = "f32", inventory_op = "copy", signature = "input[...N]:$X -> output[...N]:$X", inplace = ["input=output"]}
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[...N]:f32 -> output[...N]:f32"}
  ck.provider @add {digest = "", numerics = "f32", inventory_op = "add", signature = "a[...N]:f32, b[...N]:f32 -> output[...N]:f32"}
  func.func @aliases(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"}) attributes {ck.entry} {
    %s = memref.alloc() : memref<16xf32> loc("source")
    %c = memref.alloc() : memref<16xf32> loc("copied")
    %k = memref.alloc() : memref<16xf32> loc("kept")
    %l = memref.alloc() : memref<16xf32> loc("late")
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %s : memref<16xf32>) sizes(N = 16)
    ck.call @copy ins(input = %s : memref<16xf32>) outs(output = %c : memref<16xf32>) sizes(N = 16)
    ck.call @copy ins(input = %c : memref<16xf32>) outs(output = %k : memref<16xf32>) sizes(N = 16)
    ck.call @add ins(a = %c : memref<16xf32>, b = %k : memref<16xf32>) outs(output = %l : memref<16xf32>) sizes(N = 16)
    ck.call @add ins(a = %c : memref<16xf32>, b = %l : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

// No pair is used where the operand is read twice in the call, where sizes differ, or twice for one operand.

// CHECK-LABEL: func.func @no_pairs
// CHECK-SAME:    ck.arena_bytes = 192 : i64
// CHECK:         ck.view activation[[[A:[0-9]+]]] : memref<16xf32> loc("a")
// CHECK-NOT:     ck.view activation[[[A]]] : {{.*}} loc("squared")
// CHECK:         loc("squared")
module {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[...N]:f32 -> output[...N]:f32", inplace = ["input=output"]}
  ck.provider @mul {digest = "", numerics = "f32", inventory_op = "mul", signature = "a[...N]:f32, b[...N]:f32 -> output[...N]:f32", inplace = ["a=output"]}
  ck.provider @twin {digest = "", numerics = "f32", inventory_op = "twin", signature = "a[N]:f32 -> y[N]:f32, z[N]:f32", inplace = ["a=y", "a=z"]}
  ck.provider @rows {digest = "", numerics = "f32", inventory_op = "rows", signature = "a[N]:f32, b[N]:f32 -> y[1]:f32", inplace = ["a=y"]}
  func.func @no_pairs(%x: memref<16xf32> {ck.input = "x"}, %y: memref<1xf32> {ck.output = "y"}) attributes {ck.entry} {
    %a = memref.alloc() : memref<16xf32> loc("a")
    %s = memref.alloc() : memref<16xf32> loc("squared")
    %p = memref.alloc() : memref<16xf32>
    %q = memref.alloc() : memref<16xf32>
    %r = memref.alloc() : memref<1xf32>
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %a : memref<16xf32>) sizes(N = 16)
    ck.call @mul ins(a = %a : memref<16xf32>, b = %a : memref<16xf32>) outs(output = %s : memref<16xf32>) sizes(N = 16)
    ck.call @twin ins(a = %s : memref<16xf32>) outs(y = %p : memref<16xf32>, z = %q : memref<16xf32>) sizes(N = 16)
    ck.call @rows ins(a = %p : memref<16xf32>, b = %q : memref<16xf32>) outs(y = %r : memref<1xf32>) sizes(N = 16)
    ck.call @exp ins(input = %r : memref<1xf32>) outs(output = %y : memref<1xf32>) sizes(N = 1)
    return
  }
}

// -----

// Long contexts: 131072 rows of 14336 floats are 7516192768 bytes, and three of them plus scratch 30064771072; two
// caches of 8 x 131072 x 128 floats are 1073741824.

// CHECK-LABEL: ck.plan = {arena_bytes = 30064771072 : i64, const_bytes = 0 : i64, state_bytes = 1073741824 : i64}
// CHECK:         ck.buffer @k state : tensor<8x131072x128xf32> {offset = 0 : i64}
// CHECK:         ck.buffer @v state : tensor<8x131072x128xf32> {offset = 536870912 : i64}
// CHECK:         func.func @long
// CHECK-DAG:     ck.view activation[7516192768]
// CHECK-DAG:     ck.view activation[15032385536]
// CHECK-DAG:     ck.view activation[22548578304]
module {
  ck.buffer @k state : tensor<8x131072x128xf32>
  ck.buffer @v state : tensor<8x131072x128xf32>
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[...N]:f32 -> output[...N]:f32"}
  ck.provider @glu {digest = "", numerics = "f32", inventory_op = "glu", signature = "a[T,F]:f32, b[T,F]:f32 -> y[T,F]:f32", scratch = ["copy[T*F]:f32"]}
  func.func @long(%x: memref<?x14336xf32> {ck.input = "x", ck.dims = ["T"]}, %y: memref<?x14336xf32> {ck.output = "y", ck.dims = ["T"]})
      attributes {ck.entry, ck.bounds = {T = 131072 : i64}} {
    %c0 = arith.constant 0 : index
    %c14336 = arith.constant 14336 : index
    %t = memref.dim %x, %c0 : memref<?x14336xf32>
    %n = arith.muli %t, %c14336 : index
    %a = memref.alloc(%t) : memref<?x14336xf32>
    %b = memref.alloc(%t) : memref<?x14336xf32>
    %c = memref.alloc(%t) : memref<?x14336xf32>
    ck.call @exp ins(input = %x : memref<?x14336xf32>) outs(output = %a : memref<?x14336xf32>) sizes(N = %n)
    ck.call @exp ins(input = %x : memref<?x14336xf32>) outs(output = %b : memref<?x14336xf32>) sizes(N = %n)
    ck.call @glu ins(a = %a : memref<?x14336xf32>, b = %b : memref<?x14336xf32>) outs(y = %c : memref<?x14336xf32>) sizes(T = %t, F = 14336)
    ck.call @exp ins(input = %c : memref<?x14336xf32>) outs(output = %y : memref<?x14336xf32>) sizes(N = %n)
    return
  }
}

// -----

// A size that is computed is planned at its `ck.bound`: 3 rows of 64 bytes, not 16.

// CHECK-LABEL: func.func @bounded
// CHECK-SAME:    ck.arena_bytes = 192 : i64
// CHECK:         %[[U:.*]] = ck.bound %{{.*}} <= 3
// CHECK:         ck.view activation[0] sizes(%[[U]]) : memref<?x16xf32>
module {
  ck.provider @pool {digest = "", numerics = "f32", inventory_op = "pool", signature = "x[T,E]:f32 -> y[U,E]:f32"}
  func.func @bounded(%x: memref<?x16xf32> {ck.input = "x", ck.dims = ["T"]}, %y: memref<?x16xf32> {ck.output = "y", ck.dims = ["T"]})
      attributes {ck.entry, ck.bounds = {T = 16 : i64}} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %t = memref.dim %x, %c0 : memref<?x16xf32>
    %q = arith.divui %t, %c4 : index
    %u = ck.bound %q <= 3
    %a = memref.alloc(%u) : memref<?x16xf32>
    ck.call @pool ins(x = %x : memref<?x16xf32>) outs(y = %a : memref<?x16xf32>) sizes(T = %t, E = 16, U = %u)
    ck.call @pool ins(x = %a : memref<?x16xf32>) outs(y = %y : memref<?x16xf32>) sizes(T = %u, E = 16, U = %t)
    return
  }
}

// -----

// Empty buffers take no place, and states and constants of no bytes still have addresses of their own.

// CHECK-LABEL: ck.plan = {arena_bytes = 0 : i64, const_bytes = 0 : i64, state_bytes = 128 : i64}
// CHECK:         ck.buffer @a state : tensor<0x64xf32> {offset = 0 : i64}
// CHECK:         ck.buffer @b state : tensor<1xf32> {offset = 64 : i64}
// CHECK:         ck.view activation[0] : memref<0x64xf32>
module {
  ck.buffer @a state : tensor<0x64xf32>
  ck.buffer @b state : tensor<1xf32>
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[...N]:f32 -> output[...N]:f32"}
  func.func @nothing(%x: memref<0x64xf32> {ck.input = "x"}, %y: memref<0x64xf32> {ck.output = "y"}) attributes {ck.entry} {
    %a = memref.alloc() : memref<0x64xf32>
    ck.call @exp ins(input = %x : memref<0x64xf32>) outs(output = %a : memref<0x64xf32>) sizes(N = 0)
    ck.call @exp ins(input = %a : memref<0x64xf32>) outs(output = %y : memref<0x64xf32>) sizes(N = 0)
    return
  }
}
