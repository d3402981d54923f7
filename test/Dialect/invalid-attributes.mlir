// RUN: %ck_opt %s --split-input-file --verify-diagnostics

// What the dialect says of its attributes on modules, functions, arguments and results, and of its types.

// expected-error @+1 {{'ck.entry' must be a unit attribute on a function, got 1 : i64}}
func.func private @f() attributes {ck.entry = 1 : i64}

// -----

// expected-error @+1 {{'ck.entry' must be a unit attribute on a function, got unit}}
module attributes {ck.entry} {}

// -----

// expected-error @+1 {{'ck.bounds' must be a dictionary of positive i64 bounds on a function, got {T = 0 : i64}}}
func.func private @f() attributes {ck.bounds = {T = 0 : i64}}

// -----

// expected-error @+1 {{'ck.bounds' must be a dictionary of positive i64 bounds on a function, got {T = 4 : i32}}}
func.func private @f() attributes {ck.bounds = {T = 4 : i32}}

// -----

// expected-error @+1 {{'ck.arena_bytes' must be a non-negative i64 on a function, got -1 : i64}}
func.func private @f() attributes {ck.arena_bytes = -1 : i64}

// -----

// expected-error @+1 {{'ck.thread_scratch_bytes' must be a non-negative i64 on a function, got}}
func.func private @f() attributes {ck.thread_scratch_bytes = 1 : i32}

// -----

// expected-error @+1 {{'ck.model' must be a string on a module, got 1 : i64}}
module attributes {ck.model = 1 : i64} {}

// -----

// expected-error @+1 {{'ck.numerics' must be a numerics class on a module (f64, f32, f16_operands, bf16_operands, q8_activations, approx)}}
module attributes {ck.numerics = "fast"} {}

// -----

// expected-error @+1 {{'ck.plan' must be a dictionary on a module, got unit}}
module attributes {ck.plan} {}

// -----

// expected-error @+1 {{'ck.remat' must be a unit attribute, got 1 : i64}}
module attributes {ck.remat = 1 : i64} {}

// -----

// expected-error @+1 {{unknown attribute 'ck.entrance' of the ck dialect}}
func.func private @f() attributes {ck.entrance}

// -----

// expected-error @+1 {{'ck.input' belongs on a ranked tensor or memref, got 'index'}}
func.func private @f(index {ck.input = "x"})

// -----

// expected-error @+1 {{'ck.input' must be a string on an argument, got 1 : i64}}
func.func private @f(tensor<4xf32> {ck.input = 1 : i64})

// -----

// expected-error @+1 {{'ck.input' must be a string on an argument, got "x"}}
func.func private @f() -> (tensor<4xf32> {ck.input = "x"})

// -----

// expected-error @+1 {{'ck.output' must be a string, got unit}}
func.func private @f() -> (tensor<4xf32> {ck.output})

// -----

// expected-error @+1 {{'ck.state' must be a symbol of a ck.buffer, got "s"}}
func.func private @f(tensor<4xf32> {ck.state = "s"})

// -----

// expected-error @+1 {{'ck.const' must be a symbol of a ck.buffer, got @a::@b}}
func.func private @f() -> (tensor<4xf32> {ck.const = @a::@b})

// -----

// expected-error @+1 {{'ck.dims' must be an array of strings on an argument, got [1]}}
func.func private @f(tensor<?xf32> {ck.dims = [1 : i64]})

// -----

// expected-error @+1 {{'ck.dims' must be an array of strings on an argument, got}}
func.func private @f() -> (tensor<?xf32> {ck.dims = ["T"]})

// -----

// expected-error @+1 {{'ck.dims' names 2 dims, but 'tensor<?x4xf32>' has 1 dynamic ones}}
func.func private @f(tensor<?x4xf32> {ck.dims = ["T", "U"]})

// -----

// expected-error @+1 {{dim 'T' has no bound in 'ck.bounds'}}
func.func private @f(tensor<?x4xf32> {ck.dims = ["T"]}) attributes {ck.bounds = {U = 4 : i64}}

// -----

// expected-error @+1 {{unknown attribute 'ck.inputs' of the ck dialect}}
func.func private @f(tensor<4xf32> {ck.inputs = "x"})

// -----

// expected-error @+1 {{packed storage must be a float or block type, got 'i8'}}
func.func private @f(tensor<4x4x!ck.packed<i8, r8>>)

// -----

// expected-error @+1 {{packed row group must be between 1 and 1024, got 0}}
func.func private @f(tensor<4x4x!ck.packed<f32, r0>>)

// -----

// expected-error @+1 {{packed row group must be between 1 and 1024, got 4096}}
func.func private @f(tensor<4x4x!ck.packed<f32, r4096>>)

// -----

// expected-error @+1 {{expected a storage type and a row group, for example `q4_k, r8`}}
func.func private @f(tensor<4x4x!ck.packed<q9_k, r8>>)

// -----

// expected-error @+1 {{expected a storage type and a row group, for example `q4_k, r8`}}
func.func private @f(tensor<4x4x!ck.packed<q4_k, rows8>>)

// -----

// expected-error @+1 {{'ck.wrt' must be a unit attribute on an argument, got 1 : i64}}
func.func private @f(tensor<4xf32> {ck.wrt = 1 : i64})

// -----

// expected-error @+1 {{'ck.wrt' must be a unit attribute on an argument, got unit}}
func.func private @f() -> (tensor<4xf32> {ck.wrt})

// -----

// expected-error @+1 {{'ck.loss' must be a unit attribute, got "yes"}}
func.func private @f() -> (tensor<1xf32> {ck.loss = "yes"})

// -----

// expected-error @+1 {{'ck.grad' must be a symbol of a ck.buffer, got "w"}}
func.func private @f() -> (tensor<4xf32> {ck.grad = "w"})

// -----

// expected-error @+1 {{'ck.backward' must be a unit attribute, got 2 : i64}}
module attributes {ck.backward = 2 : i64} {}
