//===- GradientPasses.td - differentiation of GRAPH -------------*- tablegen -*-===//
//
// Reverse mode, and what is done to a differentiated graph before providers are selected.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TRANSFORMS_GRADIENTPASSES_TD
#define CK_TRANSFORMS_GRADIENTPASSES_TD

include "mlir/Pass/PassBase.td"

def CKAutodiff : Pass<"ck-autodiff", "::mlir::ModuleOp"> {
  let summary = "extends entries by the gradients of their outputs";
  let description = [{
    Reverse mode over `DifferentiableOpInterface`, in place: behind the ops of an entry come those of the backward pass, and
    new results. Which entries: the one that `entry` names; without it every entry that has a result tagged `ck.loss` or an
    argument tagged `ck.wrt`.

    What is differentiated: the results tagged `ck.loss` (one f32 each), with the cotangent 1; if there are none, every
    float output `y`, whose cotangent becomes a new input `d_y`.

    With respect to what: every `ck.buffer` marked `trainable` gives a result
    `{ck.output = "d_<buffer>", ck.grad = @<buffer>}`, in the order of the module, and every argument tagged `ck.wrt` a
    result `{ck.output = "d_<input>"}`. Uses of aliases count for their root. What the outputs do not depend on has a
    gradient of exact zeros. Nothing is computed for other buffers and inputs.

    Ops that save something for their adjoint take that form (`save_rstd`, `save`); `save` says what attention keeps: `lse`,
    or `probs`, quadratic in the rows, where its adjoint can use them. `ck.fused` is inlined. Cotangents that meet are added
    by `ck.add` in reverse program order. New ops are marked `ck.backward`, carry the `ck.layer` of the op that they come
    from, and are named `d_` and the name of the value that they are the gradient of.

    Before:

    ```mlir
    ck.buffer @w weight : tensor<8x16xf32> {trainable}
    func.func @step(%x: tensor<4x16xf32> {ck.input = "x"}, %t: tensor<4xi32> {ck.input = "t"})
        -> (tensor<1xf32> {ck.output = "loss", ck.loss}) attributes {ck.entry} {
      %w = ck.param @w : tensor<8x16xf32>
      %y = ck.linear %x, %w : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
      %l = ck.cross_entropy %y, %t : (tensor<4x8xf32>, tensor<4xi32>) -> tensor<1xf32>
      return %l : tensor<1xf32>
    }
    ```

    After:

    ```mlir
    func.func @step(%x: tensor<4x16xf32> {ck.input = "x"}, %t: tensor<4xi32> {ck.input = "t"})
        -> (tensor<1xf32> {ck.output = "loss", ck.loss}, tensor<8x16xf32> {ck.output = "d_w", ck.grad = @w})
        attributes {ck.entry} {
      %w = ck.param @w : tensor<8x16xf32>
      %y = ck.linear %x, %w : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
      %l, %dy = ck.cross_entropy %y, %t {save = "grad"} : (tensor<4x8xf32>, tensor<4xi32>)
          -> (tensor<1xf32>, tensor<4x8xf32>)
      %dw = ck.linear_grad %dy, %x, %w {ck.backward, wrt = ["weight"]} : ... -> tensor<8x16xf32>
      return %l, %dw : tensor<1xf32>, tensor<8x16xf32>
    }
    ```

    Errors: no such entry; a loss that is not one f32; an op on the way without an adjoint, or with respect to an operand
    that it has none for (located at that op, with what to use instead where there is something); names `d_...` that are
    taken; a run-time extent of an output that is no dim of an argument.
  }];
  let options = [
    Option<"entry", "entry", "std::string", /*default=*/"\"\"", "The entry to differentiate; empty: those with tags">,
    Option<"save", "save", "std::string", /*default=*/"\"lse\"", "What attention keeps for its adjoint: lse or probs">
  ];
  let dependentDialects = ["::ck::CKDialect"];
}

def CKFoldAccumulate : Pass<"ck-fold-accumulate", "::mlir::ModuleOp"> {
  let summary = "adds gradients where they are computed";
  let description = [{
    A gradient that is only an operand of `ck.add` (without factors) or the source of `ck.accumulate` is added to the other
    operand by the op that computes it, in its accumulating form. Legal if the other operand is there before that op, is
    read by nothing from that op on, and is no weight or input (states are what micro-batches add their gradients to). A
    provider adds all gradients of a group (`params`: weights, biases, gains; `input`: activations) or none of them, so a
    group folds as a whole or not at all.

    Before:

    ```mlir
    %dw = ck.linear_grad %dy, %x, %w {wrt = ["weight"]} : (...) -> tensor<8x16xf32>
    %sum = ck.accumulate %state, %dw : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    ```

    After:

    ```mlir
    %sum = ck.linear_grad %dy, %x, %w into %state {accumulate = "params", wrt = ["weight"]} : (...) -> tensor<8x16xf32>
    ```
  }];
}

def CKCheckpoint : Pass<"ck-checkpoint", "::mlir::ModuleOp"> {
  let summary = "computes activations again instead of keeping them for the backward pass";
  let description = [{
    For entries after `--ck-autodiff` whose ops carry `ck.layer`. With `policy=layer`, forward values of a layer that the
    backward pass reads are computed a second time in front of the layer's backward pass, by clones of the ops that make
    them; only values that other layers or outputs read anyway (what a layer begins with) are kept. Clones are marked
    `ck.remat`, so that cse does not take them for the originals, and `ck.backward`. `policy=none` changes nothing.

    Before:

    ```mlir
    %h = ck.activation %x {ck.layer = 0 : i64, kind = "silu"} : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %y = ck.linear %h, %w {ck.layer = 0 : i64} : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
    ...
    %dw = ck.linear_grad %dy, %h, %w {ck.backward, ck.layer = 0 : i64, wrt = ["weight"]} : (...) -> tensor<8x16xf32>
    ```

    After:

    ```mlir
    %h = ck.activation %x {ck.layer = 0 : i64, kind = "silu"} : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %y = ck.linear %h, %w {ck.layer = 0 : i64} : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
    ...
    %h1 = ck.activation %x {ck.backward, ck.layer = 0 : i64, ck.remat, kind = "silu"} : ...
    %dw = ck.linear_grad %dy, %h1, %w {ck.backward, ck.layer = 0 : i64, wrt = ["weight"]} : (...) -> tensor<8x16xf32>
    ```
  }];
  let options = [Option<"policy", "policy", "std::string", /*default=*/"\"none\"", "What to compute again: none or layer">];
}

#endif // CK_TRANSFORMS_GRADIENTPASSES_TD
