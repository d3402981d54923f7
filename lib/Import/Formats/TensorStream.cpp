//===- TensorStream.cpp - a file of tensors, written as they come ---------===//
#include "ck/Import/Formats/TensorStream.h"

#include "Text.h"

#include <algorithm>
#include <set>

namespace ck {

Result<std::vector<TensorPlace>> placeTensors(const std::string &path, const std::vector<TensorHeader> &tensors,
                                              uint64_t alignment) {
  std::vector<TensorPlace> places;
  std::set<std::string_view> names;
  uint64_t end = 0;
  for (const TensorHeader &tensor : tensors) {
    if (tensor.name.empty() || !names.insert(tensor.name).second)
      return fail("DUPLICATE", path, ": tensor ", quote(tensor.name), ": the name is empty or used twice");
    std::optional<uint64_t> bytes = tensorBytes(*tensor.dtype, tensor.shape);
    uint64_t offset;
    if (!bytes || __builtin_add_overflow(end, alignment - 1, &offset) ||
        __builtin_add_overflow(offset -= offset % alignment, *bytes, &end))
      return fail("BAD_SHAPE", path, ": tensor ", quote(tensor.name), ": ", shapeText(tensor.shape), " of ",
                  tensor.dtype->name, " is no whole number of blocks or too large");
    places.push_back({offset, *bytes});
  }
  return places;
}

Result<TensorStream> TensorStream::create(const std::string &path, std::string_view header,
                                          std::vector<TensorPlace> places, uint64_t alignment) {
  Result<DurableFile> file = DurableFile::create(path);
  if (!file)
    return file.error();
  CK_CHECK(file->write(header));
  return TensorStream(*std::move(file), path, std::move(places), alignment);
}

Status TensorStream::padTo(uint64_t offset) {
  std::string zeros(offset - position, '\0');
  position = offset;
  return file.write(zeros);
}

/// Steps over tensors that are complete, and to the start of the next.
Status TensorStream::toNextTensor() {
  for (; current < places.size(); ++current) {
    const TensorPlace &place = places[current];
    if (position < place.offset)
      CK_CHECK(padTo(place.offset));
    if (position < place.offset + place.bytes)
      break;
  }
  return Status::success();
}

Status TensorStream::write(std::string_view bytes) {
  while (true) {
    CK_CHECK(toNextTensor());
    if (bytes.empty())
      return Status::success();
    if (current == places.size())
      return fail("BAD_SHAPE", path, ": ", bytes.size(), " bytes more than the tensors need");
    uint64_t room = places[current].offset + places[current].bytes - position;
    std::string_view piece = bytes.substr(0, std::min<uint64_t>(room, bytes.size()));
    CK_CHECK(file.write(piece));
    position += piece.size();
    bytes.remove_prefix(piece.size());
  }
}

Status TensorStream::commit() {
  CK_CHECK(toNextTensor());
  if (current < places.size())
    return fail("BAD_SHAPE", path, ": the data ends within tensor ", current, " of ", places.size());
  CK_CHECK(padTo((position + alignment - 1) / alignment * alignment));
  return file.commit();
}

} // namespace ck
