// RUN: %ck_opt --ck-fuse --split-input-file %s | FileCheck %s

// The chain of the pass's documentation: the stream goes on, so it is a result of the region.
// CHECK-LABEL: func.func @stream
// CHECK: %[[F:.*]]:2 = ck.fused @add_rms_norm (%[[A:.*]] = %arg0 : tensor<?x64xf32>, %[[B:.*]] = %arg1 : tensor<?x64xf32>, %[[G:.*]] = %arg2 : tensor<64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) attributes {eps = 1.250000e-01 : f64}
// CHECK:   %[[S:.*]] = ck.add %[[A]], %[[B]]
// CHECK:   %[[N:.*]] = ck.rms_norm %[[S]], %[[G]] {eps = 1.250000e-01 : f64}
// CHECK:   ck.yield %[[S]], %[[N]]
// CHECK: return %[[F]]#0, %[[F]]#1
func.func @stream(%x: tensor<?x64xf32> {ck.input = "x", ck.dims = ["T"]}, %a: tensor<?x64xf32> {ck.input = "a", ck.dims = ["T"]},
                  %g: tensor<64xf32> {ck.input = "g"})
    -> (tensor<?x64xf32> {ck.output = "s"}, tensor<?x64xf32> {ck.output = "n"}) attributes {ck.entry, ck.bounds = {T = 16 : i64}} {
  %s = ck.add %x, %a : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  %n = ck.rms_norm %s, %g {eps = 1.25e-1 : f64} : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  return %s, %n : tensor<?x64xf32>, tensor<?x64xf32>
}

// -----

// The activation that the pattern leaves open becomes a parameter; the bias is optional.
// CHECK-LABEL: func.func @projection
// CHECK: ck.fused @linear_activation ({{.*}}) -> tensor<4x32xf32> attributes {alpha = 0.000000e+00 : f64, kind = "gelu_tanh"}
// CHECK: ck.fused @linear_activation ({{.*}} : tensor<48xf32>) -> tensor<4x48xf32> attributes {alpha = 0.000000e+00 : f64, kind = "relu"}
func.func @projection(%x: tensor<4x64xf32> {ck.input = "x"}, %w: tensor<32x64xf32> {ck.input = "w"},
                      %v: tensor<48x64xf32> {ck.input = "v"}, %b: tensor<48xf32> {ck.input = "b"})
    -> (tensor<4x32xf32> {ck.output = "y"}, tensor<4x48xf32> {ck.output = "z"}) attributes {ck.entry} {
  %0 = ck.linear %x, %w : (tensor<4x64xf32>, tensor<32x64xf32>) -> tensor<4x32xf32>
  %y = ck.activation %0 {kind = "gelu_tanh"} : (tensor<4x32xf32>) -> tensor<4x32xf32>
  %1 = ck.linear %x, %v bias %b : (tensor<4x64xf32>, tensor<48x64xf32>, tensor<48xf32>) -> tensor<4x48xf32>
  %z = ck.activation %1 {kind = "relu"} : (tensor<4x48xf32>) -> tensor<4x48xf32>
  return %y, %z : tensor<4x32xf32>, tensor<4x48xf32>
}

// -----

// An inner value that somebody else reads keeps its chain apart.
// CHECK-LABEL: func.func @other_reader
// CHECK-NOT: ck.fused
// CHECK: return
func.func @other_reader(%x: tensor<4x64xf32> {ck.input = "x"}, %w: tensor<32x64xf32> {ck.input = "w"})
    -> (tensor<4x32xf32> {ck.output = "y"}, tensor<4x32xf32> {ck.output = "z"}) attributes {ck.entry} {
  %y = ck.linear %x, %w : (tensor<4x64xf32>, tensor<32x64xf32>) -> tensor<4x32xf32>
  %z = ck.activation %y {kind = "silu"} : (tensor<4x32xf32>) -> tensor<4x32xf32>
  return %y, %z : tensor<4x32xf32>, tensor<4x32xf32>
}

// -----

// No provider of the contract takes this activation.
// CHECK-LABEL: func.func @no_provider
// CHECK-NOT: ck.fused
// CHECK: return
func.func @no_provider(%x: tensor<4x64xf32> {ck.input = "x"}, %w: tensor<32x64xf32> {ck.input = "w"})
    -> (tensor<4x32xf32> {ck.output = "z"}) attributes {ck.entry} {
  %y = ck.linear %x, %w : (tensor<4x64xf32>, tensor<32x64xf32>) -> tensor<4x32xf32>
  %z = ck.activation %y {kind = "leaky_relu", alpha = 1.0e-1 : f64} : (tensor<4x32xf32>) -> tensor<4x32xf32>
  return %z : tensor<4x32xf32>
}

// -----

// The stream is read before the norm: the region could stand in no place.
// CHECK-LABEL: func.func @read_between
// CHECK-NOT: ck.fused
// CHECK: return
func.func @read_between(%x: tensor<4x64xf32> {ck.input = "x"}, %a: tensor<4x64xf32> {ck.input = "a"},
                        %w: tensor<64x64xf32> {ck.input = "w"}, %g: tensor<64xf32> {ck.input = "g"})
    -> (tensor<4x64xf32> {ck.output = "h"}) attributes {ck.entry} {
  %s = ck.add %x, %a : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  %y = ck.linear %s, %w : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
  %n = ck.rms_norm %s, %g {eps = 1.0e-5 : f64} : (tensor<4x64xf32>, tensor<64xf32>) -> tensor<4x64xf32>
  %h = ck.add %n, %y : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  return %h : tensor<4x64xf32>
}

// -----

// A contract is a border: what is inside stays, and nothing grows across it.
// CHECK-LABEL: func.func @inside
// CHECK: ck.fused @nobody
// CHECK-NOT: ck.fused
// CHECK: ck.rms_norm
func.func @inside(%x: tensor<4x64xf32> {ck.input = "x"}, %a: tensor<4x64xf32> {ck.input = "a"}, %g: tensor<64xf32> {ck.input = "g"})
    -> (tensor<4x64xf32> {ck.output = "n"}) attributes {ck.entry} {
  %s = ck.fused @nobody (%p = %x : tensor<4x64xf32>, %q = %a : tensor<4x64xf32>) -> tensor<4x64xf32> {
    %0 = ck.add %p, %q : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
    ck.yield %0 : tensor<4x64xf32>
  }
  %n = ck.rms_norm %s, %g {eps = 1.0e-5 : f64} : (tensor<4x64xf32>, tensor<64xf32>) -> tensor<4x64xf32>
  return %n : tensor<4x64xf32>
}
