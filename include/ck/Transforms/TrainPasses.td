//===- TrainPasses.td - from a differentiated loss to a training step -*- tablegen -*-===//
//
// What training adds to a differentiated graph: parameters that change, and the rule by which they do.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TRANSFORMS_TRAINPASSES_TD
#define CK_TRANSFORMS_TRAINPASSES_TD

include "mlir/Pass/PassBase.td"

def CKBuildTrainStep : Pass<"ck-build-train-step", "::mlir::ModuleOp"> {
  let summary = "turns the gradients of an entry into a step of an optimizer";
  let description = [{
    The entry's results tagged `ck.grad = @w` (`--ck-autodiff` makes them) are consumed:

    - every such weight becomes a state, an argument and result of all entries that read it; parameters, gradients and
      each kind of moment are declared one after the other, so that they lie contiguously in the state arena, tensors that
      decay first;
    - `grad_norm` is the norm of all gradients together (in double precision); above `clip` they are multiplied by
      `clip / norm`, without an epsilon. A norm that is not finite fails the entry before any state has changed;
    - `adamw` (Loshchilov and Hutter, Decoupled Weight Decay Regularization, 2019) or `sgd` updates each parameter. The
      inputs `lr` (f32) and `step` (i32, from 1) are run-time scalars. Tensors of two or more dims decay, unless `no-decay`
      matches their name;
    - gradients are states as well, so that they can be read after a step. With `accumulate` the new entry `@accumulate`
      adds those of one micro-batch, and the step adds its own, applies the sum and leaves zeros; without it each step
      overwrites them.

    Before:

    ```mlir
    ck.buffer @w weight : tensor<8x4xf32> {trainable}
    func.func @train_step(%x: tensor<2x4xf32> {ck.input = "x"}, %t: tensor<2xi32> {ck.input = "t"})
        -> (tensor<1xf32> {ck.output = "loss"}, tensor<8x4xf32> {ck.output = "d_w", ck.grad = @w})
        attributes {ck.entry} {
      %w = ck.param @w : tensor<8x4xf32>
      %y = ck.linear %x, %w : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
      %l, %dy = ck.cross_entropy %y, %t {save = "grad"}
          : (tensor<2x8xf32>, tensor<2xi32>) -> (tensor<1xf32>, tensor<2x8xf32>)
      %dw = ck.linear_grad %dy, %x, %w {wrt = ["weight"]}
          : (tensor<2x8xf32>, tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
      return %l, %dw : tensor<1xf32>, tensor<8x4xf32>
    }
    ```

    After, with `optimizer=sgd` (in short):

    ```mlir
    ck.buffer @w state : tensor<8x4xf32>
    ck.buffer @d_w state : tensor<8x4xf32>
    func.func @train_step(%x: ..., %t: ..., %w: tensor<8x4xf32> {ck.state = @w}, %d: tensor<8x4xf32> {ck.state = @d_w},
                          %lr: tensor<1xf32> {ck.input = "lr"}, %step: tensor<1xi32> {ck.input = "step"})
        -> (tensor<1xf32> {ck.output = "loss"}, tensor<8x4xf32> {ck.state = @w}, tensor<8x4xf32> {ck.state = @d_w},
            tensor<1xf32> {ck.output = "grad_norm"}) {
      ...
      %s = ck.sum_squares %dw : (tensor<8x4xf32>) -> tensor<1xf64>
      %norm, %factor = ck.clip_factor %s {max_norm = 1.0 : f64} : (tensor<1xf64>) -> (tensor<1xf32>, tensor<1xf32>)
      %w1 = ck.sgd %w grad %dw lr %lr factor %factor {weight_decay = 0.1 : f64}
          : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<8x4xf32>
      return %l, %w1, %dw, %norm : tensor<1xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<1xf32>
    }
    ```
  }];
  let options = [
    Option<"entry", "entry", "std::string", /*default=*/"\"train_step\"", "Name of the differentiated entry">,
    Option<"optimizer", "optimizer", "std::string", /*default=*/"\"adamw\"", "adamw or sgd">,
    Option<"accumulate", "accumulate", "bool", /*default=*/"false", "Sum the gradients of several micro-batches">,
    Option<"clip", "clip", "double", /*default=*/"1.0", "Largest norm of all gradients together; 0 = any">,
    Option<"weightDecay", "weight-decay", "double", /*default=*/"0.1", "Decay of tensors of two or more dims">,
    Option<"noDecay", "no-decay", "std::string", /*default=*/"\"\"", "Regular expression: names of tensors without decay">,
    Option<"beta1", "beta1", "double", /*default=*/"0.9", "AdamW: decay of the mean gradient">,
    Option<"beta2", "beta2", "double", /*default=*/"0.95", "AdamW: decay of the mean squared gradient">,
    Option<"eps", "eps", "double", /*default=*/"1e-8", "AdamW: added to the root of the mean square">,
    Option<"momentum", "momentum", "double", /*default=*/"0.0", "SGD: share of the last update that is kept">,
    Option<"nesterov", "nesterov", "bool", /*default=*/"false", "SGD: look ahead along the momentum">
  ];
  let dependentDialects = ["::ck::CKDialect"];
}

#endif // CK_TRANSFORMS_TRAINPASSES_TD
