//===- Container.cpp - GGUF and safetensors files as one thing ------------===//
#include "ContainerContents.h"
#include "Text.h"

#include <algorithm>

namespace ck {

namespace {

bool endsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

Result<Container::Format> recognise(const MappedFile &file) {
  if (endsWith(file.path(), ".gguf"))
    return Container::Format::Gguf;
  if (endsWith(file.path(), ".safetensors"))
    return Container::Format::Safetensors;
  std::string_view text = file.text();
  if (text.substr(0, 4) == "GGUF")
    return Container::Format::Gguf;
  // A length of 8 bytes, then the header: a JSON object.
  if (text.size() >= 10 && text[8] == '{')
    return Container::Format::Safetensors;
  return fail("BAD_MAGIC", file.path(), ": neither GGUF nor safetensors");
}

/// Refuses tensors that share a byte (OVERLAP) and, in safetensors, bytes of no tensor (BAD_HEADER).
Status checkLayout(const ContainerContents &contents) {
  bool gaps = contents.format == Container::Format::Gguf;
  const std::string &path = contents.file.path();
  std::vector<const TensorInfo *> order;
  for (const TensorInfo &tensor : contents.tensors)
    if (tensor.bytes > 0)
      order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const TensorInfo *a, const TensorInfo *b) { return a->offset < b->offset; });
  uint64_t end = contents.dataBegin;
  const TensorInfo *last = nullptr;
  for (const TensorInfo *tensor : order) {
    if (tensor->offset < end)
      return fail("OVERLAP", path, ": tensors ", quote(last ? last->name : ""), " and ", quote(tensor->name),
                  " share bytes");
    if (!gaps && tensor->offset > end)
      return fail("BAD_HEADER", path, ": ", tensor->offset - end, " bytes before tensor ", quote(tensor->name),
                  " belong to no tensor; expected none");
    end = tensor->offset + tensor->bytes;
    last = tensor;
  }
  if (!gaps && end < contents.file.size())
    return fail("BAD_HEADER", path, ": ", contents.file.size() - end, " bytes behind the last tensor; expected none");
  return Status::success();
}

} // namespace

Result<Container> Container::open(const std::string &path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.error();
  return parse(*std::move(file));
}

Result<Container> Container::parse(MappedFile file) {
  Result<Format> format = recognise(file);
  if (!format)
    return format.error();
  auto contents = std::make_shared<ContainerContents>(std::move(file));
  contents->format = *format;
  CK_CHECK(*format == Format::Gguf ? readGguf(*contents) : readSafetensors(*contents));

  const std::string &path = contents->file.path();
  for (size_t i = 0; i < contents->tensors.size(); ++i)
    if (!contents->tensorIndex.emplace(contents->tensors[i].name, i).second)
      return fail("DUPLICATE", path, ": two tensors are named ", quote(contents->tensors[i].name));
  for (size_t i = 0; i < contents->metadata.size(); ++i)
    if (!contents->metadataIndex.emplace(contents->metadata[i].key, i).second)
      return fail("DUPLICATE", path, ": the metadata key ", quote(contents->metadata[i].key), " appears twice");
  CK_CHECK(checkLayout(*contents));
  Container container;
  container.contents = std::move(contents);
  return container;
}

Container::Format Container::format() const { return contents->format; }
const char *Container::formatName() const { return format() == Format::Gguf ? "gguf" : "safetensors"; }
const std::string &Container::path() const { return contents->file.path(); }
uint64_t Container::fileSize() const { return contents->file.size(); }
uint32_t Container::version() const { return contents->version; }
const std::vector<TensorInfo> &Container::tensors() const { return contents->tensors; }
const std::vector<MetaEntry> &Container::metadata() const { return contents->metadata; }

const TensorInfo *Container::find(std::string_view tensor) const {
  auto found = contents->tensorIndex.find(tensor);
  return found == contents->tensorIndex.end() ? nullptr : &contents->tensors[found->second];
}

const MetaValue *Container::findMeta(std::string_view key) const {
  auto found = contents->metadataIndex.find(key);
  return found == contents->metadataIndex.end() ? nullptr : &contents->metadata[found->second].value;
}

void Container::dropPages(const uint8_t *from, uint64_t bytes) const { contents->file.dropPages(from, bytes); }

} // namespace ck
