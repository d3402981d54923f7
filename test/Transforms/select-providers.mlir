// RUN: %ck_opt --pass-pipeline='builtin.module(ck-select-providers{maps=%S/Inputs/maps})' --split-input-file %s \
// RUN:   | FileCheck %s

// One row takes the kernel of one row, more rows the general one; run-time extents come from the arguments, once. The
// providers are embedded behind the buffers, sorted, with scratch and digest.

// CHECK: ck.buffer @w
// CHECK-NEXT: ck.buffer @g
// CHECK-NEXT: ck.provider @linear_one_row {digest = "sha256:{{[0-9a-f]+}}", inventory_op = "linear", numerics = "f32",
// CHECK-SAME: signature = "input[1,K]:f32, weight[N,K]:f32, bias[N]:f32? -> output[1,N]:f32"
// CHECK-NEXT: ck.provider @linear_rows
// CHECK-SAME: scratch = ["packed[N*K]:f32"]
// CHECK-NEXT: ck.provider @norm_weight
// CHECK-SAME: inplace = ["x=y"]
// CHECK-SAME: params = ["eps:f64", "save:bool"]
// CHECK-NOT: ck.provider
ck.buffer @w weight : tensor<32x64xf32>
ck.buffer @g weight : tensor<64xf32>

// CHECK-LABEL: func.func @prefill(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x64xf32>
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<32xf32>
// CHECK: %[[T:.*]] = tensor.dim %[[X]], %{{.*}} : tensor<?x64xf32>
// CHECK: %[[E0:.*]] = tensor.empty(%[[T]]) : tensor<?x64xf32>
// CHECK: %[[E1:.*]] = tensor.empty(%[[T]]) : tensor<?xf32>
// CHECK: %[[N:.*]]:2 = ck.call @norm_weight ins(x = %[[X]] : tensor<?x64xf32>, g = %[[G:.*]] : tensor<64xf32>)
// CHECK-SAME: outs(y = %[[E0]] : tensor<?x64xf32>, r = %[[E1]] : tensor<?xf32>) sizes(T = %[[T]], E = 64)
// CHECK-SAME: params({eps = 1.250000e-01 : f64, save = true}) -> (tensor<?x64xf32>, tensor<?xf32>)
// CHECK-NOT: tensor.dim
// CHECK: %[[E2:.*]] = tensor.empty(%[[T]]) : tensor<?x32xf32>
// CHECK: %[[Z:.*]] = ck.call @linear_rows ins(input = %[[N]]#0 : tensor<?x64xf32>, weight = %[[W:.*]] : tensor<32x64xf32>, bias = %[[B]] : tensor<32xf32>)
// CHECK-SAME: outs(output = %[[E2]] : tensor<?x32xf32>) sizes(T = %[[T]], K = 64, N = 32) -> tensor<?x32xf32>
// CHECK: return %[[Z]], %[[N]]#1
func.func @prefill(%x: tensor<?x64xf32> {ck.input = "x", ck.dims = ["T"]}, %b: tensor<32xf32> {ck.input = "b"})
    -> (tensor<?x32xf32> {ck.output = "z"}, tensor<?xf32> {ck.output = "r"})
    attributes {ck.entry, ck.bounds = {T = 16 : i64}} {
  %w = ck.param @w : tensor<32x64xf32>
  %g = ck.param @g : tensor<64xf32>
  %n, %r = ck.rms_norm %x, %g {eps = 0.125 : f64, save_rstd}
      : (tensor<?x64xf32>, tensor<64xf32>) -> (tensor<?x64xf32>, tensor<?xf32>)
  %z = ck.linear %n, %w bias %b : (tensor<?x64xf32>, tensor<32x64xf32>, tensor<32xf32>) -> tensor<?x32xf32>
  return %z, %r : tensor<?x32xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @decode(
// An absent operand is not listed, and neither is the result that nobody asked for.
// CHECK: %[[N:.*]] = ck.call @norm_weight {{.*}} outs(y = %{{.*}} : tensor<1x64xf32>) sizes(T = 1, E = 64)
// CHECK-SAME: params({eps = 1.250000e-01 : f64, save = false})
// CHECK: ck.call @linear_one_row ins(input = %[[N]] : tensor<1x64xf32>, weight = %{{.*}} : tensor<32x64xf32>) outs(
// CHECK-SAME: sizes(K = 64, N = 32) -> tensor<1x32xf32>
func.func @decode(%x: tensor<1x64xf32> {ck.input = "x"}) -> (tensor<1x32xf32> {ck.output = "y"}) attributes {ck.entry} {
  %w = ck.param @w : tensor<32x64xf32>
  %g = ck.param @g : tensor<64xf32>
  %n = ck.rms_norm %x, %g {eps = 0.125 : f64} : (tensor<1x64xf32>, tensor<64xf32>) -> tensor<1x64xf32>
  %y = ck.linear %n, %w : (tensor<1x64xf32>, tensor<32x64xf32>) -> tensor<1x32xf32>
  return %y : tensor<1x32xf32>
}

// Functions that are no entries are left alone.
// CHECK-LABEL: func.func private @not_an_entry
// CHECK: ck.linear
func.func private @not_an_entry(%x: tensor<1x64xf32>, %w: tensor<32x64xf32>) -> tensor<1x32xf32> {
  %y = ck.linear %x, %w : (tensor<1x64xf32>, tensor<32x64xf32>) -> tensor<1x32xf32>
  return %y : tensor<1x32xf32>
}

// -----

// Updated operands are destinations; what `where` names of the op's attributes is passed along; several results of a
// named op are named after it.

ck.buffer @k_cache state : tensor<4x128x8xf32>
ck.buffer @v_cache state : tensor<4x128x8xf32>

// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<?x64xf32>
// CHECK-SAME: %[[K:[a-z0-9]+]]: tensor<?x32xf32>
// CHECK-SAME: %[[POS:[a-z0-9]+]]: tensor<?xi32>
// CHECK-SAME: %[[KC:[a-z0-9]+]]: tensor<4x128x8xf32> {ck.state = @k_cache}
// CHECK-SAME: %[[VC:[a-z0-9]+]]: tensor<4x128x8xf32> {ck.state = @v_cache}
// CHECK: %[[C:.*]]:2 = ck.call @cache_store ins(k = %[[K]] : tensor<?x32xf32>, v = %[[K]] : tensor<?x32xf32>, pos = %[[POS]] : tensor<?xi32>)
// CHECK-SAME: outs(k_cache = %[[KC]] : tensor<4x128x8xf32>, v_cache = %[[VC]] : tensor<4x128x8xf32>)
// CHECK-SAME: sizes(KV = 4, S = 128, D = 8, T = %[[T:.*]]) params({ring = false})
// CHECK: ck.call @attend ins(q = %[[Q]] : tensor<?x64xf32>, k = %[[C]]#0 : tensor<4x128x8xf32>, v = %[[C]]#1 : tensor<4x128x8xf32>, pos = %[[POS]] : tensor<?xi32>)
// CHECK-SAME: sizes(T = %[[T2:.*]], H = 8, D = 8, KV = 4, S = 128) params({heads = 8 : i64, kv_heads = 4 : i64, scale = 0.000000e+00 : f64})
func.func @step(%q: tensor<?x64xf32> {ck.input = "q", ck.dims = ["T"]},
                %k: tensor<?x32xf32> {ck.input = "k", ck.dims = ["T"]},
                %pos: tensor<?xi32> {ck.input = "pos", ck.dims = ["T"]},
                %kc: tensor<4x128x8xf32> {ck.state = @k_cache}, %vc: tensor<4x128x8xf32> {ck.state = @v_cache})
    -> (tensor<?x64xf32> {ck.output = "y"}, tensor<4x128x8xf32> {ck.state = @k_cache},
        tensor<4x128x8xf32> {ck.state = @v_cache}) attributes {ck.entry, ck.bounds = {T = 16 : i64}} {
  %kc1, %vc1 = ck.cache_update %kc, %vc, %k, %k pos %pos
      : (tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?xi32>)
      -> (tensor<4x128x8xf32>, tensor<4x128x8xf32>)
  %a = ck.attention %q, %kc1, %vc1 pos %pos {heads = 8, kv_heads = 4, layout = "cache"}
      : (tensor<?x64xf32>, tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<?xi32>) -> tensor<?x64xf32>
  return %a, %kc1, %vc1 : tensor<?x64xf32>, tensor<4x128x8xf32>, tensor<4x128x8xf32>
}

// -----

// A list attribute is matched as text; sizes of a split follow from its results; ops without operands have sizes from
// their attributes.

// CHECK-LABEL: func.func @data
// CHECK: ck.call @swap {{.*}} sizes(A = 4, B = 6) -> tensor<6x4xf32>
// CHECK: ck.call @split_columns {{.*}} outs(output0 = %{{.*}} : tensor<6x1xf32>, output1 = %{{.*}} : tensor<6x3xf32>)
// CHECK-SAME: sizes(T = 6, N = 4, N0 = 1, N1 = 3)
// CHECK: ck.call @table outs(cos = %{{.*}} : tensor<16x4xf32>, sin = %{{.*}} : tensor<16x4xf32>) sizes(S = 16, P = 4)
// CHECK-SAME: params({rotary_dim = 8 : i64, rows = 16 : i64, theta = 1.000000e+04 : f64})
func.func @data(%x: tensor<4x6xf32> {ck.input = "x"})
    -> (tensor<6x1xf32> {ck.output = "a"}, tensor<6x3xf32> {ck.output = "b"}, tensor<16x4xf32> {ck.output = "c"},
        tensor<16x4xf32> {ck.output = "s"}) attributes {ck.entry} {
  %t = ck.transpose %x {perm = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %a, %b = ck.split %t {axis = 1 : i64, sizes = array<i64: 1, 3>} : (tensor<6x4xf32>) -> (tensor<6x1xf32>, tensor<6x3xf32>)
  %c, %s = ck.rope_table {rows = 16, rotary_dim = 8, theta = 1.0e4 : f64} : () -> (tensor<16x4xf32>, tensor<16x4xf32>)
  return %a, %b, %c, %s : tensor<6x1xf32>, tensor<6x3xf32>, tensor<16x4xf32>, tensor<16x4xf32>
}

// -----

// A fused region with a provider is one call; without one its ops are selected in its place.

// CHECK-LABEL: func.func @fused(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x64xf32>
// CHECK: %[[T:.*]] = tensor.dim %[[X]]
// CHECK: %[[E:.*]] = tensor.empty(%[[T]]) : tensor<?x64xf32>
// CHECK: %[[N:.*]] = arith.muli %[[T]], %{{.*}}
// CHECK: %[[A:.*]] = ck.call @residual_double ins(a = %[[X]] : tensor<?x64xf32>, b = %[[X]] : tensor<?x64xf32>) outs(y = %[[E]] : tensor<?x64xf32>) sizes(N = %[[N]])
// CHECK-NOT: ck.fused
// CHECK: %[[S:.*]] = ck.call @linear_rows ins(input = %[[A]]
// CHECK: %[[U:.*]] = ck.call @linear_rows ins(input = %[[S]]
// CHECK-NOT: ck.fused
// CHECK: return %[[U]]
func.func @fused(%x: tensor<?x64xf32> {ck.input = "x", ck.dims = ["T"]}, %w: tensor<64x64xf32> {ck.input = "w"})
    -> (tensor<?x64xf32> {ck.output = "y"}) attributes {ck.entry, ck.bounds = {T = 4 : i64}} {
  %a = ck.fused @residual_double (%p = %x : tensor<?x64xf32>, %q = %x : tensor<?x64xf32>) -> tensor<?x64xf32> {
    %s = ck.add %p, %q {scale = 2.0 : f64} : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
    ck.yield %s : tensor<?x64xf32>
  }
  %b = ck.fused @nobody_has_this (%p = %a : tensor<?x64xf32>, %v = %w : tensor<64x64xf32>) -> tensor<?x64xf32> {
    %s = ck.linear %p, %v : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
    %i = ck.fused @nor_this (%r = %s : tensor<?x64xf32>, %u = %v : tensor<64x64xf32>) -> tensor<?x64xf32> {
      %t = ck.linear %r, %u : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
      ck.yield %t : tensor<?x64xf32>
    }
    ck.yield %i : tensor<?x64xf32>
  }
  return %b : tensor<?x64xf32>
}
