// RUN: %ck_opt --pass-pipeline='builtin.module(ck-hoist-init)' --split-input-file --verify-diagnostics %s

// expected-error @+1 {{takes the symbol 'init', which is the name of the entry that runs at load}}
ck.buffer @init weight : tensor<4xf32>
func.func @step() -> (tensor<4xf32> {ck.output = "y"}) attributes {ck.entry} {
  %w = ck.param @init : tensor<4xf32>
  %y = ck.copy %w : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @+1 {{takes the symbol 'init', which is the name of the entry that runs at load}}
func.func private @init()
