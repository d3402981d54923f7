// RUN: %ck_opt %s --split-input-file --verify-diagnostics

// What gradient and training ops refuse beyond their signatures: lists of gradients that are empty, unknown, out of order
// or without the values to add to, and attributes that contradict each other.

func.func @f(%dy: tensor<4x32xf32>, %x: tensor<4x64xf32>, %w: tensor<32x64xf32>) {
  // expected-error @+1 {{has an empty wrt, expected some of input, weight, bias}}
  "ck.linear_grad"(%dy, %x, %w) <{wrt = []}> : (tensor<4x32xf32>, tensor<4x64xf32>, tensor<32x64xf32>) -> ()
  return
}

// -----

func.func @f(%dy: tensor<4x32xf32>, %x: tensor<4x64xf32>, %w: tensor<32x64xf32>) {
  // expected-error @+1 {{has no gradient for 'gamma' in wrt, expected some of input, weight, bias}}
  %d = ck.linear_grad %dy, %x, %w {wrt = ["gamma"]}
      : (tensor<4x32xf32>, tensor<4x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  return
}

// -----

func.func @f(%dy: tensor<4x32xf32>, %x: tensor<4x64xf32>, %w: tensor<32x64xf32>) {
  // expected-error @+1 {{names 'input' twice or out of order in wrt; the order is input, weight, bias}}
  %d:2 = ck.linear_grad %dy, %x, %w {wrt = ["weight", "input"]}
      : (tensor<4x32xf32>, tensor<4x64xf32>, tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<4x64xf32>)
  return
}

// -----

func.func @f(%dy: tensor<4x32xf32>, %x: tensor<4x64xf32>, %w: tensor<32x64xf32>) {
  // expected-error @+1 {{names 'weight' twice or out of order in wrt}}
  %d:2 = ck.linear_grad %dy, %x, %w {wrt = ["weight", "weight"]}
      : (tensor<4x32xf32>, tensor<4x64xf32>, tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>)
  return
}

// -----

func.func @f(%dy: tensor<4x32xf32>, %x: tensor<4x64xf32>, %w: tensor<32x64xf32>) {
  // expected-error @+1 {{attribute 'wrt' failed to satisfy constraint: array of names of differentiated operands}}
  %d = ck.linear_grad %dy, %x, %w {wrt = [1]}
      : (tensor<4x32xf32>, tensor<4x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  return
}

// -----

func.func @f(%dy: tensor<4x32xf32>, %x: tensor<4x64xf32>, %w: tensor<32x64xf32>) {
  // expected-error @+1 {{requires attribute 'wrt'}}
  %d = ck.linear_grad %dy, %x, %w : (tensor<4x32xf32>, tensor<4x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  return
}

// -----

func.func @f(%dy: tensor<4x32xf32>, %x: tensor<4x64xf32>, %w: tensor<32x64xf32>) {
  // expected-error @+1 {{needs 2 results by its signature}}
  %d = ck.linear_grad %dy, %x, %w {wrt = ["input", "weight"]}
      : (tensor<4x32xf32>, tensor<4x64xf32>, tensor<32x64xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%dy: tensor<4x32xf32>, %x: tensor<4x64xf32>, %w: tensor<32x64xf32>) {
  // expected-error @+1 {{d_weight: dim N is 64, but d_output has N = 32}}
  %d = ck.linear_grad %dy, %x, %w {wrt = ["weight"]}
      : (tensor<4x32xf32>, tensor<4x64xf32>, tensor<32x64xf32>) -> tensor<64x32xf32>
  return
}

// -----

func.func @f(%dy: tensor<4x32xf32>, %x: tensor<4x64xf32>, %w: tensor<32x64xf32>) {
  // expected-error @+1 {{adds 1 gradients to earlier values with accumulate = "params", but 'into' gives 0}}
  %d = ck.linear_grad %dy, %x, %w {wrt = ["weight"], accumulate = "params"}
      : (tensor<4x32xf32>, tensor<4x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  return
}

// -----

func.func @f(%dy: tensor<4x32xf32>, %x: tensor<4x64xf32>, %w: tensor<32x64xf32>) {
  // expected-error @+1 {{adds 0 gradients to earlier values with accumulate = "none", but 'into' gives 1}}
  %d = ck.linear_grad %dy, %x, %w into %w {wrt = ["weight"]}
      : (tensor<4x32xf32>, tensor<4x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  return
}

// -----

func.func @f(%dy: tensor<4x32xf32>, %x: tensor<4x64xf32>, %w: tensor<32x64xf32>) {
  // expected-error @+1 {{accumulates params, but gives no such gradient}}
  %d = ck.linear_grad %dy, %x, %w {wrt = ["input"], accumulate = "params"}
      : (tensor<4x32xf32>, tensor<4x64xf32>, tensor<32x64xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%dy: tensor<4x32xf32>, %x: tensor<4x64xf32>, %w: tensor<32x64xf32>) {
  // expected-error @+1 {{d_weight: dim N is 4, but d_output has N = 32}}
  %d = ck.linear_grad %dy, %x, %w into %dy {wrt = ["weight"], accumulate = "params"}
      : (tensor<4x32xf32>, tensor<4x64xf32>, tensor<32x64xf32>, tensor<4x32xf32>) -> tensor<32x64xf32>
  return
}

// -----

func.func @f(%dy: tensor<4x32xf32>, %x: tensor<8x4x16xf32>, %w: tensor<8x32x16xf32>) {
  // expected-error @+1 {{attribute 'accumulate' failed to satisfy constraint: one of none, params}}
  %d = ck.out_linear_grad %dy, %x, %w into %w {wrt = ["weight"], accumulate = "all"}
      : (tensor<4x32xf32>, tensor<8x4x16xf32>, tensor<8x32x16xf32>, tensor<8x32x16xf32>) -> tensor<8x32x16xf32>
  return
}

// -----

func.func @f(%ids: tensor<4xi32>, %dy: tensor<4x64xf32>) {
  // expected-error @+1 {{d_table: dim $rows is 8, but $rows = 16 with $rows = 16}}
  %d = ck.embedding_grad %ids, %dy {rows = 16 : i64} : (tensor<4xi32>, tensor<4x64xf32>) -> tensor<8x64xf32>
  return
}

// -----

func.func @f(%dy: tensor<4x64xf32>, %r: tensor<4xf32>) {
  // expected-error @+1 {{gain = "weight" needs gamma}}
  %d = ck.rms_norm_grad %dy, %dy rstd %r {wrt = ["input"]}
      : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<4xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%dy: tensor<4x64xf32>, %r: tensor<4xf32>) {
  // expected-error @+1 {{has no gamma to differentiate with gain = "none"}}
  %d = ck.rms_norm_grad %dy, %dy rstd %r {gain = "none", wrt = ["gamma"]}
      : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<4xf32>) -> tensor<64xf32>
  return
}

// -----

func.func @f(%q: tensor<6x64xf32>, %k: tensor<6x32xf32>, %lse: tensor<8x6xf32>) {
  // expected-error @+1 {{has no sinks to differentiate}}
  %d = ck.attention_grad %q, %q, %k, %k, %q, %lse
      {heads = 8 : i64, kv_heads = 4 : i64, layout = "token_major", wrt = ["sinks"]}
      : (tensor<6x64xf32>, tensor<6x64xf32>, tensor<6x32xf32>, tensor<6x32xf32>, tensor<6x64xf32>, tensor<8x6xf32>)
      -> tensor<8xf32>
  return
}

// -----

func.func @f(%q: tensor<6x64xf32>, %k: tensor<6x32xf32>, %lse: tensor<8x6xf32>) {
  // expected-error @+1 {{needs a window with mask = "sliding"}}
  %d = ck.attention_grad %q, %q, %k, %k, %q, %lse
      {heads = 8 : i64, kv_heads = 4 : i64, layout = "token_major", mask = "sliding", wrt = ["v"]}
      : (tensor<6x64xf32>, tensor<6x64xf32>, tensor<6x32xf32>, tensor<6x32xf32>, tensor<6x64xf32>, tensor<8x6xf32>)
      -> tensor<6x32xf32>
  return
}

// -----

func.func @f(%q: tensor<4x64xf32>, %k: tensor<4x128x8xf32>, %pos: tensor<4xi32>) {
  // expected-error @+1 {{saves no probabilities with layout = "cache"}}
  %o, %p = ck.attention %q, %k, %k pos %pos {heads = 8, kv_heads = 4, layout = "cache", save = "probs"}
      : (tensor<4x64xf32>, tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<4xi32>)
      -> (tensor<4x64xf32>, tensor<8x4x4xf32>)
  return
}

// -----

func.func @f(%q: tensor<8x6x16xf32>, %k: tensor<3x6x16xf32>, %p: tensor<8x6x6xf32>) {
  // expected-error @+1 {{heads = 8 is not a multiple of kv_heads = 3}}
  %dq, %ds = ck.attention_probs_grad %q, %q, %k, %k, %p
      {heads = 8 : i64, kv_heads = 3 : i64, layout = "head_major", wrt = ["q"]}
      : (tensor<8x6x16xf32>, tensor<8x6x16xf32>, tensor<3x6x16xf32>, tensor<3x6x16xf32>, tensor<8x6x6xf32>)
      -> (tensor<8x6x16xf32>, tensor<8x6x6xf32>)
  return
}

// -----

func.func @f(%q: tensor<8x6x16xf32>, %k: tensor<4x6x16xf32>, %p: tensor<8x6x6xf32>) {
  // expected-error @+1 {{has no gradient for 'scores' in wrt, expected some of q, k, v}}
  %ds = ck.attention_probs_grad %q, %q, %k, %k, %p
      {heads = 8 : i64, kv_heads = 4 : i64, layout = "head_major", wrt = ["scores"]}
      : (tensor<8x6x16xf32>, tensor<8x6x16xf32>, tensor<4x6x16xf32>, tensor<4x6x16xf32>, tensor<8x6x6xf32>)
      -> tensor<8x6x6xf32>
  return
}

// -----

func.func @f(%q: tensor<4x60xf32>, %k: tensor<4x32xf32>, %g: tensor<8xf32>) {
  // expected-error @+1 {{q: dim H*$head_dim is 60, which no H gives with $head_dim = 8}}
  %q1, %k1 = ck.qk_norm %q, %k gains %g, %g {eps = 1.0e-6 : f64, head_dim = 8 : i64}
      : (tensor<4x60xf32>, tensor<4x32xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x60xf32>, tensor<4x32xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>, %g: tensor<64xf32>) {
  // expected-error @+1 {{eps must be finite and at least 0.000000e+00, got -1.000000e+00}}
  %y = ck.layer_norm %x, %g {eps = -1.0 : f64} : (tensor<4x64xf32>, tensor<64xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>, %g: tensor<64xf32>) {
  // expected-error @+1 {{needs 3 results by its signature}}
  %y, %m = ck.layer_norm %x, %g {eps = 0.1 : f64, save_stats}
      : (tensor<4x64xf32>, tensor<64xf32>) -> (tensor<4x64xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{factor must be finite, got INF}}
  %y = ck.scale %x {factor = 0x7FF0000000000000 : f64} : (tensor<4x64xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%l: tensor<4x16xf32>, %t: tensor<4xi64>) {
  // expected-error @+1 {{targets: dtype must be i32, but is i64}}
  %y = ck.cross_entropy %l, %t : (tensor<4x16xf32>, tensor<4xi64>) -> tensor<1xf32>
  return
}

// -----

func.func @f(%w: tensor<8xf32>, %lr: tensor<1xf32>, %n: tensor<1xi32>) {
  // expected-error @+1 {{beta2 must be at least 0 and less than 1, got 1.000000e+00}}
  %w1, %m1, %v1 = ck.adamw %w, %w, %w grad %w lr %lr step %n {beta1 = 0.9 : f64, beta2 = 1.0 : f64, eps = 1.0e-8 : f64}
      : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xi32>)
      -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%w: tensor<8xf32>, %lr: tensor<1xf32>) {
  // expected-error @+1 {{needs velocity with momentum = 5.000000e-01}}
  %w1 = ck.sgd %w grad %w lr %lr {momentum = 0.5 : f64}
      : (tensor<8xf32>, tensor<8xf32>, tensor<1xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%w: tensor<8xf32>, %lr: tensor<1xf32>) {
  // expected-error @+1 {{takes nesterov only with a momentum}}
  %w1 = ck.sgd %w grad %w lr %lr {nesterov = true}
      : (tensor<8xf32>, tensor<8xf32>, tensor<1xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%w: tensor<8xf32>) {
  // expected-error @+1 {{max_norm must be a number, got nan}}
  %w1, %n = ck.grad_clip %w {max_norm = 0x7FF8000000000000 : f64} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<1xf32>)
  return
}

// -----

func.func @f(%a: tensor<8xf32>, %b: tensor<9xf32>) {
  // expected-error @+1 {{src: leading dims ...L are [9], but dst has [8]}}
  %c = ck.accumulate %a, %b : (tensor<8xf32>, tensor<9xf32>) -> tensor<8xf32>
  return
}

// -----

// expected-error @+1 {{of role state cannot be trainable: weights are}}
ck.buffer @s state : tensor<4xf32> {trainable}

// -----

// expected-error @+1 {{is trainable and must have f32 elements, got 'tensor<4xbf16>'}}
ck.buffer @w weight : tensor<4xbf16> {trainable}

// -----

// expected-error @+1 {{'ck.layer' must be a non-negative i64, got -1 : i64}}
module attributes {ck.layer = -1 : i64} {}

// -----

ck.buffer @w weight : tensor<4xf32> {trainable}
// expected-error @+1 {{is an alias; mark its root 'w' as trainable}}
ck.buffer @tied weight alias @w : tensor<4xf32> {trainable}
