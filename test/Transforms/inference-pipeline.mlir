// The whole road from GRAPH to PLAN, with the kernels of this build: a decoder of one layer with a tied head, one row
// at a time and several at once.

// RUN: %ck_opt --pass-pipeline='builtin.module(ck-inference-pipeline{maps=%kernel_maps})' %s | FileCheck %s
// RUN: %ck_opt --ck-inference-pipeline %s | FileCheck %s
// RUN: %ck_opt --pass-pipeline='builtin.module(ck-inference-pipeline{maps=%kernel_maps guard=64 report=%t.json packing=greedy})' %s \
// RUN:   | FileCheck %s --check-prefix=GUARD
// RUN: FileCheck %s --check-prefix=REPORT < %t.json
// RUN: not %ck_opt --pass-pipeline='builtin.module(ck-inference-pipeline{maps=%S/Inputs/maps})' %s 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REFUSED
// RUN: %ck_opt --pass-pipeline='builtin.module(ck-inference-pipeline{maps=%kernel_maps policy=reference isa=avx2 remarks=true pin=linear:gemm_blocked_serial})' \
// RUN:   %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// The same module always gives the same plan.
// RUN: %ck_opt --ck-inference-pipeline %s -o %t.1
// RUN: %ck_opt --ck-inference-pipeline %s -o %t.2
// RUN: cmp %t.1 %t.2

// CHECK: module attributes
// CHECK-SAME: ck.plan = {
// CHECK: ck.buffer @tok_emb weight
// CHECK: ck.buffer @k_cache state : tensor<4x128x8xf32> {offset =
// CHECK: ck.buffer @rope_cos const : tensor<128x4xf32> {offset =
// CHECK-DAG: ck.provider @rmsnorm_forward
// CHECK-DAG: ck.provider @rope_table_f64
// CHECK-DAG: ck.provider @swiglu_forward
// GUARD: ck.plan = {{.*}}guard = 64
// REPORT: "const_bytes": 4288
// REMARK: remark: {{.*}}provider gemm_blocked_serial, cost

// No tensors and no allocations are left.
// CHECK-LABEL: func.func @decode(
// CHECK-SAME: memref<1x512xf32> {ck.output = "logits"}
// CHECK-SAME: ck.arena_bytes =
// CHECK-NOT: tensor<
// CHECK-NOT: memref.alloc
// CHECK: ck.call @qkv_gemv_f32
// CHECK: ck.call @cache_update_f32
// CHECK: ck.call @attention_decode_cache_f32
// CHECK: ck.call @head_gemv_f32 ins(input = %{{.*}}, weight = %[[EMB:.*]] : memref<512x64xf32>)

// CHECK-LABEL: func.func @prefill(
// CHECK-SAME: memref<1x512xf32> {ck.output = "logits"}
// CHECK-NOT: tensor<
// CHECK-NOT: memref.alloc
// CHECK: %[[T:.*]] = memref.dim %{{.*}} : memref<?xi32>
// CHECK: ck.call @embedding_rows_f32
// CHECK: ck.call @qkv_linear_f32
// CHECK: ck.call @rope_forward_qk_token_major_f32 {{.*}} sizes({{.*}}T = %[[T]]
// CHECK: ck.call @cache_update_f32
// The last row is taken before the attention of the last layer: from here on it is a decode.
// CHECK-DAG: ck.call @last_row_b32
// CHECK-DAG: ck.call @last_element_b32
// CHECK: ck.call @attention_decode_cache_f32
// CHECK: ck.call @head_gemv_f32

// CHECK-LABEL: func.func @init()
// CHECK: ck.view const[0] : memref<128x4xf32>
// CHECK: ck.call @rope_table_f64

// REFUSED: error: loc("x"): 'ck.embedding' op has no provider: no kernel map implements it

