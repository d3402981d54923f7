//===- Geometry.h - drawing the cases on which a provider is tried -*- C++ -*-===//
//
// A geometry is everything about a call but its numbers: extents, attributes, element types, which optional operands
// are there, strides. It is drawn from the provider's signature alone. Every value worth trying of every dim, parameter
// and optional operand comes up once in each cycle, in an order that depends on the seed.
//
//===----------------------------------------------------------------------===//
#ifndef CK_TOOLS_KERNELS_GEOMETRY_H
#define CK_TOOLS_KERNELS_GEOMETRY_H

#include "Elements.h"
#include "Reference.h"
#include "ck/KernelMaps/KernelMap.h"

#include <set>

namespace ck::check {

struct Geometry {
  int index = 0;
  uint64_t seed = 0;                         ///< of the numbers
  Params attrs;                              ///< of the operation
  Params params;                             ///< of the kernel
  std::map<std::string, int64_t> dims;       ///< every dim symbol
  std::map<std::string, std::string> dtypes; ///< type variables, name with '$'
  std::set<std::string> present;             ///< kernel operands
  std::map<std::string, Layout> layouts;     ///< of present operands
  double magnitude = 1;
  bool hasZero = false;
  bool aligned = false; ///< operands start at cache lines, as in a planned arena; otherwise wherever their type may

  /// "K=17 N=1 T=3 act=silu, operands bias input output weight, magnitude 1".
  std::string str() const;
  /// The integer behind a dim or `$name`, kDynamicDim for a dim that has none yet.
  Result<int64_t> lookup(const std::string &name) const;
};

class GeometryDrawer {
public:
  /// Draws for one entry of `map.implements`; all three must outlive the drawer.
  GeometryDrawer(const KernelMap &map, const Implements &implements, const reference::Operation &operation,
                 uint64_t seed);

  /// How many geometries come first that are not random: all extents 1, and each free dim 0 in turn.
  int edgeCases() const;
  /// The geometry of `index`; an Error when no attempt satisfies signature, `where` and `requires`, saying why.
  /// `attempt` makes another one of the same index. Without `related`, extents do not have the relation that
  /// the operation asks for (Operation::relate), other than by chance.
  Result<Geometry> draw(int index, int attempt, bool related = true) const;

  /// The geometry of given extents, of any size: dims and integer attributes by name, the others as they usually are.
  /// Of optional operands there are none but outputs of a kernel that has no other. Operands are compact. An Error for
  /// a name that the kernel does not have, and for extents that it does not take.
  Result<Geometry> at(const std::map<std::string, int64_t> &sizes) const;

  /// The operation's name of a kernel operand or parameter.
  const std::string &opName(const std::string &name) const;

  /// True if the map admits this value of an attribute: it is the one that must hold, passed as a parameter, used by an
  /// expression, or the default.
  bool isFree(const std::string &attr, const Param &value) const;

private:
  /// Position in a shuffled cycle of `count` values; `what` names the list.
  int64_t cycle(const std::string &what, int64_t count, int index) const;
  Status drawAttributes(Geometry &geometry, reference::Random &random, int attempt) const;
  void drawTypes(Geometry &geometry) const;
  void drawPresence(Geometry &geometry) const;
  /// Dims that follow from what is known.
  Status defineDims(Geometry &geometry) const;
  Status drawDims(Geometry &geometry, reference::Random &random, int attempt) const;
  /// Shapes under the drawn dims, then the dims that unification reads off them.
  Status makeShapes(Geometry &geometry, bool related = true) const;
  Status drawLayouts(Geometry &geometry, reference::Random &random) const;
  Status checkRequirements(const Geometry &geometry) const;
  const KernelMap &map;
  const Implements &implements;
  const reference::Operation &operation;
  uint64_t seed;
  std::vector<std::string> freeDims;
  std::vector<int64_t> extents;    ///< worth trying
  bool limited = true;             ///< to what a reference can compute in time
  std::set<std::string> attrNames; ///< used as $name by the map
};

} // namespace ck::check

#endif // CK_TOOLS_KERNELS_GEOMETRY_H
