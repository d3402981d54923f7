// RUN: %ck_opt --pass-pipeline='builtin.module(ck-schedule)' --split-input-file %s | FileCheck %s

// The last layer of a decoder whose logits are those of the last row: everything from the head down to the attention is
// computed for one row; the rotation of queries and keys is not, because the cache needs every key.

ck.buffer @wo weight : tensor<64x64xf32>
ck.buffer @g weight : tensor<64xf32>
ck.buffer @head weight : tensor<512x64xf32>
ck.buffer @k_cache state : tensor<4x128x8xf32>
ck.buffer @v_cache state : tensor<4x128x8xf32>

// CHECK-LABEL: func.func @prefill(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x64xf32>
// CHECK-SAME: %[[POS:[a-z0-9]+]]: tensor<?xi32>
func.func @prefill(%x: tensor<?x64xf32> {ck.input = "x", ck.dims = ["T"]},
                   %pos: tensor<?xi32> {ck.input = "pos", ck.dims = ["T"]},
                   %k: tensor<?x32xf32> {ck.input = "k", ck.dims = ["T"]},
                   %cos: tensor<128x4xf32> {ck.input = "cos"}, %sin: tensor<128x4xf32> {ck.input = "sin"},
                   %kc: tensor<4x128x8xf32> {ck.state = @k_cache}, %vc: tensor<4x128x8xf32> {ck.state = @v_cache})
    -> (tensor<1x512xf32> {ck.output = "logits"}, tensor<4x128x8xf32> {ck.state = @k_cache},
        tensor<4x128x8xf32> {ck.state = @v_cache}) attributes {ck.entry, ck.bounds = {T = 16 : i64}} {
  // Weights are read where they are used.
  %wo = ck.param @wo : tensor<64x64xf32>
  %g = ck.param @g : tensor<64xf32>
  %head = ck.param @head : tensor<512x64xf32>
  // CHECK: %[[Q:.*]], %[[K:.*]] = ck.rope %[[X]], %{{.*}} pos %[[POS]] {{.*}} -> (tensor<?x64xf32>, tensor<?x32xf32>)
  %q1, %k1 = ck.rope %x, %k pos %pos tables %cos, %sin {head_dim = 8, pairing = "half"}
      : (tensor<?x64xf32>, tensor<?x32xf32>, tensor<?xi32>, tensor<128x4xf32>, tensor<128x4xf32>)
      -> (tensor<?x64xf32>, tensor<?x32xf32>)
  // CHECK-NEXT: %[[KC:.*]], %[[VC:.*]] = ck.cache_update
  %kc1, %vc1 = ck.cache_update %kc, %vc, %k1, %k pos %pos
      : (tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?xi32>)
      -> (tensor<4x128x8xf32>, tensor<4x128x8xf32>)
  // CHECK-NEXT: %[[Q1:.*]] = ck.last_row %[[Q]] : (tensor<?x64xf32>) -> tensor<1x64xf32>
  // CHECK-NEXT: %[[POS1:.*]] = ck.last_row %[[POS]] : (tensor<?xi32>) -> tensor<1xi32>
  // CHECK-NEXT: %[[A:.*]] = ck.attention %[[Q1]], %[[KC]], %[[VC]] pos %[[POS1]] {{.*}} -> tensor<1x64xf32>
  %a = ck.attention %q1, %kc1, %vc1 pos %pos {heads = 8, kv_heads = 4, layout = "cache"}
      : (tensor<?x64xf32>, tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<?xi32>) -> tensor<?x64xf32>
  // CHECK-NEXT: %[[WO:.*]] = ck.param @wo
  // CHECK-NEXT: %[[O:.*]] = ck.linear %[[A]], %[[WO]] : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
  %o = ck.linear %a, %wo : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  // The residual stream is sliced too: it is needed whole elsewhere, and one row of it is enough here.
  // CHECK-NEXT: %[[X1:.*]] = ck.last_row %[[X]]
  // CHECK-NEXT: %[[R:.*]] = ck.add %[[X1]], %[[O]] : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %r = ck.add %x, %o : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  // CHECK-NEXT: %[[G:.*]] = ck.param @g
  // CHECK-NEXT: %[[N:.*]] = ck.rms_norm %[[R]], %[[G]] {eps = 5.000000e-01 : f64}
  %n = ck.rms_norm %r, %g {eps = 0.5 : f64} : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  // CHECK-NEXT: %[[H:.*]] = ck.param @head
  // CHECK-NEXT: %[[L:.*]] = ck.head_linear %[[N]], %[[H]] : (tensor<1x64xf32>, tensor<512x64xf32>) -> tensor<1x512xf32>
  %l = ck.head_linear %n, %head : (tensor<?x64xf32>, tensor<512x64xf32>) -> tensor<?x512xf32>
  %y = ck.last_row %l : (tensor<?x512xf32>) -> tensor<1x512xf32>
  // CHECK-NEXT: return %[[L]], %[[KC]], %[[VC]]
  return %y, %kc1, %vc1 : tensor<1x512xf32>, tensor<4x128x8xf32>, tensor<4x128x8xf32>
}

