//===- StructureOps.cpp - buffers, providers, calls, views ----------------===//
#include "ck/Dialect/CK/CKDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace ck;

#define GET_OP_CLASSES
#include "ck/Dialect/CK/CKOps.cpp.inc"

/// Operand lists of the form `name = %value : type, ...`.
namespace {
struct NamedOperands {
  SmallVector<Attribute> names;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
};
} // namespace

static ParseResult parseNamedOperands(OpAsmParser &parser, NamedOperands &list) {
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, [&]() -> ParseResult {
    std::string name;
    if (parser.parseKeywordOrString(&name) || parser.parseEqual() ||
        parser.parseOperand(list.operands.emplace_back()) || parser.parseColonType(list.types.emplace_back()))
      return failure();
    list.names.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  });
}

static void printNamedOperands(OpAsmPrinter &printer, ValueRange values, ArrayAttr names) {
  printer << "(";
  llvm::interleaveComma(llvm::zip(names.getAsRange<StringAttr>(), values), printer, [&](auto pair) {
    printer.printKeywordOrString(std::get<0>(pair).getValue());
    printer << " = " << std::get<1>(pair) << " : " << std::get<1>(pair).getType();
  });
  printer << ")";
}

//===----------------------------------------------------------------------===//
// BufferOp
//===----------------------------------------------------------------------===//

ParseResult BufferOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  StringAttr name;
  StringRef role;
  Type type;
  if (parser.parseSymbolName(name, getSymNameAttrName(state.name), state.attributes) || parser.parseKeyword(&role))
    return failure();
  state.addAttribute(getRoleAttrName(state.name), builder.getStringAttr(role));
  if (succeeded(parser.parseOptionalKeyword("alias"))) {
    StringAttr root;
    if (parser.parseSymbolName(root))
      return failure();
    state.addAttribute(getAliasAttrName(state.name), FlatSymbolRefAttr::get(root));
  }
  if (parser.parseColonType(type))
    return failure();
  state.addAttribute(getTypeAttrName(state.name), TypeAttr::get(type));
  if (succeeded(parser.parseOptionalKeyword("from"))) {
    StringAttr file, tensor;
    if (parser.parseAttribute(file) || parser.parseLSquare() || parser.parseAttribute(tensor) || parser.parseRSquare())
      return failure();
    state.addAttribute(getFileAttrName(state.name), file);
    state.addAttribute(getTensorAttrName(state.name), tensor);
  }
  return parser.parseOptionalAttrDict(state.attributes);
}

void BufferOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printer.printSymbolName(getSymName());
  printer << " " << getRole();
  if (getAlias()) {
    printer << " alias ";
    printer.printSymbolName(*getAlias());
  }
  printer << " : " << getType();
  if (getFile() && getTensor())
    printer << " from " << getFileAttr() << "[" << getTensorAttr() << "]";
  SmallVector<StringRef> elided = {"sym_name", "role", "alias", "type"};
  if (getFile() && getTensor())
    elided.append({"file", "tensor"});
  if (getScope() == "global")
    elided.push_back("scope");
  printer.printOptionalAttrDict((*this)->getAttrs(), elided);
}

BufferOp BufferOp::getRoot() {
  llvm::SmallPtrSet<Operation *, 4> seen;
  BufferOp buffer = *this;
  while (buffer && buffer.getAlias()) {
    if (!seen.insert(buffer).second)
      return {};
    buffer = SymbolTable::lookupNearestSymbolFrom<BufferOp>(buffer->getParentOp(), buffer.getAliasAttr());
  }
  return buffer;
}

