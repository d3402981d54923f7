// RUN: %ck_opt --pass-pipeline='builtin.module(ck-autodiff{entry=f})' --split-input-file --verify-diagnostics %s

func.func @f(%x: tensor<4x8xf32> {ck.input = "x", ck.wrt}) -> (tensor<4x8xf32> {ck.output = "y", ck.loss})
    attributes {ck.entry} {
  // expected-error @-2 {{has a result tagged 'ck.loss' of type 'tensor<4x8xf32>', expected a tensor of one f32}}
  return %x : tensor<4x8xf32>
}

// -----

// expected-error @+1 {{there is no entry 'f' to differentiate}}
module {
  func.func @g() attributes {ck.entry} {
    return
  }
}

// -----

func.func @f(%q: tensor<4x64xf32> {ck.input = "q", ck.wrt}, %k: tensor<4x128x8xf32> {ck.state = @k},
             %pos: tensor<4xi32> {ck.input = "pos"})
    -> (tensor<4x64xf32> {ck.output = "y"}, tensor<4x128x8xf32> {ck.state = @k}) attributes {ck.entry} {
  // expected-error @+1 {{cannot be differentiated with layout = "cache": a cache has no cotangent; use layout = "token_major" or "head_major"}}
  %o = ck.attention %q, %k, %k pos %pos {heads = 8, kv_heads = 4, layout = "cache"}
      : (tensor<4x64xf32>, tensor<4x128x8xf32>, tensor<4x128x8xf32>, tensor<4xi32>) -> tensor<4x64xf32>
  return %o, %k : tensor<4x64xf32>, tensor<4x128x8xf32>
}

// -----

func.func @f(%c: tensor<2x16x4xf32> {ck.input = "c"}, %k: tensor<2x8xf32> {ck.input = "k", ck.wrt},
             %pos: tensor<2xi32> {ck.input = "pos"}) -> (tensor<2x16x4xf32> {ck.output = "y"}) attributes {ck.entry} {
  // expected-error @+1 {{cannot be differentiated: a graph for training has no caches; use ck.attention with layout = "token_major" or "head_major"}}
  %a, %b = ck.cache_update %c, %c, %k, %k pos %pos
      : (tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2xi32>)
      -> (tensor<2x16x4xf32>, tensor<2x16x4xf32>)
  return %a : tensor<2x16x4xf32>
}

// -----

func.func @f(%x: tensor<4xf32> {ck.input = "x"}, %s: tensor<1xf32> {ck.input = "s", ck.wrt})
    -> (tensor<4xf32> {ck.output = "y"}) attributes {ck.entry} {
  // expected-error @+1 {{cannot be differentiated with respect to its operand 'by'}}
  %y = ck.scale %x by %s : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32> {ck.input = "x", ck.wrt}) -> (tensor<4xf32> {ck.output = "y"}) attributes {ck.entry} {
  // expected-error @+1 {{has no adjoint, but the entry's outputs depend on what is differentiated through it}}
  %y = ck.activation_grad %x, %x {kind = "silu"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4x8xf32> {ck.input = "x", ck.wrt}, %g: tensor<8xf32> {ck.input = "g"})
    -> (tensor<4xf32> {ck.output = "y"}) attributes {ck.entry} {
  // expected-error @+1 {{cannot be differentiated through its result 'rstd'}}
  %y, %r = ck.rms_norm %x, %g {eps = 0.1 : f64, save_rstd}
      : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  return %r : tensor<4xf32>
}

// -----

// expected-error @+1 {{has an output 'd_x' already, a name that its differentiation needs}}
func.func @f(%x: tensor<4xf32> {ck.input = "x", ck.wrt}) -> (tensor<4xf32> {ck.output = "d_x"}) attributes {ck.entry} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{has an input 'd_y' already, a name that its differentiation needs}}
func.func @f(%x: tensor<4xf32> {ck.input = "d_y", ck.wrt}) -> (tensor<4xf32> {ck.output = "y"}) attributes {ck.entry} {
  return %x : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<?x2xf32> {ck.input = "x", ck.wrt, ck.dims = ["T"]}) -> (tensor<1x2xf32> {ck.output = "y"})
    attributes {ck.entry, ck.bounds = {T = 4 : i64}} {
  // expected-error @+1 {{cannot be differentiated: input0 has a run-time extent along axis 0}}
  %y = ck.concat %x, %x {axis = 0 : i64} : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %n = ck.last_row %y : (tensor<?x2xf32>) -> tensor<1x2xf32>
  return %n : tensor<1x2xf32>
}

// -----

// The extent of the output is a sum: no argument has a dim of that extent.

// expected-error @+1 {{cannot take the input 'd_y': extent 0 of 'tensor<?x2xf32>' is no dim of an argument}}
func.func @f(%x: tensor<?x2xf32> {ck.input = "x", ck.wrt, ck.dims = ["T"]}) -> (tensor<?x2xf32> {ck.output = "y"})
    attributes {ck.entry, ck.bounds = {T = 4 : i64}} {
  %y = ck.concat %x, %x {axis = 0 : i64} : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

// -----

func.func @f(%ids: tensor<4xi32> {ck.input = "ids"}, %table: tensor<5x3xf32> {ck.input = "table"},
             %p: tensor<6x3xf32> {ck.input = "p", ck.wrt}) -> (tensor<4x3xf32> {ck.output = "y"}) attributes {ck.entry} {
  // expected-error @+1 {{'ck.embedding' op cannot be differentiated: pos_emb has other rows than ids}}
  %y = ck.embedding %ids, %table pos_emb %p : (tensor<4xi32>, tensor<5x3xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

func.func @f(%x: tensor<4x8xf32> {ck.input = "x", ck.wrt}) -> (tensor<4x8xf32> {ck.output = "y"}) attributes {ck.entry} {
  // expected-error @+1 {{'ck.layer_norm' op cannot be differentiated without gamma}}
  %y = ck.layer_norm %x {eps = 1.0e-5 : f64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @f(%x: tensor<4x8xf32> {ck.input = "x"}, %b: tensor<8xf32> {ck.input = "b", ck.wrt})
    -> (tensor<4x8xf32> {ck.output = "y"}) attributes {ck.entry} {
  // expected-error @+1 {{'bias'}}
  %y = ck.bias_add %x, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @f(%x: tensor<4x8xi8> {ck.input = "x"}, %s: tensor<4xf32> {ck.input = "s", ck.wrt})
    -> (tensor<4x8xf32> {ck.output = "y"}) attributes {ck.entry} {
  // expected-error @+1 {{'input_scale'}}
  %y = ck.rms_norm %x scales %s {eps = 1.0e-5 : f64, gain = "none", codes = "int8"}
      : (tensor<4x8xi8>, tensor<4xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
