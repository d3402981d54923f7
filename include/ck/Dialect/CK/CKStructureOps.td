//===- CKStructureOps.td - buffers, providers, calls, views -----*- tablegen -*-===//
//
// The ops that frame a model: what storage it has, which native functions it calls and where their operands live.
//
//===----------------------------------------------------------------------===//
#ifndef CK_STRUCTUREOPS_TD
#define CK_STRUCTUREOPS_TD

include "ck/Dialect/CK/CKDialect.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/ValueBoundsOpInterface.td"

def CK_BufferOp : CK_Op<"buffer", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "declares a named buffer of the model";
  let description = [{
    Declares a weight, state, constant, input, output, activation, gradient or scratch buffer: its role, its logical
    type and, for weights, the file and tensor that it is mapped from. Weights are never literals in the IR.

    `from "file"["tensor"]` names the container, relative to the module's file, and the tensor in it; its shape may
    differ from the declared one as long as the number of elements is the same. `alias @root` says that the buffer is
    the storage of another one (a tied output head); aliases are resolved before anything else. `dims` records symbolic
    dims with a multiplier or divisor for reports, for example `["aligned_intermediate*2", "aligned_embed"]`; `when`
    names the condition under which the buffer exists. `offset` is set by planning for states and constants. `trainable`
    marks a weight that training changes: gradients are computed for those only.

    Example:

    ```mlir
    ck.buffer @tok_emb weight : tensor<512x64xf32> from "model.safetensors"["model.embed_tokens.weight"]
    ck.buffer @lm_head weight alias @tok_emb : tensor<512x64xf32>
    ck.buffer @layers.0.k_cache state : tensor<4x128x8xf32>
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    CK_Keyword<["weight", "input", "output", "activation", "grad", "scratch", "state", "const"]>:$role,
    TypeAttrOf<AnyRankedTensor>:$type,
    OptionalAttr<FlatSymbolRefAttr>:$alias,
    OptionalAttr<StrAttr>:$file,
    OptionalAttr<StrAttr>:$tensor,
    CK_KeywordOr<["global", "layer"], "global">:$scope,
    OptionalAttr<StrArrayAttr>:$dims,
    OptionalAttr<CK_Keyword<["rope_theta", "training_enabled"]>>:$when,
    OptionalAttr<I64Attr>:$offset,
    UnitAttr:$trainable);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() { return ::llvm::cast<::mlir::RankedTensorType>(getType()); }
    /// The buffer whose storage this one is: itself unless it is an alias. Null if the chain is broken or a cycle.
    BufferOp getRoot();
  }];
}

def CK_ParamOp : CK_Op<"param", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "reads a weight or constant buffer";
  let description = [{
    The value of a buffer of role `weight` or `const`: a tensor before bufferization, a memref after it. It is read-only.

    Example:

    ```mlir
    %w = ck.param @layers.0.wq : tensor<64x64xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$buffer);
  let results = (outs AnyTypeOf<[AnyRankedTensor, AnyStaticShapeMemRef]>:$result);
  let assemblyFormat = "$buffer attr-dict `:` type($result)";
}

