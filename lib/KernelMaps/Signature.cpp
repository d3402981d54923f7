//===- Signature.cpp - parsing and printing signatures --------------------===//
//
// The grammar of Signature.h, and of `where` clauses.
//
//===----------------------------------------------------------------------===//
#include "ck/KernelMaps/Signature.h"

#include "Cursor.h"
#include "ck/KernelMaps/DType.h"

#include <algorithm>
#include <charconv>

namespace ck {

namespace {

/// Reads a type name; packed forms include their angle brackets.
Result<std::string> parseDType(Cursor &cursor) {
  size_t start = cursor.mark();
  std::string name(cursor.identifier());
  if (name.empty())
    return cursor.expected("an element type");
  if (cursor.consume("<")) {
    name += "<";
    do {
      std::string_view part = cursor.identifier();
      if (part.empty())
        return cursor.expected("a name");
      name += std::string(name.back() == '<' ? "" : ",") + std::string(part);
    } while (cursor.consume(","));
    if (!cursor.consume(">"))
      return cursor.expected("'>'");
    name += ">";
  }
  if (!isKnownDType(name))
    return cursor.errorAt(start, inQuotes(name) + " is not an element type");
  return name;
}

Status parseDims(Cursor &cursor, SigOperand &operand) {
  if (!cursor.consume("["))
    return cursor.expected("'[' after the name of operand " + inQuotes(operand.name));
  if (cursor.consume("]"))
    return Status::success();
  if (cursor.consume("...")) {
    std::string_view name = cursor.identifier();
    if (name.empty())
      return cursor.expected("a name after '...'");
    operand.leadingDims = true;
    operand.dims.push_back(Expr::dim(std::string(name)));
    if (cursor.consume("]"))
      return Status::success();
    if (!cursor.consume(","))
      return cursor.expected("']' or ','");
  }
  do {
    if (cursor.startsWith("..."))
      return cursor.error("'...' may only come first");
    Result<Expr> dim = parseExpression(cursor);
    if (!dim)
      return dim.error();
    if (dim->kind() == Expr::Kind::Integer && dim->value() < 0)
      return cursor.error("a dim cannot be negative");
    operand.dims.push_back(*std::move(dim));
  } while (cursor.consume(","));
  if (!cursor.consume("]"))
    return cursor.expected("']' or ','");
  return Status::success();
}

Status parseStrides(Cursor &cursor, SigOperand &operand) {
  if (!cursor.consume("{"))
    return Status::success();
  operand.hasStrides = true;
  do {
    if (cursor.consume("*")) {
      operand.strides.push_back(std::nullopt);
      continue;
    }
    Result<Expr> stride = parseExpression(cursor);
    if (!stride)
      return stride.error();
    operand.strides.push_back(*std::move(stride));
  } while (cursor.consume(","));
  if (!cursor.consume("}"))
    return cursor.expected("'}' or ','");
  if (operand.strides.size() != operand.dims.size())
    return cursor.error("operand " + inQuotes(operand.name) + " has " + std::to_string(operand.dims.size()) +
                        " dims, but " + std::to_string(operand.strides.size()) + " strides");
  return Status::success();
}

Result<SigOperand> parseOperand(Cursor &cursor, bool isOutput) {
  SigOperand operand;
  operand.name = cursor.identifier();
  if (operand.name.empty())
    return cursor.expected("the name of an operand");
  if (Status s = parseDims(cursor, operand); !s)
    return s.error();
  if (Status s = parseStrides(cursor, operand); !s)
    return s.error();
  if (!cursor.consume(":"))
    return cursor.expected("':' and an element type");
  if (cursor.consume("$")) {
    std::string_view name = cursor.identifier();
    if (name.empty())
      return cursor.expected("the name of a type variable");
    operand.dtype = "$" + std::string(name);
  } else {
    Result<std::string> dtype = parseDType(cursor);
    if (!dtype)
      return dtype.error();
    operand.dtype = *dtype;
  }
  while (true) {
    bool *flag = cursor.consume("?")    ? &operand.optional
                 : cursor.consume("+=") ? &operand.accumulates
                 : cursor.consume("|=") ? &operand.partial
                                        : nullptr;
    if (!flag)
      return operand;
    if (*flag)
      return cursor.error("flag given twice");
    if (flag != &operand.optional && !isOutput)
      return cursor.error("'+=' and '|=' belong to outputs");
    *flag = true;
  }
}

Status parseOperands(Cursor &cursor, bool isOutput, std::vector<SigOperand> &operands) {
  do {
    size_t start = cursor.mark();
    Result<SigOperand> operand = parseOperand(cursor, isOutput);
    if (!operand)
      return operand.error();
    for (const SigOperand &other : operands)
      if (other.name == operand->name)
        return cursor.errorAt(start, "operand " + inQuotes(operand->name) + " is listed twice");
    operands.push_back(*std::move(operand));
  } while (cursor.consume(","));
  return Status::success();
}

const SigOperand *find(const std::vector<SigOperand> &operands, std::string_view name) {
  for (const SigOperand &operand : operands)
    if (operand.name == name)
      return &operand;
  return nullptr;
}

std::string operandText(const SigOperand &operand) {
  std::vector<std::string> dims, strides;
  for (const Expr &dim : operand.dims)
    dims.push_back((dims.empty() && operand.leadingDims ? "..." : "") + dim.str());
  for (const std::optional<Expr> &stride : operand.strides)
    strides.push_back(stride ? stride->str() : "*");
  return operand.name + "[" + join(dims, ",") + "]" + (operand.hasStrides ? "{" + join(strides, ",") + "}" : "") + ":" +
         operand.dtype + (operand.optional ? "?" : "") + (operand.accumulates ? "+=" : "") +
         (operand.partial ? "|=" : "");
}

} // namespace

Result<Signature> parseSignature(std::string_view text) {
  if (text.size() > kMaxTextLength)
    return Error{"signature is longer than " + std::to_string(kMaxTextLength) + " bytes"};
  Cursor cursor(text);
  Signature signature;
  if (!cursor.startsWith("->"))
    if (Status s = parseOperands(cursor, false, signature.inputs); !s)
      return s.error();
  if (!cursor.consume("->"))
    return cursor.expected("',' or '->'");
  if (Status s = parseOperands(cursor, true, signature.outputs); !s)
    return s.error();
  if (!cursor.atEnd())
    return cursor.expected("',' or the end");

  for (const SigOperand &output : signature.outputs)
    if (const SigOperand *input = signature.findInput(output.name)) {
      SigOperand plain = output;
      plain.accumulates = plain.partial = false;
      if (operandText(plain) != operandText(*input))
        return Error{"operand " + inQuotes(output.name) + " is updated in place, but is " + operandText(*input) +
                     " as input and " + operandText(plain) + " as output"};
    }
  return signature;
}

const SigOperand *Signature::findInput(std::string_view name) const { return find(inputs, name); }
const SigOperand *Signature::findOutput(std::string_view name) const { return find(outputs, name); }

std::vector<std::string> Signature::dimNames() const {
  std::vector<std::string> names;
  for (const std::vector<SigOperand> *side : {&inputs, &outputs})
    for (const SigOperand &operand : *side)
      for (const Expr &dim : operand.dims)
        dim.collectNames(names);
  names.erase(std::remove_if(names.begin(), names.end(), [](const std::string &name) { return name[0] == '$'; }),
              names.end());
  return names;
}

std::string Signature::str() const {
  std::vector<std::string> in, out;
  for (const SigOperand &operand : inputs)
    in.push_back(operandText(operand));
  for (const SigOperand &operand : outputs)
    out.push_back(operandText(operand));
  return join(in, ", ") + (in.empty() ? "-> " : " -> ") + join(out, ", ");
}

Result<WhereClause> parseWhere(std::string_view text) {
  if (text.size() > kMaxTextLength)
    return Error{"clause is longer than " + std::to_string(kMaxTextLength) + " bytes"};
  Cursor cursor(text);
  WhereClause clause;
  bool variable = cursor.consume("$");
  clause.name = cursor.identifier();
  if (clause.name.empty())
    return cursor.expected("the name of a dim or of a type variable");
  if (!cursor.startsWith("==") && cursor.consume("=")) {
    if (variable)
      return cursor.error("an attribute cannot be defined; write the name of a dim before '='");
    Result<Expr> value = parseExpression(cursor);
    if (!value)
      return value.error();
    clause.value = *std::move(value);
  } else if (cursor.identifier() == "in") {
    clause.name = "$" + clause.name;
    if (!cursor.consume("{"))
      return cursor.expected("'{' and a list of element types");
    do {
      Result<std::string> dtype = parseDType(cursor);
      if (!dtype)
        return dtype.error();
      clause.dtypes.push_back(*std::move(dtype));
    } while (cursor.consume(","));
    if (!cursor.consume("}"))
      return cursor.expected("'}' or ','");
  } else {
    return cursor.expected("'=' or 'in'");
  }
  if (!cursor.atEnd())
    return cursor.expected("the end");
  return clause;
}

std::string WhereClause::str() const {
  return value ? name + " = " + value->str() : name + " in {" + join(dtypes, ", ") + "}";
}

std::string toString(const Param &param) {
  if (const int64_t *integer = std::get_if<int64_t>(&param))
    return std::to_string(*integer);
  if (const bool *flag = std::get_if<bool>(&param))
    return *flag ? "true" : "false";
  if (const std::string *text = std::get_if<std::string>(&param))
    return *text;
  // The shortest digits that read back as the same double, under any locale.
  char text[40];
  char *end = std::to_chars(text, text + sizeof(text), std::get<double>(param)).ptr;
  return std::string(text, end);
}

} // namespace ck
