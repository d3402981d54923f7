//===- GoldenSession.cpp - the calls of a golden case ---------------------===//

#include "GoldenTable.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace ck::golden {

using reference::Tensor;

Error notRun(std::string reason) { return {std::move(reason), "NOT_RUN"}; }

/// "a=b" as a pair; a row that says something else is a mistake of this program.
static std::pair<std::string, std::string> splitPair(const std::string &text) {
  size_t at = text.find('=');
  return {text.substr(0, at), at == std::string::npos ? "" : text.substr(at + 1)};
}

static bool dropMark(std::string &name) {
  bool optional = !name.empty() && name.back() == '?';
  if (optional)
    name.pop_back();
  return optional;
}

/// `text` in the type of `like`.
static Param literal(const std::string &text, const Param &like) {
  if (std::holds_alternative<bool>(like))
    return text == "true";
  if (std::holds_alternative<int64_t>(like))
    return static_cast<int64_t>(std::strtoll(text.c_str(), nullptr, 10));
  if (std::holds_alternative<double>(like))
    return std::strtod(text.c_str(), nullptr);
  return text;
}

Result<Params> Session::readAttributes(const std::string &op, const std::vector<std::string> &texts) const {
  const reference::Operation *operation = reference::findOperation(op);
  if (!operation)
    return Error{"there is no reference of " + op};
  Params attrs;
  for (const std::string &text : texts) {
    auto [name, value] = splitPair(text);
    auto standard = operation->defaults.find(name);
    if (standard == operation->defaults.end())
      return Error{op + " has no attribute " + name};
    if (value.empty() || value[0] != '$') {
      attrs[name] = literal(value, standard->second);
      continue;
    }
    auto param = one.params.find(value.substr(1));
    if (param == one.params.end())
      return Error{"the case has no parameter " + value.substr(1)};
    bool widen = std::holds_alternative<double>(standard->second) && std::holds_alternative<int64_t>(param->second);
    attrs[name] = widen ? Param(static_cast<double>(std::get<int64_t>(param->second))) : param->second;
  }
  return attrs;
}

Status Session::addOperands(const std::vector<std::string> &texts, OpCall &call) const {
  for (const std::string &text : texts) {
    auto [operand, name] = splitPair(text);
    bool optional = dropMark(name);
    auto value = one.values.find(name);
    if (value != one.values.end())
      call.inputs[operand] = value->second;
    else if (auto other = one.foreign.find(name); other != one.foreign.end())
      return notRun(name + " is stored as " + other->second);
    else if (!optional)
      return Error{"the case has no " + name};
  }
  return Status::success();
}

Status Session::addResults(const std::vector<std::string> &texts, OpCall &call,
                           std::map<std::string, std::string> &names) const {
  for (const std::string &text : texts) {
    auto [result, name] = splitPair(text);
    std::string dtype;
    if (size_t colon = name.find(':'); colon != std::string::npos) {
      dtype = name.substr(colon + 1);
      name.resize(colon);
    }
    bool optional = dropMark(name);
    auto shape = one.shapes.find(name);
    auto expected = one.expected.find(name);
    if (shape == one.shapes.end() && expected == one.expected.end()) {
      if (auto other = one.foreign.find(name); other != one.foreign.end())
        return notRun(name + " is stored as " + other->second);
      if (optional)
        continue;
      return Error{"nothing says the shape of " + name};
    }
    Value &value = call.outputs[result];
    value.tensor = Tensor::zeros(shape == one.shapes.end() ? expected->second.tensor.shape : shape->second);
    if (expected != one.expected.end() && expected->second.dtype == "i32")
      value.dtype = "i32";
    if (!dtype.empty())
      value.dtype = dtype;
    names[result] = name;
  }
  return Status::success();
}

