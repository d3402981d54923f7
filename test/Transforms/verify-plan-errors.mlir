// RUN: %ck_opt --pass-pipeline='builtin.module(ck-verify-plan)' --split-input-file --verify-diagnostics %s
// RUN: not %ck_opt --pass-pipeline='builtin.module(ck-verify-plan{max-ratio=1.05})' %S/Inputs/loose-plan.mlir 2>&1 | FileCheck %s
// CHECK: loose-plan.mlir:{{[0-9]+}}:{{[0-9]+}}: error: entry 'loose' takes 128 bytes of arena, 64 live at most, ratio 2.000, which is above 1.050

// Two simultaneously live values overlap by half: found where the first one is read.

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  ck.provider @add {digest = "", numerics = "f32", inventory_op = "add", signature = "a[N]:f32, b[N]:f32 -> output[N]:f32"}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %w: memref<32xf32> {ck.input = "w"}, %y: memref<16xf32> {ck.output = "y"}, %z: memref<32xf32> {ck.output = "z"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    %a = ck.view activation[0] : memref<32xf32> loc("a")
    %b = ck.view activation[64] : memref<16xf32> loc("b")
    ck.call @exp ins(input = %w : memref<32xf32>) outs(output = %a : memref<32xf32>) sizes(N = 32)
    // expected-note @+1 {{written over here}}
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %b : memref<16xf32>) sizes(N = 16)
    // expected-error @+1 {{'ck.call' op reads 'a' [0, 128) as 'input', but 'b' [64, 128) has been written over it}}
    ck.call @exp ins(input = %a : memref<32xf32>) outs(output = %z : memref<32xf32>) sizes(N = 32)
    ck.call @exp ins(input = %b : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

// A copy that was made an alias while its source is still needed: z is written over what y reads.

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  ck.provider @copy {digest = "", numerics = "f32", inventory_op = "copy", signature = "input[...N]:$X -> output[...N]:$X", inplace = ["input=output"]}
  ck.provider @add {digest = "", numerics = "f32", inventory_op = "add", signature = "a[N]:f32, b[N]:f32 -> output[N]:f32"}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    %x1 = ck.view activation[0] : memref<16xf32> loc("x1")
    %y1 = ck.view activation[0] : memref<16xf32> loc("y1")
    %z1 = ck.view activation[0] : memref<16xf32> loc("z1")
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %x1 : memref<16xf32>) sizes(N = 16)
    ck.call @copy ins(input = %x1 : memref<16xf32>) outs(output = %y1 : memref<16xf32>) sizes(N = 16)
    // expected-note @+1 {{written over here}}
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %z1 : memref<16xf32>) sizes(N = 16)
    // expected-error @+1 {{'ck.call' op reads 'y1' [0, 64) as 'a', but 'z1' [0, 64) has been written over it}}
    ck.call @add ins(a = %y1 : memref<16xf32>, b = %z1 : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

// An in-place result takes the bytes; its operand must not be read again.

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  ck.provider @neg {digest = "", numerics = "f32", inventory_op = "neg", signature = "input[N]:f32 -> output[N]:f32", inplace = ["input=output"]}
  ck.provider @add {digest = "", numerics = "f32", inventory_op = "add", signature = "a[N]:f32, b[N]:f32 -> output[N]:f32"}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    %a = ck.view activation[0] : memref<16xf32> loc("a")
    %b = ck.view activation[0] : memref<16xf32> loc("b")
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %a : memref<16xf32>) sizes(N = 16)
    // expected-note @+1 {{written over here}}
    ck.call @neg ins(input = %a : memref<16xf32>) outs(output = %b : memref<16xf32>) sizes(N = 16)
    // expected-error @+1 {{reads 'a' [0, 64) as 'a', but 'b' [0, 64) has been written over it}}
    ck.call @add ins(a = %a : memref<16xf32>, b = %b : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    %a = ck.view activation[0] : memref<16xf32> loc("a")
    %b = ck.view activation[0] : memref<16xf32> loc("b")
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %a : memref<16xf32>) sizes(N = 16)
    // expected-error @+1 {{of 'exp' gets overlapping storage for 'input', 'a' [0, 64), and 'output', 'b' [0, 64), which are no in-place pair of its contract}}
    ck.call @exp ins(input = %a : memref<16xf32>) outs(output = %b : memref<16xf32>) sizes(N = 16)
    ck.call @exp ins(input = %b : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

// A declared pair shares all of its bytes or none.

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  ck.provider @neg {digest = "", numerics = "f32", inventory_op = "neg", signature = "input[N]:f32 -> output[N]:f32", inplace = ["input=output"]}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %w: memref<32xf32> {ck.input = "w"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    %a = ck.view activation[0] : memref<32xf32> loc("a")
    %b = ck.view activation[64] : memref<32xf32> loc("b")
    ck.call @exp ins(input = %w : memref<32xf32>) outs(output = %a : memref<32xf32>) sizes(N = 32)
    // expected-error @+1 {{gets overlapping storage for 'input', 'a' [0, 128), and 'output', 'b' [64, 192)}}
    ck.call @neg ins(input = %a : memref<32xf32>) outs(output = %b : memref<32xf32>) sizes(N = 32)
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.provider @twin {digest = "", numerics = "f32", inventory_op = "twin", signature = "x[N]:f32 -> y[N]:f32, z[N]:f32"}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    %a = ck.view activation[0] : memref<16xf32> loc("a")
    %b = ck.view activation[0] : memref<16xf32> loc("b")
    // expected-error @+1 {{gets overlapping storage for 'y', 'a' [0, 64), and 'z', 'b' [0, 64)}}
    ck.call @twin ins(x = %x : memref<16xf32>) outs(y = %a : memref<16xf32>, z = %b : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

// Scratch is written during its call.

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  ck.provider @scr {digest = "", numerics = "f32", inventory_op = "scr", signature = "input[N]:f32 -> output[N]:f32", scratch = ["s[2*N]:f32", "t[N]:f32 @thread"]}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 64 : i64} {
    %a = ck.view activation[0] : memref<16xf32> loc("a")
    %s = ck.view activation[0] : memref<128xi8> loc("s")
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %a : memref<16xf32>) sizes(N = 16)
    // expected-error @+1 {{gets overlapping storage for 'input', 'a' [0, 64), and 'scratch', 's' [0, 128)}}
    ck.call @scr ins(input = %a : memref<16xf32>) outs(output = %y : memref<16xf32>) scratch(%s : memref<128xi8>) sizes(N = 16)
    return
  }
}

