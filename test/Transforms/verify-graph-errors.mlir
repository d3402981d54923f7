// RUN: %ck_opt --pass-pipeline='builtin.module(ck-verify-graph)' --split-input-file --verify-diagnostics %s

// expected-error @+1 {{module has no entry: no function is marked with 'ck.entry'}}
module {
  func.func private @helper()
}

// -----

// expected-error @+1 {{is an entry and must have a body of one block that returns}}
func.func private @step() attributes {ck.entry}

// -----

// expected-error @+1 {{is an entry and must have a body of one block that returns}}
func.func @step() attributes {ck.entry} {
  cf.br ^end
^end:
  return
}

// -----

// expected-error @+1 {{is an entry and must have a body of one block that returns}}
func.func @step() attributes {ck.entry} {
  ub.unreachable
}

// -----

func.func @helper(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{stands outside of an entry: mark its function with 'ck.entry'}}
  %y = ck.copy %x : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @+1 {{argument 0 must be tagged either 'ck.input' or 'ck.state'}}
func.func @step(%x: tensor<4xf32>) attributes {ck.entry} {
  return
}

// -----

ck.buffer @s state : tensor<4xf32>
// expected-error @+1 {{argument 0 must be tagged either 'ck.input' or 'ck.state', not both}}
func.func @step(%x: tensor<4xf32> {ck.input = "x", ck.state = @s}) attributes {ck.entry} {
  return
}

// -----

// expected-error @+1 {{argument 1 must be a ranked tensor in GRAPH, got 'memref<4xf32>'}}
func.func @step(%x: tensor<4xf32> {ck.input = "x"}, %y: memref<4xf32> {ck.input = "y"}) attributes {ck.entry} {
  return
}

// -----

// expected-error @+1 {{arguments 0 and 1 have the same name 'x'}}
func.func @step(%x: tensor<4xf32> {ck.input = "x"}, %y: tensor<4xf32> {ck.input = "x"}) attributes {ck.entry} {
  return
}

// -----

// expected-error @+1 {{results 0 and 1 have the same name 'y'}}
func.func @step(%x: tensor<4xf32> {ck.input = "x"})
    -> (tensor<4xf32> {ck.output = "y"}, tensor<4xf32> {ck.output = "y"}) attributes {ck.entry} {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @+1 {{result 0 must be tagged with one of 'ck.output', 'ck.state' and 'ck.const'}}
func.func @step(%x: tensor<4xf32> {ck.input = "x"}) -> tensor<4xf32> attributes {ck.entry} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{result 0 must be a ranked tensor in GRAPH, got 'index'}}
func.func @step() -> index attributes {ck.entry} {
  %c = arith.constant 0 : index
  return %c : index
}

// -----

// expected-error @+1 {{argument 0 is tagged @s, which is no ck.buffer of this module}}
func.func @step(%s: tensor<4xf32> {ck.state = @s}) -> (tensor<4xf32> {ck.state = @s}) attributes {ck.entry} {
  return %s : tensor<4xf32>
}

// -----

ck.buffer @s weight : tensor<4xf32>
// expected-error @+1 {{argument 0 is tagged @s and needs a ck.buffer of role state, but that one has role weight}}
func.func @step(%s: tensor<4xf32> {ck.state = @s}) -> (tensor<4xf32> {ck.state = @s}) attributes {ck.entry} {
  return %s : tensor<4xf32>
}

// -----

ck.buffer @s state : tensor<8xf32>
// expected-error @+1 {{argument 0 has type 'tensor<4xf32>', but @s is declared 'tensor<8xf32>'}}
func.func @step(%s: tensor<4xf32> {ck.state = @s}) -> (tensor<4xf32> {ck.state = @s}) attributes {ck.entry} {
  return %s : tensor<4xf32>
}

// -----

// An alias is the same storage.
ck.buffer @s state : tensor<4xf32>
ck.buffer @t state alias @s : tensor<4xf32>
// expected-error @+1 {{arguments 0 and 1 are the same state 's'}}
func.func @step(%s: tensor<4xf32> {ck.state = @s}, %t: tensor<4xf32> {ck.state = @t}) attributes {ck.entry} {
  return
}

// -----

ck.buffer @s state : tensor<4xf32>
// expected-error @+1 {{argument 0 is the state 's', but no result is its new value}}
func.func @step(%s: tensor<4xf32> {ck.state = @s}) attributes {ck.entry} {
  return
}

// -----

ck.buffer @s state : tensor<4xf32>
// expected-error @+1 {{result 1 is the new value of state 's', which is no argument or has another new value}}
func.func @step(%s: tensor<4xf32> {ck.state = @s})
    -> (tensor<4xf32> {ck.state = @s}, tensor<4xf32> {ck.state = @s}) attributes {ck.entry} {
  return %s, %s : tensor<4xf32>, tensor<4xf32>
}

// -----

ck.buffer @c const : tensor<4xf32>
// expected-error @+1 {{result 0 is tagged 'ck.const', but only @init computes constants}}
func.func @step(%x: tensor<4xf32> {ck.input = "x"}) -> (tensor<4xf32> {ck.const = @c}) attributes {ck.entry} {
  return %x : tensor<4xf32>
}

// -----

