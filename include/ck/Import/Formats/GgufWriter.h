//===- GgufWriter.h - tensors and metadata into a GGUF file -----*- C++ -*-===//
//
// Version 3, little-endian, as Gguf.cpp reads it.
//
//===----------------------------------------------------------------------===//
#ifndef CK_IMPORT_FORMATS_GGUFWRITER_H
#define CK_IMPORT_FORMATS_GGUFWRITER_H

#include "ck/Import/Formats/Container.h"
#include "ck/Import/Formats/TensorStream.h"

#include <type_traits>

namespace ck {

/// Metadata to write, in order. Setting a key again replaces its value in its place. Keys are not empty.
class GgufMetadata {
public:
  /// A number or a boolean, stored with the type that it has here: uint32_t as u32, float as f32.
  template <typename T> GgufMetadata &set(std::string_view key, T value) {
    return put(key, metaTypeOf<T>(), encoded(value));
  }
  GgufMetadata &set(std::string_view key, std::string_view text);
  GgufMetadata &set(std::string_view key, const std::string &text) { return set(key, std::string_view(text)); }
  GgufMetadata &set(std::string_view key, const char *text) { return set(key, std::string_view(text)); }
  /// An array of numbers or of strings.
  template <typename T> GgufMetadata &set(std::string_view key, const std::vector<T> &values) {
    std::string bytes = encoded(static_cast<uint32_t>(metaTypeOf<T>())) + encoded<uint64_t>(values.size());
    for (const T &value : values)
      bytes += encoded(value);
    return put(key, MetaType::Array, bytes);
  }
  /// The value of another file, of any type, arrays of arrays included.
  GgufMetadata &copy(std::string_view key, const MetaValue &value);
  GgufMetadata &erase(std::string_view key);

  uint64_t count() const { return entries.size(); }
  /// All entries as they stand in a file.
  std::string encode() const;

private:
  struct Entry {
    std::string key, value; ///< the value with its type in front
  };

  template <typename T> static constexpr MetaType metaTypeOf() {
    if constexpr (std::is_same_v<T, std::string>)
      return MetaType::String;
    else if constexpr (std::is_same_v<T, bool>)
      return MetaType::Bool;
    else if constexpr (std::is_floating_point_v<T>)
      return sizeof(T) == 4 ? MetaType::F32 : MetaType::F64;
    else if constexpr (sizeof(T) == 1)
      return std::is_signed_v<T> ? MetaType::I8 : MetaType::U8;
    else if constexpr (sizeof(T) == 2)
      return std::is_signed_v<T> ? MetaType::I16 : MetaType::U16;
    else if constexpr (sizeof(T) == 4)
      return std::is_signed_v<T> ? MetaType::I32 : MetaType::U32;
    else
      return std::is_signed_v<T> ? MetaType::I64 : MetaType::U64;
  }
  template <typename T> static std::string encoded(const T &value) {
    if constexpr (std::is_same_v<T, std::string>)
      return encoded<uint64_t>(value.size()) + value;
    else
      return {reinterpret_cast<const char *>(&value), sizeof value};
  }
  GgufMetadata &put(std::string_view key, MetaType type, std::string_view bytes);

  std::vector<Entry> entries;
};

/// Starts a GGUF file with these tensors, whose bytes the stream then takes. The data and each tensor start at
/// multiples of `alignment`; one other than 32 is written as general.alignment. Errors name the file and the tensor:
/// BAD_PATH; BAD_ALIGNMENT (no power of two); BAD_DTYPE (a type that GGUF has not); BAD_SHAPE (more than four
/// dimensions, one of 0, or no whole blocks); DUPLICATE; BAD_HEADER (a name of 64 bytes or more, which other readers
/// refuse).
Result<TensorStream> ggufStream(const std::string &path, const GgufMetadata &metadata,
                                const std::vector<TensorHeader> &tensors, uint32_t alignment = 32);

} // namespace ck

#endif // CK_IMPORT_FORMATS_GGUFWRITER_H
