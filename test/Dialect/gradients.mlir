// RUN: %ck_opt %s --verify-roundtrip | FileCheck %s
// RUN: %ck_opt %s --mlir-print-op-generic | %ck_opt | FileCheck %s

// CHECK-LABEL: func.func @linear_grad
func.func @linear_grad(%dy: tensor<4x32xf32>, %x: tensor<4x64xf32>, %w: tensor<32x64xf32>, %dx0: tensor<4x64xf32>,
                       %dw0: tensor<32x64xf32>, %db0: tensor<32xf32>) {
  // CHECK: ck.linear_grad %{{.*}}, %{{.*}}, %{{[a-z0-9]+}} {wrt = ["weight"]}
  %dw = ck.linear_grad %dy, %x, %w {wrt = ["weight"]}
      : (tensor<4x32xf32>, tensor<4x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  // CHECK: ck.linear_grad %{{.*}}, %{{.*}}, %{{.*}} into %{{[a-z0-9]+}} {accumulate = "params", wrt = ["input", "weight"]}
  %dx1, %dw1 = ck.linear_grad %dy, %x, %w into %dw0 {wrt = ["input", "weight"], accumulate = "params"}
      : (tensor<4x32xf32>, tensor<4x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>)
      -> (tensor<4x64xf32>, tensor<32x64xf32>)
  // CHECK: ck.linear_grad %{{.*}}, %{{.*}}, %{{.*}} into %{{[a-z0-9]+}} {accumulate = "input", wrt = ["input", "bias"]}
  %dx2, %db2 = ck.linear_grad %dy, %x, %w into %dx0 {wrt = ["input", "bias"], accumulate = "input"}
      : (tensor<4x32xf32>, tensor<4x64xf32>, tensor<32x64xf32>, tensor<4x64xf32>)
      -> (tensor<4x64xf32>, tensor<32xf32>)
  // CHECK: into %{{.*}}, %{{.*}}, %{{.*}} {accumulate = "all", wrt = ["input", "weight", "bias"]}
  %dx3, %dw3, %db3 = ck.linear_grad %dy, %x, %w into %dx0, %dw0, %db0
      {wrt = ["input", "weight", "bias"], accumulate = "all"}
      : (tensor<4x32xf32>, tensor<4x64xf32>, tensor<32x64xf32>, tensor<4x64xf32>, tensor<32x64xf32>, tensor<32xf32>)
      -> (tensor<4x64xf32>, tensor<32x64xf32>, tensor<32xf32>)
  return
}

// CHECK-LABEL: func.func @qkv_linear_grad
func.func @qkv_linear_grad(%dq: tensor<4x64xf32>, %dk: tensor<4x32xf32>, %dqh: tensor<8x4x8xf32>,
                           %dkh: tensor<4x4x8xf32>, %x: tensor<4x64xf32>, %wq: tensor<64x64xf32>,
                           %wk: tensor<32x64xf32>) {
  // CHECK: ck.qkv_linear_grad {{.*}} {wrt = ["input", "wq", "wk", "wv"]}
  %dx, %dwq, %dwk, %dwv = ck.qkv_linear_grad %dq, %dk, %dk, %x, %wq, %wk, %wk {wrt = ["input", "wq", "wk", "wv"]}
      : (tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x64xf32>, tensor<64x64xf32>,
         tensor<32x64xf32>, tensor<32x64xf32>)
      -> (tensor<4x64xf32>, tensor<64x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>)
  // CHECK: ck.qkv_linear_grad {{.*}} {heads = 8 : i64, kv_heads = 4 : i64, layout = "head_major", wrt = ["bq", "bv"]}
  // CHECK-SAME: -> (tensor<64xf32>, tensor<32xf32>)
  %dbq, %dbv = ck.qkv_linear_grad %dqh, %dkh, %dkh, %x, %wq, %wk, %wk
      {layout = "head_major", heads = 8 : i64, kv_heads = 4 : i64, wrt = ["bq", "bv"]}
      : (tensor<8x4x8xf32>, tensor<4x4x8xf32>, tensor<4x4x8xf32>, tensor<4x64xf32>, tensor<64x64xf32>,
         tensor<32x64xf32>, tensor<32x64xf32>) -> (tensor<64xf32>, tensor<32xf32>)
  return
}

// CHECK-LABEL: func.func @out_linear_grad
func.func @out_linear_grad(%dy: tensor<4x64xf32>, %x: tensor<8x4x16xf32>, %w: tensor<8x64x16xf32>) {
  // CHECK: ck.out_linear_grad {{.*}} -> (tensor<8x4x16xf32>, tensor<8x64x16xf32>, tensor<64xf32>)
  %dx, %dw, %db = ck.out_linear_grad %dy, %x, %w {wrt = ["input", "weight", "bias"]}
      : (tensor<4x64xf32>, tensor<8x4x16xf32>, tensor<8x64x16xf32>)
      -> (tensor<8x4x16xf32>, tensor<8x64x16xf32>, tensor<64xf32>)
  return
}

// CHECK-LABEL: func.func @head_linear_grad
func.func @head_linear_grad(%dl: tensor<4x512xf32>, %x: tensor<4x64xf32>, %w: tensor<512x64xf32>,
                            %wt: tensor<64x512xf32>) {
  // CHECK: ck.head_linear_grad {{.*}} -> (tensor<4x64xf32>, tensor<512x64xf32>)
  %dx, %dw = ck.head_linear_grad %dl, %x, %w {wrt = ["input", "weight"]}
      : (tensor<4x512xf32>, tensor<4x64xf32>, tensor<512x64xf32>) -> (tensor<4x64xf32>, tensor<512x64xf32>)
  // CHECK: ck.head_linear_grad {{.*}} into {{.*}}w_layout = "embed_major"
  %dw1 = ck.head_linear_grad %dl, %x, %wt into %wt {w_layout = "embed_major", wrt = ["weight"], accumulate = "params"}
      : (tensor<4x512xf32>, tensor<4x64xf32>, tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
  return
}

// CHECK-LABEL: func.func @embedding_grad
func.func @embedding_grad(%ids: tensor<?xi32>, %dy: tensor<?x64xf32>, %dt0: tensor<512x64xf32>) {
  // CHECK: ck.embedding_grad %{{.*}}, %{{[a-z0-9]+}} {rows = 512 : i64} : (tensor<?xi32>, tensor<?x64xf32>) -> tensor<512x64xf32>
  %dt = ck.embedding_grad %ids, %dy {rows = 512 : i64} : (tensor<?xi32>, tensor<?x64xf32>) -> tensor<512x64xf32>
  // CHECK: ck.embedding_grad %{{.*}}, %{{.*}} into %{{[a-z0-9]+}} {accumulate = "params", rows = 512 : i64}
  %dt1 = ck.embedding_grad %ids, %dy into %dt0 {rows = 512 : i64, accumulate = "params"}
      : (tensor<?xi32>, tensor<?x64xf32>, tensor<512x64xf32>) -> tensor<512x64xf32>
  return
}

// CHECK-LABEL: func.func @rms_norm_grad
func.func @rms_norm_grad(%dy: tensor<4x64xf32>, %x: tensor<4x64xf32>, %g: tensor<64xf32>, %r: tensor<4xf32>) {
  // CHECK: ck.rms_norm_grad %{{.*}}, %{{.*}} gamma %{{.*}} rstd %{{[a-z0-9]+}} {wrt = ["input", "gamma"]}
  %dx, %dg = ck.rms_norm_grad %dy, %x gamma %g rstd %r {wrt = ["input", "gamma"]}
      : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<64xf32>, tensor<4xf32>) -> (tensor<4x64xf32>, tensor<64xf32>)
  // CHECK: ck.rms_norm_grad %{{.*}}, %{{.*}} rstd %{{.*}} into %{{[a-z0-9#]+}} {accumulate = "input", gain = "none", wrt = ["input"]}
  %dx1 = ck.rms_norm_grad %dy, %x rstd %r into %dx {gain = "none", wrt = ["input"], accumulate = "input"}
      : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<4xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  return
}

// CHECK-LABEL: func.func @layer_norm_grad
func.func @layer_norm_grad(%dy: tensor<4x64xf32>, %x: tensor<4x64xf32>, %g: tensor<64xf32>, %m: tensor<4xf32>) {
  // CHECK: ck.layer_norm_grad %{{.*}}, %{{.*}}, %{{.*}} stats %{{.*}}, %{{[a-z0-9]+}} {wrt = ["input", "gamma", "beta"]}
  %dx, %dg, %db = ck.layer_norm_grad %dy, %x, %g stats %m, %m {wrt = ["input", "gamma", "beta"]}
      : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<64xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<4x64xf32>, tensor<64xf32>, tensor<64xf32>)
  return
}

