//===- SafetensorsWriter.cpp - tensors into a safetensors file ------------===//
#include "ck/Import/Formats/SafetensorsWriter.h"

#include "Text.h"

#include <cstring>
#include <nlohmann/json.hpp>

namespace ck {

namespace {

constexpr uint64_t kMaxHeader = 100'000'000; // as the reader
constexpr uint64_t kAlignment = 64;          // of the data

} // namespace

TensorToWrite floatTensor(std::string name, std::vector<int64_t> shape, const float *data) {
  std::string_view bytes(reinterpret_cast<const char *>(data), *elementCount(shape) * sizeof(float));
  return {std::move(name), findStorageType("f32"), std::move(shape), {bytes}};
}

Result<TensorStream> safetensorsStream(const std::string &path,
                                       const std::vector<std::pair<std::string, std::string>> &metadata,
                                       const std::vector<TensorHeader> &tensors) {
  for (const TensorHeader &tensor : tensors) {
    if (!tensor.dtype || !tensor.dtype->safetensors)
      return fail("BAD_DTYPE", path, ": tensor ", quote(tensor.name), ": safetensors has no such element type");
    if (tensor.name == "__metadata__")
      return fail("DUPLICATE", path, ": tensor ", quote(tensor.name), ": the name is reserved");
  }
  // The format allows no byte between two tensors.
  Result<std::vector<TensorPlace>> places = placeTensors(path, tensors, 1);
  if (!places)
    return places.error();
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  for (const auto &[key, value] : metadata)
    header["__metadata__"][key] = value;
  for (size_t i = 0; i < tensors.size(); ++i) {
    uint64_t begin = (*places)[i].offset, end = begin + (*places)[i].bytes;
    header[tensors[i].name] = {
        {"dtype", tensors[i].dtype->safetensors}, {"shape", tensors[i].shape}, {"data_offsets", {begin, end}}};
  }
  // Names come from files and need not be UTF-8.
  std::string text = header.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  uint64_t length = (text.size() + 8 + kAlignment - 1) / kAlignment * kAlignment - 8;
  if (length > kMaxHeader)
    return fail("BAD_HEADER", path, ": a header of ", length, " bytes; expected at most ", kMaxHeader);
  text.resize(length, ' ');
  char prefix[sizeof length];
  std::memcpy(prefix, &length, sizeof length);
  return TensorStream::create(path, std::string(prefix, sizeof prefix) + text, *std::move(places), 1);
}

Status writeSafetensors(const std::string &path, const std::vector<std::pair<std::string, std::string>> &metadata,
                        const std::vector<TensorToWrite> &tensors) {
  std::vector<TensorHeader> headers;
  for (const TensorToWrite &tensor : tensors) {
    headers.push_back({tensor.name, tensor.dtype, tensor.shape});
    uint64_t given = 0;
    for (std::string_view piece : tensor.pieces)
      given += piece.size();
    if (tensor.dtype && tensor.dtype->safetensors && tensorBytes(*tensor.dtype, tensor.shape) != given)
      return fail("BAD_SHAPE", path, ": tensor ", quote(tensor.name), ": ", given, " bytes for the shape ",
                  shapeText(tensor.shape));
  }
  Result<TensorStream> stream = safetensorsStream(path, metadata, headers);
  if (!stream)
    return stream.error();
  for (const TensorToWrite &tensor : tensors)
    for (std::string_view piece : tensor.pieces)
      CK_CHECK(stream->write(piece));
  return stream->commit();
}

} // namespace ck
