//===- RunDirectory.cpp - the folder of a training run --------------------===//
#include "ck/Training/RunDirectory.h"

#include "Messages.h"
#include "ck/Import/Formats/AtomicFile.h"
#include "ck/Import/Formats/RopeRows.h"
#include "ck/Import/Formats/SafetensorsWriter.h"
#include "ck/Import/Formats/WeightTable.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace ck {

namespace {

Error systemError(const std::string &path, const char *what) {
  return fail("BAD_PATH", path, ": ", what, ": ", std::strerror(errno));
}

Status makeFolders(const std::string &path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    std::string part = path.substr(0, end);
    if (::mkdir(part.c_str(), 0777) != 0 && errno != EEXIST)
      return systemError(part, "cannot be made");
    if (end == std::string::npos)
      return Status::success();
  }
}

bool exists(const std::string &path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0;
}

/// The rows of a tensor whose heads keep rotary pairs side by side, in the order in which the pairs are half a head
/// apart.
std::vector<std::string_view> pairsApart(std::string_view bytes, int64_t rows, int64_t headDim) {
  size_t rowBytes = bytes.size() / rows;
  std::vector<std::string_view> pieces;
  for (int64_t row = 0; row < rows; ++row)
    pieces.push_back(
        bytes.substr(rowOfOtherPairing(row, headDim, ModelConfig::RopePairing::Half) * rowBytes, rowBytes));
  return pieces;
}

} // namespace

Result<RunDirectory> RunDirectory::open(const std::string &path) {
  RunDirectory directory;
  directory.folder = path;
  while (directory.folder.size() > 1 && directory.folder.back() == '/')
    directory.folder.pop_back();
  if (directory.folder.empty())
    return fail("BAD_PATH", "the output folder has an empty name");
  CK_CHECK(makeFolders(directory.folder));
  directory.lock = ::open(directory.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory.lock < 0)
    return systemError(path, "cannot be used as the output folder");
  if (::access(directory.folder.c_str(), W_OK | X_OK) != 0)
    return systemError(path, "is not writable");
  // File systems without locks are used without.
  if (::flock(directory.lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return fail("CONFLICT", path, ": another training run writes to this folder");
  return directory;
}

RunDirectory::RunDirectory(RunDirectory &&other) noexcept
    : folder(std::move(other.folder)), lock(std::exchange(other.lock, -1)) {}

RunDirectory::~RunDirectory() {
  if (lock >= 0)
    ::close(lock);
}

bool RunDirectory::hasCheckpoint() const { return exists(checkpoint()); }
bool RunDirectory::hasModel() const { return exists(folder + "/model.safetensors"); }

Status RunDirectory::writeModel(const ModelConfig &config, const ModelTexts &texts, const TrainProgram &program) const {
  std::vector<TensorToWrite> tensors;
  for (const StateBuffer &parameter : program.parameters()) {
    std::string name = tensorName(ModelConfig::Source::HuggingFace, parameter.name);
    TensorToWrite tensor = floatTensor(name, parameter.shape, parameter.data);
    if (config.pairing == ModelConfig::RopePairing::Adjacent && turnsWithPositions(parameter.name))
      tensor.pieces = pairsApart(tensor.pieces.front(), parameter.shape.front(), config.headDim);
    tensors.push_back(std::move(tensor));
  }
  CK_CHECK(writeSafetensors(folder + "/model.safetensors", {{"format", "pt"}}, tensors));
  std::pair<const char *, const std::string *> files[] = {{"config.json", &texts.config},
                                                          {"generation_config.json", &texts.generationConfig},
                                                          {"tokenizer.json", &texts.tokenizer}};
  for (auto [name, text] : files)
    if (!text->empty())
      CK_CHECK(writeFileAtomically(folder + "/" + name, {*text}));
  return Status::success();
}

} // namespace ck
