//===- GraphPasses.td - GRAPH, and its way to CALL --------------*- tablegen -*-===//
//
// What is decided while ops have value semantics: which values are constants of the model, in which order ops run, and
// which native function stands for each; and the verifiers of both phases.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TRANSFORMS_GRAPHPASSES_TD
#define CK_TRANSFORMS_GRAPHPASSES_TD

include "mlir/Pass/PassBase.td"

def CKVerifyGraph : Pass<"ck-verify-graph", "::mlir::ModuleOp"> {
  let summary = "checks that a module is a model in GRAPH";
  let description = [{
    Changes nothing; fails with one located error at the first rule that is broken:

    - there is an entry (a function with `ck.entry`); `ck` ops stand in entries only; an entry is one block;
    - each argument is an input (`ck.input`, names distinct) or a state (`ck.state`); each result is an output
      (`ck.output`, names distinct), a state, or in `@init` a constant (`ck.const`);
    - the states among arguments and results are the same, each once, and have the type of their `ck.buffer` of role
      `state`; aliases count as their root;
    - `@init` has no arguments; its constants have the type of their `ck.buffer` of role `const`, and every constant
      that an entry reads is one of them;
    - only `ck` ops with a signature, `ck.param`, `ck.fused`, `ck.bound`, `tensor.dim`, `arith` on indices and `return`
      occur: calls, views and memrefs belong to later phases;
    - every run-time extent has a bound, and each op fits its signature at the bounds too.

    Example of a module that passes:

    ```mlir
    ck.buffer @w weight : tensor<32x64xf32>
    func.func @step(%x: tensor<?x64xf32> {ck.input = "x", ck.dims = ["T"]}) -> (tensor<?x32xf32> {ck.output = "y"})
        attributes {ck.entry, ck.bounds = {T = 16 : i64}} {
      %w = ck.param @w : tensor<32x64xf32>
      %y = ck.linear %x, %w : (tensor<?x64xf32>, tensor<32x64xf32>) -> tensor<?x32xf32>
      return %y : tensor<?x32xf32>
    }
    ```

    Without `ck.bounds`, or with `ck.bounds = {U = 16 : i64}`, it does not.
  }];
}

def CKResolveAliases : Pass<"ck-resolve-aliases", "::mlir::ModuleOp"> {
  let summary = "replaces uses of aliases by their root buffers";
  let description = [{
    Every `ck.param` and every `ck.state` and `ck.const` tag that names an alias names its root instead, so that later
    passes compare storage by symbol. The alias declarations stay: reports and importers know them by name.

    Before:

    ```mlir
    ck.buffer @tok_emb weight : tensor<512x64xf32>
    ck.buffer @lm_head weight alias @tok_emb : tensor<512x64xf32>
    ...
    %w = ck.param @lm_head : tensor<512x64xf32>
    ```

    After:

    ```mlir
    %w = ck.param @tok_emb : tensor<512x64xf32>
    ```
  }];
}

def CKQuantizeActivations : Pass<"ck-quantize-activations", "::mlir::ModuleOp"> {
  let summary = "makes the rounding of inputs of quantised weights explicit";
  let description = [{
    First a `ck.qkv_linear` of which some weight is of a block type, or whose weights are stored in different types, becomes
    three `ck.linear`: kernels of quantised weights take one weight. The head-major form stays as it is.

    Then, if the module's `ck.numerics` is q8_activations or looser, the f32 input of each projection (`ck.linear`,
    vocabulary-major `ck.head_linear`) by a weight of a block type goes through `ck.quantize`, to the format that the
    weight's format is multiplied with:

    | weight | input |
    |---|---|
    | q4_0, q5_0, q8_0 | q8_0 |
    | q4_1, q5_1 | q8_1 |
    | q4_k, q5_k, q6_k | q8_k |

    A value is quantised once for each format, however many ops read it. In stricter modules inputs stay f32, and kernels
    multiply them by what the blocks stand for. A quantised value carries the name of its input with the format behind
    it.

    Before (`ck.numerics = "q8_activations"`):

    ```mlir
    %gate = ck.linear %x, %w1 : (tensor<?x256xf32>, tensor<512x256x!ck.q4_k>) -> tensor<?x512xf32>
    %up = ck.linear %x, %w3 : (tensor<?x256xf32>, tensor<512x256x!ck.q6_k>) -> tensor<?x512xf32>
    ```

    After:

    ```mlir
    %q = ck.quantize %x : (tensor<?x256xf32>) -> tensor<?x256x!ck.q8_k>
    %gate = ck.linear %q, %w1 : (tensor<?x256x!ck.q8_k>, tensor<512x256x!ck.q4_k>) -> tensor<?x512xf32>
    %up = ck.linear %q, %w3 : (tensor<?x256x!ck.q8_k>, tensor<512x256x!ck.q6_k>) -> tensor<?x512xf32>
    ```
  }];
  let dependentDialects = ["::ck::CKDialect"];
}