LogicalResult BufferOp::verify() {
  RankedTensorType type = getTensorType();
  if (dtypeName(type.getElementType()).empty())
    return emitOpError() << "cannot store elements of type " << type.getElementType();
  if (getFile().has_value() != getTensor().has_value())
    return emitOpError("needs both a file and a tensor, or neither");
  if (getFile() && getRole() != "weight")
    return emitOpError() << "of role " << getRole() << " cannot come from a file";
  if (getFile() && getAlias())
    return emitOpError("is an alias and cannot come from a file of its own");
  if (getTrainable() && getRole() != "weight")
    return emitOpError() << "of role " << getRole() << " cannot be trainable: weights are";
  if (getTrainable() && getAlias())
    return emitOpError() << "is an alias; mark its root '" << *getAlias() << "' as trainable";
  if (getTrainable() && !type.getElementType().isF32())
    return emitOpError() << "is trainable and must have f32 elements, got " << type;
  if (getDims() && getDims()->size() < static_cast<size_t>(type.getRank()))
    return emitOpError() << "names " << getDims()->size() << " dims for a tensor of rank " << type.getRank();
  if (type.hasStaticShape() && failed(storageBytes(type.getElementType(), type.getShape())))
    return emitOpError() << "has no whole number of bytes, or more than 64 bits can count: " << type;
  if (!type.hasStaticShape() && llvm::is_contained({"weight", "state", "const"}, getRole()))
    return emitOpError() << "of role " << getRole() << " needs a static shape, got " << type;
  if (getAlias()) {
    BufferOp root = getRoot();
    if (!root)
      return emitOpError() << "is an alias of '" << *getAlias() << "', which leads to no buffer";
    if (root.getRole() != getRole())
      return emitOpError() << "has role " << getRole() << ", but its root '" << root.getSymName() << "' has role "
                           << root.getRole();
    if (root.getTensorType() != type)
      return emitOpError() << "has type " << type << ", but its root '" << root.getSymName() << "' has "
                           << root.getTensorType();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// ParamOp
//===----------------------------------------------------------------------===//

LogicalResult ParamOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto buffer = symbols.lookupNearestSymbolFrom<BufferOp>(*this, getBufferAttr());
  if (!buffer)
    return emitOpError() << "'" << getBuffer() << "' is no ck.buffer of this module";
  if (buffer.getRole() != "weight" && buffer.getRole() != "const")
    return emitOpError() << "reads weights and constants, but '" << getBuffer() << "' has role " << buffer.getRole();
  auto type = cast<ShapedType>(getType());
  RankedTensorType declared = buffer.getTensorType();
  if (type.getShape() != declared.getShape() || type.getElementType() != declared.getElementType())
    return emitOpError() << "has type " << type << ", but '" << getBuffer() << "' is declared " << declared;
  return success();
}

//===----------------------------------------------------------------------===//
// ProviderOp
//===----------------------------------------------------------------------===//

template <typename T, typename Parse> static Status parseList(ArrayAttr list, std::vector<T> &values, Parse parse) {
  for (auto text : list.getAsRange<StringAttr>()) {
    Result<T> value = parse(text.getValue().str());
    if (!value)
      return Error{"'" + text.getValue().str() + "': " + value.error().message};
    values.push_back(*value);
  }
  return Status::success();
}

static Result<Contract> parseContract(ProviderOp op) {
  Contract contract;
  contract.id = op.getSymName().str();
  Result<Signature> signature = parseSignature(op.getSignature().str());
  if (!signature)
    return Error{"signature: " + signature.error().message};
  contract.signature = *signature;
  if (Status status = parseList(op.getWhere(), contract.where, parseWhere); !status)
    return Error{"where " + status.error().message};
  if (Status status = parseList(op.getParams(), contract.params, parseParamDecl); !status)
    return Error{"params " + status.error().message};
  if (Status status = parseList(op.getScratch(), contract.scratch, parseScratchDecl); !status)
    return Error{"scratch " + status.error().message};
  for (auto text : op.getInplace().getAsRange<StringAttr>()) {
    auto [input, output] = text.getValue().split('=');
    if (!contract.signature.findInput(input.str()) || !contract.signature.findOutput(output.str()))
      return Error{"inplace '" + text.getValue().str() + "' is not a pair input=output of the signature"};
    contract.inplace.emplace_back(input.str(), output.str());
  }
  return contract;
}

LogicalResult ProviderOp::verify() {
  Result<Contract> contract = parseContract(*this);
  if (!contract)
    return emitOpError() << "has a malformed contract: " << contract.error().message;
  return success();
}

Contract ProviderOp::getContract() {
  Result<Contract> contract = parseContract(*this);
  return contract ? *contract : Contract();
}

template <typename T> static ArrayAttr printList(Builder &builder, const std::vector<T> &values) {
  SmallVector<Attribute> texts;
  for (const T &value : values)
    texts.push_back(builder.getStringAttr(value.str()));
  return builder.getArrayAttr(texts);
}

ProviderOp ProviderOp::create(OpBuilder &builder, Location loc, const KernelMap &map) {
  const Contract &contract = map.contract;
  SmallVector<Attribute> inplace;
  for (const auto &[input, output] : contract.inplace)
    inplace.push_back(builder.getStringAttr(input + "=" + output));
  return create(builder, loc, builder.getStringAttr(contract.id), builder.getStringAttr(map.operation),
                builder.getStringAttr(contract.signature.str()), printList(builder, contract.where),
                printList(builder, contract.params), printList(builder, contract.scratch),
                builder.getArrayAttr(inplace), builder.getStringAttr(StringRef(toString(map.numerics))),
                builder.getStringAttr(map.digest));
}

//===----------------------------------------------------------------------===//
// CallOp
//===----------------------------------------------------------------------===//

ParseResult CallOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  StringAttr callee;
  NamedOperands ins, outs;
  SmallVector<OpAsmParser::UnresolvedOperand> scratch, sizes;
  SmallVector<Type> scratchTypes, resultTypes;
  SmallVector<Attribute> sizeNames;
  SmallVector<int64_t> staticSizes;
  DictionaryAttr params = builder.getDictionaryAttr({});

  if (parser.parseSymbolName(callee))
    return failure();
  SMLoc operandsLoc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword("ins")) && parseNamedOperands(parser, ins))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("outs")) && parseNamedOperands(parser, outs))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("scratch")) &&
      (parser.parseLParen() || parser.parseOperandList(scratch) || parser.parseColonTypeList(scratchTypes) ||
       parser.parseRParen()))
    return failure();
  auto parseSize = [&]() -> ParseResult {
    StringRef name;
    int64_t extent = ShapedType::kDynamic;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    OptionalParseResult integer = parser.parseOptionalInteger(extent);
    if (integer.has_value() ? failed(*integer) : failed(parser.parseOperand(sizes.emplace_back())))
      return failure();
    sizeNames.push_back(builder.getStringAttr(name));
    staticSizes.push_back(extent);
    return success();
  };
  if (succeeded(parser.parseOptionalKeyword("sizes")) &&
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseSize))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("params")) &&
      (parser.parseLParen() || parser.parseAttribute(params) || parser.parseRParen()))
    return failure();
  if (parser.parseOptionalAttrDict(state.attributes) || parser.parseOptionalArrowTypeList(resultTypes))
    return failure();

  auto &properties = state.getOrAddProperties<Properties>();
  properties.callee = FlatSymbolRefAttr::get(callee);
  properties.input_names = builder.getArrayAttr(ins.names);
  properties.init_names = builder.getArrayAttr(outs.names);
  properties.size_names = builder.getArrayAttr(sizeNames);
  properties.static_sizes = builder.getDenseI64ArrayAttr(staticSizes);
  properties.params = params;
  properties.operandSegmentSizes = {static_cast<int32_t>(ins.operands.size()),
                                    static_cast<int32_t>(outs.operands.size()), static_cast<int32_t>(scratch.size()),
                                    static_cast<int32_t>(sizes.size())};
  state.addTypes(resultTypes);
  return failure(parser.resolveOperands(ins.operands, ins.types, operandsLoc, state.operands) ||
                 parser.resolveOperands(outs.operands, outs.types, operandsLoc, state.operands) ||
                 parser.resolveOperands(scratch, scratchTypes, operandsLoc, state.operands) ||
                 parser.resolveOperands(sizes, builder.getIndexType(), state.operands));
}

void CallOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printer.printSymbolName(getCallee());
  if (!getInputs().empty()) {
    printer << " ins";
    printNamedOperands(printer, getInputs(), getInputNames());
  }
  if (!getInits().empty()) {
    printer << " outs";
    printNamedOperands(printer, getInits(), getInitNames());
  }
  if (!getScratch().empty())
    printer << " scratch(" << getScratch() << " : " << getScratch().getTypes() << ")";
  if (!getSizeNames().empty()) {
    printer << " sizes(";
    llvm::interleaveComma(llvm::zip(getSizeNames().getAsRange<StringAttr>(), getMixedSizes()), printer, [&](auto pair) {
      printer << std::get<0>(pair).getValue() << " = ";
      if (auto value = dyn_cast<Value>(std::get<1>(pair)))
        printer << value;
      else
        printer << cast<IntegerAttr>(cast<Attribute>(std::get<1>(pair))).getInt();
    });
    printer << ")";
  }
  if (!getParams().empty())
    printer << " params(" << getParams() << ")";
  printer.printOptionalAttrDict((*this)->getAttrs(), {"callee", "input_names", "init_names", "size_names",
                                                      "static_sizes", "params", "operandSegmentSizes"});
  printer.printOptionalArrowTypeList(getResultTypes());
}

