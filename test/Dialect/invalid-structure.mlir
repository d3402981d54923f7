// RUN: %ck_opt %s --split-input-file --verify-diagnostics

// What buffers, params, providers, calls, views and fused regions refuse.

// expected-error @+1 {{cannot store elements of type 'complex<f32>'}}
ck.buffer @w weight : tensor<4xcomplex<f32>>

// -----

// expected-error @+1 {{needs both a file and a tensor, or neither}}
"ck.buffer"() <{sym_name = "w", role = "weight", type = tensor<4xf32>, file = "m.gguf"}> : () -> ()

// -----

// expected-error @+1 {{of role state cannot come from a file}}
ck.buffer @s state : tensor<4xf32> from "m.gguf"["s"]

// -----

ck.buffer @w weight : tensor<4xf32>
// expected-error @+1 {{is an alias and cannot come from a file of its own}}
ck.buffer @v weight alias @w : tensor<4xf32> from "m.gguf"["v"]

// -----

// expected-error @+1 {{names 1 dims for a tensor of rank 2}}
ck.buffer @a activation : tensor<?x4xf32> {dims = ["tokens"]}

// -----

// expected-error @+1 {{has no whole number of bytes, or more than 64 bits can count: 'tensor<4x100x!ck.q4_k>'}}
ck.buffer @w weight : tensor<4x100x!ck.q4_k>

// -----

// expected-error @+1 {{has no whole number of bytes, or more than 64 bits can count: 'tensor<4294967296x4294967296xf32>'}}
ck.buffer @w weight : tensor<4294967296x4294967296xf32>

// -----

// expected-error @+1 {{of role weight needs a static shape, got 'tensor<?xf32>'}}
ck.buffer @w weight : tensor<?xf32>

// -----

// expected-error @+1 {{is an alias of 'w', which leads to no buffer}}
ck.buffer @v weight alias @w : tensor<4xf32>

// -----

// A cycle leads nowhere.
// expected-error @+1 {{is an alias of 'v', which leads to no buffer}}
ck.buffer @w weight alias @v : tensor<4xf32>
ck.buffer @v weight alias @w : tensor<4xf32>

// -----

ck.buffer @w weight : tensor<4xf32>
// expected-error @+1 {{has type 'tensor<5xf32>', but its root 'w' has 'tensor<4xf32>'}}
ck.buffer @v weight alias @w : tensor<5xf32>

// -----

ck.buffer @w weight : tensor<4xf32>
// expected-error @+1 {{has role state, but its root 'w' has role weight}}
ck.buffer @v state alias @w : tensor<4xf32>

// -----

// expected-error @+1 {{'role' failed to satisfy constraint: one of weight, input, output, activation, grad, scratch, state, const}}
ck.buffer @w parameter : tensor<4xf32>

// -----

// expected-error @+1 {{'when' failed to satisfy constraint}}
ck.buffer @w weight : tensor<4xf32> {when = "on_tuesdays"}

// -----

func.func @f() {
  // expected-error @+1 {{expects parent op 'builtin.module'}}
  ck.buffer @w weight : tensor<4xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'w' is no ck.buffer of this module}}
  %w = ck.param @w : tensor<4xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'f' is no ck.buffer of this module}}
  %w = ck.param @f : tensor<4xf32>
  return
}

// -----

ck.buffer @s state : tensor<4xf32>
func.func @f() {
  // expected-error @+1 {{reads weights and constants, but 's' has role state}}
  %w = ck.param @s : tensor<4xf32>
  return
}

// -----

ck.buffer @w weight : tensor<4xf32>
func.func @f() {
  // expected-error @+1 {{has type 'tensor<5xf32>', but 'w' is declared 'tensor<4xf32>'}}
  %w = ck.param @w : tensor<5xf32>
  return
}

// -----

ck.buffer @w weight : tensor<4xf32>
func.func @f() {
  // expected-error @+1 {{result #0 must be ranked tensor of any type values or statically shaped memref of any type values, but got 'memref<?xf32>'}}
  %w = ck.param @w : memref<?xf32>
  return
}

// -----

// expected-error @+1 {{has a malformed contract: signature: }}
ck.provider @p {digest = "d", numerics = "f32", inventory_op = "x", signature = "a[N]:f32 ->"}

// -----

// expected-error @+1 {{has a malformed contract: where 'N': }}
ck.provider @p {digest = "d", numerics = "f32", inventory_op = "x", signature = "a[N]:f32 -> b[N]:f32", where = ["N"]}

