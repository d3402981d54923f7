// A plan that wastes half of its arena.
module attributes {ck.plan = {arena_bytes = 128 : i64, const_bytes = 0 : i64, state_bytes = 0 : i64}} {
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[N]:f32 -> output[N]:f32"}
  func.func @loose(%x: memref<16xf32> {ck.input = "x"}, %y: memref<16xf32> {ck.output = "y"})
      attributes {ck.entry, ck.arena_bytes = 128 : i64, ck.thread_scratch_bytes = 0 : i64} {
    %a = ck.view activation[64] : memref<16xf32> loc("a")
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %a : memref<16xf32>) sizes(N = 16)
    ck.call @exp ins(input = %a : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    return
  }
}
