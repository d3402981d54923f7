//===- Signature.h - the one signature language of ops and kernels -*- C++ -*-===//
//
//   sig     := operand,* '->' operand,*            same name on both sides = updated in place
//   operand := name '[' expr,* ']' strides? ':' dtype flag*
//   flag    := '?' optional | '+=' accumulates | '|=' writes only part of it
//   strides := '{' (expr | '*'),* '}'              absent = compact; '*' = passed at run time
//   dtype   := f32 | bf16 | q4_k | ... | $X where X in {...}     '...N' = any leading dims, flattened
//
// `input[T,E]:f32, gamma[E]:f32 -> output[T,E]:f32, rstd[T]:f32?`
//
// Unification binds every dim symbol in one pass over the actual shapes, without search: a plain name binds on first
// sight, an expression with one unknown that it depends on linearly is solved, anything else is checked; `where`
// equations and attributes supply the rest.
//
//===----------------------------------------------------------------------===//
#ifndef CK_KERNELMAPS_SIGNATURE_H
#define CK_KERNELMAPS_SIGNATURE_H

#include "ck/KernelMaps/Expr.h"

#include <map>
#include <variant>

namespace ck {

/// One operand or result of a signature.
struct SigOperand {
  std::string name;
  std::vector<Expr> dims;
  bool leadingDims = false;                 ///< dims[0] was written '...N'
  bool hasStrides = false;
  std::vector<std::optional<Expr>> strides; ///< nullopt = '*', passed at run time
  std::string dtype;                        ///< "f32", or "$X": a type variable
  bool optional = false, accumulates = false, partial = false;
};

/// A parsed signature. Operands updated in place appear in both lists under one name.
struct Signature {
  std::vector<SigOperand> inputs, outputs;

  const SigOperand *findInput(std::string_view name) const;
  const SigOperand *findOutput(std::string_view name) const;
  /// True if `name` is on both sides.
  bool isUpdated(std::string_view name) const { return findInput(name) && findOutput(name); }
  /// Every dim symbol in order of first appearance, inputs before outputs.
  std::vector<std::string> dimNames() const;
  std::string str() const;
};

Result<Signature> parseSignature(std::string_view text);

/// `where` entry: `H = $heads` defines a dim, `W in {f32, bf16}` restricts a type variable.
struct WhereClause {
  std::string name;
  std::optional<Expr> value;         ///< definition of a dim
  std::vector<std::string> dtypes;   ///< allowed types of a type variable
  std::string str() const;
};
Result<WhereClause> parseWhere(std::string_view text);

/// An attribute value as the signature library sees it.
using Param = std::variant<int64_t, double, bool, std::string>;
using Params = std::map<std::string, Param>;
std::string toString(const Param &param);

/// What is known of an actual operand: absent (optional operands), or a shape with kDynamicDim extents and a dtype.
struct ActualOperand {
  bool present = false;
  std::vector<int64_t> shape;
  std::string dtype;
};

/// How one dim symbol is computed at run time, in an order in which each can be computed after those before it.
struct DimDef {
  std::string name;
  int64_t extent = kDynamicDim;    ///< static value, or kDynamicDim
  /// Taken from an actual operand: (product of `axes` of `operand` - add) / mul. Valid if operand >= 0.
  int operand = -1;                ///< index into inputs, then outputs
  std::vector<int> axes;
  int64_t mul = 1, add = 0;
  /// Otherwise computed from dims defined before it (a `where` equation).
  std::optional<Expr> expr;
};

/// The result of unification.
struct Bindings {
  std::vector<DimDef> dims;
  std::map<std::string, std::string> dtypes;  ///< type variables, name with '$'
  /// Leading extents behind a '...N' symbol, for shaping outputs.
  std::map<std::string, std::vector<int64_t>> leading;

  const DimDef *find(std::string_view name) const;
  /// Static extent or kDynamicDim; an error for an unknown name.
  Result<int64_t> extent(std::string_view name) const;
  /// Evaluates an expression over the bound dims and `params`.
  Result<int64_t> evaluate(const Expr &expr, const Params &params) const;
};

/// Unifies actual operands with a signature. `outputs` may be empty: then only inputs are used. Lists run parallel to
/// the signature's; an absent optional operand has present = false. Errors name the operand, the dim and both values:
///   weight: dim K is 64, but input has K = 32
Result<Bindings> unify(const Signature &signature, const std::vector<WhereClause> &where,
                       const std::vector<ActualOperand> &inputs, const std::vector<ActualOperand> &outputs,
                       const Params &params);

/// Shapes and dtypes of the outputs under `bindings`; `wanted[i]` says whether optional output i exists.
Result<std::vector<ActualOperand>> inferOutputs(const Signature &signature, const Bindings &bindings,
                                                const std::vector<bool> &wanted, const Params &params);

} // namespace ck

#endif // CK_KERNELMAPS_SIGNATURE_H