Status Session::call(const std::string &text) {
  std::istringstream words(text);
  OpCall call;
  words >> call.op;
  std::vector<std::string> parts[3];
  int part = 0;
  for (std::string word; words >> word;)
    if (word == "|" || word == "->")
      ++part;
    else if (word[0] == '@')
      call.provider = word.substr(1);
    else
      parts[std::min(part, 2)].push_back(word);
  std::map<std::string, std::string> names;
  if (Status status = addOperands(parts[1], call); !status)
    return status;
  if (Status status = addResults(parts[2], call, names); !status)
    return status;
  std::string provider = "view";
  if (call.op == "view") {
    if (call.inputs["input"].tensor.elements() != call.outputs["output"].tensor.elements())
      return Error{names["output"] + " has another number of elements than its source"};
    call.outputs["output"].tensor.data = call.inputs["input"].tensor.data;
  } else {
    Result<Params> attrs = readAttributes(call.op, parts[0]);
    if (!attrs)
      return attrs.error();
    call.attrs = *attrs;
    // A sum in f64 is told by its name.
    for (auto *side : {&call.inputs, &call.outputs})
      if (auto sum = side->find("sum"); sum != side->end())
        sum->second.dtype = "f64";
    Result<std::string> called = callProvider(maps, ctx, call);
    if (!called)
      return called.error();
    provider = *called;
  }
  for (const auto &[result, name] : names) {
    one.values[name] = call.outputs[result];
    if (Status status = compare(name, one.values[name].tensor, provider); !status)
      return status;
  }
  return Status::success();
}

/// True if `whole` has the rows along `axis` that `shape` asks for.
static bool hasTail(const std::vector<int64_t> &whole, size_t axis, const std::vector<int64_t> &shape) {
  std::vector<int64_t> cut = whole;
  if (whole.size() != shape.size() || axis >= shape.size() || shape[axis] < 1 || shape[axis] > whole[axis])
    return false;
  cut[axis] = shape[axis];
  return cut == shape;
}

/// The last rows along `axis`, as many as `shape` has.
static Tensor tailOf(const Tensor &tensor, size_t axis, const std::vector<int64_t> &shape) {
  Tensor tail = Tensor::zeros(shape);
  int64_t inner = 1, outer = 1;
  for (size_t i = 0; i < shape.size(); ++i)
    (i < axis ? outer : inner) *= shape[i];
  int64_t from = inner / shape[axis] * tensor.shape[axis];
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i)
      tail.data[static_cast<size_t>(o * inner + i)] = tensor.data[static_cast<size_t>((o + 1) * from - inner + i)];
  return tail;
}

Status Session::compare(const std::string &name, const Tensor &got, const std::string &provider) {
  auto expected = one.expected.find(name);
  if (expected == one.expected.end())
    return Status::success();
  const Tensor &want = expected->second.tensor;
  Tensor tail;
  if (got.shape != want.shape && one.tailAxis >= 0 && hasTail(got.shape, static_cast<size_t>(one.tailAxis), want.shape))
    tail = tailOf(got, static_cast<size_t>(one.tailAxis), want.shape);
  const Tensor &have = tail.shape.empty() ? got : tail;
  if (have.shape != want.shape)
    return Error{name + " has another shape than the file expects"};
  Outcome outcome{name, provider, 0, one.fromTable ? 1 : one.bounds[name]};
  double scale = one.leastScale;
  for (double value : want.data)
    if (std::isfinite(value))
      scale = std::max(scale, std::fabs(value));
  for (size_t i = 0; i < want.data.size(); ++i) {
    double error = std::fabs(have.data[i] - want.data[i]);
    if (have.data[i] == want.data[i] || (std::isnan(have.data[i]) && std::isnan(want.data[i])))
      error = 0;
    error /= one.fromTable ? 2e-3 + 1e-3 * std::fabs(want.data[i]) : scale > 0 ? scale : 1;
    outcome.error = std::isnan(error) ? INFINITY : std::max(outcome.error, error);
  }
  outcomes.push_back(outcome);
  return Status::success();
}

const Row *findRow(Maker maker, const std::string &op) {
  static const std::vector<Row> rows = [] {
    std::vector<Row> all = torchRows();
    for (Row &row : ggmlRows())
      all.push_back(std::move(row));
    return all;
  }();
  for (const Row &row : rows)
    if (row.maker == maker && row.op == op)
      return &row;
  return nullptr;
}

Result<std::vector<Outcome>> runCase(const std::vector<KernelMap> &maps, ck_context *ctx, const Row &row, Case one) {
  if (row.prepare)
    if (Status status = row.prepare(one); !status)
      return status.error();
  Session session(maps, ctx, one);
  for (const std::string &call : row.calls)
    if (Status status = session.call(call); !status)
      return status.error();
  if (row.finish)
    if (Status status = row.finish(session); !status)
      return status.error();
  // A result that no call gives is no result that holds.
  for (const auto &entry : one.expected)
    if (std::none_of(session.outcomes.begin(), session.outcomes.end(),
                     [&](const Outcome &outcome) { return outcome.name == entry.first; }))
      return Error{entry.first + " is expected, but nothing was computed for it"};
  return std::move(session.outcomes);
}

} // namespace ck::golden
