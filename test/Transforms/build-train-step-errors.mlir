// RUN: %ck_opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(ck-build-train-step{optimizer=sgd})'

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
