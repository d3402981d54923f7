// RUN: mkdir -p %t.maps
// RUN: %ck_opt --pass-pipeline='builtin.module(ck-bufferize{maps=%t.maps})' --split-input-file --verify-diagnostics %s

module {
  func.func @graph(%x: tensor<4xf32> {ck.input = "x"}) -> (tensor<4xf32> {ck.output = "y"}) attributes {ck.entry} {
    // expected-error @+1 {{'ck.activation' op is an op of GRAPH and has no buffer form; run --ck-select-providers before --ck-bufferize}}
    %y = ck.activation %x {kind = "silu"} : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

// A cache that is written by slices is written by nobody's contract: no provider, no silent copy of it.
module {
  ck.buffer @cache state : tensor<4x8xf32>
  func.func @slice(%x: tensor<1x8xf32> {ck.input = "x"}, %k: tensor<4x8xf32> {ck.state = @cache})
      -> (tensor<4x8xf32> {ck.state = @cache}) attributes {ck.entry} {
    // expected-error @+1 {{'tensor.insert_slice' op does not belong in an entry of CALL form: only ck.call, ck.param, tensor.empty, tensor.dim and index arithmetic have a buffer form}}
    %k1 = tensor.insert_slice %x into %k[0, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<4x8xf32>
    return %k1 : tensor<4x8xf32>
  }
}

// -----

module {
  // expected-error @+1 {{entry 'untagged' has argument 0, which is tagged neither 'ck.input' nor 'ck.state'}}
  func.func @untagged(%x: tensor<4xf32>) -> (tensor<4xf32> {ck.output = "y"}) attributes {ck.entry} {
    return %x : tensor<4xf32>
  }
}

// -----

module {
  // expected-error @+1 {{entry 'untagged' has result 0, which must be tagged with one of 'ck.output', 'ck.const' and 'ck.state'}}
  func.func @untagged(%x: tensor<4xf32> {ck.input = "x"}) -> tensor<4xf32> attributes {ck.entry} {
    return %x : tensor<4xf32>
  }
}

// -----

module {
  // expected-error @+1 {{entry 'twice' has two results tagged "y"}}
  func.func @twice(%x: tensor<4xf32> {ck.input = "x"})
      -> (tensor<4xf32> {ck.output = "y"}, tensor<4xf32> {ck.output = "y"}) attributes {ck.entry} {
    return %x, %x : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

module {
  ck.buffer @k state : tensor<4xf32>
  // expected-error @+1 {{entry 'twice' takes the state 'k' twice}}
  func.func @twice(%a: tensor<4xf32> {ck.state = @k}, %b: tensor<4xf32> {ck.state = @k}) attributes {ck.entry} {
    return
  }
}

// -----

module {
  ck.buffer @k weight : tensor<4xf32>
  // expected-error @+1 {{entry 'role' tags a value as state 'k', but that buffer is a weight}}
  func.func @role(%a: tensor<4xf32> {ck.state = @k}) attributes {ck.entry} {
    return
  }
}

// -----

module {
  ck.buffer @k state : tensor<8xf32>
  // expected-error @+1 {{entry 'type' has 'tensor<4xf32>' for 'k', which is declared 'tensor<8xf32>'}}
  func.func @type(%a: tensor<4xf32> {ck.state = @k}) attributes {ck.entry} {
    return
  }
}

// -----

module {
  // expected-error @+1 {{entry 'missing' tags a value with 'nobody', which is no ck.buffer}}
  func.func @missing(%a: tensor<4xf32> {ck.state = @nobody}) attributes {ck.entry} {
    return
  }
}

// -----

module {
  ck.provider @fresh {digest = "", numerics = "f32", inventory_op = "x", signature = "input[T,4]:f32 -> output[N,4]:f32"}
  // expected-error @+1 {{entry 'unnamed' has output "y" with a run-time extent (dim 0 of 'tensor<?x4xf32>') that is no named dim of the entry}}
  func.func @unnamed(%x: tensor<?x4xf32> {ck.input = "x", ck.dims = ["T"]}) -> (tensor<?x4xf32> {ck.output = "y"})
      attributes {ck.entry, ck.bounds = {T = 8 : i64}} {
    %c0 = arith.constant 0 : index
    %t = tensor.dim %x, %c0 : tensor<?x4xf32>
    %n = arith.addi %t, %t : index
    %e = tensor.empty(%n) : tensor<?x4xf32>
    %y = ck.call @fresh ins(input = %x : tensor<?x4xf32>) outs(output = %e : tensor<?x4xf32>) sizes(T = %t, N = %n) -> tensor<?x4xf32>
    return %y : tensor<?x4xf32>
  }
}

// -----

// No kernel maps are where this test looks for them, and the module embeds no copy provider.
module {
  // expected-error @+1 {{this value must be copied, but neither the module nor the kernel maps have a copy provider for 'memref<4xf32>'}}
  func.func @no_copy(%x: tensor<4xf32> {ck.input = "x"}) -> (tensor<4xf32> {ck.output = "y"}) attributes {ck.entry} {
    return %x : tensor<4xf32>
  }
}

// -----

module {
  ck.buffer @k state : tensor<4xf32>
  ck.provider @store {digest = "", numerics = "f32", inventory_op = "x", signature = "k[N]:f32, x[N]:f32 -> k[N]:f32"}
  ck.provider @add {digest = "", numerics = "f32", inventory_op = "x", signature = "a[N]:f32, b[N]:f32 -> output[N]:f32"}
  func.func @old_version(%x: tensor<4xf32> {ck.input = "x"}, %k: tensor<4xf32> {ck.state = @k})
      -> (tensor<4xf32> {ck.output = "y"}, tensor<4xf32> {ck.state = @k}) attributes {ck.entry} {
    // expected-note @+1 {{it has been updated here}}
    %k1 = ck.call @store ins(x = %x : tensor<4xf32>) outs(k = %k : tensor<4xf32>) sizes(N = 4) -> tensor<4xf32>
    %e = tensor.empty() : tensor<4xf32>
    // expected-error @+1 {{'ck.call' op reads an old version of state 'k', which would have to be copied}}
    %y = ck.call @add ins(a = %k : tensor<4xf32>, b = %k1 : tensor<4xf32>) outs(output = %e : tensor<4xf32>) sizes(N = 4) -> tensor<4xf32>
    return %y, %k1 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

module {
  ck.buffer @k state : tensor<4xf32>
  ck.provider @store {digest = "", numerics = "f32", inventory_op = "x", signature = "k[N]:f32, x[N]:f32 -> k[N]:f32"}
  func.func @fork(%x: tensor<4xf32> {ck.input = "x"}, %k: tensor<4xf32> {ck.state = @k})
      -> (tensor<4xf32> {ck.state = @k}) attributes {ck.entry} {
    // expected-note @+1 {{it has been updated here}}
    %k1 = ck.call @store ins(x = %x : tensor<4xf32>) outs(k = %k : tensor<4xf32>) sizes(N = 4) -> tensor<4xf32>
    // expected-error @+1 {{'ck.call' op writes into an old version of state 'k', which would have to be copied}}
    %k2 = ck.call @store ins(x = %x : tensor<4xf32>) outs(k = %k : tensor<4xf32>) sizes(N = 4) -> tensor<4xf32>
    return %k2 : tensor<4xf32>
  }
}

// -----

module {
  ck.buffer @k state : tensor<4xf32>
  ck.provider @store {digest = "", numerics = "f32", inventory_op = "x", signature = "k[N]:f32, x[N]:f32 -> k[N]:f32"}
  func.func @itself(%k: tensor<4xf32> {ck.state = @k}) -> (tensor<4xf32> {ck.state = @k}) attributes {ck.entry} {
    // expected-error @+1 {{'ck.call' op reads and writes state 'k' in one call, which would need a copy of it}}
    %k1 = ck.call @store ins(x = %k : tensor<4xf32>) outs(k = %k : tensor<4xf32>) sizes(N = 4) -> tensor<4xf32>
    return %k1 : tensor<4xf32>
  }
}

// -----

module {
  ck.buffer @k state : tensor<4xf32>
  ck.provider @exp {digest = "", numerics = "f32", inventory_op = "x", signature = "input[N]:f32 -> output[N]:f32"}
  func.func @elsewhere(%k: tensor<4xf32> {ck.state = @k}) -> (tensor<4xf32> {ck.state = @k}) attributes {ck.entry} {
    %e = tensor.empty() : tensor<4xf32>
    // expected-note @+1 {{the value is made here}}
    %k1 = ck.call @exp ins(input = %k : tensor<4xf32>) outs(output = %e : tensor<4xf32>) sizes(N = 4) -> tensor<4xf32>
    // expected-error @+1 {{returns as state 'k' a value that is no update of its argument: the state would have to be copied}}
    return %k1 : tensor<4xf32>
  }
}

// -----

module {
  ck.buffer @k state : tensor<4xf32>
  ck.provider @store {digest = "", numerics = "f32", inventory_op = "x", signature = "k[N]:f32, x[N]:f32 -> k[N]:f32"}
  func.func @lost(%x: tensor<4xf32> {ck.input = "x"}, %k: tensor<4xf32> {ck.state = @k}) attributes {ck.entry} {
    // expected-error @+1 {{'ck.call' op updates state 'k', but the entry does not return it}}
    %k1 = ck.call @store ins(x = %x : tensor<4xf32>) outs(k = %k : tensor<4xf32>) sizes(N = 4) -> tensor<4xf32>
    return
  }
}

// -----

module {
  ck.buffer @k state : tensor<4xf32>
  func.func @from_nowhere(%x: tensor<4xf32> {ck.input = "x"}) -> (tensor<4xf32> {ck.state = @k}) attributes {ck.entry} {
    // expected-error @+1 {{returns state 'k', which is no argument of the entry}}
    return %x : tensor<4xf32>
  }
}
