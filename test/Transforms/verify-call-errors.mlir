// RUN: %ck_opt --pass-pipeline='builtin.module(ck-verify-call)' --split-input-file --verify-diagnostics %s

ck.provider @norm {digest = "d", numerics = "f32", inventory_op = "norm", params = ["eps:f64"],
                   signature = "x[T,E]:f32 -> y[T,E]:f32"}
func.func @step(%x: tensor<4x8xf32> {ck.input = "x"}) -> (tensor<4x8xf32> {ck.output = "y"}) attributes {ck.entry} {
  %e = tensor.empty() : tensor<4x8xf32>
  // expected-error @+1 {{is an op of GRAPH and has no provider yet; run --ck-select-providers}}
  %y = ck.copy %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

ck.provider @norm {digest = "d", numerics = "f32", inventory_op = "norm", params = ["eps:f64"],
                   signature = "x[T,E]:f32 -> y[T,E]:f32"}
func.func @step(%x: tensor<4x8xf32> {ck.input = "x"}) -> (tensor<4x8xf32> {ck.output = "y"}) attributes {ck.entry} {
  %e = tensor.empty() : tensor<4x8xf32>
  // expected-error @+1 {{'math.exp' op does not belong in CALL: an entry consists of ck.call, ck.param, tensor.empty, tensor.dim and index arithmetic}}
  %y = math.exp %x : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

ck.provider @norm {digest = "d", numerics = "f32", inventory_op = "norm", params = ["eps:f64"],
                   signature = "x[T,E]:f32 -> y[T,E]:f32"}
func.func @step(%x: tensor<4x8xf32> {ck.input = "x"}) -> (tensor<4x8xf32> {ck.output = "y"}) attributes {ck.entry} {
  %e = tensor.empty() : tensor<4x8xf32>
  // expected-error @+1 {{gives no size for dim E of 'norm'}}
  %y = ck.call @norm ins(x = %x : tensor<4x8xf32>) outs(y = %e : tensor<4x8xf32>)
      sizes(T = 4) params({eps = 0.5 : f64}) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

ck.provider @norm {digest = "d", numerics = "f32", inventory_op = "norm", params = ["eps:f64"],
                   signature = "x[T,E]:f32 -> y[T,E]:f32"}
func.func @step(%x: tensor<4x8xf32> {ck.input = "x"}) -> (tensor<4x8xf32> {ck.output = "y"}) attributes {ck.entry} {
  %e = tensor.empty() : tensor<4x8xf32>
  // expected-error @+1 {{gives no value for param 'eps' of 'norm'}}
  %y = ck.call @norm ins(x = %x : tensor<4x8xf32>) outs(y = %e : tensor<4x8xf32>)
      sizes(T = 4, E = 8) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

ck.provider @norm {digest = "d", numerics = "f32", inventory_op = "norm", params = ["eps:f64"],
                   signature = "x[T,E]:f32 -> y[T,E]:f32"}
func.func @step(%x: tensor<4x8xf32> {ck.input = "x"}) -> (tensor<4x8xf32> {ck.output = "y"}) attributes {ck.entry} {
  %e = tensor.empty() : tensor<4x8xf32>
  // expected-error @+1 {{gives 1 : i64 for param 'eps:f64' of 'norm'}}
  %y = ck.call @norm ins(x = %x : tensor<4x8xf32>) outs(y = %e : tensor<4x8xf32>)
      sizes(T = 4, E = 8) params({eps = 1 : i64}) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

ck.provider @norm {digest = "d", numerics = "f32", inventory_op = "norm", params = ["n:i64"],
                   signature = "x[T,E]:f32 -> y[T,E]:f32"}
func.func @step(%x: tensor<4x8xf32> {ck.input = "x"}) -> (tensor<4x8xf32> {ck.output = "y"}) attributes {ck.entry} {
  %e = tensor.empty() : tensor<4x8xf32>
  // expected-error @+1 {{gives true for param 'n:i64' of 'norm'}}
  %y = ck.call @norm ins(x = %x : tensor<4x8xf32>) outs(y = %e : tensor<4x8xf32>)
      sizes(T = 4, E = 8) params({n = true}) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

ck.provider @norm {digest = "d", numerics = "f32", inventory_op = "norm", params = ["b:bool"],
                   signature = "x[T,E]:f32 -> y[T,E]:f32"}
func.func @step(%x: tensor<4x8xf32> {ck.input = "x"}) -> (tensor<4x8xf32> {ck.output = "y"}) attributes {ck.entry} {
  %e = tensor.empty() : tensor<4x8xf32>
  // expected-error @+1 {{gives 1 : i64 for param 'b:bool' of 'norm'}}
  %y = ck.call @norm ins(x = %x : tensor<4x8xf32>) outs(y = %e : tensor<4x8xf32>)
      sizes(T = 4, E = 8) params({b = 1 : i64}) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

ck.provider @norm {digest = "d", numerics = "f32", inventory_op = "norm", params = ["m:{x,y}"],
                   signature = "x[T,E]:f32 -> y[T,E]:f32"}
func.func @step(%x: tensor<4x8xf32> {ck.input = "x"}) -> (tensor<4x8xf32> {ck.output = "y"}) attributes {ck.entry} {
  %e = tensor.empty() : tensor<4x8xf32>
  // expected-error @+1 {{gives "z" for param 'm:{x,y}' of 'norm'}}
  %y = ck.call @norm ins(x = %x : tensor<4x8xf32>) outs(y = %e : tensor<4x8xf32>)
      sizes(T = 4, E = 8) params({m = "z"}) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

ck.provider @norm {digest = "d", numerics = "f32", inventory_op = "norm",
                   signature = "x[T,E]:f32, w[T]:f32 -> y[T,E]:f32"}
func.func @step(%x: tensor<?x8xf32> {ck.input = "x", ck.dims = ["T"]}, %w: tensor<?xf32> {ck.input = "w", ck.dims = ["U"]})
    -> (tensor<?x8xf32> {ck.output = "y"}) attributes {ck.entry, ck.bounds = {T = 4 : i64, U = 5 : i64}} {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%t) : tensor<?x8xf32>
  // expected-error @+1 {{of 'norm' does not fit when run-time extents are at their bounds: w: dim T is 5, but x has T = 4}}
  %y = ck.call @norm ins(x = %x : tensor<?x8xf32>, w = %w : tensor<?xf32>) outs(y = %e : tensor<?x8xf32>)
      sizes(T = %t, E = 8) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

func.func @step(%n: tensor<1xindex> {ck.input = "n"}) -> (tensor<?x8xf32> {ck.output = "y"}) attributes {ck.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d = tensor.dim %n, %c0 : tensor<1xindex>
  %m = arith.shli %d, %c1 : index
  // expected-error @+1 {{has a result 'tensor<?x8xf32>' with a run-time extent that nothing bounds}}
  %e = tensor.empty(%m) : tensor<?x8xf32>
  return %e : tensor<?x8xf32>
}

// -----

ck.buffer @w weight : tensor<8xf32>
func.func @step(%x: memref<8xf32> {ck.input = "x"}) attributes {ck.entry} {
  // expected-error @+1 {{is on 'memref<8xf32>', but CALL is on tensors: this module is bufferized already}}
  %w = ck.param @w : memref<8xf32>
  return
}

// -----

// expected-error @+1 {{has no digest of its kernel map}}
ck.provider @norm {digest = "", numerics = "f32", inventory_op = "norm", signature = "x[T]:f32 -> y[T]:f32"}

// -----

module attributes {ck.numerics = "f16_operands"} {
  ck.provider @half {digest = "d", numerics = "f16_operands", inventory_op = "norm", signature = "x[T]:f32 -> y[T]:f32"}
  // expected-error @+1 {{has numerics class q8_activations, which is not within the module's f16_operands}}
  ck.provider @norm {digest = "d", numerics = "q8_activations", inventory_op = "norm", signature = "x[T]:f32 -> y[T]:f32"}
}
