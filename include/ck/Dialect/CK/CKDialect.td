//===- CKDialect.td - the ck dialect and its base classes -------*- tablegen -*-===//
//
// The dialect, the classes that every op inherits, and the closed keyword lists that attributes share.
//
//===----------------------------------------------------------------------===//
#ifndef CK_DIALECT_TD
#define CK_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ck/Dialect/CK/CKInterfaces.td"

def CK_Dialect : Dialect {
  let name = "ck";
  let cppNamespace = "::ck";
  let summary = "decoder models as operations, buffers and calls of native kernels";
  let description = [{
    One dialect for the three phases of a model. In GRAPH, ops have value semantics on tensors. In CALL, each op has
    become a destination-style `ck.call` of a provider. In PLAN, the calls work on memrefs that are views of arenas.

    Attributes of the dialect on functions, their arguments and results:

    | attribute | on | meaning |
    |---|---|---|
    | `ck.entry` | function | an entry of the model |
    | `ck.bounds = {T = 64}` | function | upper bound of each named run-time dim |
    | `ck.dims = ["T"]` | argument | names of its dynamic dims, in order |
    | `ck.input = "tokens"` | argument | an input, by name |
    | `ck.state = @sym` | argument and result | a state: the result is the argument's new value |
    | `ck.wrt` | argument | an input whose gradient `--ck-autodiff` computes |
    | `ck.output = "logits"` | result (argument in PLAN) | an output, by name |
    | `ck.loss` | result | the output that `--ck-autodiff` differentiates |
    | `ck.grad = @sym` | result | the gradient of a trainable buffer |
    | `ck.const = @sym` | result of `@init` (argument in PLAN) | a constant computed at load |
    | `ck.layer = 3` | op | the layer of the model that it belongs to |
    | `ck.params = ["eps"]` | op of a fusion's pattern | attributes that may have any value |
    | `ck.backward`, `ck.remat` | op | it was made by `--ck-autodiff`, or computes something once more |
    | `ck.arena_bytes`, `ck.thread_scratch_bytes` | function | what planning reserved |
    | `ck.model`, `ck.numerics`, `ck.plan` | module | name, loosest numerics class allowed, sizes of const and state arenas |
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::memref::MemRefDialect"];
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

class CK_Op<string mnemonic, list<Trait> traits = []> : Op<CK_Dialect, mnemonic, traits>;

/// Verifies an op against its signature, infers its result types from it and reifies their shapes.
def CK_SignatureTrait : NativeOpTrait<"SignatureTrait"> {
  let cppNamespace = "::ck";
}

/// For ops with an adjoint; `Saving` ones have a form of their own for it.
def CK_Differentiable : DeclareOpInterfaceMethods<DifferentiableOpInterface>;
def CK_DifferentiableSaving : DeclareOpInterfaceMethods<DifferentiableOpInterface, ["prepareAdjoint"]>;

/// An op of the GRAPH phase. `signatureBody` returns the signature text of one instance: `op` is the op or its adaptor,
/// with the usual getters. Operands stand in the signature in ODS order. `rowwise` is a C++ condition on the op for
/// `isRowwise` of the interface: only the op knows it, shapes do not show whether rows look at each other.
/// `shapeAttributes` are the attributes that only repeat what the types say. `intoGroup` says that the last operand group
/// holds the values that results are added to, as many as the signature updates. `declarations` are further members. Of
/// an op of this class the result types say something that the operands do not, such as the format to quantise to.
class CK_TypedGraphOp<string mnemonic, list<Trait> traits = []>
    : CK_Op<mnemonic, traits # [Pure, CK_SignatureTrait, SignatureOpInterface,
                                DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  code signatureBody = "";
  string rowwise = "false";
  list<string> shapeAttributes = [];
  bit intoGroup = 0;
  code declarations = "";
  let extraClassDeclaration = declarations # [{
    static constexpr bool hasIntoGroup = }] # !if(intoGroup, "true", "false") # [{;
    template <typename OpOrAdaptor>
    static std::string signatureOf(OpOrAdaptor op) {
  }] # signatureBody # [{
    }
    ::std::string getSignatureText() { return signatureOf(Adaptor(*this)); }
    bool isRowwise() { return }] # rowwise # [{; }
    ::llvm::SmallVector<::llvm::StringRef> getShapeAttributes() {
      return {}] # !interleave(!foreach(name, shapeAttributes, "\"" # name # "\""), ", ") # [{};
    }
    /// Inference fills in what the operands determine; the signature checks the types that the IR states.
    static bool isCompatibleReturnTypes(::mlir::TypeRange, ::mlir::TypeRange) { return true; }
  }];
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::reifyResultShapes(::mlir::OpBuilder &builder,
                                                       ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      return ::ck::reifyFromSignature(*this, builder, shapes);
    }
  }];
}

/// An op of the GRAPH phase whose result types follow from its operands and attributes.
class CK_GraphOp<string mnemonic, list<Trait> traits = []>
    : CK_TypedGraphOp<mnemonic, traits # [InferTypeOpInterface]>;

/// Activations and what works on them: numbers in f32 or bf16, which are computed in f32.
def CK_Floats : RankedTensorOf<[F32, BF16]>;

def CK_Positive : ConfinedAttr<I64Attr, [IntPositive]>;
def CK_Flag : DefaultValuedAttr<BoolAttr, "false">;

/// An f64 attribute that C++ sees as a double.
def CK_Double : FloatAttrBase<F64, "64-bit float attribute"> {
  let returnType = "double";
  let convertFromStorage = "$_self.getValueAsDouble()";
}
class CK_Real<string value> : DefaultValuedAttr<CK_Double, value>;

/// A string attribute out of a closed list.
class CK_Keyword<list<string> values>
    : StringBasedAttr<And<[CPred<"::llvm::isa<::mlir::StringAttr>($_self)">,
                           CPred<"::llvm::is_contained({::llvm::StringRef(\"" #
                                 !interleave(values, "\"), ::llvm::StringRef(\"") #
                                 "\")}, ::llvm::cast<::mlir::StringAttr>($_self).getValue())">]>,
                      "one of " # !interleave(values, ", ")>;

class CK_KeywordOr<list<string> values, string default> : DefaultValuedStrAttr<CK_Keyword<values>, default>;

defvar CK_ActivationKinds = ["silu", "gelu_tanh", "gelu_erf", "gelu_quick", "relu", "relu2", "leaky_relu", "tanh",
                             "sigmoid", "exp", "sin", "softcap"];
defvar CK_GluKinds = ["silu", "gelu_tanh", "gelu_erf", "gelu_quick", "relu", "relu2", "sigmoid"];

#endif // CK_DIALECT_TD
