// RUN: %ck_opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(ck-build-train-step{optimizer=sgd})'
// RUN: not %ck_opt %s --pass-pipeline='builtin.module(ck-build-train-step{optimizer=lion})' 2>&1 | FileCheck %s --check-prefix=LION
// RUN: not %ck_opt %s --pass-pipeline='builtin.module(ck-build-train-step{beta1=1})' 2>&1 | FileCheck %s --check-prefix=BETA
// RUN: not %ck_opt %s --pass-pipeline='builtin.module(ck-build-train-step{momentum=0.5})' 2>&1 | FileCheck %s --check-prefix=MOMENTUM
// RUN: not %ck_opt %s --pass-pipeline='builtin.module(ck-build-train-step{optimizer=sgd nesterov})' 2>&1 | FileCheck %s --check-prefix=NESTEROV
// LION: train step: optimizer must be adamw or sgd, got 'lion'
// BETA: train step: beta1 must be at least 0 and below 1, got 1
// MOMENTUM: train step: momentum must be 0 with adamw, got 5.000000e-01
// NESTEROV: train step: nesterov must be false without momentum, got true

// Without gradients there is nothing to apply.

module {
  ck.buffer @w weight : tensor<8xf32> {trainable}
  // expected-error @below {{has no result tagged ck.grad: differentiate it first (--ck-autodiff)}}
  func.func @train_step(%x: tensor<8xf32> {ck.input = "x"}) -> (tensor<8xf32> {ck.output = "y"}) attributes {ck.entry} {
    return %x : tensor<8xf32>
  }
}

// -----

// expected-error @below {{there is no entry @train_step of one block}}
module {
}

// -----

// A gradient belongs to a weight.

module {
  ck.buffer @w state : tensor<8xf32>
  // expected-error @below {{result 0 is the gradient of @w, which is no ck.buffer of role weight}}
  func.func @train_step(%x: tensor<8xf32> {ck.input = "x"}) -> (tensor<8xf32> {ck.output = "d_w", ck.grad = @w})
      attributes {ck.entry} {
    return %x : tensor<8xf32>
  }
}