// -----

// expected-error @+1 {{has a malformed contract: params 'eps:f33': }}
ck.provider @p {digest = "d", numerics = "f32", inventory_op = "x", signature = "a[N]:f32 -> b[N]:f32", params = ["eps:f33"]}

// -----

// expected-error @+1 {{has a malformed contract: scratch 's[N': }}
ck.provider @p {digest = "d", numerics = "f32", inventory_op = "x", signature = "a[N]:f32 -> b[N]:f32", scratch = ["s[N"]}

// -----

// expected-error @+1 {{has a malformed contract: inplace 'a=c' is not a pair input=output of the signature}}
ck.provider @p {digest = "d", numerics = "f32", inventory_op = "x", signature = "a[N]:f32 -> b[N]:f32", inplace = ["a=c"]}

// -----

// expected-error @+1 {{'numerics' failed to satisfy constraint: one of f64, f32, f16_operands, bf16_operands, q8_activations, approx}}
ck.provider @p {digest = "d", numerics = "fast", inventory_op = "x", signature = "a[N]:f32 -> b[N]:f32"}

// -----

ck.provider @p {digest = "d", numerics = "f32", inventory_op = "x", signature = "a[M,K]:f32, b[K]:f32?, c[M]:f32 -> c[M]:f32, d[M,K]:f32"}
func.func @f(%x: tensor<4x8xf32>, %c: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'q' is no ck.provider of this module}}
  %y:2 = ck.call @q ins(a = %x : tensor<4x8xf32>) outs(c = %c : tensor<4xf32>, d = %x : tensor<4x8xf32>) sizes(M = 4, K = 8)
       -> (tensor<4xf32>, tensor<4x8xf32>)
  return
}

// -----

ck.provider @p {digest = "d", numerics = "f32", inventory_op = "x", signature = "a[M,K]:f32, b[K]:f32?, c[M]:f32 -> c[M]:f32, d[M,K]:f32"}
func.func @f(%x: tensor<4x8xf32>, %c: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'c' is no read-only operand of 'p'}}
  %y:2 = ck.call @p ins(a = %x : tensor<4x8xf32>, c = %c : tensor<4xf32>) outs(c = %c : tensor<4xf32>, d = %x : tensor<4x8xf32>)
       -> (tensor<4xf32>, tensor<4x8xf32>)
  return
}

// -----

ck.provider @p {digest = "d", numerics = "f32", inventory_op = "x", signature = "a[M,K]:f32, b[K]:f32?, c[M]:f32 -> c[M]:f32, d[M,K]:f32"}
func.func @f(%x: tensor<4x8xf32>, %c: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'a' is no result of 'p'}}
  %y:3 = ck.call @p outs(a = %x : tensor<4x8xf32>, c = %c : tensor<4xf32>, d = %x : tensor<4x8xf32>)
       -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xf32>)
  return
}

// -----

ck.provider @p {digest = "d", numerics = "f32", inventory_op = "x", signature = "a[M,K]:f32, b[K]:f32?, c[M]:f32 -> c[M]:f32, d[M,K]:f32"}
func.func @f(%x: tensor<4x8xf32>, %c: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{does not bind 'a' of 'p'}}
  %y:2 = ck.call @p outs(c = %c : tensor<4xf32>, d = %x : tensor<4x8xf32>)
       -> (tensor<4xf32>, tensor<4x8xf32>)
  return
}

// -----

ck.provider @p {digest = "d", numerics = "f32", inventory_op = "x", signature = "a[M,K]:f32, b[K]:f32?, c[M]:f32 -> c[M]:f32, d[M,K]:f32"}
func.func @f(%x: tensor<4x8xf32>, %c: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{does not bind 'd' of 'p'}}
  %y = ck.call @p ins(a = %x : tensor<4x8xf32>) outs(c = %c : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

ck.provider @p {digest = "d", numerics = "f32", inventory_op = "x", signature = "a[M,K]:f32, b[K]:f32?, c[M]:f32 -> c[M]:f32, d[M,K]:f32"}
func.func @f(%x: tensor<4x8xf32>, %c: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{of 'p': b: dim K is 4, but a has K = 8}}
  %y:2 = ck.call @p ins(a = %x : tensor<4x8xf32>, b = %c : tensor<4xf32>) outs(c = %c : tensor<4xf32>, d = %x : tensor<4x8xf32>)
       -> (tensor<4xf32>, tensor<4x8xf32>)
  return
}

// -----