def CKPackWeights : Pass<"ck-pack-weights", "::mlir::ModuleOp"> {
  let summary = "gives quantised weights the layout that kernels read fastest";
  let description = [{
    Where a projection multiplies an input in blocks by a weight of a block type, straight from the file, it reads
    `ck.pack` of the weight instead; `--ck-hoist-init` then moves the packing to `@init`, once for all entries. Other
    readers of the weight, such as an embedding that shares it with the head, keep the raw one. Packed weights take memory of their own.

    `pack=load` does so; with `pack=never` kernels read what the file holds. Kernels of raw weights have one form: a
    `ck.head_linear` that still multiplies blocks by raw blocks becomes `ck.linear`, with a softcap as `ck.activation`
    behind it.

    Before:

    ```mlir
    %w = ck.param @w1 : tensor<512x256x!ck.q4_k>
    %y = ck.linear %q, %w : (tensor<?x256x!ck.q8_k>, tensor<512x256x!ck.q4_k>) -> tensor<?x512xf32>
    ```

    After:

    ```mlir
    %w = ck.param @w1 : tensor<512x256x!ck.q4_k>
    %p = ck.pack %w : (tensor<512x256x!ck.q4_k>) -> tensor<512x256x!ck.packed<q4_k, r16>> loc("w1.packed")
    %y = ck.linear %q, %p : (tensor<?x256x!ck.q8_k>, tensor<512x256x!ck.packed<q4_k, r16>>) -> tensor<?x512xf32>
    ```
  }];
  let options = [Option<"pack", "pack", "std::string", /*default=*/"\"load\"",
                        "load: pack weights when the model is loaded; never: kernels read what the file holds">];
  let dependentDialects = ["::ck::CKDialect"];
}

def CKHoistInit : Pass<"ck-hoist-init", "::mlir::ModuleOp"> {
  let summary = "moves what depends only on weights and constants into @init";
  let description = [{
    An op of an entry that has no side effects and depends on nothing but weights, constants and literals, itself or
    through other such ops, is moved to `@init`, which runs once at load. `@init` is created if missing. Each value that
    an entry still needs becomes a `ck.buffer` of role `const` and is read by `ck.param`. Equal chains of several
    entries, or of one, give one constant. A weight that is only read stays as it is, and so does `ck.fill`, which costs no
    more than reading a constant.

    A constant is named after the location of its op (for one of several results with the name of the result behind it),
    or after the op, made unique by a number.

    Before:

    ```mlir
    func.func @decode(%q: tensor<1x64xf32> {ck.input = "q"}, %pos: tensor<1xi32> {ck.input = "pos"})
        -> (tensor<1x64xf32> {ck.output = "y"}) attributes {ck.entry} {
      %cos, %sin = ck.rope_table {rows = 128, rotary_dim = 8, theta = 1.0e4 : f64}
          : () -> (tensor<128x4xf32>, tensor<128x4xf32>) loc("rope")
      %y = ck.rope %q pos %pos tables %cos, %sin {head_dim = 8, pairing = "half"} : ...
    ```

    After:

    ```mlir
    ck.buffer @rope_cos const : tensor<128x4xf32>
    ck.buffer @rope_sin const : tensor<128x4xf32>
    func.func @decode(...) {
      %cos = ck.param @rope_cos : tensor<128x4xf32>
      %sin = ck.param @rope_sin : tensor<128x4xf32>
      %y = ck.rope %q pos %pos tables %cos, %sin {head_dim = 8, pairing = "half"} : ...
    }
    func.func @init() -> (tensor<128x4xf32> {ck.const = @rope_cos}, tensor<128x4xf32> {ck.const = @rope_sin})
        attributes {ck.entry} {
      %cos, %sin = ck.rope_table {rows = 128, rotary_dim = 8, theta = 1.0e4 : f64} : ...
      return %cos, %sin : tensor<128x4xf32>, tensor<128x4xf32>
    }
    ```

    Errors: the symbol `init` is taken by something that is no entry.
  }];
  let dependentDialects = ["::ck::CKDialect", "::mlir::func::FuncDialect"];
}

