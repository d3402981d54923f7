//===- Session.cpp - a model with its memory ------------------------------===//
//
// Checks that model, runtime and weights fit together, owns the arenas, runs @init once and then entries by name. One
// activation arena serves all entries, because they never run at the same time.
//
//===----------------------------------------------------------------------===//
#include "Context.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

using namespace ck;

struct ck_session {
  ck_context *ctx = nullptr;
  const ck_model *model = nullptr;
  std::vector<void *> weights;
  Memory constants, states, arena;
};

const ck_entry *ck_model_find_entry(const ck_model *model, const char *name) {
  for (int32_t i = 0; i < model->entries; ++i)
    if (!std::strcmp(model->entry[i].name, name))
      return &model->entry[i];
  return nullptr;
}

static int32_t checkVersions(ck_context *ctx, const ck_model *model) {
  if (model->abi_version != CK_ABI_VERSION)
    return ck_fail(ctx, CK_MISMATCH, "model was compiled for runtime ABI %d, this runtime has %d; compile it again",
                   model->abi_version, CK_ABI_VERSION);
  for (int32_t i = 0; i < model->kernels; ++i) {
    const ck_kernel *kernel = ck_find_kernel(model->kernel_id[i]);
    if (!kernel)
      return ck_fail(ctx, CK_MISMATCH, "model '%s' calls kernel '%s', which this runtime does not have", model->name,
                     model->kernel_id[i]);
    if (std::strcmp(kernel->digest, model->kernel_digest[i]))
      return ck_fail(ctx, CK_MISMATCH,
                     "model '%s' was compiled for kernel '%s' with digest %s, this runtime has %s; compile it again",
                     model->name, kernel->id, model->kernel_digest[i], kernel->digest);
  }
  return CK_OK;
}

static int32_t checkBuffer(ck_context *ctx, const ck_model *model, const ck_buffer_info &buffer) {
  bool isState = buffer.role == CK_STATE;
  if (!isState && buffer.role != CK_CONST)
    return CK_OK;
  int64_t arena = isState ? model->state_bytes : model->const_bytes;
  if (buffer.bytes >= 0 && buffer.offset >= 0 && buffer.bytes <= arena && buffer.offset <= arena - buffer.bytes)
    return CK_OK;
  return ck_fail(ctx, CK_INVALID_ARGUMENT, "model '%s': buffer '%s' of %lld bytes at %lld, but its arena has %lld",
                 model->name, buffer.name, (long long)buffer.bytes, (long long)buffer.offset, (long long)arena);
}

static int32_t checkMemory(ck_context *ctx, const ck_model *model) {
  if (model->const_bytes < 0 || model->state_bytes < 0)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "model '%s': negative arena size", model->name);
  for (int32_t i = 0; i < model->buffers; ++i)
    if (int32_t code = checkBuffer(ctx, model, model->buffer[i]))
      return code;
  for (int32_t i = 0; i < model->entries; ++i)
    if (model->entry[i].arena_bytes < 0 || model->entry[i].thread_scratch_bytes < 0 || !model->entry[i].run)
      return ck_fail(ctx, CK_INVALID_ARGUMENT, "model '%s': entry '%s' is malformed", model->name,
                     model->entry[i].name);
  return CK_OK;
}

static int32_t bindWeights(ck_session &session, void *const *weights) {
  for (int32_t i = 0; i < session.model->buffers; ++i) {
    const ck_buffer_info &buffer = session.model->buffer[i];
    if (buffer.role != CK_WEIGHT)
      continue;
    void *pointer = weights ? weights[session.weights.size()] : nullptr;
    if (!pointer && buffer.bytes > 0)
      return ck_fail(session.ctx, CK_INVALID_ARGUMENT, "model '%s': weight '%s' is missing", session.model->name,
                     buffer.name);
    session.weights.push_back(pointer);
  }
  return CK_OK;
}

static int32_t allocate(ck_session &session, Memory &memory, int64_t bytes, const char *what) {
  if (memory.allocate(size_t(bytes)))
    return CK_OK;
  return ck_fail(session.ctx, CK_OUT_OF_MEMORY, "model '%s': out of memory: %lld bytes of %s", session.model->name,
                 (long long)bytes, what);
}

static int32_t allocateArenas(ck_session &session) {
  const ck_model *model = session.model;
  int64_t arena = 0, scratch = 0;
  for (int32_t i = 0; i < model->entries; ++i) {
    arena = std::max(arena, model->entry[i].arena_bytes);
    scratch = std::max(scratch, model->entry[i].thread_scratch_bytes);
  }
  int32_t code = allocate(session, session.constants, model->const_bytes, "constants");
  if (code == CK_OK)
    code = allocate(session, session.states, model->state_bytes, "states");
  if (code == CK_OK)
    code = allocate(session, session.arena, arena, "activations");
  return code == CK_OK ? ck_context_reserve_thread_scratch(session.ctx, size_t(scratch)) : code;
}

