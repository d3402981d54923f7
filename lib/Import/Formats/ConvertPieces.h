//===- ConvertPieces.h - parts of the conversion ----------------*- C++ -*-===//
//
// Private: weights (ConvertWeights.cpp), texts and metadata (ConvertTexts.cpp); ConvertModel.cpp puts them together.
//
//===----------------------------------------------------------------------===//
#ifndef CK_LIB_IMPORT_FORMATS_CONVERTPIECES_H
#define CK_LIB_IMPORT_FORMATS_CONVERTPIECES_H

#include "ck/Import/Formats/ConvertModel.h"
#include "ck/Import/Formats/GgufWriter.h"

namespace ck::convert {

/// One tensor on its way.
struct WeightJob {
  const TensorInfo *source = nullptr;
  TensorHeader target;
  /// Set where the rows change their order to that of this pairing.
  std::optional<ModelConfig::RopePairing> pairing;
  int64_t headDim = 0;
};

/// What is to be converted.
struct SourceModel {
  std::string path, directory; ///< the directory of the texts beside the weights, ending in '/', or empty
  ModelConfig config;
  Container weights;
};

Result<SourceModel> openModel(const std::string &path);

/// Every tensor of the result, in order: as the source has them where the format stays, else in program order.
std::vector<WeightJob> planWeights(const SourceModel &model, const StorageRule &rule, const ConvertOptions &options,
                                   ConvertReport &report);

/// Writes all tensors into a started file. Errors: BAD_PATH, BAD_VALUE, UNSUPPORTED (a type that CK cannot read).
Status writeWeights(const SourceModel &model, const std::vector<WeightJob> &jobs, int threads, TensorStream &stream);

/// A file to write beside model.safetensors.
struct TextFile {
  std::string name, text;
};

/// The texts of a Hugging Face folder. `dtype` is the type of most weights.
Result<std::vector<TextFile>> folderTexts(const SourceModel &model, const ConvertOptions &options,
                                          const std::string &dtype);

/// The metadata of a GGUF file.
Result<GgufMetadata> ggufMetadata(const SourceModel &model, const ConvertOptions &options,
                                  std::optional<uint32_t> fileType);

} // namespace ck::convert

#endif // CK_LIB_IMPORT_FORMATS_CONVERTPIECES_H
