//===- Match.h - can this kernel stand for this op? -------------*- C++ -*-===//
//
// The rule by which providers are legal, as pure functions over descriptions: the pass that selects providers, and the
// lint of the maps, ask here. A provider is legal for an op if
//   - one of its `implements` names the op, every attribute value listed there holds, and its numerics class is within
//     the limit; twins (same_as) are never candidates;
//   - every operand and result that the op has is bound to one of the kernel, by equal name or by `bind`, and every
//     operand that the kernel requires is there;
//   - every attribute of the op is listed in `attrs`, or is a param of the kernel, or is used as `$name` by its
//     signature or `where`, or equals its default;
//   - the kernel's signature and `where` unify with the actual shapes and types, strides that the kernel fixes are
//     those of compact operands, and every predicate of `requires` holds before run time.
//
//===----------------------------------------------------------------------===//
#ifndef CK_KERNELMAPS_MATCH_H
#define CK_KERNELMAPS_MATCH_H

#include "ck/KernelMaps/KernelMap.h"

namespace ck {

/// One op as matching sees it. Attributes that are lists are given as text, "1,0,2"; attributes that only repeat what
/// shapes say (the sizes of a split) are left out.
struct OpDescription {
  std::string name; ///< mnemonic without `ck.`
  Params attrs;     ///< what the op has
  Params defaults;  ///< of every attribute that has one; also stands in for what `attrs` lacks
  Signature signature;
  std::vector<ActualOperand> inputs, outputs; ///< parallel to the signature's
};

/// How a kernel is called for an op.
struct Match {
  const Implements *implements = nullptr; ///< the entry of the map that fits
  std::vector<int> inputs, outputs;       ///< for each of the kernel: index into the op's, -1 = absent
  Params params;                          ///< a value for every param of the kernel, in its type
  Params names;                           ///< what `$name` means in the kernel's expressions
  Bindings bindings;                      ///< of the kernel's dims
};

/// The binding of `op` to the kernel of `map`, or the first reason why it is refused:
///   weight: dim K is 64, but input has K = 32
///   attribute softcap = 30 is not handled (its default is 0)
/// Where several entries of `implements` name the op, the reason is of the entry that came furthest. `map` must outlive
/// the result.
Result<Match> matchProvider(const KernelMap &map, const OpDescription &op, NumericsClass limit = NumericsClass::Approx);

/// The bound of a dynamic extent: axis `axis` of the op's input (or output) number `operand`.
using ExtentBound = std::function<Result<int64_t>(bool isOutput, int operand, int axis)>;

/// The dims of a match with every dynamic extent at its bound.
Result<Bindings> bindingsAtBounds(const KernelMap &map, const OpDescription &op, const Match &match,
                                  const ExtentBound &bound);

/// The cost that the map gives a match with every dynamic extent at its bound.
Result<int64_t> costAtBounds(const KernelMap &map, const OpDescription &op, const Match &match,
                             const ExtentBound &bound);

/// True if both say the same; integers and reals compare as numbers.
bool sameParam(const Param &a, const Param &b);

/// Defaults of the attributes of ops, by mnemonic.
using OpDefaults = std::map<std::string, Params>;

/// What is wrong with a set of maps, one sentence each, in a fixed order; empty if nothing is:
///   - an id that two maps have; a name in same_as, backward_of or pack that no map has; a twin with another contract;
///   - a map without a scalar implementation;
///   - two maps of equal rank: they implement one op with compatible attributes and operands, their `requires` do not
///     exclude each other, and they cost the same wherever both fit.
/// An attribute that only one of two maps mentions separates them if its value there is not the default in `defaults`;
/// without a known default it does not.
std::vector<std::string> lint(const std::vector<KernelMap> &maps, const OpDefaults &defaults = {});

} // namespace ck

#endif // CK_KERNELMAPS_MATCH_H
