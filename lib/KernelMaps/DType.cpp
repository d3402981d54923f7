//===- DType.cpp - the element types of signatures ------------------------===//
//
// The table of types, and sizes computed from it.
//
//===----------------------------------------------------------------------===//
#include "ck/KernelMaps/DType.h"

#include "Cursor.h"

namespace ck {

const std::vector<DTypeInfo> &allDTypes() {
  static const std::vector<DTypeInfo> types = {
      {"f64", 1, 8, "double"},   {"f32", 1, 4, "float"},   {"f16", 1, 2, "uint16_t"},  {"bf16", 1, 2, "uint16_t"},
      {"i1", 1, 1, "uint8_t"},   {"i8", 1, 1, "int8_t"},   {"i16", 1, 2, "int16_t"},   {"i32", 1, 4, "int32_t"},
      {"i64", 1, 8, "int64_t"},  {"u8", 1, 1, "uint8_t"},  {"u16", 1, 2, "uint16_t"},  {"u32", 1, 4, "uint32_t"},
      {"u64", 1, 8, "uint64_t"}, {"q4_0", 32, 18, "void"}, {"q4_1", 32, 20, "void"},   {"q4_k", 256, 144, "void"},
      {"q5_0", 32, 22, "void"},  {"q5_1", 32, 24, "void"}, {"q5_k", 256, 176, "void"}, {"q6_k", 256, 210, "void"},
      {"q8_0", 32, 34, "void"},  {"q8_1", 32, 36, "void"}, {"q8_k", 256, 292, "void"}, {"nvfp4", 64, 36, "void"},
      {"mxfp4", 32, 17, "void"},
  };
  return types;
}

const DTypeInfo *findDTypeInfo(std::string_view name) {
  for (const DTypeInfo &type : allDTypes())
    if (type.name == name)
      return &type;
  return nullptr;
}

bool isKnownDType(std::string_view name) {
  if (findDTypeInfo(name))
    return true;
  Cursor cursor(name);
  if (!cursor.consume("packed") || !cursor.consume("<") || !findDTypeInfo(cursor.identifier()))
    return false;
  while (cursor.consume(","))
    if (cursor.identifier().empty())
      return false;
  return cursor.consume(">") && cursor.atEnd();
}

Result<int64_t> storageBytes(std::string_view dtype, const std::vector<int64_t> &shape) {
  const DTypeInfo *type = findDTypeInfo(dtype);
  if (!type)
    return Error{"the size of " + inQuotes(dtype) + " is not known"};
  // Blocks first: rows of a block type must be whole, and the count of blocks overflows later than that of elements.
  int64_t blocks = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t extent = shape[i];
    if (extent < 0)
      return Error{"extent " + extentText(extent) + " of " + shapeText(shape) + " has no size"};
    if (i + 1 == shape.size()) {
      if (extent % type->blockElements)
        return Error{"rows of " + std::to_string(extent) + " elements do not fill blocks of " +
                     std::to_string(type->blockElements) + " (" + std::string(dtype) + ")"};
      extent /= type->blockElements;
    }
    if (__builtin_mul_overflow(blocks, extent, &blocks))
      return Error{"the size of " + shapeText(shape) + " overflows 64 bits"};
  }
  if (shape.empty() && type->blockElements != 1)
    return Error{"one element does not fill a block of " + std::string(dtype)};
  int64_t bytes = 0;
  if (__builtin_mul_overflow(blocks, int64_t(type->blockBytes), &bytes))
    return Error{"the size of " + shapeText(shape) + " overflows 64 bits"};
  return bytes;
}

} // namespace ck
