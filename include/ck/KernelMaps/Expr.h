//===- Expr.h - integer expressions of the signature language ---*- C++ -*-===//
//
// Expressions over dims (`T`), attributes (`$heads`) and integers, with + - * / % ceildiv min max align and, in
// predicates, comparisons and `&&`. Exact in 64 bits: overflow, division by zero and unknown names are errors.
//
//===----------------------------------------------------------------------===//
#ifndef CK_KERNELMAPS_EXPR_H
#define CK_KERNELMAPS_EXPR_H

#include "ck/Support/Result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ck {

/// The extent of a dim that is not known before run time (same value as mlir::ShapedType::kDynamic).
inline constexpr int64_t kDynamicDim = INT64_MIN;

/// An immutable expression tree. Copying shares the nodes. Min and Max take two or more arguments, the other operators
/// two.
class Expr {
public:
  enum class Kind {
    Integer,
    Dim,
    Attribute,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    CeilDiv,
    Min,
    Max,
    Align,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And
  };

  /// Parses the whole of `text`; errors give the column. `/` is floor division of non-negative integers; `align(x, a)`
  /// rounds x up to a multiple of a. At most 256 nodes, 64 levels of parentheses.
  static Result<Expr> parse(std::string_view text);
  static Expr integer(int64_t value);
  static Expr dim(std::string name);
  /// An operator node; `args` has the arity of `kind`.
  static Expr make(Kind kind, std::vector<Expr> args);

  Kind kind() const { return node->kind; }
  int64_t value() const { return node->value; }
  const std::string &name() const { return node->name; }
  const std::vector<Expr> &args() const { return node->args; }

  /// Looks up a dim (`T`) or an attribute (name with its `$`); an unknown name is an Error, kDynamicDim is a value
  /// that is not known yet.
  using Lookup = std::function<Result<int64_t>(const std::string &name)>;
  /// Evaluates; the result is kDynamicDim when any needed value is. Predicates give 0 or 1. Overflow, division by zero
  /// and division of negative numbers are Errors that print the operation.
  Result<int64_t> evaluate(const Lookup &lookup) const;

  /// Adds every dim and attribute name, in order of first appearance, once.
  void collectNames(std::vector<std::string> &names) const;

  /// Prints with the fewest parentheses; parse(print(e)) equals e.
  std::string str() const;
  bool operator==(const Expr &other) const;
  bool operator!=(const Expr &other) const { return !(*this == other); }

private:
  struct Node {
    Kind kind;
    int64_t value = 0;
    std::string name;
    std::vector<Expr> args;
  };
  Expr() = default;
  std::shared_ptr<const Node> node;
  friend struct ExprBuilder;
};

} // namespace ck

#endif // CK_KERNELMAPS_EXPR_H
