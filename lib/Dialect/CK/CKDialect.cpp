//===- CKDialect.cpp - registration, types, function attributes -----------===//
//
// Registers the dialect and checks the attributes that it puts on functions, arguments and results, so that passes
// can rely on their form.
//
//===----------------------------------------------------------------------===//
#include "ck/Dialect/CK/CKDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ck;

#include "ck/Dialect/CK/CKDialect.cpp.inc"
#include "ck/Dialect/CK/CKOpInterfaces.cpp.inc"
#include "ck/Dialect/CK/CKTypeInterfaces.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "ck/Dialect/CK/CKTypes.cpp.inc"

void CKDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ck/Dialect/CK/CKOps.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "ck/Dialect/CK/CKTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Packed storage
//===----------------------------------------------------------------------===//

int64_t PackedType::getBlockElements() const {
  auto block = dyn_cast<StorageTypeInterface>(getStorage());
  return block ? block.getBlockElements() : 1;
}

int64_t PackedType::getBlockBytes() const {
  auto block = dyn_cast<StorageTypeInterface>(getStorage());
  return block ? block.getBlockBytes() : getStorage().getIntOrFloatBitWidth() / 8;
}

LogicalResult PackedType::verify(function_ref<InFlightDiagnostic()> emitError, Type storage, int64_t rows) {
  bool storable = isa<FloatType, StorageTypeInterface>(storage) && !dtypeName(storage).empty();
  if (!storable || isa<PackedType>(storage))
    return emitError() << "packed storage must be a float or block type, got " << storage;
  if (rows < 1 || rows > 1024)
    return emitError() << "packed row group must be between 1 and 1024, got " << rows;
  return success();
}

Type PackedType::parse(AsmParser &parser) {
  StringRef storageName, groupName;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&storageName) || parser.parseComma() ||
      parser.parseKeyword(&groupName) || parser.parseGreater())
    return {};
  Type storage = parseDtype(parser.getContext(), storageName);
  int64_t rows = 0;
  if (!storage || !groupName.consume_front("r") || groupName.getAsInteger(10, rows)) {
    parser.emitError(loc) << "expected a storage type and a row group, for example `q4_k, r8`";
    return {};
  }
  return parser.getChecked<PackedType>(loc, parser.getContext(), storage, rows);
}

void PackedType::print(AsmPrinter &printer) const {
  printer << "<" << dtypeName(getStorage()) << ", r" << getRows() << ">";
}

//===----------------------------------------------------------------------===//
// Attributes on functions
//===----------------------------------------------------------------------===//

static LogicalResult expect(Operation *op, bool ok, NamedAttribute attribute, StringRef form) {
  if (ok)
    return success();
  return op->emitError() << "'" << attribute.getName().getValue() << "' must be " << form << ", got "
                         << attribute.getValue();
}

static bool isNonNegativeInteger(Attribute value) {
  auto integer = dyn_cast<IntegerAttr>(value);
  return integer && integer.getType().isSignlessInteger(64) && integer.getInt() >= 0;
}

static bool isPositiveInteger(Attribute value) {
  return isNonNegativeInteger(value) && cast<IntegerAttr>(value).getInt() > 0;
}

