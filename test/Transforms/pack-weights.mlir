// RUN: %ck_opt --pass-pipeline='builtin.module(ck-pack-weights)' --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s
// RUN: %ck_opt --pass-pipeline='builtin.module(ck-pack-weights,ck-hoist-init)' %s | FileCheck %s --check-prefix=INIT
// RUN: %ck_opt --pass-pipeline='builtin.module(ck-pack-weights{pack=never})' %s | FileCheck %s --check-prefix=NEVER
// RUN: not %ck_opt --pass-pipeline='builtin.module(ck-pack-weights{pack=file})' %s 2>&1 | FileCheck %s --check-prefix=BAD

// NEVER-NOT: ck.pack %
// NEVER: %[[L:.*]] = ck.linear %{{.*}}, %{{.*}} {ck.layer = 7 : i64} : (tensor<1x256x!ck.q8_k>, tensor<40x256x!ck.q6_k>) -> tensor<1x40xf32>
// NEVER-NEXT: ck.activation %[[L]] {alpha = 3.000000e+01 : f64, ck.layer = 7 : i64, kind = "softcap"}
// NEVER-NOT: ck.pack %
// NEVER-NOT: ck.head_linear
// BAD: error: pack must be load or never, got 'file'

ck.buffer @emb weight : tensor<40x256x!ck.q6_k>
ck.buffer @w weight : tensor<64x256x!ck.q4_k>

// One packed form of each weight for all entries; the embedding reads the raw one.
// INIT: ck.buffer @w.packed const : tensor<64x256x!ck.packed<q4_k, r16>>
// INIT: ck.buffer @emb.packed const : tensor<40x256x!ck.packed<q6_k, r16>>

// CHECK-LABEL: func.func @decode
// INIT-LABEL: func.func @decode
func.func @decode(%i: tensor<1xi32> {ck.input = "i"}, %q: tensor<1x256x!ck.q8_k> {ck.input = "q"},
                  %x: tensor<1x256xf32> {ck.input = "x"}, %d: tensor<64x256x!ck.q4_k> {ck.input = "d"})
    -> (tensor<1x256xf32> {ck.output = "r"}, tensor<1x64xf32> {ck.output = "y"}, tensor<1x64xf32> {ck.output = "z"},
        tensor<1x40xf32> {ck.output = "l"}, tensor<1x64xf32> {ck.output = "e"}, tensor<1x64xf32> {ck.output = "g"})
    attributes {ck.entry} {
  // CHECK: %[[W:.*]] = ck.param @w
  // CHECK: %[[E:.*]] = ck.param @emb
  %w = ck.param @w : tensor<64x256x!ck.q4_k>
  %e = ck.param @emb : tensor<40x256x!ck.q6_k>
  // CHECK: ck.embedding %{{.*}}, %[[E]] :
  // INIT: %[[RAW:.*]] = ck.param @emb :
  // INIT: ck.embedding %{{.*}}, %[[RAW]]
  %r = ck.embedding %i, %e : (tensor<1xi32>, tensor<40x256x!ck.q6_k>) -> tensor<1x256xf32>
  // CHECK-NEXT: %[[PW:.*]] = ck.pack %[[W]] : (tensor<64x256x!ck.q4_k>) -> tensor<64x256x!ck.packed<q4_k, r16>> loc("w.packed"
  // CHECK-NEXT: ck.linear %{{.*}}, %[[PW]] : (tensor<1x256x!ck.q8_k>, tensor<64x256x!ck.packed<q4_k, r16>>) -> tensor<1x64xf32>
  // CHECK-NEXT: ck.linear %{{.*}}, %[[PW]] :
  // INIT: %[[PACKED:.*]] = ck.param @w.packed :
  // INIT: ck.linear %{{.*}}, %[[PACKED]]
  // INIT: ck.linear %{{.*}}, %[[PACKED]]
  %y = ck.linear %q, %w : (tensor<1x256x!ck.q8_k>, tensor<64x256x!ck.q4_k>) -> tensor<1x64xf32>
  %z = ck.linear %q, %w : (tensor<1x256x!ck.q8_k>, tensor<64x256x!ck.q4_k>) -> tensor<1x64xf32>
  // CHECK-NEXT: %[[PE:.*]] = ck.pack %[[E]]
  // CHECK-NEXT: ck.head_linear %{{.*}}, %[[PE]] {ck.layer = 7 : i64, softcap = 3.000000e+01 : f64} : (tensor<1x256x!ck.q8_k>, tensor<40x256x!ck.packed<q6_k, r16>>) -> tensor<1x40xf32>
  %l = ck.head_linear %q, %e {softcap = 30.0 : f64, ck.layer = 7 : i64} : (tensor<1x256x!ck.q8_k>, tensor<40x256x!ck.q6_k>) -> tensor<1x40xf32>
  // An input that is not in blocks, and what is no weight of the model.
  // CHECK-NEXT: ck.linear %{{.*}}, %[[W]] : (tensor<1x256xf32>, tensor<64x256x!ck.q4_k>)
  %f = ck.linear %x, %w : (tensor<1x256xf32>, tensor<64x256x!ck.q4_k>) -> tensor<1x64xf32>
  // CHECK-NEXT: ck.linear %{{.*}}, %{{.*}} : (tensor<1x256x!ck.q8_k>, tensor<64x256x!ck.q4_k>)
  %g = ck.linear %q, %d : (tensor<1x256x!ck.q8_k>, tensor<64x256x!ck.q4_k>) -> tensor<1x64xf32>
  return %r, %y, %z, %l, %f, %g : tensor<1x256xf32>, tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x40xf32>,
      tensor<1x64xf32>, tensor<1x64xf32>
}

// INIT-LABEL: func.func @prefill
func.func @prefill(%q: tensor<4x256x!ck.q8_k> {ck.input = "q"}) -> (tensor<4x64xf32> {ck.output = "y"})
    attributes {ck.entry} {
  %w = ck.param @w : tensor<64x256x!ck.q4_k>
  // INIT: %[[SAME:.*]] = ck.param @w.packed :
  // INIT-NEXT: ck.linear %{{.*}}, %[[SAME]]
  %y = ck.linear %q, %w : (tensor<4x256x!ck.q8_k>, tensor<64x256x!ck.q4_k>) -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

// INIT-LABEL: func.func @init
// INIT-COUNT-2: ck.pack %
// INIT-NOT: ck.pack %