// -----

// Scratch overwrites what lives across its call.

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  ck.provider @scr {digest = "", numerics = "f32", inventory_op = "scr", signature = "input[N]:f32 -> output[N]:f32", scratch = ["s[2*N]:f32", "t[N]:f32 @thread"]}
  ck.provider @add {digest = "", numerics = "f32", inventory_op = "add", signature = "a[N]:f32, b[N]:f32 -> output[N]:f32"}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 64 : i64} {
    %a = ck.view activation[0] : memref<16xf32> loc("a")
    %b = ck.view activation[128] : memref<16xf32> loc("b")
    %s = ck.view activation[0] : memref<128xi8> loc("s")
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %a : memref<16xf32>) sizes(N = 16)
    // expected-note @+1 {{written over here}}
    ck.call @scr ins(input = %x : memref<16xf32>) outs(output = %b : memref<16xf32>) scratch(%s : memref<128xi8>) sizes(N = 16)
    // expected-error @+1 {{reads 'a' [0, 64) as 'a', but 's' [0, 128) has been written over it}}
    ck.call @add ins(a = %a : memref<16xf32>, b = %b : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.provider @scr {digest = "", numerics = "f32", inventory_op = "scr", signature = "input[N]:f32 -> output[N]:f32", scratch = ["s[2*N]:f32", "t[N]:f32 @thread"]}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 64 : i64} {
    %s = ck.view activation[0] : memref<64xi8> loc("s")
    // expected-error @+1 {{needs 128 bytes of scratch 's', but gets 64}}
    ck.call @scr ins(input = %x : memref<16xf32>) outs(output = %y : memref<16xf32>) scratch(%s : memref<64xi8>) sizes(N = 16)
    return
  }
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.provider @scr {digest = "", numerics = "f32", inventory_op = "scr", signature = "input[N]:f32 -> output[N]:f32", scratch = ["s[2*N]:f32", "t[N]:f32 @thread"]}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 64 : i64} {
    // expected-error @+1 {{has 0 scratch areas, but its contract asks for 1}}
    ck.call @scr ins(input = %x : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.provider @scr {digest = "", numerics = "f32", inventory_op = "scr", signature = "input[N]:f32 -> output[N]:f32", scratch = ["s[2*N]:f32", "t[N]:f32 @thread"]}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    %s = ck.view activation[0] : memref<128xi8> loc("s")
    // expected-error @+1 {{needs 64 bytes of scratch for each thread, but the entry reserves 0}}
    ck.call @scr ins(input = %x : memref<16xf32>) outs(output = %y : memref<16xf32>) scratch(%s : memref<128xi8>) sizes(N = 16)
    return
  }
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.provider @scr {digest = "", numerics = "f32", inventory_op = "scr", signature = "input[N]:f32 -> output[N]:f32", scratch = ["s[2*N]:f32", "t[N]:f32 @thread"]}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"}, %s: memref<128xi8> {ck.input = "s"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 64 : i64} {
    // expected-error @+1 {{has scratch that is no ck.view of the activation arena}}
    ck.call @scr ins(input = %x : memref<16xf32>) outs(output = %y : memref<16xf32>) scratch(%s : memref<128xi8>) sizes(N = 16)
    return
  }
}

