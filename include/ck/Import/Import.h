//===- Import.h - from model files to GRAPH ---------------------*- C++ -*-===//
//
// Builds the GRAPH form of a decoder from its configuration. Weights stay in their files: each becomes a `ck.buffer`
// that names its container and tensor.
//
//===----------------------------------------------------------------------===//
#ifndef CK_IMPORT_IMPORT_H
#define CK_IMPORT_IMPORT_H

#include "ck/Import/Formats/ModelConfig.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>

namespace ck {

/// What a training program is planned for; each call may have less.
struct TrainingShape {
  int64_t rows = 0;      ///< tokens of all sequences of one call
  int64_t sequences = 0; ///< sequences of one call
  int64_t positions = 0; ///< tokens of the longest sequence
  bool trainStep = true; ///< wants entry @train_step
  bool eval = true;      ///< wants entry @eval
};

/// What the user chooses at import; all sizes in tokens.
struct ImportOptions {
  int64_t context = 0;     ///< rows of the KV caches; 0 = min(the model's, 4096)
  int64_t chunk = 512;     ///< most rows of one @prefill call; at most `context` is used
  bool allLogits = false;  ///< @prefill gives the logits of every row, not of the last one
  std::string weightsFile; ///< container that buffers name; empty = buffers without `from`
  /// Storage type of each weight by logical name ("layers.3.wq"), f32 where absent; importModel takes it from the file.
  std::map<std::string, std::string> storage;
  /// The loosest numerics class of the module: f32, f16_operands, bf16_operands or q8_activations; empty =
  /// q8_activations if a weight is quantised, else f32. With f32, inputs of linear layers stay f32 and weights count
  /// exactly as what their storage stands for.
  std::string numerics;
  /// Of importModel: build the entries of training instead, of this shape; context and chunk mean nothing then.
  std::optional<TrainingShape> training;
};

/// The context that `options` give for `config`. Error: outside 1..2^31-1.
Result<int64_t> chosenContext(const ModelConfig &config, const ImportOptions &options);

/// Builds entries @decode (one row) and @prefill (up to `chunk` rows) of a Llama-family decoder. Weights have the
/// element types of `options.storage`; norms and biases stored in 16 bits are widened by ck.convert. Error: a size or a
/// numerics class that `options` must not have.
Result<mlir::OwningOpRef<mlir::ModuleOp>> buildDecoder(mlir::MLIRContext &context, const ModelConfig &config,
                                                       const ImportOptions &options);

/// Builds the loss of a Llama-family decoder up to twice: as entry @train_step, whose loss is tagged `ck.loss` for
/// --ck-autodiff, and as entry @eval. Both take tokens, targets (-100: ignored) and positions of T rows, `seqs` (S
/// offsets of packed sequences) and `scale`, by which the sum of the losses is multiplied. All weights are trainable;
/// with `weightsFile` they name their tensors in it. Error: a size outside 1..2^31-2.
Result<mlir::OwningOpRef<mlir::ModuleOp>> buildTrainingDecoder(mlir::MLIRContext &context, const ModelConfig &config,
                                                               const TrainingShape &shape,
                                                               const std::string &weightsFile);

/// Loads the configuration at `path` (a directory, config.json or GGUF file), checks the weights that go with it and
/// builds the decoder. `relativeTo` is the folder that the weight file is named from; `unused`, if given, receives
/// tensors of the file that the model does not read.
Result<mlir::OwningOpRef<mlir::ModuleOp>> importModel(mlir::MLIRContext &context, const std::string &path,
                                                      ImportOptions options, const std::string &relativeTo,
                                                      std::vector<std::string> *unused = nullptr);

} // namespace ck

#endif // CK_IMPORT_IMPORT_H