// -----

// Rows of attention among the rows of one call look at each other: no passing. One row already: nothing to take.

// CHECK-LABEL: func.func @token_major
// CHECK: %[[A:.*]] = ck.attention {{.*}} -> tensor<4x64xf32>
// CHECK: ck.last_row %[[A]]
func.func @token_major(%q: tensor<4x64xf32> {ck.input = "q"}, %k: tensor<4x32xf32> {ck.input = "k"},
                       %one: tensor<1x64xf32> {ck.input = "one"})
    -> (tensor<1x64xf32> {ck.output = "y"}, tensor<1x64xf32> {ck.output = "z"}) attributes {ck.entry} {
  %a = ck.attention %q, %k, %k {heads = 8, kv_heads = 4, layout = "token_major"}
      : (tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4x64xf32>
  %y = ck.last_row %a : (tensor<4x64xf32>) -> tensor<1x64xf32>
  // CHECK-NOT: ck.last_row
  %z = ck.last_row %one : (tensor<1x64xf32>) -> tensor<1x64xf32>
  return %y, %z : tensor<1x64xf32>, tensor<1x64xf32>
}

// -----

// A value that something else needs whole stays whole. Two last rows of one value are one.

// CHECK-LABEL: func.func @shared
// CHECK: %[[N:.*]] = ck.activation %{{.*}} {kind = "relu"} : (tensor<4x64xf32>)
// CHECK: %[[R:.*]] = ck.last_row %[[N]]
// CHECK: %[[M:.*]] = ck.mul %[[R]], %[[R]] : (tensor<1x64xf32>, tensor<1x64xf32>)
// CHECK: return %[[N]], %[[M]], %[[M]]
func.func @shared(%x: tensor<4x64xf32> {ck.input = "x"})
    -> (tensor<4x64xf32> {ck.output = "n"}, tensor<1x64xf32> {ck.output = "y"}, tensor<1x64xf32> {ck.output = "z"})
    attributes {ck.entry} {
  %n = ck.activation %x {kind = "relu"} : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %m = ck.mul %n, %n : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  %y = ck.last_row %m : (tensor<4x64xf32>) -> tensor<1x64xf32>
  %z = ck.last_row %m : (tensor<4x64xf32>) -> tensor<1x64xf32>
  return %n, %y, %z : tensor<4x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>
}

// -----

// Down to the ids; argmax gives vectors; a transpose moves rows, unless it leaves them first.

// CHECK-LABEL: func.func @ids(
// CHECK-SAME: %[[IDS:[a-z0-9]+]]: tensor<4xi32>
// CHECK-NEXT: %[[I:.*]] = ck.last_row %[[IDS]] : (tensor<4xi32>) -> tensor<1xi32>
// CHECK-NEXT: %[[E:.*]] = ck.embedding %[[I]], %{{.*}} -> tensor<1x64xf32>
// CHECK-NEXT: %[[A:.*]] = ck.argmax %[[E]] : (tensor<1x64xf32>) -> tensor<1xi32>
// CHECK-NEXT: %[[T:.*]] = ck.transpose
// CHECK-NEXT: %[[R:.*]] = ck.last_row %[[T]]
// CHECK-NEXT: return %[[A]], %[[R]]
func.func @ids(%ids: tensor<4xi32> {ck.input = "ids"}, %table: tensor<512x64xf32> {ck.input = "table"})
    -> (tensor<1xi32> {ck.output = "y"}, tensor<1x512xf32> {ck.output = "t"}) attributes {ck.entry} {
  %e = ck.embedding %ids, %table : (tensor<4xi32>, tensor<512x64xf32>) -> tensor<4x64xf32>
  %a = ck.argmax %e : (tensor<4x64xf32>) -> tensor<4xi32>
  %y = ck.last_row %a : (tensor<4xi32>) -> tensor<1xi32>
  %t = ck.transpose %table {perm = array<i64: 1, 0>} : (tensor<512x64xf32>) -> tensor<64x512xf32>
  %r = ck.last_row %t : (tensor<64x512xf32>) -> tensor<1x512xf32>
  return %y, %r : tensor<1xi32>, tensor<1x512xf32>
}

// -----

// Both results of a split are taken by last rows: it passes, along columns only.

// CHECK-LABEL: func.func @split
// CHECK: %[[R:.*]] = ck.last_row %{{.*}} : (tensor<4x64xf32>) -> tensor<1x64xf32>
// CHECK-NEXT: %[[S:.*]]:2 = ck.split %[[R]] {{.*}} -> (tensor<1x16xf32>, tensor<1x48xf32>)
// CHECK-NEXT: %[[A:.*]]:2 = ck.split %{{.*}} {axis = 0 : i64{{.*}} -> (tensor<2x64xf32>, tensor<2x64xf32>)
// CHECK-NEXT: ck.last_row %[[A]]#0
func.func @split(%x: tensor<4x64xf32> {ck.input = "x"})
    -> (tensor<1x16xf32> {ck.output = "a"}, tensor<1x48xf32> {ck.output = "b"}, tensor<1x64xf32> {ck.output = "c"})
    attributes {ck.entry} {
  %a, %b = ck.split %x {axis = 1 : i64, sizes = array<i64: 16, 48>} : (tensor<4x64xf32>) -> (tensor<4x16xf32>, tensor<4x48xf32>)
  %a1 = ck.last_row %a : (tensor<4x16xf32>) -> tensor<1x16xf32>
  %b1 = ck.last_row %b : (tensor<4x48xf32>) -> tensor<1x48xf32>
  %c, %d = ck.split %x {axis = 0 : i64, sizes = array<i64: 2, 2>} : (tensor<4x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>)
  %c1 = ck.last_row %c : (tensor<2x64xf32>) -> tensor<1x64xf32>
  return %a1, %b1, %c1 : tensor<1x16xf32>, tensor<1x48xf32>, tensor<1x64xf32>
}

// -----

// The wide product sinks below the narrow ops between it and its use; the narrow one that reads a wide value does not.

ck.buffer @up weight : tensor<512x64xf32>

// CHECK-LABEL: func.func @sink
// CHECK: %[[A:.*]] = ck.mul
// CHECK-NEXT: %[[B:.*]] = ck.mul %[[A]], %[[A]]
// CHECK-NEXT: %[[W:.*]] = ck.param @up
// CHECK-NEXT: %[[L:.*]] = ck.linear %{{.*}}, %[[W]]
// CHECK-NEXT: %[[N:.*]] = ck.argmax %[[L]]
// CHECK-NEXT: %[[C:.*]] = ck.mul %[[B]], %[[B]]
// CHECK-NEXT: return %[[C]], %[[N]]
func.func @sink(%x: tensor<4x64xf32> {ck.input = "x"})
    -> (tensor<4x64xf32> {ck.output = "y"}, tensor<4xi32> {ck.output = "n"}) attributes {ck.entry} {
  %w = ck.param @up : tensor<512x64xf32>
  %l = ck.linear %x, %w : (tensor<4x64xf32>, tensor<512x64xf32>) -> tensor<4x512xf32>
  %a = ck.mul %x, %x : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  %b = ck.mul %a, %a : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  %n = ck.argmax %l : (tensor<4x512xf32>) -> tensor<4xi32>
  %c = ck.mul %b, %b : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  return %c, %n : tensor<4x64xf32>, tensor<4xi32>
}

// -----

// A reader of the old cache stays above the update of it, however large its result is.

ck.buffer @k_cache state : tensor<4x128x8xf32>
ck.buffer @v_cache state : tensor<4x128x8xf32>

// CHECK-LABEL: func.func @old_state
// CHECK-NEXT: %[[Y:.*]] = ck.copy
// CHECK-NEXT: %[[K:.*]], %[[V:.*]] = ck.cache_update
// CHECK-NEXT: %[[A:.*]] = ck.mul
// CHECK-NEXT: %[[Z:.*]] = ck.add %[[Y]], %[[Y]]
func.func @old_state(%x: tensor<2x32xf32> {ck.input = "x"}, %pos: tensor<2xi32> {ck.input = "pos"},
                     %kc: tensor<4x128x8xf32> {ck.state = @k_cache}, %vc: tensor<4x128x8xf32> {ck.state = @v_cache})
    -> (tensor<2x32xf32> {ck.output = "a"}, tensor<4x128x8xf32> {ck.output = "z"},
        tensor<4x128x8xf32> {ck.state = @k_cache}, tensor<4x128x8xf32> {ck.state = @v_cache}) attributes {ck.entry} {
  %y = ck.copy %kc : (tensor<4x128x8xf32>) -> tensor<4x128x8xf32>
  %k, %v = ck.cache_update %kc, %vc, %x, %x pos %pos
      : (tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<2x32xf32>, tensor<2x32xf32>, tensor<2xi32>)
      -> (tensor<4x128x8xf32>, tensor<4x128x8xf32>)
  %a = ck.mul %x, %x : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
  %z = ck.add %y, %y : (tensor<4x128x8xf32>, tensor<4x128x8xf32>) -> tensor<4x128x8xf32>
  return %a, %z, %k, %v
      : tensor<2x32xf32>, tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<4x128x8xf32>
}
