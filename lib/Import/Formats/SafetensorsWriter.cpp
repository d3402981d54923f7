//===- SafetensorsWriter.cpp - tensors into a safetensors file ------------===//
#include "ck/Import/Formats/SafetensorsWriter.h"

#include "Text.h"
#include "ck/Import/Formats/DurableFile.h"

#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

namespace ck {

namespace {

constexpr uint64_t kMaxHeader = 100'000'000; // as the reader
constexpr uint64_t kAlignment = 64;

/// The size of the data and its entries in the header, checked.
Result<std::string> makeHeader(const std::string &path,
                               const std::vector<std::pair<std::string, std::string>> &metadata,
                               const std::vector<TensorToWrite> &tensors) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  for (const auto &[key, value] : metadata)
    header["__metadata__"][key] = value;
  std::set<std::string_view> names;
  uint64_t begin = 0;
  for (const TensorToWrite &tensor : tensors) {
    std::string what = path + ": tensor " + quote(tensor.name);
    if (tensor.name.empty() || tensor.name == "__metadata__" || !names.insert(tensor.name).second)
      return fail("DUPLICATE", what, ": the name is empty, reserved or used twice");
    if (!tensor.dtype || !tensor.dtype->safetensors)
      return fail("BAD_DTYPE", what, ": safetensors has no such element type");
    std::optional<uint64_t> bytes = tensorBytes(*tensor.dtype, tensor.shape);
    uint64_t given = 0;
    for (std::string_view piece : tensor.pieces)
      given += piece.size();
    if (!bytes || *bytes != given)
      return fail("BAD_SHAPE", what, ": ", given, " bytes for the shape ", shapeText(tensor.shape));
    header[tensor.name] = {
        {"dtype", tensor.dtype->safetensors}, {"shape", tensor.shape}, {"data_offsets", {begin, begin + given}}};
    begin += given;
  }
  // Names come from files and need not be UTF-8.
  std::string text = header.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  text.resize((text.size() + 8 + kAlignment - 1) / kAlignment * kAlignment - 8, ' ');
  if (text.size() > kMaxHeader)
    return fail("BAD_HEADER", path, ": a header of ", text.size(), " bytes; expected at most ", kMaxHeader);
  return text;
}

} // namespace

TensorToWrite floatTensor(std::string name, std::vector<int64_t> shape, const float *data) {
  std::string_view bytes(reinterpret_cast<const char *>(data), *elementCount(shape) * sizeof(float));
  return {std::move(name), findStorageType("f32"), std::move(shape), {bytes}};
}

Status writeSafetensors(const std::string &path, const std::vector<std::pair<std::string, std::string>> &metadata,
                        const std::vector<TensorToWrite> &tensors) {
  Result<std::string> header = makeHeader(path, metadata, tensors);
  if (!header)
    return header.error();
  Result<DurableFile> file = DurableFile::create(path);
  if (!file)
    return file.error();
  uint64_t length = header->size();
  char bytes[sizeof length];
  std::memcpy(bytes, &length, sizeof length);
  CK_CHECK(file->write({bytes, sizeof bytes}));
  CK_CHECK(file->write(*header));
  for (const TensorToWrite &tensor : tensors)
    for (std::string_view piece : tensor.pieces)
      CK_CHECK(file->write(piece));
  return file->commit();
}

} // namespace ck
