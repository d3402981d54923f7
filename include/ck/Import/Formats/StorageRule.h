//===- StorageRule.h - which type a converted weight gets -------*- C++ -*-===//
//
// The rule behind `--type`, also of the mixes whose name ends in _m. docs/quantisation.md states it for people.
//
//===----------------------------------------------------------------------===//
#ifndef CK_IMPORT_FORMATS_STORAGERULE_H
#define CK_IMPORT_FORMATS_STORAGERULE_H

#include "ck/Import/Formats/ModelConfig.h"

namespace ck {

/// The type of one weight, and why it is not the one that was asked for; no reason where it is.
struct StorageChoice {
  const StorageType *type = nullptr;
  std::string reason;
};

class StorageRule {
public:
  /// `name`: f32, f16, bf16, q8_0, q4_0, q4_1, q5_0, q5_1, q4_k, q5_k, q6_k, q4_k_m or q5_k_m in any case; empty keeps
  /// the type of each weight where `target` has it. Errors: BAD_TYPE (another name); UNSUPPORTED (a type of blocks for
  /// safetensors).
  static Result<StorageRule> parse(std::string_view name, Container::Format target);

  /// For a weight of this logical name ("layers.3.wv"), type and shape, in a model of this configuration.
  StorageChoice choose(std::string_view logical, const StorageType &source, const std::vector<int64_t> &shape,
                       const ModelConfig &config) const;

  /// True if types are kept.
  bool keeps() const { return !base; }
  /// general.file_type of GGUF; nullopt where types are kept.
  std::optional<uint32_t> fileType() const { return number; }

private:
  Container::Format target = Container::Format::Gguf;
  const StorageType *base = nullptr; ///< null: keep
  bool mixed = false;
  std::optional<uint32_t> number;
};

} // namespace ck

#endif // CK_IMPORT_FORMATS_STORAGERULE_H
