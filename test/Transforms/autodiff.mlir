// RUN: %ck_opt --pass-pipeline='builtin.module(ck-autodiff)' --split-input-file --mlir-print-debuginfo --mlir-use-nameloc-as-prefix %s | FileCheck %s
// RUN: %ck_opt --pass-pipeline='builtin.module(ck-autodiff,ck-verify-graph)' --split-input-file %s > /dev/null

// A loss: its cotangent is 1, so the gradient of the logits is what cross entropy saves. Tied weights are summed on the
// root, a frozen weight costs nothing, a trainable one without a part in it has zeros.

ck.buffer @emb weight : tensor<16x8xf32> {trainable}
ck.buffer @head weight alias @emb : tensor<16x8xf32>
ck.buffer @frozen weight : tensor<8x8xf32>
ck.buffer @unused weight : tensor<3xf32> {trainable}
// CHECK-LABEL: func.func @step(
// CHECK-SAME:    -> (tensor<1xf32> {ck.loss, ck.output = "loss"}, tensor<16x8xf32> {ck.grad = @emb, ck.output = "d_emb"},
// CHECK-SAME:        tensor<3xf32> {ck.grad = @unused, ck.output = "d_unused"})
// CHECK:         %[[E:.*]] = ck.param @emb
// CHECK:         %[[X:.*]] = ck.embedding %[[IDS:.*]], %[[E]]
// CHECK:         %[[F:.*]] = ck.param @frozen
// CHECK:         %[[Y:.*]] = ck.linear %[[X]], %[[F]] {ck.layer = 0 : i64}
// CHECK:         %[[H:.*]] = ck.param @head
// CHECK:         %[[L:.*]] = ck.head_linear %[[Y]], %[[H]]
// CHECK:         %[[LOSS:.*]], %[[DL:.*]] = ck.cross_entropy %[[L]], %{{.*}} {save = "grad"}
// CHECK:         ck.fill %[[LOSS]] {ck.backward, value = 1.000000e+00 : f64}
// CHECK:         %[[G:.*]]:2 = ck.head_linear_grad %[[DL]], %[[Y]], %[[H]] {ck.backward, wrt = ["input", "weight"]}
// CHECK-SAME:      loc(#[[HEADLOC:.*]])
// CHECK:         %[[DX:.*]] = ck.linear_grad %[[G]]#0, %[[X]], %[[F]] {ck.backward, ck.layer = 0 : i64, wrt = ["input"]}
// CHECK:         %[[DE:.*]] = ck.embedding_grad %[[IDS]], %[[DX]] {ck.backward, rows = 16 : i64}
// CHECK:         %[[SUM:.*]] = ck.add %[[G]]#1, %[[DE]] {ck.backward}
// CHECK:         %[[U:.*]] = ck.param @unused
// CHECK:         %[[Z:.*]] = ck.fill %[[U]] {ck.backward, value = 0.000000e+00 : f64}
// CHECK:         return %[[LOSS]], %[[SUM]], %[[Z]]
// CHECK:       #[[HEADLOC]] = loc(fused<["d_y", "d_head"]>
func.func @step(%ids: tensor<4xi32> {ck.input = "ids"}, %t: tensor<4xi32> {ck.input = "targets"})
    -> (tensor<1xf32> {ck.output = "loss", ck.loss}) attributes {ck.entry} {
  %e = ck.param @emb : tensor<16x8xf32>
  %x = ck.embedding %ids, %e : (tensor<4xi32>, tensor<16x8xf32>) -> tensor<4x8xf32> loc("x")
  %f = ck.param @frozen : tensor<8x8xf32>
  %y = ck.linear %x, %f {ck.layer = 0 : i64} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> loc("y")
  %h = ck.param @head : tensor<16x8xf32>
  %l = ck.head_linear %y, %h : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32> loc("logits")
  %loss = ck.cross_entropy %l, %t : (tensor<4x16xf32>, tensor<4xi32>) -> tensor<1xf32> loc("loss")
  return %loss : tensor<1xf32>
}

// -----

// No loss: outputs of floats get inputs for their cotangents; run-time extents keep their names.