LogicalResult CKDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName().getValue();
  Attribute value = attribute.getValue();
  if (name == "ck.entry")
    return expect(op, isa<UnitAttr>(value) && isa<FunctionOpInterface>(op), attribute,
                  "a unit attribute on a function");
  if (name == "ck.bounds") {
    auto bounds = dyn_cast<DictionaryAttr>(value);
    bool ok = bounds && isa<FunctionOpInterface>(op) &&
              llvm::all_of(bounds, [](NamedAttribute bound) { return isPositiveInteger(bound.getValue()); });
    return expect(op, ok, attribute, "a dictionary of positive i64 bounds on a function");
  }
  if (name == "ck.arena_bytes" || name == "ck.thread_scratch_bytes")
    return expect(op, isNonNegativeInteger(value) && isa<FunctionOpInterface>(op), attribute,
                  "a non-negative i64 on a function");
  if (name == "ck.model")
    return expect(op, isa<StringAttr>(value) && isa<ModuleOp>(op), attribute, "a string on a module");
  if (name == "ck.numerics") {
    auto text = dyn_cast<StringAttr>(value);
    return expect(op, text && isa<ModuleOp>(op) && parseNumericsClass(text.getValue().str()), attribute,
                  "a numerics class on a module (f64, f32, f16_operands, bf16_operands, q8_activations, approx)");
  }
  if (name == "ck.plan")
    return expect(op, isa<DictionaryAttr>(value) && isa<ModuleOp>(op), attribute, "a dictionary on a module");
  if (name == "ck.layer")
    return expect(op, isNonNegativeInteger(value), attribute, "a non-negative i64");
  if (name == "ck.remat" || name == "ck.backward")
    return expect(op, isa<UnitAttr>(value), attribute, "a unit attribute");
  if (name == "ck.params") {
    auto names = dyn_cast<ArrayAttr>(value);
    return expect(op, names && llvm::all_of(names, [](Attribute one) { return isa<StringAttr>(one); }), attribute,
                  "a list of names of attributes");
  }
  return op->emitError() << "unknown attribute '" << name << "' of the ck dialect";
}

static LogicalResult verifyValueAttribute(Operation *op, NamedAttribute attribute, Type type, bool isResult) {
  StringRef name = attribute.getName().getValue();
  Attribute value = attribute.getValue();
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return op->emitError() << "'" << name << "' belongs on a ranked tensor or memref, got " << type;
  if (name == "ck.dims") {
    auto dims = dyn_cast<ArrayAttr>(value);
    bool strings = dims && llvm::all_of(dims, [](Attribute dim) { return isa<StringAttr>(dim); });
    if (!strings || isResult)
      return expect(op, false, attribute, "an array of strings on an argument");
    if (dims.size() != static_cast<size_t>(shaped.getNumDynamicDims()))
      return op->emitError() << "'ck.dims' names " << dims.size() << " dims, but " << type << " has "
                             << shaped.getNumDynamicDims() << " dynamic ones";
    auto bounds = op->getAttrOfType<DictionaryAttr>("ck.bounds");
    for (auto dim : dims.getAsRange<StringAttr>())
      if (!bounds || !bounds.contains(dim.getValue()))
        return op->emitError() << "dim '" << dim.getValue() << "' has no bound in 'ck.bounds'";
    return success();
  }
  if (name == "ck.input")
    return expect(op, isa<StringAttr>(value) && !isResult, attribute, "a string on an argument");
  if (name == "ck.output")
    return expect(op, isa<StringAttr>(value), attribute, "a string");
  if (name == "ck.wrt")
    return expect(op, isa<UnitAttr>(value) && !isResult, attribute, "a unit attribute on an argument");
  if (name == "ck.loss")
    return expect(op, isa<UnitAttr>(value), attribute, "a unit attribute");
  if (name == "ck.grad")
    return expect(op, isa<FlatSymbolRefAttr>(value), attribute, "a symbol of a ck.buffer");
  if (name == "ck.state" || name == "ck.const")
    return expect(op, isa<FlatSymbolRefAttr>(value), attribute, "a symbol of a ck.buffer");
  return op->emitError() << "unknown attribute '" << name << "' of the ck dialect";
}

LogicalResult CKDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argIndex,
                                                  NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return op->emitError() << "'" << attribute.getName().getValue() << "' belongs on an argument of a function";
  return verifyValueAttribute(op, attribute, function.getArgumentTypes()[argIndex], /*isResult=*/false);
}

LogicalResult CKDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned resultIndex,
                                                     NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return op->emitError() << "'" << attribute.getName().getValue() << "' belongs on a result of a function";
  return verifyValueAttribute(op, attribute, function.getResultTypes()[resultIndex], /*isResult=*/true);
}
