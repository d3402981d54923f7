//===- Gguf.cpp - reader of GGUF files, versions 2 and 3 ------------------===//
//
//   magic "GGUF", u32 version, u64 tensors, u64 entries
//   entry:  string key, u32 type, value              string: u64 length, bytes
//   tensor: string name, u32 n, u64 dims[n] (innermost first), u32 ggml type, u64 offset
//   data:   from the next multiple of general.alignment (32); offsets count from there
//
// All little-endian. Nothing is believed before it is compared with what is left of the file, and nothing is reserved
// by a count that the file claims.
//
//===----------------------------------------------------------------------===//
#include "ContainerContents.h"
#include "Metadata.h"
#include "Text.h"

#include <cstring>

namespace ck {

namespace {

constexpr int kMaxArrayDepth = 16;
constexpr uint32_t kMaxDims = 4;

class GgufReader {
public:
  explicit GgufReader(ContainerContents &contents)
      : contents(contents), file(contents.file), path(contents.file.path()) {}

  Status read() {
    if (file.text().substr(0, 4) != "GGUF")
      return fail("BAD_MAGIC", path, ": the first four bytes are ", quote(file.text().substr(0, 4)),
                  "; expected 'GGUF'");
    position = 4;
    uint64_t tensorCount, entryCount;
    CK_CHECK(scalar(contents.version, "the version"));
    if (contents.version != 2 && contents.version != 3)
      return fail("BAD_VERSION", path, ": GGUF version ", contents.version, "; expected 2 or 3",
                  __builtin_bswap32(contents.version) <= 3 ? " (is this a big-endian file?)" : "");
    CK_CHECK(count(tensorCount, "the number of tensors"));
    CK_CHECK(count(entryCount, "the number of metadata entries"));
    for (uint64_t i = 0; i < entryCount; ++i)
      CK_CHECK(readEntry());
    for (uint64_t i = 0; i < tensorCount; ++i)
      CK_CHECK(readTensor());
    Result<uint64_t> align = alignment();
    if (!align)
      return align.error();
    return contents.tensors.empty() ? Status::success() : placeTensors(*align);
  }

private:
  uint64_t left() const { return file.size() - position; }

  Error truncated(const std::string &what) const {
    return fail("TRUNCATED", path, ": the file ends at byte ", file.size(), ", within ", what);
  }

  template <typename T> Status scalar(T &value, const std::string &what) {
    if (left() < sizeof value)
      return truncated(what);
    std::memcpy(&value, file.data() + position, sizeof value);
    position += sizeof value;
    return Status::success();
  }

  /// A number of things of at least one byte each.
  Status count(uint64_t &value, const std::string &what) {
    CK_CHECK(scalar(value, what));
    if (value > file.size())
      return fail("ABSURD_COUNT", path, ": ", what, " is ", value, ", but the file has only ", file.size(), " bytes");
    return Status::success();
  }

  Status string(std::string_view &value, const std::string &what) {
    uint64_t length;
    CK_CHECK(count(length, "the length of " + what));
    if (left() < length)
      return truncated(what);
    value = file.text().substr(position, length);
    position += length;
    return Status::success();
  }

  Status type(MetaType &value, const std::string &what) {
    uint32_t id;
    CK_CHECK(scalar(id, what));
    if (id > static_cast<uint32_t>(MetaType::F64))
      return fail("BAD_DTYPE", path, ": ", what, ": metadata type ", id, "; expected 0 to 12");
    value = static_cast<MetaType>(id);
    return Status::success();
  }

  Status readEntry() {
    std::string_view key;
    CK_CHECK(string(key, "metadata key " + std::to_string(contents.metadata.size())));
    if (key.empty())
      return fail("BAD_HEADER", path, ": metadata entry ", contents.metadata.size(), " has an empty key");
    MetaEntry entry{std::string(key), {}};
    std::string what = "metadata " + quote(key);
    MetaValue &value = entry.value;
    CK_CHECK(type(value.type, what));
    if (value.type == MetaType::String) {
      std::string_view text;
      CK_CHECK(string(text, what));
      value.text = text;
    } else if (value.type == MetaType::Array) {
      CK_CHECK(skipArray(value.array, what, 1));
    } else {
      unsigned size = metaTypeBytes(value.type);
      if (left() < size)
        return truncated(what);
      const uint8_t *at = file.data() + position;
      position += size;
      if (value.type == MetaType::F32 || value.type == MetaType::F64)
        value.number = loadMetaNumber(value.type, at);
      else
        value.bits = loadMetaBits(value.type, at);
      if (value.type == MetaType::Bool && value.bits > 1)
        return fail("BAD_HEADER", path, ": ", what, ": a boolean of value ", value.bits, "; expected 0 or 1");
    }
    contents.metadata.push_back(std::move(entry));
    return Status::success();
  }

