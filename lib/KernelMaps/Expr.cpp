//===- Expr.cpp - evaluating and printing expressions ---------------------===//
//
// Evaluation is exact in 64 bits. The one value that the sentinel of unknown extents takes away (INT64_MIN) counts as
// an overflow.
//
//===----------------------------------------------------------------------===//
#include "ck/KernelMaps/Expr.h"

#include <algorithm>

namespace ck {

namespace {

using Kind = Expr::Kind;

/// One binary operation on known values; nullopt on overflow.
std::optional<int64_t> combine(Kind kind, int64_t a, int64_t b) {
  int64_t r = 0;
  bool overflow = false;
  switch (kind) {
  case Kind::Add:
    overflow = __builtin_add_overflow(a, b, &r);
    break;
  case Kind::Sub:
    overflow = __builtin_sub_overflow(a, b, &r);
    break;
  case Kind::Mul:
    overflow = __builtin_mul_overflow(a, b, &r);
    break;
  case Kind::Div:
    r = a / b;
    break;
  case Kind::Mod:
    r = a % b;
    break;
  case Kind::CeilDiv:
    r = a / b + (a % b != 0);
    break;
  case Kind::Align:
    overflow = __builtin_mul_overflow(a / b + (a % b != 0), b, &r);
    break;
  case Kind::Min:
    r = std::min(a, b);
    break;
  case Kind::Max:
    r = std::max(a, b);
    break;
  case Kind::Eq:
    r = a == b;
    break;
  case Kind::Ne:
    r = a != b;
    break;
  case Kind::Lt:
    r = a < b;
    break;
  case Kind::Le:
    r = a <= b;
    break;
  case Kind::Gt:
    r = a > b;
    break;
  case Kind::Ge:
    r = a >= b;
    break;
  case Kind::And:
    r = a && b;
    break;
  case Kind::Integer:
  case Kind::Dim:
  case Kind::Attribute:
    assert(false && "not an operator");
  }
  if (overflow || r == kDynamicDim)
    return std::nullopt;
  return r;
}

bool divides(Kind kind) {
  return kind == Kind::Div || kind == Kind::Mod || kind == Kind::CeilDiv || kind == Kind::Align;
}

/// Binding strength; larger binds tighter.
int precedence(const Expr &expr) {
  switch (expr.kind()) {
  case Kind::And:
    return 1;
  case Kind::Eq:
  case Kind::Ne:
  case Kind::Lt:
  case Kind::Le:
  case Kind::Gt:
  case Kind::Ge:
    return 2;
  case Kind::Add:
  case Kind::Sub:
    return 3;
  case Kind::Mul:
  case Kind::Div:
  case Kind::Mod:
    return 4;
  default:
    return 5;
  }
}

std::string_view spelling(Kind kind) {
  static constexpr std::string_view names[] = {
      "",    "",      "",     "+",    "-",   "*",    "/",   "%",    "ceildiv", "min",
      "max", "align", " == ", " != ", " < ", " <= ", " > ", " >= ", " && "};
  return names[static_cast<int>(kind)];
}

} // namespace

Result<int64_t> Expr::evaluate(const Lookup &lookup) const {
  if (kind() == Kind::Integer)
    return value();
  if (kind() == Kind::Dim || kind() == Kind::Attribute)
    return lookup(name());

  std::vector<int64_t> values;
  bool dynamic = false, anyFalse = false;
  for (const Expr &arg : args()) {
    Result<int64_t> v = arg.evaluate(lookup);
    if (!v)
      return v;
    dynamic |= *v == kDynamicDim;
    anyFalse |= *v == 0;
    values.push_back(*v);
  }
  if (divides(kind())) {
    if (values[1] == 0)
      return Error{"division by zero in " + str()};
    for (int i = 0; i < 2; ++i)
      if (values[i] != kDynamicDim && values[i] < 0)
        return Error{args()[i].str() + " is " + std::to_string(values[i]) + " in " + str() +
                     ", but division needs non-negative numbers"};
  }
  if (kind() == Kind::And && anyFalse)
    return int64_t(0);
  if (dynamic)
    return kDynamicDim;

  int64_t result = values[0];
  for (size_t i = 1; i < values.size(); ++i) {
    std::optional<int64_t> r = combine(kind(), result, values[i]);
    if (!r)
      return Error{str() + " overflows 64 bits"};
    result = *r;
  }
  return result;
}

void Expr::collectNames(std::vector<std::string> &names) const {
  if ((kind() == Kind::Dim || kind() == Kind::Attribute) &&
      std::find(names.begin(), names.end(), name()) == names.end())
    names.push_back(name());
  for (const Expr &arg : args())
    arg.collectNames(names);
}

std::string Expr::str() const {
  switch (kind()) {
  case Kind::Integer:
    return std::to_string(value());
  case Kind::Dim:
  case Kind::Attribute:
    return name();
  case Kind::CeilDiv:
  case Kind::Min:
  case Kind::Max:
  case Kind::Align: {
    std::string text(spelling(kind()));
    for (size_t i = 0; i < args().size(); ++i)
      text += (i ? ", " : "(") + args()[i].str();
    return text + ")";
  }
  default:
    break;
  }
  // Operators associate to the left, comparisons not at all; a negative literal reads better in parentheses.
  int own = precedence(*this);
  auto operand = [&](const Expr &arg, bool left) {
    bool tighter = left && own != 2 ? precedence(arg) >= own : precedence(arg) > own;
    bool negative = arg.kind() == Kind::Integer && arg.value() < 0 && own > 2;
    return tighter && !negative ? arg.str() : "(" + arg.str() + ")";
  };
  return operand(args()[0], true) + std::string(spelling(kind())) + operand(args()[1], false);
}

bool Expr::operator==(const Expr &other) const {
  return node == other.node ||
         (kind() == other.kind() && value() == other.value() && name() == other.name() && args() == other.args());
}

} // namespace ck
