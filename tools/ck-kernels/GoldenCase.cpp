//===- GoldenCase.cpp - files of operations with known results ------------===//

#include "GoldenCase.h"

#include "Blocks.h"
#include "Elements.h"
#include "ck/Import/Formats/Container.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace ck::golden {

using Json = nlohmann::json;

// More cases than any file has; a count beyond it is no count.
static constexpr int64_t mostCases = 100000;

double Case::real(const std::string &name) const {
  auto param = params.find(name);
  if (param == params.end())
    return 0;
  if (const int64_t *integer = std::get_if<int64_t>(&param->second))
    return static_cast<double>(*integer);
  const double *real = std::get_if<double>(&param->second);
  return real ? *real : 0;
}

std::string Case::word(const std::string &name) const {
  auto param = params.find(name);
  const std::string *word = param == params.end() ? nullptr : std::get_if<std::string>(&param->second);
  return word ? *word : "";
}

const reference::Tensor &Case::tensor(const std::string &name) const {
  static const reference::Tensor none = reference::Tensor::zeros({0});
  auto value = values.find(name);
  return value == values.end() ? none : value->second.tensor;
}

Status Case::expectRank(const std::string &name, size_t rank) const {
  if (auto other = foreign.find(name); other != foreign.end())
    return Error{name + " is stored as " + other->second, "NOT_RUN"};
  if (!has(name))
    return Error{"the case has no " + name};
  if (tensor(name).shape.size() != rank)
    return Error{name + " has " + std::to_string(tensor(name).shape.size()) + " dims, expected " +
                 std::to_string(rank)};
  return Status::success();
}

Status Case::takeStored(const std::string &name, const std::string &type) {
  auto known = stored.find(name);
  if (known == stored.end())
    return has(name) ? Status::success() : Error{"the case has no " + name};
  Value value = known->second;
  if (value.dtype == "u8") {
    const reference::BlockSize size = reference::blockSize(type);
    reference::Tensor &tensor = value.tensor;
    if (!size.bytes)
      return Error{name + " is stored as " + type, "NOT_RUN"};
    if (tensor.shape.empty() || tensor.shape.back() % size.bytes)
      return Error{"rows of " + name + " are no whole blocks of " + type};
    tensor.shape.back() = tensor.shape.back() / size.bytes * size.elements;
    tensor.data = reference::decodeBlocks(type, tensor.bytes, tensor.elements());
    value.dtype = type;
  }
  values[name] = std::move(value);
  return Status::success();
}

/// A number if the text is one as a whole, else the text.
static Param parameter(const std::string &text) {
  char *end = nullptr;
  long long integer = std::strtoll(text.c_str(), &end, 10);
  if (!text.empty() && !*end)
    return static_cast<int64_t>(integer);
  double number = std::strtod(text.c_str(), &end);
  return !text.empty() && !*end ? Param(number) : Param(text);
}

static Result<Value> readTensor(const TensorInfo &info, const check::Element &element) {
  Value value;
  value.dtype = element.name == "i64" ? "i32" : std::string(element.name);
  value.tensor = reference::Tensor::zeros(info.shape);
  for (int64_t i = 0; i < value.tensor.elements(); ++i)
    value.tensor.data[static_cast<size_t>(i)] = check::load(element, info.data + i * element.bytes);
  return value;
}

/// The tensors of one case, and which of them are results.
static Status readTensors(const Container &container, const std::string &prefix,
                          const std::function<bool(const std::string &)> &isResult, Case &into) {
  for (const TensorInfo &info : container.tensors()) {
    if (info.name.compare(0, prefix.size(), prefix) != 0)
      continue;
    std::string name = info.name.substr(prefix.size());
    if (name.size() > 4 && name.compare(name.size() - 4, 4, ".f32") == 0)
      continue; // the same, rounded
    const check::Element *element = check::findElement(info.dtype->name);
    std::string dtype = info.dtype->name;
    if (!element || (dtype != "f32" && dtype != "f64" && dtype != "i32" && dtype != "i64")) {
      into.foreign[name] = dtype;
      if (element && (dtype == "f16" || dtype == "bf16")) {
        Result<Value> value = readTensor(info, *element);
        if (!value)
          return value.error();
        into.stored[name] = std::move(*value);
      } else if (dtype == "u8") {
        Value &value = into.stored[name];
        value.dtype = dtype;
        value.tensor.shape = info.shape;
        value.tensor.bytes.assign(info.data, info.data + value.tensor.elements());
      }
      continue;
    }
    Result<Value> value = readTensor(info, *element);
    if (!value)
      return value.error();
    if (isResult(name)) {
      into.expected[name] = std::move(*value);
      continue;
    }
    if (value->dtype == "f64") {
      value->dtype = "f32";
      for (double &number : value->tensor.data)
        number = static_cast<double>(static_cast<float>(number));
    }
    into.values[name] = std::move(*value);
  }
  return Status::success();
}