// -----

// Reads of bytes that nothing has written.

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    %a = ck.view activation[64] : memref<16xf32> loc("a")
    // expected-error @+1 {{reads bytes [64, 128) of 'a' [64, 128) as 'input', which nothing has written}}
    ck.call @exp ins(input = %a : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.provider @into {digest = "", numerics = "f32", inventory_op = "into", signature = "x[N]:f32 -> sum[N]:f32+="}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    %a = ck.view activation[0] : memref<16xf32> loc("a")
    // expected-error @+1 {{reads bytes [0, 64) of 'a' [0, 64) as 'sum', which nothing has written}}
    ck.call @into ins(x = %x : memref<16xf32>) outs(sum = %a : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.provider @part {digest = "", numerics = "f32", inventory_op = "part", signature = "x[N]:f32 -> y[M]:f32|="}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    %a = ck.view activation[0] : memref<16xf32> loc("a")
    // expected-error @+1 {{as 'y', which nothing has written}}
    ck.call @part ins(x = %x : memref<16xf32>) outs(y = %a : memref<16xf32>) sizes(N = 16, M = 16)
    return
  }
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.provider @into {digest = "", numerics = "f32", inventory_op = "into", signature = "x[N]:f32 -> sum[N]:f32+="}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    // expected-error @+1 {{reads output 'y' as 'sum' before anything has written it}}
    ck.call @into ins(x = %x : memref<16xf32>) outs(sum = %y : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

// What is left over.

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    // expected-error @+1 {{'memref.alloc' op is left over: in a plan every buffer is a ck.view and every copy a call}}
    %a = memref.alloc() : memref<16xf32>
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    // expected-error @+1 {{'memref.dealloc' op is left over}}
    memref.dealloc %x : memref<16xf32>
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    // expected-error @+1 {{'memref.copy' op is left over: in a plan every buffer is a ck.view and every copy a call}}
    memref.copy %x, %y : memref<16xf32> to memref<16xf32>
    return
  }
}

// -----

