//===- Storage.cpp - bytes of types, bounds of sizes ----------------------===//
#include "ck/Dialect/CK/CKDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

std::string ck::dtypeName(Type type) {
  if (auto packed = dyn_cast<PackedType>(type))
    return "packed<" + dtypeName(packed.getStorage()) + ",r" + std::to_string(packed.getRows()) + ">";
  if (auto storage = dyn_cast<StorageTypeInterface>(type))
    return storage.getStorageName().str();
  if (type.isF32())
    return "f32";
  if (type.isF64())
    return "f64";
  if (type.isF16())
    return "f16";
  if (type.isBF16())
    return "bf16";
  if (auto integer = dyn_cast<IntegerType>(type); integer && !integer.isSigned())
    if (llvm::is_contained({8u, 16u, 32u, 64u}, integer.getWidth()))
      return (integer.isUnsigned() ? "u" : "i") + std::to_string(integer.getWidth());
  return "";
}

Type ck::parseDtype(MLIRContext *context, StringRef name) {
  Builder builder(context);
  if (name.consume_front("packed<")) {
    auto [storageName, group] = name.split(",r");
    int64_t rows = 0;
    Type storage = parseDtype(context, storageName);
    auto ignore = [&]() { return InFlightDiagnostic(); };
    if (!storage || !group.consume_back(">") || group.getAsInteger(10, rows) ||
        failed(PackedType::verifyInvariants(ignore, storage, rows)))
      return {};
    return PackedType::get(context, storage, rows);
  }
  return llvm::StringSwitch<llvm::function_ref<Type()>>(name)
      .Case("f32", [&]() -> Type { return builder.getF32Type(); })
      .Case("f64", [&]() -> Type { return builder.getF64Type(); })
      .Case("f16", [&]() -> Type { return builder.getF16Type(); })
      .Case("bf16", [&]() -> Type { return builder.getBF16Type(); })
      .Case("i8", [&]() -> Type { return builder.getI8Type(); })
      .Case("i16", [&]() -> Type { return builder.getIntegerType(16); })
      .Case("i32", [&]() -> Type { return builder.getI32Type(); })
      .Case("i64", [&]() -> Type { return builder.getI64Type(); })
      .Case("u8", [&]() -> Type { return builder.getIntegerType(8, /*isSigned=*/false); })
      .Case("u16", [&]() -> Type { return builder.getIntegerType(16, /*isSigned=*/false); })
      .Case("u32", [&]() -> Type { return builder.getIntegerType(32, /*isSigned=*/false); })
      .Case("u64", [&]() -> Type { return builder.getIntegerType(64, /*isSigned=*/false); })
      .Case("q4_0", [&]() -> Type { return Q4_0Type::get(context); })
      .Case("q4_1", [&]() -> Type { return Q4_1Type::get(context); })
      .Case("q4_k", [&]() -> Type { return Q4_KType::get(context); })
      .Case("q5_0", [&]() -> Type { return Q5_0Type::get(context); })
      .Case("q5_1", [&]() -> Type { return Q5_1Type::get(context); })
      .Case("q5_k", [&]() -> Type { return Q5_KType::get(context); })
      .Case("q6_k", [&]() -> Type { return Q6_KType::get(context); })
      .Case("q8_0", [&]() -> Type { return Q8_0Type::get(context); })
      .Case("q8_1", [&]() -> Type { return Q8_1Type::get(context); })
      .Case("q8_k", [&]() -> Type { return Q8_KType::get(context); })
      .Case("mxfp4", [&]() -> Type { return MXFP4Type::get(context); })
      .Case("nvfp4", [&]() -> Type { return NVFP4Type::get(context); })
      .Default([]() -> Type { return {}; })();
}

bool ck::isBlockType(Type elementType) {
  return isa<StorageTypeInterface>(elementType) && !isa<PackedType>(elementType);
}

