//===- Decls.cpp - params and scratch of a contract -----------------------===//
//
// Text forms of params, scratch and numerics classes, as JSON maps and `ck.provider` write them.
//
//===----------------------------------------------------------------------===//
#include "Cursor.h"
#include "ck/KernelMaps/DType.h"
#include "ck/KernelMaps/KernelMap.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace ck {

static std::string kindText(const ParamDecl &decl) {
  switch (decl.kind) {
  case ParamDecl::Kind::I64:
    return "i64";
  case ParamDecl::Kind::F64:
    return "f64";
  case ParamDecl::Kind::Bool:
    return "bool";
  case ParamDecl::Kind::Enum:
    break;
  }
  return "{" + join(decl.values, ",") + "}";
}

std::string ParamDecl::str() const {
  return name + ":" + kindText(*this) + (defaultValue ? " = " + toString(*defaultValue) : "");
}

/// Reads the text of a default; its type is settled by convertParam.
static Result<Param> parseParamValue(const ParamDecl &decl, std::string_view text) {
  if (decl.kind == ParamDecl::Kind::Enum)
    return Param(std::string(text));
  if (text == "true" || text == "false")
    return Param(text == "true");
  const char *end = text.data() + text.size();
  int64_t integer = 0;
  if (auto r = std::from_chars(text.data(), end, integer); r.ec == std::errc() && r.ptr == end)
    return Param(integer);
  double number = 0;
  if (auto r = std::from_chars(text.data(), end, number); r.ec == std::errc() && r.ptr == end && std::isfinite(number))
    return Param(number);
  return Error{"param " + decl.name + ": " + inQuotes(text) + " is no value"};
}

Result<Param> convertParam(const ParamDecl &decl, const Param &value) {
  auto error = [&](const std::string &expected) {
    return Error{"param " + decl.name + " must be " + expected + ", but is " + inQuotes(toString(value))};
  };
  switch (decl.kind) {
  case ParamDecl::Kind::I64:
    if (std::holds_alternative<int64_t>(value))
      return value;
    return error("an integer");
  case ParamDecl::Kind::F64:
    if (const int64_t *integer = std::get_if<int64_t>(&value))
      return Param(static_cast<double>(*integer));
    if (std::holds_alternative<double>(value))
      return value;
    return error("a number");
  case ParamDecl::Kind::Bool:
    if (std::holds_alternative<bool>(value))
      return value;
    return error("true or false");
  case ParamDecl::Kind::Enum:
    break;
  }
  const std::string *text = std::get_if<std::string>(&value);
  if (text && std::find(decl.values.begin(), decl.values.end(), *text) != decl.values.end())
    return value;
  return error("one of " + join(decl.values, ", "));
}

Result<ParamDecl> parseParamDecl(std::string_view text) {
  if (text.size() > kMaxTextLength)
    return Error{"param is longer than " + std::to_string(kMaxTextLength) + " bytes"};
  Cursor cursor(text);
  ParamDecl decl;
  decl.name = cursor.identifier();
  if (decl.name.empty())
    return cursor.expected("the name of a param");
  if (!cursor.consume(":"))
    return cursor.expected("':' and a type");
  if (cursor.consume("{")) {
    decl.kind = ParamDecl::Kind::Enum;
    do {
      // Values may start with a digit.
      std::string value(cursor.digits());
      if (value.empty() || cursor.peek() == '_' || !cursor.startsWith(","))
        value += cursor.identifier();
      if (value.empty())
        return cursor.expected("a value");
      if (std::find(decl.values.begin(), decl.values.end(), value) != decl.values.end())
        return cursor.error("value " + inQuotes(value) + " is listed twice");
      decl.values.push_back(std::move(value));
    } while (cursor.consume(","));
    if (!cursor.consume("}"))
      return cursor.expected("'}' or ','");
  } else {
    size_t start = cursor.mark();
    std::string_view kind = cursor.identifier();
    if (kind == "i64")
      decl.kind = ParamDecl::Kind::I64;
    else if (kind == "f64")
      decl.kind = ParamDecl::Kind::F64;
    else if (kind == "bool")
      decl.kind = ParamDecl::Kind::Bool;
    else
      return cursor.errorAt(start, "expected i64, f64, bool or '{' and values");
  }
  if (cursor.consume("=")) {
    std::string_view valueText = cursor.until('\0');
    Result<Param> value = parseParamValue(decl, valueText);
    if (!value)
      return value.error();
    Result<Param> converted = convertParam(decl, *value);
    if (!converted)
      return converted.error();
    decl.defaultValue = *converted;
  }
  if (!cursor.atEnd())
    return cursor.expected("'=' or the end");
  return decl;
}

std::string ScratchDecl::str() const {
  return name + "[" + elements.str() + "]:" + dtype + (perThread ? " @thread" : "");
}

Result<ScratchDecl> parseScratchDecl(std::string_view text) {
  if (text.size() > kMaxTextLength)
    return Error{"scratch is longer than " + std::to_string(kMaxTextLength) + " bytes"};
  Cursor cursor(text);
  ScratchDecl decl;
  decl.name = cursor.identifier();
  if (decl.name.empty())
    return cursor.expected("the name of scratch memory");
  if (!cursor.consume("["))
    return cursor.expected("'[' and the number of elements");
  Result<Expr> elements = parseExpression(cursor);
  if (!elements)
    return elements.error();
  decl.elements = *elements;
  if (!cursor.consume("]"))
    return cursor.expected("']'");
  if (!cursor.consume(":"))
    return cursor.expected("':' and an element type");
  size_t start = cursor.mark();
  decl.dtype = cursor.identifier();
  if (!findDTypeInfo(decl.dtype))
    return cursor.errorAt(start, "expected an element type of known size");
  if (size_t flag = cursor.mark(); cursor.consume("@")) {
    if (cursor.identifier() != "thread")
      return cursor.errorAt(flag, "expected '@thread'");
    decl.perThread = true;
  }
  if (!cursor.atEnd())
    return cursor.expected("'@thread' or the end");
  return decl;
}

Result<int64_t> ScratchDecl::bytes(const Expr::Lookup &lookup) const {
  Result<int64_t> count = elements.evaluate(lookup);
  if (!count)
    return Error{"scratch " + name + ": " + count.error().message};
  if (*count == kDynamicDim)
    return kDynamicDim;
  if (*count < 0)
    return Error{"scratch " + name + ": " + elements.str() + " = " + std::to_string(*count) + " is negative"};
  const DTypeInfo *type = findDTypeInfo(dtype);
  if (!type)
    return Error{"scratch " + name + ": the size of " + inQuotes(dtype) + " is not known"};
  int64_t blocks = *count / type->blockElements + (*count % type->blockElements != 0);
  int64_t size = 0;
  if (__builtin_mul_overflow(blocks, int64_t(type->blockBytes), &size) || size > INT64_MAX - 63)
    return Error{"scratch " + name + ": its size overflows 64 bits"};
  return (size + 63) / 64 * 64;
}

static constexpr std::string_view kClassNames[] = {"f64",   "f32", "f16_operands", "bf16_operands", "q8_activations",
                                                   "approx"};

std::optional<NumericsClass> parseNumericsClass(std::string_view name) {
  for (size_t i = 0; i < std::size(kClassNames); ++i)
    if (kClassNames[i] == name)
      return static_cast<NumericsClass>(i);
  return std::nullopt;
}

std::string_view toString(NumericsClass cls) { return kClassNames[static_cast<size_t>(cls)]; }

} // namespace ck
