// Graphs to differentiate, one for each op and each of its forms; see AutodiffTest.cpp. Floats are drawn, integers are in
// `test.values`; `test.probs` asks for stored probabilities.

func.func @embedding(%ids: tensor<4xi32> {ck.input = "ids", test.values = array<i64: 2, 0, 2, 3>},
    %table: tensor<5x3xf32> {ck.input = "table", ck.wrt})
    -> (tensor<4x3xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.embedding %ids, %table : (tensor<4xi32>, tensor<5x3xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

func.func @linear(%x: tensor<2x3x5xf32> {ck.input = "x", ck.wrt},
    %w: tensor<4x5xf32> {ck.input = "w", ck.wrt},
    %b: tensor<4xf32> {ck.input = "b", ck.wrt})
    -> (tensor<2x3x4xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.linear %x, %w bias %b : (tensor<2x3x5xf32>, tensor<4x5xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

// -----

func.func @qkv_linear(%x: tensor<3x5xf32> {ck.input = "x", ck.wrt},
    %wq: tensor<4x5xf32> {ck.input = "wq", ck.wrt},
    %wk: tensor<2x5xf32> {ck.input = "wk", ck.wrt},
    %wv: tensor<2x5xf32> {ck.input = "wv", ck.wrt},
    %bq: tensor<4xf32> {ck.input = "bq", ck.wrt},
    %bk: tensor<2xf32> {ck.input = "bk", ck.wrt},
    %bv: tensor<2xf32> {ck.input = "bv", ck.wrt})
    -> (tensor<3x4xf32> {ck.output = "q"}, tensor<3x2xf32> {ck.output = "k"}, tensor<3x2xf32> {ck.output = "v"}) attributes {ck.entry} {
  %q, %k, %v = ck.qkv_linear %x, %wq, %wk, %wv bq %bq bk %bk bv %bv
      : (tensor<3x5xf32>, tensor<4x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<4xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<3x4xf32>, tensor<3x2xf32>, tensor<3x2xf32>)
  return %q, %k, %v : tensor<3x4xf32>, tensor<3x2xf32>, tensor<3x2xf32>
}

// -----

func.func @qkv_linear_heads_without_k(%x: tensor<3x5xf32> {ck.input = "x", ck.wrt},
    %wq: tensor<4x5xf32> {ck.input = "wq", ck.wrt},
    %wk: tensor<2x5xf32> {ck.input = "wk", ck.wrt},
    %wv: tensor<2x5xf32> {ck.input = "wv", ck.wrt})
    -> (tensor<2x3x2xf32> {ck.output = "q"}, tensor<1x3x2xf32> {ck.output = "v"}) attributes {ck.entry} {
  %q, %k, %v = ck.qkv_linear %x, %wq, %wk, %wv {layout = "head_major", heads = 2 : i64, kv_heads = 1 : i64}
      : (tensor<3x5xf32>, tensor<4x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>) -> (tensor<2x3x2xf32>, tensor<1x3x2xf32>, tensor<1x3x2xf32>)
  return %q, %v : tensor<2x3x2xf32>, tensor<1x3x2xf32>
}

// -----

func.func @out_linear(%x: tensor<2x3x4xf32> {ck.input = "x", ck.wrt},
    %w: tensor<2x5x4xf32> {ck.input = "w", ck.wrt},
    %b: tensor<5xf32> {ck.input = "b", ck.wrt})
    -> (tensor<3x5xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.out_linear %x, %w bias %b : (tensor<2x3x4xf32>, tensor<2x5x4xf32>, tensor<5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func @head_linear(%x: tensor<3x4xf32> {ck.input = "x", ck.wrt},
    %w: tensor<6x4xf32> {ck.input = "w", ck.wrt})
    -> (tensor<3x6xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.head_linear %x, %w {softcap = 2.0 : f64} : (tensor<3x4xf32>, tensor<6x4xf32>) -> tensor<3x6xf32>
  return %y : tensor<3x6xf32>
}

// -----

func.func @head_linear_embed_major(%x: tensor<3x4xf32> {ck.input = "x", ck.wrt},
    %w: tensor<4x6xf32> {ck.input = "w", ck.wrt})
    -> (tensor<3x6xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.head_linear %x, %w {w_layout = "embed_major"} : (tensor<3x4xf32>, tensor<4x6xf32>) -> tensor<3x6xf32>
  return %y : tensor<3x6xf32>
}

// -----

func.func @rms_norm_none(%x: tensor<2x2x4xf32> {ck.input = "x", ck.wrt})
    -> (tensor<2x2x4xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.rms_norm %x {eps = 1.0e-3 : f64, gain = "none"} : (tensor<2x2x4xf32>) -> tensor<2x2x4xf32>
  return %y : tensor<2x2x4xf32>
}

// -----

func.func @rms_norm_weight(%x: tensor<2x2x4xf32> {ck.input = "x", ck.wrt},
    %g: tensor<4xf32> {ck.input = "g", ck.wrt})
    -> (tensor<2x2x4xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.rms_norm %x, %g {eps = 1.0e-3 : f64, gain = "weight"} : (tensor<2x2x4xf32>, tensor<4xf32>) -> tensor<2x2x4xf32>
  return %y : tensor<2x2x4xf32>
}

// -----

func.func @rms_norm_one_plus_weight(%x: tensor<2x2x4xf32> {ck.input = "x", ck.wrt},
    %g: tensor<4xf32> {ck.input = "g", ck.wrt})
    -> (tensor<2x2x4xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.rms_norm %x, %g {eps = 1.0e-3 : f64, gain = "one_plus_weight"} : (tensor<2x2x4xf32>, tensor<4xf32>) -> tensor<2x2x4xf32>
  return %y : tensor<2x2x4xf32>
}

// -----

func.func @layer_norm(%x: tensor<3x4xf32> {ck.input = "x", ck.wrt},
    %g: tensor<4xf32> {ck.input = "g", ck.wrt},
    %b: tensor<4xf32> {ck.input = "b", ck.wrt})
    -> (tensor<3x4xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.layer_norm %x, %g, %b {eps = 1.0e-3 : f64} : (tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @qk_norm_token_major(%q: tensor<3x8xf32> {ck.input = "q", ck.wrt},
    %k: tensor<3x4xf32> {ck.input = "k", ck.wrt},
    %gq: tensor<4xf32> {ck.input = "gq", ck.wrt},
    %gk: tensor<4xf32> {ck.input = "gk", ck.wrt})
    -> (tensor<3x8xf32> {ck.output = "a"}, tensor<3x4xf32> {ck.output = "b"}) attributes {ck.entry} {
  %a, %b = ck.qk_norm %q, %k gains %gq, %gk {eps = 1.0e-3 : f64, head_dim = 4 : i64, layout = "token_major", gain = "one_plus_weight"}
      : (tensor<3x8xf32>, tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<3x8xf32>, tensor<3x4xf32>)
  return %a, %b : tensor<3x8xf32>, tensor<3x4xf32>
}

// -----

func.func @qk_norm_head_major(%q: tensor<2x3x4xf32> {ck.input = "q", ck.wrt},
    %k: tensor<1x3x4xf32> {ck.input = "k", ck.wrt},
    %gq: tensor<4xf32> {ck.input = "gq", ck.wrt},
    %gk: tensor<4xf32> {ck.input = "gk", ck.wrt})
    -> (tensor<2x3x4xf32> {ck.output = "a"}, tensor<1x3x4xf32> {ck.output = "b"}) attributes {ck.entry} {
  %a, %b = ck.qk_norm %q, %k gains %gq, %gk {eps = 1.0e-3 : f64, head_dim = 4 : i64, layout = "head_major", gain = "one_plus_weight"}
      : (tensor<2x3x4xf32>, tensor<1x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x3x4xf32>, tensor<1x3x4xf32>)
  return %a, %b : tensor<2x3x4xf32>, tensor<1x3x4xf32>
}

// -----

func.func @rope_half_token_major(%q: tensor<3x8xf32> {ck.input = "q", ck.wrt},
    %k: tensor<3x4xf32> {ck.input = "k", ck.wrt},
    %pos: tensor<3xi32> {ck.input = "pos", test.values = array<i64: 4, 0, 2>})
    -> (tensor<3x8xf32> {ck.output = "a"}, tensor<3x4xf32> {ck.output = "b"}) attributes {ck.entry} {
  %cos, %sin = ck.rope_table {rows = 5, rotary_dim = 2, theta = 10.0 : f64} : () -> (tensor<5x1xf32>, tensor<5x1xf32>)
  %a, %b = ck.rope %q, %k pos %pos tables %cos, %sin {head_dim = 4 : i64, pairing = "half", layout = "token_major"}
      : (tensor<3x8xf32>, tensor<3x4xf32>, tensor<3xi32>, tensor<5x1xf32>, tensor<5x1xf32>) -> (tensor<3x8xf32>, tensor<3x4xf32>)
  return %a, %b : tensor<3x8xf32>, tensor<3x4xf32>
}

// -----

func.func @rope_half_head_major(%q: tensor<2x3x4xf32> {ck.input = "q", ck.wrt},
    %k: tensor<1x3x4xf32> {ck.input = "k", ck.wrt},
    %pos: tensor<3xi32> {ck.input = "pos", test.values = array<i64: 4, 0, 2>})
    -> (tensor<2x3x4xf32> {ck.output = "a"}, tensor<1x3x4xf32> {ck.output = "b"}) attributes {ck.entry} {
  %cos, %sin = ck.rope_table {rows = 5, rotary_dim = 2, theta = 10.0 : f64} : () -> (tensor<5x1xf32>, tensor<5x1xf32>)
  %a, %b = ck.rope %q, %k pos %pos tables %cos, %sin {head_dim = 4 : i64, pairing = "half", layout = "head_major"}
      : (tensor<2x3x4xf32>, tensor<1x3x4xf32>, tensor<3xi32>, tensor<5x1xf32>, tensor<5x1xf32>) -> (tensor<2x3x4xf32>, tensor<1x3x4xf32>)
  return %a, %b : tensor<2x3x4xf32>, tensor<1x3x4xf32>
}

// -----

func.func @rope_adjacent_token_major(%q: tensor<3x8xf32> {ck.input = "q", ck.wrt},
    %k: tensor<3x4xf32> {ck.input = "k", ck.wrt},
    %pos: tensor<3xi32> {ck.input = "pos", test.values = array<i64: 4, 0, 2>})
    -> (tensor<3x8xf32> {ck.output = "a"}, tensor<3x4xf32> {ck.output = "b"}) attributes {ck.entry} {
  %cos, %sin = ck.rope_table {rows = 5, rotary_dim = 2, theta = 10.0 : f64} : () -> (tensor<5x1xf32>, tensor<5x1xf32>)
  %a, %b = ck.rope %q, %k pos %pos tables %cos, %sin {head_dim = 4 : i64, pairing = "adjacent", layout = "token_major"}
      : (tensor<3x8xf32>, tensor<3x4xf32>, tensor<3xi32>, tensor<5x1xf32>, tensor<5x1xf32>) -> (tensor<3x8xf32>, tensor<3x4xf32>)
  return %a, %b : tensor<3x8xf32>, tensor<3x4xf32>
}

// -----

func.func @rope_adjacent_head_major(%q: tensor<2x3x4xf32> {ck.input = "q", ck.wrt},
    %k: tensor<1x3x4xf32> {ck.input = "k", ck.wrt},
    %pos: tensor<3xi32> {ck.input = "pos", test.values = array<i64: 4, 0, 2>})
    -> (tensor<2x3x4xf32> {ck.output = "a"}, tensor<1x3x4xf32> {ck.output = "b"}) attributes {ck.entry} {
  %cos, %sin = ck.rope_table {rows = 5, rotary_dim = 2, theta = 10.0 : f64} : () -> (tensor<5x1xf32>, tensor<5x1xf32>)
  %a, %b = ck.rope %q, %k pos %pos tables %cos, %sin {head_dim = 4 : i64, pairing = "adjacent", layout = "head_major"}
      : (tensor<2x3x4xf32>, tensor<1x3x4xf32>, tensor<3xi32>, tensor<5x1xf32>, tensor<5x1xf32>) -> (tensor<2x3x4xf32>, tensor<1x3x4xf32>)
  return %a, %b : tensor<2x3x4xf32>, tensor<1x3x4xf32>
}

// -----

func.func @rope_of_keys_alone(%q: tensor<3x8xf32> {ck.input = "q"},
    %k: tensor<3x4xf32> {ck.input = "k", ck.wrt},
    %pos: tensor<3xi32> {ck.input = "pos", test.values = array<i64: 4, 0, 2>})
    -> (tensor<3x4xf32> {ck.output = "b"}) attributes {ck.entry} {
  %cos, %sin = ck.rope_table {rows = 5, rotary_dim = 4, theta = 10.0 : f64} : () -> (tensor<5x2xf32>, tensor<5x2xf32>)
  %a, %b = ck.rope %q, %k pos %pos tables %cos, %sin {head_dim = 4 : i64, pairing = "half", inverse = true}
      : (tensor<3x8xf32>, tensor<3x4xf32>, tensor<3xi32>, tensor<5x2xf32>, tensor<5x2xf32>) -> (tensor<3x8xf32>, tensor<3x4xf32>)
  return %b : tensor<3x4xf32>
}

// -----

func.func @attention_causal_token_major(%q: tensor<5x8xf32> {ck.input = "q", ck.wrt},
    %k: tensor<5x4xf32> {ck.input = "k", ck.wrt},
    %v: tensor<5x4xf32> {ck.input = "v", ck.wrt})
    -> (tensor<5x8xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.attention %q, %k, %v {heads = 4 : i64, kv_heads = 2 : i64, layout = "token_major"}
      : (tensor<5x8xf32>, tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x8xf32>
  return %y : tensor<5x8xf32>
}

// -----

func.func @attention_full_token_major(%q: tensor<5x8xf32> {ck.input = "q", ck.wrt},
    %k: tensor<5x4xf32> {ck.input = "k", ck.wrt},
    %v: tensor<5x4xf32> {ck.input = "v", ck.wrt})
    -> (tensor<5x8xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.attention %q, %k, %v {heads = 4 : i64, kv_heads = 2 : i64, layout = "token_major", mask = "full", scale = 0.7 : f64}
      : (tensor<5x8xf32>, tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x8xf32>
  return %y : tensor<5x8xf32>
}

// -----

func.func @attention_sliding_capped_sinks_packed_token_major(%q: tensor<5x8xf32> {ck.input = "q", ck.wrt},
    %k: tensor<5x4xf32> {ck.input = "k", ck.wrt},
    %v: tensor<5x4xf32> {ck.input = "v", ck.wrt},
    %s: tensor<4xf32> {ck.input = "s", ck.wrt},
    %seqs: tensor<3xi32> {ck.input = "seqs", test.values = array<i64: 0, 2, 5>})
    -> (tensor<5x8xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.attention %q, %k, %v sinks %s seqs %seqs {heads = 4 : i64, kv_heads = 2 : i64, layout = "token_major", mask = "sliding", window = 2 : i64, softcap = 1.5 : f64}
      : (tensor<5x8xf32>, tensor<5x4xf32>, tensor<5x4xf32>, tensor<4xf32>, tensor<3xi32>) -> tensor<5x8xf32>
  return %y : tensor<5x8xf32>
}

// -----

func.func @attention_probs_token_major(%q: tensor<5x8xf32> {ck.input = "q", ck.wrt},
    %k: tensor<5x4xf32> {ck.input = "k", ck.wrt},
    %v: tensor<5x4xf32> {ck.input = "v", ck.wrt})
    -> (tensor<5x8xf32> {ck.output = "y"}) attributes {ck.entry, test.probs} {
  %y = ck.attention %q, %k, %v {heads = 4 : i64, kv_heads = 2 : i64, layout = "token_major"}
      : (tensor<5x8xf32>, tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x8xf32>
  return %y : tensor<5x8xf32>
}

// -----

func.func @attention_causal_head_major(%q: tensor<4x5x2xf32> {ck.input = "q", ck.wrt},
    %k: tensor<2x5x2xf32> {ck.input = "k", ck.wrt},
    %v: tensor<2x5x2xf32> {ck.input = "v", ck.wrt})
    -> (tensor<4x5x2xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.attention %q, %k, %v {heads = 4 : i64, kv_heads = 2 : i64, layout = "head_major"}
      : (tensor<4x5x2xf32>, tensor<2x5x2xf32>, tensor<2x5x2xf32>) -> tensor<4x5x2xf32>
  return %y : tensor<4x5x2xf32>
}

// -----

func.func @attention_full_head_major(%q: tensor<4x5x2xf32> {ck.input = "q", ck.wrt},
    %k: tensor<2x5x2xf32> {ck.input = "k", ck.wrt},
    %v: tensor<2x5x2xf32> {ck.input = "v", ck.wrt})
    -> (tensor<4x5x2xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.attention %q, %k, %v {heads = 4 : i64, kv_heads = 2 : i64, layout = "head_major", mask = "full", scale = 0.7 : f64}
      : (tensor<4x5x2xf32>, tensor<2x5x2xf32>, tensor<2x5x2xf32>) -> tensor<4x5x2xf32>
  return %y : tensor<4x5x2xf32>
}

// -----

func.func @attention_sliding_capped_sinks_packed_head_major(%q: tensor<4x5x2xf32> {ck.input = "q", ck.wrt},
    %k: tensor<2x5x2xf32> {ck.input = "k", ck.wrt},
    %v: tensor<2x5x2xf32> {ck.input = "v", ck.wrt},
    %s: tensor<4xf32> {ck.input = "s", ck.wrt},
    %seqs: tensor<3xi32> {ck.input = "seqs", test.values = array<i64: 0, 2, 5>})
    -> (tensor<4x5x2xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.attention %q, %k, %v sinks %s seqs %seqs {heads = 4 : i64, kv_heads = 2 : i64, layout = "head_major", mask = "sliding", window = 2 : i64, softcap = 1.5 : f64}
      : (tensor<4x5x2xf32>, tensor<2x5x2xf32>, tensor<2x5x2xf32>, tensor<4xf32>, tensor<3xi32>) -> tensor<4x5x2xf32>
  return %y : tensor<4x5x2xf32>
}

// -----

func.func @attention_probs_head_major(%q: tensor<4x5x2xf32> {ck.input = "q", ck.wrt},
    %k: tensor<2x5x2xf32> {ck.input = "k", ck.wrt},
    %v: tensor<2x5x2xf32> {ck.input = "v", ck.wrt})
    -> (tensor<4x5x2xf32> {ck.output = "y"}) attributes {ck.entry, test.probs} {
  %y = ck.attention %q, %k, %v {heads = 4 : i64, kv_heads = 2 : i64, layout = "head_major"}
      : (tensor<4x5x2xf32>, tensor<2x5x2xf32>, tensor<2x5x2xf32>) -> tensor<4x5x2xf32>
  return %y : tensor<4x5x2xf32>
}

// -----

func.func @attention_probs_sliding_packed(%q: tensor<4x5x2xf32> {ck.input = "q", ck.wrt},
    %k: tensor<2x5x2xf32> {ck.input = "k", ck.wrt},
    %v: tensor<2x5x2xf32> {ck.input = "v", ck.wrt},
    %seqs: tensor<3xi32> {ck.input = "seqs", test.values = array<i64: 0, 1, 5>})
    -> (tensor<4x5x2xf32> {ck.output = "y"}) attributes {ck.entry, test.probs} {
  %y = ck.attention %q, %k, %v seqs %seqs {heads = 4 : i64, kv_heads = 2 : i64, layout = "head_major", mask = "sliding", window = 2 : i64}
      : (tensor<4x5x2xf32>, tensor<2x5x2xf32>, tensor<2x5x2xf32>, tensor<3xi32>) -> tensor<4x5x2xf32>
  return %y : tensor<4x5x2xf32>
}

// -----

func.func @attention_probs_not_with_sinks(%q: tensor<4x5x2xf32> {ck.input = "q", ck.wrt},
    %k: tensor<2x5x2xf32> {ck.input = "k", ck.wrt},
    %v: tensor<2x5x2xf32> {ck.input = "v", ck.wrt},
    %s: tensor<4xf32> {ck.input = "s", ck.wrt})
    -> (tensor<4x5x2xf32> {ck.output = "y"}) attributes {ck.entry, test.probs} {
  %y = ck.attention %q, %k, %v sinks %s {heads = 4 : i64, kv_heads = 2 : i64, layout = "head_major"}
      : (tensor<4x5x2xf32>, tensor<2x5x2xf32>, tensor<2x5x2xf32>, tensor<4xf32>) -> tensor<4x5x2xf32>
  return %y : tensor<4x5x2xf32>
}

// -----

func.func @glu_split_silu(%g: tensor<3x4xf32> {ck.input = "g", ck.wrt},
    %u: tensor<3x4xf32> {ck.input = "u", ck.wrt})
    -> (tensor<3x4xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.glu %g, %u {act = "silu"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @glu_stacked_silu(%g: tensor<3x8xf32> {ck.input = "g", ck.wrt})
    -> (tensor<3x4xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.glu %g {act = "silu"} : (tensor<3x8xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @glu_split_gelu_tanh(%g: tensor<3x4xf32> {ck.input = "g", ck.wrt},
    %u: tensor<3x4xf32> {ck.input = "u", ck.wrt})
    -> (tensor<3x4xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.glu %g, %u {act = "gelu_tanh"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @glu_stacked_gelu_tanh(%g: tensor<3x8xf32> {ck.input = "g", ck.wrt})
    -> (tensor<3x4xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.glu %g {act = "gelu_tanh"} : (tensor<3x8xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @glu_split_gelu_erf(%g: tensor<3x4xf32> {ck.input = "g", ck.wrt},
    %u: tensor<3x4xf32> {ck.input = "u", ck.wrt})
    -> (tensor<3x4xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.glu %g, %u {act = "gelu_erf"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @glu_stacked_gelu_erf(%g: tensor<3x8xf32> {ck.input = "g", ck.wrt})
    -> (tensor<3x4xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.glu %g {act = "gelu_erf"} : (tensor<3x8xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @glu_split_gelu_quick(%g: tensor<3x4xf32> {ck.input = "g", ck.wrt},
    %u: tensor<3x4xf32> {ck.input = "u", ck.wrt})
    -> (tensor<3x4xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.glu %g, %u {act = "gelu_quick"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @glu_stacked_gelu_quick(%g: tensor<3x8xf32> {ck.input = "g", ck.wrt})
    -> (tensor<3x4xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.glu %g {act = "gelu_quick"} : (tensor<3x8xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @glu_split_relu(%g: tensor<3x4xf32> {ck.input = "g", ck.wrt},
    %u: tensor<3x4xf32> {ck.input = "u", ck.wrt})
    -> (tensor<3x4xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.glu %g, %u {act = "relu"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @glu_stacked_relu(%g: tensor<3x8xf32> {ck.input = "g", ck.wrt})
    -> (tensor<3x4xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.glu %g {act = "relu"} : (tensor<3x8xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @glu_split_relu2(%g: tensor<3x4xf32> {ck.input = "g", ck.wrt},
    %u: tensor<3x4xf32> {ck.input = "u", ck.wrt})
    -> (tensor<3x4xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.glu %g, %u {act = "relu2"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @glu_stacked_relu2(%g: tensor<3x8xf32> {ck.input = "g", ck.wrt})
    -> (tensor<3x4xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.glu %g {act = "relu2"} : (tensor<3x8xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @glu_split_sigmoid(%g: tensor<3x4xf32> {ck.input = "g", ck.wrt},
    %u: tensor<3x4xf32> {ck.input = "u", ck.wrt})
    -> (tensor<3x4xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.glu %g, %u {act = "sigmoid"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @glu_stacked_sigmoid(%g: tensor<3x8xf32> {ck.input = "g", ck.wrt})
    -> (tensor<3x4xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.glu %g {act = "sigmoid"} : (tensor<3x8xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @glu_gate_alone(%g: tensor<3x4xf32> {ck.input = "g", ck.wrt},
    %u: tensor<3x4xf32> {ck.input = "u"})
    -> (tensor<3x4xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.glu %g, %u {act = "silu"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @activation_silu(%x: tensor<3x5xf32> {ck.input = "x", ck.wrt})
    -> (tensor<3x5xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.activation %x {kind = "silu"} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func @activation_gelu_tanh(%x: tensor<3x5xf32> {ck.input = "x", ck.wrt})
    -> (tensor<3x5xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.activation %x {kind = "gelu_tanh"} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func @activation_gelu_erf(%x: tensor<3x5xf32> {ck.input = "x", ck.wrt})
    -> (tensor<3x5xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.activation %x {kind = "gelu_erf"} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func @activation_gelu_quick(%x: tensor<3x5xf32> {ck.input = "x", ck.wrt})
    -> (tensor<3x5xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.activation %x {kind = "gelu_quick"} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func @activation_relu(%x: tensor<3x5xf32> {ck.input = "x", ck.wrt})
    -> (tensor<3x5xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.activation %x {kind = "relu"} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func @activation_relu2(%x: tensor<3x5xf32> {ck.input = "x", ck.wrt})
    -> (tensor<3x5xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.activation %x {kind = "relu2"} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func @activation_leaky_relu(%x: tensor<3x5xf32> {ck.input = "x", ck.wrt})
    -> (tensor<3x5xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.activation %x {kind = "leaky_relu", alpha = 0.3 : f64} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func @activation_tanh(%x: tensor<3x5xf32> {ck.input = "x", ck.wrt})
    -> (tensor<3x5xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.activation %x {kind = "tanh"} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func @activation_sigmoid(%x: tensor<3x5xf32> {ck.input = "x", ck.wrt})
    -> (tensor<3x5xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.activation %x {kind = "sigmoid"} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func @activation_exp(%x: tensor<3x5xf32> {ck.input = "x", ck.wrt})
    -> (tensor<3x5xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.activation %x {kind = "exp"} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func @activation_sin(%x: tensor<3x5xf32> {ck.input = "x", ck.wrt})
    -> (tensor<3x5xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.activation %x {kind = "sin"} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func @activation_softcap(%x: tensor<3x5xf32> {ck.input = "x", ck.wrt})
    -> (tensor<3x5xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.activation %x {kind = "softcap", alpha = 0.3 : f64} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

func.func @add(%a: tensor<2x3xf32> {ck.input = "a", ck.wrt},
    %b: tensor<2x3xf32> {ck.input = "b", ck.wrt})
    -> (tensor<2x3xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.add %a, %b {alpha = -0.5 : f64, scale = 3.0 : f64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

func.func @mul(%a: tensor<2x3xf32> {ck.input = "a", ck.wrt},
    %b: tensor<2x3xf32> {ck.input = "b", ck.wrt})
    -> (tensor<2x3xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.mul %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

func.func @square_of_a_sum(%a: tensor<2x3xf32> {ck.input = "a", ck.wrt})
    -> (tensor<2x3xf32> {ck.output = "y"}, tensor<2x3xf32> {ck.output = "s"}) attributes {ck.entry} {
  %s = ck.add %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = ck.mul %s, %s : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y, %s : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

func.func @scale(%x: tensor<2x3xf32> {ck.input = "x", ck.wrt})
    -> (tensor<2x3xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.scale %x {factor = -0.25 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

func.func @copy_and_fill(%x: tensor<2x3xf32> {ck.input = "x", ck.wrt})
    -> (tensor<2x3xf32> {ck.output = "y"}) attributes {ck.entry} {
  %c = ck.copy %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %f = ck.fill %x {value = 2.0 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = ck.mul %c, %f : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

func.func @fan_out(%x: tensor<2x3xf32> {ck.input = "x", ck.wrt})
    -> (tensor<2x3xf32> {ck.output = "y"}, tensor<2x3xf32> {ck.output = "a"}) attributes {ck.entry} {
  %a, %b = ck.fan_out %x : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  %y = ck.mul %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y, %a : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

func.func @transpose(%x: tensor<2x3x4xf32> {ck.input = "x", ck.wrt})
    -> (tensor<4x2x3xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.transpose %x {perm = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  return %y : tensor<4x2x3xf32>
}

// -----

func.func @split(%x: tensor<3x6xf32> {ck.input = "x", ck.wrt})
    -> (tensor<3x1xf32> {ck.output = "a"}, tensor<3x2xf32> {ck.output = "c"}) attributes {ck.entry} {
  %a, %b, %c = ck.split %x {axis = 1 : i64, sizes = array<i64: 1, 3, 2>} : (tensor<3x6xf32>) -> (tensor<3x1xf32>, tensor<3x3xf32>, tensor<3x2xf32>)
  return %a, %c : tensor<3x1xf32>, tensor<3x2xf32>
}

// -----

func.func @concat(%x: tensor<2x3xf32> {ck.input = "x", ck.wrt},
    %y: tensor<1x3xf32> {ck.input = "y", ck.wrt})
    -> (tensor<5x3xf32> {ck.output = "c"}) attributes {ck.entry} {
  %c = ck.concat %x, %y, %x {axis = 0 : i64} : (tensor<2x3xf32>, tensor<1x3xf32>, tensor<2x3xf32>) -> tensor<5x3xf32>
  return %c : tensor<5x3xf32>
}

// -----

func.func @last_row(%x: tensor<3x4xf32> {ck.input = "x", ck.wrt},
    %v: tensor<5xf32> {ck.input = "v", ck.wrt})
    -> (tensor<1x4xf32> {ck.output = "y"}, tensor<1xf32> {ck.output = "z"}) attributes {ck.entry} {
  %y = ck.last_row %x : (tensor<3x4xf32>) -> tensor<1x4xf32>
  %z = ck.last_row %v : (tensor<5xf32>) -> tensor<1xf32>
  return %y, %z : tensor<1x4xf32>, tensor<1xf32>
}

// -----

func.func @cross_entropy(%x: tensor<3x5xf32> {ck.input = "x", ck.wrt},
    %t: tensor<3xi32> {ck.input = "t", test.values = array<i64: 1, -100, 4>})
    -> (tensor<1xf32> {ck.output = "loss", ck.loss}) attributes {ck.entry} {
  %l = ck.cross_entropy %x, %t : (tensor<3x5xf32>, tensor<3xi32>) -> tensor<1xf32>
  return %l : tensor<1xf32>
}

// -----

func.func @cross_entropy_scaled_twice(%x: tensor<3x5xf32> {ck.input = "x", ck.wrt},
    %t: tensor<3xi32> {ck.input = "t", test.values = array<i64: 1, -100, 4>},
    %s: tensor<1xf32> {ck.input = "s"})
    -> (tensor<1xf32> {ck.output = "loss", ck.loss}) attributes {ck.entry} {
  %l = ck.cross_entropy %x, %t scale %s : (tensor<3x5xf32>, tensor<3xi32>, tensor<1xf32>) -> tensor<1xf32>
  %m = ck.mul %l, %l : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  return %m : tensor<1xf32>
}

// -----

func.func @cross_entropy_without_targets(%x: tensor<3x5xf32> {ck.input = "x", ck.wrt},
    %t: tensor<3xi32> {ck.input = "t", test.values = array<i64: -100, -100, -100>})
    -> (tensor<1xf32> {ck.output = "loss", ck.loss}) attributes {ck.entry} {
  %l = ck.cross_entropy %x, %t : (tensor<3x5xf32>, tensor<3xi32>) -> tensor<1xf32>
  return %l : tensor<1xf32>
}

// -----

func.func @fused(%a: tensor<2x3xf32> {ck.input = "a", ck.wrt},
    %b: tensor<2x3xf32> {ck.input = "b", ck.wrt})
    -> (tensor<2x3xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.fused @f (%p = %a : tensor<2x3xf32>, %q = %b : tensor<2x3xf32>) -> tensor<2x3xf32> {
    %s = ck.mul %p, %q : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %r = ck.activation %s {kind = "tanh"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ck.yield %r : tensor<2x3xf32>
  }
  return %y : tensor<2x3xf32>
}

// -----

ck.buffer @emb weight : tensor<6x4xf32> {trainable}
ck.buffer @head weight alias @emb : tensor<6x4xf32>
ck.buffer @frozen weight : tensor<4x4xf32>
ck.buffer @unused weight : tensor<2xf32> {trainable}
ck.buffer @w0 weight : tensor<4x4xf32> {trainable}
ck.buffer @w1 weight : tensor<4x4xf32> {trainable}
ck.buffer @g0 weight : tensor<4xf32> {trainable}
ck.buffer @g1 weight : tensor<4xf32> {trainable}
func.func @two_layers(%ids: tensor<3xi32> {ck.input = "ids", test.values = array<i64: 1, 3, 1>},
    %t: tensor<3xi32> {ck.input = "t", test.values = array<i64: 3, -100, 5>})
    -> (tensor<1xf32> {ck.output = "loss", ck.loss}) attributes {ck.entry} {
  %e = ck.param @emb : tensor<6x4xf32>
  %x0 = ck.embedding %ids, %e : (tensor<3xi32>, tensor<6x4xf32>) -> tensor<3x4xf32>
  %g0 = ck.param @g0 : tensor<4xf32>
  %w0 = ck.param @w0 : tensor<4x4xf32>
  %f0 = ck.param @frozen : tensor<4x4xf32>
  %n0 = ck.rms_norm %x0, %g0 {eps = 1.0e-3 : f64, ck.layer = 0 : i64} : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %o0 = ck.attention %n0, %n0, %n0 {heads = 2 : i64, kv_heads = 2 : i64, layout = "token_major", ck.layer = 0 : i64}
      : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %p0 = ck.linear %o0, %w0 {ck.layer = 0 : i64} : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %r0 = ck.add %x0, %p0 {ck.layer = 0 : i64} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %u0 = ck.linear %r0, %f0 {ck.layer = 0 : i64} : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %h0 = ck.activation %u0 {kind = "silu", ck.layer = 0 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %x1 = ck.add %r0, %h0 {ck.layer = 0 : i64} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %g1 = ck.param @g1 : tensor<4xf32>
  %w1 = ck.param @w1 : tensor<4x4xf32>
  %f1 = ck.param @frozen : tensor<4x4xf32>
  %n1 = ck.rms_norm %x1, %g1 {eps = 1.0e-3 : f64, ck.layer = 1 : i64} : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %o1 = ck.attention %n1, %n1, %n1 {heads = 2 : i64, kv_heads = 2 : i64, layout = "token_major", ck.layer = 1 : i64}
      : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %p1 = ck.linear %o1, %w1 {ck.layer = 1 : i64} : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %r1 = ck.add %x1, %p1 {ck.layer = 1 : i64} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %u1 = ck.linear %r1, %f1 {ck.layer = 1 : i64} : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %h1 = ck.activation %u1 {kind = "silu", ck.layer = 1 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %x2 = ck.add %r1, %h1 {ck.layer = 1 : i64} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %hd = ck.param @head : tensor<6x4xf32>
  %l = ck.head_linear %x2, %hd {softcap = 3.0 : f64} : (tensor<3x4xf32>, tensor<6x4xf32>) -> tensor<3x6xf32>
  %loss = ck.cross_entropy %l, %t : (tensor<3x6xf32>, tensor<3xi32>) -> tensor<1xf32>
  return %loss : tensor<1xf32>
}

// -----

func.func @embedding_at_places(%ids: tensor<4xi32> {ck.input = "ids", test.values = array<i64: 2, 0, 2, 3>},
    %table: tensor<5x3xf32> {ck.input = "table", ck.wrt}, %p: tensor<4x3xf32> {ck.input = "p", ck.wrt})
    -> (tensor<4x3xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.embedding %ids, %table pos_emb %p : (tensor<4xi32>, tensor<5x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

func.func @bias_add(%x: tensor<2x3xf32> {ck.input = "x", ck.wrt}, %b: tensor<3xf32> {ck.input = "b"})
    -> (tensor<2x3xf32> {ck.output = "y"}) attributes {ck.entry} {
  %a = ck.bias_add %x, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %y = ck.mul %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
