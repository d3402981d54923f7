//===- MemoryPasses.td - from tensors to planned memory ---------*- tablegen -*-===//
//
// CALL to PLAN: calls get buffers, buffers get addresses, and a judge that shares no code with the planner confirms it.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TRANSFORMS_MEMORYPASSES_TD
#define CK_TRANSFORMS_MEMORYPASSES_TD

include "mlir/Pass/PassBase.td"

def CKBufferize : Pass<"ck-bufferize", "::mlir::ModuleOp"> {
  let summary = "CALL on tensors to calls on memrefs, with outputs as destination arguments";
  let description = [{
    Runs upstream's one-shot bufferization over the whole module with compact (identity) layouts and gives entries their
    final interface:

    - a result tagged `ck.output` or `ck.const` becomes a trailing memref argument with the same tag, into which the
      value is computed directly where possible; its `ck.dims` name the dims that its run-time extents come from;
    - a result tagged `ck.state` is dropped: the argument of that state is updated in place, or, where nobody looks at its
      old value, the new one is computed there. A program that would need a copy of a state (it reads an old version after
      an update, or returns something else) is an error;
    - where one-shot analysis needs a copy (an output that equals an input, a value returned twice), it becomes a call of
      a copy provider: one that the module embeds, else the fitting map of `maps`. No `memref.copy` remains.

    Errors: an op that is not of CALL form, with the pass that is missing; results without a tag; run-time extents of an
    output that are no dim of the entry.

    Before:

    ```mlir
    func.func @step(%x: tensor<?x8xf32> {ck.input = "x", ck.dims = ["T"]},
                    %k: tensor<4x8xf32> {ck.state = @cache})
        -> (tensor<?x8xf32> {ck.output = "y"}, tensor<4x8xf32> {ck.state = @cache})
        attributes {ck.entry, ck.bounds = {T = 16 : i64}} {
      %c0 = arith.constant 0 : index
      %t = tensor.dim %x, %c0 : tensor<?x8xf32>
      %0 = ck.call @store ins(x = %x : tensor<?x8xf32>) outs(cache = %k : tensor<4x8xf32>) sizes(T = %t)
          -> tensor<4x8xf32>
      %e = tensor.empty(%t) : tensor<?x8xf32>
      %y = ck.call @norm ins(input = %x : tensor<?x8xf32>) outs(output = %e : tensor<?x8xf32>) sizes(T = %t)
          -> tensor<?x8xf32>
      return %y, %0 : tensor<?x8xf32>, tensor<4x8xf32>
    }
    ```

    After:

    ```mlir
    func.func @step(%x: memref<?x8xf32> {ck.input = "x", ck.dims = ["T"]}, %k: memref<4x8xf32> {ck.state = @cache},
                    %y: memref<?x8xf32> {ck.output = "y", ck.dims = ["T"]})
        attributes {ck.entry, ck.bounds = {T = 16 : i64}} {
      %c0 = arith.constant 0 : index
      %t = memref.dim %x, %c0 : memref<?x8xf32>
      ck.call @store ins(x = %x : memref<?x8xf32>) outs(cache = %k : memref<4x8xf32>) sizes(T = %t)
      ck.call @norm ins(input = %x : memref<?x8xf32>) outs(output = %y : memref<?x8xf32>) sizes(T = %t)
      return
    }
    ```
  }];
  let options = [
    Option<"maps", "maps", "std::string", /*default=*/"\"\"",
           "Folder of kernel maps to take a copy provider from when the module embeds none; empty: $CK_KERNEL_MAPS, else "
           "those of the installation">
  ];
  let dependentDialects = ["::ck::CKDialect", "::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect"];
}

