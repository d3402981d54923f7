//===- Signature.h - the one signature language of ops and kernels -*- C++ -*-===//
//
//   sig     := operand,* '->' operand,*            same name on both sides = updated in place
//   operand := name '[' expr,* ']' strides? ':' dtype flag*
//   flag    := '?' optional | '+=' accumulates | '|=' writes only part of it
//   strides := '{' (expr | '*'),* '}'              absent = compact; '*' = passed at run time
//   dtype   := f32 | bf16 | q4_k | ... | $X where X in {...}     '...N' = any leading dims (none too), flattened
//
// `input[T,E]:f32, gamma[E]:f32 -> output[T,E]:f32, rstd[T]:f32?`
//
// Unification binds every dim symbol without search: attributes first (`where H = $heads`), then a plain name on first
// sight, then `where` equations over known dims and expressions that depend linearly on one unknown, until nothing new
// is bound. Everything else is checked. Between an extent that is known and one that is not, the known one counts; two
// unknown ones are taken to be equal. A literal dim does not accept an unknown extent.
//
//===----------------------------------------------------------------------===//
#ifndef CK_KERNELMAPS_SIGNATURE_H
#define CK_KERNELMAPS_SIGNATURE_H

#include "ck/KernelMaps/Expr.h"

#include <map>
#include <variant>

namespace ck {

/// One operand or result of a signature. `+=` and `|=` belong to outputs.
struct SigOperand {
  std::string name;
  std::vector<Expr> dims;
  bool leadingDims = false; ///< dims[0] was written '...N'
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

/// Parses a whole signature; errors give the column. There is at least one output; an operand on both sides must be
/// the same on both; element types are those of DType.h.
Result<Signature> parseSignature(std::string_view text);

/// `where` entry: `H = $heads` defines a dim, `$W in {f32, bf16}` (or `W in ...`) restricts a type variable.
struct WhereClause {
  std::string name;                ///< dim, or type variable with its `$`
  std::optional<Expr> value;       ///< definition of a dim
  std::vector<std::string> dtypes; ///< allowed types of a type variable
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
  int64_t extent = kDynamicDim; ///< static value, or kDynamicDim
  /// Taken from an actual operand: (product of `axes` of `operand` - add) / mul. Valid if operand >= 0.
  int operand = -1; ///< index into inputs, then outputs
  std::vector<int> axes;
  int64_t mul = 1, add = 0;
  /// Otherwise computed from dims defined before it (a `where` equation).
  std::optional<Expr> expr;
  /// Named by absent operands only: extent 0, never used by a present operand.
  bool absent = false;
};

/// The result of unification.
struct Bindings {
  std::vector<DimDef> dims;
  std::map<std::string, std::string> dtypes; ///< type variables, name with '$'
  /// Leading extents behind a '...N' symbol, for shaping outputs.
  std::map<std::string, std::vector<int64_t>> leading;

  const DimDef *find(std::string_view name) const;
  /// Static extent or kDynamicDim; an error for an unknown name.
  Result<int64_t> extent(std::string_view name) const;
  /// Looks names up among the bound dims and `params` (integers and booleans); both must outlive the function.
  Expr::Lookup lookup(const Params &params) const;
  /// Evaluates an expression over the bound dims and `params`.
  Result<int64_t> evaluate(const Expr &expr, const Params &params) const;
};

/// Unifies actual operands with a signature. `outputs` may be empty: then only inputs are used, and dims that only
/// outputs name stay unbound. Lists run parallel to the signature's; an absent optional operand has present = false.
/// `params` holds what the expressions call `$name`: integers or booleans. Errors name the operand, the dim, both
/// values and what bound the other one:
///   weight: dim K is 64, but input has K = 32
///   q: dim H*D is 60, but H*D = 64 with H = 4 (where H = $heads), D = 16 (k)
Result<Bindings> unify(const Signature &signature, const std::vector<WhereClause> &where,
                       const std::vector<ActualOperand> &inputs, const std::vector<ActualOperand> &outputs,
                       const Params &params);

/// Shapes and dtypes of the outputs under `bindings`; `wanted[i]` says whether optional output i exists (a shorter list
/// leaves them out). '...N' takes the leading extents of the input that bound N, or is one dim when none did.
Result<std::vector<ActualOperand>> inferOutputs(const Signature &signature, const Bindings &bindings,
                                                const std::vector<bool> &wanted, const Params &params);

} // namespace ck

#endif // CK_KERNELMAPS_SIGNATURE_H