// Copied states.

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.buffer @s state : tensor<16xf32> {offset = 0 : i64}
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %s: memref<16xf32> {ck.state = @s})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    %a = ck.view activation[0] : memref<16xf32> loc("a")
    // expected-error @+1 {{'memref.copy' op is left over: in a plan every buffer is a ck.view and every copy a call; it copies state 's'}}
    memref.copy %s, %a : memref<16xf32> to memref<16xf32>
    return
  }
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.buffer @s state : tensor<16xf32> {offset = 0 : i64}
  ck.provider @copy {digest = "", numerics = "f32", inventory_op = "copy", signature = "input[...N]:$X -> output[...N]:$X", inplace = ["input=output"]}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %s: memref<16xf32> {ck.state = @s})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    %a = ck.view activation[0] : memref<16xf32> loc("a")
    // expected-error @+1 {{copies state 's' to 'a' [0, 64): a state is read and updated where it is}}
    ck.call @copy ins(input = %s : memref<16xf32>) outs(output = %a : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.buffer @s state : tensor<16xf32> {offset = 0 : i64}
  ck.provider @copy {digest = "", numerics = "f32", inventory_op = "copy", signature = "input[...N]:$X -> output[...N]:$X", inplace = ["input=output"]}
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %s: memref<16xf32> {ck.state = @s})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    %a = ck.view activation[0] : memref<16xf32> loc("a")
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %a : memref<16xf32>) sizes(N = 16)
    // expected-error @+1 {{copies state 's' from 'a' [0, 64)}}
    ck.call @copy ins(input = %a : memref<16xf32>) outs(output = %s : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.buffer @s state : tensor<16xf32> {offset = 0 : i64}
  // expected-error @+1 {{entry 'run' returns state 's', which copies it: a planned state is updated in its argument}}
  func.func @run(%s: memref<16xf32> {ck.state = @s}) -> (memref<16xf32> {ck.state = @s})
      attributes {ck.entry, ck.arena_bytes = 0 : i64, ck.thread_scratch_bytes = 0 : i64} {
    return %s : memref<16xf32>
  }
}

// -----

// Views.

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    // expected-error @unknown {{'ck.view' op of 'a' [256, 320) ends outside the activation arena of 256 bytes}}
    %a = ck.view activation[256] : memref<16xf32> loc("a")
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

// The run-time extent counts at its bound.

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  func.func @run(%x: memref<?xf32> {ck.input = "x", ck.dims = ["T"]}, %y: memref<?xf32> {ck.output = "y", ck.dims = ["T"]})
      attributes {ck.entry, ck.bounds = {T = 100 : i64}, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    %c0 = arith.constant 0 : index
    %t = memref.dim %x, %c0 : memref<?xf32>
    // expected-error @unknown {{'ck.view' op of 'a' [0, 400) ends outside the activation arena of 256 bytes}}
    %a = ck.view activation[0] sizes(%t) : memref<?xf32> loc("a")
    ck.call @exp ins(input = %x : memref<?xf32>) outs(output = %a : memref<?xf32>) sizes(N = %t)
    return
  }
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    // expected-error @unknown {{'ck.view' op of 'a' [32, 96) is not aligned to 64 bytes}}
    %a = ck.view activation[32] : memref<16xf32> loc("a")
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