module attributes {ck.model = "tiny", ck.numerics = "f32"} {
  ck.buffer @tok_emb weight : tensor<512x64xf32> from "model.safetensors"["model.embed_tokens.weight"]
  ck.buffer @lm_head weight alias @tok_emb : tensor<512x64xf32>
  ck.buffer @g0 weight : tensor<64xf32> from "model.safetensors"["g0"]
  ck.buffer @wq weight : tensor<64x64xf32> from "model.safetensors"["wq"]
  ck.buffer @wk weight : tensor<32x64xf32> from "model.safetensors"["wk"]
  ck.buffer @wv weight : tensor<32x64xf32> from "model.safetensors"["wv"]
  ck.buffer @wo weight : tensor<64x64xf32> from "model.safetensors"["wo"]
  ck.buffer @w_up weight : tensor<344x64xf32> from "model.safetensors"["w_up"]
  ck.buffer @w_down weight : tensor<64x172xf32> from "model.safetensors"["w_down"]
  ck.buffer @k_cache state : tensor<4x128x8xf32>
  ck.buffer @v_cache state : tensor<4x128x8xf32>

  func.func @decode(%tokens: tensor<1xi32> {ck.input = "tokens"}, %pos: tensor<1xi32> {ck.input = "pos"},
      %kc: tensor<4x128x8xf32> {ck.state = @k_cache}, %vc: tensor<4x128x8xf32> {ck.state = @v_cache})
      -> (tensor<1x512xf32> {ck.output = "logits"}, tensor<4x128x8xf32> {ck.state = @k_cache},
          tensor<4x128x8xf32> {ck.state = @v_cache}) attributes {ck.entry} {
    %emb = ck.param @tok_emb : tensor<512x64xf32>
    %head = ck.param @lm_head : tensor<512x64xf32>
    %g0 = ck.param @g0 : tensor<64xf32>
    %wq = ck.param @wq : tensor<64x64xf32>
    %wk = ck.param @wk : tensor<32x64xf32>
    %wv = ck.param @wv : tensor<32x64xf32>
    %wo = ck.param @wo : tensor<64x64xf32>
    %w_up = ck.param @w_up : tensor<344x64xf32>
    %w_down = ck.param @w_down : tensor<64x172xf32>
    %cos, %sin = ck.rope_table {rows = 128, rotary_dim = 8, theta = 1.0e4 : f64} : () -> (tensor<128x4xf32>, tensor<128x4xf32>) loc("rope")
    %x = ck.embedding %tokens, %emb : (tensor<1xi32>, tensor<512x64xf32>) -> tensor<1x64xf32> loc("x")
    %n = ck.rms_norm %x, %g0 {eps = 1.0e-5 : f64} : (tensor<1x64xf32>, tensor<64xf32>) -> tensor<1x64xf32> loc("n")
    %q, %k, %v = ck.qkv_linear %n, %wq, %wk, %wv
        : (tensor<1x64xf32>, tensor<64x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>) -> (tensor<1x64xf32>, tensor<1x32xf32>, tensor<1x32xf32>) loc("qkv")
    %qr, %kr = ck.rope %q, %k pos %pos tables %cos, %sin {head_dim = 8, pairing = "half"}
        : (tensor<1x64xf32>, tensor<1x32xf32>, tensor<1xi32>, tensor<128x4xf32>, tensor<128x4xf32>) -> (tensor<1x64xf32>, tensor<1x32xf32>) loc("rot")
    %kc1, %vc1 = ck.cache_update %kc, %vc, %kr, %v pos %pos : (tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<1x32xf32>, tensor<1x32xf32>, tensor<1xi32>) -> (tensor<4x128x8xf32>, tensor<4x128x8xf32>)
    %a = ck.attention %qr, %kc1, %vc1 pos %pos {heads = 8, kv_heads = 4, layout = "cache"}
        : (tensor<1x64xf32>, tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<1xi32>) -> tensor<1x64xf32> loc("a")
    %o = ck.linear %a, %wo : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32> loc("o")
    %h = ck.add %x, %o : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32> loc("h")
    %u = ck.linear %h, %w_up : (tensor<1x64xf32>, tensor<344x64xf32>) -> tensor<1x344xf32> loc("u")
    %f = ck.glu %u {act = "silu"} : (tensor<1x344xf32>) -> tensor<1x172xf32> loc("f")
    %d = ck.linear %f, %w_down : (tensor<1x172xf32>, tensor<64x172xf32>) -> tensor<1x64xf32> loc("d")
    %y = ck.add %h, %d : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32> loc("y")
    %l = ck.head_linear %y, %head : (tensor<1x64xf32>, tensor<512x64xf32>) -> tensor<1x512xf32> loc("l")
    %r = ck.last_row %l : (tensor<1x512xf32>) -> tensor<1x512xf32>
    return %r, %kc1, %vc1 : tensor<1x512xf32>, tensor<4x128x8xf32>, tensor<4x128x8xf32>
  }

