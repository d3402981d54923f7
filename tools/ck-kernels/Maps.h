//===- Maps.h - the kernel maps that a command is about ---------*- C++ -*-===//
#ifndef CK_TOOLS_KERNELS_MAPS_H
#define CK_TOOLS_KERNELS_MAPS_H

#include "ck/KernelMaps/KernelMap.h"

namespace ck::check {

/// The folder of a map: its family.
std::string familyOf(const KernelMap &map);

/// Which maps of a set are meant.
struct MapChoice {
  bool all = false;
  std::string family; ///< "" = none
  std::vector<std::string> ids;
};
/// The maps of all, of the family and the ids named, in the order of `maps`. An Error for an id or a family that no map
/// has.
Result<std::vector<const KernelMap *>> chooseMaps(const MapChoice &choice, const std::vector<KernelMap> &maps);

/// The map of that id, nullptr if there is none.
const KernelMap *findMap(const std::vector<KernelMap> &maps, const std::string &id);

/// The whole text of a file, or an Error that names it.
Result<std::string> readText(const std::string &path);
/// Writes all of it or nothing; see writeFileAtomically. The folder must exist.
Status writeText(const std::string &path, const std::string &text);
/// The same; makes the folder where it is missing.
Status writeTextInFolder(const std::string &path, const std::string &text);

} // namespace ck::check

#endif // CK_TOOLS_KERNELS_MAPS_H
