// RUN: %ck_opt --pass-pipeline='builtin.module(ck-select-providers{maps=%S/Inputs/maps})' --split-input-file \
// RUN:   --verify-diagnostics %s
// RUN: not %ck_opt --pass-pipeline='builtin.module(ck-select-providers{maps=%S/Inputs/maps})' --split-input-file %s \
// RUN:   2>&1 | FileCheck %s

// Every candidate is listed with the first reason against it.

// CHECK: error: 'ck.linear' op has no provider; every candidate is refused:
// CHECK-NEXT: linear_double: weight: dtype must be f32, but is q4_k
// CHECK-NEXT: linear_one_row: weight: dtype must be f32, but is q4_k
// CHECK-NEXT: linear_q8: its numerics class q8_activations is not within f32
// CHECK-NEXT: linear_rows: weight: dtype must be f32, but is q4_k
func.func @step(%x: tensor<?x256xf32> {ck.input = "x", ck.dims = ["T"]}, %w: tensor<8x256x!ck.q4_k> {ck.input = "w"})
    -> (tensor<?x8xf32> {ck.output = "y"}) attributes {ck.entry, ck.bounds = {T = 4 : i64}} {
  // expected-error @+1 {{has no provider; every candidate is refused:}}
  %y = ck.linear %x, %w : (tensor<?x256xf32>, tensor<8x256x!ck.q4_k>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// The module may allow more.

module attributes {ck.numerics = "q8_activations"} {
  func.func @step(%x: tensor<4x256xf32> {ck.input = "x"}, %w: tensor<8x256x!ck.q4_k> {ck.input = "w"})
      -> (tensor<4x8xf32> {ck.output = "y"}, tensor<4x8xf32> {ck.output = "z"}) attributes {ck.entry} {
    %y = ck.linear %x, %w : (tensor<4x256xf32>, tensor<8x256x!ck.q4_k>) -> tensor<4x8xf32>
    // CHECK: error: 'ck.activation' op has no provider: no kernel map implements it
    // expected-error @+1 {{has no provider: no kernel map implements it}}
    %z = ck.activation %y {kind = "relu"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %y, %z : tensor<4x8xf32>, tensor<4x8xf32>
  }
}

// -----

// An attribute value that no kernel has, an attribute that none handles, an operand that none takes.

func.func @step(%x: tensor<4x64xf32> {ck.input = "x"}, %g: tensor<64xf32> {ck.input = "g"})
    -> (tensor<4x64xf32> {ck.output = "y"}) attributes {ck.entry} {
  // CHECK: error: 'ck.rms_norm' op has no provider; every candidate is refused:
  // CHECK-NEXT: norm_weight: needs gain = weight, but it is one_plus_weight
  // expected-error @+1 {{has no provider}}
  %y = ck.rms_norm %x, %g {eps = 0.5 : f64, gain = "one_plus_weight"} : (tensor<4x64xf32>, tensor<64xf32>) -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

// -----

func.func @step(%q: tensor<1x64xf32> {ck.input = "q"}, %k: tensor<4x128x8xf32> {ck.input = "k"},
                %pos: tensor<1xi32> {ck.input = "pos"}) -> (tensor<1x64xf32> {ck.output = "y"}) attributes {ck.entry} {
  // CHECK: error: 'ck.attention' op has no provider; every candidate is refused:
  // CHECK-NEXT: attend: attribute softcap = 30 is not handled (its default is 0)
  // expected-error @+1 {{has no provider}}
  %y = ck.attention %q, %k, %k pos %pos {heads = 8, kv_heads = 4, layout = "cache", softcap = 30.0 : f64}
      : (tensor<1x64xf32>, tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<1xi32>) -> tensor<1x64xf32>
  return %y : tensor<1x64xf32>
}

// -----

func.func @step(%q: tensor<1x64xf32> {ck.input = "q"}, %k: tensor<4x128x8xf32> {ck.input = "k"},
                %pos: tensor<1xi32> {ck.input = "pos"}, %s: tensor<8xf32> {ck.input = "s"})
    -> (tensor<1x64xf32> {ck.output = "y"}) attributes {ck.entry} {
  // CHECK: attend: operand sinks of attention is not taken
  // expected-error @+1 {{has no provider}}
  %y = ck.attention %q, %k, %k pos %pos sinks %s {heads = 8, kv_heads = 4, layout = "cache"}
      : (tensor<1x64xf32>, tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<1xi32>, tensor<8xf32>) -> tensor<1x64xf32>
  return %y : tensor<1x64xf32>
}

// -----

// An attribute that is none of the op's is not dropped.

func.func @step(%x: tensor<4x6xf32> {ck.input = "x"}) -> (tensor<6x4xf32> {ck.output = "y"}) attributes {ck.entry} {
  // CHECK: swap: attribute conjugate = 1 is not handled
  // expected-error @+1 {{has no provider}}
  %y = ck.transpose %x {perm = array<i64: 1, 0>, conjugate = 1 : i64} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// -----

// A permutation that only looks the same on squares.

func.func @step(%x: tensor<6x6xf32> {ck.input = "x"}) -> (tensor<6x6xf32> {ck.output = "y"}) attributes {ck.entry} {
  // CHECK: swap: needs perm = 1,0, but it is 0,1
  // expected-error @+1 {{has no provider}}
  %y = ck.transpose %x {perm = array<i64: 0, 1>} : (tensor<6x6xf32>) -> tensor<6x6xf32>
  return %y : tensor<6x6xf32>
}

// -----

// Equal providers are nobody's choice.

func.func @step(%x: tensor<4xf32> {ck.input = "x"}) -> (tensor<4xf32> {ck.output = "y"}) attributes {ck.entry} {
  // CHECK: error: 'ck.copy' op has two providers of equal rank, 'copy_a' and 'copy_b'; pin one of them. Candidates:
  // CHECK-NEXT: copy_a: fits, cost 4
  // CHECK-NEXT: copy_b: fits, cost 4
  // expected-error @+1 {{has two providers of equal rank, 'copy_a' and 'copy_b'; pin one of them. Candidates:}}
  %y = ck.copy %x : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// No instruction set in common with every target; no earlier value for a kernel that adds to its result.

func.func @step(%x: tensor<4xf32> {ck.input = "x"}) -> (tensor<4xf32> {ck.output = "y"}) attributes {ck.entry} {
  // CHECK: add_wide: has implementations for avx512 only, and the target promises scalar
  // expected-error @+1 {{has no provider}}
  %y = ck.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @step(%x: tensor<4xf32> {ck.input = "x"}) -> (tensor<4xf32> {ck.output = "y"}) attributes {ck.entry} {
  // CHECK: mul_into: result output: is added to, but mul gives no earlier value
  // expected-error @+1 {{has no provider}}
  %y = ck.mul %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A result that no kernel gives.

func.func @step(%x: tensor<4x6xf32> {ck.input = "x"})
    -> (tensor<4x1xf32> {ck.output = "a"}, tensor<4x1xf32> {ck.output = "b"}, tensor<4x4xf32> {ck.output = "c"})
    attributes {ck.entry} {
  // CHECK: split_columns: result output2 of split is not taken
  // expected-error @+1 {{has no provider}}
  %a, %b, %c = ck.split %x {axis = 1 : i64, sizes = array<i64: 1, 1, 4>}
      : (tensor<4x6xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x4xf32>)
  return %a, %b, %c : tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x4xf32>
}

// -----

// The symbol of a provider is its identity.

// expected-note @+1 {{here}}
ck.buffer @swap weight : tensor<4xf32>
func.func @step(%x: tensor<4x6xf32> {ck.input = "x"}) -> (tensor<6x4xf32> {ck.output = "y"}) attributes {ck.entry} {
  // expected-error @+1 {{needs the symbol 'swap' for its provider, but it is taken}}
  %y = ck.transpose %x {perm = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// -----

// expected-note @+1 {{by a provider with another digest}}
ck.provider @swap {digest = "of an older map", inventory_op = "transpose", numerics = "f32",
                   signature = "input[A,B]:f32 -> output[B,A]:f32"}
func.func @step(%x: tensor<4x6xf32> {ck.input = "x"}) -> (tensor<6x4xf32> {ck.output = "y"}) attributes {ck.entry} {
  // expected-error @+1 {{needs the symbol 'swap' for its provider, but it is taken}}
  %y = ck.transpose %x {perm = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}
