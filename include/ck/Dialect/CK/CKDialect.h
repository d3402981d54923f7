//===- CKDialect.h - the ck dialect, its types and ops ----------*- C++ -*-===//
//
// The one header of the dialect. `SignatureTrait` gives every GRAPH op its verifier, its shape inference and its
// reification from the signature that its ODS entry states.
//
//===----------------------------------------------------------------------===//
#ifndef CK_DIALECT_CK_CKDIALECT_H
#define CK_DIALECT_CK_CKDIALECT_H

#include "ck/Dialect/CK/Adjoint.h"
#include "ck/Dialect/CK/Gradients.h"
#include "ck/KernelMaps/KernelMap.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

#include "ck/Dialect/CK/CKDialect.h.inc"
#include "ck/Dialect/CK/CKOpInterfaces.h.inc"
#include "ck/Dialect/CK/CKTypeInterfaces.h.inc"
#define GET_TYPEDEF_CLASSES
#include "ck/Dialect/CK/CKTypes.h.inc"

namespace ck {

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

/// Name of an element type in signatures and kernel maps: "f32", "i32", "q4_k"; "" if the language has none.
std::string dtypeName(mlir::Type elementType);
/// The element type of a name; null for an unknown one.
mlir::Type parseDtype(mlir::MLIRContext *context, llvm::StringRef name);
/// Bytes of a compact buffer with `shape` (static extents) of `elementType`. Fails on overflow and when a row is not a
/// whole number of blocks.
llvm::FailureOr<int64_t> storageBytes(mlir::Type elementType, llvm::ArrayRef<int64_t> shape);

/// True for a type of blocks: quantised, not packed.
bool isBlockType(mlir::Type elementType);

/// The block type that inputs are rounded to where they are multiplied by weights of `elementType`: q8_0 for q4_0, q5_0
/// and q8_0, q8_1 for q4_1 and q5_1, q8_k for q4_k, q5_k and q6_k; null for every other type.
mlir::Type activationType(mlir::Type elementType);

/// Rows that `ck.pack` interleaves.
inline constexpr int64_t kPackedRows = 16;

/// Largest value that an index can take, from constants, dims of entry arguments (`ck.dims` and `ck.bounds`),
/// `ck.bound` and arithmetic on these; fails if there is no bound.
llvm::FailureOr<int64_t> upperBound(mlir::Value index);
/// The shape of `type` with each dynamic extent, in order the values `sizes`, replaced by its upper bound.
llvm::FailureOr<llvm::SmallVector<int64_t>> boundedShape(mlir::ShapedType type, mlir::ValueRange sizes);

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

/// An operand as the signature library sees it; a null value is an absent one.
ActualOperand actualOperand(mlir::Type type);
/// Integer, float, bool and string attributes as signature parameters; others are left out.
Params signatureParams(mlir::DictionaryAttr attributes);

/// Unifies `op` with its signature, results included. Emits one error on the op and fails if it does not fit.
llvm::FailureOr<Bindings> bindSignature(SignatureOpInterface op, Signature &signature);

/// A dim of a bound signature as a constant or as ops that compute it from `inputs` (then `outputs`).
llvm::FailureOr<mlir::OpFoldResult> materializeDim(mlir::OpBuilder &builder, mlir::Location loc,
                                                   const Bindings &bindings, llvm::StringRef dim,
                                                   mlir::ValueRange operands, const Params &params);
llvm::FailureOr<mlir::OpFoldResult> materializeExpr(mlir::OpBuilder &builder, mlir::Location loc,
                                                    const Bindings &bindings, const Expr &expr,
                                                    mlir::ValueRange operands, const Params &params);

llvm::LogicalResult verifySignature(mlir::Operation *op);
/// The shapes of results of `types`, which stand for the outputs of `signature` in order; extents that are not static
/// are computed from `operands` (one for each input, null where absent). Fails if one cannot be.
llvm::LogicalResult reifyOutputs(mlir::OpBuilder &builder, mlir::Location loc, const Signature &signature,
                                 const Bindings &bindings, mlir::ValueRange operands, const Params &params,
                                 mlir::TypeRange types, mlir::ReifiedRankedShapedTypeDims &shapes);
llvm::LogicalResult reifyFromSignature(mlir::Operation *op, mlir::OpBuilder &builder,
                                       mlir::ReifiedRankedShapedTypeDims &shapes);
llvm::LogicalResult inferFromSignature(mlir::MLIRContext *context, std::optional<mlir::Location> loc,
                                       llvm::StringRef text, llvm::ArrayRef<mlir::Value> operands,
                                       mlir::DictionaryAttr attributes, llvm::SmallVectorImpl<mlir::Type> &types);

/// Signatures whose form depends on an attribute or on the number of operands.
std::string transposeSignature(llvm::ArrayRef<int64_t> perm);
std::string splitSignature(mlir::Value input, int64_t axis, llvm::ArrayRef<int64_t> sizes);
std::string concatSignature(mlir::ValueRange inputs, int64_t axis);
std::string packSignature(mlir::Value input);
/// Of a rotation: q and maybe k of type `from`, further operands `positions`, results of type `to`.
std::string rotationSignature(llvm::StringRef layout, llvm::StringRef positions, llvm::StringRef from,
                              llvm::StringRef to, bool hasK);
/// Name of the element type of what a projection of `input` gives: bf16 for bf16, else f32.
std::string projectedDtype(mlir::Value input);

/// One value for each input of a signature: ODS operand i is input i, except that a lone variadic operand gives them
/// all, and that the last of `groups`, if variadic, gives the rest.
template <typename OpOrAdaptor>
llvm::SmallVector<mlir::Value> groupOperands(OpOrAdaptor op, size_t inputs, unsigned groups) {
  llvm::SmallVector<mlir::Value> values;
  for (unsigned group = 0; group < groups; ++group) {
    auto range = op.getODSOperands(group);
    values.append(range.begin(), range.end());
    if (range.empty() && groups != 1)
      values.push_back({});
  }
  values.resize(inputs);
  return values;
}

/// Number of operands of `signature` that are updated.
unsigned countUpdated(const Signature &signature);

/// The op trait behind CK_GraphOp.
template <typename ConcreteOp> class SignatureTrait : public mlir::OpTrait::TraitBase<ConcreteOp, SignatureTrait> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return verifySignature(op); }

  llvm::SmallVector<mlir::Value> getSignatureOperands() {
    auto op = llvm::cast<ConcreteOp>(this->getOperation());
    return operandsOf(typename ConcreteOp::Adaptor(op), op.getSignatureText());
  }

  static llvm::LogicalResult inferReturnTypes(mlir::MLIRContext *context, std::optional<mlir::Location> loc,
                                              mlir::ValueRange operands, mlir::DictionaryAttr attributes,
                                              mlir::OpaqueProperties properties, mlir::RegionRange regions,
                                              llvm::SmallVectorImpl<mlir::Type> &types) {
    mlir::NamedAttrList all(attributes);
    if constexpr (hasAttributes()) {
      auto filled = *properties.as<typename ConcreteOp::Properties *>();
      ConcreteOp::populateDefaultProperties(mlir::OperationName(ConcreteOp::getOperationName(), context), filled);
      if (auto dict = llvm::dyn_cast_or_null<mlir::DictionaryAttr>(ConcreteOp::getPropertiesAsAttr(context, filled)))
        all.append(dict.getValue());
    }
    typename ConcreteOp::Adaptor adaptor(operands, attributes, properties, regions);
    std::string text = ConcreteOp::signatureOf(adaptor);
    return inferFromSignature(context, loc, text, operandsOf(adaptor, text), all.getDictionary(context), types);
  }

private:
  static constexpr bool hasAttributes() {
    return !std::is_same_v<typename ConcreteOp::Properties, mlir::EmptyProperties>;
  }
  template <typename Adaptor> static llvm::SmallVector<mlir::Value> operandsOf(Adaptor adaptor, llvm::StringRef text) {
    auto signature = parseSignature(text.str());
    size_t inputs = signature ? signature->inputs.size() : 0;
    constexpr bool variadic = ConcreteOp::template hasTrait<mlir::OpTrait::VariadicOperands>();
    unsigned groups = variadic ? 1 : static_cast<unsigned>(inputs);
    if constexpr (ConcreteOp::hasIntoGroup)
      groups = groups - (signature ? countUpdated(*signature) : 0) + 1;
    return groupOperands(adaptor, inputs, groups);
  }
};

} // namespace ck

#define GET_OP_CLASSES
#include "ck/Dialect/CK/CKOps.h.inc"

#endif // CK_DIALECT_CK_CKDIALECT_H
