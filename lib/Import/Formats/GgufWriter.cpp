//===- GgufWriter.cpp - tensors and metadata into a GGUF file -------------===//
#include "ck/Import/Formats/GgufWriter.h"

#include "Metadata.h"
#include "Text.h"

#include <algorithm>

namespace ck {

namespace {

constexpr size_t kMaxDims = 4;
constexpr size_t kMaxName = 63; // what fits the fixed field of other readers

template <typename T> void append(std::string &out, T value) {
  out.append(reinterpret_cast<const char *>(&value), sizeof value);
}

void appendText(std::string &out, std::string_view text) {
  append<uint64_t>(out, text.size());
  out += text;
}

} // namespace

GgufMetadata &GgufMetadata::put(std::string_view key, MetaType type, std::string_view bytes) {
  std::string value = encoded(static_cast<uint32_t>(type));
  value += bytes;
  for (Entry &entry : entries)
    if (entry.key == key) {
      entry.value = std::move(value);
      return *this;
    }
  entries.push_back({std::string(key), std::move(value)});
  return *this;
}

GgufMetadata &GgufMetadata::set(std::string_view key, std::string_view text) {
  return put(key, MetaType::String, encoded(std::string(text)));
}

GgufMetadata &GgufMetadata::copy(std::string_view key, const MetaValue &value) {
  switch (value.type) {
  case MetaType::String:
    return set(key, value.text);
  case MetaType::F32:
    return set(key, static_cast<float>(value.number));
  case MetaType::F64:
    return set(key, value.number);
  case MetaType::Array: {
    std::string bytes = encoded(static_cast<uint32_t>(value.array.elementType)) + encoded(value.array.count);
    bytes.append(value.array.data, endOfMetaArray(value.array));
    return put(key, MetaType::Array, bytes);
  }
  default: // integers and booleans: the low bytes
    return put(key, value.type, encoded(value.bits).substr(0, metaTypeBytes(value.type)));
  }
}

GgufMetadata &GgufMetadata::erase(std::string_view key) {
  entries.erase(std::remove_if(entries.begin(), entries.end(), [&](const Entry &entry) { return entry.key == key; }),
                entries.end());
  return *this;
}

std::string GgufMetadata::encode() const {
  std::string out;
  for (const Entry &entry : entries) {
    appendText(out, entry.key);
    out += entry.value;
  }
  return out;
}

Result<TensorStream> ggufStream(const std::string &path, const GgufMetadata &metadata,
                                const std::vector<TensorHeader> &tensors, uint32_t alignment) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > INT32_MAX)
    return fail("BAD_ALIGNMENT", path, ": the alignment is ", alignment, "; expected a power of two below 2^31");
  for (const TensorHeader &tensor : tensors) {
    std::string what = path + ": tensor " + quote(tensor.name);
    if (!tensor.dtype || tensor.dtype->ggml < 0)
      return fail("BAD_DTYPE", what, ": GGUF has no such element type");
    if (tensor.shape.size() > kMaxDims || std::count(tensor.shape.begin(), tensor.shape.end(), 0) != 0)
      return fail("BAD_SHAPE", what, ": the shape ", shapeText(tensor.shape), "; expected at most ", kMaxDims,
                  " dimensions of at least 1");
    if (tensor.name.size() > kMaxName)
      return fail("BAD_HEADER", what, ": a name of ", tensor.name.size(), " bytes; expected at most ", kMaxName);
  }
  Result<std::vector<TensorPlace>> places = placeTensors(path, tensors, alignment);
  if (!places)
    return places.error();

  GgufMetadata all = metadata;
  all.erase("general.alignment");
  if (alignment != 32)
    all.set("general.alignment", alignment);
  std::string header = "GGUF";
  append<uint32_t>(header, 3);
  append<uint64_t>(header, tensors.size());
  append<uint64_t>(header, all.count());
  header += all.encode();
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorHeader &tensor = tensors[i];
    appendText(header, tensor.name);
    append<uint32_t>(header, tensor.shape.size());
    for (size_t dim = tensor.shape.size(); dim-- > 0;)
      append<uint64_t>(header, tensor.shape[dim]);
    append<uint32_t>(header, tensor.dtype->ggml);
    append<uint64_t>(header, (*places)[i].offset);
  }
  if (!tensors.empty())
    header.resize((header.size() + alignment - 1) / alignment * alignment);
  return TensorStream::create(path, header, *std::move(places), alignment);
}

} // namespace ck
