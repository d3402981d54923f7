// RUN: %ck_opt --pass-pipeline='builtin.module(ck-verify-graph)' %s | FileCheck %s
// RUN: %ck_opt --ck-verify-graph %s | FileCheck %s

// A decoder layer in miniature, with an alias of a state and a constant from @init: all rules hold.

// CHECK-LABEL: module attributes {ck.numerics = "f32"}
module attributes {ck.numerics = "f32"} {
  ck.buffer @wq weight : tensor<64x64xf32> from "m.safetensors"["wq"]
  ck.buffer @cache state : tensor<4x128x8xf32>
  ck.buffer @k_cache state alias @cache : tensor<4x128x8xf32>
  ck.buffer @v_cache state : tensor<4x128x8xf32>
  ck.buffer @rope_cos const : tensor<128x4xf32>
  ck.buffer @rope_sin const : tensor<128x4xf32>

  // CHECK: func.func @prefill
  func.func @prefill(%x: tensor<?x64xf32> {ck.input = "x", ck.dims = ["T"]},
                     %pos: tensor<?xi32> {ck.input = "pos", ck.dims = ["T"]},
                     %kc: tensor<4x128x8xf32> {ck.state = @k_cache}, %vc: tensor<4x128x8xf32> {ck.state = @v_cache})
      -> (tensor<?x64xf32> {ck.output = "y"}, tensor<4x128x8xf32> {ck.state = @cache},
          tensor<4x128x8xf32> {ck.state = @v_cache})
      attributes {ck.entry, ck.bounds = {T = 16 : i64}} {
    %w = ck.param @wq : tensor<64x64xf32>
    %cos = ck.param @rope_cos : tensor<128x4xf32>
    %sin = ck.param @rope_sin : tensor<128x4xf32>
    %q = ck.linear %x, %w : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
    %r = ck.rope %q pos %pos tables %cos, %sin {head_dim = 8, pairing = "half"}
        : (tensor<?x64xf32>, tensor<?xi32>, tensor<128x4xf32>, tensor<128x4xf32>) -> tensor<?x64xf32>
    %a = ck.attention %r, %kc, %vc pos %pos {heads = 8, kv_heads = 4, layout = "cache"}
        : (tensor<?x64xf32>, tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<?xi32>) -> tensor<?x64xf32>
    %y = ck.fused @residual (%p = %a : tensor<?x64xf32>, %s = %x : tensor<?x64xf32>) -> tensor<?x64xf32> {
      %sum = ck.add %p, %s : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
      ck.yield %sum : tensor<?x64xf32>
    }
    return %y, %kc, %vc : tensor<?x64xf32>, tensor<4x128x8xf32>, tensor<4x128x8xf32>
  }

  func.func @init() -> (tensor<128x4xf32> {ck.const = @rope_cos}, tensor<128x4xf32> {ck.const = @rope_sin})
      attributes {ck.entry} {
    %cos, %sin = ck.rope_table {rows = 128, rotary_dim = 8, theta = 1.0e4 : f64}
        : () -> (tensor<128x4xf32>, tensor<128x4xf32>)
    return %cos, %sin : tensor<128x4xf32>, tensor<128x4xf32>
  }

  // Functions that are no entries and hold no ck ops are none of our business.
  func.func private @helper(%a: index) -> index {
    return %a : index
  }
}
