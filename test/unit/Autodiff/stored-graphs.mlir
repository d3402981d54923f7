// Graphs as in graphs.mlir of forms that no provider of class f32 computes. Operands stored in bf16 are widened where a
// gradient op takes nothing else; cotangents are f32. References hold doubles whatever the storage.

func.func @rms_norm_scaled(%x: tensor<3x4xf32> {ck.input = "x", ck.wrt}, %g: tensor<4xf32> {ck.input = "g", ck.wrt})
    -> (tensor<3x4xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.rms_norm %x, %g {eps = 1.0e-3 : f64, scale = -0.3 : f64} : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @rms_norm_bf16(%x: tensor<3x4xbf16> {ck.input = "x", ck.wrt}, %g: tensor<4xf32> {ck.input = "g", ck.wrt},
    %h: tensor<4xbf16> {ck.input = "h", ck.wrt})
    -> (tensor<3x4xf32> {ck.output = "y"}, tensor<3x4xf32> {ck.output = "z"}, tensor<3x4xf32> {ck.output = "s"})
    attributes {ck.entry} {
  %y = ck.rms_norm %x, %g {eps = 1.0e-3 : f64} : (tensor<3x4xbf16>, tensor<4xf32>) -> tensor<3x4xbf16>
  %z = ck.rms_norm %x, %h {eps = 1.0e-3 : f64, gain = "one_plus_weight"}
      : (tensor<3x4xbf16>, tensor<4xbf16>) -> tensor<3x4xbf16>
  %s = ck.rms_norm %x, %h {eps = 1.0e-3 : f64, scale = 8.0 : f64} : (tensor<3x4xbf16>, tensor<4xbf16>) -> tensor<3x4xbf16>
  %y32 = ck.convert %y : (tensor<3x4xbf16>) -> tensor<3x4xf32>
  %z32 = ck.convert %z : (tensor<3x4xbf16>) -> tensor<3x4xf32>
  %s32 = ck.convert %s : (tensor<3x4xbf16>) -> tensor<3x4xf32>
  return %y32, %z32, %s32 : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
}

// -----

func.func @rms_norm_codes(%x: tensor<2x4xi8> {ck.input = "x", test.values = array<i64: 3, -7, 0, 100, -128, 5, 6, 127>},
    %n: tensor<2x2xui8> {ck.input = "n", test.values = array<i64: 255, 0, 18, 129>},
    %s: tensor<2xf32> {ck.input = "s"}, %g: tensor<4xf32> {ck.input = "g", ck.wrt})
    -> (tensor<2x4xf32> {ck.output = "y"}, tensor<2x4xf32> {ck.output = "z"}) attributes {ck.entry} {
  %y = ck.rms_norm %x, %g scales %s {eps = 1.0e-3 : f64, codes = "int8"}
      : (tensor<2x4xi8>, tensor<4xf32>, tensor<2xf32>) -> tensor<2x4xf32>
  %z = ck.rms_norm %n, %g scales %s {eps = 1.0e-3 : f64, codes = "int4", scale = 0.5 : f64}
      : (tensor<2x2xui8>, tensor<4xf32>, tensor<2xf32>) -> tensor<2x4xf32>
  return %y, %z : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

func.func @layer_norm_bf16(%x: tensor<3x4xbf16> {ck.input = "x", ck.wrt}, %g: tensor<4xbf16> {ck.input = "g", ck.wrt},
    %b: tensor<4xbf16> {ck.input = "b", ck.wrt}) -> (tensor<3x4xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.layer_norm %x, %g, %b {eps = 1.0e-3 : f64} : (tensor<3x4xbf16>, tensor<4xbf16>, tensor<4xbf16>) -> tensor<3x4xbf16>
  %y32 = ck.convert %y : (tensor<3x4xbf16>) -> tensor<3x4xf32>
  return %y32 : tensor<3x4xf32>
}

// -----

func.func @pointwise_bf16(%x: tensor<3x4xbf16> {ck.input = "x", ck.wrt}, %z: tensor<3x4xbf16> {ck.input = "z", ck.wrt})
    -> (tensor<3x4xf32> {ck.output = "y"}, tensor<3x2xf32> {ck.output = "h"}) attributes {ck.entry} {
  %a = ck.activation %x {kind = "gelu_erf"} : (tensor<3x4xbf16>) -> tensor<3x4xbf16>
  %m = ck.mul %a, %z : (tensor<3x4xbf16>, tensor<3x4xbf16>) -> tensor<3x4xbf16>
  %s = ck.scale %m {factor = 0.7 : f64} : (tensor<3x4xbf16>) -> tensor<3x4xbf16>
  %g = ck.glu %s, %x {act = "silu"} : (tensor<3x4xbf16>, tensor<3x4xbf16>) -> tensor<3x4xbf16>
  %y = ck.add %g, %z {alpha = -0.5 : f64} : (tensor<3x4xbf16>, tensor<3x4xbf16>) -> tensor<3x4xbf16>
  %h = ck.glu %m {act = "gelu_tanh"} : (tensor<3x4xbf16>) -> tensor<3x2xbf16>
  %y32 = ck.convert %y : (tensor<3x4xbf16>) -> tensor<3x4xf32>
  %h32 = ck.convert %h : (tensor<3x2xbf16>) -> tensor<3x2xf32>
  return %y32, %h32 : tensor<3x4xf32>, tensor<3x2xf32>
}

// -----

func.func @attention_bf16(%q: tensor<4x3x2xbf16> {ck.input = "q", ck.wrt}, %k: tensor<2x3x2xbf16> {ck.input = "k", ck.wrt},
    %v: tensor<2x3x2xbf16> {ck.input = "v", ck.wrt}) -> (tensor<4x3x2xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.attention %q, %k, %v {heads = 4, kv_heads = 2, layout = "head_major"}
      : (tensor<4x3x2xbf16>, tensor<2x3x2xbf16>, tensor<2x3x2xbf16>) -> tensor<4x3x2xbf16>
  %y32 = ck.convert %y : (tensor<4x3x2xbf16>) -> tensor<4x3x2xf32>
  return %y32 : tensor<4x3x2xf32>
}

// -----

func.func @attention_probs_bf16(%q: tensor<4x3x2xbf16> {ck.input = "q", ck.wrt},
    %k: tensor<2x3x2xbf16> {ck.input = "k", ck.wrt}, %v: tensor<2x3x2xbf16> {ck.input = "v", ck.wrt})
    -> (tensor<4x3x2xf32> {ck.output = "y"}) attributes {ck.entry, test.probs} {
  %y = ck.attention %q, %k, %v {heads = 4, kv_heads = 2, layout = "head_major"}
      : (tensor<4x3x2xbf16>, tensor<2x3x2xbf16>, tensor<2x3x2xbf16>) -> tensor<4x3x2xbf16>
  %y32 = ck.convert %y : (tensor<4x3x2xbf16>) -> tensor<4x3x2xf32>
  return %y32 : tensor<4x3x2xf32>
}