def CK_ProviderOp : CK_Op<"provider", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "the contract of a native function that the module calls";
  let description = [{
    What lowering needs of a kernel map (`inventory_op` is its operation there), with the digest of the map, so that a selected module can be lowered without
    any JSON. Fields are in the notation of kernel maps: `signature` and `where` in the signature language, `params` as
    `name:type`, `scratch` as `name[elements]:dtype`, `inplace` as `input=output` for pairs that may share storage.

    Example:

    ```mlir
    ck.provider @rmsnorm_forward {digest = "d0", numerics = "f32", inventory_op = "rmsnorm", params = ["eps:f64"],
        signature = "input[...T,E]:f32, gamma[E]:f32 -> output[...T,E]:f32", inplace = ["input=output"]}
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    StrAttr:$inventory_op,
    StrAttr:$signature,
    DefaultValuedAttr<StrArrayAttr, "{}">:$where,
    DefaultValuedAttr<StrArrayAttr, "{}">:$params,
    DefaultValuedAttr<StrArrayAttr, "{}">:$scratch,
    DefaultValuedAttr<StrArrayAttr, "{}">:$inplace,
    CK_Keyword<["f64", "f32", "f16_operands", "bf16_operands", "q8_activations", "approx"]>:$numerics,
    StrAttr:$digest);
  let assemblyFormat = "$sym_name attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The parsed contract; the op's verifier has made sure that it parses.
    ::ck::Contract getContract();
    /// Embeds `map`.
    static ProviderOp create(::mlir::OpBuilder &builder, ::mlir::Location loc, const ::ck::KernelMap &map);
  }];
}

def CK_CallOp : CK_Op<"call", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<DestinationStyleOpInterface, ["getDpsInitsMutable"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "calls a provider on destinations";
  let description = [{
    Calls a native function. `ins` and `outs` bind values to the operands of the provider's signature by name; an absent
    optional operand is not listed, an operand that is updated in place is listed in `outs` only. `sizes` gives every
    dim of the signature, static or as a value; `params` the attributes that are passed by value. On tensors there is
    one result for each `outs`, in order; on memrefs there are none, and `scratch` gives the arena scratch in the
    order of the contract. A call that fails makes the whole entry fail with its status.

    Example:

    ```mlir
    %y = ck.call @gemm ins(a = %x : tensor<?x64xf32>, b = %w : tensor<32x64xf32>) outs(c = %e : tensor<?x32xf32>)
        sizes(M = %t, K = 64, N = 32) -> tensor<?x32xf32>
    ```
  }];
  let arguments = (ins
    FlatSymbolRefAttr:$callee,
    Variadic<AnyTypeOf<[AnyRankedTensor, AnyMemRef]>>:$inputs,
    Variadic<AnyTypeOf<[AnyRankedTensor, AnyMemRef]>>:$inits,
    Variadic<AnyMemRef>:$scratch,
    Variadic<Index>:$sizes,
    StrArrayAttr:$input_names,
    StrArrayAttr:$init_names,
    StrArrayAttr:$size_names,
    DenseI64ArrayAttr:$static_sizes,
    DefaultValuedAttr<DictionaryAttr, "{}">:$params);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The provider, looked up in the enclosing module; null if it is missing.
    ProviderOp getProvider();
    /// The value bound to an operand of the provider's signature: from `outs` first, then `ins`; null if absent.
    ::mlir::Value getBound(::llvm::StringRef name);
    /// Sizes in order of `size_names`: an IntegerAttr (index) or a value.
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedSizes();
    static CallOp create(::mlir::OpBuilder &builder, ::mlir::Location loc, ::mlir::FlatSymbolRefAttr callee,
                         ::mlir::ValueRange inputs, ::llvm::ArrayRef<::llvm::StringRef> inputNames,
                         ::mlir::ValueRange inits, ::llvm::ArrayRef<::llvm::StringRef> initNames,
                         ::llvm::ArrayRef<::llvm::StringRef> sizeNames,
                         ::llvm::ArrayRef<::mlir::OpFoldResult> sizes, ::mlir::DictionaryAttr params,
                         ::mlir::ValueRange scratch = {});
  }];
}

def CK_ViewOp : CK_Op<"view", [Pure]> {
  let summary = "a buffer at a byte offset of an arena";
  let description = [{
    A planned buffer. The arena is `activation` (one for all entries) or `const` (written by `@init`, read by entries).
    Strides are compact at the run-time extents; `sizes` gives the dynamic ones. The location carries the buffer's name.

    Example:

    ```mlir
    %v = ck.view activation[8192] sizes(%t) : memref<?x64xf32>
    ```
  }];
  let arguments = (ins CK_Keyword<["activation", "const"]>:$arena, I64Attr:$offset, Variadic<Index>:$sizes);
  let results = (outs AnyMemRef:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def CK_BoundOp : CK_Op<"bound", [DeclareOpInterfaceMethods<ValueBoundsOpInterface, ["populateBoundsForIndexValue"]>]> {
  let summary = "checks a size against its planned bound";
  let description = [{
    Passes `value` on when it is at most `bound`; otherwise the entry fails with the name of the location, the value
    and the bound. Memory is planned for the bound.

    Example:

    ```mlir
    %u = ck.bound %n <= 4096
    ```
  }];
  let arguments = (ins Index:$value, ConfinedAttr<I64Attr, [IntNonNegative]>:$bound);
  let results = (outs Index:$result);
  let assemblyFormat = "$value ` ` `<` `=` $bound attr-dict";
}

def CK_FusedOp : CK_Op<"fused", [IsolatedFromAbove, RecursiveMemoryEffects, SingleBlock]> {
  let summary = "a chain of ops under one contract";
  let description = [{
    What equals a chain of other ops is not an op: it is this, a region of GRAPH ops with the name of a contract. The
    region is its reference, its adjoint and its fallback: it is inlined when no provider implements the contract.

    Example:

    ```mlir
    %y = ck.fused @residual_norm (%a = %x : tensor<4x8xf32>, %b = %r : tensor<4x8xf32>) -> tensor<4x8xf32> {
      %s = ck.add %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
      ck.yield %s : tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$contract, Variadic<AnyRankedTensor>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def CK_YieldOp : CK_Op<"yield", [Pure, Terminator, HasParent<"FusedOp">]> {
  let summary = "ends the region of `ck.fused`";
  let description = [{
    Gives the results of the region to the enclosing `ck.fused`.

    Example:

    ```mlir
    ck.yield %s : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // CK_STRUCTUREOPS_TD
