//===- SessionProgram.cpp - a compiled training program -------------------===//
#include "ck/Training/SessionProgram.h"

#include "Messages.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ck {

namespace {

const char *const kEntries[] = {"train_step", "accumulate", "eval"};

struct Known {
  const char *name, *dtype;
  const char *dim; ///< null: one element
};
constexpr Known kInputs[] = {{"tokens", "i32", "T"},  {"targets", "i32", "T"},   {"pos", "i32", "T"},
                             {"seqs", "i32", "S"},    {"scale", "f32", nullptr}, {"lr", "f32", nullptr},
                             {"step", "i32", nullptr}};
constexpr Known kOutputs[] = {{"loss", "f32", nullptr}, {"grad_norm", "f32", nullptr}};

bool fits(const ck_entry &entry, const ck_value_info &value, const Known &known) {
  if (std::strcmp(value.name, known.name) || std::strcmp(value.dtype, known.dtype) || value.rank != 1)
    return false;
  int64_t dim = value.dims[0];
  if (!known.dim)
    return dim == 1;
  return dim < 0 && -1 - dim < entry.dims && !std::strcmp(entry.dim_name[-1 - dim], known.dim);
}

template <size_t N> bool isKnown(const ck_entry &entry, const ck_value_info &value, const Known (&known)[N]) {
  return std::any_of(std::begin(known), std::end(known),
                     [&](const Known &candidate) { return fits(entry, value, candidate); });
}

/// True for an entry with an optimizer.
bool entryUpdates(const ck_entry &entry) {
  return std::any_of(entry.input, entry.input + entry.inputs,
                     [](const ck_value_info &value) { return !std::strcmp(value.name, "lr"); });
}

Error unknownValue(const ck_entry &entry, const char *what, const ck_value_info &value) {
  return fail("", "entry '", entry.name, "': the ", what, " '", value.name, "' (", value.dtype,
              ") is none that a training program has in this form");
}

} // namespace

Result<std::unique_ptr<SessionProgram>> SessionProgram::create(ck_session *session,
                                                               const std::vector<WeightSpec> &weights) {
  std::unique_ptr<SessionProgram> program(new SessionProgram);
  program->session = session;
  CK_CHECK(program->findStates(weights));
  for (const char *name : kEntries)
    if (const ck_entry *entry = ck_model_find_entry(ck_session_model(session), name))
      CK_CHECK(program->checkEntry(*entry, weights));
  return program;
}

Status SessionProgram::checkEntry(const ck_entry &entry, const std::vector<WeightSpec> &weights) {
  for (int32_t i = 0; i < entry.inputs; ++i)
    if (!isKnown(entry, entry.input[i], kInputs))
      return unknownValue(entry, "input", entry.input[i]);
  for (int32_t i = 0; i < entry.outputs; ++i) {
    const ck_value_info &output = entry.output[i];
    if (isKnown(entry, output, kOutputs))
      continue;
    std::vector<int64_t> shape(output.dims, output.dims + output.rank);
    bool isGradient =
        !std::strcmp(output.dtype, "f32") && std::any_of(weights.begin(), weights.end(), [&](const WeightSpec &spec) {
          return "d_" + spec.logical == output.name && spec.shape == shape;
        });
    if (!isGradient)
      return unknownValue(entry, "output", output);
    StateBuffer gradient{output.name, shape, nullptr};
    gradientOutputs.push_back(std::make_unique<std::vector<float>>(gradient.size()));
    gradient.data = gradientOutputs.back()->data();
    gradientList.push_back(std::move(gradient));
  }
  return Status::success();
}

Status SessionProgram::findStates(const std::vector<WeightSpec> &weights) {
  const ck_model *model = ck_session_model(session);
  auto find = [&](const std::string &name, const std::vector<int64_t> &shape) -> const ck_buffer_info * {
    for (int32_t i = 0; i < model->buffers; ++i) {
      const ck_buffer_info &info = model->buffer[i];
      if ((info.role == CK_STATE || info.role == CK_WEIGHT) && name == info.name && !std::strcmp(info.dtype, "f32") &&
          std::vector<int64_t>(info.dims, info.dims + info.rank) == shape)
        return &info;
    }
    return nullptr;
  };
  auto add = [&](const std::string &name, const std::vector<int64_t> &shape, std::vector<StateBuffer> &list) {
    const ck_buffer_info *info = find(name, shape);
    if (info && info->role == CK_STATE)
      list.push_back({name, shape, static_cast<float *>(ck_session_buffer(session, name.c_str()))});
  };
  for (const WeightSpec &spec : weights) {
    const ck_buffer_info *info = find(spec.logical, spec.shape);
    if (!info)
      return fail("", "model '", model->name, "' has no parameter '", spec.logical, "': f32 ", shapeText(spec.shape));
    if (info->role == CK_WEIGHT)
      mapped.push_back(
          {spec.logical, spec.shape, static_cast<float *>(ck_session_buffer(session, spec.logical.c_str()))});
    add(spec.logical, spec.shape, parameterList);
    add(spec.logical + ".m", spec.shape, momentList);
    add(spec.logical + ".v", spec.shape, momentList);
    add("d_" + spec.logical, spec.shape, gradientList);
  }
  return Status::success();
}