def CKPlanMemory : Pass<"ck-plan-memory", "::mlir::ModuleOp"> {
  let summary = "gives every buffer its place in an arena";
  let description = [{
    Liveness over the straight line of each entry (inputs, outputs and scratch of one call overlap in time), then
    packing: every `memref.alloc` becomes a `ck.view` of the activation arena, named by its location, and every call
    gets the scratch of its provider's contract. Sizes are taken at the bounds of the run-time dims, offsets are
    multiples of 64, all arithmetic is exact in 64 bits and overflow is an error.

    A result takes the storage of an operand when its provider declares the pair in place, the operand dies at that call
    and the sizes are equal. Entries share one activation arena; they run one after the other.

    States and constants get the `offset` of their `ck.buffer` in the state and const arenas. In `@init` the argument of
    a constant, and in entries the `ck.param` of one, becomes a `ck.view const[...]`. Every entry gets `ck.arena_bytes`
    and `ck.thread_scratch_bytes` (for each member of the team), the module `ck.plan = {arena_bytes, const_bytes,
    state_bytes}` and `guard` if it is not 0.

    The report is a JSON object: the sizes of the arenas, and for each entry its bytes, the lower bound of any plan
    before and after in-place pairs, the winning strategy, the live set at the peak, and every buffer with name, op,
    offset, size and live steps.

    Before:

    ```mlir
    %a = memref.alloc(%t) : memref<?x64xf32>
    ck.call @gemm ins(a = %x : memref<?x64xf32>, b = %w : memref<64x64xf32>) outs(c = %a : memref<?x64xf32>)
        sizes(M = %t, K = 64, N = 64)
    ```

    After, with `T` at most 16 and a scratch of `packed[N*K]:f32`:

    ```mlir
    %a = ck.view activation[16384] sizes(%t) : memref<?x64xf32> loc("layers.0.q")
    %s = ck.view activation[0] : memref<16384xi8>
    ck.call @gemm ins(a = %x : memref<?x64xf32>, b = %w : memref<64x64xf32>) outs(c = %a : memref<?x64xf32>)
        scratch(%s : memref<16384xi8>) sizes(M = %t, K = 64, N = 64)
    ```
  }];
  let options = [
    Option<"packing", "packing", "std::string", /*default=*/"\"greedy\"", "How hard to pack: greedy, search or exact (docs/packing.md)">,
    Option<"nodes", "nodes", "int64_t", /*default=*/"250000", "Most nodes of search and exact packing, for each entry">,
    Option<"guard", "guard", "int64_t", /*default=*/"0",
           "Bytes to leave free around every buffer (red zones), checked by engines that can">,
    Option<"report", "report", "std::string", /*default=*/"\"\"", "Write a JSON report to this file ('-': stdout)">
  ];
  let dependentDialects = ["::ck::CKDialect"];
}

def CKVerifyPlan : Pass<"ck-verify-plan", "::mlir::ModuleOp"> {
  let summary = "judges a memory plan with a liveness analysis of its own";
  let description = [{
    Walks each entry and keeps, for every byte of the activation arena, which buffer was written there last. It rejects,
    with the names of the buffers and where they come from:

    - a read of bytes that another buffer has overwritten (two simultaneously live values overlap) or that nothing has
      written;
    - operands and scratch of one call that overlap without being a declared in-place pair;
    - views outside their arena, unaligned, or of constants that `@init` does not write; buffers of the state and const
      arenas that overlap; scratch smaller than the contract asks for;
    - a left-over `memref.alloc`, `memref.dealloc` or `memref.copy`, tensors, results, states that are copied to or from
      an activation, inputs that are written and outputs that are not.

    It shares no code with the planner but the sizes of types and of scratch. `remarks` prints, for each entry, the bytes
    of its arena, the most bytes that are live at one step, and their ratio; `max-ratio` makes a larger ratio an error.

    Example of a plan that it rejects (`%b` is written over `%a`, which is read later):

    ```mlir
    %a = ck.view activation[0] : memref<16xf32> loc("a")
    %b = ck.view activation[32] : memref<16xf32> loc("b")
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %a : memref<16xf32>) sizes(N = 16)
    ck.call @exp ins(input = %x : memref<16xf32>) outs(output = %b : memref<16xf32>) sizes(N = 16)
    ck.call @add ins(a = %a : memref<16xf32>, b = %b : memref<16xf32>) outs(output = %y : memref<16xf32>) sizes(N = 16)
    ```
  }];
  let options = [
    Option<"remarks", "remarks", "bool", /*default=*/"false", "Print bytes, bound and ratio of each entry">,
    Option<"maxRatio", "max-ratio", "double", /*default=*/"0",
           "Largest allowed ratio of arena bytes to the bound; 0 = any">
  ];
}

#endif // CK_TRANSFORMS_MEMORYPASSES_TD