// CHECK-LABEL: func.func @vjp(
// CHECK-SAME:    %[[X:.*]]: tensor<?x8xf32> {ck.dims = ["T"], ck.input = "x", ck.wrt}
// CHECK-SAME:    %[[B:.*]]: tensor<8xf32> {ck.input = "b", ck.wrt}
// CHECK-SAME:    %[[DY:.*]]: tensor<?x8xf32> {ck.dims = ["T"], ck.input = "d_y"}
// CHECK-SAME:    -> (tensor<?x8xf32> {ck.output = "y"}, tensor<?xi32> {ck.output = "best"},
// CHECK-SAME:        tensor<?x8xf32> {ck.output = "d_x"}, tensor<8xf32> {ck.output = "d_b"})
// CHECK:         %[[H:.*]] = ck.activation %[[X]] {kind = "silu"}
// CHECK:         %[[Y:.*]] = ck.add %[[H]], %[[X]] {alpha = 5.000000e-01 : f64}
// CHECK:         ck.argmax
// CHECK:         %[[DB:.*]] = ck.scale %[[DY]] {ck.backward, factor = 5.000000e-01 : f64}
// CHECK:         %[[DH:.*]] = ck.activation_grad %[[DY]], %[[X]] {ck.backward, kind = "silu"}
// CHECK:         %[[SUM:.*]] = ck.add %[[DB]], %[[DH]] {ck.backward}
// CHECK:         %[[Z:.*]] = ck.fill %[[B]] {ck.backward, value = 0.000000e+00 : f64}
// CHECK:         return %[[Y]], %{{.*}}, %[[SUM]], %[[Z]]
func.func @vjp(%x: tensor<?x8xf32> {ck.input = "x", ck.dims = ["T"], ck.wrt}, %b: tensor<8xf32> {ck.input = "b", ck.wrt})
    -> (tensor<?x8xf32> {ck.output = "y"}, tensor<?xi32> {ck.output = "best"})
    attributes {ck.entry, ck.bounds = {T = 16 : i64}} {
  %h = ck.activation %x {kind = "silu"} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %y = ck.add %h, %x {alpha = 0.5 : f64} : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %best = ck.argmax %y : (tensor<?x8xf32>) -> tensor<?xi32>
  return %y, %best : tensor<?x8xf32>, tensor<?xi32>
}

// -----

// A loss that is used for more than itself: its cotangent is not the constant 1.

// CHECK-LABEL: func.func @scaled_loss
// CHECK:         %{{.*}}, %[[DL:.*]] = ck.cross_entropy %[[X:.*]], %{{.*}} {save = "grad"}
// CHECK:         %[[D:.*]] = ck.scale %{{.*}} {ck.backward, factor = 3.000000e+00 : f64}
// CHECK:         %[[DX:.*]] = ck.scale %[[DL]] by %[[D]] {ck.backward}
// CHECK:         return %{{.*}}, %[[DX]]
func.func @scaled_loss(%x: tensor<4x8xf32> {ck.input = "x", ck.wrt}, %t: tensor<4xi32> {ck.input = "t"})
    -> (tensor<1xf32> {ck.output = "loss", ck.loss}) attributes {ck.entry} {
  %l = ck.cross_entropy %x, %t : (tensor<4x8xf32>, tensor<4xi32>) -> tensor<1xf32>
  %m = ck.scale %l {factor = 3.0 : f64} : (tensor<1xf32>) -> tensor<1xf32>
  return %m : tensor<1xf32>
}

// -----

// The region of a fused op is its adjoint.

// CHECK-LABEL: func.func @fused
// CHECK-NOT:     ck.fused
// CHECK:         ck.add
// CHECK:         ck.activation %
// CHECK:         ck.activation_grad
func.func @fused(%x: tensor<4x8xf32> {ck.input = "x", ck.wrt}) -> (tensor<4x8xf32> {ck.output = "y"})
    attributes {ck.entry} {
  %y = ck.fused @add_act (%a = %x : tensor<4x8xf32>) -> tensor<4x8xf32> {
    %s = ck.add %a, %a : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %r = ck.activation %s {kind = "relu"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ck.yield %r : tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}
