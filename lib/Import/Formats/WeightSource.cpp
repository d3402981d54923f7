//===- WeightSource.cpp - pointers to weights by file and name ------------===//
#include "ck/Import/Formats/WeightSource.h"

#include "Text.h"

#include <cstring>

namespace ck {

WeightSource WeightSource::inDirectory(std::string directory) {
  WeightSource source(std::move(directory));
  source.byFileName = true;
  return source;
}

std::string WeightSource::pathOf(const std::string &file) const {
  std::string name = byFileName ? file.substr(file.rfind('/') + 1) : file;
  if (directory.empty() || name.substr(0, 1) == "/")
    return name;
  return directory.back() == '/' ? directory + name : directory + "/" + name;
}

Result<const void *> WeightSource::resolve(const std::string &file, const std::string &tensor, std::string_view dtype,
                                           const std::vector<int64_t> &shape) {
  std::string path = pathOf(file);
  auto entry = opened.find(path);
  if (entry == opened.end()) {
    Result<Container> container = Container::open(path);
    if (!container)
      return container.error();
    entry = opened.emplace(path, Opened{*std::move(container), {}, {}}).first;
  }
  Opened &source = entry->second;
  const TensorInfo *info = source.container.find(tensor);
  if (!info)
    return fail("BAD_CONFIG", path, ": has no tensor ", quote(tensor), "; the model needs it");
  if (dtype != info->dtype->name)
    return fail("BAD_DTYPE", path, ": tensor ", quote(tensor), " is ", info->dtype->name, "; expected ", dtype);
  if (shape != info->shape)
    return fail("BAD_SHAPE", path, ": tensor ", quote(tensor), " has the shape ", shapeText(info->shape), "; expected ",
                shapeText(shape));
  source.used.insert(tensor);

  // Kernels read elements at their natural alignment; a plain type's element is its block.
  uint64_t align = info->dtype->blockElements == 1 ? info->dtype->blockBytes : 2;
  if (reinterpret_cast<uintptr_t>(info->data) % align == 0)
    return static_cast<const void *>(info->data);
  std::unique_ptr<uint64_t[]> &copy = source.copies[tensor];
  if (!copy) {
    copy = std::make_unique<uint64_t[]>((info->bytes + 7) / 8);
    std::memcpy(copy.get(), info->data, info->bytes);
  }
  return static_cast<const void *>(copy.get());
}

std::vector<std::string> WeightSource::unusedTensors() const {
  std::vector<std::string> unused;
  for (const auto &[path, source] : opened)
    for (const TensorInfo &tensor : source.container.tensors())
      if (!source.used.count(tensor.name))
        unused.push_back(path + ": " + tensor.name);
  return unused;
}

} // namespace ck
