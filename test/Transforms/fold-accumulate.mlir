// RUN: %ck_opt --pass-pipeline='builtin.module(ck-fold-accumulate)' %s | FileCheck %s

ck.buffer @dw state : tensor<8x16xf32>
ck.buffer @db state : tensor<8xf32>
ck.buffer @w weight : tensor<8x16xf32>

// Micro-batches: gradients are added to states.
// CHECK-LABEL: func.func @states
// CHECK:         %[[R:.*]]:2 = ck.linear_grad %{{.*}}, %{{.*}}, %{{.*}} into %[[DW:.*]], %[[DB:.*]] {accumulate = "params", wrt = ["weight", "bias"]}
// CHECK-NEXT:    return %[[R]]#0, %[[R]]#1
func.func @states(%dy: tensor<4x8xf32> {ck.input = "dy"}, %x: tensor<4x16xf32> {ck.input = "x"},
                  %dw: tensor<8x16xf32> {ck.state = @dw}, %db: tensor<8xf32> {ck.state = @db})
    -> (tensor<8x16xf32> {ck.state = @dw}, tensor<8xf32> {ck.state = @db}) attributes {ck.entry} {
  %w = ck.param @w : tensor<8x16xf32>
  %gw, %gb = ck.linear_grad %dy, %x, %w {wrt = ["weight", "bias"]}
      : (tensor<4x8xf32>, tensor<4x16xf32>, tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8xf32>)
  %sw = ck.accumulate %dw, %gw : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %sb = ck.accumulate %db, %gb : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %sw, %sb : tensor<8x16xf32>, tensor<8xf32>
}

