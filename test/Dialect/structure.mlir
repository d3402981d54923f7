// RUN: %ck_opt %s --verify-roundtrip | FileCheck %s
// RUN: %ck_opt %s --mlir-print-op-generic | %ck_opt | FileCheck %s

// The ops that frame a model: buffers, parameters, providers, calls, views, bounds, fused regions; and the attributes
// that entries carry.

// CHECK: module attributes {ck.model = "tiny", ck.numerics = "f32"}
module attributes {ck.model = "tiny", ck.numerics = "f32"} {
  // CHECK: ck.buffer @tok_emb weight : tensor<512x64xf32> from "model.safetensors"["model.embed_tokens.weight"]
  ck.buffer @tok_emb weight : tensor<512x64xf32> from "model.safetensors"["model.embed_tokens.weight"]
  // CHECK: ck.buffer @lm_head weight alias @tok_emb : tensor<512x64xf32>
  ck.buffer @lm_head weight alias @tok_emb : tensor<512x64xf32>
  // CHECK: ck.buffer @layers.0.k_cache state : tensor<4x128x8xf32>
  ck.buffer @layers.0.k_cache state : tensor<4x128x8xf32>
  // CHECK: ck.buffer @rope_cos const : tensor<128x4xf32> {offset = 64 : i64}
  ck.buffer @rope_cos const : tensor<128x4xf32> {offset = 64 : i64}
  // CHECK: ck.buffer @mlp activation : tensor<?x344xf32>
  // CHECK-SAME: dims = ["tokens", "aligned_intermediate*2"]
  // CHECK-SAME: scope = "layer"
  // CHECK-SAME: when = "training_enabled"
  ck.buffer @mlp activation : tensor<?x344xf32>
      {dims = ["tokens", "aligned_intermediate*2"], scope = "layer", when = "training_enabled"}
  // CHECK: ck.buffer @w4 weight : tensor<32x256x!ck.q4_k> from "m.gguf"["blk.0.ffn_up.weight"]
  ck.buffer @w4 weight : tensor<32x256x!ck.q4_k> from "m.gguf"["blk.0.ffn_up.weight"]

  // CHECK: ck.provider @rmsnorm_forward {digest = "d0", inplace = ["input=output"], inventory_op = "rmsnorm", numerics = "f32", params = ["eps:f64"], signature = "input[...T,E]:f32, gamma[E]:f32 -> output[...T,E]:f32"}
  ck.provider @rmsnorm_forward {digest = "d0", numerics = "f32", inventory_op = "rmsnorm", params = ["eps:f64"],
      signature = "input[...T,E]:f32, gamma[E]:f32 -> output[...T,E]:f32", inplace = ["input=output"]}
  // CHECK: ck.provider @gemm {
  // CHECK-SAME: scratch = ["packed[N*K]:f32"]
  // CHECK-SAME: where = ["$W in {f32, bf16}"]
  ck.provider @gemm {digest = "d1", numerics = "f32", inventory_op = "gemm", scratch = ["packed[N*K]:f32"],
      where = ["$W in {f32, bf16}"], signature = "a[...M,K]:f32, b[N,K]:$W -> c[...M,N]:f32"}
  // CHECK: ck.provider @cache
  ck.provider @cache {digest = "d2", numerics = "f32", inventory_op = "kv_cache_update",
      signature = "k_cache[KV,S,D]:f32, k[T,KV*D]:f32, pos[T]:i32 -> k_cache[KV,S,D]:f32|="}

