//===- ExprParser.cpp - from text to expressions --------------------------===//
//
//   and     := compare ('&&' compare)*
//   compare := sum (('==' | '!=' | '<=' | '<' | '>=' | '>') sum)?
//   sum     := product (('+' | '-') product)*
//   product := primary (('*' | '/' | '%') primary)*
//   primary := integer | '-' integer | name | '$' name | function '(' and (',' and)* ')' | '(' and ')'
//
// Depth and size are limited, so that no text can exhaust the stack here or in the recursions over the tree.
//
//===----------------------------------------------------------------------===//
#include "Cursor.h"

#include <charconv>

namespace ck {

/// Makes nodes.
struct ExprBuilder {
  static Expr make(Expr::Kind kind, int64_t value, std::string name, std::vector<Expr> args) {
    Expr expr;
    expr.node = std::make_shared<const Expr::Node>(Expr::Node{kind, value, std::move(name), std::move(args)});
    return expr;
  }
};

Expr Expr::integer(int64_t value) { return ExprBuilder::make(Kind::Integer, value, "", {}); }
Expr Expr::dim(std::string name) { return ExprBuilder::make(Kind::Dim, 0, std::move(name), {}); }
Expr Expr::make(Kind kind, std::vector<Expr> args) {
  assert(args.size() >= 2 && kind > Kind::Attribute);
  return ExprBuilder::make(kind, 0, "", std::move(args));
}

namespace {

class Parser {
public:
  explicit Parser(Cursor &cursor) : cursor(cursor) {}

  Result<Expr> parseAnd() {
    // Every recursion passes here.
    if (++depth > 64)
      return cursor.error("expression is nested deeper than 64 levels");
    Result<Expr> left = parseCompare();
    while (left && cursor.consume("&&"))
      left = binary(Expr::Kind::And, std::move(left), parseCompare());
    --depth;
    return left;
  }

private:
  struct Operator {
    std::string_view token;
    Expr::Kind kind;
  };

  Result<Expr> parseCompare() {
    static constexpr Operator operators[] = {{"==", Expr::Kind::Eq}, {"!=", Expr::Kind::Ne}, {"<=", Expr::Kind::Le},
                                             {">=", Expr::Kind::Ge}, {"<", Expr::Kind::Lt},  {">", Expr::Kind::Gt}};
    Result<Expr> left = parseSum();
    if (left)
      for (const Operator &op : operators)
        if (cursor.consume(op.token))
          return binary(op.kind, std::move(left), parseSum());
    return left;
  }

  Result<Expr> parseSum() {
    Result<Expr> left = parseProduct();
    while (left) {
      if (cursor.consume("+"))
        left = binary(Expr::Kind::Add, std::move(left), parseProduct());
      else if (cursor.consume("-"))
        left = binary(Expr::Kind::Sub, std::move(left), parseProduct());
      else
        break;
    }
    return left;
  }

  Result<Expr> parseProduct() {
    Result<Expr> left = parsePrimary();
    while (left) {
      if (cursor.consume("*"))
        left = binary(Expr::Kind::Mul, std::move(left), parsePrimary());
      else if (cursor.consume("/"))
        left = binary(Expr::Kind::Div, std::move(left), parsePrimary());
      else if (cursor.consume("%"))
        left = binary(Expr::Kind::Mod, std::move(left), parsePrimary());
      else
        break;
    }
    return left;
  }

  Result<Expr> parsePrimary() {
    if (++nodes > 256)
      return cursor.error("expression has more than 256 terms");
    if (cursor.consume("(")) {
      Result<Expr> inner = parseAnd();
      if (inner && !cursor.consume(")"))
        return cursor.expected("')'");
      return inner;
    }
    if (cursor.consume("-"))
      return parseInteger(true);
    if (cursor.peek() >= '0' && cursor.peek() <= '9')
      return parseInteger(false);
    if (cursor.consume("$")) {
      std::string_view name = cursor.identifier();
      if (name.empty())
        return cursor.expected("the name of an attribute");
      return ExprBuilder::make(Expr::Kind::Attribute, 0, "$" + std::string(name), {});
    }
    std::string_view name = cursor.identifier();
    if (name.empty())
      return cursor.expected("an expression");
    static constexpr Operator functions[] = {{"ceildiv", Expr::Kind::CeilDiv},
                                             {"min", Expr::Kind::Min},
                                             {"max", Expr::Kind::Max},
                                             {"align", Expr::Kind::Align}};
    for (const Operator &function : functions)
      if (name == function.token)
        return parseCall(function);
    return Expr::dim(std::string(name));
  }

  Result<Expr> parseInteger(bool negative) {
    std::string_view digits = cursor.digits();
    if (digits.empty())
      return cursor.expected("an integer after '-'");
    int64_t value = 0;
    auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (status != std::errc() || end != digits.data() + digits.size())
      return cursor.error("integer does not fit in 64 bits");
    return Expr::integer(negative ? -value : value);
  }

  Result<Expr> parseCall(const Operator &function) {
    if (!cursor.consume("("))
      return cursor.expected("'(' after " + std::string(function.token));
    std::vector<Expr> args;
    do {
      Result<Expr> arg = parseAnd();
      if (!arg)
        return arg;
      args.push_back(*std::move(arg));
    } while (cursor.consume(","));
    if (!cursor.consume(")"))
      return cursor.expected("')' or ','");
    bool variadic = function.kind == Expr::Kind::Min || function.kind == Expr::Kind::Max;
    if (args.size() < 2 || (args.size() > 2 && !variadic))
      return cursor.error(std::string(function.token) + " takes " + (variadic ? "two or more" : "two") +
                          " arguments, not " + std::to_string(args.size()));
    return Expr::make(function.kind, std::move(args));
  }

  static Result<Expr> binary(Expr::Kind kind, Result<Expr> left, Result<Expr> right) {
    if (!right)
      return right;
    return Expr::make(kind, {*std::move(left), *std::move(right)});
  }

  Cursor &cursor;
  int depth = 0;
  int nodes = 0;
};

} // namespace

Result<Expr> maps::parseExpression(Cursor &cursor) { return Parser(cursor).parseAnd(); }

Result<Expr> Expr::parse(std::string_view text) {
  if (text.size() > kMaxTextLength)
    return Error{"expression is longer than " + std::to_string(kMaxTextLength) + " bytes"};
  Cursor cursor(text);
  Result<Expr> expr = parseExpression(cursor);
  if (expr && !cursor.atEnd())
    return cursor.expected("an operator or the end");
  return expr;
}

} // namespace ck
