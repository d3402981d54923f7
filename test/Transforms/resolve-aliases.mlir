// RUN: %ck_opt --pass-pipeline='builtin.module(ck-resolve-aliases)' %s | FileCheck %s

// The declarations stay, uses name the root: through chains, in params and in the tags of states and constants.

// CHECK: ck.buffer @tok_emb weight
ck.buffer @tok_emb weight : tensor<16x4xf32>
// CHECK: ck.buffer @lm_head weight alias @tok_emb
ck.buffer @lm_head weight alias @tok_emb : tensor<16x4xf32>
ck.buffer @head2 weight alias @lm_head : tensor<16x4xf32>
ck.buffer @s state : tensor<4xf32>
ck.buffer @t state alias @s : tensor<4xf32>
ck.buffer @c const : tensor<4xf32>
ck.buffer @d const alias @c : tensor<4xf32>

// CHECK: func.func @step(
// CHECK-SAME: tensor<4xf32> {ck.state = @s}
// CHECK-SAME: tensor<4xf32> {ck.state = @s}
func.func @step(%x: tensor<1x4xf32> {ck.input = "x"}, %s: tensor<4xf32> {ck.state = @t})
    -> (tensor<1x16xf32> {ck.output = "y"}, tensor<4xf32> {ck.state = @s}) attributes {ck.entry} {
  // CHECK: ck.param @tok_emb : tensor<16x4xf32>
  %w = ck.param @head2 : tensor<16x4xf32>
  // CHECK: ck.param @tok_emb : tensor<16x4xf32>
  %v = ck.param @tok_emb : tensor<16x4xf32>
  // CHECK: ck.param @c : tensor<4xf32>
  %d = ck.param @d : tensor<4xf32>
  %y = ck.head_linear %x, %w : (tensor<1x4xf32>, tensor<16x4xf32>) -> tensor<1x16xf32>
  return %y, %s : tensor<1x16xf32>, tensor<4xf32>
}

// CHECK: func.func @init() -> (tensor<4xf32> {ck.const = @c})
func.func @init() -> (tensor<4xf32> {ck.const = @d}) attributes {ck.entry} {
  %w = ck.param @tok_emb : tensor<16x4xf32>
  %r = ck.last_row %w : (tensor<16x4xf32>) -> tensor<1x4xf32>
  %z = ck.concat %r {axis = 0 : i64} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %e = arith.constant dense<0.0> : tensor<4xf32>
  return %e : tensor<4xf32>
}