ck.provider @p {digest = "d", numerics = "f32", inventory_op = "x", signature = "a[M,K]:f32, b[K]:f32?, c[M]:f32 -> c[M]:f32, d[M,K]:f32"}
func.func @f(%x: tensor<4x8xf32>, %c: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'N' is no dim of 'p'}}
  %y:2 = ck.call @p ins(a = %x : tensor<4x8xf32>) outs(c = %c : tensor<4xf32>, d = %x : tensor<4x8xf32>) sizes(N = 4)
       -> (tensor<4xf32>, tensor<4x8xf32>)
  return
}

// -----

ck.provider @p {digest = "d", numerics = "f32", inventory_op = "x", signature = "a[M,K]:f32, b[K]:f32?, c[M]:f32 -> c[M]:f32, d[M,K]:f32"}
func.func @f(%x: tensor<4x8xf32>, %c: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{gives M = 5, but its operands have 4}}
  %y:2 = ck.call @p ins(a = %x : tensor<4x8xf32>) outs(c = %c : tensor<4xf32>, d = %x : tensor<4x8xf32>) sizes(M = 5)
       -> (tensor<4xf32>, tensor<4x8xf32>)
  return
}

// -----

ck.provider @p {digest = "d", numerics = "f32", inventory_op = "x", signature = "a[M,K]:f32, b[K]:f32?, c[M]:f32 -> c[M]:f32, d[M,K]:f32"}
func.func @f(%x: tensor<4x8xf32>, %c: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{gives a negative size, M = -1}}
  %y:2 = ck.call @p ins(a = %x : tensor<4x8xf32>) outs(c = %c : tensor<4xf32>, d = %x : tensor<4x8xf32>) sizes(M = -1)
       -> (tensor<4xf32>, tensor<4x8xf32>)
  return
}

// -----

ck.provider @p {digest = "d", numerics = "f32", inventory_op = "x", signature = "a[M,K]:f32, b[K]:f32?, c[M]:f32 -> c[M]:f32, d[M,K]:f32"}
func.func @f(%x: tensor<4x8xf32>, %c: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{binds 'a' twice in ins}}
  %y:2 = ck.call @p ins(a = %x : tensor<4x8xf32>, a = %x : tensor<4x8xf32>) outs(c = %c : tensor<4xf32>, d = %x : tensor<4x8xf32>)
       -> (tensor<4xf32>, tensor<4x8xf32>)
  return
}

// -----

ck.provider @p {digest = "d", numerics = "f32", inventory_op = "x", signature = "a[M,K]:f32, b[K]:f32?, c[M]:f32 -> c[M]:f32, d[M,K]:f32"}
func.func @f(%x: tensor<4x8xf32>, %c: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{binds 'M' twice in sizes}}
  %y:2 = ck.call @p ins(a = %x : tensor<4x8xf32>) outs(c = %c : tensor<4xf32>, d = %x : tensor<4x8xf32>) sizes(M = 4, M = 4)
       -> (tensor<4xf32>, tensor<4x8xf32>)
  return
}

// -----

ck.provider @p {digest = "d", numerics = "f32", inventory_op = "x", signature = "a[M,K]:f32, b[K]:f32?, c[M]:f32 -> c[M]:f32, d[M,K]:f32"}
func.func @f(%x: tensor<4x8xf32>, %c: tensor<4xf32>, %n: index, %m: memref<4x8xf32>) {
  // expected-error @+1 {{mixes tensors and memrefs}}
  %y:2 = ck.call @p ins(a = %m : memref<4x8xf32>) outs(c = %c : tensor<4xf32>, d = %x : tensor<4x8xf32>)
       -> (tensor<4xf32>, tensor<4x8xf32>)
  return
}

// -----

ck.provider @p {digest = "d", numerics = "f32", inventory_op = "x", signature = "a[M,K]:f32, b[K]:f32?, c[M]:f32 -> c[M]:f32, d[M,K]:f32"}
func.func @f(%x: tensor<4x8xf32>, %c: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{needs one result for each tensor in outs (2), got 1}}
  %y = ck.call @p ins(a = %x : tensor<4x8xf32>) outs(c = %c : tensor<4xf32>, d = %x : tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

ck.provider @p {digest = "d", numerics = "f32", inventory_op = "x", signature = "a[M,K]:f32, b[K]:f32?, c[M]:f32 -> c[M]:f32, d[M,K]:f32"}
func.func @f(%x: tensor<4x8xf32>, %c: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{result type 'tensor<5xf32>' differs from its destination 'tensor<4xf32>'}}
  %y:2 = ck.call @p ins(a = %x : tensor<4x8xf32>) outs(c = %c : tensor<4xf32>, d = %x : tensor<4x8xf32>) -> (tensor<5xf32>, tensor<4x8xf32>)
  return
}