FailureOr<int64_t> ck::storageBytes(Type elementType, ArrayRef<int64_t> shape) {
  int64_t blockElements = 1, blockBytes = 0, rowGroup = 1;
  if (auto storage = dyn_cast<StorageTypeInterface>(elementType)) {
    blockElements = storage.getBlockElements();
    blockBytes = storage.getBlockBytes();
    rowGroup = storage.getRowGroup();
  } else if (elementType.isIntOrFloat() && elementType.getIntOrFloatBitWidth() % 8 == 0) {
    blockBytes = elementType.getIntOrFloatBitWidth() / 8;
  } else {
    return failure();
  }
  int64_t columns = shape.empty() ? 1 : shape.back();
  if (columns < 0 || columns % blockElements != 0)
    return failure();
  int64_t rows = 1;
  for (int64_t extent : shape.drop_back(shape.empty() ? 0 : 1))
    if (extent < 0 || llvm::MulOverflow(rows, extent, rows))
      return failure();
  if (llvm::AddOverflow(rows, rowGroup - 1, rows))
    return failure();
  rows -= rows % rowGroup;
  int64_t rowBytes, bytes;
  if (llvm::MulOverflow(columns / blockElements, blockBytes, rowBytes) || llvm::MulOverflow(rows, rowBytes, bytes))
    return failure();
  return bytes;
}

/// The bound that the enclosing function gives the dim `axis` of one of its arguments.
static FailureOr<int64_t> argumentBound(BlockArgument argument, int64_t axis) {
  auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  auto type = dyn_cast<ShapedType>(argument.getType());
  if (!function || !argument.getOwner()->isEntryBlock() || !type || !type.hasRank() || axis < 0 ||
      axis >= type.getRank())
    return failure();
  if (!type.isDynamicDim(axis))
    return type.getDimSize(axis);
  auto dims = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "ck.dims");
  auto bounds = function->getAttrOfType<DictionaryAttr>("ck.bounds");
  if (!dims || !bounds)
    return failure();
  auto bound = bounds.getAs<IntegerAttr>(cast<StringAttr>(dims[type.getDynamicDimIndex(axis)]).getValue());
  if (!bound)
    return failure();
  return bound.getInt();
}

FailureOr<int64_t> ck::upperBound(Value index) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return *constant;
  Operation *op = index.getDefiningOp();
  if (!op)
    return failure();
  if (auto bound = dyn_cast<BoundOp>(op))
    return static_cast<int64_t>(bound.getBound());
  if (isa<tensor::DimOp, memref::DimOp>(op)) {
    auto source = dyn_cast<BlockArgument>(op->getOperand(0));
    std::optional<int64_t> axis = getConstantIntValue(op->getOperand(1));
    if (!source || !axis)
      return failure();
    return argumentBound(source, *axis);
  }
  if (op->getNumOperands() != 2)
    return failure();
  FailureOr<int64_t> lhs = upperBound(op->getOperand(0)), rhs = upperBound(op->getOperand(1));
  if (isa<arith::MinSIOp, arith::MinUIOp>(op)) {
    if (failed(lhs) || failed(rhs))
      return failed(lhs) ? rhs : lhs;
    return std::min(*lhs, *rhs);
  }
  if (failed(lhs) || failed(rhs))
    return failure();
  int64_t result;
  if (isa<arith::AddIOp>(op))
    return llvm::AddOverflow(*lhs, *rhs, result) ? FailureOr<int64_t>(failure()) : FailureOr<int64_t>(result);
  if (isa<arith::MulIOp>(op))
    return llvm::MulOverflow(*lhs, *rhs, result) ? FailureOr<int64_t>(failure()) : FailureOr<int64_t>(result);
  if (isa<arith::MaxSIOp, arith::MaxUIOp>(op))
    return std::max(*lhs, *rhs);
  // Dividing or subtracting bounds bounds the result only for a constant right-hand side.
  if (!getConstantIntValue(op->getOperand(1)))
    return failure();
  if (isa<arith::SubIOp>(op))
    return llvm::SubOverflow(*lhs, *rhs, result) ? FailureOr<int64_t>(failure()) : FailureOr<int64_t>(result);
  if (*rhs <= 0)
    return failure();
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(op))
    return *lhs / *rhs;
  if (isa<arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
    return llvm::divideCeilSigned(*lhs, *rhs);
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    return std::min(*lhs, *rhs - 1);
  return failure();
}

FailureOr<SmallVector<int64_t>> ck::boundedShape(ShapedType type, ValueRange sizes) {
  SmallVector<int64_t> shape(type.getShape());
  size_t next = 0;
  for (int64_t &extent : shape) {
    if (!ShapedType::isDynamic(extent))
      continue;
    if (next == sizes.size())
      return failure();
    FailureOr<int64_t> bound = upperBound(sizes[next++]);
    if (failed(bound))
      return failure();
    extent = *bound;
  }
  return shape;
}
