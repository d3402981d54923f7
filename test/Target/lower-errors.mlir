// RUN: %ck_opt --pass-pipeline='builtin.module(ck-lower-to-llvm)' --split-input-file --verify-diagnostics %s

// expected-error @+1 {{is no planned model: it needs the attributes 'ck.model' and 'ck.plan'}}
module {
}

// -----

// expected-error @+1 {{has no entry: no function carries 'ck.entry'}}
module attributes {ck.model = "m", ck.plan = {}} {
}

// -----

module attributes {ck.model = "m", ck.plan = {}} {
  // expected-error @+1 {{of role state has no offset; run --ck-plan-memory first}}
  ck.buffer @s state : tensor<4xf32>
}

// -----

module attributes {ck.model = "m", ck.plan = {}} {
  // expected-error @+1 {{is an entry that has not been planned; run --ck-plan-memory first}}
  func.func @f(%x: memref<4xf32> {ck.input = "x"}) attributes {ck.entry} {
    return
  }
}

// -----

module attributes {ck.model = "m", ck.plan = {}} {
  // expected-error @+1 {{argument 0 is no compact memref; run --ck-bufferize first}}
  func.func @f(%x: tensor<4xf32> {ck.input = "x"})
      attributes {ck.entry, ck.arena_bytes = 0 : i64, ck.thread_scratch_bytes = 0 : i64} {
    return
  }
}

// -----

module attributes {ck.model = "m", ck.plan = {}} {
  // expected-error @+1 {{argument 0 is neither input, output nor state}}
  func.func @f(%x: memref<4xf32>) attributes {ck.entry, ck.arena_bytes = 0 : i64, ck.thread_scratch_bytes = 0 : i64} {
    return
  }
}

// -----

module attributes {ck.model = "m", ck.plan = {}} {
  func.func @f(%x: memref<4xf32> {ck.input = "x"})
      attributes {ck.entry, ck.arena_bytes = 0 : i64, ck.thread_scratch_bytes = 0 : i64} {
    // expected-error @+1 {{does not belong in PLAN}}
    %a = memref.alloc() : memref<4xf32>
    return
  }
}

// -----

module attributes {ck.model = "m", ck.plan = {}} {
  ck.provider @k {digest = "d", inventory_op = "op", numerics = "f32", signature = "x[N]:f32 -> y[N]:f32",
                  params = ["eps:f64"]}
  func.func @f(%x: memref<4xf32> {ck.input = "x"}, %y: memref<4xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 0 : i64, ck.thread_scratch_bytes = 0 : i64} {
    // expected-error @+1 {{has no value for the parameter 'eps' of 'k'}}
    ck.call @k ins(x = %x : memref<4xf32>) outs(y = %y : memref<4xf32>) sizes(N = 4)
    return
  }
}

// -----

module attributes {ck.model = "m", ck.plan = {}} {
  ck.provider @k {digest = "d", inventory_op = "op", numerics = "f32", signature = "x[N]:f32 -> y[N]:f32",
                  params = ["act:{none,silu}"]}
  func.func @f(%x: memref<4xf32> {ck.input = "x"}, %y: memref<4xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 0 : i64, ck.thread_scratch_bytes = 0 : i64} {
    // expected-error @+1 {{parameter 'act:{none,silu}' of 'k' cannot be "gelu"}}
    ck.call @k ins(x = %x : memref<4xf32>) outs(y = %y : memref<4xf32>) sizes(N = 4) params({act = "gelu"})
    return
  }
}
