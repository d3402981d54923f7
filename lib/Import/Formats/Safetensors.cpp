//===- Safetensors.cpp - reader of safetensors files ----------------------===//
//
//   u64 length (little-endian), a JSON object of that length, then the data
//   {"__metadata__": {"key": "value"}, "name": {"dtype": "F32", "shape": [2, 4], "data_offsets": [begin, end]}, ...}
//
// Offsets count from the end of the header. As the format demands, the tensors cover the data without hole or overlap.
//
//===----------------------------------------------------------------------===//
#include "ContainerContents.h"
#include "Text.h"
#include "ck/Import/Formats/Json.h"

#include <cstring>

namespace ck {

namespace {

constexpr uint64_t kMaxHeader = 100'000'000; // the limit of the format's own library

class SafetensorsReader {
public:
  explicit SafetensorsReader(ContainerContents &contents)
      : contents(contents), file(contents.file), path(contents.file.path()) {}

  Status read() {
    uint64_t length;
    if (file.size() < sizeof length)
      return fail("TRUNCATED", path, ": ", file.size(), " bytes; a safetensors file has at least 8");
    std::memcpy(&length, file.data(), sizeof length);
    if (length > kMaxHeader)
      return fail("ABSURD_COUNT", path, ": a header of ", length, " bytes; expected at most ", kMaxHeader);
    if (length > file.size() - sizeof length)
      return fail("TRUNCATED", path, ": a header of ", length, " bytes, but the file has only ", file.size());
    begin = sizeof length + length;
    std::string_view text = file.text().substr(sizeof length, length);
    if (text.empty() || text.front() != '{')
      return fail("BAD_HEADER", path, ": the header does not start with '{'");
    Result<json::Value> header = json::parse(text, path + " (header)");
    if (!header)
      return header.error();
    for (const json::Value::Member &member : *header->asObject())
      CK_CHECK(member.first == "__metadata__" ? readMetadata(member.second) : readTensor(member.first, member.second));
    contents.dataBegin = begin;
    return Status::success();
  }

private:
  Status readMetadata(const json::Value &value) {
    if (!value.asObject())
      return fail("BAD_HEADER", path, ": __metadata__ is ", value.kindName(), "; expected an object of strings");
    for (const json::Value::Member &member : *value.asObject()) {
      if (!member.second.asString())
        return fail("BAD_HEADER", path, ": __metadata__ ", quote(member.first), " is ", member.second.kindName(),
                    "; expected a string");
      MetaEntry entry{member.first, {}};
      entry.value.type = MetaType::String;
      entry.value.text = *member.second.asString();
      contents.metadata.push_back(std::move(entry));
    }
    return Status::success();
  }

  Status readTensor(const std::string &name, const json::Value &value) {
    std::string what = path + ": tensor " + quote(name);
    if (name.empty())
      return fail("BAD_HEADER", path, ": a tensor has an empty name");
    const json::Value *dtype = value.find("dtype"), *shape = value.find("shape"), *span = value.find("data_offsets");
    if (!dtype || !dtype->asString() || !shape || !shape->asArray() || !span || !span->asArray() ||
        span->asArray()->size() != 2 || value.asObject()->size() != 3)
      return fail("BAD_HEADER", what,
                  ": expected {\"dtype\": string, \"shape\": [...], \"data_offsets\": [begin, end]}");

    TensorInfo tensor;
    tensor.name = name;
    tensor.dtype = findSafetensorsType(*dtype->asString());
    if (!tensor.dtype)
      return fail("BAD_DTYPE", what, ": unknown dtype ", dtype->brief());
    for (const json::Value &extent : *shape->asArray()) {
      if (!extent.asInteger() || *extent.asInteger() < 0)
        return fail("BAD_SHAPE", what, ": the extent ", extent.brief(), " in its shape; expected a natural number");
      tensor.shape.push_back(*extent.asInteger());
    }
    std::optional<uint64_t> bytes = tensorBytes(*tensor.dtype, tensor.shape);
    if (!elementCount(tensor.shape) || (!bytes && hasWholeBlocks(*tensor.dtype, tensor.shape)))
      return fail("OVERFLOW", what, ": the size of ", shapeText(tensor.shape), " does not fit 64 bits");

    std::optional<int64_t> from = span->asArray()->front().asInteger(), to = span->asArray()->back().asInteger();
    if (!from || !to || *from < 0 || *to < *from)
      return fail("OUT_OF_RANGE", what, ": data_offsets [", span->asArray()->front().brief(), ", ",
                  span->asArray()->back().brief(), "]; expected 0 <= begin <= end");
    uint64_t available = file.size() - begin;
    if (static_cast<uint64_t>(*from) > available)
      return fail("OUT_OF_RANGE", what, ": its data starts at byte ", *from, ", but only ", available,
                  " bytes of data follow the header");
    if (static_cast<uint64_t>(*to) > available)
      return fail("TRUNCATED", what, ": its data ends at byte ", *to, ", but only ", available,
                  " bytes of data follow the header");
    tensor.offset = begin + *from;
    tensor.bytes = *to - *from;
    tensor.data = file.data() + tensor.offset;
    if (!bytes || *bytes != tensor.bytes)
      return fail("BAD_SHAPE", what, ": ", tensor.dtype->name, " ", shapeText(tensor.shape), " takes ",
                  bytes ? std::to_string(*bytes) : "no whole number of", " bytes, but data_offsets span ",
                  tensor.bytes);
    contents.tensors.push_back(std::move(tensor));
    return Status::success();
  }

  ContainerContents &contents;
  const MappedFile &file;
  const std::string &path;
  uint64_t begin = 0;
};

} // namespace

Status readSafetensors(ContainerContents &contents) { return SafetensorsReader(contents).read(); }

} // namespace ck