CallOp CallOp::create(OpBuilder &builder, Location loc, FlatSymbolRefAttr callee, ValueRange inputs,
                      ArrayRef<StringRef> inputNames, ValueRange inits, ArrayRef<StringRef> initNames,
                      ArrayRef<StringRef> sizeNames, ArrayRef<OpFoldResult> sizes, DictionaryAttr params,
                      ValueRange scratch) {
  SmallVector<Value> dynamicSizes;
  SmallVector<int64_t> staticSizes;
  dispatchIndexOpFoldResults(sizes, dynamicSizes, staticSizes);
  SmallVector<Type> results;
  for (Value init : inits)
    if (isa<RankedTensorType>(init.getType()))
      results.push_back(init.getType());
  return create(builder, loc, results, callee, inputs, inits, scratch, dynamicSizes,
                builder.getStrArrayAttr(inputNames), builder.getStrArrayAttr(initNames),
                builder.getStrArrayAttr(sizeNames), builder.getDenseI64ArrayAttr(staticSizes), params);
}

MutableOperandRange CallOp::getDpsInitsMutable() { return getInitsMutable(); }

ProviderOp CallOp::getProvider() { return SymbolTable::lookupNearestSymbolFrom<ProviderOp>(*this, getCalleeAttr()); }

Value CallOp::getBound(StringRef name) {
  for (auto [init, initName] : llvm::zip(getInits(), getInitNames().getAsRange<StringAttr>()))
    if (initName.getValue() == name)
      return init;
  for (auto [input, inputName] : llvm::zip(getInputs(), getInputNames().getAsRange<StringAttr>()))
    if (inputName.getValue() == name)
      return input;
  return {};
}

SmallVector<OpFoldResult> CallOp::getMixedSizes() { return getMixedValues(getStaticSizes(), getSizes(), getContext()); }

void CallOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand &operand : (*this)->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &operand, SideEffects::DefaultResource::get());
    unsigned index = operand.getOperandNumber();
    if (index >= getInputs().size())
      effects.emplace_back(MemoryEffects::Write::get(), &operand, SideEffects::DefaultResource::get());
  }
}

/// Checks that `names` are distinct operands of the signature side on which they may stand.
static LogicalResult verifyNames(CallOp op, ArrayAttr names, size_t values, StringRef list) {
  if (names.size() != values)
    return op.emitOpError() << "has " << names.size() << " " << list << " names for " << values << " values";
  llvm::StringSet<> seen;
  for (auto name : names.getAsRange<StringAttr>())
    if (!seen.insert(name.getValue()).second)
      return op.emitOpError() << "binds '" << name.getValue() << "' twice in " << list;
  return success();
}

