// RUN: %ck_opt --pass-pipeline='builtin.module(ck-schedule)' --split-input-file --verify-diagnostics %s

// Bytes are compared at the bounds, so there must be bounds.
// expected-error @+1 {{argument 0 of type 'tensor<?x64xf32>' has run-time extents without names}}
func.func @step(%x: tensor<?x64xf32> {ck.input = "x"}) -> (tensor<1x64xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.last_row %x : (tensor<?x64xf32>) -> tensor<1x64xf32>
  return %y : tensor<1x64xf32>
}