// The second gradient of a residual connection; the first one is read by nothing later. Both operand orders.
// CHECK-LABEL: func.func @input
// CHECK:         %[[D:.*]] = ck.activation
// CHECK:         ck.linear_grad %[[D]]
// CHECK:         %[[S:.*]] = ck.rms_norm_grad %{{.*}}, %{{.*}} rstd %{{.*}} into %[[D]] {accumulate = "input", gain = "none", wrt = ["input"]}
// CHECK:         %[[T:.*]] = ck.rms_norm_grad %{{.*}}, %{{.*}} rstd %{{.*}} into %[[S]] {accumulate = "input", gain = "none", wrt = ["input"]}
// CHECK-NOT:     ck.add
// CHECK:         return %[[T]]
func.func @input(%d: tensor<4x8xf32> {ck.input = "d"}, %x: tensor<4x8xf32> {ck.input = "x"},
                 %r: tensor<4xf32> {ck.input = "r"}, %v: tensor<8x8xf32> {ck.input = "v"})
    -> (tensor<4x8xf32> {ck.output = "y"}) attributes {ck.entry} {
  %d0 = ck.activation %d {kind = "relu"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %g = ck.linear_grad %d0, %x, %v {wrt = ["input"]}
      : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %n = ck.rms_norm_grad %g, %x rstd %r {gain = "none", wrt = ["input"]}
      : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  %s = ck.add %d0, %n : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %m = ck.rms_norm_grad %g, %x rstd %r {gain = "none", wrt = ["input"]}
      : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  %t = ck.add %m, %s : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %t : tensor<4x8xf32>
}

// One group, then the other.
// CHECK-LABEL: func.func @all
// CHECK:         ck.linear_grad %{{.*}}, %{{.*}}, %{{.*}} into %[[A:.*]], %{{.*}} {accumulate = "all", wrt = ["input", "weight"]}
// CHECK-NOT:     ck.a
// CHECK:         return
func.func @all(%dy: tensor<4x8xf32> {ck.input = "dy"}, %x: tensor<4x16xf32> {ck.input = "x"},
               %dw: tensor<8x16xf32> {ck.state = @dw})
    -> (tensor<4x16xf32> {ck.output = "dx"}, tensor<8x16xf32> {ck.state = @dw}) attributes {ck.entry} {
  %w = ck.param @w : tensor<8x16xf32>
  %d0 = ck.scale %x {factor = 2.0 : f64} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %gx, %gw = ck.linear_grad %dy, %x, %w {wrt = ["input", "weight"]}
      : (tensor<4x8xf32>, tensor<4x16xf32>, tensor<8x16xf32>) -> (tensor<4x16xf32>, tensor<8x16xf32>)
  %sw = ck.accumulate %dw, %gw : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %sx = ck.add %d0, %gx : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  return %sx, %sw : tensor<4x16xf32>, tensor<8x16xf32>
}

// Not folded: a group of which one gradient is not added (@part); what is added to is read later (@late), is an input
// (@argument), comes later (@order), has a factor (@factor), or is a second use (@twice); an op without the form (@form).
// CHECK-LABEL: func.func @part
// CHECK-NOT:     accumulate =
func.func @part(%dy: tensor<4x8xf32> {ck.input = "dy"}, %x: tensor<4x16xf32> {ck.input = "x"},
                %dw: tensor<8x16xf32> {ck.state = @dw})
    -> (tensor<8xf32> {ck.output = "db"}, tensor<8x16xf32> {ck.state = @dw}) attributes {ck.entry} {
  %w = ck.param @w : tensor<8x16xf32>
  %gw, %gb = ck.linear_grad %dy, %x, %w {wrt = ["weight", "bias"]}
      : (tensor<4x8xf32>, tensor<4x16xf32>, tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8xf32>)
  %sw = ck.accumulate %dw, %gw : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %gb, %sw : tensor<8xf32>, tensor<8x16xf32>
}

// CHECK-LABEL: func.func @refused
// CHECK-NOT:     accumulate =
func.func @refused(%d: tensor<4x8xf32> {ck.input = "d"}, %x: tensor<4x8xf32> {ck.input = "x"},
                   %r: tensor<4xf32> {ck.input = "r"}, %ids: tensor<4xi32> {ck.input = "ids"})
    -> (tensor<4x8xf32> {ck.output = "late"}, tensor<4x8xf32> {ck.output = "later"},
        tensor<4x8xf32> {ck.output = "argument"}, tensor<4x8xf32> {ck.output = "order"},
        tensor<4x8xf32> {ck.output = "factor"}, tensor<4x8xf32> {ck.output = "twice"},
        tensor<4x8xf32> {ck.output = "form"}) attributes {ck.entry} {
  %d0 = ck.activation %d {kind = "relu"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %n0 = ck.rms_norm_grad %d, %x rstd %r {gain = "none", wrt = ["input"]}
      : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  %late = ck.add %d0, %n0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %later = ck.activation %d0 {kind = "silu"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %n1 = ck.rms_norm_grad %x, %x rstd %r {gain = "none", wrt = ["input"]}
      : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  %argument = ck.add %n1, %d : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %n2 = ck.rms_norm_grad %later, %x rstd %r {gain = "none", wrt = ["input"]}
      : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  %d2 = ck.activation %d {kind = "exp"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %order = ck.add %n2, %d2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %d3 = ck.activation %d {kind = "sin"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %n3 = ck.rms_norm_grad %d, %d rstd %r {gain = "none", wrt = ["input"]}
      : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  %factor = ck.add %d3, %n3 {alpha = 2.0 : f64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %d4 = ck.activation %d {kind = "tanh"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %n4 = ck.rms_norm_grad %d4, %d rstd %r {gain = "none", wrt = ["input"]}
      : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  %twice = ck.add %n4, %n4 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %d5 = ck.activation %d {kind = "gelu_erf"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %o, %lse = ck.attention %d, %d, %d {heads = 2 : i64, kv_heads = 2 : i64, layout = "token_major", save = "lse"}
      : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<2x4xf32>)
  %n5 = ck.attention_grad %d, %d, %d, %d, %d, %lse {heads = 2 : i64, kv_heads = 2 : i64, layout = "token_major",
                                                      wrt = ["q"]}
      : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<2x4xf32>)
      -> tensor<4x8xf32>
  %form = ck.add %d5, %n5 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %late, %later, %argument, %order, %factor, %twice, %form
      : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>,
        tensor<4x8xf32>
}