// Constants.

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.buffer @c const : tensor<16xf32> {offset = 0 : i64}
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    // expected-error @unknown {{'ck.view' op of 'c' [64, 128) is no constant: none has this offset}}
    %c = ck.view const[64] : memref<16xf32> loc("c")
    ck.call @exp ins(input = %c : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.buffer @c const : tensor<16xf32> {offset = 0 : i64}
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    // expected-error @unknown {{'ck.view' op of 'memref<8xf32>' is at the offset of constant 'c', which is declared 'tensor<16xf32>'}}
    %c = ck.view const[0] : memref<8xf32> loc("c")
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.buffer @c const : tensor<16xf32> {offset = 0 : i64}
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    // expected-error @unknown {{'ck.view' op is of constant 'c', which @init does not write}}
    %c = ck.view const[0] : memref<16xf32> loc("c")
    ck.call @exp ins(input = %c : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.buffer @c const : tensor<16xf32> {offset = 0 : i64}
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    %c = ck.view const[0] : memref<16xf32> loc("c")
    // expected-error @+1 {{writes constant 'c' [0, 64) as 'output', which is read-only here}}
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %c : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.buffer @c const : tensor<16xf32> {offset = 0 : i64}
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  func.func @init()
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    // expected-error @unknown {{'ck.view' op of constant 'c' is read before it is written}}
    %c = ck.view const[0] : memref<16xf32> loc("c")
    %a = ck.view activation[0] : memref<16xf32> loc("a")
    ck.call @exp ins(input = %c : memref<16xf32>) outs(output = %a : memref<16xf32>) sizes(N = 16)
    ck.call @exp ins(input = %a : memref<16xf32>) outs(output = %c : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.buffer @c const : tensor<16xf32> {offset = 0 : i64}
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    // expected-error @+1 {{'ck.param' op reads the const 'c', which a plan reads by a ck.view of its arena}}
    %c = ck.param @c : memref<16xf32>
    ck.call @exp ins(input = %c : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

// What is only read, and what must be written.

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"}, %w: memref<16xf32> {ck.input = "w"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    // expected-error @+1 {{writes input 'x' as 'output', which is read-only here}}
    ck.call @exp ins(input = %w : memref<16xf32>) outs(output = %x : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.buffer @w weight : tensor<16xf32>
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    %w = ck.param @w : memref<16xf32>
    // expected-error @+1 {{writes weight 'w' as 'output', which is read-only here}}
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %w : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    // expected-error @+1 {{'func.return' op ends the entry before anything has written output 'y'}}
    return
  }
}

// -----

// The layout of states and constants.

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  // expected-note @+1 {{the other one is declared here}}
  ck.buffer @s state : tensor<16xf32> {offset = 0 : i64}
  // expected-error @+1 {{'ck.buffer' op overlaps 's' in the state arena}}
  ck.buffer @t state : tensor<16xf32> {offset = 0 : i64}
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  // expected-error @+1 {{'ck.buffer' op at offset 128 ends outside the state arena of 128 bytes}}
  ck.buffer @t state : tensor<16xf32> {offset = 128 : i64}
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  // expected-error @+1 {{'ck.buffer' op at offset 4 is not aligned to 64 bytes}}
  ck.buffer @t const : tensor<16xf32> {offset = 4 : i64}
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  // expected-error @+1 {{'ck.buffer' op of role state has no offset; run --ck-plan-memory first}}
  ck.buffer @t state : tensor<16xf32>
}

// -----

// Red zones.

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64, guard = 32 : i64}} {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  ck.provider @add {digest = "", numerics = "f32", inventory_op = "add", signature = "a[N]:f32, b[N]:f32 -> output[N]:f32"}
  // expected-error @+1 {{entry 'run' leaves less than the guard of 32 bytes at 'b' [128, 192), next to 'a' [64, 128)}}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    %a = ck.view activation[64] : memref<16xf32> loc("a")
    %b = ck.view activation[128] : memref<16xf32> loc("b")
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %a : memref<16xf32>) sizes(N = 16)
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %b : memref<16xf32>) sizes(N = 16)
    ck.call @add ins(a = %a : memref<16xf32>, b = %b : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64, guard = 32 : i64}} {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  // expected-error @+1 {{entry 'run' leaves less than the guard of 32 bytes at 'a' [0, 64)}}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    %a = ck.view activation[0] : memref<16xf32> loc("a")
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %a : memref<16xf32>) sizes(N = 16)
    ck.call @exp ins(input = %a : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

// Form.

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  // expected-error @+1 {{entry 'run' has no 'ck.arena_bytes' and 'ck.thread_scratch_bytes'; run --ck-plan-memory first}}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry} {
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  // expected-error @+1 {{entry 'run' needs an arena of 512 bytes, but 'ck.plan' reserves 256}}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 512 : i64, ck.thread_scratch_bytes = 0 : i64} {
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

// expected-error @+1 {{the module has no 'ck.plan'; run --ck-plan-memory first}}
module {
}

// -----

// expected-error @+1 {{'ck.plan' has no size 'const_bytes'}}
module attributes {ck.plan = {arena_bytes = 0 : i64}} {
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  // expected-error @+1 {{entry 'run' has argument 0, which is no compact memref, but 'tensor<16xf32>'}}
  func.func @run(%x: tensor<16xf32> {ck.input = "x"}) attributes {ck.entry, ck.arena_bytes = 0 : i64, ck.thread_scratch_bytes = 0 : i64} {
    return
  }
}

// -----

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 128 : i64, state_bytes = 128 : i64}} {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 0 : i64} {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{'memref.load' op does not belong in a plan: only ck.call, ck.view, ck.param, memref.dim and index arithmetic do}}
    %v = memref.load %x[%c0] : memref<16xf32>
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    return
  }
}
