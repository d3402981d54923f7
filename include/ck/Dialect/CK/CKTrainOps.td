//===- CKTrainOps.td - loss, optimizers, gradient buffers -------*- tablegen -*-===//
//
// What frames the gradient of a model: the loss, sums and norms of gradients, and updates of parameters. An op that names
// an operand again among its results computes its new value; on states the provider works in place.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TRAINOPS_TD
#define CK_TRAINOPS_TD

include "ck/Dialect/CK/CKDialect.td"
include "mlir/IR/BuiltinAttributes.td"

//===----------------------------------------------------------------------===//
// Loss
//===----------------------------------------------------------------------===//

def CK_CrossEntropyOp : CK_GraphOp<"cross_entropy", [
    DeclareOpInterfaceMethods<DifferentiableOpInterface, ["prepareAdjoint", "getUndifferentiated"]>]> {
  let summary = "softmax cross-entropy of rows against target indices";
  let description = [{
    `loss[0] = s * sum_t (log(sum_v exp(logits[t,v])) - logits[t,targets[t]])` over the rows whose target is not -100; s is
    `scale[0]` if given, else 1 divided by the number of these rows. A target of -100 gives no loss and a gradient row of
    zeros; without any other target the loss and all gradients are 0. Every other target outside `[0, V)` fails at run time
    and names row, target and V before anything is written.

    `save = "grad"` adds the result `d_logits[t,v] = s * (exp(logits[t,v] - logsumexp) - [v = targets[t]])`, the gradient of
    the loss.

    Example:

    ```mlir
    %loss, %dl = ck.cross_entropy %logits, %targets {save = "grad"}
        : (tensor<4x512xf32>, tensor<4xi32>) -> (tensor<1xf32>, tensor<4x512xf32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$logits, AnyRankedTensor:$targets, Optional<AnyRankedTensor>:$scale,
                   CK_KeywordOr<["none", "grad"], "none">:$save);
  let results = (outs AnyRankedTensor:$loss, Optional<AnyRankedTensor>:$d_logits);
  let signatureBody = [{
    std::string text = "logits[T,V]:f32, targets[T]:i32, scale[1]:f32? -> loss[1]:f32";
    return op.getSave() == "grad" ? text + ", d_logits[T,V]:f32" : text;
  }];
  let assemblyFormat = "$logits `,` $targets (`scale` $scale^)? attr-dict `:` functional-type(operands, results)";
}

//===----------------------------------------------------------------------===//
// Optimizers
//===----------------------------------------------------------------------===//

def CK_AdamWOp : CK_GraphOp<"adamw"> {
  let summary = "one step of AdamW";
  let description = [{
    With `g = grad * factor[0]` (factor 1 if absent) and n = `step[0]`, counted from 1 (less fails):
    `m' = beta1 m + (1 - beta1) g`, `v' = beta2 v + (1 - beta2) g^2`,
    `w' = w - lr (m' / (1 - beta1^n) / (sqrt(v' / (1 - beta2^n)) + eps) + weight_decay w)`. Rate and step are run-time
    values. (Loshchilov and Hutter, Decoupled Weight Decay Regularization, 2019.)

    Example:

    ```mlir
    %w1, %m1, %v1 = ck.adamw %w, %m, %v grad %g lr %lr step %n factor %f
        {beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64, weight_decay = 0.1 : f64}
        : (tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<1xf32>, tensor<1xi32>,
           tensor<1xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$w, AnyRankedTensor:$m, AnyRankedTensor:$v, AnyRankedTensor:$grad,
                   AnyRankedTensor:$lr, AnyRankedTensor:$step, Optional<AnyRankedTensor>:$factor, F64Attr:$beta1,
                   F64Attr:$beta2, F64Attr:$eps, DefaultValuedAttr<F64Attr, "0.0">:$weight_decay);
  let results = (outs AnyRankedTensor:$w_result, AnyRankedTensor:$m_result, AnyRankedTensor:$v_result);
  let signatureBody = [{
    return "w[...L]:f32, m[...L]:f32, v[...L]:f32, grad[...L]:f32, lr[1]:f32, step[1]:i32, factor[1]:f32? -> "
           "w[...L]:f32, m[...L]:f32, v[...L]:f32";
  }];
  let assemblyFormat = [{
    $w `,` $m `,` $v `grad` $grad `lr` $lr `step` $step (`factor` $factor^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def CK_SgdOp : CK_GraphOp<"sgd", [AttrSizedOperandSegments]> {
  let summary = "one step of stochastic gradient descent";
  let description = [{
    With `g = grad * factor[0] + weight_decay w` (factor 1 if absent): without `velocity`, `w' = w - lr g`; with it
    `velocity' = momentum velocity + g` and `w' = w - lr velocity'`, or with `nesterov` `w' = w - lr (g + momentum velocity')`.

    Example:

    ```mlir
    %w1, %v1 = ck.sgd %w velocity %v grad %g lr %lr {momentum = 0.9 : f64}
        : (tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<1xf32>)
        -> (tensor<32x64xf32>, tensor<32x64xf32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$w, Optional<AnyRankedTensor>:$velocity, AnyRankedTensor:$grad,
                   AnyRankedTensor:$lr, Optional<AnyRankedTensor>:$factor,
                   DefaultValuedAttr<F64Attr, "0.0">:$momentum, DefaultValuedAttr<BoolAttr, "false">:$nesterov,
                   DefaultValuedAttr<F64Attr, "0.0">:$weight_decay);
  let results = (outs AnyRankedTensor:$w_result, Optional<AnyRankedTensor>:$velocity_result);
  let signatureBody = [{
    std::string text = "w[...L]:f32, velocity[...L]:f32?, grad[...L]:f32, lr[1]:f32, factor[1]:f32? -> w[...L]:f32";
    return op.getVelocity() ? text + ", velocity[...L]:f32?" : text;
  }];
  let assemblyFormat = [{
    $w (`velocity` $velocity^)? `grad` $grad `lr` $lr (`factor` $factor^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Norms of gradients
//===----------------------------------------------------------------------===//

def CK_SumSquaresOp : CK_GraphOp<"sum_squares"> {
  let summary = "sum of the squares of all elements, in double precision";
  let description = [{
    `sum[0] = sum_i input[i]^2`; given an earlier sum, it is added to that one.

    Example:

    ```mlir
    %s1 = ck.sum_squares %g into %s : (tensor<32x64xf32>, tensor<1xf64>) -> tensor<1xf64>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Optional<AnyRankedTensor>:$sum);
  let results = (outs AnyRankedTensor:$sum_result);
  let signatureBody = [{
    return op.getSum() ? "input[...L]:f32, sum[1]:f64 -> sum[1]:f64+=" : "input[...L]:f32 -> sum[1]:f64";
  }];
  let assemblyFormat = "$input (`into` $sum^)? attr-dict `:` functional-type(operands, results)";
}

def CK_ClipFactorOp : CK_GraphOp<"clip_factor"> {
  let summary = "norm and factor of gradient clipping, from a sum of squares";
  let description = [{
    `norm[0] = sqrt(sum[0])`; `factor[0] = max_norm / norm` if `max_norm > 0` and the norm exceeds it, else 1. A norm that
    is not finite fails at run time before anything is written.

    Example:

    ```mlir
    %norm, %f = ck.clip_factor %s {max_norm = 1.0 : f64} : (tensor<1xf64>) -> (tensor<1xf32>, tensor<1xf32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$sum, F64Attr:$max_norm);
  let results = (outs AnyRankedTensor:$norm, AnyRankedTensor:$factor);
  let signatureBody = [{ return "sum[1]:f64 -> norm[1]:f32, factor[1]:f32"; }];
  let assemblyFormat = "$sum attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def CK_GradClipOp : CK_GraphOp<"grad_clip"> {
  let summary = "scales one tensor down to a norm";
  let description = [{
    `norm[0] = sqrt(sum_i grad[i]^2)`, `grad' = grad * max_norm / norm` if the norm exceeds `max_norm`, else grad. With
    `max_norm <= 0` the norm is 0 and nothing changes.

    Example:

    ```mlir
    %g1, %norm = ck.grad_clip %g {max_norm = 1.0 : f64} : (tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<1xf32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$grad, F64Attr:$max_norm);
  let results = (outs AnyRankedTensor:$grad_result, AnyRankedTensor:$norm);
  let signatureBody = [{ return "grad[...L]:f32 -> grad[...L]:f32, norm[1]:f32"; }];
  let assemblyFormat = "$grad attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Gradient buffers
//===----------------------------------------------------------------------===//

def CK_AccumulateOp : CK_GraphOp<"accumulate"> {
  let summary = "adds to a buffer";
  let description = [{
    `dst' = dst + src`. Micro-batches add their gradients to states in this way.

    Example:

    ```mlir
    %d1 = ck.accumulate %d, %s : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dst, AnyRankedTensor:$src);
  let results = (outs AnyRankedTensor:$dst_result);
  let signatureBody = [{ return "dst[...L]:f32, src[...L]:f32 -> dst[...L]:f32+="; }];
  let assemblyFormat = "$dst `,` $src attr-dict `:` functional-type(operands, results)";
}

def CK_ZeroOp : CK_GraphOp<"zero"> {
  let summary = "zeros a buffer";
  let description = [{
    `dst' = 0`. The earlier content is not read.

    Example:

    ```mlir
    %d1 = ck.zero %d : (tensor<32x64xf32>) -> tensor<32x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$dst);
  let results = (outs AnyRankedTensor:$dst_result);
  let signatureBody = [{ return "dst[...L]:f32 -> dst[...L]:f32"; }];
  let assemblyFormat = "$dst attr-dict `:` functional-type(operands, results)";
}

def CK_FillOp : CK_GraphOp<"fill", [CK_Differentiable]> {
  let summary = "a constant tensor of the shape of another";
  let description = [{
    `output = value`, of the shape of `like`, whose content is not read.

    Example:

    ```mlir
    %z = ck.fill %w {value = 0.0 : f64} : (tensor<32x64xf32>) -> tensor<32x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$like, F64Attr:$value);
  let results = (outs AnyRankedTensor:$output);
  let rowwise = "true";
  let signatureBody = [{ return "like[...N]:$X -> output[...N]:f32"; }];
  let assemblyFormat = "$like attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def CK_FanOutOp : CK_GraphOp<"fan_out", [CK_Differentiable]> {
  let summary = "two copies of a value";
  let description = [{
    `a = b = input`, bit for bit: the gradient of a residual connection, for buffers that must not be shared.

    Example:

    ```mlir
    %a, %b = ck.fan_out %x : (tensor<4x64xf32>) -> (tensor<4x64xf32>, tensor<4x64xf32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$a, AnyRankedTensor:$b);
  let rowwise = "true";
  let signatureBody = [{ return "input[...N]:f32 -> a[...N]:f32, b[...N]:f32"; }];
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

#endif // CK_TRAINOPS_TD
