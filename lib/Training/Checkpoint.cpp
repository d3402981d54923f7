//===- Checkpoint.cpp - the point from which a run goes on ----------------===//
#include "ck/Training/Checkpoint.h"

#include "Messages.h"
#include "ck/Import/Formats/Json.h"
#include "ck/Import/Formats/SafetensorsWriter.h"

#include <cstring>
#include <nlohmann/json.hpp>

namespace ck {

namespace {

constexpr int64_t kVersion = 1;
constexpr int64_t kColumns = 4;

std::string stateText(const TrainingState &state) {
  nlohmann::ordered_json options = nlohmann::ordered_json::object();
  for (const auto &[name, value] : state.options)
    options[name] = value;
  nlohmann::ordered_json json = {{"version", kVersion},           {"step", state.step},
                                 {"updates", state.updates},      {"epoch", state.position.epoch},
                                 {"index", state.position.index}, {"options", options}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

} // namespace

Status saveCheckpoint(const std::string &path, const TrainingState &state, const TrainProgram &program) {
  static_assert(sizeof(LossRow) == kColumns * sizeof(double));
  for (const std::vector<StateBuffer> *buffers : {&program.parameters(), &program.moments()})
    if (std::string where = findNonFinite(*buffers); !where.empty())
      return fail("BAD_INPUT", path, ": not written at step ", state.step, ", because ", where);
  TensorToWrite history{
      "history",
      findStorageType("f64"),
      {static_cast<int64_t>(state.history.size()), kColumns},
      {{reinterpret_cast<const char *>(state.history.data()), state.history.size() * sizeof(LossRow)}}};
  std::vector<TensorToWrite> tensors{std::move(history)};
  for (const std::vector<StateBuffer> *buffers : {&program.parameters(), &program.moments()})
    for (const StateBuffer &buffer : *buffers)
      tensors.push_back(floatTensor(buffer.name, buffer.shape, buffer.data));
  return writeSafetensors(path, {{"training", stateText(state)}}, tensors);
}

Result<Checkpoint> Checkpoint::open(const std::string &path) {
  Result<Container> container = Container::open(path);
  if (!container)
    return container.error();
  Checkpoint checkpoint(*std::move(container));
  CK_CHECK(checkpoint.read());
  return checkpoint;
}

Status Checkpoint::read() {
  const std::string &path = container.path();
  auto bad = [&](const std::string &what) {
    return fail("BAD_CONFIG", path, ": is no checkpoint of a training run: ", what);
  };
  const MetaValue *meta = container.findMeta("training");
  if (!meta || !meta->asString())
    return bad("its metadata has no 'training'");
  Result<json::Value> root = json::parse(*meta->asString(), path + " (metadata 'training')");
  if (!root)
    return root.error();
  std::optional<int64_t> version;
  if (const json::Value *value = root->find("version"))
    version = value->asInteger();
  if (version != kVersion)
    return bad("its version is " + (version ? std::to_string(*version) : "missing") + "; expected " +
               std::to_string(kVersion));
  std::pair<const char *, int64_t *> numbers[] = {{"step", &contents.step},
                                                  {"updates", &contents.updates},
                                                  {"epoch", &contents.position.epoch},
                                                  {"index", &contents.position.index}};
  for (auto [key, out] : numbers) {
    const json::Value *value = root->find(key);
    if (!value || !value->asInteger() || *value->asInteger() < 0)
      return bad(std::string(key) + " is " + (value ? value->brief() : "missing") + "; expected a natural number");
    *out = *value->asInteger();
  }
  if (contents.updates > contents.step)
    return bad("it counts " + std::to_string(contents.updates) + " updates in " + std::to_string(contents.step) +
               " steps");
  const json::Value *options = root->find("options");
  if (!options || !options->asObject())
    return bad("it has no options");
  for (const json::Value::Member &member : *options->asObject())
    contents.options.emplace_back(member.first, member.second.asString() ? *member.second.asString() : "");
  const TensorInfo *history = container.find("history");
  if (!history || std::string_view(history->dtype->name) != "f64" ||
      history->shape != std::vector<int64_t>{contents.step, kColumns})
    return bad("its tensor 'history' is not f64 [" + std::to_string(contents.step) + ", " + std::to_string(kColumns) +
               "]");
  contents.history.resize(contents.step);
  if (history->bytes)
    std::memcpy(static_cast<void *>(contents.history.data()), history->data, history->bytes);
  return Status::success();
}

Status Checkpoint::checkOptions(const RunOptions &options) const {
  std::string differences;
  auto find = [](const RunOptions &list, const std::string &name) -> const std::string * {
    for (const auto &entry : list)
      if (entry.first == name)
        return &entry.second;
    return nullptr;
  };
  auto differ = [&](const std::string &name, const std::string *before, const std::string *now) {
    if (!(before && now && *before == *now))
      differences += (differences.empty() ? "" : "; ") + name + " was " + (before ? *before : "absent") + ", now " +
                     (now ? *now : "absent");
  };
  for (const auto &[name, value] : options)
    differ(name, find(contents.options, name), &value);
  for (const auto &[name, value] : contents.options)
    if (!find(options, name))
      differ(name, &value, nullptr);
  if (differences.empty())
    return Status::success();
  return fail("CONFLICT", container.path(), ": the run cannot go on with other options: ", differences);
}

Status Checkpoint::restore(const TrainProgram &program) const {
  std::vector<std::pair<const StateBuffer *, const TensorInfo *>> copies;
  for (const std::vector<StateBuffer> *buffers : {&program.parameters(), &program.moments()})
    for (const StateBuffer &buffer : *buffers) {
      const TensorInfo *tensor = container.find(buffer.name);
      if (!tensor)
        return fail("BAD_CONFIG", container.path(), ": has no tensor ", quote(buffer.name), "; the run needs it");
      if (tensor->shape != buffer.shape || std::string_view(tensor->dtype->name) != "f32")
        return fail("BAD_SHAPE", container.path(), ": tensor ", quote(buffer.name), " is ", tensor->dtype->name, " ",
                    shapeText(tensor->shape), "; expected f32 ", shapeText(buffer.shape));
      copies.emplace_back(&buffer, tensor);
    }
  for (auto [buffer, tensor] : copies)
    if (tensor->bytes)
      std::memcpy(buffer->data, tensor->data, tensor->bytes);
  for (const std::vector<StateBuffer> *buffers : {&program.parameters(), &program.moments()})
    if (std::string where = findNonFinite(*buffers); !where.empty())
      return fail("BAD_INPUT", container.path(), ": is damaged: ", where);
  return Status::success();
}

} // namespace ck
