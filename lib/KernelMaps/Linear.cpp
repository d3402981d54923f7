//===- Linear.cpp - expressions that depend linearly on one dim -----------===//
//
// Only sums, differences and products with a constant are followed; a division that contains the unknown has no
// unique inverse.
//
//===----------------------------------------------------------------------===//
#include "Linear.h"

#include <algorithm>

namespace ck::maps {

std::optional<LinearForm> linearForm(const Expr &expr, const std::string &unknown, const Expr::Lookup &lookup) {
  if (expr.kind() == Expr::Kind::Dim && expr.name() == unknown)
    return LinearForm{1, 0};
  std::vector<std::string> names;
  expr.collectNames(names);
  if (std::find(names.begin(), names.end(), unknown) == names.end()) {
    Result<int64_t> value = expr.evaluate(lookup);
    if (!value || *value == kDynamicDim)
      return std::nullopt;
    return LinearForm{0, *value};
  }

  bool sum = expr.kind() == Expr::Kind::Add, difference = expr.kind() == Expr::Kind::Sub;
  if (!sum && !difference && expr.kind() != Expr::Kind::Mul)
    return std::nullopt;
  std::optional<LinearForm> a = linearForm(expr.args()[0], unknown, lookup);
  std::optional<LinearForm> b = linearForm(expr.args()[1], unknown, lookup);
  if (!a || !b)
    return std::nullopt;
  LinearForm r;
  bool overflow = false;
  if (sum) {
    overflow |= __builtin_add_overflow(a->mul, b->mul, &r.mul);
    overflow |= __builtin_add_overflow(a->add, b->add, &r.add);
  } else if (difference) {
    overflow |= __builtin_sub_overflow(a->mul, b->mul, &r.mul);
    overflow |= __builtin_sub_overflow(a->add, b->add, &r.add);
  } else {
    if (a->mul && b->mul)
      return std::nullopt;
    const LinearForm &variable = a->mul ? *a : *b;
    int64_t factor = a->mul ? b->add : a->add;
    overflow |= __builtin_mul_overflow(variable.mul, factor, &r.mul);
    overflow |= __builtin_mul_overflow(variable.add, factor, &r.add);
  }
  if (overflow || r.mul == INT64_MIN || r.add == INT64_MIN)
    return std::nullopt;
  return r;
}

} // namespace ck::maps
