//===- CKInterfaces.td - interfaces of ck ops and types ---------*- tablegen -*-===//
//
// Passes ask these interfaces; no pass switches over op names.
//
//===----------------------------------------------------------------------===//
#ifndef CK_INTERFACES_TD
#define CK_INTERFACES_TD

include "mlir/IR/OpBase.td"

def SignatureOpInterface : OpInterface<"SignatureOpInterface"> {
  let cppNamespace = "::ck";
  let description = [{
    An op whose shapes and types follow from a signature (`ck/KernelMaps/Signature.h`). The verifier, shape inference,
    reification and the choice of a provider are all that one unification.
  }];
  let methods = [
    InterfaceMethod<"The signature of this instance, as text.", "::std::string", "getSignatureText">,
    InterfaceMethod<[{
      One value for each input of the signature, in its order; null where an optional operand is absent.
    }], "::llvm::SmallVector<::mlir::Value>", "getSignatureOperands">,
    InterfaceMethod<[{
      True if rows are independent: where the first dim of the results is a dim T of the signature, row t of a result
      depends on row t of the operands whose first dim is T, and on the other operands as a whole.
    }], "bool", "isRowwise">,
    InterfaceMethod<"Attributes that only repeat what the types say, such as the sizes of a split.",
                    "::llvm::SmallVector<::llvm::StringRef>", "getShapeAttributes">
  ];
}

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::ck";
  let description = [{
    An op that reverse mode can go through (`--ck-autodiff`). A new op becomes differentiable by these methods alone.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds ops that compute the gradients of the operands that want one from the cotangents of the results, of which at
      least one exists. What it does not give is zero. Emits an error at the op and fails if there is no adjoint.
    }], "::llvm::LogicalResult", "buildAdjoint", (ins "::ck::Adjoint &":$adjoint)>,
    InterfaceMethod<[{
      Gives the op the form that saves what its adjoint reads: returns the op whose results now stand for those of this
      one, perhaps with more of them. New ops take the place of this one, which is erased then.
    }], "::mlir::Operation *", "prepareAdjoint",
        (ins "::mlir::OpBuilder &":$builder, "const ::ck::AdjointOptions &":$options), "", [{
      (void)builder;
      (void)options;
      return $_op.getOperation();
    }]>,
    InterfaceMethod<[{
      Names of operands of floats that the adjoint does not differentiate. It is an error if a gradient has to pass one.
    }], "::llvm::SmallVector<::llvm::StringRef>", "getUndifferentiated", (ins), "", [{ return {}; }]>
  ];
}

def GradientOpInterface : OpInterface<"GradientOpInterface"> {
  let cppNamespace = "::ck";
  let description = [{
    An op whose results are gradients by name. `wrt` says which of its gradients exist, `accumulate` which of them are added
    to values that are given as operands. The signature follows from both.
  }];
  let methods = [
    InterfaceMethod<"What the op takes, and every gradient that it can give.", "::ck::GradientTable",
                    "getGradientTable">,
    InterfaceMethod<"The attribute `wrt`; null if the op always gives all gradients.", "::mlir::ArrayAttr",
                    "getWrtNames">,
    InterfaceMethod<"The group of gradients that are added to operands: none, params, input or all.",
                    "::llvm::StringRef", "getAccumulateMode">,
    InterfaceMethod<"The groups that the op can add, besides none.", "::llvm::SmallVector<::llvm::StringRef>",
                    "getAccumulateModes">,
    InterfaceMethod<"Number of values that are given to add to.", "unsigned", "getIntoCount">
  ];
}

def ProjectionOpInterface : OpInterface<"ProjectionOpInterface"> {
  let cppNamespace = "::ck";
  let description = [{
    An op that multiplies rows of one input by one weight. `--ck-quantize-activations` and `--ck-pack-weights` change what
    both are stored in.
  }];
  let methods = [
    InterfaceMethod<"The input.", "::mlir::OpOperand &", "getProjectedInput">,
    InterfaceMethod<"The weight.", "::mlir::OpOperand &", "getProjectionWeight">,
    InterfaceMethod<"True if each value of the result is a product of a row of the input and a row of the weight.",
                    "bool", "isProductOfRows">
  ];
}

def CK_StorageTypeInterface : TypeInterface<"StorageTypeInterface"> {
  let cppNamespace = "::ck";
  let description = [{
    An element type whose bytes are not those of a scalar. Tensors of it carry the logical shape; rows (the last dim)
    are stored as whole blocks.
  }];
  let methods = [
    InterfaceMethod<"Name in signatures and kernel maps.", "::llvm::StringRef", "getStorageName">,
    InterfaceMethod<"Elements in one block.", "int64_t", "getBlockElements">,
    InterfaceMethod<"Bytes of one block.", "int64_t", "getBlockBytes">,
    InterfaceMethod<"Rows are stored in groups of this many.", "int64_t", "getRowGroup">
  ];
}

#endif // CK_INTERFACES_TD
