// RUN: %ck_opt --pass-pipeline='builtin.module(ck-autodiff,ck-checkpoint{policy=layer},ck-fold-accumulate,ck-inference-pipeline{maps=%kernel_maps})' %s | FileCheck %s
// RUN: %ck_opt --pass-pipeline='builtin.module(ck-autodiff{save=probs},ck-inference-pipeline{maps=%kernel_maps})' %s | FileCheck %s --check-prefix=PROBS

// Rows whose number is known at run time only, of packed sequences: gradients of weights have static shapes, those of
// activations have the rows of their values, and the plan is made at the bound.

// CHECK: ck.call @attention_grad_token_major_f32 {{.*}} sizes(T = %{{.*}},
// PROBS: ck.call @attention_probs_grad_token_major_f32
ck.buffer @emb weight : tensor<96x32xf32> {trainable}
ck.buffer @g weight : tensor<32xf32> {trainable}
ck.buffer @wq weight : tensor<32x32xf32> {trainable}
ck.buffer @wkv weight : tensor<16x32xf32> {trainable}
func.func @step(%ids: tensor<?xi32> {ck.input = "ids", ck.dims = ["T"]}, %t: tensor<?xi32> {ck.input = "targets", ck.dims = ["T"]},
                %pos: tensor<?xi32> {ck.input = "pos", ck.dims = ["T"]}, %seqs: tensor<?xi32> {ck.input = "seqs", ck.dims = ["B"]})
    -> (tensor<1xf32> {ck.output = "loss", ck.loss}) attributes {ck.entry, ck.bounds = {T = 24 : i64, B = 4 : i64}} {
  %e = ck.param @emb : tensor<96x32xf32>
  %g = ck.param @g : tensor<32xf32>
  %wq = ck.param @wq : tensor<32x32xf32>
  %wkv = ck.param @wkv : tensor<16x32xf32>
  %x = ck.embedding %ids, %e : (tensor<?xi32>, tensor<96x32xf32>) -> tensor<?x32xf32> loc("x")
  %n = ck.rms_norm %x, %g {eps = 1.0e-5 : f64, ck.layer = 0 : i64} : (tensor<?x32xf32>, tensor<32xf32>) -> tensor<?x32xf32> loc("n")
  %q, %k, %v = ck.qkv_linear %n, %wq, %wkv, %wkv {ck.layer = 0 : i64}
      : (tensor<?x32xf32>, tensor<32x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>)
      -> (tensor<?x32xf32>, tensor<?x16xf32>, tensor<?x16xf32>) loc("qkv")
  %cos, %sin = ck.rope_table {rows = 24, rotary_dim = 8, theta = 1.0e4 : f64} : () -> (tensor<24x4xf32>, tensor<24x4xf32>) loc("rope")
  %q1, %k1 = ck.rope %q, %k pos %pos tables %cos, %sin {head_dim = 8, pairing = "half", ck.layer = 0 : i64}
      : (tensor<?x32xf32>, tensor<?x16xf32>, tensor<?xi32>, tensor<24x4xf32>, tensor<24x4xf32>)
      -> (tensor<?x32xf32>, tensor<?x16xf32>)
  %o = ck.attention %q1, %k1, %v seqs %seqs {heads = 4, kv_heads = 2, layout = "token_major", ck.layer = 0 : i64}
      : (tensor<?x32xf32>, tensor<?x16xf32>, tensor<?x16xf32>, tensor<?xi32>) -> tensor<?x32xf32> loc("o")
  %y = ck.add %x, %o {ck.layer = 0 : i64} : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32> loc("y")
  %l = ck.head_linear %y, %e {softcap = 30.0 : f64} : (tensor<?x32xf32>, tensor<96x32xf32>) -> tensor<?x96xf32> loc("logits")
  %loss = ck.cross_entropy %l, %t : (tensor<?x96xf32>, tensor<?xi32>) -> tensor<1xf32> loc("loss")
  return %loss : tensor<1xf32>
}
