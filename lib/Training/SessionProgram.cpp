//===- SessionProgram.cpp - a compiled training program -------------------===//
#include "ck/Training/SessionProgram.h"

#include "Messages.h"

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

template <size_t N>
Status checkValues(const ck_entry &entry, const char *what, const ck_value_info *values, int32_t count,
                   const Known (&known)[N]) {
  for (int32_t i = 0; i < count; ++i) {
    bool found = false;
    for (const Known &candidate : known)
      found |= fits(entry, values[i], candidate);
    if (!found)
      return fail("", "entry '", entry.name, "': the ", what, " '", values[i].name, "' (", values[i].dtype,
                  ") is none that a training program has in this form");
  }
  return Status::success();
}

} // namespace

Result<std::unique_ptr<SessionProgram>> SessionProgram::create(ck_session *session,
                                                               const std::vector<WeightSpec> &weights) {
  std::unique_ptr<SessionProgram> program(new SessionProgram);
  program->session = session;
  CK_CHECK(program->findStates(weights));
  for (const char *name : kEntries)
    if (const ck_entry *entry = ck_model_find_entry(ck_session_model(session), name)) {
      CK_CHECK(checkValues(*entry, "input", entry->input, entry->inputs, kInputs));
      CK_CHECK(checkValues(*entry, "output", entry->output, entry->outputs, kOutputs));
    }
  return program;
}

Status SessionProgram::findStates(const std::vector<WeightSpec> &weights) {
  const ck_model *model = ck_session_model(session);
  auto find = [&](const std::string &name) -> const ck_buffer_info * {
    for (int32_t i = 0; i < model->buffers; ++i)
      if (model->buffer[i].role == CK_STATE && name == model->buffer[i].name)
        return &model->buffer[i];
    return nullptr;
  };
  auto add = [&](const std::string &name, const std::vector<int64_t> &shape, std::vector<StateBuffer> &list) {
    const ck_buffer_info *info = find(name);
    if (!info || std::strcmp(info->dtype, "f32") || std::vector<int64_t>(info->dims, info->dims + info->rank) != shape)
      return false;
    list.push_back({name, shape, static_cast<float *>(ck_session_buffer(session, name.c_str()))});
    return true;
  };
  for (const WeightSpec &spec : weights) {
    if (!add(spec.logical, spec.shape, parameterList))
      return fail("", "model '", model->name, "' has no state '", spec.logical, "': f32 ", shapeText(spec.shape));
    for (const char *moment : {".m", ".v"})
      add(spec.logical + moment, spec.shape, momentList);
    add("d_" + spec.logical, spec.shape, gradientList);
  }
  return Status::success();
}

Result<StepOutcome> SessionProgram::run(const char *name, const Batch &batch, float scale, float lr, int32_t number) {
  const ck_entry *entry = ck_model_find_entry(ck_session_model(session), name);
  if (!entry)
    return fail("", "model '", ck_session_model(session)->name, "' has no entry '", name, "'");
  const void *const values[] = {
      batch.tokens.data(), batch.targets.data(), batch.pos.data(), batch.seqs.data(), &scale, &lr, &number};
  static_assert(std::size(values) == std::size(kInputs));
  float results[std::size(kOutputs)] = {};
  std::vector<const void *> inputs(entry->inputs);
  std::vector<void *> outputs(entry->outputs);
  std::vector<int64_t> dims(entry->dims);
  for (int32_t i = 0; i < entry->inputs; ++i)
    for (size_t k = 0; k < std::size(kInputs); ++k)
      if (!std::strcmp(entry->input[i].name, kInputs[k].name))
        inputs[i] = values[k];
  for (int32_t i = 0; i < entry->outputs; ++i)
    for (size_t k = 0; k < std::size(kOutputs); ++k)
      if (!std::strcmp(entry->output[i].name, kOutputs[k].name))
        outputs[i] = &results[k];
  for (int32_t i = 0; i < entry->dims; ++i)
    dims[i] = !std::strcmp(entry->dim_name[i], "T") ? batch.rows() : batch.sequences() + 1;
  if (ck_session_run(session, name, dims.data(), inputs.data(), outputs.data()) != CK_OK)
    return Error{ck_context_error(ck_session_context(session))};
  return StepOutcome{results[0], results[1]};
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