// CHECK-LABEL: func.func @qk_norm_grad
func.func @qk_norm_grad(%q: tensor<4x64xf32>, %k: tensor<4x32xf32>, %g: tensor<8xf32>) {
  // CHECK: ck.qk_norm_grad {{.*}} gains %{{.*}}, %{{[a-z0-9]+}} {eps = 9.99{{.*}}, head_dim = 8 : i64, wrt = ["q", "k", "q_gamma", "k_gamma"]}
  %dq, %dk, %dgq, %dgk = ck.qk_norm_grad %q, %k, %q, %k gains %g, %g
      {eps = 1.0e-6 : f64, head_dim = 8 : i64, wrt = ["q", "k", "q_gamma", "k_gamma"]}
      : (tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x64xf32>, tensor<4x32xf32>, tensor<8xf32>, tensor<8xf32>)
      -> (tensor<4x64xf32>, tensor<4x32xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// CHECK-LABEL: func.func @attention_grad
func.func @attention_grad(%q: tensor<6x64xf32>, %k: tensor<6x32xf32>, %lse: tensor<8x6xf32>, %sinks: tensor<8xf32>,
                          %seqs: tensor<?xi32>) {
  // CHECK: ck.attention_grad {{.*}} {heads = 8 : i64, kv_heads = 4 : i64, layout = "token_major", wrt = ["q", "k", "v"]}
  %dq, %dk, %dv = ck.attention_grad %q, %q, %k, %k, %q, %lse
      {heads = 8 : i64, kv_heads = 4 : i64, layout = "token_major", wrt = ["q", "k", "v"]}
      : (tensor<6x64xf32>, tensor<6x64xf32>, tensor<6x32xf32>, tensor<6x32xf32>, tensor<6x64xf32>, tensor<8x6xf32>)
      -> (tensor<6x64xf32>, tensor<6x32xf32>, tensor<6x32xf32>)
  // CHECK: ck.attention_grad {{.*}} sinks %{{.*}} seqs %{{.*}} {heads = 8 : i64, kv_heads = 4 : i64, layout = "token_major", mask = "sliding", softcap = 5.000000e+01 : f64, window = 3 : i64, wrt = ["v", "sinks"]}
  %dv1, %ds1 = ck.attention_grad %q, %q, %k, %k, %q, %lse sinks %sinks seqs %seqs
      {heads = 8 : i64, kv_heads = 4 : i64, layout = "token_major", mask = "sliding", window = 3 : i64,
       softcap = 50.0 : f64, wrt = ["v", "sinks"]}
      : (tensor<6x64xf32>, tensor<6x64xf32>, tensor<6x32xf32>, tensor<6x32xf32>, tensor<6x64xf32>, tensor<8x6xf32>,
         tensor<8xf32>, tensor<?xi32>) -> (tensor<6x32xf32>, tensor<8xf32>)
  return
}

// CHECK-LABEL: func.func @attention_probs_grad
func.func @attention_probs_grad(%q: tensor<8x6x16xf32>, %k: tensor<4x6x16xf32>, %p: tensor<8x6x6xf32>) {
  // CHECK: ck.attention_probs_grad {{.*}} -> (tensor<8x6x16xf32>, tensor<4x6x16xf32>, tensor<4x6x16xf32>, tensor<8x6x6xf32>)
  %dq, %dk, %dv, %ds = ck.attention_probs_grad %q, %q, %k, %k, %p
      {heads = 8 : i64, kv_heads = 4 : i64, layout = "head_major", wrt = ["q", "k", "v"]}
      : (tensor<8x6x16xf32>, tensor<8x6x16xf32>, tensor<4x6x16xf32>, tensor<4x6x16xf32>, tensor<8x6x6xf32>)
      -> (tensor<8x6x16xf32>, tensor<4x6x16xf32>, tensor<4x6x16xf32>, tensor<8x6x6xf32>)
  return
}

// CHECK-LABEL: func.func @glu_grad
func.func @glu_grad(%dy: tensor<4x172xf32>, %g: tensor<4x172xf32>, %gu: tensor<4x344xf32>) {
  // CHECK: ck.glu_grad %{{.*}}, %{{.*}}, %{{[a-z0-9]+}} {act = "silu"}
  %dg, %du = ck.glu_grad %dy, %g, %g {act = "silu"}
      : (tensor<4x172xf32>, tensor<4x172xf32>, tensor<4x172xf32>) -> (tensor<4x172xf32>, tensor<4x172xf32>)
  // CHECK: ck.glu_grad %{{.*}}, %{{[a-z0-9]+}} {act = "gelu_tanh"} : (tensor<4x172xf32>, tensor<4x344xf32>) -> tensor<4x344xf32>
  %dgu = ck.glu_grad %dy, %gu {act = "gelu_tanh"} : (tensor<4x172xf32>, tensor<4x344xf32>) -> tensor<4x344xf32>
  return
}

// CHECK-LABEL: func.func @activation_grad
func.func @activation_grad(%dy: tensor<4x64xf32>, %x: tensor<4x64xf32>) {
  // CHECK: ck.activation_grad %{{.*}}, %{{.*}} {kind = "gelu_tanh"}
  %dx = ck.activation_grad %dy, %x {kind = "gelu_tanh"} : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  return
}

// CHECK-LABEL: func.func @last_row_grad
func.func @last_row_grad(%dy: tensor<1x64xf32>, %x: tensor<?x64xf32>, %d1: tensor<1xf32>, %v: tensor<4xf32>) {
  // CHECK: ck.last_row_grad %{{.*}}, %{{.*}} : (tensor<1x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  %dx = ck.last_row_grad %dy, %x : (tensor<1x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  // CHECK: ck.last_row_grad %{{.*}}, %{{.*}} : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  %dv = ck.last_row_grad %d1, %v : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @stored
func.func @stored(%dy: tensor<4x64xf32>, %x: tensor<4x64xbf16>, %g: tensor<64xbf16>, %g32: tensor<64xf32>, %r: tensor<4xf32>,
                  %codes: tensor<4x32xui8>, %dh: tensor<4x32xf32>, %o: tensor<8x6x16xbf16>, %k: tensor<4x6x16xbf16>,
                  %p: tensor<8x6x6xf32>) {
  // CHECK: ck.rms_norm_grad {{.*}} : (tensor<4x64xf32>, tensor<4x64xbf16>, tensor<64xbf16>, tensor<4xf32>) -> (tensor<4x64xf32>, tensor<64xf32>)
  %dx0, %dg0 = ck.rms_norm_grad %dy, %x gamma %g rstd %r {wrt = ["input", "gamma"]}
      : (tensor<4x64xf32>, tensor<4x64xbf16>, tensor<64xbf16>, tensor<4xf32>) -> (tensor<4x64xf32>, tensor<64xf32>)
  // CHECK: ck.rms_norm_grad {{.*}} scales %{{[a-z0-9]+}} {codes = "int4", wrt = ["gamma"]}
  %dg1 = ck.rms_norm_grad %dy, %codes gamma %g32 rstd %r scales %r {codes = "int4", wrt = ["gamma"]}
      : (tensor<4x64xf32>, tensor<4x32xui8>, tensor<64xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<64xf32>
  // CHECK: ck.glu_grad {{.*}} : (tensor<4x32xf32>, tensor<4x64xbf16>) -> tensor<4x64xf32>
  %dg = ck.glu_grad %dh, %x {act = "silu"} : (tensor<4x32xf32>, tensor<4x64xbf16>) -> tensor<4x64xf32>
  // CHECK: ck.activation_grad {{.*}} : (tensor<4x64xf32>, tensor<4x64xbf16>) -> tensor<4x64xf32>
  %da = ck.activation_grad %dy, %x {kind = "silu"} : (tensor<4x64xf32>, tensor<4x64xbf16>) -> tensor<4x64xf32>
  // CHECK: ck.attention_probs_grad {{.*}} -> (tensor<8x6x16xbf16>, tensor<4x6x16xbf16>, tensor<4x6x16xbf16>, tensor<8x6x6xf32>)
  %dq, %dk, %dv, %ds = ck.attention_probs_grad %o, %o, %k, %k, %p
      {heads = 8 : i64, kv_heads = 4 : i64, layout = "head_major", wrt = ["q", "k", "v"]}
      : (tensor<8x6x16xbf16>, tensor<8x6x16xbf16>, tensor<4x6x16xbf16>, tensor<4x6x16xbf16>, tensor<8x6x6xf32>)
      -> (tensor<8x6x16xbf16>, tensor<4x6x16xbf16>, tensor<4x6x16xbf16>, tensor<8x6x6xf32>)
  return
}
