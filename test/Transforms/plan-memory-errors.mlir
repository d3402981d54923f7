// RUN: %ck_opt --pass-pipeline='builtin.module(ck-plan-memory)' --split-input-file --verify-diagnostics %s
// RUN: echo 'module {}' > %t.mlir
// RUN: not %ck_opt --pass-pipeline='builtin.module(ck-plan-memory{packing=magic})' %t.mlir 2>&1 | FileCheck --check-prefix=PACKING %s
// RUN: not %ck_opt --pass-pipeline='builtin.module(ck-plan-memory{packing=exact nodes=-1})' %t.mlir 2>&1 | FileCheck --check-prefix=NODES %s
// RUN: not %ck_opt --pass-pipeline='builtin.module(ck-plan-memory{guard=-1})' %t.mlir 2>&1 | FileCheck --check-prefix=GUARD %s
// RUN: not %ck_opt --pass-pipeline='builtin.module(ck-plan-memory{report=%t.d/no/such/folder.json})' %t.mlir 2>&1 | FileCheck --check-prefix=REPORT %s
// NODES: error: nodes must not be negative, got -1
// PACKING: error: unknown packing 'magic', expected greedy, search or exact
// GUARD: error: guard must not be negative, got -1
// REPORT: error: cannot write the report '{{.*}}/no/such/folder.json': {{[Nn]}}o such file or directory

module {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[...N]:f32 -> output[...N]:f32"}
  func.func @tensors(%x: tensor<4xf32> {ck.input = "x"}) attributes {ck.entry} {
    // expected-error @+1 {{'ck.call' op works on tensors; run --ck-bufferize before --ck-plan-memory}}
    %y = ck.call @exp ins(input = %x : tensor<4xf32>) outs(output = %x : tensor<4xf32>) sizes(N = 4) -> tensor<4xf32>
    return
  }
}

// -----

module {
  // expected-error @+1 {{entry 'results' still has results; run --ck-bufferize before --ck-plan-memory}}
  func.func @results(%x: memref<4xf32> {ck.input = "x"}) -> (memref<4xf32> {ck.output = "y"}) attributes {ck.entry} {
    return %x : memref<4xf32>
  }
}

// -----

module {
  func.func @copies(%x: memref<4xf32> {ck.input = "x"}, %y: memref<4xf32> {ck.output = "y"}) attributes {ck.entry} {
    // expected-error @+1 {{'memref.copy' op does not belong in a bufferized entry}}
    memref.copy %x, %y : memref<4xf32> to memref<4xf32>
    return
  }
}

// -----

module {
  ck.provider @gemm {digest = "", numerics = "f32", inventory_op = "gemm", signature = "a[N]:f32 -> c[N]:f32", scratch = ["s[N]:f32"]}
  func.func @again(%x: memref<4xf32> {ck.input = "x"}, %y: memref<4xf32> {ck.output = "y"}, %s: memref<64xi8> {ck.input = "s"}) attributes {ck.entry} {
    // expected-error @+1 {{'ck.call' op already has scratch: the entry has been planned before}}
    ck.call @gemm ins(a = %x : memref<4xf32>) outs(c = %y : memref<4xf32>) scratch(%s : memref<64xi8>) sizes(N = 4)
    return
  }
}

// -----

module {
  func.func @unbounded(%x: memref<?xf32> {ck.input = "x", ck.dims = ["T"]}, %y: memref<?xf32> {ck.output = "y", ck.dims = ["T"]})
      attributes {ck.entry, ck.bounds = {T = 8 : i64}} {
    %c0 = arith.constant 0 : index
    %t = memref.dim %x, %c0 : memref<?xf32>
    %n = arith.divui %c0, %t : index
    // expected-error @+1 {{'memref.alloc' op needs memory for 'memref<?xf32>', but a run-time extent of it has no bound}}
    %a = memref.alloc(%n) : memref<?xf32>
    ck.call @exp ins(input = %x : memref<?xf32>) outs(output = %a : memref<?xf32>) sizes(N = %t)
    return
  }
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[...N]:f32 -> output[...N]:f32"}
}

