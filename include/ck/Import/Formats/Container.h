//===- Container.h - GGUF and safetensors files as one thing ----*- C++ -*-===//
//
// A container is a mapped file of named tensors and metadata. Opening it checks everything that its header claims,
// so that whatever a TensorInfo says is true: in range, not overlapping, of the size that its shape needs.
//
//===----------------------------------------------------------------------===//
#ifndef CK_IMPORT_FORMATS_CONTAINER_H
#define CK_IMPORT_FORMATS_CONTAINER_H

#include "ck/Import/Formats/MappedFile.h"
#include "ck/Import/Formats/StorageType.h"

#include <memory>
#include <vector>

namespace ck {

/// One tensor of a container.
struct TensorInfo {
  std::string name;
  const StorageType *dtype = nullptr;
  std::vector<int64_t> shape; ///< row-major, outermost first (GGUF stores the reverse)
  uint64_t offset = 0;        ///< of the first byte in the file
  uint64_t bytes = 0;
  const uint8_t *data = nullptr; ///< into the mapping; as aligned as the file made it
};

/// Types of metadata values, with the ids of GGUF.
enum class MetaType : uint32_t { U8, I8, U16, I16, U32, I32, F32, Bool, String, Array, U64, I64, F64 };

/// "u32", "string", "array".
const char *metaTypeName(MetaType type);

/// A checked array of metadata, decoded on demand from the mapped bytes.
struct MetaArray {
  MetaType elementType = MetaType::U8;
  uint64_t count = 0;
  const uint8_t *data = nullptr; ///< `count` encoded elements, known to lie within the file

  /// The elements, if they have that kind; nullopt otherwise. Strings point into the mapping.
  std::optional<std::vector<int64_t>> integers() const; ///< any integer type; u64 above int64 gives nullopt
  std::optional<std::vector<double>> numbers() const;   ///< f32 or f64
  std::optional<std::vector<std::string_view>> strings() const;
  std::optional<std::vector<MetaArray>> arrays() const;
};

/// One metadata value.
struct MetaValue {
  MetaType type = MetaType::U8;
  uint64_t bits = 0; ///< integers (sign-extended) and booleans
  double number = 0; ///< f32 and f64
  std::string text;  ///< strings
  MetaArray array;

  std::optional<int64_t> asInteger() const; ///< any integer type that fits int64
  std::optional<double> asNumber() const;   ///< f32 or f64
  std::optional<bool> asBool() const;
  const std::string *asString() const { return type == MetaType::String ? &text : nullptr; }
  const MetaArray *asArray() const { return type == MetaType::Array ? &array : nullptr; }
  /// The value for a reader, cut to about `limit` characters: `32`, `"llama"`, `[512 x string]`.
  std::string brief(size_t limit = 60) const;
};

struct MetaEntry {
  std::string key;
  MetaValue value;
};

struct ContainerContents;

/// An open container. Copies share one mapping, which lives as long as any of them.
class Container {
public:
  enum class Format { Gguf, Safetensors };

  /// Opens and checks a file. The format comes from the extension (.gguf, .safetensors), else from the first bytes.
  /// Errors carry a class: BAD_PATH, BAD_MAGIC, BAD_VERSION, TRUNCATED, ABSURD_COUNT, OVERFLOW, OUT_OF_RANGE, OVERLAP,
  /// BAD_ALIGNMENT, BAD_SHAPE, BAD_DTYPE, DUPLICATE, BAD_HEADER, BAD_JSON, TOO_DEEP.
  static Result<Container> open(const std::string &path);
  /// The same for a file that is already mapped or in memory.
  static Result<Container> parse(MappedFile file);

  Format format() const;
  const char *formatName() const; ///< "gguf" or "safetensors"
  const std::string &path() const;
  uint64_t fileSize() const;
  uint32_t version() const; ///< of GGUF; 0 for safetensors
  /// In the order of the file's header.
  const std::vector<TensorInfo> &tensors() const;
  const std::vector<MetaEntry> &metadata() const;
  /// Null if there is none of that name.
  const TensorInfo *find(std::string_view tensor) const;
  const MetaValue *findMeta(std::string_view key) const;
  /// Lets the system take back the memory behind mapped bytes that have been read; they can be read again.
  void dropPages(const uint8_t *from, uint64_t bytes) const;

private:
  Container() = default;
  std::shared_ptr<const ContainerContents> contents;
};

} // namespace ck

#endif // CK_IMPORT_FORMATS_CONTAINER_H