LogicalResult CallOp::verify() {
  if (failed(verifyNames(*this, getInputNames(), getInputs().size(), "ins")) ||
      failed(verifyNames(*this, getInitNames(), getInits().size(), "outs")) ||
      failed(verifyNames(*this, getSizeNames(), getStaticSizes().size(), "sizes")))
    return failure();
  for (auto [name, extent] : llvm::zip(getSizeNames().getAsRange<StringAttr>(), getStaticSizes()))
    if (extent < 0 && !ShapedType::isDynamic(extent))
      return emitOpError() << "gives a negative size, " << name.getValue() << " = " << extent;
  int64_t dynamic = llvm::count(getStaticSizes(), ShapedType::kDynamic);
  if (dynamic != static_cast<int64_t>(getSizes().size()))
    return emitOpError() << "has " << dynamic << " dynamic sizes for " << getSizes().size() << " values";
  bool onTensors = !getInits().empty() && isa<RankedTensorType>(getInits().front().getType());
  for (Value value : llvm::concat<Value>(SmallVector<Value>(getInputs()), SmallVector<Value>(getInits())))
    if (isa<RankedTensorType>(value.getType()) != onTensors)
      return emitOpError("mixes tensors and memrefs");
  size_t wanted = onTensors ? getInits().size() : 0;
  if (getNumResults() != wanted)
    return emitOpError() << "needs one result for each tensor in outs (" << wanted << "), got " << getNumResults();
  for (auto [result, init] : llvm::zip(getResultTypes(), getInits()))
    if (result != init.getType())
      return emitOpError() << "result type " << result << " differs from its destination " << init.getType();
  return success();
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto provider = symbols.lookupNearestSymbolFrom<ProviderOp>(*this, getCalleeAttr());
  if (!provider)
    return emitOpError() << "'" << getCallee() << "' is no ck.provider of this module";
  Result<Contract> contract = parseContract(provider);
  if (!contract)
    return success(); // The provider's own verifier reports it.
  const Signature &signature = contract->signature;
  for (auto name : getInputNames().getAsRange<StringAttr>())
    if (!signature.findInput(name.str()) || signature.isUpdated(name.str()))
      return emitOpError() << "'" << name.getValue() << "' is no read-only operand of '" << getCallee()
                           << "': " << signature.str();
  for (auto name : getInitNames().getAsRange<StringAttr>())
    if (!signature.findOutput(name.str()))
      return emitOpError() << "'" << name.getValue() << "' is no result of '" << getCallee()
                           << "': " << signature.str();
  std::vector<std::string> attributes = attributeNames(*contract);
  for (NamedAttribute param : getParams())
    if (llvm::none_of(contract->params, [&](const ParamDecl &decl) { return decl.name == param.getName(); }) &&
        !llvm::is_contained(attributes, param.getName().getValue()))
      return emitOpError() << "gives '" << param.getName().getValue() << "', which is neither a param of '"
                           << getCallee() << "' nor named by its contract";
  Params params = signatureParams(getParams());
  std::vector<ActualOperand> inputs, outputs;
  for (const SigOperand &operand : signature.inputs) {
    Value value = getBound(operand.name);
    if (!value && !operand.optional)
      return emitOpError() << "does not bind '" << operand.name << "' of '" << getCallee() << "'";
    inputs.push_back(value ? actualOperand(value.getType()) : ActualOperand());
  }
  for (const SigOperand &operand : signature.outputs) {
    Value value = getBound(operand.name);
    if (!value && !operand.optional)
      return emitOpError() << "does not bind '" << operand.name << "' of '" << getCallee() << "'";
    outputs.push_back(value ? actualOperand(value.getType()) : ActualOperand());
  }
  Result<Bindings> bindings = unify(signature, contract->where, inputs, outputs, params);
  if (!bindings)
    return emitOpError() << "of '" << getCallee() << "': " << bindings.error().message;
  for (auto [name, extent] : llvm::zip(getSizeNames().getAsRange<StringAttr>(), getStaticSizes())) {
    const DimDef *dim = bindings->find(name.str());
    if (!dim)
      return emitOpError() << "'" << name.getValue() << "' is no dim of '" << getCallee() << "'";
    if (dim->extent != extent && dim->extent != kDynamicDim && !ShapedType::isDynamic(extent))
      return emitOpError() << "gives " << name.getValue() << " = " << extent << ", but its operands have "
                           << dim->extent;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// ViewOp
//===----------------------------------------------------------------------===//

ParseResult ViewOp::parse(OpAsmParser &parser, OperationState &state) {
  StringRef arena;
  int64_t offset;
  SmallVector<OpAsmParser::UnresolvedOperand> sizes;
  Type type;
  Builder &builder = parser.getBuilder();
  if (parser.parseKeyword(&arena) || parser.parseLSquare() || parser.parseInteger(offset) || parser.parseRSquare())
    return failure();
  if (succeeded(parser.parseOptionalKeyword("sizes")) && parser.parseOperandList(sizes, OpAsmParser::Delimiter::Paren))
    return failure();
  if (parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type))
    return failure();
  state.addAttribute(getArenaAttrName(state.name), builder.getStringAttr(arena));
  state.addAttribute(getOffsetAttrName(state.name), builder.getI64IntegerAttr(offset));
  state.addTypes(type);
  return parser.resolveOperands(sizes, builder.getIndexType(), state.operands);
}

void ViewOp::print(OpAsmPrinter &printer) {
  printer << " " << getArena() << "[" << getOffset() << "]";
  if (!getSizes().empty())
    printer << " sizes(" << getSizes() << ")";
  printer.printOptionalAttrDict((*this)->getAttrs(), {"arena", "offset"});
  printer << " : " << getType();
}

LogicalResult ViewOp::verify() {
  auto type = cast<MemRefType>(getType());
  if (static_cast<int64_t>(getOffset()) < 0)
    return emitOpError() << "starts at a negative offset, " << static_cast<int64_t>(getOffset());
  if (!type.getLayout().isIdentity())
    return emitOpError() << "is compact, but its type has a layout: " << type;
  if (type.getNumDynamicDims() != getSizes().size())
    return emitOpError() << "gives " << getSizes().size() << " sizes for " << type.getNumDynamicDims()
                         << " dynamic dims of " << type;
  return success();
}

//===----------------------------------------------------------------------===//
// BoundOp
//===----------------------------------------------------------------------===//

void BoundOp::populateBoundsForIndexValue(Value value, ValueBoundsConstraintSet &constraints) {
  constraints.bound(value) <= static_cast<int64_t>(getBound());
  constraints.bound(value) == getValue();
}

//===----------------------------------------------------------------------===//
// FusedOp
//===----------------------------------------------------------------------===//

ParseResult FusedOp::parse(OpAsmParser &parser, OperationState &state) {
  StringAttr contract;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types, results;
  if (parser.parseSymbolName(contract))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  auto parseOne = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    if (parser.parseArgument(argument) || parser.parseEqual() || parser.parseOperand(operands.emplace_back()) ||
        parser.parseColonType(argument.type))
      return failure();
    types.push_back(argument.type);
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseOne) ||
      parser.parseOptionalArrowTypeList(results) || parser.parseOptionalAttrDictWithKeyword(state.attributes))
    return failure();
  state.addAttribute(getContractAttrName(state.name), FlatSymbolRefAttr::get(contract));
  state.addTypes(results);
  return failure(parser.resolveOperands(operands, types, loc, state.operands) ||
                 parser.parseRegion(*state.addRegion(), arguments));
}

void FusedOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printer.printSymbolName(getContract());
  printer << " (";
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getInputs()), printer, [&](auto pair) {
    printer << std::get<0>(pair) << " = " << std::get<1>(pair) << " : " << std::get<1>(pair).getType();
  });
  printer << ")";
  printer.printOptionalArrowTypeList(getResultTypes());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"contract"});
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult FusedOp::verify() {
  if (getBody().getArgumentTypes() != TypeRange(getInputs()))
    return emitOpError("has a region whose arguments differ from its inputs");
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield)
    return emitOpError("must end in ck.yield");
  if (yield.getValues().getTypes() != getResultTypes())
    return emitOpError() << "yields " << yield.getValues().getTypes() << ", but its results are " << getResultTypes();
  return success();
}
