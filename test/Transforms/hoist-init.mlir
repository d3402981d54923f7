// RUN: %ck_opt --pass-pipeline='builtin.module(ck-hoist-init)' --split-input-file %s | FileCheck %s

// A rope table of two entries is one pair of constants, named after its location; @init is made.

// CHECK: ck.buffer @w weight
// CHECK-NEXT: ck.buffer @rope_cos const : tensor<128x4xf32>
// CHECK-NEXT: ck.buffer @rope_sin const : tensor<128x4xf32>
ck.buffer @w weight : tensor<64x64xf32>

// CHECK-LABEL: func.func @decode
// CHECK: %[[W:.*]] = ck.param @w
// CHECK: %[[COS:.*]] = ck.param @rope_cos : tensor<128x4xf32>
// CHECK: %[[SIN:.*]] = ck.param @rope_sin : tensor<128x4xf32>
// CHECK-NOT: ck.rope_table
// CHECK: ck.rope %{{.*}} tables %[[COS]], %[[SIN]]
// CHECK: ck.linear %{{.*}}, %[[W]]
func.func @decode(%x: tensor<1x64xf32> {ck.input = "x"}, %pos: tensor<1xi32> {ck.input = "pos"})
    -> (tensor<1x64xf32> {ck.output = "y"}) attributes {ck.entry} {
  // A weight that is only read stays where it is.
  %w = ck.param @w : tensor<64x64xf32>
  %cos, %sin = ck.rope_table {rows = 128, rotary_dim = 8, theta = 1.0e4 : f64}
      : () -> (tensor<128x4xf32>, tensor<128x4xf32>) loc("rope")
  %y = ck.rope %x pos %pos tables %cos, %sin {head_dim = 8, pairing = "half"}
      : (tensor<1x64xf32>, tensor<1xi32>, tensor<128x4xf32>, tensor<128x4xf32>) -> tensor<1x64xf32>
  %z = ck.linear %y, %w : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
  return %z : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @prefill
// CHECK-DAG: ck.param @rope_cos
// CHECK-DAG: ck.param @rope_sin
// CHECK-NOT: ck.rope_table
func.func @prefill(%x: tensor<8x64xf32> {ck.input = "x"}, %pos: tensor<8xi32> {ck.input = "pos"})
    -> (tensor<8x64xf32> {ck.output = "y"}) attributes {ck.entry} {
  %cos, %sin = ck.rope_table {rows = 128, rotary_dim = 8, theta = 1.0e4 : f64}
      : () -> (tensor<128x4xf32>, tensor<128x4xf32>) loc("other name")
  %y = ck.rope %x pos %pos tables %cos, %sin {head_dim = 8, pairing = "half"}
      : (tensor<8x64xf32>, tensor<8xi32>, tensor<128x4xf32>, tensor<128x4xf32>) -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

// CHECK: func.func @init() -> (tensor<128x4xf32> {ck.const = @rope_cos}, tensor<128x4xf32> {ck.const = @rope_sin})
// CHECK-SAME: attributes {ck.entry}
// CHECK-NEXT: %[[C:.*]], %[[S:.*]] = ck.rope_table
// CHECK-NEXT: return %[[C]], %[[S]] : tensor<128x4xf32>, tensor<128x4xf32>

// -----

// A chain moves whole; only the value that is still needed becomes a constant. Unnamed ops give their own name, made
// unique. A different attribute is a different constant.

// CHECK: ck.buffer @g weight
// CHECK-NEXT: ck.buffer @mul_1 const : tensor<64xf32>
// CHECK-NEXT: ck.buffer @rope_table_cos const
// CHECK-NEXT: ck.buffer @rope_table_sin const
// CHECK-NEXT: ck.buffer @rope_table_cos_1 const
// CHECK-NEXT: ck.buffer @rope_table_sin_1 const
ck.buffer @mul weight : tensor<64xf32>
ck.buffer @g weight : tensor<64xf32>

// CHECK-LABEL: func.func @step
// CHECK-NOT: ck.param @
// CHECK: %[[G:.*]] = ck.param @mul_1 : tensor<64xf32>
// CHECK-NOT: ck.mul
// CHECK: ck.rms_norm %{{.*}}, %[[G]]
// CHECK: ck.rms_norm %{{.*}}, %[[G]]
func.func @step(%x: tensor<4x64xf32> {ck.input = "x"})
    -> (tensor<4x64xf32> {ck.output = "y"}, tensor<32x4xf32> {ck.output = "c0"}, tensor<32x4xf32> {ck.output = "s0"},
        tensor<32x4xf32> {ck.output = "c1"}, tensor<32x4xf32> {ck.output = "s1"}) attributes {ck.entry} {
  %a = ck.param @mul : tensor<64xf32>
  %g = ck.param @g : tensor<64xf32>
  %s = ck.add %a, %g : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %m = ck.mul %s, %g : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %y = ck.rms_norm %x, %m {eps = 0.5 : f64} : (tensor<4x64xf32>, tensor<64xf32>) -> tensor<4x64xf32>
  %z = ck.rms_norm %y, %m {eps = 0.5 : f64} : (tensor<4x64xf32>, tensor<64xf32>) -> tensor<4x64xf32>
  %c0, %s0 = ck.rope_table {rows = 32, rotary_dim = 8, theta = 1.0e4 : f64} : () -> (tensor<32x4xf32>, tensor<32x4xf32>)
  %c1, %s1 = ck.rope_table {rows = 32, rotary_dim = 8, theta = 5.0e5 : f64} : () -> (tensor<32x4xf32>, tensor<32x4xf32>)
  return %z, %c0, %s0, %c1, %s1
      : tensor<4x64xf32>, tensor<32x4xf32>, tensor<32x4xf32>, tensor<32x4xf32>, tensor<32x4xf32>
}

// CHECK-LABEL: func.func @init
// CHECK: %[[A:.*]] = ck.param @mul
// CHECK: %[[B:.*]] = ck.param @g
// CHECK: %[[S:.*]] = ck.add %[[A]], %[[B]]
// CHECK: %[[M:.*]] = ck.mul %[[S]], %[[B]]
// CHECK: return %[[M]],

// -----

// An @init that is there already takes more, what it has is found again, and constants can feed constants.

// CHECK: ck.buffer @c const
// CHECK-NEXT: ck.buffer @twice const
ck.buffer @w weight : tensor<4xf32>
ck.buffer @c const : tensor<4xf32>

// CHECK: func.func @init() -> (tensor<4xf32> {ck.const = @c}, tensor<4xf32> {ck.const = @twice})
// CHECK-NEXT: %[[W:.*]] = ck.param @w
// CHECK-NEXT: %[[C:.*]] = ck.copy %[[W]]
// CHECK-NEXT: %[[T:.*]] = ck.add %[[C]], %[[C]]
// CHECK-NEXT: return %[[C]], %[[T]]
func.func @init() -> (tensor<4xf32> {ck.const = @c}) attributes {ck.entry} {
  %w = ck.param @w : tensor<4xf32>
  %c = ck.copy %w : (tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}

// CHECK-LABEL: func.func @step
// CHECK-NEXT: %[[C1:.*]] = ck.param @c
// CHECK-NEXT: %[[T1:.*]] = ck.param @twice
// CHECK-NEXT: ck.add %[[C1]], %{{.*}}
// CHECK: return %{{.*}}, %[[T1]]
func.func @step(%x: tensor<4xf32> {ck.input = "x"})
    -> (tensor<4xf32> {ck.output = "y"}, tensor<4xf32> {ck.output = "t"}) attributes {ck.entry} {
  %w = ck.param @w : tensor<4xf32>
  %c = ck.param @c : tensor<4xf32>
  %again = ck.copy %w : (tensor<4xf32>) -> tensor<4xf32>
  %t = ck.add %c, %again : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("twice")
  %y = ck.add %again, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y, %t : tensor<4xf32>, tensor<4xf32>
}

// -----

// A fused region moves as one op. An op that depends on an input, on a state or on an extent stays; so does a dead one.

ck.buffer @w weight : tensor<4xf32>
ck.buffer @s state : tensor<4xf32>

// CHECK: ck.buffer @fused const : tensor<4xf32>
// CHECK-LABEL: func.func @step
// CHECK: %[[F:.*]] = ck.param @fused
// CHECK-NEXT: ck.copy
// CHECK: ck.add %{{.*}}, %[[F]]
// CHECK: ck.add %{{.*}}, %[[F]]
func.func @step(%x: tensor<4xf32> {ck.input = "x"}, %s: tensor<4xf32> {ck.state = @s})
    -> (tensor<4xf32> {ck.output = "y"}, tensor<4xf32> {ck.output = "z"}, tensor<4xf32> {ck.state = @s})
    attributes {ck.entry} {
  %w = ck.param @w : tensor<4xf32>
  %f = ck.fused @double (%a = %w : tensor<4xf32>) -> tensor<4xf32> {
    %d = ck.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ck.yield %d : tensor<4xf32>
  }
  %f2 = ck.fused @double (%a = %w : tensor<4xf32>) -> tensor<4xf32> {
    %d = ck.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ck.yield %d : tensor<4xf32>
  }
  %dead = ck.copy %w : (tensor<4xf32>) -> tensor<4xf32>
  %y = ck.add %x, %f : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = ck.add %s, %f2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y, %z, %s : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// CHECK-LABEL: func.func @init
// CHECK: ck.fused @double
// CHECK-NOT: ck.fused
// CHECK: return

// -----

// Nothing to do: no @init appears.

// CHECK-LABEL: func.func @step
// CHECK-NOT: @init
ck.buffer @w weight : tensor<4xf32>
func.func @step(%x: tensor<4xf32> {ck.input = "x"}) -> (tensor<4xf32> {ck.output = "y"}) attributes {ck.entry} {
  %w = ck.param @w : tensor<4xf32>
  %y = ck.add %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Zeros of the shape of a weight are written where they are wanted.

// CHECK-LABEL: func.func @step
// CHECK:       ck.fill
// CHECK-NOT:   @init
ck.buffer @w weight : tensor<4xf32>
func.func @step(%x: tensor<4xf32> {ck.input = "x"}) -> (tensor<4xf32> {ck.output = "d_w"}) attributes {ck.entry} {
  %w = ck.param @w : tensor<4xf32>
  %z = ck.fill %w {value = 0.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
