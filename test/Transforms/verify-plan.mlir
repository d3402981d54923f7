// RUN: %ck_opt --pass-pipeline='builtin.module(ck-verify-plan{remarks max-ratio=2})' --split-input-file --verify-diagnostics %s

// Plans that are right. Bytes may be used again as soon as their value has been read for the last time, and an in-place
// pair may share them within one call.

module attributes {ck.plan = {arena_bytes = 256 : i64, const_bytes = 64 : i64, state_bytes = 64 : i64}} {
  ck.buffer @s state : tensor<16xf32> {offset = 0 : i64}
  ck.buffer @w weight : tensor<16xf32>
  ck.buffer @c const : tensor<16xf32> {offset = 0 : i64}
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32", inplace = ["input=output"]}
  ck.provider @add {digest = "", numerics = "f32", inventory_op = "add", signature = "a[N]:f32, b[N]:f32 -> output[N]:f32", scratch = ["s[N]:f32", "t[N]:f64 @thread"]}
  ck.provider @into {digest = "", numerics = "f32", inventory_op = "into", signature = "x[N]:f32 -> sum[N]:f32+="}
  ck.provider @store {digest = "", numerics = "f32", inventory_op = "store", signature = "s[N]:f32, x[N]:f32 -> s[N]:f32|="}
  // expected-remark @+1 {{entry 'init': 0 bytes of arena, 0 live at most, ratio 1.000}}
  func.func @init() attributes {ck.entry, ck.arena_bytes = 0 : i64, ck.thread_scratch_bytes = 0 : i64} {
    %c = ck.view const[0] : memref<16xf32> loc("c")
    %w = ck.param @w : memref<16xf32>
    ck.call @exp ins(input = %w : memref<16xf32>) outs(output = %c : memref<16xf32>) sizes(N = 16)
    return
  }
  // Most is live in @add: two operands, its result and its scratch.
  // expected-remark @+1 {{entry 'run': 256 bytes of arena, 256 live at most, ratio 1.000}}
  func.func @run(%x: memref<16xf32> {ck.input = "x"}, %s: memref<16xf32> {ck.state = @s}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 256 : i64, ck.thread_scratch_bytes = 128 : i64} {
    %c = ck.view const[0] : memref<16xf32> loc("c")
    %a = ck.view activation[0] : memref<16xf32> loc("a")
    %a1 = ck.view activation[0] : memref<16xf32> loc("a1")
    %b = ck.view activation[64] : memref<16xf32> loc("b")
    %sum = ck.view activation[128] : memref<16xf32> loc("sum")
    %scratch = ck.view activation[192] : memref<64xi8> loc("scratch")
    %late = ck.view activation[64] : memref<16xf32> loc("late")
    ck.call @store ins(x = %x : memref<16xf32>) outs(s = %s : memref<16xf32>) sizes(N = 16)
    ck.call @exp ins(input = %s : memref<16xf32>) outs(output = %a : memref<16xf32>) sizes(N = 16)
    ck.call @exp ins(input = %a : memref<16xf32>) outs(output = %a1 : memref<16xf32>) sizes(N = 16)
    ck.call @exp ins(input = %c : memref<16xf32>) outs(output = %b : memref<16xf32>) sizes(N = 16)
    ck.call @add ins(a = %a1 : memref<16xf32>, b = %b : memref<16xf32>) outs(output = %sum : memref<16xf32>) scratch(%scratch : memref<64xi8>) sizes(N = 16)
    ck.call @exp ins(input = %sum : memref<16xf32>) outs(output = %late : memref<16xf32>) sizes(N = 16)
    ck.call @into ins(x = %sum : memref<16xf32>) outs(sum = %late : memref<16xf32>) sizes(N = 16)
    ck.call @exp ins(input = %late : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    ck.call @into ins(x = %late : memref<16xf32>) outs(sum = %y : memref<16xf32>) sizes(N = 16)
    return
  }
}

// -----

// One view that holds two values one after the other, as after CSE, has two lives.

module attributes {ck.plan = {arena_bytes = 128 : i64, const_bytes = 0 : i64, state_bytes = 0 : i64}} {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  // expected-remark @+1 {{entry 'reuse': 128 bytes of arena, 64 live at most, ratio 2.000}}
  func.func @reuse(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"}, %z: memref<16xf32> {ck.output = "z"})
      attributes {ck.entry, ck.arena_bytes = 128 : i64, ck.thread_scratch_bytes = 0 : i64} {
    %a = ck.view activation[0] : memref<16xf32> loc("a")
    %b = ck.view activation[64] : memref<16xf32> loc("b")
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %a : memref<16xf32>) sizes(N = 16)
    ck.call @exp ins(input = %a : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %b : memref<16xf32>) sizes(N = 16)
    ck.call @exp ins(input = %b : memref<16xf32>) outs(output = %z : memref<16xf32>) sizes(N = 16)
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %a : memref<16xf32>) sizes(N = 16)
    ck.call @exp ins(input = %a : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    return
  }
}
