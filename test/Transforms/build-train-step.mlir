// RUN: %ck_opt %s --split-input-file --pass-pipeline='builtin.module(ck-build-train-step{optimizer=sgd weight-decay=0.1})' | FileCheck %s --check-prefix=SGD
// RUN: %ck_opt %s --split-input-file --pass-pipeline='builtin.module(ck-build-train-step{accumulate no-decay=^w$ clip=0})' | FileCheck %s --check-prefix=ADAM

// Parameters become states of every entry that reads them; the optimizer writes their new values.

// SGD-DAG: ck.buffer @w state : tensor<8x4xf32>
// SGD-DAG: ck.buffer @b state : tensor<8xf32>
// SGD-DAG: ck.buffer @frozen weight : tensor<2x4xf32>
// SGD-NOT: ck.buffer @head
// SGD-LABEL: func.func @train_step(
// SGD-SAME:      %[[X:.*]]: tensor<2x4xf32> {ck.input = "x"}, %[[T:.*]]: tensor<2xi32> {ck.input = "t"}
// SGD-SAME:      %[[W:.*]]: tensor<8x4xf32> {ck.state = @w}, %[[B:.*]]: tensor<8xf32> {ck.state = @b}
// SGD-SAME:      %{{.*}}: tensor<8x4xf32> {ck.state = @d_w}, %{{.*}}: tensor<8xf32> {ck.state = @d_b}
// SGD-SAME:      %[[LR:.*]]: tensor<1xf32> {ck.input = "lr"}, %{{.*}}: tensor<1xi32> {ck.input = "step"})
// SGD-SAME:      -> (tensor<1xf32> {ck.output = "loss"}, tensor<8x4xf32> {ck.state = @w}, tensor<8xf32> {ck.state = @b}, tensor<8x4xf32> {ck.state = @d_w}, tensor<8xf32> {ck.state = @d_b}, tensor<1xf32> {ck.output = "grad_norm"})
// SGD:         %[[L:.*]], %[[DY:.*]] = ck.cross_entropy
// SGD:         %[[G:.*]]:2 = ck.linear_grad %[[DY]]
// SGD:         %[[S0:.*]] = ck.sum_squares %[[G]]#0
// SGD:         %[[S1:.*]] = ck.sum_squares %[[G]]#1 into %[[S0]]
// SGD:         %[[NORM:.*]], %[[FACTOR:.*]] = ck.clip_factor %[[S1]] {max_norm = 1.000000e+00 : f64}
// SGD:         %[[W1:.*]] = ck.sgd %[[W]] grad %[[G]]#0 lr %[[LR]] factor %[[FACTOR]] {weight_decay = 1.000000e-01 : f64}
// SGD:         %[[B1:.*]] = ck.sgd %[[B]] grad %[[G]]#1 lr %[[LR]] factor %[[FACTOR]]
// SGD-NOT:     weight_decay = 1.0
// SGD:         return %[[L]], %[[W1]], %[[B1]], %[[G]]#0, %[[G]]#1, %[[NORM]]
// SGD-LABEL: func.func @eval(
// SGD-SAME:      %[[EW:[a-z0-9_]+]]: tensor<8x4xf32> {ck.state = @w}
// SGD:         ck.linear %{{.*}}, %[[EW]] bias
// SGD:         return %{{.*}}, %[[EW]], %{{.*}}

// Gradient states: one entry adds, the other adds, applies and leaves zeros. States of one kind stand together.

// ADAM:      ck.buffer @w state
// ADAM-NEXT: ck.buffer @b state
// ADAM-NEXT: ck.buffer @d_w state
// ADAM-NEXT: ck.buffer @d_b state
// ADAM-NEXT: ck.buffer @w.m state
// ADAM-NEXT: ck.buffer @b.m state
// ADAM-NEXT: ck.buffer @w.v state
// ADAM-NEXT: ck.buffer @b.v state
// ADAM-LABEL: func.func @train_step(
// ADAM:         %[[DW:.*]] = ck.accumulate %{{.*}}, %{{.*}}#0
// ADAM:         %[[DB:.*]] = ck.accumulate %{{.*}}, %{{.*}}#1
// ADAM:         ck.sum_squares %[[DW]]
// ADAM:         %[[N:.*]], %[[F:.*]] = ck.clip_factor %{{.*}} {max_norm = 0.000000e+00 : f64}
// ADAM:         ck.adamw %{{.*}} grad %[[DW]] lr %{{.*}} step %{{.*}} factor %[[F]] {beta1 = 9.000000e-01 : f64, beta2 = {{0\.9[0-9]*}} : f64, eps = 1.000000e-08 : f64}
// ADAM:         ck.zero %[[DW]]
// ADAM:         ck.zero %[[DB]]
// ADAM-LABEL: func.func @accumulate(
// ADAM-NOT:     ck.adamw
// ADAM:         %[[AW:.*]] = ck.accumulate %{{.*}}, %{{.*}}#0
// ADAM-NOT:     ck.sum_squares
// ADAM:         return
// ADAM-LABEL: func.func @eval(

module attributes {ck.model = "step"} {
  ck.buffer @w weight : tensor<8x4xf32> from "m.safetensors"["w"] {trainable}
  ck.buffer @b weight : tensor<8xf32> {trainable}
  ck.buffer @frozen weight : tensor<2x4xf32>
  ck.buffer @head weight alias @w : tensor<8x4xf32>
  func.func @train_step(%x: tensor<2x4xf32> {ck.input = "x"}, %t: tensor<2xi32> {ck.input = "t"})
      -> (tensor<1xf32> {ck.output = "loss"}, tensor<8x4xf32> {ck.output = "d_w", ck.grad = @w},
          tensor<8xf32> {ck.output = "d_b", ck.grad = @b}) attributes {ck.entry} {
    %w = ck.param @w : tensor<8x4xf32>
    %b = ck.param @b : tensor<8xf32>
    %f = ck.param @frozen : tensor<2x4xf32>
    %z = ck.add %x, %f : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %y = ck.linear %z, %w bias %b : (tensor<2x4xf32>, tensor<8x4xf32>, tensor<8xf32>) -> tensor<2x8xf32>
    %l, %dy = ck.cross_entropy %y, %t {save = "grad"} : (tensor<2x8xf32>, tensor<2xi32>) -> (tensor<1xf32>, tensor<2x8xf32>)
    %d:2 = ck.linear_grad %dy, %z, %w {wrt = ["weight", "bias"]}
        : (tensor<2x8xf32>, tensor<2x4xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8xf32>)
    return %l, %d#0, %d#1 : tensor<1xf32>, tensor<8x4xf32>, tensor<8xf32>
  }
  func.func @eval(%x: tensor<2x4xf32> {ck.input = "x"}) -> (tensor<2x8xf32> {ck.output = "y"}) attributes {ck.entry} {
    %w = ck.param @w : tensor<8x4xf32>
    %b = ck.param @b : tensor<8xf32>
    %y = ck.linear %x, %w bias %b : (tensor<2x4xf32>, tensor<8x4xf32>, tensor<8xf32>) -> tensor<2x8xf32>
    return %y : tensor<2x8xf32>
  }
}
