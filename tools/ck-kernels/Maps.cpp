//===- Maps.cpp - the kernel maps that a command is about -----------------===//

#include "Maps.h"
#include "ck/Import/Formats/AtomicFile.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ck::check {

std::string familyOf(const KernelMap &map) { return std::filesystem::path(map.path).parent_path().filename().string(); }

const KernelMap *findMap(const std::vector<KernelMap> &maps, const std::string &id) {
  auto found = std::find_if(maps.begin(), maps.end(), [&](const KernelMap &map) { return map.id() == id; });
  return found == maps.end() ? nullptr : &*found;
}

Result<std::vector<const KernelMap *>> chooseMaps(const MapChoice &choice, const std::vector<KernelMap> &maps) {
  std::vector<const KernelMap *> chosen;
  bool known = choice.family.empty();
  for (const KernelMap &map : maps) {
    const bool inFamily = !choice.family.empty() && familyOf(map) == choice.family;
    known |= inFamily;
    if (choice.all || inFamily || std::count(choice.ids.begin(), choice.ids.end(), map.id()))
      chosen.push_back(&map);
  }
  for (const std::string &id : choice.ids)
    if (!findMap(maps, id))
      return Error{"there is no kernel '" + id + "'; see ck-kernels list"};
  if (!known)
    return Error{"no kernel map is in a folder '" + choice.family + "'"};
  return chosen;
}

Result<std::string> readText(const std::string &path) {
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed))
    return Error{path + ": is a folder"};
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf() || file.peek() == EOF))
    return Error{path + ": cannot read it: " + std::strerror(errno ? errno : EIO)};
  return text.str();
}

Status writeText(const std::string &path, const std::string &text) { return writeFileAtomically(path, {text}); }

Status writeTextInFolder(const std::string &path, const std::string &text) {
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
  if (failed)
    return Error{path + ": cannot make its folder: " + failed.message()};
  return writeText(path, text);
}

} // namespace ck::check