  func.func @prefill(%tokens: tensor<?xi32> {ck.input = "tokens", ck.dims = ["T"]}, %pos: tensor<?xi32> {ck.input = "pos", ck.dims = ["T"]},
      %kc: tensor<4x128x8xf32> {ck.state = @k_cache}, %vc: tensor<4x128x8xf32> {ck.state = @v_cache})
      -> (tensor<1x512xf32> {ck.output = "logits"}, tensor<4x128x8xf32> {ck.state = @k_cache},
          tensor<4x128x8xf32> {ck.state = @v_cache}) attributes {ck.entry, ck.bounds = {T = 16 : i64}} {
    %emb = ck.param @tok_emb : tensor<512x64xf32>
    %head = ck.param @lm_head : tensor<512x64xf32>
    %g0 = ck.param @g0 : tensor<64xf32>
    %wq = ck.param @wq : tensor<64x64xf32>
    %wk = ck.param @wk : tensor<32x64xf32>
    %wv = ck.param @wv : tensor<32x64xf32>
    %wo = ck.param @wo : tensor<64x64xf32>
    %w_up = ck.param @w_up : tensor<344x64xf32>
    %w_down = ck.param @w_down : tensor<64x172xf32>
    %cos, %sin = ck.rope_table {rows = 128, rotary_dim = 8, theta = 1.0e4 : f64} : () -> (tensor<128x4xf32>, tensor<128x4xf32>) loc("rope")
    %x = ck.embedding %tokens, %emb : (tensor<?xi32>, tensor<512x64xf32>) -> tensor<?x64xf32> loc("x")
    %n = ck.rms_norm %x, %g0 {eps = 1.0e-5 : f64} : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32> loc("n")
    %q, %k, %v = ck.qkv_linear %n, %wq, %wk, %wv
        : (tensor<?x64xf32>, tensor<64x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>) -> (tensor<?x64xf32>, tensor<?x32xf32>, tensor<?x32xf32>) loc("qkv")
    %qr, %kr = ck.rope %q, %k pos %pos tables %cos, %sin {head_dim = 8, pairing = "half"}
        : (tensor<?x64xf32>, tensor<?x32xf32>, tensor<?xi32>, tensor<128x4xf32>, tensor<128x4xf32>) -> (tensor<?x64xf32>, tensor<?x32xf32>) loc("rot")
    %kc1, %vc1 = ck.cache_update %kc, %vc, %kr, %v pos %pos : (tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?xi32>) -> (tensor<4x128x8xf32>, tensor<4x128x8xf32>)
    %a = ck.attention %qr, %kc1, %vc1 pos %pos {heads = 8, kv_heads = 4, layout = "cache"}
        : (tensor<?x64xf32>, tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<?xi32>) -> tensor<?x64xf32> loc("a")
    %o = ck.linear %a, %wo : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32> loc("o")
    %h = ck.add %x, %o : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32> loc("h")
    %u = ck.linear %h, %w_up : (tensor<?x64xf32>, tensor<344x64xf32>) -> tensor<?x344xf32> loc("u")
    %f = ck.glu %u {act = "silu"} : (tensor<?x344xf32>) -> tensor<?x172xf32> loc("f")
    %d = ck.linear %f, %w_down : (tensor<?x172xf32>, tensor<64x172xf32>) -> tensor<?x64xf32> loc("d")
    %y = ck.add %h, %d : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32> loc("y")
    %l = ck.head_linear %y, %head : (tensor<?x64xf32>, tensor<512x64xf32>) -> tensor<?x512xf32> loc("l")
    %r = ck.last_row %l : (tensor<?x512xf32>) -> tensor<1x512xf32>
    return %r, %kc1, %vc1 : tensor<1x512xf32>, tensor<4x128x8xf32>, tensor<4x128x8xf32>
  }

}
