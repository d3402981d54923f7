//===- ConvertModel.h - models from one format to another -------*- C++ -*-===//
//
// Llama-family models (what ModelConfig covers) from a Hugging Face folder or a GGUF file to either, with the storage
// types that a StorageRule says. Tensors pass through one at a time, in pieces, so that memory does not grow with the
// model.
//
//===----------------------------------------------------------------------===//
#ifndef CK_IMPORT_FORMATS_CONVERTMODEL_H
#define CK_IMPORT_FORMATS_CONVERTMODEL_H

#include "ck/Import/Formats/StorageRule.h"

#include <functional>
#include <map>

namespace ck {

struct ConvertOptions {
  Container::Format target = Container::Format::Gguf; ///< Safetensors stands for a Hugging Face folder
  std::string type;                                   ///< as StorageRule::parse
  std::string out;                                    ///< the file or the folder; must not exist
  bool tokenizer = true;                              ///< false leaves it out
  int threads = 1;                                    ///< the result does not depend on them
  std::function<void(const std::string &)> note;      ///< called with what the user should know; may be empty
};

struct ConvertReport {
  uint64_t tensors = 0, bytes = 0;       ///< of the weights written
  std::map<std::string, uint64_t> types; ///< tensors of each type
  std::vector<std::string> fallbacks;    ///< tensors that could not get the type asked for
};

/// Converts the model at `path`: a folder with config.json, a config.json, or a GGUF file. Writes all or nothing.
///
/// Names of tensors, the order of rows that positions turn, configuration and tokenizer become those of the target. A
/// weight whose type and format stay is copied byte for byte. Each weight that gets another type than asked for is a
/// note. Errors: those of the files; CONFLICT (`out` exists, or is the model); UNSUPPORTED (what the target cannot
/// express); BAD_VALUE (a weight that is not finite, or beyond what its type can hold: tensor, row and column).
Result<ConvertReport> convertModel(const std::string &path, const ConvertOptions &options);

} // namespace ck

#endif // CK_IMPORT_FORMATS_CONVERTMODEL_H
