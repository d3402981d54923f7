//===- Maps.cpp - the kernel maps that a command is about -----------------===//

#include "Maps.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

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

Status writeText(const std::string &path, const std::string &text) {
  std::error_code failed;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty())
    std::filesystem::create_directories(folder, failed);
  const std::string temporary = path + "." + std::to_string(getpid()) + ".new";
  std::ofstream file(temporary, std::ios::binary);
  file << text;
  file.close();
  if (file)
    std::filesystem::rename(temporary, path, failed);
  if (file && !failed)
    return Status::success();
  std::string reason = failed ? failed.message() : std::strerror(errno);
  std::filesystem::remove(temporary, failed);
  return Error{path + ": cannot write it: " + reason};
}

} // namespace ck::check
