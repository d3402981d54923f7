//===- RunDirectory.h - the folder of a training run ------------*- C++ -*-===//
//
//   training.safetensors   the point to resume from
//   model.safetensors, config.json, tokenizer.json (, generation_config.json)   the model, for every tool that reads
//                          Hugging Face folders
//   loss.csv, loss.svg     the losses
//
//===----------------------------------------------------------------------===//
#ifndef CK_TRAINING_RUNDIRECTORY_H
#define CK_TRAINING_RUNDIRECTORY_H

#include "ck/Import/Formats/HfConfigText.h"
#include "ck/Training/TrainProgram.h"

namespace ck {

/// The texts that stand beside the weights; an empty one is not written.
struct ModelTexts {
  std::string config, generationConfig, tokenizer;
};

/// A folder that belongs to this process alone as long as the object lives. Move-only.
class RunDirectory {
public:
  /// Makes the folder, with its parents, where it is missing, and locks it. Errors: BAD_PATH (the system's reason, no
  /// folder, not writable), CONFLICT (another run writes there).
  static Result<RunDirectory> open(const std::string &path);
  RunDirectory(RunDirectory &&other) noexcept;
  RunDirectory &operator=(RunDirectory &&) = delete;
  ~RunDirectory();

  const std::string &path() const { return folder; }
  std::string checkpoint() const { return folder + "/training.safetensors"; }
  std::string lossTable() const { return folder + "/loss.csv"; }
  std::string lossPicture() const { return folder + "/loss.svg"; }
  bool hasCheckpoint() const;
  bool hasModel() const;

  /// Writes the model: the weights under the publisher's names, then the texts. A model whose parameters are laid out
  /// as in GGUF gets the names, the order of rows and the config.json of Hugging Face. Errors: BAD_PATH; UNSUPPORTED (a
  /// configuration that config.json cannot express).
  Status writeModel(const ModelConfig &config, const ModelTexts &texts, const TrainProgram &program) const;

private:
  RunDirectory() = default;
  std::string folder;
  int lock = -1;
};

} // namespace ck

#endif // CK_TRAINING_RUNDIRECTORY_H
