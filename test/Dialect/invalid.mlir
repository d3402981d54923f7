// RUN: %ck_opt %s --split-input-file --verify-diagnostics

// What ops of GRAPH refuse, beyond the constraints that ODS states: one error at the op, with the operand, the dim and both values.

func.func @f(%x: tensor<4x64xf32>, %w: tensor<8x32xf32>) {
  // expected-error @+1 {{weight: dim K is 32, but input has K = 64}}
  %y = ck.linear %x, %w : (tensor<4x64xf32>, tensor<8x32xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>, %w: tensor<8x64xf32>, %b: tensor<9xf32>) {
  // expected-error @+1 {{bias: dim N is 9, but weight has N = 8}}
  %y = ck.linear %x, %w bias %b : (tensor<4x64xf32>, tensor<8x64xf32>, tensor<9xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>, %w: tensor<8x64xf32>) {
  // expected-error @+1 {{output: dim N is 9, but weight has N = 8}}
  %y = ck.linear %x, %w : (tensor<4x64xf32>, tensor<8x64xf32>) -> tensor<4x9xf32>
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>, %w: tensor<8x64xf32>) {
  // expected-error @+1 {{output: leading dims ...T are [5], but input has [4]}}
  %y = ck.linear %x, %w : (tensor<4x64xf32>, tensor<8x64xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x64xbf16>, %w: tensor<8x64xf32>) {
  // expected-error @+1 {{output: dtype must be bf16, but is f32}}
  %y = ck.linear %x, %w : (tensor<4x64xbf16>, tensor<8x64xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x64xcomplex<f32>>) {
  // expected-error @+1 {{input: dtype must be f32, but is complex<f32>}}
  %y = ck.argmax %x : (tensor<4x64xcomplex<f32>>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @+1 {{input: expected at least 1 dim [...T,V], but has 0: []}}
  %y = ck.argmax %x : (tensor<f32>) -> tensor<i32>
  return
}

// -----

func.func @f(%i: tensor<4x1xi32>, %t: tensor<16x8xf32>) {
  // expected-error @+1 {{ids: expected 1 dim [T], but has 2: [4,1]}}
  %y = ck.embedding %i, %t : (tensor<4x1xi32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4611686018427387904x4xf32>) {
  // expected-error @+1 {{input: the product of leading dims [4611686018427387904,4] overflows 64 bits}}
  %y = ck.copy %x : (tensor<4611686018427387904x4xf32>) -> tensor<4611686018427387904x4xf32>
  return
}

// -----

func.func @f(%x: tensor<*xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of any type values, but got 'tensor<*xf32>'}}
  %y = "ck.copy"(%x) : (tensor<*xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{'ck.add' op expected 2 operands, but found 1}}
  %y = "ck.add"(%x) : (tensor<4x64xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{'ck.rms_norm' op requires attribute 'eps'}}
  %y = "ck.rms_norm"(%x) <{gain = "none", operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<4x64xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>, %w: tensor<64x64xf32>, %w0: tensor<0x64xf32>) {
  // expected-error @+1 {{needs heads and kv_heads with layout = "head_major"}}
  %q, %k, %v = ck.qkv_linear %x, %w, %w0, %w0 {layout = "head_major", heads = 8 : i64}
      : (tensor<4x64xf32>, tensor<64x64xf32>, tensor<0x64xf32>, tensor<0x64xf32>) -> (tensor<8x4x8xf32>, tensor<0x4x8xf32>, tensor<0x4x8xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>, %w: tensor<64x64xf32>) {
  // expected-error @+1 {{takes heads and kv_heads only with layout = "head_major"}}
  %q, %k, %v = ck.qkv_linear %x, %w, %w, %w {heads = 8 : i64}
      : (tensor<4x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>, %w: tensor<64x64xf32>) {
  // expected-error @+1 {{layout' failed to satisfy constraint: one of token_major, head_major}}
  %q, %k, %v = ck.qkv_linear %x, %w, %w, %w {layout = "row_major"}
      : (tensor<4x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>, %w: tensor<64x64xf32>) {
  // expected-error @+1 {{operand count (4) does not match with the total size (3) specified in attribute 'operandSegmentSizes'}}
  %q, %k, %v = "ck.qkv_linear"(%x, %w, %w, %w) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>}>
      : (tensor<4x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>, %w: tensor<16x64xf32>) {
  // expected-error @+1 {{softcap must be finite and at least 0.000000e+00, got -1.000000e+00}}
  %y = ck.head_linear %x, %w {softcap = -1.0 : f64} : (tensor<4x64xf32>, tensor<16x64xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>, %g: tensor<64xf32>) {
  // expected-error @+1 {{gain = "none" takes no gamma}}
  %y = ck.rms_norm %x, %g {eps = 0.5 : f64, gain = "none"} : (tensor<4x64xf32>, tensor<64xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{gain = "weight" needs gamma}}
  %y = ck.rms_norm %x {eps = 0.5 : f64} : (tensor<4x64xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{eps must be finite and at least 0.000000e+00, got nan}}
  %y = ck.rms_norm %x {eps = 0x7FF8000000000000 : f64, gain = "none"} : (tensor<4x64xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{needs 2 results by its signature 'input[...T,E]:$X, gamma[E]:$G?, input_scale[...T]:f32? -> output[...T,E]:$X, rstd[...T]:f32', got 1}}
  %y = ck.rms_norm %x {eps = 0.5 : f64, gain = "none", save_rstd} : (tensor<4x64xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{rotary_dim must be even, got 7}}
  %c, %s = ck.rope_table {rows = 16, rotary_dim = 7, theta = 1.0e4 : f64} : () -> (tensor<16x3xf32>, tensor<16x3xf32>)
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{theta must be finite and positive, got 0.000000e+00}}
  %c, %s = ck.rope_table {rows = 16, rotary_dim = 8, theta = 0.0 : f64} : () -> (tensor<16x4xf32>, tensor<16x4xf32>)
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{factor must be finite and positive, got -2.000000e+00}}
  %c, %s = ck.rope_table {rows = 16, rotary_dim = 8, theta = 1.0e4 : f64, scaling = "linear", factor = -2.0 : f64} : () -> (tensor<16x4xf32>, tensor<16x4xf32>)
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{llama3 scaling needs 0 < low_freq_factor < high_freq_factor, got 4.000000e+00 and 1.000000e+00}}
  %c, %s = ck.rope_table {rows = 16, rotary_dim = 8, theta = 1.0e4 : f64, scaling = "llama3", low_freq_factor = 4.0 : f64, high_freq_factor = 1.0 : f64} : () -> (tensor<16x4xf32>, tensor<16x4xf32>)
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{llama3 scaling needs a positive original_context, got 0}}
  %c, %s = ck.rope_table {rows = 16, rotary_dim = 8, theta = 1.0e4 : f64, scaling = "llama3"} : () -> (tensor<16x4xf32>, tensor<16x4xf32>)
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{cos: dim $rotary_dim/2 is 4, but $rotary_dim/2 = 8 with $rotary_dim = 16}}
  %c, %s = ck.rope_table {rows = 16, rotary_dim = 16, theta = 1.0e4 : f64} : () -> (tensor<16x4xf32>, tensor<16x4xf32>)
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'rows' failed to satisfy constraint}}
  %c, %s = ck.rope_table {rows = 0, rotary_dim = 8, theta = 1.0e4 : f64} : () -> (tensor<16x4xf32>, tensor<16x4xf32>)
  return
}

// -----

func.func @f(%q: tensor<4x64xf32>, %p: tensor<4xi32>, %t: tensor<16x4xf32>) {
  // expected-error @+1 {{tables hold 4 pairs, more than half of head_dim = 4}}
  %y = ck.rope %q pos %p tables %t, %t {head_dim = 4, pairing = "half"}
      : (tensor<4x64xf32>, tensor<4xi32>, tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%q: tensor<4x64xf32>, %p: tensor<4xi32>, %t: tensor<16x4xf32>) {
  // expected-error @+1 {{q: dim H*$head_dim is 64, which no H gives with $head_dim = 10}}
  %y = ck.rope %q pos %p tables %t, %t {head_dim = 10, pairing = "half"}
      : (tensor<4x64xf32>, tensor<4xi32>, tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%q: tensor<4x64xf32>, %c: tensor<3x128x8xf32>, %p: tensor<4xi32>) {
  // expected-error @+1 {{heads = 8 is not a multiple of kv_heads = 3}}
  %y = ck.attention %q, %c, %c pos %p {heads = 8, kv_heads = 3, layout = "cache"}
      : (tensor<4x64xf32>, tensor<3x128x8xf32>, tensor<3x128x8xf32>, tensor<4xi32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%q: tensor<4x64xf32>, %c: tensor<4x128x8xf32>) {
  // expected-error @+1 {{needs pos with layout = "cache"}}
  %y = ck.attention %q, %c, %c {heads = 8, kv_heads = 4, layout = "cache"}
      : (tensor<4x64xf32>, tensor<4x128x8xf32>, tensor<4x128x8xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%q: tensor<4x64xf32>, %p: tensor<4xi32>) {
  // expected-error @+1 {{takes pos only with layout = "cache": with "token_major" the row index is the position}}
  %y = ck.attention %q, %q, %q pos %p {heads = 8, kv_heads = 8, layout = "token_major"}
      : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>, tensor<4xi32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%q: tensor<4x64xf32>, %c: tensor<4x128x8xf32>, %p: tensor<4xi32>) {
  // expected-error @+1 {{takes no seqs with layout = "cache"}}
  %y = ck.attention %q, %c, %c pos %p seqs %p {heads = 8, kv_heads = 4, layout = "cache"}
      : (tensor<4x64xf32>, tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<4xi32>, tensor<4xi32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%q: tensor<4x64xf32>, %c: tensor<4x128x8xf32>, %p: tensor<4xi32>) {
  // expected-error @+1 {{takes window only with mask = "sliding"}}
  %y = ck.attention %q, %c, %c pos %p {heads = 8, kv_heads = 4, layout = "cache", window = 4 : i64}
      : (tensor<4x64xf32>, tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<4xi32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%q: tensor<4x64xf32>, %c: tensor<4x128x8xf32>, %p: tensor<4xi32>) {
  // expected-error @+1 {{needs a window with mask = "sliding"}}
  %y = ck.attention %q, %c, %c pos %p {heads = 8, kv_heads = 4, layout = "cache", mask = "sliding"}
      : (tensor<4x64xf32>, tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<4xi32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%q: tensor<4x64xf32>, %c: tensor<4x128x8xf32>, %p: tensor<4xi32>) {
  // expected-error @+1 {{scale must be finite and at least 0.000000e+00, got INF}}
  %y = ck.attention %q, %c, %c pos %p {heads = 8, kv_heads = 4, layout = "cache", scale = 0x7FF0000000000000 : f64}
      : (tensor<4x64xf32>, tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<4xi32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%q: tensor<4x64xf32>, %c: tensor<4x128x8xf32>, %p: tensor<4xi32>) {
  // expected-error @+1 {{softcap must be finite and at least 0.000000e+00, got -3.000000e+01}}
  %y = ck.attention %q, %c, %c pos %p {heads = 8, kv_heads = 4, layout = "cache", softcap = -30.0 : f64}
      : (tensor<4x64xf32>, tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<4xi32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%q: tensor<4x64xf32>, %c: tensor<7x128x8xf32>, %p: tensor<4xi32>) {
  // expected-error @+1 {{q: dim $heads*D is 64, but $heads*D = 56 with $heads = 7, D = 8}}
  %y = ck.attention %q, %c, %c pos %p {heads = 7, kv_heads = 7, layout = "cache"}
      : (tensor<4x64xf32>, tensor<7x128x8xf32>, tensor<7x128x8xf32>, tensor<4xi32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%q: tensor<4x64xf32>, %c: tensor<4x128x8xf32>, %v: tensor<4x128x8xbf16>, %p: tensor<4xi32>) {
  // expected-error @+1 {{v: dtype $C is bf16, but k has $C = f32}}
  %y = ck.attention %q, %c, %v pos %p {heads = 8, kv_heads = 4, layout = "cache"}
      : (tensor<4x64xf32>, tensor<4x128x8xf32>, tensor<4x128x8xbf16>, tensor<4xi32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%c: tensor<4x128x8xf32>, %k: tensor<2x30xf32>, %p: tensor<2xi32>) {
  // expected-error @+1 {{k: dim KV*D is 30, but KV*D = 32 with KV = 4 (k_cache), D = 8 (k_cache)}}
  %a, %b = ck.cache_update %c, %c, %k, %k pos %p
      : (tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<2x30xf32>, tensor<2x30xf32>, tensor<2xi32>)
      -> (tensor<4x128x8xf32>, tensor<4x128x8xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x63xf32>) {
  // expected-error @+1 {{gate: dim 2*F is 63, but 2*F = 62 with F = 31 (output)}}
  %y = ck.glu %x {act = "silu"} : (tensor<4x63xf32>) -> tensor<4x31xf32>
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{'act' failed to satisfy constraint: one of silu, gelu_tanh, gelu_erf, gelu_quick, relu, relu2, sigmoid}}
  %y = ck.glu %x {act = "tanh"} : (tensor<4x64xf32>) -> tensor<4x32xf32>
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{softcap needs a positive alpha, got 0.000000e+00}}
  %y = ck.activation %x {kind = "softcap"} : (tensor<4x64xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{relu takes no alpha}}
  %y = ck.activation %x {kind = "relu", alpha = 1.0 : f64} : (tensor<4x64xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{alpha must be finite and at least 0.000000e+00, got -1.000000e+00}}
  %y = ck.activation %x {kind = "leaky_relu", alpha = -1.0 : f64} : (tensor<4x64xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%a: tensor<4x64xf32>, %b: tensor<4x32xf32>) {
  // expected-error @+1 {{b: leading dims ...N are [4,32], but a has [4,64]}}
  %y = ck.add %a, %b : (tensor<4x64xf32>, tensor<4x32xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{perm is not a permutation of 2 dims}}
  %y = ck.transpose %x {perm = array<i64: 0, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{input: expected 3 dims [D0,D1,D2], but has 2: [4,4]}}
  %y = ck.transpose %x {perm = array<i64: 0, 1, 2>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{'perm' failed to satisfy constraint}}
  %y = ck.transpose %x {perm = array<i64: 0, -1>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{input: dim 1 must be 12, but is 64}}
  %a, %b = ck.split %x {axis = 1 : i64, sizes = array<i64: 4, 8>} : (tensor<4x64xf32>) -> (tensor<4x4xf32>, tensor<4x8xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{axis = 2 is outside a tensor of rank 2}}
  %a = ck.split %x {axis = 2 : i64, sizes = array<i64: 64>} : (tensor<4x64xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{got 1}}
  %a = ck.split %x {axis = 1 : i64, sizes = array<i64: 32, 32>} : (tensor<4x64xf32>) -> tensor<4x32xf32>
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{'sizes' failed to satisfy constraint: i64 dense array attribute whose value is non-negative whose value is not empty}}
  "ck.split"(%x) <{axis = 1 : i64, sizes = array<i64>}> : (tensor<4x64xf32>) -> ()
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{'sizes' failed to satisfy constraint}}
  %a, %b = ck.split %x {axis = 1 : i64, sizes = array<i64: -1, 65>} : (tensor<4x64xf32>) -> (tensor<4x4xf32>, tensor<4x8xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{input: dim 1 must be 9223372036854775807, but is 64}}
  %a, %b = ck.split %x {axis = 1 : i64, sizes = array<i64: 9223372036854775807, 1>}
      : (tensor<4x64xf32>) -> (tensor<4x9223372036854775807xf32>, tensor<4x1xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{axis = 2 is outside a tensor of rank 2}}
  %a = ck.concat %x, %x {axis = 2 : i64} : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{output: dim C0+C1 is 64, but C0+C1 = 128 with C0 = 64 (input0), C1 = 64 (input1)}}
  %a = ck.concat %x, %x {axis = 1 : i64} : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{needs at least one input}}
  %a = "ck.concat"() <{axis = 0 : i64}> : () -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error @+1 {{input: expected 2 dims [T,E], but has 3: [2,3,4]}}
  %y = ck.last_row %x : (tensor<2x3x4xf32>) -> tensor<1x3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{output: dtype $X is i32, but input has $X = f32}}
  %y = ck.copy %x : (tensor<4x64xf32>) -> tensor<4x64xi32>
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>, %s: tensor<4xf32>) {
  // expected-error @+1 {{'ck.rms_norm' op takes scales only with codes = "int8" or "int4"}}
  %y = ck.rms_norm %x scales %s {eps = 0.5 : f64, gain = "none"} : (tensor<4x64xf32>, tensor<4xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%x: tensor<4x64xi8>) {
  // expected-error @+1 {{'ck.rms_norm' op input_scale}}
  %y = ck.rms_norm %x {eps = 0.5 : f64, gain = "none", codes = "int8"} : (tensor<4x64xi8>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%x: tensor<4x32xui8>, %g: tensor<63xf32>, %s: tensor<4xf32>) {
  // expected-error @+1 {{'ck.rms_norm' op gamma: dim}}
  %y = ck.rms_norm %x, %g scales %s {eps = 0.5 : f64, codes = "int4"}
      : (tensor<4x32xui8>, tensor<63xf32>, tensor<4xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%dy: tensor<4x64xf32>, %x: tensor<4x64xi32>, %r: tensor<4xf32>) {
  // expected-error @+1 {{'ck.rms_norm_grad' op input must be f32 or bf16 with codes = "none", got 'i32'}}
  %y = ck.rms_norm_grad %dy, %x rstd %r {gain = "none", wrt = ["input"]}
      : (tensor<4x64xf32>, tensor<4x64xi32>, tensor<4xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{'ck.rms_norm' op scale must be finite, got}}
  %y = ck.rms_norm %x {eps = 0.5 : f64, gain = "none", scale = 0x7FF0000000000000 : f64} : (tensor<4x64xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>, %b: tensor<64xf32>) {
  // expected-error @+1 {{'ck.layer_norm' op takes beta only behind a gamma}}
  %y = "ck.layer_norm"(%x, %b) <{eps = 0.5 : f64, operandSegmentSizes = array<i32: 1, 0, 1>}>
      : (tensor<4x64xf32>, tensor<64xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%a: tensor<4x64xf32>, %b: tensor<4x64xbf16>) {
  // expected-error @+1 {{'ck.add' op b: dtype $X is bf16, but a has $X = f32}}
  %y = ck.add %a, %b : (tensor<4x64xf32>, tensor<4x64xbf16>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%a: tensor<4x64xi32>) {
  // expected-error @+1 {{'ck.activation' op operand #0 must be ranked tensor of 32-bit float or bfloat16 type values, but got 'tensor<4x64xi32>'}}
  %y = ck.activation %a {kind = "relu"} : (tensor<4x64xi32>) -> tensor<4x64xi32>
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'ck.bias_add' op bias: dim N is 4, but input has N = 64}}
  %y = ck.bias_add %x, %b : (tensor<4x64xf32>, tensor<4xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%dst: tensor<16x512xf32>, %src: tensor<2x512xf32>, %pos: tensor<1xi32>) {
  // expected-error @+1 {{'ck.update_rows' op pos: dim T is 1, but src has T = 2}}
  %y = ck.update_rows %dst, %src at %pos : (tensor<16x512xf32>, tensor<2x512xf32>, tensor<1xi32>) -> tensor<16x512xf32>
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>, %w: tensor<32x64xi32>) {
  // expected-error @+1 {{'ck.clipped_linear' op}}
  %y = ck.clipped_linear %x, %w : (tensor<4x64xf32>, tensor<32x64xi32>) -> tensor<4x32xf32>
  return
}