/// Results are listed, except by the optimizer's files, where their names tell.
static Status readTorchCase(const Container &container, const std::string &text, Case &into) {
  Json json = Json::parse(text, nullptr, false);
  std::string prefix = "case" + std::to_string(into.number) + ".";
  if (!json.is_object() || !json.contains("params") || !json["params"].is_object())
    return Error{"metadata " + prefix.substr(0, prefix.size() - 1) + " has no params"};
  for (const auto &[name, value] : json["params"].items())
    if (value.is_number_integer())
      into.params[name] = value.get<int64_t>();
    else if (value.is_number())
      into.params[name] = value.get<double>();
    else if (value.is_string())
      into.params[name] = value.get<std::string>();
  if (json.contains("note") && json["note"].is_string())
    into.note = json["note"].get<std::string>();
  std::vector<std::string> results;
  for (const char *list : {"outputs", "saved", "grads"})
    if (json.contains(list) && json[list].is_array())
      for (const Json &name : json[list])
        if (name.is_string())
          results.push_back(name.get<std::string>());
  Status status = readTensors(
      container, prefix,
      [&](const std::string &name) {
        if (results.empty())
          return name.compare(0, 3, "out") == 0 || name == "norm";
        return std::count(results.begin(), results.end(), name) != 0;
      },
      into);
  for (const char *list : {"inputs", "outputs", "saved", "upstream", "grads"})
    if (json.contains(list) && json[list].is_array())
      for (const Json &name : json[list])
        if (name.is_string() && !into.expected.count(name.get<std::string>()) &&
            !into.values.count(name.get<std::string>()) && !into.foreign.count(name.get<std::string>()))
          return Error{"has no tensor " + prefix + name.get<std::string>() + ", which its metadata list under " + list};
  for (const auto &[name, value] : into.expected) {
    double naive = 0;
    if (json.contains("f32_torch_err") && json["f32_torch_err"].is_object() && json["f32_torch_err"].contains(name) &&
        json["f32_torch_err"][name].is_number())
      naive = json["f32_torch_err"][name].get<double>();
    into.bounds[name] = std::max(1e-6, 10 * naive);
  }
  return status;
}

/// Results are those for which the peer's own error is known.
static Status readGgmlCase(const Container &container, Case &into) {
  std::string prefix = "case" + std::to_string(into.number) + ".";
  std::map<std::string, double> peerErrors;
  for (const MetaEntry &entry : container.metadata()) {
    const std::string *text = entry.value.asString();
    if (!text || entry.key.compare(0, prefix.size(), prefix) != 0)
      continue;
    std::string name = entry.key.substr(prefix.size());
    for (const char *kind : {"peer_err_abs.", "peer_err_rel."})
      if (name.compare(0, 13, kind) == 0)
        peerErrors[name.substr(13)] = kind[9] == 'r' ? std::strtod(text->c_str(), nullptr) : 0;
    into.params[name] = parameter(*text);
  }
  Status status =
      readTensors(container, prefix, [&](const std::string &name) { return peerErrors.count(name) != 0; }, into);
  for (const auto &[name, value] : into.expected)
    into.bounds[name] = std::max(2e-6, 10 * peerErrors[name]);
  into.leastScale = 1e-3; // so the peer's own errors are given
  into.note = into.word("shape");
  return status;
}

Result<File> readFile(const std::string &path) {
  Result<Container> container = Container::open(path);
  if (!container)
    return container.error();
  auto text = [&](const std::string &key) -> const std::string * {
    const MetaValue *value = container->findMeta(key);
    return value ? value->asString() : nullptr;
  };
  const std::string *op = text("op"), *count = text("cases");
  int64_t cases = count ? std::strtoll(count->c_str(), nullptr, 10) : 0;
  if (!op || cases < 1 || cases > mostCases || (!text("format") && !text("peer")))
    return Error{path + ": no golden file: its metadata need op, cases, and format or peer"};
  File file;
  file.path = path;
  file.op = *op;
  file.maker = text("peer") ? Maker::Ggml : Maker::Torch;
  for (int number = 0; number < cases; ++number) {
    Case one;
    one.number = number;
    const std::string *json = text("case" + std::to_string(number));
    if (file.maker == Maker::Torch && !json)
      return Error{path + ": metadata case" + std::to_string(number) + " are missing"};
    Status status = file.maker == Maker::Torch ? readTorchCase(*container, *json, one) : readGgmlCase(*container, one);
    if (!status)
      return Error{path + ": " + status.error().message};
    file.cases.push_back(std::move(one));
  }
  return file;
}

} // namespace ck::golden
