// RUN: %ck_opt %s --split-input-file --verify-diagnostics

// What changes of storage, and projections of stored types, refuse.

func.func @f(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{output: rows of 64 elements do not fill blocks of 256 (q8_k)}}
  %q = ck.quantize %x : (tensor<4x64xf32>) -> tensor<4x64x!ck.q8_k>
  return
}

// -----

func.func @f(%x: tensor<4x?xf32>) {
  // expected-error @+1 {{output: rows of q8_0 need a static extent, got 'tensor<4x?x!ck.q8_0>'}}
  %q = ck.quantize %x : (tensor<4x?xf32>) -> tensor<4x?x!ck.q8_0>
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{output: must be of a block type, got 'tensor<4x64xf16>'}}
  %q = ck.quantize %x : (tensor<4x64xf32>) -> tensor<4x64xf16>
  return
}

// -----

func.func @f(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{input: dtype must be f32, but is f16}}
  %q = ck.quantize %x : (tensor<4x64xf16>) -> tensor<4x64x!ck.q8_0>
  return
}

// -----

func.func @f(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{output: dim K is 32, but input has K = 64}}
  %q = ck.quantize %x : (tensor<4x64xf32>) -> tensor<4x32x!ck.q8_0>
  return
}

// -----

func.func @f(%w: tensor<4x64xf16>) {
  // expected-error @+1 {{input: must be of a block type, got 'tensor<4x64xf16>'}}
  %x = ck.dequantize %w : (tensor<4x64xf16>) -> tensor<4x64xf32>
  return
}

// -----

func.func @f(%w: tensor<16x64x!ck.packed<q4_0, r16>>) {
  // expected-error @+1 {{input: must be of a block type, got 'tensor<16x64x!ck.packed<q4_0, r16>>'}}
  %x = ck.dequantize %w : (tensor<16x64x!ck.packed<q4_0, r16>>) -> tensor<16x64xf32>
  return
}

// -----

func.func @f(%w: tensor<4x48x!ck.q4_0>) {
  // expected-error @+1 {{input: rows of 48 elements do not fill blocks of 32 (q4_0)}}
  %x = ck.dequantize %w : (tensor<4x48x!ck.q4_0>) -> tensor<4x48xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error @+1 {{input: must be f64, f32, f16 or bf16, got 'tensor<4xi32>'}}
  %y = ck.convert %x : (tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x32xf32>) {
  // expected-error @+1 {{output: must be f64, f32, f16 or bf16, got 'tensor<4x32x!ck.q8_0>'}}
  %y = ck.convert %x : (tensor<4x32xf32>) -> tensor<4x32x!ck.q8_0>
  return
}

// -----

func.func @f(%w: tensor<4x32x!ck.q4_0>) {
  // expected-error @+1 {{output: dtype must be packed<q4_0,r16>, but is packed<q4_0,r8>}}
  %p = ck.pack %w : (tensor<4x32x!ck.q4_0>) -> tensor<4x32x!ck.packed<q4_0, r8>>
  return
}

// -----

func.func @f(%w: tensor<4x32x!ck.packed<q4_0, r16>>) {
  // expected-error @+1 {{input: must be of floats or of a block type, got 'tensor<4x32x!ck.packed<q4_0, r16>>'}}
  %p = ck.pack %w : (tensor<4x32x!ck.packed<q4_0, r16>>) -> tensor<4x32x!ck.packed<q4_0, r16>>
  return
}

// -----

func.func @f(%x: tensor<4x32x!ck.q4_0>, %w: tensor<8x32x!ck.q4_0>) {
  // expected-error @+1 {{input: must be f32, f16, bf16 or a block type of activations (q8_0, q8_1, q8_k), got 'tensor<4x32x!ck.q4_0>'}}
  %y = ck.linear %x, %w : (tensor<4x32x!ck.q4_0>, tensor<8x32x!ck.q4_0>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x32xf32>, %w: tensor<8x32xi8>) {
  // expected-error @+1 {{weight: must be f32, f16, bf16, a block type or packed, got 'tensor<8x32xi8>'}}
  %y = ck.head_linear %x, %w : (tensor<4x32xf32>, tensor<8x32xi8>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x32xf32>, %w: tensor<8x32xf32>, %i: tensor<8x32xi32>) {
  // expected-error @+1 {{wv: must be f32, f16, bf16, a block type or packed, got 'tensor<8x32xi32>'}}
  %q, %k, %v = ck.qkv_linear %x, %w, %w, %i
      : (tensor<4x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xi32>)
      -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x80xf32>, %w: tensor<8x80x!ck.q8_0>) {
  // expected-error @+1 {{weight: rows of 80 elements do not fill blocks of 32 (q8_0)}}
  %y = ck.linear %x, %w : (tensor<4x80xf32>, tensor<8x80x!ck.q8_0>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%dy: tensor<4x8xf32>, %x: tensor<4x32xf32>, %w: tensor<8x32x!ck.q8_0>) {
  // expected-error @+1 {{has no gradient for 'weight': weights stored as q8_0 are frozen}}
  %dw = ck.linear_grad %dy, %x, %w {wrt = ["weight"]}
      : (tensor<4x8xf32>, tensor<4x32xf32>, tensor<8x32x!ck.q8_0>) -> tensor<8x32xf32>
  return
}

// -----

// expected-error @+1 {{is trainable and must have f32 elements, got 'tensor<8x32x!ck.q8_0>'}}
ck.buffer @w weight : tensor<8x32x!ck.q8_0> {trainable}