static int32_t prepare(ck_session &session, void *const *weights) {
  int32_t code = checkVersions(session.ctx, session.model);
  if (code == CK_OK)
    code = checkMemory(session.ctx, session.model);
  if (code == CK_OK)
    code = bindWeights(session, weights);
  if (code == CK_OK)
    code = allocateArenas(session);
  if (code == CK_OK && ck_model_find_entry(session.model, "init"))
    code = ck_session_run(&session, "init", nullptr, nullptr, nullptr);
  return code;
}

ck_session *ck_session_create(ck_context *ctx, const ck_model *model, void *const *weights) {
  try {
    auto session = std::make_unique<ck_session>();
    session->ctx = ctx;
    session->model = model;
    return prepare(*session, weights) == CK_OK ? session.release() : nullptr;
  } catch (const std::bad_alloc &) {
    ck_fail(ctx, CK_OUT_OF_MEMORY, "out of memory");
    return nullptr;
  }
}

void ck_session_destroy(ck_session *session) { delete session; }

static int32_t checkDims(ck_context *ctx, const ck_entry &entry, const int64_t *dims) {
  for (int32_t i = 0; i < entry.dims; ++i) {
    if (!dims)
      return ck_fail(ctx, CK_INVALID_ARGUMENT, "entry '%s': dim %s is not given", entry.name, entry.dim_name[i]);
    if (dims[i] < 1)
      return ck_fail(ctx, CK_INVALID_ARGUMENT, "entry '%s': dim %s is %lld, expected 1 to %lld", entry.name,
                     entry.dim_name[i], (long long)dims[i], (long long)entry.dim_bound[i]);
    if (dims[i] > entry.dim_bound[i])
      return ck_fail(ctx, CK_BOUND_EXCEEDED, "entry '%s': dim %s is %lld, above its bound %lld", entry.name,
                     entry.dim_name[i], (long long)dims[i], (long long)entry.dim_bound[i]);
  }
  return CK_OK;
}

template <typename Pointer>
static int32_t checkPointers(ck_context *ctx, const ck_entry &entry, const char *what, const ck_value_info *values,
                             int32_t count, Pointer const *pointers) {
  for (int32_t i = 0; i < count; ++i)
    if (!pointers || !pointers[i])
      return ck_fail(ctx, CK_INVALID_ARGUMENT, "entry '%s': %s '%s' is not given", entry.name, what, values[i].name);
  return CK_OK;
}

int32_t ck_session_run(ck_session *session, const char *name, const int64_t *dims, const void *const *inputs,
                       void *const *outputs) {
  ck_context *ctx = session->ctx;
  const ck_entry *entry = ck_model_find_entry(session->model, name);
  if (!entry)
    return ck_fail(ctx, CK_INVALID_ARGUMENT, "model '%s' has no entry '%s'", session->model->name, name);
  int32_t code = checkDims(ctx, *entry, dims);
  if (code == CK_OK)
    code = checkPointers(ctx, *entry, "input", entry->input, entry->inputs, inputs);
  if (code == CK_OK)
    code = checkPointers(ctx, *entry, "output", entry->output, entry->outputs, outputs);
  // Another session of this context may have asked for less.
  if (code == CK_OK)
    code = ck_context_reserve_thread_scratch(ctx, size_t(entry->thread_scratch_bytes));
  if (code != CK_OK)
    return code;

  ck_entry_args args = {session->weights.data(),
                        session->constants.data(),
                        session->states.data(),
                        session->arena.data(),
                        inputs,
                        outputs,
                        dims,
                        entry};
  uint64_t failures = ctx->failures;
  code = entry->run(ctx, &args);
  return code == CK_OK ? CK_OK : locateError(ctx, code, failures, "entry '%s'", name);
}

void ck_session_reset(ck_session *session) { session->states.zero(); }

ck_context *ck_session_context(const ck_session *session) { return session->ctx; }

const ck_model *ck_session_model(const ck_session *session) { return session->model; }

void *ck_session_buffer(ck_session *session, const char *name) {
  size_t weight = 0;
  for (int32_t i = 0; i < session->model->buffers; ++i) {
    const ck_buffer_info &buffer = session->model->buffer[i];
    if (!std::strcmp(buffer.name, name)) {
      if (buffer.role == CK_WEIGHT)
        return session->weights[weight];
      return buffer.role == CK_STATE   ? session->states.data() + buffer.offset
             : buffer.role == CK_CONST ? session->constants.data() + buffer.offset
                                       : nullptr;
    }
    weight += buffer.role == CK_WEIGHT;
  }
  return nullptr;
}