  // CHECK-LABEL: func.func @step(
  // CHECK-SAME: %[[TOKENS:[a-z0-9]+]]: tensor<?xi32> {ck.dims = ["T"], ck.input = "tokens"}
  // CHECK-SAME: %[[CACHE:[a-z0-9]+]]: tensor<4x128x8xf32> {ck.state = @layers.0.k_cache}
  // CHECK-SAME: tensor<?x64xf32> {ck.output = "hidden"}
  // CHECK-SAME: attributes {ck.bounds = {T = 64 : i64}, ck.entry}
  func.func @step(%tokens: tensor<?xi32> {ck.input = "tokens", ck.dims = ["T"]},
                  %pos: tensor<?xi32> {ck.input = "pos", ck.dims = ["T"]},
                  %x: tensor<?x64xf32> {ck.input = "x", ck.dims = ["T"]},
                  %k: tensor<?x32xf32> {ck.input = "k", ck.dims = ["T"]},
                  %kc: tensor<4x128x8xf32> {ck.state = @layers.0.k_cache})
      -> (tensor<?x64xf32> {ck.output = "hidden"}, tensor<4x128x8xf32> {ck.state = @layers.0.k_cache})
      attributes {ck.entry, ck.bounds = {T = 64 : i64}} {
    %c0 = arith.constant 0 : index
    // CHECK: %[[T:.*]] = tensor.dim %[[TOKENS]]
    %t = tensor.dim %tokens, %c0 : tensor<?xi32>
    // CHECK: %[[W:.*]] = ck.param @tok_emb : tensor<512x64xf32>
    %w = ck.param @tok_emb : tensor<512x64xf32>
    // CHECK: %[[U:.*]] = ck.bound %[[T]] <= 4096
    %u = ck.bound %t <= 4096
    // CHECK: %[[INIT:.*]] = tensor.empty
    %e = tensor.empty(%u) : tensor<?x512xf32>
    // CHECK: ck.call @gemm ins(a = %{{.*}} : tensor<?x64xf32>, b = %[[W]] : tensor<512x64xf32>) outs(c = %[[INIT]] : tensor<?x512xf32>) sizes(M = %[[U]], K = 64, N = 512) -> tensor<?x512xf32>
    %y = ck.call @gemm ins(a = %x : tensor<?x64xf32>, b = %w : tensor<512x64xf32>)
        outs(c = %e : tensor<?x512xf32>) sizes(M = %u, K = 64, N = 512) -> tensor<?x512xf32>
    // CHECK: ck.call @cache ins(k = {{.*}}, pos = {{.*}}) outs(k_cache = %[[CACHE]] : tensor<4x128x8xf32>) sizes(KV = 4, S = 128, D = 8, T = %[[T]]) -> tensor<4x128x8xf32>
    %kc1 = ck.call @cache ins(k = %k : tensor<?x32xf32>, pos = %pos : tensor<?xi32>)
        outs(k_cache = %kc : tensor<4x128x8xf32>) sizes(KV = 4, S = 128, D = 8, T = %t) -> tensor<4x128x8xf32>
    // CHECK: ck.fused @residual (%[[A:.*]] = %{{.*}} : tensor<?x64xf32>, %[[B:.*]] = %{{.*}} : tensor<?x64xf32>) -> tensor<?x64xf32> {
    // CHECK-NEXT: %[[S:.*]] = ck.add %[[A]], %[[B]]
    // CHECK-NEXT: ck.yield %[[S]] : tensor<?x64xf32>
    %f = ck.fused @residual (%a = %x : tensor<?x64xf32>, %b = %x : tensor<?x64xf32>) -> tensor<?x64xf32> {
      %s = ck.add %a, %b : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
      ck.yield %s : tensor<?x64xf32>
    }
    return %f, %kc1 : tensor<?x64xf32>, tensor<4x128x8xf32>
  }

  // CHECK-LABEL: func.func @init
  // CHECK-SAME: tensor<128x4xf32> {ck.const = @rope_cos}
  func.func @init() -> (tensor<128x4xf32> {ck.const = @rope_cos}) attributes {ck.entry} {
    %cos, %sin = ck.rope_table {rows = 128, rotary_dim = 8, theta = 1.0e4 : f64}
        : () -> (tensor<128x4xf32>, tensor<128x4xf32>)
    return %cos : tensor<128x4xf32>
  }

  // The planned form: memrefs that are views of arenas, destinations as arguments, no results.
  // CHECK-LABEL: func.func @planned
  // CHECK-SAME: ck.arena_bytes = 16384 : i64
  // CHECK-SAME: ck.thread_scratch_bytes = 0 : i64
  func.func @planned(%x: memref<?x64xf32> {ck.input = "x", ck.dims = ["T"]},
                     %out: memref<?x512xf32> {ck.output = "logits", ck.dims = ["T"]})
      attributes {ck.entry, ck.bounds = {T = 8 : i64}, ck.arena_bytes = 16384 : i64,
                  ck.thread_scratch_bytes = 0 : i64} {
    %c0 = arith.constant 0 : index
    %t = memref.dim %x, %c0 : memref<?x64xf32>
    // CHECK: ck.param @rope_cos : memref<128x4xf32>
    %cos = ck.param @rope_cos : memref<128x4xf32>
    // CHECK: %[[W:.*]] = ck.param @tok_emb : memref<512x64xf32>
    %w = ck.param @tok_emb : memref<512x64xf32>
    // CHECK: %[[V:.*]] = ck.view activation[8192] sizes(%{{.*}}) : memref<?x64xf32>
    %v = ck.view activation[8192] sizes(%t) : memref<?x64xf32>
    // CHECK: %[[S:.*]] = ck.view activation[0] : memref<131072xi8>
    %s = ck.view activation[0] : memref<131072xi8>
    // CHECK: ck.view const[64] : memref<128x4xf32>
    %c = ck.view const[64] : memref<128x4xf32>
    // CHECK: ck.call @gemm ins(a = %[[V]] : memref<?x64xf32>, b = %[[W]] : memref<512x64xf32>) outs(c = %{{.*}} : memref<?x512xf32>) scratch(%[[S]] : memref<131072xi8>) sizes(M = %{{.*}}, K = 64, N = 512)
    ck.call @gemm ins(a = %v : memref<?x64xf32>, b = %w : memref<512x64xf32>) outs(c = %out : memref<?x512xf32>)
        scratch(%s : memref<131072xi8>) sizes(M = %t, K = 64, N = 512)
    // CHECK: ck.call @rmsnorm_forward {{.*}} params({eps = 1.000000e-05 : f64})
    %g = ck.view activation[64] : memref<64xf32>
    ck.call @rmsnorm_forward ins(input = %x : memref<?x64xf32>, gamma = %g : memref<64xf32>)
        outs(output = %v : memref<?x64xf32>) sizes(T = %t, E = 64) params({eps = 1.0e-5 : f64})
    return
  }
}