  /// Walks one array to prove that every element lies within the file.
  Status skipArray(MetaArray &array, const std::string &what, int depth) {
    if (depth > kMaxArrayDepth)
      return fail("TOO_DEEP", path, ": ", what, ": arrays nested more than ", kMaxArrayDepth, " deep");
    CK_CHECK(type(array.elementType, what));
    CK_CHECK(count(array.count, "the length of " + what));
    array.data = file.data() + position;
    if (unsigned size = metaTypeBytes(array.elementType)) {
      if (array.count > left() / size)
        return truncated(what);
      position += size * array.count;
      return Status::success();
    }
    for (uint64_t i = 0; i < array.count; ++i) {
      std::string_view text;
      MetaArray inner;
      CK_CHECK(array.elementType == MetaType::String ? string(text, what) : skipArray(inner, what, depth + 1));
    }
    return Status::success();
  }

  Status readTensor() {
    std::string_view name;
    CK_CHECK(string(name, "the name of tensor " + std::to_string(contents.tensors.size())));
    if (name.empty())
      return fail("BAD_HEADER", path, ": tensor ", contents.tensors.size(), " has an empty name");
    TensorInfo tensor;
    tensor.name = name;
    std::string what = "tensor " + quote(name);
    uint32_t dims, typeId;
    CK_CHECK(scalar(dims, what));
    if (dims > kMaxDims)
      return fail("BAD_SHAPE", path, ": ", what, ": ", dims, " dimensions; expected at most ", kMaxDims);
    tensor.shape.resize(dims);
    for (uint32_t i = 0; i < dims; ++i) {
      uint64_t extent;
      CK_CHECK(scalar(extent, what));
      if (extent == 0)
        return fail("BAD_SHAPE", path, ": ", what, ": dimension ", i, " is 0; expected at least 1");
      if (extent > static_cast<uint64_t>(INT64_MAX))
        return fail("OVERFLOW", path, ": ", what, ": dimension ", i, " is ", extent, "; too large");
      tensor.shape[dims - 1 - i] = static_cast<int64_t>(extent);
    }
    CK_CHECK(scalar(typeId, what));
    CK_CHECK(scalar(tensor.offset, what)); // still relative to the data section
    tensor.dtype = findGgmlType(typeId);
    if (!tensor.dtype)
      return fail("BAD_DTYPE", path, ": ", what, ": ggml type ", typeId, " is unknown or no longer in use");
    std::optional<uint64_t> bytes = tensorBytes(*tensor.dtype, tensor.shape);
    if (!elementCount(tensor.shape) || (!bytes && hasWholeBlocks(*tensor.dtype, tensor.shape)))
      return fail("OVERFLOW", path, ": ", what, ": the size of ", shapeText(tensor.shape), " of ", tensor.dtype->name,
                  " does not fit 64 bits");
    if (!bytes)
      return fail("BAD_SHAPE", path, ": ", what, ": rows of ", tensor.shape.empty() ? 1 : tensor.shape.back(),
                  " elements; ", tensor.dtype->name, " needs a multiple of ", tensor.dtype->blockElements);
    tensor.bytes = *bytes;
    contents.tensors.push_back(std::move(tensor));
    return Status::success();
  }

  Result<uint64_t> alignment() const {
    for (const MetaEntry &entry : contents.metadata) {
      if (entry.key != "general.alignment")
        continue;
      std::optional<int64_t> value = entry.value.asInteger();
      if (!value || *value <= 0 || *value > INT32_MAX || (*value & (*value - 1)) != 0)
        return fail("BAD_ALIGNMENT", path, ": general.alignment is ", entry.value.brief(), "; expected a power of two");
      return static_cast<uint64_t>(*value);
    }
    return uint64_t{32};
  }

  Status placeTensors(uint64_t align) {
    // position <= file size < 2^63 and align < 2^31: the sum cannot wrap.
    uint64_t begin = (position + align - 1) / align * align;
    for (TensorInfo &tensor : contents.tensors) {
      std::string what = "tensor " + quote(tensor.name);
      if (tensor.offset % align != 0)
        return fail("BAD_ALIGNMENT", path, ": ", what, ": offset ", tensor.offset, " is no multiple of the alignment ",
                    align);
      uint64_t offset;
      if (__builtin_add_overflow(begin, tensor.offset, &offset) || offset >= file.size())
        return fail("OUT_OF_RANGE", path, ": ", what, ": its data starts at byte ", tensor.offset,
                    " of the data section, past the end of the file (", file.size(), " bytes)");
      if (tensor.bytes > file.size() - offset)
        return fail("TRUNCATED", path, ": ", what, ": needs ", tensor.bytes, " bytes from byte ", offset,
                    " on, but the file ends at byte ", file.size());
      tensor.offset = offset;
      tensor.data = file.data() + offset;
    }
    contents.dataBegin = begin;
    return Status::success();
  }

  ContainerContents &contents;
  const MappedFile &file;
  const std::string &path;
  uint64_t position = 0;
};

} // namespace

Status readGguf(ContainerContents &contents) { return GgufReader(contents).read(); }

} // namespace ck
