// RUN: %ck_opt --pass-pipeline='builtin.module(ck-plan-memory{guard=100 report=%t.json},ck-verify-plan)' %s | FileCheck %s
// RUN: %ck_opt --pass-pipeline='builtin.module(ck-plan-memory{guard=100 packing=search nodes=1000},ck-verify-plan)' %s | FileCheck %s
// RUN: %ck_opt --pass-pipeline='builtin.module(ck-plan-memory{guard=100 packing=exact},ck-verify-plan)' %s | FileCheck %s
// RUN: FileCheck --check-prefix=JSON %s < %t.json
// RUN: %python -m json.tool %t.json > /dev/null

// Red zones of 100 bytes around every buffer; its size is padded to 64 with the zone behind it.

// CHECK: ck.plan = {arena_bytes = 896 : i64, const_bytes = 0 : i64, guard = 100 : i64, state_bytes = 256 : i64}
// CHECK: ck.buffer @s state : tensor<5xf32> {offset = 128 : i64}
// CHECK: ck.view activation[128] : memref<64xf32>
// CHECK: ck.view activation[512] : memref<64xf32>

//      JSON: "model": "report",
// JSON-NEXT: "guard": 100,
// JSON-NEXT: "arena_bytes": 896,
// JSON-NEXT: "const_bytes": 0,
// JSON-NEXT: "state_bytes": 256,
//      JSON: "states": [
//      JSON:     "name": "s",
// JSON-NEXT:     "offset": 128,
// JSON-NEXT:     "size": 20
//      JSON: "constants": [],
//      JSON: "entries": [
//      JSON:     "name": "run",
//      JSON:     "bounds": {},
// JSON-NEXT:     "calls": 4,
// JSON-NEXT:     "arena_bytes": 896,
// JSON-NEXT:     "thread_scratch_bytes": 0,
// JSON-NEXT:     "bound": 768,
// JSON-NEXT:     "bound_before_in_place": 1152,
// JSON-NEXT:     "ratio": 1.166
// JSON-NEXT:     "strategy": "peak, first fit",
// JSON-NEXT:     "peak": {
// JSON-NEXT:       "step": 1,
// JSON-NEXT:       "op": "exp",
// JSON-NEXT:       "live": [
// JSON-NEXT:         "a",
// JSON-NEXT:         "b"
// JSON-NEXT:       ]
//      JSON:     "buffers": [
//      JSON:         "name": "a",
// JSON-NEXT:         "op": "exp",
// JSON-NEXT:         "offset": 128,
// JSON-NEXT:         "size": 256,
// JSON-NEXT:         "first": 0,
// JSON-NEXT:         "last": 2
//      JSON:         "name": "sum",
// JSON-NEXT:         "op": "add",
// JSON-NEXT:         "offset": 128,
// JSON-NEXT:         "size": 256,
// JSON-NEXT:         "first": 2,
// JSON-NEXT:         "last": 3,
// JSON-NEXT:         "in_place_of": "a"
module attributes {ck.model = "report"} {
  ck.buffer @s state : tensor<5xf32>
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "exp", signature = "input[...N]:f32 -> output[...N]:f32"}
  ck.provider @add {digest = "", numerics = "f32", inventory_op = "add", signature = "a[...N]:f32, b[...N]:f32 -> output[...N]:f32", inplace = ["a=output"]}
  func.func @run(%x: memref<64xf32> {ck.input = "x"}, %y: memref<64xf32> {ck.output = "y"}) attributes {ck.entry} {
    %a = memref.alloc() : memref<64xf32> loc("a")
    %b = memref.alloc() : memref<64xf32> loc("b")
    %c = memref.alloc() : memref<64xf32> loc("sum")
    ck.call @exp ins(input = %x : memref<64xf32>) outs(output = %a : memref<64xf32>) sizes(N = 64)
    ck.call @exp ins(input = %x : memref<64xf32>) outs(output = %b : memref<64xf32>) sizes(N = 64)
    ck.call @add ins(a = %a : memref<64xf32>, b = %b : memref<64xf32>) outs(output = %c : memref<64xf32>) sizes(N = 64)
    ck.call @exp ins(input = %c : memref<64xf32>) outs(output = %y : memref<64xf32>) sizes(N = 64)
    return
  }
}