int32_t SessionProgram::call(const ck_entry &entry, const Batch &batch, const void *const *known, float *results) {
  std::vector<const void *> inputs(entry.inputs);
  std::vector<void *> outputs(entry.outputs);
  std::vector<int64_t> dims(entry.dims);
  for (int32_t i = 0; i < entry.inputs; ++i)
    for (size_t k = 0; k < std::size(kInputs); ++k)
      if (!std::strcmp(entry.input[i].name, kInputs[k].name))
        inputs[i] = known[k];
  for (int32_t i = 0; i < entry.outputs; ++i) {
    for (size_t k = 0; k < std::size(kOutputs); ++k)
      if (!std::strcmp(entry.output[i].name, kOutputs[k].name))
        outputs[i] = &results[k];
    for (const StateBuffer &gradient : gradientList)
      if (gradient.name == entry.output[i].name)
        outputs[i] = gradient.data;
  }
  for (int32_t i = 0; i < entry.dims; ++i)
    dims[i] = !std::strcmp(entry.dim_name[i], "T") ? batch.rows() : batch.sequences() + 1;
  return ck_session_run(session, entry.name, dims.data(), inputs.data(), outputs.data());
}

/// Which op of a call made the first NaN or infinity; empty if none does. Only for calls whose outcome is lost anyway.
std::string SessionProgram::origin(const ck_entry &entry, const Batch &batch, const void *const *known) {
  for (const StateBuffer &gradient : gradientList)
    std::fill_n(gradient.data, gradient.size(), 0.0f);
  ck_context *context = ck_session_context(session);
  float results[std::size(kOutputs)];
  ck_context_check_finite(context, 1);
  int32_t code = call(entry, batch, known, results);
  ck_context_check_finite(context, 0);
  return code == CK_NOT_FINITE ? ck_context_error(context) : "";
}

Result<StepOutcome> SessionProgram::run(const char *name, const Batch &batch, float scale, float lr, int32_t number) {
  const ck_entry *entry = ck_model_find_entry(ck_session_model(session), name);
  if (!entry)
    return fail("", "model '", ck_session_model(session)->name, "' has no entry '", name, "'");
  const void *const known[] = {
      batch.tokens.data(), batch.targets.data(), batch.pos.data(), batch.seqs.data(), &scale, &lr, &number};
  static_assert(std::size(known) == std::size(kInputs));
  float results[std::size(kOutputs)] = {};
  int32_t code = call(*entry, batch, known, results);
  std::string message = code == CK_OK ? "" : ck_context_error(ck_session_context(session));
  if (code == CK_OK && std::isfinite(results[0]) && std::isfinite(results[1]))
    return StepOutcome{results[0], results[1]};
  if (code == CK_OK)
    message = "the loss is " + numberText(results[0]);
  // An optimizer step that has been taken has changed what the call saw.
  bool again = code != CK_OK || !entryUpdates(*entry);
  std::string first = again ? origin(*entry, batch, known) : "";
  if (!first.empty() && first != message)
    message += "; the first op at fault: " + first;
  if (std::string where = first.empty() ? "" : findNonFinite(mapped); !where.empty())
    message += "; the weight " + where;
  return Error{message};
}

Result<double> SessionProgram::eval(const Batch &batch, float scale) {
  Result<StepOutcome> outcome = run("eval", batch, scale, 0, 0);
  return outcome ? Result<double>(outcome->loss) : outcome.error();
}

Result<double> SessionProgram::accumulate(const Batch &batch, float scale) {
  Result<StepOutcome> outcome = run("accumulate", batch, scale, 0, 0);
  return outcome ? Result<double>(outcome->loss) : outcome.error();
}

Result<StepOutcome> SessionProgram::step(const Batch &batch, float scale, float lr, int32_t number) {
  return run("train_step", batch, scale, lr, number);
}

} // namespace ck