def CKFuse : Pass<"ck-fuse", "::mlir::ModuleOp"> {
  let summary = "forms regions that one provider stands for";
  let description = [{
    Looks in every entry for the chains of kernel_maps/fusions/*.mlir and puts each into a `ck.fused` under the name of
    its contract. A chain is taken only if

    - a legal provider of the contract exists at these shapes and types, and costs no more than those of its ops;
    - its inner values have no other reader, and its results none before its end;
    - it lies outside other contracts: ops of a `ck.fused` are left alone.

    Earlier patterns (by file, then by function) win. Attributes that a pattern leaves open become parameters of the
    contract.

    Before:

    ```mlir
    %s = ck.add %x, %a : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
    %n = ck.rms_norm %s, %g {eps = 1.0e-5 : f64} : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    ```

    After:

    ```mlir
    %s, %n = ck.fused @add_rms_norm (%b = %x : tensor<?x64xf32>, %c = %a : tensor<?x64xf32>, %d = %g : tensor<64xf32>)
        -> (tensor<?x64xf32>, tensor<?x64xf32>) attributes {eps = 1.0e-5 : f64} {
      %0 = ck.add %b, %c : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
      %1 = ck.rms_norm %0, %d {eps = 1.0e-5 : f64} : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
      ck.yield %0, %1 : tensor<?x64xf32>, tensor<?x64xf32>
    }
    ```
  }];
  let options = [
    Option<"maps", "maps", "std::string", /*default=*/"", "Folder of kernel maps (default: as --ck-select-providers)">,
    Option<"isa", "isa", "std::string", /*default=*/"\"scalar\"", "Widest instruction set that every target machine has">];
  let dependentDialects = ["::ck::CKDialect", "::mlir::func::FuncDialect"];
}

def CKSchedule : Pass<"ck-schedule", "::mlir::ModuleOp"> {
  let summary = "orders entries for less work and less memory";
  let description = [{
    Two steps on every entry; both keep what it computes.

    1. `ck.last_row` moves up through ops whose rows are independent (`isRowwise` of the op's interface), so that only
       the last row is computed where only it is used: it passes an op if everything the op computes goes to
       `ck.last_row` alone, and becomes one `ck.last_row` for each operand that has the rows as its first dim. It passes
       the head, the last norm and feed-forward, and attention over a cache (which it turns into attention of one query),
       and stops where another op needs all rows. Blocks are an exception: no kernel picks a row of them, so what makes
       them is computed once more, for the last row.
    2. Ops sink towards their first use where that lowers the bytes that live in between (at the bounds): an op whose
       results are larger than the operands that it alone keeps alive. Reads of weights sink always, they cost nothing.
       An op never passes the op that updates one of its operands in place.

    The order of the result is a function of the input alone.

    Before:

    ```mlir
    %l = ck.head_linear %x, %w : (tensor<?x64xf32>, tensor<512x64xf32>) -> tensor<?x512xf32>
    %y = ck.last_row %l : (tensor<?x512xf32>) -> tensor<1x512xf32>
    ```

    After:

    ```mlir
    %r = ck.last_row %x : (tensor<?x64xf32>) -> tensor<1x64xf32>
    %y = ck.head_linear %r, %w : (tensor<1x64xf32>, tensor<512x64xf32>) -> tensor<1x512xf32>
    ```
  }];
}

def CKSelectProviders : Pass<"ck-select-providers", "::mlir::ModuleOp"> {
  let summary = "chooses a native function for every op: GRAPH to CALL";
  let description = [{
    For each op the kernel maps are tried: a provider is legal if its signature, attributes, `requires`, numerics class
    (within the module's `ck.numerics`, f32 by default) and instruction sets fit. Of the legal ones the policy takes

    - `fastest`: the least cost, with run-time extents at their bounds. Costs are those of the maps, or, where `costs` names
      a table of `ck-kernels tune` with a time of each legal provider, the times that were measured;
    - `reference`: the strictest numerics class, then the least cost;
    - `pin`: the one that `pin` names; every op must be pinned.

    `pin=<op>:<provider>` or `pin=@<name>:<provider>` (the op whose location has this name) prefers a legal provider
    under every policy. Selection fails closed: without a legal provider, with an illegal pin, or when two providers are
    equal and none is pinned, there is one error at the op that lists every candidate with the first reason why it was
    refused. Nothing is changed then.

    The op becomes a `ck.call` on `tensor.empty` destinations, or on the operand itself where the provider updates it.
    The maps of the providers in use are embedded as `ck.provider`, sorted by name. `ck.fused` becomes a call if a
    provider `fuses` its contract; else its region is inlined before its ops are selected. `remarks` prints for each op
    the chosen provider, its cost, and the candidates that were not.

    Before:

    ```mlir
    %y = ck.rms_norm %x, %g {eps = 1.0e-5 : f64} : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    ```

    After:

    ```mlir
    ck.provider @rmsnorm_forward {signature = "input[...T,E]:f32, gamma[E]:f32 -> ...", ...}
    ...
    %e = tensor.empty(%t) : tensor<?x64xf32>
    %y = ck.call @rmsnorm_forward ins(input = %x : tensor<?x64xf32>, gamma = %g : tensor<64xf32>)
        outs(output = %e : tensor<?x64xf32>) sizes(T = %t, E = 64) params({eps = 1.0e-5 : f64}) -> tensor<?x64xf32>
    ```
  }];
  let options = [
    Option<"policy", "policy", "std::string", /*default=*/"\"fastest\"", "fastest, reference or pin">,
    Option<"costs", "costs", "std::string", /*default=*/"\"\"", "File of measured costs (ck-kernels tune)">,
    ListOption<"pins", "pin", "std::string",
               "Preferred providers: op:provider, or @name:provider for the op at a named location">,
    Option<"maps", "maps", "std::string", /*default=*/"\"\"",
           "Folder of kernel maps; empty: $CK_KERNEL_MAPS, else those of the installation">,
    Option<"isa", "isa", "std::string", /*default=*/"\"scalar\"",
           "Widest instruction set that every target machine has: scalar, avx2, avx512 or avx512_vnni. A provider needs "
           "an implementation within it; faster ones are bound at load in any case">,
    Option<"remarks", "remarks", "bool", /*default=*/"false", "Say what was chosen and why, as remarks">
  ];
  let dependentDialects = ["::ck::CKDialect", "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def CKVerifyCall : Pass<"ck-verify-call", "::mlir::ModuleOp"> {
  let summary = "checks that a module is in CALL and complete for lowering";
  let description = [{
    Changes nothing; fails with one located error at the first rule that is broken:

    - in entries only `ck.call`, `ck.param`, `ck.bound`, `tensor.empty`, `tensor.dim`, `arith` on indices and `return`
      occur; an op of GRAPH is named with the pass that is missing;
    - every `ck.call` gives every dim of its provider's contract, and a value in its type for every param;
    - the contract unifies with the operands also at the bounds of run-time extents;
    - every `ck.provider` has a digest and a numerics class within the module's `ck.numerics` (f32 by default).

    Example of a call that passes (with `ck.provider @norm` of the signature `x[T,E]:f32 -> y[T,E]:f32` and the param
    `eps:f64`):

    ```mlir
    %y = ck.call @norm ins(x = %x : tensor<4x8xf32>) outs(y = %e : tensor<4x8xf32>) sizes(T = 4, E = 8)
        params({eps = 1.0e-5 : f64}) -> tensor<4x8xf32>
    ```

    Without `E = 8`, or without `eps`, it does not.
  }];
}

#endif // CK_TRANSFORMS_GRAPHPASSES_TD
