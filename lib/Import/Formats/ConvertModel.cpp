//===- ConvertModel.cpp - models from one format to another ---------------===//
#include "ck/Import/Formats/ConvertModel.h"

#include "ConvertPieces.h"
#include "Text.h"
#include "ck/Import/Formats/AtomicFile.h"
#include "ck/Import/Formats/SafetensorsWriter.h"
#include "ck/Import/Formats/WeightTable.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ck {

namespace convert {

Result<SourceModel> openModel(const std::string &path) {
  Result<ModelConfig> config = loadModelConfig(path);
  if (!config)
    return config.error();
  Result<std::optional<std::string>> file = findWeightsFile(path);
  if (!file)
    return file.error();
  if (!*file)
    return fail("BAD_PATH", path, ": has no model.safetensors beside its configuration");
  Result<Container> weights = Container::open(**file);
  if (!weights)
    return weights.error();
  CK_CHECK(checkWeights(*config, *weights));
  std::string directory = **file;
  directory.resize(directory.rfind('/') == std::string::npos ? 0 : directory.rfind('/') + 1);
  return SourceModel{path, directory, *std::move(config), *std::move(weights)};
}

} // namespace convert

namespace {

using namespace convert;

Error systemError(const std::string &path, const char *what) {
  return fail("BAD_PATH", path, ": ", what, ": ", std::strerror(errno));
}

std::string resolved(const std::string &path) {
  char *real = ::realpath(path.c_str(), nullptr);
  std::string out = real ? real : path;
  std::free(real);
  return out;
}

/// The output must be new: an old one is never half replaced, and never the input.
Status checkOutput(const SourceModel &model, const std::string &out) {
  struct stat info;
  if (::lstat(out.c_str(), &info) != 0)
    return errno == ENOENT ? Status::success() : Status(systemError(out, "cannot be written"));
  for (const std::string &input : {model.path, model.weights.path(), model.directory})
    if (!input.empty() && resolved(input) == resolved(out))
      return fail("CONFLICT", out, ": is the model that is to be converted; expected another place");
  return fail("CONFLICT", out, ": exists already; expected a new name");
}

/// A folder that grows under another name. Destroyed before commit(), it is removed with what has been written.
class NewFolder {
public:
  static Result<NewFolder> create(const std::string &path, const std::vector<TextFile> &texts) {
    NewFolder folder;
    folder.names = {"model.safetensors"};
    for (const TextFile &text : texts)
      folder.names.push_back(text.name);
    // What a killed run has left is used up.
    if (::mkdir((path + ".tmp").c_str(), 0777) != 0 && errno != EEXIST)
      return systemError(path, "cannot be made");
    folder.path = path;
    folder.clean();
    if (::rmdir(folder.temporary().c_str()) != 0 || ::mkdir(folder.temporary().c_str(), 0777) != 0)
      return systemError(folder.temporary(), "is in the way");
    return folder;
  }
  NewFolder(NewFolder &&other) noexcept : path(std::exchange(other.path, "")), names(std::move(other.names)) {}
  NewFolder &operator=(NewFolder &&) = delete;
  ~NewFolder() {
    if (path.empty())
      return;
    clean();
    ::rmdir(temporary().c_str());
  }

  std::string temporary() const { return path + ".tmp"; }

  Status commit() {
    // Never over a folder that appeared meanwhile, unless it is empty.
    if (::rename(temporary().c_str(), path.c_str()) != 0)
      return systemError(path, "cannot be made");
    std::string done = std::exchange(path, ""), parent = done.substr(0, done.rfind('/') + 1);
    int directory = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool synced = directory >= 0 && (::fsync(directory) == 0 || errno == EINVAL);
    Status status = synced ? Status::success() : Status(systemError(done, "cannot be made"));
    if (directory >= 0)
      ::close(directory);
    return status;
  }

private:
  NewFolder() = default;
  void clean() const {
    for (const std::string &name : names)
      for (const char *end : {"", ".tmp"})
        ::unlink((temporary() + "/" + name + end).c_str());
  }

  std::string path;
  std::vector<std::string> names;
};

Status writeGguf(const SourceModel &model, const StorageRule &rule, const std::vector<WeightJob> &jobs,
                 const std::vector<TensorHeader> &headers, const ConvertOptions &options) {
  Result<GgufMetadata> metadata = ggufMetadata(model, options, rule.fileType());
  if (!metadata)
    return metadata.error();
  const MetaValue *alignment = model.weights.findMeta("general.alignment");
  bool known = model.weights.format() == Container::Format::Gguf && alignment && alignment->asInteger();
  Result<TensorStream> stream =
      ggufStream(options.out, *metadata, headers, known ? static_cast<uint32_t>(*alignment->asInteger()) : 32);
  if (!stream)
    return stream.error();
  CK_CHECK(writeWeights(model, jobs, options.threads, *stream));
  return stream->commit();
}

/// The type of the largest part of the weights.
std::string commonType(const std::vector<WeightJob> &jobs) {
  std::map<std::string, uint64_t> elements;
  for (const WeightJob &job : jobs)
    elements[job.target.dtype->name] += *elementCount(job.target.shape);
  std::string best = "f32";
  for (const auto &[type, count] : elements)
    if (count > elements[best])
      best = type;
  return best;
}

Status writeFolder(const SourceModel &model, const std::vector<WeightJob> &jobs,
                   const std::vector<TensorHeader> &headers, const ConvertOptions &options) {
  Result<std::vector<TextFile>> texts = folderTexts(model, options, commonType(jobs));
  if (!texts)
    return texts.error();
  Result<NewFolder> folder = NewFolder::create(options.out, *texts);
  if (!folder)
    return folder.error();
  Result<TensorStream> stream =
      safetensorsStream(folder->temporary() + "/model.safetensors", {{"format", "pt"}}, headers);
  if (!stream)
    return stream.error();
  CK_CHECK(writeWeights(model, jobs, options.threads, *stream));
  CK_CHECK(stream->commit());
  for (const TextFile &text : *texts)
    CK_CHECK(writeFileAtomically(folder->temporary() + "/" + text.name, {text.text}));
  return folder->commit();
}

} // namespace

Result<ConvertReport> convertModel(const std::string &path, const ConvertOptions &given) {
  ConvertOptions options = given;
  while (options.out.size() > 1 && options.out.back() == '/')
    options.out.pop_back();
  if (options.out.empty())
    return fail("BAD_PATH", "the output has an empty name");
  Result<StorageRule> rule = StorageRule::parse(options.type, options.target);
  if (!rule)
    return rule.error();
  Result<SourceModel> model = openModel(path);
  if (!model)
    return model.error();
  CK_CHECK(checkOutput(*model, options.out));
  ConvertReport report;
  std::vector<WeightJob> jobs = planWeights(*model, *rule, options, report);
  std::vector<TensorHeader> headers;
  for (const WeightJob &job : jobs)
    headers.push_back(job.target);
  CK_CHECK(options.target == Container::Format::Gguf ? writeGguf(*model, *rule, jobs, headers, options)
                                                     : writeFolder(*model, jobs, headers, options));
  return report;
}

} // namespace ck