// -----

module {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[...N]:f32 -> output[...N]:f32"}
  func.func @huge(%x: memref<?x4611686018427387904xf32> {ck.input = "x", ck.dims = ["T"]}) attributes {ck.entry, ck.bounds = {T = 8 : i64}} {
    %c0 = arith.constant 0 : index
    %t = memref.dim %x, %c0 : memref<?x4611686018427387904xf32>
    // expected-error @+1 {{needs memory for 'memref<?x4611686018427387904xf32>', at its bounds 8x4611686018427387904: it is no whole number of bytes, or more than 64 bits can count}}
    %a = memref.alloc(%t) : memref<?x4611686018427387904xf32>
    ck.call @exp ins(input = %x : memref<?x4611686018427387904xf32>) outs(output = %a : memref<?x4611686018427387904xf32>) sizes(N = %t)
    return
  }
}

// -----

module {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[...N]:f32 -> output[...N]:f32"}
  // expected-error @+1 {{entry 'sum' cannot be planned: the bytes that are live at one time exceed 64 bits}}
  func.func @sum(%y: memref<1500000000000000000xf32> {ck.output = "y"}) attributes {ck.entry} {
    %a = memref.alloc() : memref<1500000000000000000xf32>
    %b = memref.alloc() : memref<1500000000000000000xf32>
    ck.call @exp ins(input = %a : memref<1500000000000000000xf32>) outs(output = %b : memref<1500000000000000000xf32>) sizes(N = 1500000000000000000)
    ck.call @exp ins(input = %b : memref<1500000000000000000xf32>) outs(output = %y : memref<1500000000000000000xf32>) sizes(N = 1500000000000000000)
    return
  }
}

// -----

module {
  ck.buffer @a state : tensor<1500000000000000000xf32>
  // expected-error @+1 {{'ck.buffer' op does not fit into the state arena: it exceeds 64 bits}}
  ck.buffer @b state : tensor<1500000000000000000xf32>
}

// -----

module {
  ck.provider @gemm {digest = "", numerics = "f32", inventory_op = "gemm", signature = "a[N]:f32 -> c[N]:f32", scratch = ["s[N]:f32"]}
  func.func @no_size(%x: memref<4xf32> {ck.input = "x"}, %y: memref<4xf32> {ck.output = "y"}) attributes {ck.entry} {
    // expected-error @+1 {{of 'gemm': scratch s: dim 'N' is not among the sizes of the call}}
    ck.call @gemm ins(a = %x : memref<4xf32>) outs(c = %y : memref<4xf32>)
    return
  }
}

// -----

// What a kernel takes below the bound must not exceed what is planned at the bound.
module {
  ck.provider @gemm {digest = "", numerics = "f32", inventory_op = "gemm", signature = "a[T]:f32 -> c[T]:f32", scratch = ["s[1024-T]:f32"]}
  func.func @falling(%x: memref<?xf32> {ck.input = "x", ck.dims = ["T"]}, %y: memref<?xf32> {ck.output = "y", ck.dims = ["T"]})
      attributes {ck.entry, ck.bounds = {T = 8 : i64}} {
    %c0 = arith.constant 0 : index
    %t = memref.dim %x, %c0 : memref<?xf32>
    // expected-error @+1 {{scratch 's[1024-T]:f32' may be larger below the bound of a run-time size than at it}}
    ck.call @gemm ins(a = %x : memref<?xf32>) outs(c = %y : memref<?xf32>) sizes(T = %t)
    return
  }
}

// -----

module {
  ck.buffer @w weight : tensor<4xf32>
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[...N]:f32 -> output[...N]:f32"}
  // expected-error @+1 {{uses constant 'w', which is no ck.buffer of role const}}
  func.func @init(%w: memref<4xf32> {ck.const = @w}) attributes {ck.entry} {
    ck.call @exp ins(input = %w : memref<4xf32>) outs(output = %w : memref<4xf32>) sizes(N = 4)
    return
  }
}