// -----

ck.provider @p {digest = "d", numerics = "f32", inventory_op = "x", signature = "a[M,K]:f32, b[K]:f32?, c[M]:f32 -> c[M]:f32, d[M,K]:f32"}
func.func @f(%m: memref<4x8xf32>, %k: memref<4xf32>) {
  // expected-error @+1 {{needs one result for each tensor in outs (0), got 1}}
  %y = ck.call @p ins(a = %m : memref<4x8xf32>) outs(c = %k : memref<4xf32>, d = %m : memref<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

ck.provider @p {digest = "d", numerics = "f32", inventory_op = "x", signature = "a[M,K]:f32, b[K]:f32?, c[M]:f32 -> c[M]:f32, d[M,K]:f32"}
func.func @f(%x: tensor<4x8xf32>, %c: tensor<4xf32>, %n: index, %v: vector<4x8xf32>) {
  // expected-error @+1 {{operand #0 must be variadic of ranked tensor of any type values or memref of any type values, but got 'vector<4x8xf32>'}}
  %y:2 = ck.call @p ins(a = %v : vector<4x8xf32>) outs(c = %c : tensor<4xf32>, d = %x : tensor<4x8xf32>)
       -> (tensor<4xf32>, tensor<4x8xf32>)
  return
}

// -----

ck.provider @p {digest = "d", numerics = "f32", inventory_op = "x", signature = "a[M,K]:f32, b[K]:f32?, c[M]:f32 -> c[M]:f32, d[M,K]:f32"}
func.func @f(%x: tensor<4x8xf32>, %c: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{has 0 ins names for 1 values}}
  %y:2 = "ck.call"(%x, %c, %x) <{callee = @p, input_names = [], init_names = ["c", "d"], size_names = [], static_sizes = array<i64>,
      operandSegmentSizes = array<i32: 1, 2, 0, 0>}>
      : (tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4x8xf32>)
  return
}

// -----

ck.provider @p {digest = "d", numerics = "f32", inventory_op = "x", signature = "a[M,K]:f32, b[K]:f32?, c[M]:f32 -> c[M]:f32, d[M,K]:f32"}
func.func @f(%x: tensor<4x8xf32>, %c: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{has 1 dynamic sizes for 0 values}}
  %y:2 = "ck.call"(%x, %c, %x) <{callee = @p, input_names = ["a"], init_names = ["c", "d"], size_names = ["M"],
      static_sizes = array<i64: -9223372036854775808>, operandSegmentSizes = array<i32: 1, 2, 0, 0>}>
      : (tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4x8xf32>)
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{starts at a negative offset, -64}}
  %v = ck.view activation[-64] : memref<4xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{is compact, but its type has a layout}}
  %v = ck.view activation[0] : memref<4x4xf32, strided<[8, 1]>>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{gives 0 sizes for 1 dynamic dims of 'memref<?x4xf32>'}}
  %v = ck.view activation[0] : memref<?x4xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'arena' failed to satisfy constraint: one of activation, const}}
  %v = ck.view heap[0] : memref<4xf32>
  return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{'bound' failed to satisfy constraint}}
  %u = "ck.bound"(%n) <{bound = -1 : i64}> : (index) -> index
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{has a region whose arguments differ from its inputs}}
  %y = "ck.fused"(%x) <{contract = @c}> ({
      ^bb0(%a: tensor<5xf32>):
        "ck.yield"(%a) : (tensor<5xf32>) -> ()
      }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{must end in ck.yield}}
  %y = "ck.fused"(%x) <{contract = @c}> ({
      ^bb0(%a: tensor<4xf32>):
        func.return %a : tensor<4xf32>
      }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects a non-empty block}}
  %y = "ck.fused"(%x) <{contract = @c}> ({
      ^bb0(%a: tensor<4xf32>):
      }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{yields 'tensor<4xf32>', but its results are 'tensor<5xf32>'}}
  %y = ck.fused @c (%a = %x : tensor<4xf32>) -> tensor<5xf32> {
        ck.yield %a : tensor<4xf32>
      }
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'ck.yield' op expects parent op 'ck.fused'}}
  ck.yield
  return
}