ck.buffer @w weight : tensor<4xf32>
// expected-error @+1 {{result 0 must be tagged 'ck.const': @init computes constants only}}
func.func @init() -> (tensor<4xf32> {ck.output = "y"}) attributes {ck.entry} {
  %w = ck.param @w : tensor<4xf32>
  return %w : tensor<4xf32>
}

// -----

// expected-error @+1 {{runs at load and takes no arguments, but has 1}}
func.func @init(%x: tensor<4xf32> {ck.input = "x"}) attributes {ck.entry} {
  return
}

// -----

ck.buffer @w weight : tensor<4xf32>
ck.buffer @c const : tensor<4xf32>
// expected-error @+1 {{computes constant 'c' twice}}
func.func @init() -> (tensor<4xf32> {ck.const = @c}, tensor<4xf32> {ck.const = @c}) attributes {ck.entry} {
  %w = ck.param @w : tensor<4xf32>
  return %w, %w : tensor<4xf32>, tensor<4xf32>
}

// -----

ck.buffer @c const : tensor<4xf32>
func.func @step() -> (tensor<4xf32> {ck.output = "y"}) attributes {ck.entry} {
  // expected-error @+1 {{reads constant 'c', which no result of @init computes}}
  %c = ck.param @c : tensor<4xf32>
  return %c : tensor<4xf32>
}

// -----

ck.buffer @c const : tensor<4xf32>
func.func @init() -> (tensor<4xf32> {ck.const = @c}) attributes {ck.entry} {
  // expected-error @+1 {{reads constant 'c' in @init, which computes the constants}}
  %c = ck.param @c : tensor<4xf32>
  return %c : tensor<4xf32>
}

// -----

ck.buffer @w weight : tensor<4xf32>
func.func @step() attributes {ck.entry} {
  // expected-error @+1 {{must be a tensor in GRAPH, got 'memref<4xf32>'}}
  %w = ck.param @w : memref<4xf32>
  return
}

// -----

ck.provider @p {digest = "d", numerics = "f32", inventory_op = "x", signature = "a[N]:f32 -> b[N]:f32"}
func.func @step(%x: tensor<4xf32> {ck.input = "x"}) -> (tensor<4xf32> {ck.output = "y"}) attributes {ck.entry} {
  // expected-error @+1 {{belongs to a later phase than GRAPH: providers are selected once, from ck ops}}
  %y = ck.call @p ins(a = %x : tensor<4xf32>) outs(b = %x : tensor<4xf32>) sizes(N = 4) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @step(%x: tensor<4xf32> {ck.input = "x"}) -> (tensor<4xf32> {ck.output = "y"}) attributes {ck.entry} {
  // expected-error @+1 {{'math.exp' op does not belong in GRAPH: an entry consists of ck ops, tensor.dim and index arithmetic}}
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Arithmetic on whole tensors has no kernel.
func.func @step(%x: tensor<4xf32> {ck.input = "x"}) -> (tensor<4xf32> {ck.output = "y"}) attributes {ck.entry} {
  // expected-error @+1 {{'arith.addf' op does not belong in GRAPH}}
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @step(%x: tensor<4xf32> {ck.input = "x"}) -> (tensor<4xf32> {ck.output = "y"}) attributes {ck.entry} {
  %y = ck.fused @f (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{'math.exp' op does not belong in GRAPH}}
    %e = math.exp %a : tensor<4xf32>
    ck.yield %e : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// expected-error @+1 {{argument 0 of type 'tensor<?x4xf32>' has run-time extents without names; name them by 'ck.dims' and bound the names by 'ck.bounds'}}
func.func @step(%x: tensor<?x4xf32> {ck.input = "x"}) -> (tensor<?x4xf32> {ck.output = "y"}) attributes {ck.entry} {
  return %x : tensor<?x4xf32>
}

// -----

// Two names for one extent agree only if their bounds do.
func.func @step(%x: tensor<?x4xf32> {ck.input = "x", ck.dims = ["T"]},
                %y: tensor<?x4xf32> {ck.input = "y", ck.dims = ["U"]}) -> (tensor<?x4xf32> {ck.output = "z"})
    attributes {ck.entry, ck.bounds = {T = 8 : i64, U = 16 : i64}} {
  // expected-error @+1 {{does not fit when run-time extents are at their bounds: b: leading dims ...N are [16,4], but a has [8,4]}}
  %z = ck.add %x, %y : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %z : tensor<?x4xf32>
}

// -----

func.func @step(%x: tensor<?x4xf32> {ck.input = "x", ck.dims = ["T"]}) -> (tensor<2x4xf32> {ck.output = "y"})
    attributes {ck.entry, ck.bounds = {T = 8 : i64}} {
  // expected-error @+1 {{has a result 'tensor<2x4xf32>', but at the bounds its extent 0 is 8}}
  %y = ck.copy %x : (tensor<?x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

func.func @step(%x: tensor<?x4xf32> {ck.input = "x", ck.dims = ["T"]}) -> (tensor<?x4xf32> {ck.output = "y"})
    attributes {ck.entry, ck.bounds = {T = 9223372036854775807 : i64}} {
  // expected-error @+1 {{does not fit when run-time extents are at their bounds: input: the product of leading dims [9223372036854775807,4] overflows 64 bits}}
  %y = ck.copy %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
